/* The kernels between f32 and codes for AVX2: 32 elements at a time, which are one vector of bytes in the end, where
 * their scales stay the same for 16 of them at least; the compiler's vectors for other blocks. */
#include "kernels/quant.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#include "kernels/quant.inc"

/* 32 words or bytes that packs made of four vectors, back in their order. */
INLINE __m256i in_order(__m256i bytes)
{
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

#define AHEAD 2048 /* elements: the strip that comes next, whose first reader finds it in the cache */

INLINE void prefetch_32(const float *row)
{
    _mm_prefetch((const char *)(row + AHEAD), _MM_HINT_T0);
    _mm_prefetch((const char *)(row + AHEAD + 16), _MM_HINT_T0);
}

/* Groups of 32 elements have one scale, or one for each half. */
INLINE bool is_even(size_t block)
{
    return block == 16 || block % 32 == 0;
}

/* -- floats -- */

typedef struct float_rule {
    __m256i least, most_bits, up, less, most;
    unsigned drop, shift; /* bits that a mantissa loses; from a byte's sign to that of a code */
} float_rule;

INLINE float_rule rule_of(const td_quant *q, const unsigned man_bits, const unsigned bits)
{
    const uint32_t constant = constant_of(q);
    return (float_rule){.least = _mm256_set1_epi32((int)q->least_bits),
                        .most_bits = _mm256_set1_epi32((int)q->most_bits),
                        .up = _mm256_set1_epi32((int)((23 - man_bits) << 23)),
                        .less = _mm256_set1_epi16((short)constant),
                        .most = _mm256_set1_epi8((char)float_code(float_of(q->most_bits), q, constant)),
                        .drop = 23 - man_bits,
                        .shift = 8 - bits};
}

/* As float_code of quant.inc, but for the constant and the sign. What the sum has above the number that was added is
 * the mantissa with its leading 1. */
INLINE __m256i magnitude_codes(__m256 x, const float_rule *r, const bool bounded)
{
    const __m256i all = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));
    const __m256i magnitude = bounded ? all : _mm256_min_epi32(all, r->most_bits);
    const __m256i power = _mm256_and_si256(magnitude, _mm256_set1_epi32((int)EXP_MASK));
    const __m256i at = _mm256_add_epi32(_mm256_max_epi32(power, r->least), r->up);
    const __m256i sum = _mm256_castps_si256(_mm256_add_ps(_mm256_castsi256_ps(magnitude), _mm256_castsi256_ps(at)));
    return _mm256_add_epi32(_mm256_sub_epi32(sum, at), _mm256_srli_epi32(at, (int)r->drop));
}

INLINE void floats_32(uint8_t *dst, const float *row, const float *by, const size_t step, const float_rule *r,
                      const bool bounded, const bool divides)
{
    __m256i code[4], value[4];
    prefetch_32(row);
    for (size_t k = 0; k < 4; k++) {
        const __m256 in = _mm256_loadu_ps(row + 8 * k), scale = _mm256_set1_ps(by[k / 2 * step]);
        const __m256 x = divides ? _mm256_div_ps(in, scale) : _mm256_mul_ps(in, scale);
        code[k] = magnitude_codes(x, r, bounded);
        value[k] = _mm256_castps_si256(x);
    }
    const __m256i low = _mm256_sub_epi16(_mm256_packs_epi32(code[0], code[1]), r->less),
                  high = _mm256_sub_epi16(_mm256_packs_epi32(code[2], code[3]), r->less);
    const __m256i magnitude = _mm256_min_epu8(_mm256_packus_epi16(low, high), r->most);
    const __m256i signs = _mm256_packs_epi16(_mm256_packs_epi32(value[0], value[1]), /* which keep their signs */
                                             _mm256_packs_epi32(value[2], value[3]));
    const __m256i sign = _mm256_srli_epi16(_mm256_and_si256(signs, _mm256_set1_epi8((char)0x80)), (int)r->shift);
    _mm256_storeu_si256((__m256i *)(void *)dst, in_order(_mm256_or_si256(magnitude, sign)));
}

