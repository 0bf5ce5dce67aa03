/* Mean distance from each row to the nearest member of each reference subset, in one pass.
 *
 * Rows are in the lanes of vectors; a reference value is broadcast to all lanes. For one subset
 * the squared distances of up to three vectors of rows to four or eight members stay in registers;
 * minimum and root are taken before anything is stored. Squares are summed directly, (x - r)^2, so
 * that nothing cancels; or, if packing found that little would cancel, as |x|^2 - 2 x.r + |r|^2,
 * half the work, and directly again in the lanes that lost digits. The loops are in _kernel_body.h,
 * those for training in _kernel_choices.h; this file compiles them for every instruction set and
 * both precisions, and chooses among them.
 *
 * No Python header is needed: the library is called through ctypes, which also releases the
 * GIL. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if !defined(__GNUC__)
#error "the kernel is written in the vector extensions of GCC and Clang; odefs works without it"
#endif

/* Memory that starts at a multiple of `alignment`; NULL if there is not enough. */
#if defined(_WIN32)
#include <malloc.h>
#define EXPORT __declspec(dllexport)
#define aligned_room(alignment, bytes) _aligned_malloc(bytes, alignment)
#define free_room _aligned_free
#else
#define EXPORT __attribute__((visibility("default")))
static void *aligned_room(size_t alignment, size_t bytes) {
    void *room;
    return posix_memalign(&room, alignment, bytes) ? NULL : room;
}
#define free_room free
#endif

#define PASTE_(a, b, c) a##_##b##_##c
#define PASTE(a, b, c) PASTE_(a, b, c)
#define NAME(base) PASTE(base, ISA, TYPE)

/* Makes the compiler assume that a vector has changed, without emitting an instruction. */
#if defined(__x86_64__)
#define TOUCH(vector) __asm__ volatile("" : "+v"(vector))
#elif defined(__aarch64__)
#define TOUCH(vector) __asm__ volatile("" : "+w"(vector))
#else
#define TOUCH(vector) __asm__ volatile("" : "+m"(vector))
#endif

/* One block of rows and the packed references. Strides count elements. `columns` selects some of
 * the `table_columns` of `rows` (NULL: the first ones); `centre` and `scale` transform a value x
 * into (x - centre) * scale (NULL: unchanged). `product` holds the references for expanded squares
 * (NULL: direct squares); those below `cancellation` times |x|^2 are recomputed. `is_binary` is set
 * if all references are 0 or 1. `total` is the sum of the weights, read only by the variant for
 * missing cells. */
typedef struct {
    const void *rows;
    int64_t n_rows, row_stride, column_stride;
    const int64_t *columns;
    const void *centre, *scale, *references, *product;
    int64_t table_columns, n_columns, n_subsets, n_members;
    int64_t take_root, is_binary;
    double total, cancellation;
    double *out;
} Block;

/* Rows of one component and its references, both contiguous with `n_columns` columns. `squares`
 * holds |x - r|^2 - |x|^2 - |r|^2 for each row and reference (member by member) and `norms` |r|^2,
 * both weighted, whereas `rows` and `references` are not. Squares that differ by less than a row's
 * `slack` count as equal. `out` is as large as `rows`. */
typedef struct {
    double *squares;
    const double *norms, *slack, *rows, *references;
    int64_t n_rows, n_columns, n_members, n_subsets;
    double *out;
} Choices;

enum { OK, NO_MEMORY, NO_SUCH_LEVEL, NO_SUCH_COLUMN };

/* Every MIN(a, b) below is a < b ? a : b, hence b if either is NaN. Code that must keep or drop NaN
 * relies on the order of the arguments. Neon's own minimum would return NaN in both orders. */

/* Levels in ascending order, with the names of LEVELS in shared_library.py. */
enum { PORTABLE, SSE2, NEON, AVX2, AVX512, N_LEVELS };

