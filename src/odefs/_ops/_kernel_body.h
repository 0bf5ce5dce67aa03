/* The loops of the kernel for one instruction set (ISA, TARGET, WIDTH in bytes, VECTORS of rows at once) and one TYPE.
 *
 * A panel of rows is copied into tiles: [tile][column][VECTORS * LANES rows], so that the inner loop reads forward. References are packed per subset in
 * chunks of eight members and, where fewer are left, of four: [subset][chunk][column][member]. Every lane goes through the same operations in the
 * same order whatever stands beside it, so a row's score does not depend on its place. */

#define VEC NAME(vec)
#define LANES (WIDTH / (int)sizeof(TYPE))
#define ROWS (VECTORS * LANES)
#define PANEL_BYTES 24576 /* half a first-level cache; the references of one subset need the rest */
#define FLUSH 8           /* so many distances are summed in TYPE before they go to float64 */

typedef TYPE VEC __attribute__((vector_size(WIDTH)));

/* Smallest squared distance of `vectors` vectors of rows to `members` references. Both counts are constants where this is inlined. */
TARGET static inline __attribute__((always_inline)) void NAME(nearest)(
    const TYPE *restrict tile, const TYPE *restrict references, int64_t n_columns, const int vectors, const int members, VEC *best) {
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
    for (int v = 0; v < vectors; v++) {
        if (members == 8) {
#pragma GCC unroll 4
            for (int m = 0; m < 4; m++) sums[v][m] = MIN(sums[v][m], sums[v][m + 4]);
        }
        sums[v][0] = MIN(sums[v][0], sums[v][2]);
        sums[v][1] = MIN(sums[v][1], sums[v][3]);
        sums[v][0] = MIN(sums[v][0], sums[v][1]);
        best[v] = MIN(best[v], sums[v][0]); /* a row with NaN has nothing but NaN: in this order they stay */
    }
}

/* Adds the distances to one subset onto `sums`. */
TARGET static inline __attribute__((always_inline)) void NAME(add_subset)(
    const Block *block, const TYPE *tile, const TYPE *references, const int vectors, TYPE *sums) {
    VEC best[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) best[v] = (VEC){0} + (TYPE)INFINITY;
    int64_t members = block->n_members;
    for (; members > 4; members -= 8, references += 8 * block->n_columns)
        NAME(nearest)(tile, references, block->n_columns, vectors, 8, best);
    if (members > 0) NAME(nearest)(tile, references, block->n_columns, vectors, 4, best);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
        if (block->take_root) best[v] = SQRT(best[v]);
        *(VEC *)(sums + v * LANES) += best[v];
    }
}

/* Copies rows into a tile of `width` values per column, `wide` of them rows; lanes without a row get zeros. */
TARGET static void NAME(load_tile)(const Block *block, int64_t first, int64_t n_rows, int64_t width, TYPE *restrict tile) {
    const TYPE *rows = (const TYPE *)block->rows + first * block->row_stride;
    const TYPE *centre = block->centre, *scale = block->scale;
    const int64_t stride = block->row_stride;
    for (int64_t k = 0; k < block->n_columns; k++, tile += width) {
        const TYPE *from = rows + (block->columns ? block->columns[k] : k) * block->column_stride;
        if (n_rows == ROWS) {
#pragma GCC unroll 32
            for (int i = 0; i < ROWS; i++) tile[i] = from[i * stride];
        } else {
            for (int i = 0; i < ROWS; i++) tile[i] = i < n_rows ? from[i * stride] : 0;
        }
        if (scale)
            for (int i = 0; i < ROWS; i++) tile[i] = (tile[i] - centre[k]) * scale[k];
    }
}

