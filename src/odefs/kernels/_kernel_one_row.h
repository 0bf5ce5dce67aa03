/* Scoring of a single row, for the instruction set and TYPE with which _kernel_body.h includes
 * this. */

/* Smallest of `members` squares of a single row whose values are ROWS apart. The lanes hold the
 * members of a chunk, so no work is done for absent rows. Each square goes through the same
 * operations in the same order as in _kernel_body.h. Products and sums are fused in both or in
 * neither (-ffp-contract=fast in setup.py), so that the bits agree. */
#define ONE_ROW(name, members)                                                           \
    TARGET static inline __attribute__((always_inline)) TYPE NAME(name)(                 \
        const TYPE *restrict row, const TYPE *restrict chunk, int64_t n_columns,         \
        const int expanded, TYPE best) {                                                 \
        typedef TYPE LINE                                                                \
            __attribute__((vector_size(members * sizeof(TYPE)), aligned(sizeof(TYPE)))); \
        LINE sums = {0};                                                                 \
        if (expanded) sums = *(const LINE *)chunk, chunk += members;                     \
        for (int64_t k = 0; k < n_columns; k++, chunk += members) {                      \
            const LINE values = *(const LINE *)chunk;                                    \
            if (expanded) {                                                              \
                sums += row[k * ROWS] * values;                                          \
            } else {                                                                     \
                const LINE difference = row[k * ROWS] - values;                          \
                sums += difference * difference;                                         \
            }                                                                            \
        }                                                                                \
        for (int m = 0; m < members; m++) best = best < sums[m] ? best : sums[m];        \
        return best;                                                                     \
    }
ONE_ROW(eight_members, 8)
ONE_ROW(four_members, 4)
#undef ONE_ROW

TARGET static inline __attribute__((always_inline)) TYPE NAME(nearest_to_one)(
    const Block *block, const TYPE *row, const TYPE *references, int64_t subset,
    const int expanded) {
    const int64_t height = block->n_columns + expanded;
    const TYPE *chunk = references + subset * height * block->n_members;
    TYPE best = (TYPE)INFINITY;
    int64_t members = block->n_members;
    for (; members > 4; members -= 8, chunk += 8 * height)
        best = NAME(eight_members)(row, chunk, block->n_columns, expanded, best);
    return members > 0 ? NAME(four_members)(row, chunk, block->n_columns, expanded, best) : best;
}

/* add_subset for a single row. */
TARGET static void NAME(add_subset_to_one)(
    const Block *block, const TYPE *row, const TYPE *norms, int64_t subset, TYPE *sum) {
    TYPE best;
    if (block->product) {
        best = NAME(nearest_to_one)(block, row, block->product, subset, 1) + norms[0];
        if (best < norms[ROWS])
            best = NAME(nearest_to_one)(block, row, block->references, subset, 0);
    } else {
        best = NAME(nearest_to_one)(block, row, block->references, subset, 0);
    }
    /* The root of a float taken in double and rounded is that of sqrtf: 53 bits suffice for 24. */
    *sum += block->take_root ? (TYPE)sqrt((double)best) : best;
}