INLINE size_t floats_groups(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,
                            const td_quant *q, const unsigned man_bits, const unsigned bits, const bool bounded,
                            const bool divides)
{
    const float_rule r = rule_of(q, man_bits, bits);
    if (block == 16) {
        for (size_t j = 0; j + 2 <= blocks; j += 2)
            floats_32(dst + 16 * j, row + 16 * j, by + j, 1, &r, bounded, divides);
        return blocks / 2 * 2;
    }
    for (size_t j = 0; j < blocks; j++)
        for (size_t i = 0; i < block; i += 32, dst += 32, row += 32)
            floats_32(dst, row, by + j, 0, &r, bounded, divides);
    return blocks;
}

#define FORMAT(name, man_bits, bits)                                                                                   \
    TARGET static size_t name(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,            \
                              const td_quant *q, bool bounded)                                                         \
    {                                                                                                                  \
        if (q->divides)                                                                                                \
            return floats_groups(dst, row, by, blocks, block, q, man_bits, bits, false, true);                         \
        return bounded ? floats_groups(dst, row, by, blocks, block, q, man_bits, bits, true, false)                    \
                       : floats_groups(dst, row, by, blocks, block, q, man_bits, bits, false, false);                  \
    }
FORMAT(e2m1_32, 1, 4)
FORMAT(e3m2_32, 2, 6)
FORMAT(e2m3_32, 3, 6)
FORMAT(e5m2_32, 2, 8)
FORMAT(e4m3_32, 3, 8)

TARGET static void floats_avx2(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,
                               const td_quant *q, bool bounded)
{
    size_t done = 0;
    if (is_even(block)) {
        done = (q->bits == 4       ? e2m1_32
                : q->bits == 6     ? q->man_bits == 2 ? e3m2_32 : e2m3_32
                : q->man_bits == 2 ? e5m2_32
                                   : e4m3_32)(dst, row, by, blocks, block, q, bounded);
        dst += done * block;
        row += done * block;
        by += done;
        blocks -= done;
    }
    if (blocks)
        BY_SIZE(floats_of, dst, row, by)
}

/* -- integers -- */

#define CLAMP 300.0F /* past every code, with a zero point beside it too */
#define CLOSE (0.5F - 0x1p-12F)
#define INVERSES 64 /* blocks whose inverses are found at once */

/* False where one is no normal number, nor 0: a product with it would say little about the quotient. */
INLINE bool inverses_of(const float *by, size_t blocks, float *inverse)
{
    unsigned odd = 0;
    for (size_t j = 0; j < blocks; j++) {
        inverse[j] = 1 / by[j];
        const float magnitude = fabsf(inverse[j]);
        odd |= !((magnitude >= 0x1p-126F) & (magnitude <= 0x1p126F)) & (magnitude != 0);
    }
    return !odd;
}

typedef struct int_rule {
    __m256i low, high;
} int_rule;

/* Products with inverses are as good as quotients but for those close to a half: then there is a 1 in what is
 * returned, and the codes do not count. */
INLINE int ints_32(uint8_t *dst, const float *row, const float *inverse, const float *zero, const size_t step,
                   const int_rule *r, const bool bounded)
{
    const __m256 most = _mm256_set1_ps(CLAMP), least = _mm256_set1_ps(-CLAMP);
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256i code[4], close = _mm256_setzero_si256();
    prefetch_32(row);
    for (size_t k = 0; k < 4; k++) {
        const __m256 product = _mm256_mul_ps(_mm256_loadu_ps(row + 8 * k), _mm256_set1_ps(inverse[k / 2 * step]));
        const __m256 quotient = bounded ? product : _mm256_max_ps(_mm256_min_ps(product, most), least);
        const __m256 rest = _mm256_sub_ps(quotient, _mm256_round_ps(quotient, 8));
        code[k] = _mm256_cvtps_epi32(quotient);
        close = _mm256_max_epi32(close, _mm256_and_si256(_mm256_castps_si256(rest), magnitude));
    }
    __m256i half[2];
    for (size_t k = 0; k < 2; k++) {
        half[k] = _mm256_packs_epi32(code[2 * k], code[2 * k + 1]);
        if (zero)
            half[k] = _mm256_add_epi16(half[k], _mm256_set1_epi16((short)zero[k * step]));
        half[k] = _mm256_min_epi16(_mm256_max_epi16(half[k], r->low), r->high);
        half[k] = _mm256_and_si256(half[k], _mm256_set1_epi16(0xff));
    }
    _mm256_storeu_si256((__m256i *)(void *)dst, in_order(_mm256_packus_epi16(half[0], half[1])));
    return _mm256_movemask_epi8(_mm256_cmpgt_epi32(close, _mm256_set1_epi32((int)bits_of(CLOSE))));
}

