/* The conversion kernels for AVX-512 F, BW, DQ and VL. Whole output lines of 64 bytes in the main loops, masked steps
 * of 16 elements at the end. AVX512-BF16 has an instruction for f32 -> bf16, which takes denormals for zeros: that is
 * not the rule of the plain C, so the rounding is done in integers here on every machine. */
#if defined(__x86_64__)
#include "convert_avx512.h"

INLINE __m512 divided(__m512 x, const td_convert_params *p, int divide)
{
    if (divide == TD_DIVIDE_NONE)
        return x;
    if (divide == TD_DIVIDE_MUL)
        return _mm512_mul_ps(x, _mm512_set1_ps(p->inverse));
    return _mm512_div_ps(x, _mm512_set1_ps(p->scale));
}

/* -- f32 to f32 */

INLINE void loop_div(float *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        put(out + i, _mm512_castps_si512(quotient(_mm512_loadu_ps(in + i), p, divide)), p->stream);
    if (i < n)
        _mm512_mask_storeu_ps(out + i, mask_of(n - i),
                              quotient(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), p, divide));
}

KERNEL(div_f32)
{
    if (p->divide == TD_DIVIDE_NONE || p->divide == TD_DIVIDE_MUL)
        EACH_ROW(loop_div, TD_DIVIDE_MUL);
    else if (p->divide == TD_DIVIDE_INVERSE)
        EACH_ROW(loop_div, TD_DIVIDE_INVERSE);
    else
        EACH_ROW(loop_div, TD_DIVIDE_DIV);
}

INLINE void loop_mul(float *out, const float *in, size_t n, const td_convert_params *p, bool stream)
{
    const __m512 scale = _mm512_set1_ps(p->scale);
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        put(out + i, _mm512_castps_si512(_mm512_mul_ps(_mm512_loadu_ps(in + i), scale)), stream);
    if (i < n)
        _mm512_mask_storeu_ps(out + i, mask_of(n - i),
                              _mm512_mul_ps(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), scale));
}

KERNEL(mul_f32)
{
    EACH_ROW(loop_mul, p->stream);
}

/* -- Narrowing 32-bit codes. The packs work within 128-bit lanes; one permutation puts the pieces in order. */

INLINE __m512i order_x8(__m512i packed)
{
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), packed);
}

INLINE __m512i order_x16(__m512i packed)
{
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed);
}

INLINE void tail_x8(unsigned char *out, __m512i codes, size_t n)
{
    _mm_mask_storeu_epi8(out, mask_of(n), _mm512_cvtepi32_epi8(codes));
}

INLINE void tail_x16(uint16_t *out, __m512i codes, size_t n)
{
    _mm256_mask_storeu_epi16(out, mask_of(n), _mm512_cvtepi32_epi16(codes));
}

/* -- f32 to floats */

INLINE __m512i code_bf16(__m512 x)
{
    const __m512i u = _mm512_castps_si512(x);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    __m512i r = _mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7fff)), odd);
    r = _mm512_mask_or_epi32(r, nan, u, _mm512_set1_epi32(0x400000));
    return _mm512_srli_epi32(r, 16);
}

INLINE void loop_bf16(uint16_t *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m512i a = code_bf16(divided(_mm512_loadu_ps(in + i), p, divide));
        const __m512i b = code_bf16(divided(_mm512_loadu_ps(in + i + 16), p, divide));
        put(out + i, order_x16(_mm512_packus_epi32(a, b)), p->stream);
    }
    for (; i < n; i += 16)
        tail_x16(out + i, code_bf16(divided(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), p, divide)), n - i);
}

INLINE void loop_f16(uint16_t *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i a = _mm512_cvtps_ph(divided(_mm512_loadu_ps(in + i), p, divide), NEAREST);
        const __m256i b = _mm512_cvtps_ph(divided(_mm512_loadu_ps(in + i + 16), p, divide), NEAREST);
        if (p->stream) {
            _mm512_stream_si512((__m512i *)(void *)(out + i), _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1));
        } else {
            _mm256_storeu_si256((__m256i *)(void *)(out + i), a);
            _mm256_storeu_si256((__m256i *)(void *)(out + i + 16), b);
        }
    }
    for (; i < n; i += 16) {
        const __m512 x = _mm512_maskz_loadu_ps(mask_of(n - i), in + i);
        _mm256_mask_storeu_epi16(out + i, mask_of(n - i), _mm512_cvtps_ph(divided(x, p, divide), NEAREST));
    }
}

