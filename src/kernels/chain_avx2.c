/* Chains of elementwise steps for AVX2. A block of eight vectors, of one row or of several short ones, stays in
 * registers while all steps go over it: what step comes next is asked once for a block. */
#include "kernels/chain.h"

#include <immintrin.h>

#include "kernels/chain.inc"

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define LANES 8
#define LINE 64
#define AHEAD_BYTES 512 /* of a row, into the second level: rows of a tile may all lie in one set of the first */

/* Of a block: vectors of a row, and rows; together at most 8. */
#define EACH_VECTOR                                                                                                    \
    _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++) _Pragma("GCC unroll 8") for (int c = 0; c < wide; c++)

INLINE __m256 load_b(const td_chain_step *s, size_t row, size_t column)
{
    const char *at = (const char *)s->b + (ptrdiff_t)row * s->b_stride;
    return _mm256_loadu_ps((const float *)(const void *)(at + column * sizeof(float)));
}

INLINE __m256 load_one(const td_chain_step *s, size_t row)
{
    float b;
    memcpy(&b, (const char *)s->b + (ptrdiff_t)row * s->b_stride, sizeof b);
    return _mm256_set1_ps(b);
}

INLINE void run_step(const td_chain_step *s, __m256 *v, size_t row, size_t column, const int rows, const int wide)
{
    switch (s->kind) {
    case TD_CHAIN_ADD:
        if (s->one)
            EACH_VECTOR v[r * wide + c] = _mm256_add_ps(v[r * wide + c], load_one(s, row + (size_t)r));
        else
            EACH_VECTOR v[r * wide + c] =
                _mm256_add_ps(v[r * wide + c], load_b(s, row + (size_t)r, column + (size_t)c * LANES));
        break;
    case TD_CHAIN_MUL:
        if (s->one)
            EACH_VECTOR v[r * wide + c] = _mm256_mul_ps(v[r * wide + c], load_one(s, row + (size_t)r));
        else
            EACH_VECTOR v[r * wide + c] =
                _mm256_mul_ps(v[r * wide + c], load_b(s, row + (size_t)r, column + (size_t)c * LANES));
        break;
    default:
        break;
    }
    if (s->bounded) {
        const __m256 low = _mm256_set1_ps(s->low), high = _mm256_set1_ps(s->high);
        /* of two zeros, and of a NaN, each gives its second operand */
        EACH_VECTOR v[r * wide + c] = _mm256_min_ps(high, _mm256_max_ps(low, v[r * wide + c]));
    }
}

INLINE void run_block(const td_chain_step *step, size_t steps, const td_chain_block *b, size_t row, size_t column,
                      const int rows, const int wide, const bool stream)
{
    const char *src = (const char *)b->src + (ptrdiff_t)row * b->src_stride + column * sizeof(float);
    char *dst = (char *)b->dst + (ptrdiff_t)row * b->dst_stride + column * sizeof(float);
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000));
    __m256 v[8];
    if (b->far)
        EACH_VECTOR
    if (c % (LINE / (LANES * 4)) == 0)
        _mm_prefetch(src + r * b->src_stride + c * LANES * 4 + AHEAD_BYTES, _MM_HINT_T1);
    EACH_VECTOR v[r * wide + c] =
        _mm256_loadu_ps((const float *)(const void *)(src + r * b->src_stride + (ptrdiff_t)(c * LANES * 4)));
    for (size_t i = 0; i < steps; i++)
        run_step(&step[i], v, row, column, rows, wide);
    EACH_VECTOR
    {
        const __m256 x = v[r * wide + c];
        const __m256 kept = _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
        float *const to = (float *)(void *)(dst + r * b->dst_stride + (ptrdiff_t)(c * LANES * 4));
        if (stream)
            _mm256_stream_ps(to, kept);
        else
            _mm256_storeu_ps(to, kept);
    }
}

/* Rows of `wide` vectors each, `rows` of them at a time; gives how many rows are done. */
INLINE size_t run_short(const td_chain_step *step, size_t steps, const td_chain_block *b, const int rows,
                        const int wide, const bool stream)
{
    size_t row = 0;
    for (; row + (size_t)rows <= b->rows; row += (size_t)rows)
        run_block(step, steps, b, row, 0, rows, wide, stream);
    return row;
}

INLINE void run_rows(const td_chain_step *step, size_t steps, const td_chain_block *b, const bool stream)
{
    size_t row = 0;
    if (b->n == 2 * LANES)
        row = run_short(step, steps, b, 4, 2, stream);
    else if (b->n == 4 * LANES)
        row = run_short(step, steps, b, 2, 4, stream);
    else if (b->n == LANES)
        row = run_short(step, steps, b, 8, 1, stream);
    for (; row < b->rows; row++) {
        size_t column = 0;
        for (; column + (size_t)8 * LANES <= b->n; column += (size_t)8 * LANES)
            run_block(step, steps, b, row, column, 1, 8, stream);
        for (; column + LANES <= b->n; column += LANES)
            run_block(step, steps, b, row, column, 1, 1, stream);
        chain_ends(step, steps, b, row, column);
    }
}

TARGET void td_chain_f32_avx2(const td_chain_step *step, size_t steps, const td_chain_block *block)
{
    const bool lines =
        (uintptr_t)block->dst % LINE == 0 && block->dst_stride % LINE == 0 && block->n % (LINE / sizeof(float)) == 0;
    if (block->stream && lines)
        run_rows(step, steps, block, true);
    else
        run_rows(step, steps, block, false);
}

void td_chain_init_avx2(td_chain_kernels *kernels)
{
    kernels->chain_f32 = td_chain_f32_avx2;
}
