/* The conversion kernels for AVX-512 F, BW, DQ and VL. Whole output lines of 64 bytes in the main loops, masked steps
 * of 16 elements at the end. AVX512-BF16 has an instruction for f32 -> bf16, which takes denormals for zeros: that is
 * not the rule of the plain C, so the rounding is done in integers here on every machine. */
#include "kernels/convert_avx512.inc"

/* -- f32 to f32 */

INLINE void loop_div(float *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        put(out + i, _mm512_castps_si512(quotient(take(in + i, p), p, divide)), p->stream);
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
        put(out + i, _mm512_castps_si512(_mm512_mul_ps(take(in + i, p), scale)), stream);
    if (i < n)
        _mm512_mask_storeu_ps(out + i, mask_of(n - i),
                              _mm512_mul_ps(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), scale));
}

KERNEL(mul_f32)
{
    EACH_ROW(loop_mul, p->stream);
}

/* -- f32 to floats */

/* The upper halves are the codes; those of NaN are made by quiet_bf16. */
INLINE __m512i round_bf16(__m512 x)
{
    const __m512i u = _mm512_castps_si512(x);
    const __mmask16 odd = _mm512_test_epi32_mask(u, _mm512_set1_epi32(0x10000));
    const __m512i r = _mm512_add_epi32(u, _mm512_set1_epi32(0x7fff));
    return _mm512_mask_add_epi32(r, odd, r, _mm512_set1_epi32(1));
}

INLINE __m512i quiet_bf16(__m512i code, __m512 x)
{
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_mask_or_epi32(code, nan, _mm512_castps_si512(x), _mm512_set1_epi32(0x400000));
}

INLINE void loop_bf16(uint16_t *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m512 x = divided(take(in + i, p), p, divide);
        const __m512 y = divided(take(in + i + 16, p), p, divide);
        __m512i a = round_bf16(x), b = round_bf16(y);
        if (__builtin_expect(_mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q), 0)) {
            a = quiet_bf16(a, x);
            b = quiet_bf16(b, y);
        }
        put(out + i, upper_halves_of(a, b), p->stream);
    }
    for (; i < n; i += 16) {
        const __m512 x = divided(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), p, divide);
        tail_x16(out + i, _mm512_srli_epi32(quiet_bf16(round_bf16(x), x), 16), n - i);
    }
}

INLINE void loop_f16(uint16_t *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i a = _mm512_cvtps_ph(divided(take(in + i, p), p, divide), NEAREST);
        const __m256i b = _mm512_cvtps_ph(divided(take(in + i + 16, p), p, divide), NEAREST);
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

/* Any of 64 elements is NaN. */
INLINE bool any_nan(const __m512 *x)
{
    return !_kortestz_mask16_u8(_mm512_cmp_ps_mask(x[0], x[1], _CMP_UNORD_Q),
                                _mm512_cmp_ps_mask(x[2], x[3], _CMP_UNORD_Q));
}

/* The code of a magnitude that is no NaN; the limit is still to come. */
INLINE __m512i round_x8(__m512i a, const td_convert_params *p)
{
    const __m128i shift = _mm_cvtsi32_si128((int)p->shift);
    const __m512i magic = _mm512_castps_si512(_mm512_set1_ps(p->magic));
    const __m512i half = _mm512_set1_epi32((int)((1U << (p->shift - 1)) - 1 - (p->rebias << p->shift)));
    const __mmask16 odd = _mm512_test_epi32_mask(a, _mm512_set1_epi32((int)(1U << p->shift)));
    __m512i code = _mm512_add_epi32(a, half);
    code = _mm512_srl_epi32(_mm512_mask_add_epi32(code, odd, code, _mm512_set1_epi32(1)), shift);
    const __mmask16 small = _mm512_cmplt_epi32_mask(a, _mm512_set1_epi32((int)p->normal_bits));
    const __m512 under = _mm512_add_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(magic));
    return _mm512_mask_sub_epi32(code, small, _mm512_castps_si512(under), magic);
}

INLINE __m512i magnitude(__m512 x)
{
    return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
}

/* Whole codes of 16 elements, whatever they are. */
INLINE __m512i code_x8(__m512 x, const td_convert_params *p)
{
    const __m512i a = magnitude(x);
    const __mmask16 negative = _mm512_movepi32_mask(_mm512_castps_si512(x));
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    const __m512i payload =
        _mm512_and_si512(_mm512_srl_epi32(a, _mm_cvtsi32_si128((int)p->shift)), _mm512_set1_epi32((int)p->nan_payload));
    __m512i sign = _mm512_maskz_set1_epi32(negative, (int)p->sign_bit);
    sign = _mm512_mask_and_epi32(sign, nan, sign, _mm512_set1_epi32((int)p->nan_sign));
    __m512i code = _mm512_min_epu32(round_x8(a, p), _mm512_set1_epi32((int)p->limit));
    code = _mm512_mask_or_epi32(code, nan, payload, _mm512_set1_epi32((int)p->nan_code));
    return _mm512_or_si512(code, sign);
}

/* The codes of four vectors without NaN: limit and sign wait until they are bytes, and the signs of the floats are
 * packed as they were. Still in the order of the packs. */
INLINE __m512i codes_x8(const __m512 *x, const td_convert_params *p)
{
    __m512i code[4], u[4];
    for (int k = 0; k < 4; k++) {
        u[k] = _mm512_castps_si512(x[k]);
        code[k] = round_x8(magnitude(x[k]), p);
    }
    const __m512i codes =
        _mm512_packus_epi16(_mm512_packus_epi32(code[0], code[1]), _mm512_packus_epi32(code[2], code[3]));
    const __m512i signs = _mm512_packs_epi16(_mm512_packs_epi32(u[0], u[1]), _mm512_packs_epi32(u[2], u[3]));
    const __m512i limited = _mm512_min_epu8(codes, _mm512_set1_epi8((char)p->limit));
    const __m512i sign = _mm512_maskz_set1_epi8(_mm512_movepi8_mask(signs), (char)p->sign_bit);
    return _mm512_or_si512(limited, sign);
}