#define ISA portable
#define TARGET
#define WIDTH 16
#define VECTORS 1
#define MEMBERS 8
#define MIN_float(a, b) lanes_min_f32(a, b)
#define MIN_double(a, b) lanes_min_f64(a, b)
#define ANY_LESS_float(a, b) lanes_any_less_f32(a, b)
#define ANY_LESS_double(a, b) lanes_any_less_f64(a, b)
#define SQRT_float(a) lanes_sqrt_f32(a)
#define SQRT_double(a) lanes_sqrt_f64(a)
typedef float four_floats __attribute__((vector_size(16)));
typedef double two_doubles __attribute__((vector_size(16)));
static inline four_floats lanes_min_f32(four_floats a, four_floats b) {
    for (int i = 0; i < 4; i++) b[i] = a[i] < b[i] ? a[i] : b[i];
    return b;
}
static inline two_doubles lanes_min_f64(two_doubles a, two_doubles b) {
    for (int i = 0; i < 2; i++) b[i] = a[i] < b[i] ? a[i] : b[i];
    return b;
}
static inline int lanes_any_less_f32(four_floats a, four_floats b) {
    return a[0] < b[0] || a[1] < b[1] || a[2] < b[2] || a[3] < b[3];
}
static inline int lanes_any_less_f64(two_doubles a, two_doubles b) {
    return a[0] < b[0] || a[1] < b[1];
}
static inline four_floats lanes_sqrt_f32(four_floats a) {
    for (int i = 0; i < 4; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
}
static inline two_doubles lanes_sqrt_f64(two_doubles a) {
    for (int i = 0; i < 2; i++) a[i] = __builtin_sqrt(a[i]);
    return a;
}
#include "_kernel_isa.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define ISA sse2
#define TARGET
#define WIDTH 16
#define VECTORS 1
#define MEMBERS 8
#define MIN_float(a, b) ((VEC)_mm_min_ps((__m128)(a), (__m128)(b)))
#define MIN_double(a, b) ((VEC)_mm_min_pd((__m128d)(a), (__m128d)(b)))
#define ANY_LESS_float(a, b) _mm_movemask_ps(_mm_cmplt_ps((__m128)(a), (__m128)(b)))
#define ANY_LESS_double(a, b) _mm_movemask_pd(_mm_cmplt_pd((__m128d)(a), (__m128d)(b)))
#define SQRT_float(a) ((VEC)_mm_sqrt_ps((__m128)(a)))
#define SQRT_double(a) ((VEC)_mm_sqrt_pd((__m128d)(a)))
#include "_kernel_isa.h"

#define ISA avx2
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH 32
/* Twelve sums, three vectors of rows and a member fill the sixteen registers. */
#define VECTORS 3
#define MEMBERS 4
#define MIN_float(a, b) ((VEC)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define MIN_double(a, b) ((VEC)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define ANY_LESS_float(a, b) _mm256_movemask_ps(_mm256_cmp_ps((__m256)(a), (__m256)(b), _CMP_LT_OQ))
#define ANY_LESS_double(a, b) \
    _mm256_movemask_pd(_mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_LT_OQ))
#define SQRT_float(a) ((VEC)_mm256_sqrt_ps((__m256)(a)))
#define SQRT_double(a) ((VEC)_mm256_sqrt_pd((__m256d)(a)))
#include "_kernel_isa.h"

#define ISA avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))
#define WIDTH 64
#define VECTORS 3
#define MEMBERS 8
#define MIN_float(a, b) ((VEC)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define MIN_double(a, b) ((VEC)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#define ANY_LESS_float(a, b) _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_LT_OQ)
#define ANY_LESS_double(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LT_OQ)
#define SQRT_float(a) ((VEC)_mm512_sqrt_ps((__m512)(a)))
#define SQRT_double(a) ((VEC)_mm512_sqrt_pd((__m512d)(a)))
/* Loads sixteen or eight values that are a row apart; twice as fast as one by one. */
#define OFFSETS_float(stride)             \
    _mm512_mullo_epi32(                   \
        _mm512_set1_epi32((int)(stride)), \
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
#define OFFSETS_double(stride) \
    _mm512_mullo_epi64(_mm512_set1_epi64(stride), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0))
#define GATHER_float(from, offsets) ((VEC)_mm512_i32gather_ps(offsets, from, 4))
#define GATHER_double(from, offsets) ((VEC)_mm512_i64gather_pd(offsets, from, 8))
#define HAS_GATHER
/* Transposes sixteen rows of four adjacent columns; four times as fast as gathering them. */
#define FOUR_COLUMNS_float four_columns_f32
#define HAS_FOUR_COLUMNS
TARGET static inline __attribute__((always_inline)) void
four_columns_f32(const float *from, int64_t stride, float *to, int64_t width) {
    __m512 rows[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const float *row = from + i * stride;
        rows[i] = _mm512_castps128_ps512(_mm_loadu_ps(row));
        rows[i] = _mm512_insertf32x4(rows[i], _mm_loadu_ps(row + 4 * stride), 1);
        rows[i] = _mm512_insertf32x4(rows[i], _mm_loadu_ps(row + 8 * stride), 2);
        rows[i] = _mm512_insertf32x4(rows[i], _mm_loadu_ps(row + 12 * stride), 3);
    }
    const __m512d a = _mm512_castps_pd(_mm512_unpacklo_ps(rows[0], rows[1])),
                  b = _mm512_castps_pd(_mm512_unpackhi_ps(rows[0], rows[1]));
    const __m512d c = _mm512_castps_pd(_mm512_unpacklo_ps(rows[2], rows[3])),
                  d = _mm512_castps_pd(_mm512_unpackhi_ps(rows[2], rows[3]));
    _mm512_store_ps(to, _mm512_castpd_ps(_mm512_unpacklo_pd(a, c)));
    _mm512_store_ps(to + width, _mm512_castpd_ps(_mm512_unpackhi_pd(a, c)));
    _mm512_store_ps(to + 2 * width, _mm512_castpd_ps(_mm512_unpacklo_pd(b, d)));
    _mm512_store_ps(to + 3 * width, _mm512_castpd_ps(_mm512_unpackhi_pd(b, d)));
}
#include "_kernel_isa.h"

