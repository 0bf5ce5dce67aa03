/* Expanded squares of float rows on the tile unit of newer Intel processors, which multiplies 16 rows by 16 references at once, in small numbers.
 *
 * With few columns a value is the sum of three bfloat16, x = h + m + l, and x.r that of six products for each column in one tile, small ones first:
 * mM + lH, hL + mH, hM + hH. What is left out is below the digits of a float.
 *
 * With more columns values become whole numbers of 24 bits, q = x / tile_step, of three digits to the base 256: q = a1 256^2 + a2 256 + a3, each from
 * -128 to 127, of which a tile holds twice as many. A product is summed in three tiles, high = a1 b1, middle = a1 b2 + a2 b1 and low = a1 b3 + a2 b2 +
 * a3 b1. Then x.r is 256^3 tile_step^2 times 256 high + middle + low / 256, which 32 bits hold. What is left out, a2 b3 + a3 b2 and a3 b3, is below the
 * digits of a float too, unless many columns have the same small digits: the packing looks whether they do (kernel.py).
 *
 * Rows beyond the range are put aside for the vectors, squares that lost digits are computed again directly, as there: both row by row. Rows have the
 * same bits wherever they stand.
 *
 * Sixteen rows are words of 32 bits, in tiles of sixteen words: three words for each column, (m, l), (h, m), (h, h); or all first digits, all second and
 * all third ones, four columns in a word. Two subsets of eight references are what these are to be multiplied by (tiles.py): (M, H), (L, H), (M, H);
 * or the digits [b1], [b2 b1] and [b3 b2 b1]. |r|^2 comes before them: as parts too, for rows that begin with ones; or half of it in a tile that the
 * middle sum begins with. */

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TILED __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx512vbmi,fma,amx-tile,amx-int8,amx-bf16")))
#define INLINE static inline __attribute__((always_inline))
#define SIDE 16 /* rows, references and words of a tile */
#define GROUPS 3 /* of SIDE rows, which vectors load at once */
#define TILE_BYTES 1024
#define NORM_WORDS 2 /* of parts, for |r|^2 */
#define LARGEST_DIGITS 0x7f7f7f
#define LARGEST_PARTS 1e15f /* far from where squares overflow, and from what scaled rows hold */
#define ROWS_BYTES 30000 /* of rows' tiles at once; the references of two subsets and the sums need the rest of a first-level cache */
#define SUBSETS_SUMMED 8 /* as FLUSH of _kernel_body.h; an even number */

enum { TILE_ROWS = rows_avx512_float };
_Static_assert(TILE_ROWS == GROUPS * SIDE, "a sum for each group");

/* Ways to multiply. With few digits the references of two subsets stay in tiles. */
enum { PARTS, FEW_DIGITS, MANY_DIGITS };

/* How many tiles sixteen rows and two subsets need. Of digits, how many words the first of them fill, how many tiles the first and the first two do, and
 * which bytes of two registers of numbers are one digit of the first two columns of a word, and of the others. */
typedef struct {
    int64_t row_tiles, reference_tiles, words, firsts, seconds;
    __m512i first_two[3], others[3];
} Layout;

/* Tiles of two subsets: those of parts; or one to begin with, and those of the first, the first two and all digits. tiles.py makes room for as many. */
static int64_t reference_tiles(int64_t n_columns, int by_parts) {
    const int64_t words = (n_columns + 3) / 4;
    if (by_parts) return (NORM_WORDS + 3 * n_columns + SIDE - 1) / SIDE;
    return 1 + (words + SIDE - 1) / SIDE + (2 * words + SIDE - 1) / SIDE + (3 * words + SIDE - 1) / SIDE;
}

/* Sums of two subsets and sixteen rows, [high, middle, low][reference][row]; of parts those of three groups. */
typedef __m512i Sums[3][SIDE];

/* Where the values of sixteen rows and their norms are. */
typedef struct {
    const float *values, *norms;
} Place;

/* Sixteen rows, of parts three times as many, whose distances to two subsets, the first of them `subset`, are on their way; `total` is NULL where there are none. */
typedef struct {
    Place place;
    float *total;
    int64_t subset;
} Group;

/* Rows beyond the range, to be scored by vectors. */
typedef struct {
    float *values;
    int64_t *places, n;
} Aside;

/* Compilers do not know that these instructions read and write memory (nor would GCC's own function for the one in `configure_tiles`). */
#define IN_ORDER __asm__ volatile("" : : : "memory")

