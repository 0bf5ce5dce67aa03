/* The kernel against the plain formula, on every instruction set that the machine running it has, without Python: for systems that the
 * tests only cross-compile for. Prints one line per instruction set, and fails where a score is off or depends on the other rows. */

#include "_kernel.c"
#include <stdio.h>
#include <string.h>

enum { ROWS_ALL = 70, SUBSETS = 5, MEMBERS = 12, MOST_COLUMNS = 40 };

static double next_number(void) {
    static uint64_t state = 12345;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0 * 4 - 2;
}

static double rows[ROWS_ALL][MOST_COLUMNS], references[SUBSETS][MEMBERS][MOST_COLUMNS];
static char seen[SUBSETS][MEMBERS][MOST_COLUMNS];

/* Mean over the subsets of the distance to the nearest member, over the cells that both have. */
static double expected(const double *row, int n_columns, int has_missing) {
    double sum = 0;
    for (int g = 0; g < SUBSETS; g++) {
        double best = INFINITY;
        for (int m = 0; m < MEMBERS; m++) {
            double square = 0, covered = 0;
            for (int k = 0; k < n_columns; k++) {
                if (has_missing && (row[k] != row[k] || !seen[g][m][k])) continue;
                square += (row[k] - references[g][m][k]) * (row[k] - references[g][m][k]), covered++;
            }
            square *= n_columns / covered;
            if (square < best) best = square;
        }
        sum += sqrt(best);
    }
    return sum / SUBSETS;
}

#define PACKED_SIZE (SUBSETS * MEMBERS * 3 * (MOST_COLUMNS + 1))
#define PACK(TYPE)                                                                                                                          \
    static TYPE rows_##TYPE[ROWS_ALL * MOST_COLUMNS], plain_##TYPE[PACKED_SIZE], product_##TYPE[PACKED_SIZE], masked_##TYPE[PACKED_SIZE];   \
    static void pack_##TYPE(int n_columns) {                                                                                                \
        TYPE *plain = plain_##TYPE, *product = product_##TYPE, *masked = masked_##TYPE;                                                     \
        for (int i = 0; i < ROWS_ALL; i++)                                                                                                  \
            for (int k = 0; k < n_columns; k++) rows_##TYPE[i * n_columns + k] = (TYPE)rows[i][k];                                          \
        for (int g = 0; g < SUBSETS; g++)                                                                                                   \
            for (int first = 0, size = 8; first < MEMBERS; first += size, size = 4) {                                                       \
                for (int m = first; m < first + size; m++) {                                                                                \
                    double norm = 0;                                                                                                        \
                    for (int k = 0; k < n_columns; k++) norm += references[g][m][k] * references[g][m][k];                                  \
                    *product++ = (TYPE)norm;                                                                                                \
                }                                                                                                                           \
                for (int k = 0; k < n_columns; k++)                                                                                         \
                    for (int m = first; m < first + size; m++)                                                                              \
                        *plain++ = (TYPE)references[g][m][k], *product++ = (TYPE)(-2 * references[g][m][k]);                                \
            }                                                                                                                               \
        for (int g = 0; g < SUBSETS; g++)                                                                                                   \
            for (int first = 0; first < MEMBERS; first += 4)                                                                                \
                for (int k = 0; k < n_columns; k++)                                                                                         \
                    for (int part = 0; part < 3; part++)                                                                                    \
                        for (int m = first; m < first + 4; m++)                                                                             \
                            *masked++ = (TYPE)(seen[g][m][k] ? (part ? 1 : references[g][m][k]) : 0);                                       \
    }
PACK(float)
PACK(double)

static int failures(int level, int n_columns, int is_double, int way) {
    const int has_missing = way == 2;
    const size_t size = is_double ? sizeof(double) : sizeof(float);
    const char *values = is_double ? (const char *)rows_double : (const char *)rows_float;
    const void *plain = is_double ? (const void *)plain_double : plain_float, *product = is_double ? (const void *)product_double : product_float;
    const void *masked = is_double ? (const void *)masked_double : masked_float;
    double out[ROWS_ALL], alone;
    Block block = {.rows = values, .n_rows = ROWS_ALL, .row_stride = n_columns, .column_stride = 1, .references = has_missing ? masked : plain,
                   .product = way == 1 ? product : NULL, .table_columns = n_columns, .n_columns = n_columns, .n_subsets = SUBSETS,
                   .n_members = MEMBERS, .take_root = 1, .total = n_columns, .cancellation = is_double ? 1e-6 : 2e-2, .out = out};
    int wrong = odefs_score(level, has_missing, is_double, &block) != OK;
    for (int i = 0; i < ROWS_ALL; i++) {
        const double wanted = expected(rows[i], n_columns, has_missing);
        wrong += !(fabs(out[i] - wanted) <= (is_double ? 1e-9 : 2e-5) * wanted);
        block.rows = values + (size_t)(i * n_columns) * size, block.n_rows = 1, block.out = &alone;
        wrong += odefs_score(level, has_missing, is_double, &block) != OK || memcmp(&alone, &out[i], sizeof alone);
    }
    return wrong;
}

int main(void) {
    static const char *names[] = {"portable", "sse2", "neon", "avx2", "avx512"};
    static const int widths[] = {1, 3, 8, 13, MOST_COLUMNS};
    int total = 0;
    for (int level = 0; level < N_LEVELS; level++) {
        if (!odefs_has_level(level)) continue;
        int wrong = 0;
        for (int w = 0; w < 5; w++)
            for (int way = 0; way < 3; way++) {
                const int n_columns = widths[w];
                for (int i = 0; i < ROWS_ALL; i++)
                    for (int k = 0; k < n_columns; k++) rows[i][k] = (float)next_number();
                for (int g = 0; g < SUBSETS; g++)
                    for (int m = 0; m < MEMBERS; m++)
                        for (int k = 0; k < n_columns; k++)
                            references[g][m][k] = (float)next_number(), seen[g][m][k] = way < 2 || k == 0 || next_number() > -1;
                for (int i = 0; way == 2 && i < ROWS_ALL; i++)
                    for (int k = 1; k < n_columns; k++)
                        if (next_number() < -1) rows[i][k] = NAN;
                pack_float(n_columns), pack_double(n_columns);
                wrong += failures(level, n_columns, 0, way) + failures(level, n_columns, 1, way);
            }
        printf("%s %d\n", names[level], wrong);
        total += wrong;
    }
    return total != 0;
}
