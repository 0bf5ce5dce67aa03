/* Loops of the kernel for one instruction set (ISA, TARGET, WIDTH in bytes, VECTORS of rows and
 * MEMBERS of a subset at once) and one TYPE.
 *
 * A panel of rows is copied into tiles: [tile][column][VECTORS * LANES rows], so that the inner
 * loop reads forward. References are packed per subset in chunks of eight members and, if fewer are
 * left, of four: [subset][chunk][column][member]. Every lane goes through the same operations in
 * the same order whatever the other lanes hold, so a row's score does not depend on its
 * position. */

#define VEC NAME(vec)
#define LANES (WIDTH / (int)sizeof(TYPE))
#define ROWS (VECTORS * LANES)
/* Half a first-level cache; the references of one subset need the rest. */
#define PANEL_BYTES 24576
/* Number of distances summed in TYPE before they are added to a float64: float sums of all subsets
 * would lose digits. */
#define FLUSH 8
/* Members of a chunk whose sums stay in registers at once. */
#define GROUP(vectors, members) ((vectors) > 1 && (members) > MEMBERS ? MEMBERS : (members))

enum { NAME(rows) = ROWS };

typedef TYPE VEC __attribute__((vector_size(WIDTH)));

/* Minimum of eight or four. All sums of a row with NaN are NaN, and MIN(best, NaN) is NaN. */
TARGET static inline __attribute__((always_inline)) VEC
NAME(smallest)(const VEC *sums, const int members) {
    VEC a = sums[0], b = sums[1], c = sums[2], d = sums[3];
    if (members == 8)
        a = MIN(a, sums[4]), b = MIN(b, sums[5]), c = MIN(c, sums[6]), d = MIN(d, sums[7]);
    a = MIN(a, c), b = MIN(b, d);
    return MIN(a, b);
}

/* Smallest squared distance of `vectors` vectors of rows to `members` references. Both counts are
 * compile-time constants once this is inlined. */
TARGET static inline __attribute__((always_inline)) void NAME(nearest)(
    const TYPE *restrict tile, const TYPE *restrict references, int64_t n_columns,
    const int vectors, const int members, VEC *best) {
    VEC sums[VECTORS][8];
#pragma GCC unroll 8
    for (int m = 0; m < members; m++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[v][m] = (VEC){0};
    for (int64_t k = 0; k < n_columns; k++, tile += ROWS, references += members) {
        VEC x[VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) x[v] = *(const VEC *)(tile + v * LANES);
#pragma GCC unroll 8
        for (int m = 0; m < members; m++) {
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) {
                const VEC difference = x[v] - references[m];
                sums[v][m] += difference * difference;
            }
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) best[v] = MIN(best[v], NAME(smallest)(sums[v], members));
}

/* The same for |x - r|^2 - |x|^2 = |r|^2 - 2 x.r, half the work. Chunks start with |r|^2, followed
 * by -2 r. */
TARGET static inline __attribute__((always_inline)) void NAME(nearest_expanded)(
    const TYPE *restrict tile, const TYPE *restrict product, int64_t n_columns, const int vectors,
    const int members, VEC *best) {
    const int group = GROUP(vectors, members);
    for (int first = 0; first < members; first += group) {
        const TYPE *restrict cells = tile, *restrict values = product + first;
        VEC sums[VECTORS][8];
#pragma GCC unroll 8
        for (int m = 0; m < group; m++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sums[v][m] = values[m] - (VEC){0};
        values += members;
        for (int64_t k = 0; k < n_columns; k++, cells += ROWS, values += members) {
            VEC x[VECTORS];
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) x[v] = *(const VEC *)(cells + v * LANES);
#pragma GCC unroll 8
            for (int m = 0; m < group; m++) {
#pragma GCC unroll 4
                for (int v = 0; v < vectors; v++) sums[v][m] += x[v] * values[m];
            }
        }
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) best[v] = MIN(best[v], NAME(smallest)(sums[v], group));
    }
}

