/* The conversion kernels for AVX2 with FMA and F16C. Every kernel is a block of fixed size. The last block of a run
 * overlaps the one before, and a run of less than a block goes through a buffer on the stack: nothing is touched past
 * the ends. Decoders are in convert_decode_avx2.c. */
#include "kernels/convert_avx2.inc"

/* NaN among 32 elements. */
INLINE bool any_nan(const __m256 *x)
{
    const __m256 ab = _mm256_cmp_ps(x[0], x[1], _CMP_UNORD_Q), cd = _mm256_cmp_ps(x[2], x[3], _CMP_UNORD_Q);
    return _mm256_movemask_ps(_mm256_or_ps(ab, cd)) != 0;
}

INLINE __m256i nan_of(__m256 x)
{
    return _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

/* -- f32 to f32 */

/* By 1 it is a multiplication: the quotient of a signalling NaN is quiet. */
INLINE void block_div(void *dst, const void *src, const td_convert_params *p, int divide)
{
    for (int k = 0; k < 4; k++)
        store(dst, k, _mm256_castps_si256(divided(load(src, k), p, divide)), p);
}

KERNEL(div_f32)
{
    if (p->divide == TD_DIVIDE_NONE || p->divide == TD_DIVIDE_MUL)
        run(block_div, 4, 4, TD_DIVIDE_MUL, ARGUMENTS);
    else
        run(block_div, 4, 4, TD_DIVIDE_DIV, ARGUMENTS);
}

INLINE void block_mul(void *dst, const void *src, const td_convert_params *p, int divide)
{
    (void)divide;
    for (int k = 0; k < 4; k++)
        store(dst, k, _mm256_castps_si256(_mm256_mul_ps(load(src, k), _mm256_set1_ps(p->scale))), p);
}

KERNEL(mul_f32)
{
    run(block_mul, 4, 4, TD_DIVIDE_NONE, ARGUMENTS);
}

/* -- Narrowing 32-bit codes. The packs work within 128-bit lanes; one permutation puts the pieces in order. */

INLINE __m256i order_x8(__m256i packed)
{
    return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

INLINE __m256i order_x16(__m256i packed)
{
    return _mm256_permute4x64_epi64(packed, 0xd8);
}

/* -- f32 to floats */

INLINE __m256i code_bf16(__m256 x)
{
    const __m256i u = _mm256_castps_si256(x);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    return _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7fff)), odd), 16);
}

INLINE __m256i quiet_bf16(__m256i code, __m256 x)
{
    const __m256i quiet = _mm256_or_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x400000));
    return _mm256_blendv_epi8(code, _mm256_srli_epi32(quiet, 16), nan_of(x));
}

INLINE void block_bf16(void *dst, const void *src, const td_convert_params *p, int divide)
{
    __m256 x[4];
    __m256i v[4];
    for (int k = 0; k < 4; k++) {
        x[k] = divided(load(src, k), p, divide);
        v[k] = code_bf16(x[k]);
    }
    if (__builtin_expect(any_nan(x), 0))
        for (int k = 0; k < 4; k++)
            v[k] = quiet_bf16(v[k], x[k]);
    for (int k = 0; k < 2; k++)
        store(dst, k, order_x16(_mm256_packus_epi32(v[2 * k], v[2 * k + 1])), p);
}

INLINE void block_f16(void *dst, const void *src, const td_convert_params *p, int divide)
{
    for (int k = 0; k < 2; k++) {
        const __m128i a = _mm256_cvtps_ph(divided(load(src, 2 * k), p, divide), NEAREST);
        const __m128i b = _mm256_cvtps_ph(divided(load(src, 2 * k + 1), p, divide), NEAREST);
        store(dst, k, _mm256_set_m128i(b, a), p);
    }
}

INLINE __m256i magnitude(__m256 x)
{
    return _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));
}

/* The code of a magnitude; the limit is still to come. Below the smallest normal the code of a normal would be too low,
 * and the steps of a subnormal end there: the greater of both is right. */
