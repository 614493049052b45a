/* The conversion kernels to f32 for AVX-512 F, BW, DQ and VL: 16 elements at a time, and one masked step at the end of
 * a row. */
#include "kernels/convert_avx512.inc"

/* What a decoder does with the scale. An integer is never near the ends of the range of f32, so few_products needs no
 * look at it. PROVEN comes with integers of 8 bits alone. */
typedef enum factor { TIMES, ONCE, BY_MUL, BY_INVERSE, BY_PROVEN, BY_DIV, EACH } factor;

INLINE __m512 int_scaled(__m512i x, const td_convert_params *p, factor f)
{
    const __m512 v = _mm512_cvtepi32_ps(_mm512_sub_epi32(x, _mm512_set1_epi32(p->zero)));
    if (f == BY_MUL)
        return _mm512_mul_ps(v, _mm512_set1_ps(p->inverse));
    if (f == BY_INVERSE || f == BY_PROVEN)
        return few_products(v, p, f == BY_PROVEN ? TD_DIVIDE_PROVEN : TD_DIVIDE_INVERSE);
    if (f == BY_DIV)
        return _mm512_div_ps(v, _mm512_set1_ps(p->scale));
    return f == EACH ? v : _mm512_mul_ps(v, _mm512_set1_ps(p->scale));
}

INLINE __m512 float_scaled(__m512 x, const td_convert_params *p, factor f)
{
    if (f == TIMES)
        return _mm512_mul_ps(x, _mm512_set1_ps(p->scale));
    if (f == EACH)
        return x;
    if (f != ONCE)
        return quotient(x, p, f == BY_MUL ? TD_DIVIDE_MUL : f == BY_DIV ? TD_DIVIDE_DIV : TD_DIVIDE_INVERSE);
    const __m512i u = _mm512_castps_si512(x);
    const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    return _mm512_castsi512_ps(_mm512_mask_or_epi32(u, nan, u, _mm512_set1_epi32(0x400000)));
}

INLINE __m512 from_bf16(__m256i x, const td_convert_params *p, factor f)
{
    return float_scaled(_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)), p, f);
}

INLINE __m512 from_f16(__m256i x, const td_convert_params *p, factor f)
{
    return float_scaled(_mm512_cvtph_ps(x), p, f);
}

INLINE __m512 from_few_x8(__m128i x, const td_convert_params *p, factor f)
{
    return float_scaled(_mm512_i32gather_ps(_mm512_cvtepu8_epi32(x), p->table, 4), p, f);
}

INLINE __m512i own_signed(__m512i x, const td_convert_params *p)
{
    const __m128i shift = _mm_cvtsi32_si128((int)p->own_shift);
    return _mm512_sra_epi32(_mm512_sll_epi32(x, shift), shift);
}

INLINE __m512i own_unsigned(__m512i x, const td_convert_params *p)
{
    return _mm512_and_si512(x, _mm512_set1_epi32((int)p->own_mask));
}

INLINE __m512 from_s16(__m256i x, const td_convert_params *p, factor f)
{
    return int_scaled(own_signed(_mm512_cvtepu16_epi32(x), p), p, f);
}

INLINE __m512 from_u16(__m256i x, const td_convert_params *p, factor f)
{
    return int_scaled(own_unsigned(_mm512_cvtepu16_epi32(x), p), p, f);
}

INLINE __m512 from_s8(__m128i x, const td_convert_params *p, factor f)
{
    return int_scaled(own_signed(_mm512_cvtepu8_epi32(x), p), p, f);
}

/* All 8 bits are the element's. */
INLINE __m512 from_whole_s8(__m128i x, const td_convert_params *p, factor f)
{
    return int_scaled(_mm512_cvtepi8_epi32(x), p, f);
}

INLINE __m512 from_u8(__m128i x, const td_convert_params *p, factor f)
{
    return int_scaled(own_unsigned(_mm512_cvtepu8_epi32(x), p), p, f);
}

/* EACH: the elements' own factors, which those from `at` on have. */
INLINE __m512 by_own(__m512 x, const td_convert_params *p, factor f, size_t at)
{
    return f == EACH ? _mm512_mul_ps(x, _mm512_loadu_ps(p->scales + at)) : x;
}

INLINE __m512 last_by_own(__m512 x, const td_convert_params *p, factor f, size_t at, __mmask16 mask)
{
    return f == EACH ? _mm512_mul_ps(x, _mm512_maskz_loadu_ps(mask, p->scales + at)) : x;
}

