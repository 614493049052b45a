/* The conversion kernels to integers modulo 2^bits for AVX-512 F, BW, DQ and VL. A quotient that is no i32 is rare and
 * takes a longer way, 16 elements at a time. */
#include "kernels/convert_avx512.inc"

/* round(x / scale); what is no i32 becomes INT32_MIN, which is itself 0 in any target. INVERSE stands for positive
 * scales within 2^-30 .. 2^30: where its remainder underflows, the quotient is far below a half and any is right, and
 * where something overflows, it is NaN or no i32. */
INLINE __m512i whole(__m512 x, const td_convert_params *p, int divide)
{
    const __m512 q = divide == TD_DIVIDE_INVERSE ? few_products(x, p, divide) : divided(x, p, divide);
    return _mm512_cvt_roundps_epi32(q, NEAREST);
}

/* The same modulo 2^16, whatever the quotient is; of what is no number 0. A whole number less a multiple of 2^16 below
 * it is exact. */
INLINE __m512i whole_modulo(__m512 x, const td_convert_params *p, int divide)
{
    const __m512 q = _mm512_roundscale_ps(divided(x, p, divide), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 turns =
        _mm512_roundscale_ps(_mm512_mul_ps(q, _mm512_set1_ps(0x1p-16F)), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 rest = _mm512_sub_ps(q, _mm512_mul_ps(turns, _mm512_set1_ps(0x1p16F)));
    return _mm512_maskz_cvttps_epi32(_mm512_cmp_ps_mask(rest, rest, _CMP_ORD_Q), rest);
}

INLINE __m512i own(__m512i v, const td_convert_params *p)
{
    const __m128i shift = _mm_cvtsi32_si128((int)p->own_shift);
    const __m512i value = _mm512_add_epi32(v, _mm512_set1_epi32(p->zero));
    return p->low < 0 ? _mm512_sra_epi32(_mm512_sll_epi32(value, shift), shift)
                      : _mm512_and_si512(value, _mm512_set1_epi32((int)p->own_mask));
}

INLINE __m512i own_modulo(__m512 x, const td_convert_params *p, int divide)
{
    return own(whole_modulo(x, p, divide), p);
}

INLINE __m512i tail_of(const float *in, size_t n, const td_convert_params *p, int divide)
{
    return own_modulo(_mm512_maskz_loadu_ps(mask_of(n), in), p, divide);
}

INLINE bool is_far(__m512i least)
{
    return _mm512_cmpeq_epi32_mask(least, _mm512_set1_epi32(INT32_MIN)) != 0;
}

/* `full`: the target has all bits of its container. */
INLINE void wrap_x8(unsigned char *out, const float *in, size_t n, const td_convert_params *p, int divide, bool full)
{
    const __m512i low = _mm512_set1_epi32(0xff), zero = _mm512_set1_epi8((char)p->zero);
    const __m512i mask = _mm512_set1_epi8((char)p->own_mask);
    const __m512i sign = _mm512_set1_epi8((char)(p->low < 0 ? (p->own_mask >> 1) + 1 : 0));
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m512 x[4];
        __m512i v[4];
        for (int k = 0; k < 4; k++) {
            x[k] = take(in + i + 16 * k, p);
            v[k] = whole(x[k], p, divide);
        }
        if (__builtin_expect(is_far(_mm512_min_epi32(_mm512_min_epi32(v[0], v[1]), _mm512_min_epi32(v[2], v[3]))), 0)) {
            for (size_t k = 0; k < 4; k++)
                tail_x8(out + i + 16 * k, own_modulo(x[k], p, divide), 16);
            continue;
        }
        for (int k = 0; k < 4; k++)
            v[k] = _mm512_and_si512(v[k], low);
        __m512i code = _mm512_packus_epi16(_mm512_packus_epi32(v[0], v[1]), _mm512_packus_epi32(v[2], v[3]));
        code = _mm512_add_epi8(code, zero);
        if (!full)
            code = _mm512_sub_epi8(_mm512_xor_si512(_mm512_and_si512(code, mask), sign), sign);
        put(out + i, order_x8(code), p->stream);
    }
    for (; i < n; i += 16)
        tail_x8(out + i, tail_of(in + i, n - i, p, divide), n - i);
}

INLINE void loop_wrap8(unsigned char *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    if (p->own_shift == 24)
        wrap_x8(out, in, n, p, divide, true);
    else
        wrap_x8(out, in, n, p, divide, false);
}

INLINE void loop_wrap16(uint16_t *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    const __m512i low = _mm512_set1_epi32(0xffff), zero = _mm512_set1_epi16((short)p->zero);
    const __m512i mask = _mm512_set1_epi16((short)p->own_mask);
    const __m512i sign = _mm512_set1_epi16((short)(p->low < 0 ? (p->own_mask >> 1) + 1 : 0));
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m512 x = take(in + i, p), y = take(in + i + 16, p);
        const __m512i a = whole(x, p, divide), b = whole(y, p, divide);
        if (__builtin_expect(is_far(_mm512_min_epi32(a, b)), 0)) {
            tail_x16(out + i, own_modulo(x, p, divide), 16);
            tail_x16(out + i + 16, own_modulo(y, p, divide), 16);
            continue;
        }
        __m512i code = _mm512_packus_epi32(_mm512_and_si512(a, low), _mm512_and_si512(b, low));
        code = _mm512_and_si512(_mm512_add_epi16(code, zero), mask);
        put(out + i, order_x16(_mm512_sub_epi16(_mm512_xor_si512(code, sign), sign)), p->stream);
    }
    for (; i < n; i += 16)
        tail_x16(out + i, tail_of(in + i, n - i, p, divide), n - i);
}

#define WRAP_KERNEL(name, loop)                                                                                        \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        if (p->divide == TD_DIVIDE_NONE)                                                                               \
            EACH_ROW(loop, TD_DIVIDE_NONE);                                                                            \
        else if (p->divide == TD_DIVIDE_MUL)                                                                           \
            EACH_ROW(loop, TD_DIVIDE_MUL);                                                                             \
        else if (p->divide == TD_DIVIDE_INVERSE)                                                                       \
            EACH_ROW(loop, TD_DIVIDE_INVERSE);                                                                         \
        else                                                                                                           \
            EACH_ROW(loop, TD_DIVIDE_DIV);                                                                             \
    }

WRAP_KERNEL(f32_wrap8, loop_wrap8)
WRAP_KERNEL(f32_wrap16, loop_wrap16)
