/* What the two files of AVX-512 conversion kernels share: encoders in convert_avx512.c, decoders in decode_avx512.c. */
#ifndef TD_KERNELS_CONVERT_AVX512_H
#define TD_KERNELS_CONVERT_AVX512_H

#include "kernels/convert.h"

#include <immintrin.h>

#define T512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#define INLINE static inline __attribute__((always_inline)) T512
/* The parameters are copied: a store through dst might change what p points at, and then nothing could be kept in
 * registers. */
#define KERNEL(name)                                                                                                   \
    INLINE void name(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,         \
                     size_t rows, size_t n, const td_convert_params *p);                                               \
    T512 void td_convert_##name##_avx512(void *dst, ptrdiff_t dst_stride, const void *src, ptrdiff_t src_stride,       \
                                         size_t rows, size_t n, const td_convert_params *params)                       \
    {                                                                                                                  \
        const td_convert_params copy = *params;                                                                        \
        name(dst, dst_stride, src, src_stride, rows, n, &copy);                                                        \
    }                                                                                                                  \
    INLINE void name(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,         \
                     size_t rows, size_t n, const td_convert_params *p)

/* A loop over the elements of a row, for every row: what it keeps in registers is loaded once. */
#define EACH_ROW(loop, ...)                                                                                            \
    for (; rows; rows--, dst += dst_stride, src += src_stride)                                                         \
    loop((void *)dst, (const void *)src, n, p, __VA_ARGS__)

#define NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)

INLINE __mmask16 mask_of(size_t n)
{
    return (__mmask16)(n < 16 ? (1U << n) - 1 : 0xffffU);
}

INLINE void put(void *dst, __m512i line, bool stream)
{
    if (stream)
        _mm512_stream_si512((__m512i *)dst, line);
    else
        _mm512_storeu_si512(dst, line);
}

/* 16 elements, and a hint for those to come: across pages and rows nothing else looks so far ahead. */
INLINE __m512 take(const float *in, const td_convert_params *p)
{
    _mm_prefetch((const char *)in + p->ahead, _MM_HINT_T0);
    return _mm512_loadu_ps(in);
}

/* x / scale in a few multiplications. PROVEN: with the inverse in two parts the sum is within one unit in the last
 * place of the quotient, and `proves` has seen that no tie is missed. INVERSE: its remainder is exact, and the
 * corrected quotient is the one a division rounds to (Markstein's theorem), as long as nothing underflows or overflows
 * on the way. */
INLINE __m512 few_products(__m512 x, const td_convert_params *p, int divide)
{
    const __m512 inverse = _mm512_set1_ps(p->inverse);
    const __m512 q = _mm512_fmadd_ps(x, inverse, _mm512_mul_ps(x, _mm512_set1_ps(p->inverse_low)));
    if (divide == TD_DIVIDE_PROVEN)
        return q;
    return _mm512_fmadd_ps(_mm512_fnmadd_ps(q, _mm512_set1_ps(p->scale), x), inverse, q);
}

/* By 1 too: the quotient of a signalling NaN is quiet. With INVERSE the scale is positive, zeros take the sign of x,
 * and what is not within 2^-64 .. 2^64 is divided. */
INLINE __m512 quotient(__m512 x, const td_convert_params *p, int divide)
{
    if (divide == TD_DIVIDE_MUL)
        return _mm512_mul_ps(x, _mm512_set1_ps(p->inverse));
    if (divide == TD_DIVIDE_DIV)
        return _mm512_div_ps(x, _mm512_set1_ps(p->scale));
    const __m512i sign = _mm512_set1_epi32((int)0x80000000);
    const __m512i a = _mm512_andnot_si512(sign, _mm512_castps_si512(x));
    const __m512i above = _mm512_sub_epi32(a, _mm512_set1_epi32((127 - 64) << 23));
    const __mmask16 not_zero = _mm512_test_epi32_mask(a, a);
    if (__builtin_expect(_mm512_mask_cmpgt_epu32_mask(not_zero, above, _mm512_set1_epi32(128 << 23)), 0))
        return _mm512_div_ps(x, _mm512_set1_ps(p->scale));
    const __m512i q = _mm512_castps_si512(few_products(x, p, TD_DIVIDE_INVERSE));
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(sign, _mm512_castps_si512(x), q, 0xca)); /* sign ? x : q */
}

#endif