#define DECODE_LOOP(name, elem_t, load, load_mask)                                                                     \
    INLINE void decode_##name(float *out, const elem_t *in, size_t n, const td_convert_params *p, factor f)            \
    {                                                                                                                  \
        size_t i = 0;                                                                                                  \
        for (; i + 16 <= n; i += 16)                                                                                   \
            put(out + i, _mm512_castps_si512(by_own(from_##name(load((const void *)(in + i)), p, f), p, f, i)),        \
                p->stream);                                                                                            \
        if (i < n) {                                                                                                   \
            const __mmask16 mask = mask_of(n - i);                                                                     \
            _mm512_mask_storeu_ps(out + i, mask,                                                                       \
                                  last_by_own(from_##name(load_mask(mask, in + i), p, f), p, f, i, mask));             \
        }                                                                                                              \
    }

DECODE_LOOP(bf16, uint16_t, _mm256_loadu_si256, _mm256_maskz_loadu_epi16)
DECODE_LOOP(f16, uint16_t, _mm256_loadu_si256, _mm256_maskz_loadu_epi16)
DECODE_LOOP(s16, uint16_t, _mm256_loadu_si256, _mm256_maskz_loadu_epi16)
DECODE_LOOP(u16, uint16_t, _mm256_loadu_si256, _mm256_maskz_loadu_epi16)
DECODE_LOOP(s8, unsigned char, _mm_loadu_si128, _mm_maskz_loadu_epi8)
DECODE_LOOP(whole_s8, unsigned char, _mm_loadu_si128, _mm_maskz_loadu_epi8)
DECODE_LOOP(u8, unsigned char, _mm_loadu_si128, _mm_maskz_loadu_epi8)

/* From element i on. */
INLINE void decode_few_x8(float *out, const unsigned char *in, size_t i, size_t n, const td_convert_params *p, factor f)
{
    for (; i < n; i += 16) {
        const __mmask16 mask = mask_of(n - i);
        const __m512 x = from_few_x8(_mm_maskz_loadu_epi8(mask, in + i), p, f);
        _mm512_mask_storeu_ps(out + i, mask, last_by_own(x, p, f, i, mask));
    }
}

/* The upper halves of the 256 values of a table: a float of 8 bits has no others in f32. A gather takes longer for 32
 * elements than these and their look-ups. */
#define FROM_ELEMS 64

typedef struct halves {
    __m512i of[8];
} halves;

INLINE __m256i upper_halves(const float *table)
{
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_loadu_si512(table), 16));
}

INLINE halves halves_of(const float *table)
{
    halves h;
    for (int k = 0; k < 8; k++, table += 32)
        h.of[k] = _mm512_inserti64x4(_mm512_castsi256_si512(upper_halves(table)), upper_halves(table + 16), 1);
    return h;
}

/* 64 of them are in two registers. */
INLINE __m512i look_up(const halves *h, __m512i code)
{
    const __mmask32 upper = _mm512_test_epi16_mask(code, _mm512_set1_epi16(64)),
                    last = _mm512_test_epi16_mask(code, _mm512_set1_epi16(128));
    __m512i x[4];
    for (int k = 0; k < 4; k++)
        x[k] = _mm512_permutex2var_epi16(h->of[2 * k], code, h->of[2 * k + 1]);
    return _mm512_mask_mov_epi16(_mm512_mask_mov_epi16(x[0], upper, x[1]), last,
                                 _mm512_mask_mov_epi16(x[2], upper, x[3]));
}

INLINE __m512 from_half(__m256i half)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

INLINE void decode_x8(float *out, const unsigned char *in, size_t n, const td_convert_params *p, factor f)
{
    size_t i = 0;
    if (n >= FROM_ELEMS) {
        const halves h = halves_of(p->table);
        for (; i + 32 <= n; i += 32) {
            const __m512i x = look_up(&h, _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)(in + i))));
            const __m512 low = from_half(_mm512_castsi512_si256(x)), high = from_half(_mm512_extracti64x4_epi64(x, 1));
            put(out + i, _mm512_castps_si512(by_own(float_scaled(low, p, f), p, f, i)), p->stream);
            put(out + i + 16, _mm512_castps_si512(by_own(float_scaled(high, p, f), p, f, i + 16)), p->stream);
        }
    }
    decode_few_x8(out, in, i, n, p, f);
}

#define EACH_FACTOR(loop)                                                                                              \
    if (p->scales)                                                                                                     \
        EACH_ROW(loop, EACH);                                                                                          \
    else if (p->divide == TD_DIVIDE_NONE)                                                                              \
        EACH_ROW(loop, ONCE);                                                                                          \
    else if (!p->quotient)                                                                                             \
        EACH_ROW(loop, TIMES);                                                                                         \
    else if (p->divide == TD_DIVIDE_MUL)                                                                               \
        EACH_ROW(loop, BY_MUL);                                                                                        \
    else if (p->divide == TD_DIVIDE_DIV)                                                                               \
        EACH_ROW(loop, BY_DIV);                                                                                        \
    else if (p->divide == TD_DIVIDE_PROVEN)                                                                            \
        EACH_ROW(loop, BY_PROVEN);                                                                                     \
    else                                                                                                               \
        EACH_ROW(loop, BY_INVERSE)

