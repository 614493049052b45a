/* The conversion kernels to f32 for AVX2 with FMA and F16C, in blocks as those of convert_avx2.c. */
#include "kernels/convert_avx2.inc"

/* What a decoder does with the scale; see the AVX-512 version. */
enum { TIMES, ONCE, BY_MUL, BY_INVERSE, BY_PROVEN, BY_DIV };

INLINE __m256 int_scaled(__m256i x, const td_convert_params *p, int way)
{
    const __m256 v = _mm256_cvtepi32_ps(_mm256_sub_epi32(x, _mm256_set1_epi32(p->zero)));
    if (way == BY_MUL)
        return _mm256_mul_ps(v, _mm256_set1_ps(p->inverse));
    if (way == BY_INVERSE || way == BY_PROVEN)
        return few_products(v, p, way == BY_PROVEN ? TD_DIVIDE_PROVEN : TD_DIVIDE_INVERSE);
    if (way == BY_DIV)
        return _mm256_div_ps(v, _mm256_set1_ps(p->scale));
    return _mm256_mul_ps(v, _mm256_set1_ps(p->scale));
}

INLINE __m256 float_scaled(__m256 x, const td_convert_params *p, int way)
{
    if (way == TIMES)
        return _mm256_mul_ps(x, _mm256_set1_ps(p->scale));
    if (way != ONCE)
        return divided(x, p, way == BY_MUL ? TD_DIVIDE_MUL : TD_DIVIDE_DIV);
    const __m256 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x400000));
    return _mm256_or_ps(x, _mm256_and_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q), quiet));
}

INLINE __m256i own_signed(__m256i x, const td_convert_params *p)
{
    const __m128i shift = _mm_cvtsi32_si128((int)p->own_shift);
    return _mm256_sra_epi32(_mm256_sll_epi32(x, shift), shift);
}

INLINE __m256i own_unsigned(__m256i x, const td_convert_params *p)
{
    return _mm256_and_si256(x, _mm256_set1_epi32((int)p->own_mask));
}

INLINE __m256i load_x16(const void *src, int k)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)src + k));
}

INLINE __m256i load_x8(const void *src, int k)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)((const char *)src + 8 * k)));
}

#define DECODE_BLOCK(name, scaled, expression)                                                                         \
    INLINE void name(void *dst, const void *src, const td_convert_params *p, int way)                                  \
    {                                                                                                                  \
        for (int k = 0; k < 4; k++)                                                                                    \
            store(dst, k, _mm256_castps_si256(scaled(expression, p, way)), p);                                         \
    }

DECODE_BLOCK(from_bf16, float_scaled, _mm256_castsi256_ps(_mm256_slli_epi32(load_x16(src, k), 16)))
DECODE_BLOCK(from_f16, float_scaled, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)src + k)))
DECODE_BLOCK(from_x8, float_scaled, _mm256_i32gather_ps(p->table, load_x8(src, k), 4))
DECODE_BLOCK(from_s8, int_scaled, own_signed(load_x8(src, k), p))
DECODE_BLOCK(from_u8, int_scaled, own_unsigned(load_x8(src, k), p))
DECODE_BLOCK(from_s16, int_scaled, own_signed(load_x16(src, k), p))
DECODE_BLOCK(from_u16, int_scaled, own_unsigned(load_x16(src, k), p))

#define DECODER(name, src_bytes)                                                                                       \
    KERNEL(name##_f32)                                                                                                 \
    {                                                                                                                  \
        if (p->divide == TD_DIVIDE_NONE)                                                                               \
            run(from_##name, src_bytes, 4, ONCE, ARGUMENTS);                                                           \
        else if (!p->quotient)                                                                                         \
            run(from_##name, src_bytes, 4, TIMES, ARGUMENTS);                                                          \
        else if (p->divide == TD_DIVIDE_MUL)                                                                           \
            run(from_##name, src_bytes, 4, BY_MUL, ARGUMENTS);                                                         \
        else if (p->divide == TD_DIVIDE_DIV)                                                                           \
            run(from_##name, src_bytes, 4, BY_DIV, ARGUMENTS);                                                         \
        else if (p->divide == TD_DIVIDE_PROVEN)                                                                        \
            run(from_##name, src_bytes, 4, BY_PROVEN, ARGUMENTS);                                                      \
        else                                                                                                           \
            run(from_##name, src_bytes, 4, BY_INVERSE, ARGUMENTS);                                                     \
    }

DECODER(bf16, 2)
DECODER(f16, 2)
DECODER(x8, 1)
DECODER(s8, 1)
DECODER(u8, 1)
DECODER(s16, 2)
DECODER(u16, 2)