#endif

#if defined(__aarch64__)
#include <arm_neon.h>

#define ISA neon
#define TARGET
#define WIDTH 16
#define VECTORS 2
#define MEMBERS 8
#define MIN_float(a, b) \
    ((VEC)vbslq_f32(    \
        vcltq_f32((float32x4_t)(a), (float32x4_t)(b)), (float32x4_t)(a), (float32x4_t)(b)))
#define MIN_double(a, b) \
    ((VEC)vbslq_f64(     \
        vcltq_f64((float64x2_t)(a), (float64x2_t)(b)), (float64x2_t)(a), (float64x2_t)(b)))
#define ANY_LESS_float(a, b) vmaxvq_u32(vcltq_f32((float32x4_t)(a), (float32x4_t)(b)))
#define ANY_LESS_double(a, b) \
    vmaxvq_u32(vreinterpretq_u32_u64(vcltq_f64((float64x2_t)(a), (float64x2_t)(b))))
#define SQRT_float(a) ((VEC)vsqrtq_f32((float32x4_t)(a)))
#define SQRT_double(a) ((VEC)vsqrtq_f64((float64x2_t)(a)))
#include "_kernel_isa.h"
#endif

typedef int (*Scorer)(const Block *);
typedef double (*Peak)(int, int64_t);
typedef int (*Chooser)(const Choices *);
typedef struct {
    Scorer score[2][2]; /* [has missing cells][is double] */
    Peak peak[2];
    Chooser mean_squares;
} Level;

#define LEVEL(isa)                                                                                 \
    {{{score_##isa##_float, score_##isa##_double}, {masked_##isa##_float, masked_##isa##_double}}, \
     {peak_##isa##_float, peak_##isa##_double},                                                    \
     mean_squares_##isa##_double}

static const Level levels[N_LEVELS] = {
    [PORTABLE] = LEVEL(portable),
#if defined(__x86_64__)
    [SSE2] = LEVEL(sse2),         [AVX2] = LEVEL(avx2), [AVX512] = LEVEL(avx512),
#endif
#if defined(__aarch64__)
    [NEON] = LEVEL(neon),
#endif
};

/* Incremented with every change of Block, Choices or the packing: shared_library.py rejects a
 * library left over from another version. */
EXPORT int odefs_kernel_version(void) { return 8; }

/* Returns whether this processor (and its operating system) can run a level. */
EXPORT int odefs_has_level(int level) {
    if (level < 0 || level >= N_LEVELS || !levels[level].peak[0]) return 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (level == AVX2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const int has_vectors = __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw");
    if (level == AVX512) return has_vectors;
#endif
    return 1;
}

EXPORT int odefs_score(int level, int has_missing, int is_double, const Block *block) {
    if (!odefs_has_level(level)) return NO_SUCH_LEVEL;
    if (block->n_columns < 1 || (!block->columns && block->n_columns > block->table_columns))
        return NO_SUCH_COLUMN;
    /* The only check of column numbers: load_tile reads memory at these places. */
    for (int64_t k = 0; block->columns && k < block->n_columns; k++)
        if (block->columns[k] < 0 || block->columns[k] >= block->table_columns)
            return NO_SUCH_COLUMN;
    return levels[level].score[has_missing != 0][is_double != 0](block);
}

EXPORT int odefs_mean_squares(int level, const Choices *choices) {
    if (!odefs_has_level(level)) return NO_SUCH_LEVEL;
    return levels[level].mean_squares(choices);
}

/* Runs the arithmetic of an inner loop (a difference and a multiply-add, or if `expanded` only a
 * multiply-add) on registers alone; returns the number of pairs of values processed. */
EXPORT double odefs_peak(int level, int is_double, int expanded, int64_t repeats) {
    if (!odefs_has_level(level)) return 0;
    return levels[level].peak[is_double != 0](expanded, repeats);
}
