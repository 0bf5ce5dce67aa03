/* Sixteen rows at a time as tiles of parts or digits, for _kernel_tiles.h, which explains both. */

/* The larger of two sizes. As whole numbers, so that NaN is the largest. */
TILED INLINE __m512i larger(__m512i largest, __m512 x) {
    return _mm512_max_epi32(largest, _mm512_and_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(INT32_MAX)));
}

/* The next bfloat16, in the upper half of each lane. */
TILED INLINE __m512i rounded(__m512 x) {
    return _mm512_and_epi32(_mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000)), _mm512_set1_epi32((int)0xffff0000));
}

/* Writes the parts of sixteen rows; returns the lanes that are beyond the range. */
TILED static uint32_t split_parts(const float *values, int64_t n_columns, const Layout *layout, __m512i *out) {
    __m512i largest = _mm512_setzero_si512();
    for (int64_t w = 0; w < NORM_WORDS; w++) out[w] = _mm512_set1_epi32(0x3f803f80); /* ones */
    for (int64_t k = 0; k < n_columns; k++) {
        const __m512 x = _mm512_load_ps(values + k * TILE_ROWS);
        const __m512i h = rounded(x);
        const __m512 rest = _mm512_sub_ps(x, _mm512_castsi512_ps(h));
        const __m512i m = rounded(rest), l = rounded(_mm512_sub_ps(rest, _mm512_castsi512_ps(m))), low_h = _mm512_srli_epi32(h, 16);
        __m512i *const words = out + NORM_WORDS + 3 * k;
        largest = larger(largest, x);
        words[0] = _mm512_or_epi32(_mm512_srli_epi32(m, 16), l);
        words[1] = _mm512_or_epi32(low_h, m);
        words[2] = _mm512_or_epi32(low_h, h);
    }
    for (int64_t w = NORM_WORDS + 3 * n_columns; w < layout->row_tiles * SIDE; w++) out[w] = _mm512_setzero_si512();
    return _mm512_cmpgt_epi32_mask(largest, _mm512_castps_si512(_mm512_set1_ps(LARGEST_PARTS)));
}

/* The same for digits. */
TILED static uint32_t split_digits(const float *values, int64_t n_columns, const Layout *layout, float per_step, __m512i *out) {
    const __m512i carry = _mm512_set1_epi32(0x808080);
    __m512i largest = _mm512_setzero_si512();
    for (int64_t w = 0; w < layout->words; w++) {
        __m512i q[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            q[j] = _mm512_setzero_si512();
            if (4 * w + j < n_columns) {
                const __m512 x = _mm512_mul_ps(_mm512_load_ps(values + (4 * w + j) * TILE_ROWS), _mm512_set1_ps(per_step));
                largest = larger(largest, x);
                q[j] = _mm512_cvtps_epi32(x);
            }
            /* The carry makes digits from 0 to 255 of those from -128 to 127, the second step turns them back one by one. */
            q[j] = _mm512_xor_epi32(_mm512_add_epi32(q[j], carry), carry);
        }
#pragma GCC unroll 3
        for (int p = 0; p < 3; p++)
            out[p * layout->words + w] = _mm512_mask_blend_epi16(
                0xaaaaaaaa, _mm512_permutex2var_epi8(q[0], layout->first_two[p], q[1]), _mm512_permutex2var_epi8(q[2], layout->others[p], q[3]));
    }
    for (int64_t w = 3 * layout->words; w < layout->row_tiles * SIDE; w++) out[w] = _mm512_setzero_si512();
    return _mm512_cmpgt_epi32_mask(largest, _mm512_castps_si512(_mm512_set1_ps(LARGEST_DIGITS)));
}

/* A panel of rows as values, norms and tiles; those beyond the range are put aside. */
TILED static void load_panel(const Block *block, int64_t start, int64_t height, const Layout *layout, int by_parts, float *values, float *norms,
                             __m512i *rows, Aside *aside) {
    const int64_t n_columns = block->n_columns;
    const float per_step = by_parts ? 1 : (float)(1 / block->tile_step), limit = (float)block->tile_limit;
    for (int64_t i = 0; i < height; i += TILE_ROWS, values += n_columns * TILE_ROWS, norms += 2 * TILE_ROWS) {
        load_tile_avx512_float(block, start + i, height - i < TILE_ROWS ? height - i : TILE_ROWS, TILE_ROWS, values);
        load_norms_avx512_float(block, values, norms);
        for (int k = TILE_ROWS; k < 2 * TILE_ROWS; k++) norms[k] = norms[k] >= 0 && norms[k] < limit ? limit : norms[k];
        for (int v = 0; v < TILE_ROWS; v += SIDE, rows += layout->row_tiles * SIDE) {
            uint32_t outside = by_parts ? split_parts(values + v, n_columns, layout, rows) : split_digits(values + v, n_columns, layout, per_step, rows);
            for (; outside; outside &= outside - 1) {
                const int lane = v + __builtin_ctz(outside);
                if (i + lane >= height) break;
                for (int64_t k = 0; k < n_columns; k++) aside->values[aside->n * n_columns + k] = values[k * TILE_ROWS + lane];
                aside->places[aside->n++] = start + i + lane;
            }
        }
    }
}
