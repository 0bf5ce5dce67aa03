/* Two subsets of eight references in tiles, in the order that _kernel_tiles.h explains. `tiles` is zero where nothing is written. */

static uint32_t bits_of(float x) {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, 4);
    return bits;
}

/* Takes the next bfloat16 off a number and returns its bits. */
static uint32_t take_part(float *rest) {
    const uint32_t bits = (bits_of(*rest) + 0x8000) & 0xffff0000;
    float part;
    __builtin_memcpy(&part, &bits, 4);
    *rest -= part;
    return bits >> 16;
}

static void put_word(int8_t *tiles, int row, int64_t w, uint32_t word) {
    __builtin_memcpy(tiles + w / SIDE * TILE_BYTES + 4 * (SIDE * row + w % SIDE), &word, 4);
}

static void pack_parts(const float *reference, int64_t n_columns, int row, int8_t *tiles) {
    double norm = 0;
    for (int64_t k = 0; k < n_columns; k++) {
        float rest = -2 * reference[k];
        const uint32_t high = take_part(&rest), middle = take_part(&rest), low = take_part(&rest);
        const int64_t w = NORM_WORDS + 3 * k;
        put_word(tiles, row, w, middle | high << 16);
        put_word(tiles, row, w + 1, low | high << 16);
        put_word(tiles, row, w + 2, middle | high << 16);
        norm += (double)reference[k] * reference[k];
    }
    float rest = (float)norm;
    const uint32_t high = take_part(&rest), middle = take_part(&rest), low = take_part(&rest);
    put_word(tiles, row, 0, middle | low << 16);
    put_word(tiles, row, 1, high);
}

/* `small` gets the third digits and behind them the second ones. */
static void pack_digits(const float *reference, int64_t n_columns, int row, double step, int is_binary, int8_t *tiles, int16_t *small) {
    const int64_t words = (n_columns + 3) / 4, second = 1 + (words + SIDE - 1) / SIDE, third = second + (2 * words + SIDE - 1) / SIDE;
    const double per_step = -1 / step;
    double norm = 0;
    for (int64_t k = 0; k < n_columns; k++) {
        const int32_t carried = (int32_t)lrint(reference[k] * per_step) + 0x808080, number = carried ^ 0x808080;
        const int8_t digits[3] = {(int8_t)(number >> 16), (int8_t)(number >> 8), (int8_t)number};
        for (int sum = 0; sum < 3; sum++)
            for (int place = 0; place <= sum; place++) {
                const int64_t byte = 4 * words * place + k, tile = (sum == 0 ? 1 : sum == 1 ? second : third) + byte / (4 * SIDE);
                tiles[tile * TILE_BYTES + 4 * SIDE * row + byte % (4 * SIDE)] = digits[sum - place];
            }
        small[k] = digits[2], small[n_columns + k] = digits[1];
        norm += (double)reference[k] * reference[k];
    }
    /* Half a unit for what is cut off where the smallest digits' sum is divided. */
    const int32_t half = (int32_t)lrint(norm / (2 * 0x1p24 * step * step) + (is_binary ? 0 : 0.5));
    for (int i = 0; i < SIDE; i++) __builtin_memcpy(tiles + 4 * (SIDE * row + i), &half, 4);
}

/* What the products of the `probed` references and all are short of, in 256 squared steps, but for those of two smallest digits. */
TILED static void lost_products(const Packing *packing, const int16_t *small) {
    const int64_t n_columns = packing->n_columns, n_references = 8 * packing->n_subsets;
    for (int64_t i = 0; i < packing->n_probed; i++) {
        const int16_t *a = small + 2 * n_columns * packing->probed[i];
        for (int64_t j = 0; j < n_references; j++) {
            const int16_t *b = small + 2 * n_columns * j;
            int32_t sum = 0;
            for (int64_t k = 0; k < n_columns; k++) sum += a[n_columns + k] * b[k];
            for (int64_t k = 0; k < n_columns; k++) sum += a[k] * b[n_columns + k];
            packing->lost[i * n_references + j] = sum;
        }
    }
}

static int pack_tiles(const Packing *packing) {
    const int64_t n_columns = packing->n_columns, n_subsets = packing->n_subsets;
    const int by_parts = packing->step == 0;
    const int64_t pair_bytes = reference_tiles(n_columns, by_parts) * TILE_BYTES;
    int16_t *small = NULL;
    if (!by_parts && !(small = malloc((size_t)(16 * n_subsets * n_columns) * sizeof(int16_t)))) return NO_MEMORY;
    for (int64_t member = 0; member < 8; member++)
        for (int64_t subset = 0; subset < n_subsets; subset++) {
            const int64_t place = member * n_subsets + subset;
            const float *reference = packing->references + place * n_columns;
            int8_t *tiles = packing->tiles + subset / 2 * pair_bytes;
            const int row = (int)(8 * (subset % 2) + member);
            if (by_parts) pack_parts(reference, n_columns, row, tiles);
            else pack_digits(reference, n_columns, row, packing->step, packing->is_binary != 0, tiles, small + 2 * n_columns * place);
        }
    if (!by_parts) lost_products(packing, small);
    free(small);
    return OK;
}
