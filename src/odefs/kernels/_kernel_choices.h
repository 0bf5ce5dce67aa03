/* Nearest member of each reference subset, and the mean squares to them per column, for one
 * instruction set; float64 only.
 *
 * Members are compared by |r|^2 - 2 x.r, with products already computed by BLAS. The squares are
 * of plain differences, so nothing cancels. They are summed in registers for a strip of columns at
 * a time: the strip of all references stays in cache while the loop runs over the rows. */

#define VEC NAME(any_place)
#define LANES (WIDTH / (int)sizeof(double))
#define STRIP 4

/* Rows of a table may start at any address. */
typedef double VEC __attribute__((vector_size(WIDTH), aligned(8)));

/* Chooses the first member within `slack` of the nearest. `squares` are stored member by member, as
 * `norms` are, and are overwritten. */
TARGET static void NAME(choose)(
    double *restrict squares, const double *restrict norms, double slack, int64_t n_members,
    int64_t n_subsets, double *restrict limit, int64_t *restrict chosen) {
    for (int64_t g = 0; g < n_subsets; g++) limit[g] = squares[g] += norms[g];
    for (int64_t p = 1; p < n_members; p++)
        for (int64_t g = 0; g < n_subsets; g++) {
            const double square = squares[p * n_subsets + g] + norms[p * n_subsets + g];
            squares[p * n_subsets + g] = square;
            limit[g] = square < limit[g] ? square : limit[g];
        }
    for (int64_t g = 0; g < n_subsets; g++) limit[g] += slack, chosen[g] = g;
    /* From the last member down, so that the first one within the limit remains. There is no
     * branch, which lets the compiler vectorise over the subsets. */
    for (int64_t p = n_members - 1; p >= 0; p--)
        for (int64_t g = 0; g < n_subsets; g++)
            chosen[g] = squares[p * n_subsets + g] <= limit[g] ? p * n_subsets + g : chosen[g];
}

/* Mean squares on `vectors` vectors of columns, a compile-time constant once this is inlined. */
TARGET static inline __attribute__((always_inline)) void NAME(add_squares)(
    const double *row, const double *references, int64_t n_columns, const int64_t *chosen,
    int64_t n_subsets, const int vectors, double *out) {
    VEC sums[STRIP], x[STRIP];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) sums[v] = (VEC){0}, x[v] = *(const VEC *)(row + v * LANES);
    for (int64_t g = 0; g < n_subsets; g++) {
        const double *reference = references + chosen[g] * n_columns;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            const VEC difference = x[v] - *(const VEC *)(reference + v * LANES);
            sums[v] += difference * difference;
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) *(VEC *)(out + v * LANES) = sums[v] / (double)n_subsets;
}

TARGET static int NAME(mean_squares)(const Choices *c) {
    const int64_t n_references = c->n_members * c->n_subsets, n_columns = c->n_columns;
    int64_t *chosen = malloc((size_t)(c->n_rows * c->n_subsets) * sizeof *chosen);
    double *limit = malloc((size_t)c->n_subsets * sizeof *limit);
    if (!chosen || !limit) {
        free(chosen), free(limit);
        return NO_MEMORY;
    }
    for (int64_t i = 0; i < c->n_rows; i++)
        NAME(choose)(
            c->squares + i * n_references, c->norms, c->slack[i], c->n_members, c->n_subsets, limit,
            chosen + i * c->n_subsets);
    int64_t k = 0;
    for (; k + STRIP * LANES <= n_columns; k += STRIP * LANES)
        for (int64_t i = 0; i < c->n_rows; i++)
            NAME(add_squares)(
                c->rows + i * n_columns + k, c->references + k, n_columns,
                chosen + i * c->n_subsets, c->n_subsets, STRIP, c->out + i * n_columns + k);
    for (; k + LANES <= n_columns; k += LANES)
        for (int64_t i = 0; i < c->n_rows; i++)
            NAME(add_squares)(
                c->rows + i * n_columns + k, c->references + k, n_columns,
                chosen + i * c->n_subsets, c->n_subsets, 1, c->out + i * n_columns + k);
    for (; k < n_columns; k++)
        for (int64_t i = 0; i < c->n_rows; i++) {
            double sum = 0;
            for (int64_t g = 0; g < c->n_subsets; g++) {
                const double difference = c->rows[i * n_columns + k] -
                    c->references[chosen[i * c->n_subsets + g] * n_columns + k];
                sum += difference * difference;
            }
            c->out[i * n_columns + k] = sum / (double)c->n_subsets;
        }
    free(chosen), free(limit);
    return OK;
}

#undef VEC
#undef LANES
#undef STRIP