INLINE __m256i round_x8(__m256i a, const td_convert_params *p)
{
    const __m128i shift = _mm_cvtsi32_si128((int)p->shift);
    const __m256i magic = _mm256_castps_si256(_mm256_set1_ps(p->magic));
    const __m256i half = _mm256_set1_epi32((int)((1U << (p->shift - 1)) - 1 - (p->rebias << p->shift)));
    const __m256i odd = _mm256_and_si256(_mm256_srl_epi32(a, shift), _mm256_set1_epi32(1));
    const __m256i normal = _mm256_sra_epi32(_mm256_add_epi32(_mm256_add_epi32(a, half), odd), shift);
    const __m256i small = _mm256_min_epi32(a, _mm256_set1_epi32((int)p->normal_bits));
    const __m256 under = _mm256_add_ps(_mm256_castsi256_ps(small), _mm256_castsi256_ps(magic));
    return _mm256_max_epi32(normal, _mm256_sub_epi32(_mm256_castps_si256(under), magic));
}

INLINE __m256i nan_x8(__m256i code, __m256 x, const td_convert_params *p)
{
    const __m256i payload = _mm256_and_si256(_mm256_srl_epi32(magnitude(x), _mm_cvtsi32_si128((int)p->shift)),
                                             _mm256_set1_epi32((int)p->nan_payload));
    return _mm256_blendv_epi8(code, _mm256_or_si256(payload, _mm256_set1_epi32((int)p->nan_code)), nan_of(x));
}

/* Limit and sign wait until the codes are bytes; the signs of the floats are packed as they were. NaN is past the limit
 * in some types and has no sign in others. */
INLINE void block_x8(void *dst, const void *src, const td_convert_params *p, int divide)
{
    __m256 x[4];
    __m256i v[4], u[4];
    for (int k = 0; k < 4; k++) {
        x[k] = divided(load(src, k), p, divide);
        u[k] = _mm256_castps_si256(x[k]);
        v[k] = round_x8(magnitude(x[k]), p);
    }
    const bool nans = any_nan(x);
    for (int k = 0; k < 4 && __builtin_expect(nans, 0); k++) {
        v[k] = nan_x8(_mm256_min_epi32(v[k], _mm256_set1_epi32((int)p->limit)), x[k], p);
        if (!p->nan_sign)
            u[k] = _mm256_andnot_si256(nan_of(x[k]), u[k]);
    }
    __m256i codes = _mm256_packus_epi16(_mm256_packus_epi32(v[0], v[1]), _mm256_packus_epi32(v[2], v[3]));
    const __m256i signs = _mm256_packs_epi16(_mm256_packs_epi32(u[0], u[1]), _mm256_packs_epi32(u[2], u[3]));
    const __m256i negative = _mm256_cmpgt_epi8(_mm256_setzero_si256(), signs);
    codes = _mm256_min_epu8(codes, _mm256_set1_epi8((char)(nans ? 0xff : p->limit)));
    store(dst, 0, order_x8(_mm256_or_si256(codes, _mm256_and_si256(negative, _mm256_set1_epi8((char)p->sign_bit)))), p);
}

/* One loop per way to divide, so that none has a branch inside. */
#define FLOAT_KERNEL(name, block, dst_bytes)                                                                           \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        if (p->divide == TD_DIVIDE_NONE)                                                                               \
            run(block, 4, dst_bytes, TD_DIVIDE_NONE, ARGUMENTS);                                                       \
        else if (p->divide == TD_DIVIDE_MUL)                                                                           \
            run(block, 4, dst_bytes, TD_DIVIDE_MUL, ARGUMENTS);                                                        \
        else                                                                                                           \
            run(block, 4, dst_bytes, TD_DIVIDE_DIV, ARGUMENTS);                                                        \
    }

FLOAT_KERNEL(f32_bf16, block_bf16, 2)
FLOAT_KERNEL(f32_f16, block_f16, 2)
FLOAT_KERNEL(f32_x8, block_x8, 1)

/* -- f32 to integers; see the AVX-512 version */