TARGET static inline __attribute__((always_inline)) void NAME(nearest_of_subset)(
    const Block *block, const TYPE *tile, int64_t subset, const int vectors, VEC *best) {
    const TYPE *references =
        (const TYPE *)block->references + subset * block->n_columns * block->n_members;
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) best[v] = (VEC){0} + (TYPE)INFINITY;
    int64_t members = block->n_members;
    /* Differences take registers of their own. */
    const int at_once = MEMBERS < 8 ? 1 : vectors;
    for (; members > 4; members -= 8, references += 8 * block->n_columns)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v += at_once)
            NAME(nearest)(tile + v * LANES, references, block->n_columns, at_once, 8, best + v);
    if (members > 0)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v += at_once)
            NAME(nearest)(tile + v * LANES, references, block->n_columns, at_once, 4, best + v);
}

/* Replaces the lanes of `squares` that are below `limit` by direct sums. */
TARGET static __attribute__((noinline)) void NAME(recompute)(
    const Block *block, const TYPE *tile, int64_t subset, const VEC *limit, VEC *squares) {
    VEC direct;
    NAME(nearest_of_subset)(block, tile, subset, 1, &direct);
    for (int i = 0; i < LANES; i++)
        (*squares)[i] = (*squares)[i] < (*limit)[i] ? direct[i] : (*squares)[i];
}

/* Adds the distances to one subset to `sums`. Expanded squares that lost too many digits are
 * recomputed directly, lane by lane: the contents of other lanes change no bit. */
TARGET static inline __attribute__((always_inline)) void NAME(add_subset)(
    const Block *block, const TYPE *tile, const TYPE *norms, int64_t subset, const int vectors,
    TYPE *sums) {
    VEC best[VECTORS];
    if (block->product) {
        const int64_t height = block->n_columns + 1;
        const TYPE *product = (const TYPE *)block->product + subset * height * block->n_members;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) best[v] = (VEC){0} + (TYPE)INFINITY;
        int64_t members = block->n_members;
        for (; members > 4; members -= 8, product += 8 * height)
            NAME(nearest_expanded)(tile, product, block->n_columns, vectors, 8, best);
        if (members > 0) NAME(nearest_expanded)(tile, product, block->n_columns, vectors, 4, best);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
            const VEC limit = *(const VEC *)(norms + ROWS + v * LANES);
            best[v] += *(const VEC *)(norms + v * LANES);
            /* NaN is not less than the limit: rows with missing cells keep NaN and are scored
             * with masks. */
            if (ANY_LESS(best[v], limit)) {
                VEC recomputed = best[v], below = limit;
                NAME(recompute)(block, tile + v * LANES, subset, &below, &recomputed);
                best[v] = recomputed;
            }
        }
    } else {
        NAME(nearest_of_subset)(block, tile, subset, vectors, best);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        if (block->take_root) best[v] = SQRT(best[v]);
        *(VEC *)(sums + v * LANES) += best[v];
    }
}

#include "_kernel_one_row.h"

/* Copies rows into a tile whose columns are `width` values apart; lanes without a row are zero. */
TARGET static void NAME(load_tile)(
    const Block *block, int64_t first, int64_t n_rows, int64_t width, TYPE *restrict tile) {
    const TYPE *rows = (const TYPE *)block->rows + first * block->row_stride;
    const TYPE *centre = block->centre, *scale = block->scale;
    const int64_t stride = block->row_stride;
    int64_t k = 0;
#ifdef FOUR_COLUMNS
    if (n_rows == ROWS && !block->columns && block->column_stride == 1)
        for (; k + 4 <= block->n_columns; k += 4)
            for (int v = 0; v < VECTORS; v++)
                FOUR_COLUMNS(
                    rows + k + v * LANES * stride, stride, tile + k * width + v * LANES, width);
#endif
#ifdef GATHER
    /* Gathers of floats take 32-bit offsets. */
    const int can_gather = llabs(stride) <= INT32_MAX / LANES;
    const __m512i offsets = can_gather ? OFFSETS(stride) : _mm512_setzero_si512();
#endif
    for (; k < block->n_columns; k++) {
        const TYPE *from = rows + (block->columns ? block->columns[k] : k) * block->column_stride;
        TYPE *to = tile + k * width;
#ifdef GATHER
        if (n_rows == ROWS && can_gather) {
            for (int v = 0; v < VECTORS; v++)
                *(VEC *)(to + v * LANES) = GATHER(from + v * LANES * stride, offsets);
        } else
#endif
        if (n_rows == ROWS) {
            for (int i = 0; i < ROWS; i++) to[i] = from[i * stride];
        } else {
            for (int i = 0; i < ROWS; i++) to[i] = i < n_rows ? from[i * stride] : 0;
        }
    }
    if (scale)
        for (k = 0; k < block->n_columns; k++)
            for (int i = 0; i < ROWS; i++)
                tile[k * width + i] = (tile[k * width + i] - centre[k]) * scale[k];
}