INLINE __m512i code_x8(__m512 x, const td_convert_params *p)
{
    const __m128i shift = _mm_cvtsi32_si128((int)p->shift);
    const __m512i u = _mm512_castps_si512(x);
    const __m512i a = _mm512_and_si512(u, _mm512_set1_epi32(0x7fffffff));
    const __m512i magic = _mm512_castps_si512(_mm512_set1_ps(p->magic));
    const __m512i half = _mm512_set1_epi32((int)((1U << (p->shift - 1)) - 1 - (p->rebias << p->shift)));
    const __m512i odd = _mm512_and_si512(_mm512_srl_epi32(a, shift), _mm512_set1_epi32(1));
    __m512i code = _mm512_srl_epi32(_mm512_add_epi32(_mm512_add_epi32(a, half), odd), shift);
    const __mmask16 small = _mm512_cmplt_epi32_mask(a, _mm512_set1_epi32((int)p->normal_bits));
    const __m512 under = _mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(magic));
    code = _mm512_mask_sub_epi32(code, small, _mm512_castps_si512(under), magic);
    code = _mm512_min_epu32(code, _mm512_set1_epi32((int)p->limit));
    const __m512i high = _mm512_srai_epi32(u, 31);
    code = _mm512_ternarylogic_epi32(code, high, _mm512_set1_epi32((int)p->sign_bit), 0xf8); /* code | (high & bit) */
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    if (__builtin_expect(nan, 0)) {
        const __m512i payload = _mm512_and_si512(_mm512_srl_epi32(a, shift), _mm512_set1_epi32((int)p->nan_payload));
        const __m512i sign = _mm512_and_si512(high, _mm512_set1_epi32((int)p->nan_sign));
        code = _mm512_mask_or_epi32(code, nan, _mm512_or_si512(payload, sign), _mm512_set1_epi32((int)p->nan_code));
    }
    return code;
}

INLINE void loop_x8(unsigned char *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i a = code_x8(divided(_mm512_loadu_ps(in + i), p, divide), p);
        const __m512i b = code_x8(divided(_mm512_loadu_ps(in + i + 16), p, divide), p);
        const __m512i c = code_x8(divided(_mm512_loadu_ps(in + i + 32), p, divide), p);
        const __m512i d = code_x8(divided(_mm512_loadu_ps(in + i + 48), p, divide), p);
        put(out + i, order_x8(_mm512_packus_epi16(_mm512_packus_epi32(a, b), _mm512_packus_epi32(c, d))), p->stream);
    }
    for (; i < n; i += 16)
        tail_x8(out + i, code_x8(divided(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), p, divide), p), n - i);
}

/* One loop per way to divide, so that nothing is asked inside. */
#define FLOAT_KERNEL(name, loop)                                                                                       \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        if (p->divide == TD_DIVIDE_NONE)                                                                               \
            EACH_ROW(loop, TD_DIVIDE_NONE);                                                                            \
        else if (p->divide == TD_DIVIDE_MUL)                                                                           \
            EACH_ROW(loop, TD_DIVIDE_MUL);                                                                             \
        else                                                                                                           \
            EACH_ROW(loop, TD_DIVIDE_DIV);                                                                             \
    }

FLOAT_KERNEL(f32_bf16, loop_bf16)
FLOAT_KERNEL(f32_f16, loop_f16)
FLOAT_KERNEL(f32_x8, loop_x8)

/* -- f32 to integers */

/* round(x / scale) as 32-bit integers, NaN as 0, at most 2^20. What is too low becomes INT32_MIN, which saturating
 * packs understand; with `both` it is at least -2^20. INVERSE and PROVEN stand for positive
 * scales; where their remainder underflows, the quotient is far below a half and any is right. */
INLINE __m512i whole(__m512 x, const td_convert_params *p, int divide, bool both)
{
    const __mmask16 number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
    const bool before = divide == TD_DIVIDE_INVERSE || divide == TD_DIVIDE_PROVEN;
    const __m512 bound = _mm512_set1_ps(before ? p->scale * 0x1p20F : 0x1p20F);
    const __m512 low = _mm512_set1_ps(before ? p->scale * -0x1p20F : -0x1p20F);
    __m512 q = before ? x : divided(x, p, divide);
    q = _mm512_min_ps(q, bound);
    if (both)
        q = _mm512_max_ps(q, low);
    if (before)
        q = few_products(q, p, divide);
    return _mm512_maskz_cvt_roundps_epi32(number, q, NEAREST);
}

INLINE __m512i tail_int(const float *in, size_t n, const td_convert_params *p, int divide)
{
    const __m512 x = _mm512_maskz_loadu_ps(mask_of(n), in);
    const __m512i v = _mm512_add_epi32(whole(x, p, divide, true), _mm512_set1_epi32(p->zero));
    return _mm512_min_epi32(_mm512_max_epi32(v, _mm512_set1_epi32(p->low)), _mm512_set1_epi32(p->high));
}

/* `full`: no zero point, and the packs saturate where the type ends. */
INLINE void ints_x8(unsigned char *out, const float *in, size_t n, const td_convert_params *p, int divide, bool sign,
                    bool full)
{
    const __m512i zero = _mm512_set1_epi16((short)p->zero);
    const __m512i low = _mm512_set1_epi8((char)p->low);
    const __m512i high = _mm512_set1_epi8((char)p->high);
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i a = whole(_mm512_loadu_ps(in + i), p, divide, false);
        const __m512i b = whole(_mm512_loadu_ps(in + i + 16), p, divide, false);
        const __m512i c = whole(_mm512_loadu_ps(in + i + 32), p, divide, false);
        const __m512i d = whole(_mm512_loadu_ps(in + i + 48), p, divide, false);
        __m512i ab = _mm512_packs_epi32(a, b);
        __m512i cd = _mm512_packs_epi32(c, d);
        if (!full) {
            ab = _mm512_adds_epi16(ab, zero);
            cd = _mm512_adds_epi16(cd, zero);
        }
        __m512i v = sign ? _mm512_packs_epi16(ab, cd) : _mm512_packus_epi16(ab, cd);
        if (!full)
            v = sign ? _mm512_max_epi8(_mm512_min_epi8(v, high), low) : _mm512_min_epu8(v, high);
        put(out + i, order_x8(v), p->stream);
    }
    for (; i < n; i += 16)
        tail_x8(out + i, tail_int(in + i, n - i, p, divide), n - i);
}