INLINE __m256i whole(__m256 x, const td_convert_params *p, int divide, bool both)
{
    const bool before = divide == TD_DIVIDE_INVERSE || divide == TD_DIVIDE_PROVEN;
    const __m256 bound = _mm256_set1_ps(before ? p->scale * 0x1p20F : 0x1p20F);
    const __m256 low = _mm256_set1_ps(before ? p->scale * -0x1p20F : -0x1p20F);
    __m256 q = _mm256_min_ps(before ? x : divided(x, p, divide), bound);
    if (both)
        q = _mm256_max_ps(q, low);
    if (before)
        q = few_products(q, p, divide);
    return _mm256_cvtps_epi32(q); /* to nearest even: the mode that convert.c sets */
}

/* 32 elements as integers, NaN as 0. */
INLINE void wholes(__m256i *v, const void *src, const td_convert_params *p, int divide, bool both)
{
    __m256 x[4];
    for (int k = 0; k < 4; k++)
        x[k] = load(src, k);
    if (__builtin_expect(any_nan(x), 0))
        for (int k = 0; k < 4; k++)
            x[k] = _mm256_and_ps(x[k], _mm256_cmp_ps(x[k], x[k], _CMP_ORD_Q));
    for (int k = 0; k < 4; k++)
        v[k] = whole(x[k], p, divide, both);
}

INLINE void ints_x8(void *dst, const void *src, const td_convert_params *p, int divide, bool sign)
{
    const __m256i zero = _mm256_set1_epi16((short)p->zero);
    const __m256i low = _mm256_set1_epi8((char)p->low);
    const __m256i high = _mm256_set1_epi8((char)p->high);
    __m256i v[4];
    wholes(v, src, p, divide, false);
    const __m256i ab = _mm256_adds_epi16(_mm256_packs_epi32(v[0], v[1]), zero);
    const __m256i cd = _mm256_adds_epi16(_mm256_packs_epi32(v[2], v[3]), zero);
    __m256i code = sign ? _mm256_packs_epi16(ab, cd) : _mm256_packus_epi16(ab, cd);
    code = sign ? _mm256_max_epi8(_mm256_min_epi8(code, high), low) : _mm256_min_epu8(code, high);
    store(dst, 0, order_x8(code), p);
}

INLINE void ints_x16(void *dst, const void *src, const td_convert_params *p, int divide, bool sign)
{
    const __m256i zero = _mm256_set1_epi32(p->zero);
    const __m256i low = _mm256_set1_epi16((short)p->low);
    const __m256i high = _mm256_set1_epi16((short)p->high);
    __m256i v[4];
    wholes(v, src, p, divide, true);
    for (int k = 0; k < 2; k++) {
        const __m256i a = _mm256_add_epi32(v[2 * k], zero), b = _mm256_add_epi32(v[2 * k + 1], zero);
        __m256i code = sign ? _mm256_packs_epi32(a, b) : _mm256_packus_epi32(a, b);
        code = sign ? _mm256_max_epi16(_mm256_min_epi16(code, high), low) : _mm256_min_epu16(code, high);
        store(dst, k, order_x16(code), p);
    }
}