#define DECODER(name)                                                                                                  \
    KERNEL(name##_f32)                                                                                                 \
    {                                                                                                                  \
        EACH_FACTOR(decode_##name);                                                                                    \
    }

DECODER(bf16)
DECODER(f16)
DECODER(s16)
DECODER(u16)
DECODER(x8)
DECODER(u8)

KERNEL(s8_f32)
{
    if (p->own_shift == 24) {
        EACH_FACTOR(decode_whole_s8);
    } else {
        EACH_FACTOR(decode_s8);
    }
}

/* -- Integers to wider ones, and those of 32 bits to f32 */

#define WHOLE_KERNEL(name, elem_t, load, load_mask, value, full_shift, full)                                           \
    INLINE void loop_##name(uint32_t *out, const elem_t *in, size_t n, const td_convert_params *p, bool whole)         \
    {                                                                                                                  \
        size_t i = 0;                                                                                                  \
        for (; i + 16 <= n; i += 16) {                                                                                 \
            _mm_prefetch((const char *)(in + i) + p->ahead, _MM_HINT_T0);                                              \
            put(out + i, whole ? full(load((const void *)(in + i))) : value(load((const void *)(in + i)), p),          \
                p->stream);                                                                                            \
        }                                                                                                              \
        if (i < n)                                                                                                     \
            _mm512_mask_storeu_epi32(out + i, mask_of(n - i), value(load_mask(mask_of(n - i), in + i), p));            \
    }                                                                                                                  \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        if (p->own_shift == (full_shift))                                                                              \
            EACH_ROW(loop_##name, true);                                                                               \
        else                                                                                                           \
            EACH_ROW(loop_##name, false);                                                                              \
    }

/* What rounding towards zero loses is kept as a lowest bit that is set. */
INLINE __m512 odd_from(__m512i x, bool sign)
{
    const __m512 cut = sign ? _mm512_cvt_roundepi32_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
                            : _mm512_cvt_roundepu32_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __m512i back = sign ? _mm512_cvttps_epi32(cut) : _mm512_cvttps_epu32(cut);
    const __m512i bits = _mm512_castps_si512(cut);
    return _mm512_castsi512_ps(
        _mm512_mask_or_epi32(bits, _mm512_cmpneq_epi32_mask(back, x), bits, _mm512_set1_epi32(1)));
}

#define SIGNED_X8(x, p) own_signed(_mm512_cvtepu8_epi32(x), p)
#define UNSIGNED_X8(x, p) own_unsigned(_mm512_cvtepu8_epi32(x), p)
#define SIGNED_X16(x, p) own_signed(_mm512_cvtepu16_epi32(x), p)
#define UNSIGNED_X16(x, p) own_unsigned(_mm512_cvtepu16_epi32(x), p)
#define UNIT(x, p)                                                                                                     \
    _mm512_castps_si512((p)->divide == TD_DIVIDE_NONE ? (x) : _mm512_mul_ps(x, _mm512_set1_ps((p)->scale)))
#define SIGNED_X32(x, p) UNIT(_mm512_cvtepi32_ps(own_signed(x, p)), p)
#define UNSIGNED_X32(x, p) UNIT(_mm512_cvtepu32_ps(own_unsigned(x, p)), p)
#define SIGNED_ODD(x, p) UNIT(odd_from(own_signed(x, p), true), p)
#define UNSIGNED_ODD(x, p) UNIT(odd_from(own_unsigned(x, p), false), p)
#define NEVER 33 /* no shift: there is no simpler way for whole containers */
#define AS_IS(x) _mm512_setzero_si512()

WHOLE_KERNEL(s8_s32, unsigned char, _mm_loadu_si128, _mm_maskz_loadu_epi8, SIGNED_X8, 24, _mm512_cvtepi8_epi32)
WHOLE_KERNEL(u8_u32, unsigned char, _mm_loadu_si128, _mm_maskz_loadu_epi8, UNSIGNED_X8, 24, _mm512_cvtepu8_epi32)
WHOLE_KERNEL(s16_s32, uint16_t, _mm256_loadu_si256, _mm256_maskz_loadu_epi16, SIGNED_X16, 16, _mm512_cvtepi16_epi32)
WHOLE_KERNEL(u16_u32, uint16_t, _mm256_loadu_si256, _mm256_maskz_loadu_epi16, UNSIGNED_X16, 16, _mm512_cvtepu16_epi32)
WHOLE_KERNEL(s32_f32, uint32_t, _mm512_loadu_si512, _mm512_maskz_loadu_epi32, SIGNED_X32, NEVER, AS_IS)
WHOLE_KERNEL(u32_f32, uint32_t, _mm512_loadu_si512, _mm512_maskz_loadu_epi32, UNSIGNED_X32, NEVER, AS_IS)

WHOLE_KERNEL(s32_odd, uint32_t, _mm512_loadu_si512, _mm512_maskz_loadu_epi32, SIGNED_ODD, NEVER, AS_IS)
WHOLE_KERNEL(u32_odd, uint32_t, _mm512_loadu_si512, _mm512_maskz_loadu_epi32, UNSIGNED_ODD, NEVER, AS_IS)

/* The upper halves are the codes. What is lost towards zero is not there for a tie, and can be no more than what a tie
 * lacks: so half a code's step is added, and one less only where the number is exact and the code even. */
INLINE __m512i bf16_from_int(__m512i x, const td_convert_params *p, bool sign, bool full)
{
#define CUT (_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC) /* a literal: clang takes no other */
    const __m512i own = full ? x : sign ? own_signed(x, p) : own_unsigned(x, p);
    const __m512 cut = sign ? _mm512_cvt_roundepi32_ps(own, CUT) : _mm512_cvt_roundepu32_ps(own, CUT);
#undef CUT
    const __m512i back = sign ? _mm512_cvttps_epi32(cut) : _mm512_cvttps_epu32(cut);
    const __m512i bits = full ? _mm512_castps_si512(cut) : UNIT(cut, p);
    const __mmask16 exact_and_even =
        _mm512_mask_testn_epi32_mask(_mm512_cmpeq_epi32_mask(back, own), bits, _mm512_set1_epi32(0x10000));
    const __m512i sum = _mm512_add_epi32(bits, _mm512_set1_epi32(0x8000));
    return _mm512_mask_sub_epi32(sum, exact_and_even, sum, _mm512_set1_epi32(1));
}

/* `full`: integers of 32 bits, whose step is 1. */
INLINE void loop_int_bf16(uint16_t *out, const uint32_t *in, size_t n, const td_convert_params *p, bool sign, bool full)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        _mm_prefetch((const char *)(in + i) + p->ahead, _MM_HINT_T0);
        _mm_prefetch((const char *)(in + i + 16) + p->ahead, _MM_HINT_T0);
        const __m512i a = bf16_from_int(_mm512_loadu_si512(in + i), p, sign, full);
        const __m512i b = bf16_from_int(_mm512_loadu_si512(in + i + 16), p, sign, full);
        put(out + i, upper_halves_of(a, b), p->stream);
    }
    for (; i < n; i += 16) {
        const __m512i code = bf16_from_int(_mm512_maskz_loadu_epi32(mask_of(n - i), in + i), p, sign, full);
        tail_x16(out + i, _mm512_srli_epi32(code, 16), n - i);
    }
}

#define INT_BF16(name, sign)                                                                                           \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        if (p->own_shift == 0 && p->divide == TD_DIVIDE_NONE)                                                          \
            EACH_ROW(loop_int_bf16, sign, true);                                                                       \
        else                                                                                                           \
            EACH_ROW(loop_int_bf16, sign, false);                                                                      \
    }