/* |x|^2 of a tile's rows, followed by the limits below which squares are recomputed. If references
 * and rows are 0 or 1, expanded squares are exact and there is no limit. */
TARGET static void NAME(load_norms)(const Block *block, const TYPE *tile, TYPE *norms) {
    VEC sums[VECTORS];
    for (int v = 0; v < VECTORS; v++) sums[v] = (VEC){0};
    for (int64_t k = 0; k < block->n_columns; k++)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++) {
            const VEC x = *(const VEC *)(tile + k * ROWS + v * LANES);
            sums[v] += x * x;
        }
    for (int v = 0; v < VECTORS; v++) {
        VEC limit = sums[v] * (TYPE)block->cancellation;
        if (block->is_binary) {
            VEC off_grid = {0};
            for (int64_t k = 0; k < block->n_columns; k++) {
                const VEC x = *(const VEC *)(tile + k * ROWS + v * LANES), excess = x * x - x;
                off_grid += excess * excess;
            }
            for (int i = 0; i < LANES; i++)
                /* Exact squares are at least 0, so that none is below the limit. */
                if (off_grid[i] == 0) limit[i] = -1;
        }
        *(VEC *)(norms + v * LANES) = sums[v];
        *(VEC *)(norms + ROWS + v * LANES) = limit;
    }
}

TARGET static int NAME(score)(const Block *block) {
    const int64_t n_columns = block->n_columns, tile_size = n_columns * ROWS;
    int64_t n_tiles = PANEL_BYTES / (tile_size * (int64_t)sizeof(TYPE));
    const int64_t needed = (block->n_rows + ROWS - 1) / ROWS;
    n_tiles = n_tiles < 1 ? 1 : n_tiles > needed ? needed : n_tiles;
    TYPE *tiles = aligned_room(64, (size_t)(n_tiles * (tile_size + 3 * ROWS)) * sizeof(TYPE));
    if (!tiles) return NO_MEMORY;
    TYPE *sums = tiles + n_tiles * tile_size, *norms = sums + n_tiles * ROWS;
    for (int64_t start = 0; start < block->n_rows; start += n_tiles * ROWS) {
        const int64_t left = block->n_rows - start,
                      height = left < n_tiles * ROWS ? left : n_tiles * ROWS;
        double *out = block->out + start;
        for (int64_t i = 0; i < height; i++) out[i] = 0;
        for (int64_t i = 0; i < n_tiles * ROWS; i++) sums[i] = 0;
        for (int64_t i = 0; i < height; i += ROWS) {
            NAME(load_tile)(
                block, start + i, height - i < ROWS ? height - i : ROWS, ROWS,
                tiles + i * n_columns);
            if (block->product) NAME(load_norms)(block, tiles + i * n_columns, norms + 2 * i);
        }
        for (int64_t subset = 0; subset < block->n_subsets; subset++) {
            for (int64_t i = 0; i < height; i += ROWS) {
                /* A single row is common, and so is a last tile that fits into one vector. */
                if (height - i == 1)
                    NAME(add_subset_to_one)(
                        block, tiles + i * n_columns, norms + 2 * i, subset, sums + i);
                else if (VECTORS == 1 || height - i > LANES)
                    NAME(add_subset)(
                        block, tiles + i * n_columns, norms + 2 * i, subset, VECTORS, sums + i);
                else
                    NAME(add_subset)(
                        block, tiles + i * n_columns, norms + 2 * i, subset, 1, sums + i);
            }
            if (subset % FLUSH == FLUSH - 1 || subset == block->n_subsets - 1)
                for (int64_t i = 0; i < height; i++) {
                    out[i] += (double)sums[i];
                    sums[i] = 0;
                }
        }
        for (int64_t i = 0; i < height; i++) out[i] /= (double)block->n_subsets;
    }
    free_room(tiles);
    return OK;
}