#define INT_KERNEL(name, ints, dst_bytes, sign)                                                                        \
    INLINE void block_##name(void *dst, const void *src, const td_convert_params *p, int divide)                       \
    {                                                                                                                  \
        ints(dst, src, p, divide, sign);                                                                               \
    }                                                                                                                  \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        if (p->divide == TD_DIVIDE_NONE)                                                                               \
            run(block_##name, 4, dst_bytes, TD_DIVIDE_NONE, ARGUMENTS);                                                \
        else if (p->divide == TD_DIVIDE_MUL)                                                                           \
            run(block_##name, 4, dst_bytes, TD_DIVIDE_MUL, ARGUMENTS);                                                 \
        else if (p->divide == TD_DIVIDE_INVERSE)                                                                       \
            run(block_##name, 4, dst_bytes, TD_DIVIDE_INVERSE, ARGUMENTS);                                             \
        else if (p->divide == TD_DIVIDE_PROVEN)                                                                        \
            run(block_##name, 4, dst_bytes, TD_DIVIDE_PROVEN, ARGUMENTS);                                              \
        else                                                                                                           \
            run(block_##name, 4, dst_bytes, TD_DIVIDE_DIV, ARGUMENTS);                                                 \
    }

INT_KERNEL(f32_s8, ints_x8, 1, true)
INT_KERNEL(f32_u8, ints_x8, 1, false)
INT_KERNEL(f32_s16, ints_x16, 2, true)
INT_KERNEL(f32_u16, ints_x16, 2, false)

/* Out of the range of i32 the instruction gives INT32_MIN, which is right below it. */
INLINE __m256i codes_s32(__m256 q)
{
    const __m256 over = _mm256_cmp_ps(q, _mm256_set1_ps(0x1p31F), _CMP_GE_OQ);
    const __m256i code = _mm256_andnot_si256(nan_of(q), _mm256_cvtps_epi32(q));
    return _mm256_blendv_epi8(code, _mm256_set1_epi32(INT32_MAX), _mm256_castps_si256(over));
}

/* From 2^31 on less that. NaN is 0 here: a maximum takes its second operand then. */
INLINE __m256i codes_u32(__m256 x)
{
    const __m256 half = _mm256_set1_ps(0x1p31F);
    const __m256 q = _mm256_max_ps(x, _mm256_setzero_ps());
    const __m256 high = _mm256_cmp_ps(q, half, _CMP_GE_OQ);
    const __m256i low = _mm256_cvtps_epi32(_mm256_sub_ps(q, _mm256_and_ps(high, half)));
    const __m256i top = _mm256_and_si256(_mm256_castps_si256(high), _mm256_set1_epi32(INT32_MIN));
    const __m256 over = _mm256_cmp_ps(q, _mm256_set1_ps(0x1p32F), _CMP_GE_OQ);
    return _mm256_or_si256(_mm256_xor_si256(low, top), _mm256_castps_si256(over));
}

#define INT32_KERNEL(name, codes)                                                                                      \
    INLINE void block_##name(void *dst, const void *src, const td_convert_params *p, int divide)                       \
    {                                                                                                                  \
        for (int k = 0; k < 4; k++)                                                                                    \
            store(dst, k, codes(divided(load(src, k), p, divide)), p);                                                 \
    }                                                                                                                  \
    FLOAT_KERNEL(name, block_##name, 4)

INT32_KERNEL(f32_s32, codes_s32)
INT32_KERNEL(f32_u32, codes_u32)

/* -- f32 to integers modulo 2^bits; see the AVX-512 version */

INLINE __m256i whole_or_far(__m256 x, const td_convert_params *p, int divide)
{
    return _mm256_cvtps_epi32(divide == TD_DIVIDE_INVERSE ? few_products(x, p, divide) : divided(x, p, divide));
}

INLINE __m256i whole_modulo(__m256 x, const td_convert_params *p, int divide)
{
    const __m256 q = _mm256_round_ps(divided(x, p, divide), NEAREST);
    const __m256 turns =
        _mm256_round_ps(_mm256_mul_ps(q, _mm256_set1_ps(0x1p-16F)), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m256 rest = _mm256_sub_ps(q, _mm256_mul_ps(turns, _mm256_set1_ps(0x1p16F)));
    return _mm256_cvttps_epi32(_mm256_and_ps(rest, _mm256_cmp_ps(rest, rest, _CMP_ORD_Q)));
}

/* 32 elements, with the zero point; above the own bits anything. */
INLINE void wrapped(__m256i *v, const void *src, const td_convert_params *p, int divide)
{
    for (int k = 0; k < 4; k++)
        v[k] = whole_or_far(load(src, k), p, divide);
    const __m256i least = _mm256_min_epi32(_mm256_min_epi32(v[0], v[1]), _mm256_min_epi32(v[2], v[3]));
    if (__builtin_expect(_mm256_movemask_epi8(_mm256_cmpeq_epi32(least, _mm256_set1_epi32(INT32_MIN))), 0))
        for (int k = 0; k < 4; k++)
            v[k] = whole_modulo(load(src, k), p, divide);
    for (int k = 0; k < 4; k++)
        v[k] = _mm256_add_epi32(v[k], _mm256_set1_epi32(p->zero));
}

INLINE int sign_of(const td_convert_params *p)
{
    return p->low < 0 ? (int)(p->own_mask >> 1) + 1 : 0;
}

INLINE void wrap_x8(void *dst, const void *src, const td_convert_params *p, int divide, bool ignored)
{
    const __m256i mask = _mm256_set1_epi32((int)p->own_mask), sign = _mm256_set1_epi8((char)sign_of(p));
    __m256i v[4];
    (void)ignored;
    wrapped(v, src, p, divide);
    for (int k = 0; k < 4; k++)
        v[k] = _mm256_and_si256(v[k], mask);
    const __m256i code = _mm256_packus_epi16(_mm256_packus_epi32(v[0], v[1]), _mm256_packus_epi32(v[2], v[3]));
    store(dst, 0, order_x8(_mm256_sub_epi8(_mm256_xor_si256(code, sign), sign)), p);
}

INLINE void wrap_x16(void *dst, const void *src, const td_convert_params *p, int divide, bool ignored)
{
    const __m256i mask = _mm256_set1_epi32((int)p->own_mask), sign = _mm256_set1_epi16((short)sign_of(p));
    __m256i v[4];
    (void)ignored;
    wrapped(v, src, p, divide);
    for (int k = 0; k < 2; k++) {
        const __m256i code =
            _mm256_packus_epi32(_mm256_and_si256(v[2 * k], mask), _mm256_and_si256(v[2 * k + 1], mask));
        store(dst, k, order_x16(_mm256_sub_epi16(_mm256_xor_si256(code, sign), sign)), p);
    }
}

INT_KERNEL(f32_wrap8, wrap_x8, 1, false)
INT_KERNEL(f32_wrap16, wrap_x16, 2, false)

/* -- Proofs; see the AVX-512 versions */

TARGET static bool proves_small(const td_convert_params *params)
{
    const td_convert_params p = *params;
    __m256 x = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
    for (int k = 0; k <= 256; k += 8, x = _mm256_add_ps(x, _mm256_set1_ps(8))) {
        const __m256 exact = _mm256_div_ps(x, _mm256_set1_ps(p.scale));
        if (_mm256_movemask_ps(_mm256_cmp_ps(exact, few_products(x, &p, TD_DIVIDE_PROVEN), _CMP_NEQ_UQ)))
            return false;
    }
    return true;
}

TARGET static bool proves(const td_convert_params *params)
{
    const td_convert_params p = *params;
    const __m256 scale = _mm256_set1_ps(p.scale);
    __m256 tie = _mm256_setr_ps(0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F, 6.5F, 7.5F);
    for (int k = 0; k < 256; k += 8, tie = _mm256_add_ps(tie, _mm256_set1_ps(8))) {
        const __m256i middle = _mm256_castps_si256(_mm256_mul_ps(tie, scale));
        for (int near = -2; near <= 2; near++) {
            const __m256 x = _mm256_castsi256_ps(_mm256_add_epi32(middle, _mm256_set1_epi32(near)));
            const __m256 exact = _mm256_round_ps(_mm256_div_ps(x, scale), NEAREST);
            const __m256 quick = _mm256_round_ps(few_products(x, &p, TD_DIVIDE_PROVEN), NEAREST);
            if (_mm256_movemask_ps(_mm256_cmp_ps(exact, quick, _CMP_NEQ_UQ)))
                return false;
        }
    }
    return true;
}

void td_convert_init_avx2(td_convert_kernels *kernels)
{
#define X(name, src_bytes, dst_bytes) kernels->name = td_convert_##name##_avx2;
    TD_CONVERT_KERNELS(X)
#undef X
    kernels->proves = proves;
    kernels->proves_small = proves_small;
}