INLINE void loop_x8(unsigned char *out, const float *in, size_t n, const td_convert_params *p, int divide)
{
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m512 x[4];
        for (int k = 0; k < 4; k++)
            x[k] = divided(take(in + i + 16 * k, p), p, divide);
        if (__builtin_expect(any_nan(x), 0))
            for (size_t k = 0; k < 4; k++)
                tail_x8(out + i + 16 * k, code_x8(x[k], p), 16);
        else
            put(out + i, order_x8(codes_x8(x, p)), p->stream);
    }
    for (; i < n; i += 16)
        tail_x8(out + i, code_x8(divided(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), p, divide), p), n - i);
}

/* One loop per way to divide, so that none has a branch inside. */
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

/* NaN counts as 0. */
INLINE __m512 without_nan(__m512 x)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
}

/* round(x / scale) as 32-bit integers, at most 2^20. What is too low becomes INT32_MIN, which saturating packs
 * understand; with `both` it is at least -2^20. INVERSE and PROVEN stand for positive scales; where their remainder
 * underflows, the quotient is far below a half and any is right. */
INLINE __m512i whole(__m512 x, const td_convert_params *p, int divide, bool both)
{
    const bool before = divide == TD_DIVIDE_INVERSE || divide == TD_DIVIDE_PROVEN;
    const __m512 bound = _mm512_set1_ps(before ? p->scale * 0x1p20F : 0x1p20F);
    const __m512 low = _mm512_set1_ps(before ? p->scale * -0x1p20F : -0x1p20F);
    __m512 q = before ? x : divided(x, p, divide);
    q = _mm512_min_ps(q, bound);
    if (both)
        q = _mm512_max_ps(q, low);
    if (before)
        q = few_products(q, p, divide);
    return _mm512_cvt_roundps_epi32(q, NEAREST);
}

INLINE __m512i tail_int(const float *in, size_t n, const td_convert_params *p, int divide)
{
    const __m512 x = without_nan(_mm512_maskz_loadu_ps(mask_of(n), in));
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
        __m512 x[4];
        for (int k = 0; k < 4; k++)
            x[k] = take(in + i + 16 * k, p);
        if (__builtin_expect(any_nan(x), 0))
            for (int k = 0; k < 4; k++)
                x[k] = without_nan(x[k]);
        __m512i ab = _mm512_packs_epi32(whole(x[0], p, divide, false), whole(x[1], p, divide, false));
        __m512i cd = _mm512_packs_epi32(whole(x[2], p, divide, false), whole(x[3], p, divide, false));
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
        const __m512i a = _mm512_add_epi32(whole(without_nan(take(in + i, p)), p, divide, true), zero);
        const __m512i b = _mm512_add_epi32(whole(without_nan(take(in + i + 16, p)), p, divide, true), zero);
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

/* Out of the range of i32 the instruction gives INT32_MIN, which is right below it. */
INLINE __m512i codes_s32(__m512 q)
{
    const __mmask16 over = _mm512_cmp_ps_mask(q, _mm512_set1_ps(0x1p31F), _CMP_GE_OQ);
    const __m512i code = _mm512_maskz_cvt_roundps_epi32(_mm512_cmp_ps_mask(q, q, _CMP_ORD_Q), q, NEAREST);
    return _mm512_mask_mov_epi32(code, over, _mm512_set1_epi32(INT32_MAX));
}

/* NaN is 0 here: a maximum takes its second operand then. */
INLINE __m512i codes_u32(__m512 q)
{
    return _mm512_cvt_roundps_epu32(_mm512_max_ps(q, _mm512_setzero_ps()), NEAREST);
}

#define INT32_KERNEL(name, codes)                                                                                      \
    INLINE void loop_##name(uint32_t *out, const float *in, size_t n, const td_convert_params *p, int divide)          \
    {                                                                                                                  \
        size_t i = 0;                                                                                                  \
        for (; i + 16 <= n; i += 16)                                                                                   \
            put(out + i, codes(divided(take(in + i, p), p, divide)), p->stream);                                       \
        if (i < n)                                                                                                     \
            _mm512_mask_storeu_epi32(out + i, mask_of(n - i),                                                          \
                                     codes(divided(_mm512_maskz_loadu_ps(mask_of(n - i), in + i), p, divide)));        \
    }                                                                                                                  \
    FLOAT_KERNEL(name, loop_##name)

INT32_KERNEL(f32_s32, codes_s32)
INT32_KERNEL(f32_u32, codes_u32)

/* The quotients of small integers, one by one: of the negative ones too, since everything is symmetric. */
TARGET static bool proves_small(const td_convert_params *params)
{
    const td_convert_params p = *params;
    __m512 x = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (int k = 0; k <= 256; k += 16, x = _mm512_add_ps(x, _mm512_set1_ps(16))) {
        const __m512 exact = _mm512_div_ps(x, _mm512_set1_ps(p.scale));
        if (_mm512_cmp_ps_mask(exact, few_products(x, &p, TD_DIVIDE_PROVEN), _CMP_NEQ_UQ))
            return false;
    }
    return true;
}

/* Both quotients grow with x, and they differ by less than two units in the last place: so when they round to the same
 * integer next to every tie, they do so everywhere. */
TARGET static bool proves(const td_convert_params *params)
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
    kernels->proves_small = proves_small;
}