INLINE void ints_groups(uint8_t *dst, const float *row, const float *by, const float *inverse, const float *zero,
                        size_t blocks, const size_t block, const td_quant *q, const bool bounded)
{
    const int_rule r = {_mm256_set1_epi16((short)q->low), _mm256_set1_epi16((short)q->high)};
    const size_t step = block == 16, per_block = block == 16 ? 1 : block / 32;
    for (size_t j = 0; j < blocks; j += 1 + step)
        for (size_t i = 0; i < per_block; i++, dst += 32, row += 32)
            if (ints_32(dst, row, inverse + j, zero ? zero + j : NULL, step, &r, bounded))
                ints_of(dst, row, by + j, zero ? zero + j : NULL, 1 + step, step ? 16 : 32, q);
}

INLINE void ints_chunk(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks, size_t block,
                       const td_quant *q, bool bounded)
{
    float inverse[INVERSES];
    if (!inverses_of(by, blocks, inverse))
        ints_of(dst, row, by, zero, blocks, block, q);
    else if (block == 16 && bounded)
        ints_groups(dst, row, by, inverse, zero, blocks, 16, q, true);
    else if (block == 32 && bounded)
        ints_groups(dst, row, by, inverse, zero, blocks, 32, q, true);
    else if (bounded)
        ints_groups(dst, row, by, inverse, zero, blocks, block, q, true);
    else
        ints_groups(dst, row, by, inverse, zero, blocks, block, q, false);
}

TARGET static void ints_avx2(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks,
                             size_t block, const td_quant *q, bool bounded)
{
    const size_t even = !is_even(block) ? 0 : block == 16 ? blocks / 2 * 2 : blocks;
    for (size_t j = 0; j < even; j += INVERSES) {
        const size_t some = even - j < INVERSES ? even - j : INVERSES;
        ints_chunk(dst + j * block, row + j * block, by + j, zero ? zero + j : NULL, some, block, q, bounded);
    }
    if (even == blocks)
        return;
    dst += even * block;
    row += even * block;
    by += even;
    zero = zero ? zero + even : NULL;
    blocks -= even;
    BY_SIZE(ints_of, dst, row, by, zero)
}

/* -- values -- */

INLINE __m256i eight_codes(const uint8_t *codes)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)codes));
}

/* Eight codes of four bits: the lower eight values or the upper ones, by bit 3 where blendv looks for it. */
INLINE __m256 table_values(__m256i at, __m256 low, __m256 high)
{
    const __m256 sel = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28));
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, at), _mm256_permutevar8x32_ps(high, at), sel);
}

/* What turns codes of floats and of integers into values, once for all of them. */
typedef struct value_rule {
    __m256i magnitude, base, normal_from, finite;
    __m256 unit;
    __m128i drop, up; /* of shifts: to the mantissa of an f32, and to its sign */
    bool has_sign;
} value_rule;

INLINE value_rule value_rule_of(const td_quant *q)
{
    const float part = float_of(q->least_bits - (q->man_bits << 23));
    return (value_rule){.magnitude = _mm256_set1_epi32((int)((1U << (q->bits - 1)) - 1)),
                        .base = _mm256_set1_epi32((int)(q->least_bits - (1U << 23))),
                        .normal_from = _mm256_set1_epi32(1 << q->man_bits),
                        .finite = _mm256_set1_epi32((int)q->finite),
                        .unit = _mm256_set1_ps(q->form == TD_QUANT_INT ? q->unit : part),
                        .drop = _mm_cvtsi32_si128(23 - (int)q->man_bits),
                        .up = _mm_cvtsi32_si128(32 - (int)q->bits),
                        .has_sign = q->low < 0};
}