INLINE void ints_s8(unsigned char *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    if (p->zero == 0 && p->low == -128 && p->high == 127)
        ints_x8(out, in, n, p, divide, true, true);
    else
        ints_x8(out, in, n, p, divide, true, false);
}

INLINE void ints_u8(unsigned char *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    if (p->zero == 0 && p->high == 255)
        ints_x8(out, in, n, p, divide, false, true);
    else
        ints_x8(out, in, n, p, divide, false, false);
}

INLINE void ints_x16(uint16_t *out, const float *in, size_t n, const td_convert_params *p, int divide, bool sign)
{
    const __m512i zero = _mm512_set1_epi32(p->zero);
    const __m512i low = _mm512_set1_epi16((short)p->low);
    const __m512i high = _mm512_set1_epi16((short)p->high);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m512i a = _mm512_add_epi32(whole(_mm512_loadu_ps(in + i), p, divide, true), zero);
        const __m512i b = _mm512_add_epi32(whole(_mm512_loadu_ps(in + i + 16), p, divide, true), zero);
        __m512i v = sign ? _mm512_packs_epi32(a, b) : _mm512_packus_epi32(a, b);
        v = sign ? _mm512_max_epi16(_mm512_min_epi16(v, high), low) : _mm512_min_epu16(v, high);
        put(out + i, order_x16(v), p->stream);
    }
    for (; i < n; i += 16)
        tail_x16(out + i, tail_int(in + i, n - i, p, divide), n - i);
}

INLINE void ints_s16(uint16_t *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    ints_x16(out, in, n, p, divide, true);
}

INLINE void ints_u16(uint16_t *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    ints_x16(out, in, n, p, divide, false);
}

#define INT_KERNEL(name, loop)                                                                                         \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        switch (p->divide) {                                                                                           \
        case TD_DIVIDE_NONE:                                                                                           \
            EACH_ROW(loop, TD_DIVIDE_NONE);                                                                            \
            break;                                                                                                     \
        case TD_DIVIDE_MUL:                                                                                            \
            EACH_ROW(loop, TD_DIVIDE_MUL);                                                                             \
            break;                                                                                                     \
        case TD_DIVIDE_INVERSE:                                                                                        \
            EACH_ROW(loop, TD_DIVIDE_INVERSE);                                                                         \
            break;                                                                                                     \
        case TD_DIVIDE_PROVEN:                                                                                         \
            EACH_ROW(loop, TD_DIVIDE_PROVEN);                                                                          \
            break;                                                                                                     \
        default:                                                                                                       \
            EACH_ROW(loop, TD_DIVIDE_DIV);                                                                             \
        }                                                                                                              \
    }

INT_KERNEL(f32_s8, ints_s8)
INT_KERNEL(f32_u8, ints_u8)
INT_KERNEL(f32_s16, ints_s16)
INT_KERNEL(f32_u16, ints_u16)

/* Both quotients grow with x, and they differ by less than two units in the last place: so when they round to the same
 * integer next to every tie, they do so everywhere. */
T512 static bool proves(const td_convert_params *params)
{
    const td_convert_params p = *params;
    const __m512 scale = _mm512_set1_ps(p.scale);
    __m512 tie = _mm512_setr_ps(0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F, 6.5F, 7.5F, 8.5F, 9.5F, 10.5F, 11.5F, 12.5F, 13.5F,
                                14.5F, 15.5F);
    for (int k = 0; k < 256; k += 16) {
        const __m512i middle = _mm512_castps_si512(_mm512_mul_ps(tie, scale));
        for (int near = -2; near <= 2; near++) {
            const __m512 x = _mm512_castsi512_ps(_mm512_add_epi32(middle, _mm512_set1_epi32(near)));
            const __m512i exact = _mm512_cvt_roundps_epi32(_mm512_div_ps(x, scale), NEAREST);
            const __m512i quick = _mm512_cvt_roundps_epi32(few_products(x, &p, TD_DIVIDE_PROVEN), NEAREST);
            if (_mm512_cmpneq_epi32_mask(exact, quick))
                return false;
        }
        tie = _mm512_add_ps(tie, _mm512_set1_ps(16));
    }
    return true;
}

void td_convert_init_avx512(td_convert_kernels *kernels)
{
#define X(name, src_bytes, dst_bytes) kernels->name = td_convert_##name##_avx512;
    TD_CONVERT_KERNELS(X)
#undef X
    kernels->proves = proves;
}
#else
typedef int td_convert_avx512_unused;
#endif
