/* The kernels between f32 and codes for AVX2: the compiler's vectors, and values of up to 16 codes by permutations. */
#include "kernels/quant.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#include "kernels/quant.inc"

TARGET static void floats_avx2(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,
                               const td_quant *q, bool bounded)
{
    (void)bounded;
    BY_SIZE(floats_of, dst, row, by)
}

TARGET static void ints_avx2(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks,
                             size_t block, const td_quant *q, bool bounded)
{
    (void)bounded;
    BY_SIZE(ints_of, dst, row, by, zero)
}

/* Eight codes of four bits: the lower eight values or the upper ones, by bit 3 where blendv looks for it. */
INLINE __m256 table_values(const uint8_t *codes, __m256 low, __m256 high)
{
    const __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)codes));
    const __m256 sel = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28));
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, at), _mm256_permutevar8x32_ps(high, at), sel);
}

TARGET static void values_avx2(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks,
                               size_t block, const td_quant *q)
{
    if (q->bits > 4 || block % 8) {
        BY_SIZE(values_of, dst, codes, by, zero)
        return;
    }
    const __m256 low = _mm256_loadu_ps(q->table), high = _mm256_loadu_ps(q->table + 8),
                 extra = _mm256_set1_ps(q->extra);
    for (size_t j = 0; j < blocks; j++) {
        const __m256 less = _mm256_set1_ps(zero ? zero[j] : 0), scale = _mm256_set1_ps(by[j]);
        for (size_t i = 0; i < block; i += 8, codes += 8, dst += 8) {
            const __m256 value = _mm256_sub_ps(table_values(codes, low, high), less);
            const __m256 out = _mm256_mul_ps(_mm256_mul_ps(value, scale), extra);
            if (q->stream && (uintptr_t)dst % 32 == 0)
                _mm256_stream_ps(dst, out);
            else
                _mm256_storeu_ps(dst, out);
        }
    }
}

void td_quant_init_avx2(td_quant_kernels *kernels)
{
    *kernels = (td_quant_kernels){floats_avx2, ints_avx2, values_avx2};
}