/* Eight codes of floats that are no infinity or NaN: the fields moved to their places in an f32, or, below the smallest
 * normal number, so many of its smallest part. */
INLINE __m256 float_values(__m256i at, __m256i magnitude, const value_rule *r)
{
    const __m256i sign = _mm256_and_si256(_mm256_sll_epi32(at, r->up), _mm256_set1_epi32((int)SIGN));
    const __m256i normal = _mm256_add_epi32(_mm256_sll_epi32(magnitude, r->drop), r->base);
    const __m256 part = _mm256_mul_ps(_mm256_cvtepi32_ps(magnitude), r->unit);
    const __m256i is_part = _mm256_cmpgt_epi32(r->normal_from, magnitude);
    const __m256 value = _mm256_blendv_ps(_mm256_castsi256_ps(normal), part, _mm256_castsi256_ps(is_part));
    return _mm256_or_ps(value, _mm256_castsi256_ps(sign));
}

INLINE __m256 int_values(__m256i at, const value_rule *r)
{
    const __m256i up = _mm256_sll_epi32(at, r->up);
    const __m256i whole = r->has_sign ? _mm256_sra_epi32(up, r->up) : _mm256_srl_epi32(up, r->up);
    return _mm256_mul_ps(_mm256_cvtepi32_ps(whole), r->unit);
}

typedef enum value_form { BY_TABLE, AS_FLOAT, AS_INT } value_form;

/* The form, and whether stores go past the caches, are constants. */
INLINE void values_8(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks, size_t block,
                     const td_quant *q, const value_form form, const bool stream)
{
    const value_rule r = value_rule_of(q);
    const __m256 low = _mm256_loadu_ps(q->table), high = _mm256_loadu_ps(q->table + 8),
                 extra = _mm256_set1_ps(q->extra);
    for (size_t j = 0; j < blocks; j++) {
        const __m256 less = _mm256_set1_ps(zero ? zero[j] : 0), scale = _mm256_set1_ps(by[j]);
        for (size_t i = 0; i < block; i += 8, codes += 8, dst += 8) {
            const __m256i at = eight_codes(codes), magnitude = _mm256_and_si256(at, r.magnitude);
            if (form == AS_FLOAT && _mm256_movemask_epi8(_mm256_cmpgt_epi32(magnitude, r.finite))) {
                values_of(dst, codes, by + j, zero ? zero + j : NULL, 1, 8, q); /* an infinity or a NaN */
                continue;
            }
            const __m256 value = form == BY_TABLE ? table_values(at, low, high)
                                 : form == AS_INT ? int_values(at, &r)
                                                  : float_values(at, magnitude, &r);
            const __m256 out = _mm256_mul_ps(_mm256_mul_ps(_mm256_sub_ps(value, less), scale), extra);
            if (stream)
                _mm256_stream_ps(dst, out);
            else
                _mm256_storeu_ps(dst, out);
        }
    }
}

#define VALUES_8(form)                                                                                                 \
    if (stream)                                                                                                        \
        values_8(dst, codes, by, zero, blocks, block, q, form, true);                                                  \
    else                                                                                                               \
        values_8(dst, codes, by, zero, blocks, block, q, form, false)

TARGET static void values_avx2(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks,
                               size_t block, const td_quant *q)
{
    const bool stream = q->stream && (uintptr_t)dst % 32 == 0;
    if (block % 8 == 0 && q->bits <= 4) {
        VALUES_8(BY_TABLE);
    } else if (block % 8 == 0 && q->form == TD_QUANT_FLOAT) {
        VALUES_8(AS_FLOAT);
    } else if (block % 8 == 0 && q->form == TD_QUANT_INT) {
        VALUES_8(AS_INT);
    } else
        BY_SIZE(values_of, dst, codes, by, zero)
}

void td_quant_init_avx2(td_quant_kernels *kernels)
{
    *kernels = (td_quant_kernels){floats_avx2, ints_avx2, values_avx2};
}