/* Missing cells. A row cell becomes a value and a flag (0, 0 if missing), a reference cell a value,
 * a flag and the weight times the flag. Then x * seen_r - r * seen_x is the difference if both are
 * observed and 0 otherwise, and it is exact because one factor is 0 or 1. */
TARGET static inline __attribute__((always_inline)) void NAME(nearest_masked)(
    const TYPE *restrict tile, const TYPE *restrict references, int64_t n_columns, TYPE total,
    VEC *best) {
    VEC sums[4], covered[4];
#pragma GCC unroll 4
    for (int m = 0; m < 4; m++) sums[m] = covered[m] = (VEC){0};
    for (int64_t k = 0; k < n_columns; k++, tile += 2 * ROWS, references += 12) {
        const VEC x = *(const VEC *)tile, seen = *(const VEC *)(tile + ROWS);
#pragma GCC unroll 4
        for (int m = 0; m < 4; m++) {
            const VEC difference = x * references[4 + m] - seen * references[m];
            sums[m] += difference * difference;
            covered[m] += seen * references[8 + m];
        }
    }
#pragma GCC unroll 4
    for (int m = 0; m < 4; m++)
        /* Without a common column this is 0 * infinity = NaN; MIN then keeps its second
         * argument. */
        *best = MIN(sums[m] * (total / covered[m]), *best);
}

TARGET static int NAME(masked)(const Block *block) {
    const int64_t n_columns = block->n_columns, members = block->n_members;
    TYPE *tile = aligned_room(64, (size_t)(2 * n_columns * ROWS) * sizeof(TYPE));
    if (!tile) return NO_MEMORY;
    for (int64_t start = 0; start < block->n_rows; start += ROWS) {
        const int64_t left = block->n_rows - start, height = left < ROWS ? left : ROWS;
        NAME(load_tile)(block, start, height, 2 * ROWS, tile);
        for (int64_t k = 0; k < n_columns; k++)
            for (int i = 0; i < ROWS; i++) {
                TYPE *cell = tile + 2 * ROWS * k + i;
                /* Only NaN differs from itself. */
                const int missing = *cell != *cell;
                cell[ROWS] = missing ? 0 : 1;
                *cell = missing ? 0 : *cell;
            }
        for (int v = 0; v < VECTORS && v * LANES < height; v++) {
            double sums[LANES] = {0}, known[LANES] = {0};
            const TYPE *references = block->references;
            for (int64_t subset = 0; subset < block->n_subsets; subset++) {
                VEC best = (VEC){0} + (TYPE)INFINITY;
                for (int64_t m = 0; m < members; m += 4, references += 12 * n_columns)
                    NAME(nearest_masked)(
                        tile + v * LANES, references, n_columns, (TYPE)block->total, &best);
                const VEC distance = block->take_root ? SQRT(best) : best;
                for (int i = 0; i < LANES; i++) {
                    const int finite = distance[i] < (TYPE)INFINITY;
                    sums[i] += finite ? (double)distance[i] : 0.0;
                    known[i] += finite;
                }
            }
            for (int i = 0; i < LANES && v * LANES + i < height; i++)
                /* 0 / 0 is NaN: the row shares no column with any reference. */
                block->out[start + v * LANES + i] = sums[i] / known[i];
        }
    }
    free_room(tile);
    return OK;
}

TARGET static double NAME(peak)(int expanded, int64_t repeats) {
    VEC sums[12], x = (VEC){0} + (TYPE)1.5, step = (VEC){0} + (TYPE)0.25;
    for (int m = 0; m < 12; m++) sums[m] = (VEC){0};
    for (int64_t repeat = 0; repeat < repeats; repeat++) {
        if (expanded) {
#pragma GCC unroll 12
            for (int m = 0; m < 12; m++) sums[m] += x * step;
        } else {
#pragma GCC unroll 12
            for (int m = 0; m < 12; m++) {
                TOUCH(x); /* keeps the difference inside the loop */
                const VEC difference = x - step;
                sums[m] += difference * difference;
            }
        }
    }
    for (int m = 0; m < 12; m++) TOUCH(sums[m]);
    return 12.0 * LANES * (double)repeats;
}

#undef VEC
#undef LANES
#undef ROWS
#undef PANEL_BYTES
#undef FLUSH
#undef GROUP