INT_BF16(s32_bf16, true)
INT_BF16(u32_bf16, false)

INLINE __m512i short_of(__m256i x, const td_convert_params *p, bool sign)
{
    const __m128i shift = _mm_cvtsi32_si128((int)p->own_shift - 16);
    const __m512i wide = _mm512_cvtepu8_epi16(x);
    return sign ? _mm512_sra_epi16(_mm512_sll_epi16(wide, shift), shift)
                : _mm512_and_si512(wide, _mm512_set1_epi16((short)p->own_mask));
}

INLINE void loop_short(uint16_t *out, const unsigned char *in, size_t n, const td_convert_params *p, bool sign)
{
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        _mm_prefetch((const char *)(in + i) + p->ahead, _MM_HINT_T0);
        put(out + i, short_of(_mm256_loadu_si256((const void *)(in + i)), p, sign), p->stream);
    }
    if (i < n) {
        const __mmask32 mask = ((__mmask32)1 << (n - i)) - 1;
        _mm512_mask_storeu_epi16(out + i, mask, short_of(_mm256_maskz_loadu_epi8(mask, in + i), p, sign));
    }
}

KERNEL(s8_s16)
{
    EACH_ROW(loop_short, true);
}

KERNEL(u8_u16)
{
    EACH_ROW(loop_short, false);
}
