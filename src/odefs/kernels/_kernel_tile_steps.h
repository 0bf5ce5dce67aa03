/* Products, sums stored and distances of sixteen rows, of parts three times as many, and two subsets, for _kernel_tiles.h, which explains both ways. */

/* The smallest of |x - r|^2 - |x|^2 to one of two subsets. */
TILED INLINE __m512 nearest_by_parts(const __m512i *sum, const int which) {
    __m512 squares[8];
#pragma GCC unroll 8
    for (int m = 0; m < 8; m++) squares[m] = _mm512_castsi512_ps(sum[8 * which + m]);
#pragma GCC unroll 4
    for (int m = 0; m < 4; m++) squares[m] = _mm512_min_ps(squares[m], squares[m + 4]);
    return _mm512_min_ps(_mm512_min_ps(squares[0], squares[1]), _mm512_min_ps(squares[2], squares[3]));
}

/* The same in units of 2 * 256^3 tile_step^2. */
TILED INLINE __m512 nearest_by_digits(const Sums sums, const int which) {
    /* By 8 bits to the left, on a port that has less to do than the one for shifts. */
    const __m512i up = _mm512_set4_epi32(0x0e0d0cff, 0x0a0908ff, 0x060504ff, 0x020100ff);
    __m512i halves[8];
#pragma GCC unroll 8
    for (int m = 0; m < 8; m++) {
        const int at = 8 * which + m;
        halves[m] = _mm512_add_epi32(_mm512_shuffle_epi8(sums[0][at], up), sums[1][at]);
        halves[m] = _mm512_add_epi32(halves[m], _mm512_srai_epi32(sums[2][at], 8));
    }
#pragma GCC unroll 4
    for (int m = 0; m < 4; m++) halves[m] = _mm512_min_epi32(halves[m], halves[m + 4]);
    return _mm512_cvtepi32_ps(_mm512_min_epi32(_mm512_min_epi32(halves[0], halves[1]), _mm512_min_epi32(halves[2], halves[3])));
}

/* Adds the distances of the sixteen rows `v` of a group to one of two subsets, where there are both. */
TILED INLINE void add_distances(const Block *block, const int way, const Sums sums, const Group *group, float scale, const int v, const int which) {
    if (!group->total || group->subset + which >= block->n_subsets) return;
    const float *const norms_at = group->place.norms + v * SIDE;
    const __m512 norms = _mm512_load_ps(norms_at), limit = _mm512_load_ps(norms_at + TILE_ROWS);
    __m512 squares = way == PARTS ? _mm512_add_ps(nearest_by_parts(sums[v], which), norms)
                                  : _mm512_fmadd_ps(nearest_by_digits(sums, which), _mm512_set1_ps(scale), norms);
    if (__builtin_expect(_mm512_cmp_ps_mask(squares, limit, _CMP_LT_OQ), 0)) {
        vec_avx512_float mended = (vec_avx512_float)squares, below = (vec_avx512_float)limit;
        mend_avx512_float(block, group->place.values + v * SIDE, group->subset + which, &below, &mended);
        squares = (__m512)mended;
    }
    if (block->take_root) squares = _mm512_sqrt_ps(squares);
    float *const total = group->total + v * SIDE;
    _mm512_store_ps(total, _mm512_add_ps(_mm512_load_ps(total), squares));
}

/* All distances of a group. */
TILED INLINE void add_all(const Block *block, const int way, const Sums sums, const Group *group, float scale) {
    for (int v = 0; v < (way == PARTS ? GROUPS : 1); v++)
        for (int which = 0; which < 2; which++) add_distances(block, way, sums, group, scale, v, which);
}

/* The numbers of tiles are part of the instructions: sums in 0 to 2, references from 3 on, rows in 7, of parts in 6 too. */
#define ROWS_TILE(number, chunk) _tile_loadd(number, rows + (chunk) * SIDE, 64)
#define REFERENCES_TILE(number, chunk) _tile_loadd(number, references + (chunk) * TILE_BYTES, 64)

/* References that stay while the rows of a panel pass. */
TILED INLINE void load_references(const int way, const int row_tiles, const int8_t *references) {
    if (way == PARTS) {
        REFERENCES_TILE(3, 0);
        REFERENCES_TILE(4, 1);
        if (row_tiles > 2) REFERENCES_TILE(5, 2);
    } else if (way == FEW_DIGITS) {
        REFERENCES_TILE(3, 1);
        REFERENCES_TILE(4, 2);
        REFERENCES_TILE(5, 3);
        if (row_tiles > 1) REFERENCES_TILE(6, 4);
    }
}

/* Starts the sums of one group, stores those of the group before it, and adds the distances of the one before that; the processor does all three side by
 * side. Three groups at once: a product waits for the one before it in its sum three times as long as for one of another sum. */