TARGET static int NAME(score)(const Block *block) {
    const int64_t tile_size = block->n_columns * ROWS;
    int64_t n_tiles = PANEL_BYTES / (tile_size * (int64_t)sizeof(TYPE));
    const int64_t needed = (block->n_rows + ROWS - 1) / ROWS;
    n_tiles = n_tiles < 1 ? 1 : n_tiles > needed ? needed : n_tiles;
    TYPE *memory;
    if (posix_memalign((void **)&memory, 64, (size_t)(n_tiles * (tile_size + ROWS)) * sizeof(TYPE))) return NO_MEMORY;
    TYPE *sums = memory + n_tiles * tile_size;
    const int64_t subset_size = block->n_columns * block->n_members;
    for (int64_t start = 0; start < block->n_rows; start += n_tiles * ROWS) {
        const int64_t left = block->n_rows - start, height = left < n_tiles * ROWS ? left : n_tiles * ROWS;
        double *out = block->out + start;
        for (int64_t i = 0; i < height; i++) out[i] = 0;
        for (int64_t i = 0; i < n_tiles * ROWS; i++) sums[i] = 0;
        for (int64_t i = 0; i < height; i += ROWS)
            NAME(load_tile)(block, start + i, height - i < ROWS ? height - i : ROWS, ROWS, memory + i * block->n_columns);
        for (int64_t subset = 0; subset < block->n_subsets; subset++) {
            const TYPE *references = (const TYPE *)block->references + subset * subset_size;
            for (int64_t i = 0; i < height; i += ROWS) {
                const TYPE *tile = memory + i * block->n_columns;
                /* A last tile that needs one vector only is common: single rows are scored that way. */
                if (VECTORS == 1 || height - i > LANES)
                    NAME(add_subset)(block, tile, references, VECTORS, sums + i);
                else
                    NAME(add_subset)(block, tile, references, 1, sums + i);
            }
            if (subset % FLUSH == FLUSH - 1 || subset == block->n_subsets - 1)
                for (int64_t i = 0; i < height; i++) {
                    out[i] += (double)sums[i];
                    sums[i] = 0;
                }
        }
        for (int64_t i = 0; i < height; i++) out[i] /= (double)block->n_subsets;
    }
    free(memory);
    return OK;
}

/* Missing cells. Row cells become a value and a flag (0, 0 where missing), reference cells a value, a flag and the weight times the flag. With
 * these, x * seen_r - r * seen_x is the difference where both are seen and 0 elsewhere, and exact, as one factor is 0 or 1. */
TARGET static inline __attribute__((always_inline)) void NAME(nearest_masked)(
    const TYPE *restrict tile, const TYPE *restrict references, int64_t n_columns, TYPE total, VEC *best) {
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
        /* Without a common column this is 0 * infinity; the minimum then keeps its second argument. */
        *best = MIN(sums[m] * (total / covered[m]), *best);
}

TARGET static int NAME(masked)(const Block *block) {
    const int64_t n_columns = block->n_columns, members = block->n_members;
    TYPE *tile;
    if (posix_memalign((void **)&tile, 64, (size_t)(2 * n_columns * ROWS) * sizeof(TYPE))) return NO_MEMORY;
    for (int64_t start = 0; start < block->n_rows; start += ROWS) {
        const int64_t left = block->n_rows - start, height = left < ROWS ? left : ROWS;
        NAME(load_tile)(block, start, height, 2 * ROWS, tile);
        for (int64_t k = 0; k < n_columns; k++)
            for (int i = 0; i < ROWS; i++) {
                TYPE *cell = tile + 2 * ROWS * k + i;
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
                    NAME(nearest_masked)(tile + v * LANES, references, n_columns, (TYPE)block->total, &best);
                const VEC distance = block->take_root ? SQRT(best) : best;
                for (int i = 0; i < LANES; i++) {
                    const int finite = distance[i] < (TYPE)INFINITY;
                    sums[i] += finite ? (double)distance[i] : 0.0;
                    known[i] += finite;
                }
            }
            for (int i = 0; i < LANES && v * LANES + i < height; i++) block->out[start + v * LANES + i] = sums[i] / known[i];
        }
    }
    free(tile);
    return OK;
}

TARGET static double NAME(peak)(int64_t repeats) {
    VEC sums[8], x = (VEC){0} + (TYPE)1.5, step = (VEC){0} + (TYPE)0.25;
    for (int m = 0; m < 8; m++) sums[m] = (VEC){0};
    for (int64_t repeat = 0; repeat < repeats; repeat++) {
#pragma GCC unroll 8
        for (int m = 0; m < 8; m++) {
            TOUCH(x); /* or the difference would be taken once, before the loop */
            const VEC difference = x - step;
            sums[m] += difference * difference;
        }
    }
    for (int m = 0; m < 8; m++) TOUCH(sums[m]);
    return 8.0 * LANES * (double)repeats;
}

#undef VEC
#undef LANES
#undef ROWS
#undef PANEL_BYTES
#undef FLUSH
