/* The conversion kernels to f32 for AVX2 with FMA and F16C, in blocks as those of convert_avx2.c. */
#include "kernels/convert_avx2.inc"

/* What a decoder does with the scale; see the AVX-512 version. */
enum { TIMES, ONCE, BY_MUL, BY_INVERSE, BY_PROVEN, BY_DIV, EACH };

INLINE __m256 int_scaled(__m256i x, const td_convert_params *p, int way)
{
    const __m256 v = _mm256_cvtepi32_ps(_mm256_sub_epi32(x, _mm256_set1_epi32(p->zero)));
    if (way == BY_MUL)
        return _mm256_mul_ps(v, _mm256_set1_ps(p->inverse));
    if (way == BY_INVERSE || way == BY_PROVEN)
        return few_products(v, p, way == BY_PROVEN ? TD_DIVIDE_PROVEN : TD_DIVIDE_INVERSE);
    if (way == BY_DIV)
        return _mm256_div_ps(v, _mm256_set1_ps(p->scale));
    return way == EACH ? v : _mm256_mul_ps(v, _mm256_set1_ps(p->scale));
}

INLINE __m256 float_scaled(__m256 x, const td_convert_params *p, int way)
{
    if (way == TIMES)
        return _mm256_mul_ps(x, _mm256_set1_ps(p->scale));
    if (way == EACH)
        return x;
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

/* One row by the elements' own factors. */
INLINE void run_own(block_fn block, size_t src_bytes, float *out, const char *in, size_t n, const td_convert_params *p,
                    const td_convert_params *plain)
{
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t part = n - i < BLOCK ? n - i : BLOCK;
        char last_in[BLOCK * 2] = {0};
        float last_scales[BLOCK] = {0}, values[BLOCK];
        const void *from = in + i * src_bytes;
        const float *scales = p->scales + i;
        if (part < BLOCK) {
            from = memcpy(last_in, from, part * src_bytes);
            scales = memcpy(last_scales, scales, part * sizeof *scales);
        }
        block(values, from, plain, EACH);
        for (int k = 0; k < 4; k++) {
            const __m256i product = _mm256_castps_si256(_mm256_mul_ps(load(values, k), load(scales, k)));
            if (part == BLOCK)
                store(out + i, k, product, p);
            else
                _mm256_storeu_si256((__m256i *)(void *)values + k, product);
        }
        if (part < BLOCK)
            memcpy(out + i, values, part * sizeof *out);
    }
}

INLINE void run_each_own(block_fn block, size_t src_bytes, char *dst, ptrdiff_t dst_stride, const char *src,
                         ptrdiff_t src_stride, size_t rows, size_t n, const td_convert_params *params)
{
    const td_convert_params copy = *params;
    td_convert_params plain = copy; /* what waits for its factor is never streamed */
    plain.stream = false;
    for (; rows; rows--, dst += dst_stride, src += src_stride)
        run_own(block, src_bytes, (float *)(void *)dst, src, n, &copy, &plain);
}

#define DECODER(name, src_bytes)                                                                                       \
    KERNEL(name##_f32)                                                                                                 \
    {                                                                                                                  \
        if (p->scales)                                                                                                 \
            run_each_own(from_##name, src_bytes, ARGUMENTS);                                                           \
        else if (p->divide == TD_DIVIDE_NONE)                                                                          \
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

/* -- Integers to wider ones, and those of 32 bits to f32 */

INLINE __m256i load_x32(const void *src, int k)
{
    return _mm256_loadu_si256((const __m256i *)src + k);
}

INLINE __m256i with_unit(__m256 x, const td_convert_params *p)
{
    return _mm256_castps_si256(p->divide == TD_DIVIDE_NONE ? x : _mm256_mul_ps(x, _mm256_set1_ps(p->scale)));
}

/* Both halves are the mantissas of floats, and their sum is rounded once. */
INLINE __m256 from_u32(__m256i x)
{
    const __m256i high = _mm256_or_si256(_mm256_srli_epi32(x, 16), _mm256_set1_epi32(0x53000000));
    const __m256i low = _mm256_blend_epi16(x, _mm256_set1_epi32(0x4b000000), 0xaa);
    const __m256 bias = _mm256_castsi256_ps(_mm256_set1_epi32(0x53000080));
    return _mm256_add_ps(_mm256_sub_ps(_mm256_castsi256_ps(high), bias), _mm256_castsi256_ps(low));
}

/* What rounding towards zero loses is kept as a lowest bit that is set. */
INLINE __m256 odd_from_s32(__m256i x)
{
    const __m256i none = _mm256_setzero_si256();
    const __m256 near = _mm256_cvtepi32_ps(x);
    const __m256i more = _mm256_sub_epi32(_mm256_cvttps_epi32(near), x); /* 2^31 comes back as its other sign, too */
    const __m256i above = _mm256_cmpgt_epi32(_mm256_sign_epi32(more, x), none);
    const __m256i odd = _mm256_andnot_si256(_mm256_cmpeq_epi32(more, none), _mm256_set1_epi32(1));
    return _mm256_castsi256_ps(_mm256_or_si256(_mm256_add_epi32(_mm256_castps_si256(near), above), odd));
}

/* Of one past 2^31 a half is taken, with its lowest bit beside the lost one. */
INLINE __m256 odd_from_u32(__m256i x)
{
    const __m256i half = _mm256_or_si256(_mm256_srli_epi32(x, 1), _mm256_and_si256(x, _mm256_set1_epi32(1)));
    const __m256 few = odd_from_s32(_mm256_blendv_epi8(x, half, _mm256_srai_epi32(x, 31)));
    return _mm256_blendv_ps(few, _mm256_add_ps(few, few), _mm256_castsi256_ps(x));
}

INLINE __m256i load_short(const void *src, int k)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)src + k));
}