/* Whether the processor has the unit and the system grants it to this process, which is asked once. */
static int tiles_are_granted(void) {
    enum { LEAF = 7, HAS_TILE = 1 << 24, HAS_INT8 = 1 << 25, HAS_BF16 = 1 << 22, ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    static int known = -1; /* threads that ask at the same time get the same answer */
    int granted = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (granted < 0) {
        unsigned a, b, c, d;
        granted = __get_cpuid_count(LEAF, 0, &a, &b, &c, &d) && (d & HAS_TILE) && (d & HAS_INT8) && (d & HAS_BF16) &&
                  syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
        __atomic_store_n(&known, granted, __ATOMIC_RELAXED);
    }
    return granted;
}

TILED static void configure_tiles(void) {
    struct {
        uint8_t palette, start_row, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shape = {.palette = 1};
    for (int i = 0; i < 8; i++) shape.row_bytes[i] = 4 * SIDE, shape.rows[i] = SIDE;
    __asm__ volatile("ldtilecfg %0" : : "m"(shape));
}

#include "_kernel_tile_rows.h"
#include "_kernel_tile_steps.h"

/* Scores the rows put aside. */
TILED static int score_aside(const Block *block, Aside *aside) {
    double out[TILE_ROWS];
    for (int64_t start = 0; start < aside->n; start += TILE_ROWS) {
        Block rows = *block;
        rows.rows = aside->values + start * block->n_columns;
        rows.n_rows = aside->n - start < TILE_ROWS ? aside->n - start : TILE_ROWS;
        rows.row_stride = block->n_columns, rows.column_stride = 1;
        rows.columns = NULL, rows.centre = rows.scale = NULL;
        rows.out = out;
        const int failure = score_avx512_float(&rows);
        if (failure) return failure;
        for (int64_t i = 0; i < rows.n_rows; i++) block->out[aside->places[start + i]] = out[i];
    }
    aside->n = 0;
    return OK;
}

/* Moves sums of a few distances to those in float64. */
TILED static void add_totals(float *totals, int64_t height, double *out) {
    for (int64_t i = 0; i < height; i++) {
        out[i] += (double)totals[i];
        totals[i] = 0;
    }
}

/* `row_tiles` is a constant, and that of the layout, unless digits are many. */
TILED INLINE int score_in_tiles(const Block *block, const Layout *layout, const int way, const int row_tiles) {
    const int64_t n_columns = block->n_columns, needed = (block->n_rows + TILE_ROWS - 1) / TILE_ROWS;
    int64_t n_tiles = ROWS_BYTES / (layout->row_tiles * TILE_BYTES * (TILE_ROWS / SIDE));
    n_tiles = n_tiles < 1 ? 1 : n_tiles > needed ? needed : n_tiles;
    const int64_t step_rows = way == PARTS ? TILE_ROWS : SIDE, panel = n_tiles * TILE_ROWS, most_groups = panel / SIDE, most_aside = panel + TILE_ROWS;
    const size_t tile_bytes = (size_t)(most_groups * layout->row_tiles * TILE_BYTES), place_bytes = (size_t)most_groups * sizeof(Place);
    const size_t aside_bytes = (size_t)most_aside * sizeof(int64_t), n_floats = (size_t)(panel * (n_columns + 4) + most_aside * n_columns);
    __m512i *rows = aligned_room(4096, tile_bytes + n_floats * sizeof(float) + place_bytes + aside_bytes);
    if (!rows) return NO_MEMORY;
    float *values = (float *)((char *)rows + tile_bytes), *totals = values + panel * n_columns, *norms = totals + 2 * panel;
    Aside aside = {.values = norms + 2 * panel};
    Place *places = (Place *)(aside.values + most_aside * n_columns);
    aside.places = (int64_t *)(places + most_groups);
    for (int64_t g = 0; g < most_groups; g++) {
        const int64_t tile = g * SIDE / TILE_ROWS, lane = g * SIDE % TILE_ROWS;
        places[g] = (Place){values + tile * n_columns * TILE_ROWS + lane, norms + 2 * tile * TILE_ROWS + lane};
    }
    const float scale = (float)(2 * 0x1p24 * block->tile_step * block->tile_step);
    Sums both_sums[2], *sums = &both_sums[0], *stored = &both_sums[1];
    int failure = OK;
    configure_tiles();
    for (int64_t start = 0; start < block->n_rows && !failure; start += panel) {
        const int64_t height = block->n_rows - start < panel ? block->n_rows - start : panel, n_steps = (height + step_rows - 1) / step_rows;
        double *out = block->out + start;
        for (int64_t i = 0; i < height; i++) out[i] = 0;
        for (int64_t i = 0; i < 2 * panel; i++) totals[i] = 0;
        load_panel(block, start, height, layout, way == PARTS, values, norms, rows, &aside);
        IN_ORDER;
        Group before = {0}, latest = {0};
        for (int64_t subset = 0; subset < block->n_subsets; subset += 2) {
            const int8_t *references = (const int8_t *)block->tiles + subset / 2 * layout->reference_tiles * TILE_BYTES;
            float *total = totals + subset / SUBSETS_SUMMED % 2 * panel;
            const __m512i *group = rows;
            load_references(way, row_tiles, references);
            for (int64_t step = 0; step < n_steps; step++, total += step_rows) {
                if (way == PARTS) next_by_parts(block, row_tiles, group, *sums, *stored, &before);
                else if (way == FEW_DIGITS) next_by_few_digits(block, row_tiles, references, group, *sums, *stored, &before, scale);
                else next_by_many_digits(block, layout, references, group, *sums, *stored, &before, scale);
                before = latest;
                latest = (Group){places[step * step_rows / SIDE], total, subset};
                group += (way == MANY_DIGITS ? layout->row_tiles : row_tiles) * step_rows;
                Sums *const turn = sums;
                sums = stored, stored = turn;
            }
            /* Two groups are on their way at any time: by now, those of the subsets before these are through. */
            if (subset % SUBSETS_SUMMED == 2) add_totals(totals + !(subset / SUBSETS_SUMMED % 2) * panel, height, out);
        }
        _tile_stored(0, (*sums)[0], 64);
        _tile_stored(1, (*sums)[1], 64);
        _tile_stored(2, (*sums)[2], 64);
        IN_ORDER;
        /* In the order of subsets: both may be of the same rows. */
        add_all(block, way, *stored, &before, scale);
        add_all(block, way, *sums, &latest, scale);
        /* The older ones first. */
        const int64_t last = (block->n_subsets - 1) / SUBSETS_SUMMED % 2;
        add_totals(totals + !last * panel, height, out);
        add_totals(totals + last * panel, height, out);
        for (int64_t i = 0; i < height; i++) out[i] /= (double)block->n_subsets;
        if (aside.n >= TILE_ROWS || start + panel >= block->n_rows) failure = score_aside(block, &aside);
    }
    _tile_release();
    free_room(rows);
    return failure;
}

/* Of 8 to 15 columns, as tiles.py has it. */
TILED static int score_by_parts(const Block *block) {
    const int64_t n_tiles = reference_tiles(block->n_columns, 1);
    const Layout layout = {.row_tiles = n_tiles, .reference_tiles = n_tiles};
    return n_tiles == 2 ? score_in_tiles(block, &layout, PARTS, 2) : score_in_tiles(block, &layout, PARTS, 3);
}

TILED static int score_by_digits(const Block *block) {
    const int64_t words = (block->n_columns + 3) / 4;
    Layout layout = {.words = words, .firsts = (words + SIDE - 1) / SIDE, .seconds = (2 * words + SIDE - 1) / SIDE};
    layout.row_tiles = (3 * words + SIDE - 1) / SIDE;
    layout.reference_tiles = reference_tiles(block->n_columns, 0);
    const __m512i lanes = _mm512_set_epi32(60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8, 4, 0);
    for (int p = 0; p < 3; p++) {
        const __m512i byte = _mm512_mullo_epi32(_mm512_add_epi32(lanes, _mm512_set1_epi32(2 - p)), _mm512_set1_epi32(0x01010101));
        /* 64 and more are the second register's. */
        layout.first_two[p] = _mm512_or_epi32(byte, _mm512_set1_epi32(0x00004000));
        layout.others[p] = _mm512_or_epi32(byte, _mm512_set1_epi32(0x40000000));
    }
    if (layout.seconds > 1) return score_in_tiles(block, &layout, MANY_DIGITS, 0);
    return layout.row_tiles == 1 ? score_in_tiles(block, &layout, FEW_DIGITS, 1) : score_in_tiles(block, &layout, FEW_DIGITS, 2);
}

TILED static int score_amx_float(const Block *block) {
    if (!block->tiles || !block->product) return score_avx512_float(block);
    return block->tile_step == 0 ? score_by_parts(block) : score_by_digits(block);
}

/* Products of tiles on registers alone, each for sixteen rows and sixteen references; those of parts take as long. */
TILED static double peak_amx_float(int expanded, int64_t repeats) {
    if (!expanded) return peak_avx512_float(expanded, repeats);
    int8_t digits[TILE_BYTES];
    for (int i = 0; i < TILE_BYTES; i++) digits[i] = (int8_t)(i * 89);
    IN_ORDER;
    configure_tiles();
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_loadd(6, digits, 64);
    _tile_loadd(7, digits, 64);
    for (int64_t repeat = 0; repeat < repeats; repeat++) {
        _tile_dpbssd(0, 6, 7);
        _tile_dpbssd(1, 6, 7);
        _tile_dpbssd(2, 6, 7);
    }
    _tile_release();
    return 3.0 * SIDE * SIDE * (double)repeats;
}