TILED INLINE void next_by_parts(const Block *block, const int row_tiles, const __m512i *rows, Sums store_to, const Sums stored, const Group *group) {
    ROWS_TILE(6, 0);
    _tile_stored(0, store_to[0], 64);
    _tile_zero(0);
    _tile_dpbf16ps(0, 3, 6);
    ROWS_TILE(7, row_tiles);
    _tile_stored(1, store_to[1], 64);
    _tile_zero(1);
    _tile_dpbf16ps(1, 3, 7);
    ROWS_TILE(6, 2 * row_tiles);
    _tile_stored(2, store_to[2], 64);
    _tile_zero(2);
    _tile_dpbf16ps(2, 3, 6);
    IN_ORDER;
    add_distances(block, PARTS, stored, group, 0, 0, 0);
    add_distances(block, PARTS, stored, group, 0, 0, 1);
    IN_ORDER;
    ROWS_TILE(7, 1);
    _tile_dpbf16ps(0, 4, 7);
    ROWS_TILE(6, row_tiles + 1);
    _tile_dpbf16ps(1, 4, 6);
    ROWS_TILE(7, 2 * row_tiles + 1);
    _tile_dpbf16ps(2, 4, 7);
    IN_ORDER;
    add_distances(block, PARTS, stored, group, 0, 1, 0);
    add_distances(block, PARTS, stored, group, 0, 1, 1);
    IN_ORDER;
    if (row_tiles > 2) {
        ROWS_TILE(6, 2);
        _tile_dpbf16ps(0, 5, 6);
        ROWS_TILE(7, row_tiles + 2);
        _tile_dpbf16ps(1, 5, 7);
        ROWS_TILE(6, 2 * row_tiles + 2);
        _tile_dpbf16ps(2, 5, 6);
    }
    IN_ORDER;
    add_distances(block, PARTS, stored, group, 0, 2, 0);
    add_distances(block, PARTS, stored, group, 0, 2, 1);
    IN_ORDER;
}

TILED INLINE void next_by_few_digits(const Block *block, const int row_tiles, const int8_t *references, const __m512i *rows, Sums store_to,
                                     const Sums stored, const Group *group, float scale) {
    ROWS_TILE(7, 0);
    _tile_stored(0, store_to[0], 64);
    _tile_zero(0);
    _tile_dpbssd(0, 3, 7);
    IN_ORDER;
    _tile_stored(1, store_to[1], 64);
    REFERENCES_TILE(1, 0);
    _tile_dpbssd(1, 4, 7);
    IN_ORDER;
    add_distances(block, FEW_DIGITS, stored, group, scale, 0, 0);
    IN_ORDER;
    _tile_stored(2, store_to[2], 64);
    _tile_zero(2);
    _tile_dpbssd(2, 5, 7);
    if (row_tiles > 1) {
        ROWS_TILE(7, 1);
        _tile_dpbssd(2, 6, 7);
    }
    IN_ORDER;
    add_distances(block, FEW_DIGITS, stored, group, scale, 0, 1);
    IN_ORDER;
}

TILED INLINE void next_by_many_digits(const Block *block, const Layout *layout, const int8_t *references, const __m512i *rows, Sums store_to,
                                      const Sums stored, const Group *group, float scale) {
    const int64_t second = 1 + layout->firsts, third = second + layout->seconds;
    ROWS_TILE(7, 0);
    _tile_stored(0, store_to[0], 64);
    _tile_zero(0);
    REFERENCES_TILE(6, 1);
    _tile_dpbssd(0, 6, 7);
    IN_ORDER;
    _tile_stored(1, store_to[1], 64);
    REFERENCES_TILE(1, 0);
    REFERENCES_TILE(6, second);
    _tile_dpbssd(1, 6, 7);
    IN_ORDER;
    add_distances(block, MANY_DIGITS, stored, group, scale, 0, 0);
    IN_ORDER;
    _tile_stored(2, store_to[2], 64);
    _tile_zero(2);
    REFERENCES_TILE(6, third);
    _tile_dpbssd(2, 6, 7);
    IN_ORDER;
    add_distances(block, MANY_DIGITS, stored, group, scale, 0, 1);
    IN_ORDER;
    for (int64_t chunk = 1; chunk < layout->row_tiles; chunk++) {
        ROWS_TILE(7, chunk);
        if (chunk < layout->firsts) {
            REFERENCES_TILE(6, 1 + chunk);
            _tile_dpbssd(0, 6, 7);
        }
        if (chunk < layout->seconds) {
            REFERENCES_TILE(6, second + chunk);
            _tile_dpbssd(1, 6, 7);
        }
        REFERENCES_TILE(6, third + chunk);
        _tile_dpbssd(2, 6, 7);
    }
    IN_ORDER;
}

#undef ROWS_TILE
#undef REFERENCES_TILE