INLINE __m256i short_signed(__m256i x, const td_convert_params *p)
{
    const __m128i shift = _mm_cvtsi32_si128((int)p->own_shift - 16);
    return _mm256_sra_epi16(_mm256_sll_epi16(x, shift), shift);
}

#define WHOLE_KERNEL(name, src_bytes, dst_bytes, stores, expression)                                                   \
    INLINE void block_##name(void *dst, const void *src, const td_convert_params *p, int way)                          \
    {                                                                                                                  \
        (void)way;                                                                                                     \
        for (int k = 0; k < (stores); k++)                                                                             \
            store(dst, k, expression, p);                                                                              \
    }                                                                                                                  \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        run(block_##name, src_bytes, dst_bytes, ONCE, ARGUMENTS);                                                      \
    }

WHOLE_KERNEL(s8_s32, 1, 4, 4, own_signed(load_x8(src, k), p))
WHOLE_KERNEL(u8_u32, 1, 4, 4, own_unsigned(load_x8(src, k), p))
WHOLE_KERNEL(s16_s32, 2, 4, 4, own_signed(load_x16(src, k), p))
WHOLE_KERNEL(u16_u32, 2, 4, 4, own_unsigned(load_x16(src, k), p))
WHOLE_KERNEL(s8_s16, 1, 2, 2, short_signed(load_short(src, k), p))
WHOLE_KERNEL(u8_u16, 1, 2, 2, _mm256_and_si256(load_short(src, k), _mm256_set1_epi16((short)p->own_mask)))
WHOLE_KERNEL(s32_f32, 4, 4, 4, with_unit(_mm256_cvtepi32_ps(own_signed(load_x32(src, k), p)), p))
WHOLE_KERNEL(u32_f32, 4, 4, 4, with_unit(from_u32(own_unsigned(load_x32(src, k), p)), p))
/* Without NaN, so that there is nothing to be kept quiet. */
INLINE __m256i bf16_code(__m256i x)
{
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(x, 16), _mm256_set1_epi32(1));
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(x, _mm256_set1_epi32(0x7fff)), odd), 16);
}

INLINE void short_from_int(void *dst, const void *src, const td_convert_params *p, bool sign)
{
    __m256i v[4];
    for (int k = 0; k < 4; k++) {
        const __m256i x = load_x32(src, k);
        v[k] = bf16_code(with_unit(sign ? odd_from_s32(own_signed(x, p)) : odd_from_u32(own_unsigned(x, p)), p));
    }
    for (int k = 0; k < 2; k++)
        store(dst, k, _mm256_permute4x64_epi64(_mm256_packus_epi32(v[2 * k], v[2 * k + 1]), 0xd8), p);
}

INLINE void block_s32_bf16(void *dst, const void *src, const td_convert_params *p, int way)
{
    (void)way;
    short_from_int(dst, src, p, true);
}

INLINE void block_u32_bf16(void *dst, const void *src, const td_convert_params *p, int way)
{
    (void)way;
    short_from_int(dst, src, p, false);
}

KERNEL(s32_bf16)
{
    run(block_s32_bf16, 4, 2, ONCE, ARGUMENTS);
}

KERNEL(u32_bf16)
{
    run(block_u32_bf16, 4, 2, ONCE, ARGUMENTS);
}

WHOLE_KERNEL(s32_odd, 4, 4, 4, with_unit(odd_from_s32(own_signed(load_x32(src, k), p)), p))
WHOLE_KERNEL(u32_odd, 4, 4, 4, with_unit(odd_from_u32(own_unsigned(load_x32(src, k), p)), p))
