/* The kernels between f32 and codes for AVX2: 32 elements at a time, which are one vector of bytes in the end, where
 * their scales stay the same for 16 of them at least; the compiler's vectors for other blocks. */
#include "kernels/prefetch.h"
#include "kernels/quant.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#include "kernels/quant.inc"

/* 32 words or bytes that packs made of four vectors, back in their order. */
INLINE __m256i in_order(__m256i bytes)
{
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* How codes are stored, and up to where what comes next is prefetched. */
typedef struct passing {
    const float *end;
    size_t ahead;
    bool stream;
} passing;

INLINE passing passing_of(const uint8_t *dst, const td_quant *q)
{
    return (passing){q->end, q->ahead, q->stream && (uintptr_t)dst % 32 == 0};
}

INLINE void put_codes(uint8_t *dst, __m256i codes, const passing *p)
{
    if (p->stream)
        _mm256_stream_si256((__m256i *)(void *)dst, codes);
    else
        _mm256_storeu_si256((__m256i *)(void *)dst, codes);
}

/* Groups of 32 elements have one scale, or one for each half. */
INLINE bool is_even(size_t block)
{
    return block == 16 || block % 32 == 0;
}

/* -- floats -- */

typedef struct float_rule {
    __m256i least, most_bits, up, join, less, most;
    unsigned drop, shift; /* bits that a mantissa loses; from a byte's sign to that of a code */
} float_rule;

INLINE float_rule rule_of(const td_quant *q, const unsigned man_bits, const unsigned bits)
{
    const uint32_t constant = constant_of(q);
    return (float_rule){.least = _mm256_set1_epi32((int)q->least_bits),
                        .most_bits = _mm256_set1_epi32((int)q->most_bits),
                        .up = _mm256_set1_epi32((int)((23 - man_bits) << 23)),
                        .join = _mm256_set1_epi32((int)(1U << 16 | 1U << (7 - man_bits))),
                        .less = _mm256_set1_epi16((short)(constant << (7 - man_bits))),
                        .most = _mm256_set1_epi8((char)float_code(float_of(q->most_bits), q, constant)),
                        .drop = 23 - man_bits,
                        .shift = 8 - bits};
}

/* The sum of float_code of quant.inc. Its upper half is an exponent over seven zeros, its lower one the mantissa with
 * its leading 1, so that one product of halves, added, is the code but for a constant, times 2^(7 - man_bits). */
INLINE __m256i joined(__m256 sum, const float_rule *r)
{
    return _mm256_madd_epi16(_mm256_castps_si256(sum), r->join);
}

INLINE __m256i magnitude_codes(__m256 x, const float_rule *r, const bool bounded)
{
    const __m256i all = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));
    const __m256i magnitude = bounded ? all : _mm256_min_epi32(all, r->most_bits);
    const __m256i power = _mm256_and_si256(magnitude, _mm256_set1_epi32((int)EXP_MASK));
    const __m256i at = _mm256_add_epi32(_mm256_max_epi32(power, r->least), r->up);
    return joined(_mm256_add_ps(_mm256_castsi256_ps(magnitude), _mm256_castsi256_ps(at)), r);
}

/* How elements become numbers in the range of the codes. */
typedef enum scaling { BY_BOUNDED, BY_PRODUCTS, BY_QUOTIENTS } scaling;

INLINE void floats_32(uint8_t *dst, const float *row, const float *by, const size_t step, const float_rule *r,
                      const passing *p, const scaling how)
{
    __m256i code[4], value[4];
    td_prefetch_pages(row, 32 * sizeof *row, p->ahead, p->end);
    for (size_t k = 0; k < 4; k++) {
        const __m256 in = _mm256_loadu_ps(row + 8 * k), scale = _mm256_set1_ps(by[k / 2 * step]);
        const __m256 x = how == BY_QUOTIENTS ? _mm256_div_ps(in, scale) : _mm256_mul_ps(in, scale);
        code[k] = magnitude_codes(x, r, how == BY_BOUNDED);
        value[k] = _mm256_castps_si256(x);
    }
    __m256i half[2];
    for (size_t k = 0; k < 2; k++) {
        const __m256i above = _mm256_sub_epi16(_mm256_packs_epi32(code[2 * k], code[2 * k + 1]), r->less);
        half[k] = _mm256_srli_epi16(above, (int)(r->drop - 16));
    }
    const __m256i magnitude = _mm256_min_epu8(_mm256_packus_epi16(half[0], half[1]), r->most);
    const __m256i signs = _mm256_packs_epi16(_mm256_packs_epi32(value[0], value[1]), /* which keep their signs */
                                             _mm256_packs_epi32(value[2], value[3]));
    const __m256i sign = _mm256_srli_epi16(_mm256_and_si256(signs, _mm256_set1_epi8((char)0x80)), (int)r->shift);
    put_codes(dst, in_order(_mm256_or_si256(magnitude, sign)), p);
}

INLINE size_t floats_groups(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,
                            const td_quant *q, const unsigned man_bits, const unsigned bits, const scaling how)
{
    const float_rule r = rule_of(q, man_bits, bits);
    const passing p = passing_of(dst, q);
    if (block == 16) {
        for (size_t j = 0; j + 2 <= blocks; j += 2)
            floats_32(dst + 16 * j, row + 16 * j, by + j, 1, &r, &p, how);
        return blocks / 2 * 2;
    }
    for (size_t j = 0; j < blocks; j++)
        for (size_t i = 0; i < block; i += 32, dst += 32, row += 32)
            floats_32(dst, row, by + j, 0, &r, &p, how);
    return blocks;
}

#define FORMAT(name, man_bits, bits)                                                                                   \
    TARGET static size_t name(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,            \
                              const td_quant *q, bool bounded)                                                         \
    {                                                                                                                  \
        if (q->divides)                                                                                                \
            return floats_groups(dst, row, by, blocks, block, q, man_bits, bits, BY_QUOTIENTS);                        \
        return bounded ? floats_groups(dst, row, by, blocks, block, q, man_bits, bits, BY_BOUNDED)                     \
                       : floats_groups(dst, row, by, blocks, block, q, man_bits, bits, BY_PRODUCTS);                   \
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
                   const int_rule *r, const passing *p, const bool bounded)
{
    const __m256 most = _mm256_set1_ps(CLAMP), least = _mm256_set1_ps(-CLAMP);
    const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
    __m256i code[4], close = _mm256_setzero_si256();
    td_prefetch_pages(row, 32 * sizeof *row, p->ahead, p->end);
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
    put_codes(dst, in_order(_mm256_packus_epi16(half[0], half[1])), p);
    return _mm256_movemask_epi8(_mm256_cmpgt_epi32(close, _mm256_set1_epi32((int)bits_of(CLOSE))));
}

/* The same for codes of up to four bits, whose quotients are bounded: as whole numbers of 2^-NARROW_BITS they fit in 16
 * bits, or saturate past every code, with a zero point beside it too. The one that is a half is that close to it. */
#define NARROW_BITS 11
#define NARROW_INVERSE_MOST 0x1p100F /* 2^NARROW_BITS times as much is a number too */

INLINE int narrow_32(uint8_t *dst, const float *row, const float *inverse, const float *zero, const size_t step,
                     const int_rule *r, const passing *p)
{
    const __m256i half_unit = _mm256_set1_epi16(1 << (NARROW_BITS - 1)),
                  below = _mm256_set1_epi16((1 << NARROW_BITS) - 1);
    __m256i code[2], close = below;
    td_prefetch_pages(row, 32 * sizeof *row, p->ahead, p->end);
    for (size_t k = 0; k < 2; k++) {
        const __m256 by = _mm256_set1_ps(inverse[k * step] * (1 << NARROW_BITS));
        const __m256i first = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(row + 16 * k), by)),
                      second = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(row + 16 * k + 8), by));
        const __m256i up = _mm256_adds_epi16(_mm256_packs_epi32(first, second), half_unit);
        code[k] = _mm256_srai_epi16(up, NARROW_BITS);
        close = _mm256_min_epu16(close, _mm256_and_si256(up, below));
    }
    __m256i bytes = _mm256_packs_epi16(code[0], code[1]);
    if (zero)
        bytes = _mm256_add_epi8(
            bytes, _mm256_unpacklo_epi64(_mm256_set1_epi8((char)zero[0]), _mm256_set1_epi8((char)zero[step])));
    bytes = _mm256_min_epi8(_mm256_max_epi8(bytes, r->low), r->high);
    put_codes(dst, in_order(bytes), p);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi16(close, _mm256_setzero_si256()));
}

INLINE void narrow_groups(uint8_t *dst, const float *row, const float *by, const float *inverse, const float *zero,
                          size_t blocks, const size_t block, const td_quant *q)
{
    const int_rule r = {_mm256_set1_epi8((char)q->low), _mm256_set1_epi8((char)q->high)};
    const passing p = passing_of(dst, q);
    const size_t step = block == 16, per_block = block == 16 ? 1 : block / 32;
    for (size_t j = 0; j < blocks; j += 1 + step)
        for (size_t i = 0; i < per_block; i++, dst += 32, row += 32)
            if (narrow_32(dst, row, inverse + j, zero ? zero + j : NULL, step, &r, &p))
                ints_of(dst, row, by + j, zero ? zero + j : NULL, 1 + step, step ? 16 : 32, q);
}

INLINE bool is_narrow(const td_quant *q, const float *inverse, size_t blocks)
{
    unsigned past = 0;
    for (size_t j = 0; j < blocks; j++)
        past |= fabsf(inverse[j]) > NARROW_INVERSE_MOST;
    return !past && q->low >= -8 && q->high <= 15;
}

INLINE void ints_groups(uint8_t *dst, const float *row, const float *by, const float *inverse, const float *zero,
                        size_t blocks, const size_t block, const td_quant *q, const bool bounded)
{
    const int_rule r = {_mm256_set1_epi16((short)q->low), _mm256_set1_epi16((short)q->high)};
    const passing p = passing_of(dst, q);
    const size_t step = block == 16, per_block = block == 16 ? 1 : block / 32;
    for (size_t j = 0; j < blocks; j += 1 + step)
        for (size_t i = 0; i < per_block; i++, dst += 32, row += 32)
            if (ints_32(dst, row, inverse + j, zero ? zero + j : NULL, step, &r, &p, bounded))
                ints_of(dst, row, by + j, zero ? zero + j : NULL, 1 + step, step ? 16 : 32, q);
}

INLINE void ints_chunk(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks, size_t block,
                       const td_quant *q, bool bounded)
{
    float inverse[INVERSES];
    if (!inverses_of(by, blocks, inverse))
        ints_of(dst, row, by, zero, blocks, block, q);
    else if (bounded && is_narrow(q, inverse, blocks) && zero)
        narrow_groups(dst, row, by, inverse, zero, blocks, block, q);
    else if (bounded && is_narrow(q, inverse, blocks) && block == 32)
        narrow_groups(dst, row, by, inverse, NULL, blocks, 32, q);
    else if (bounded && is_narrow(q, inverse, blocks))
        narrow_groups(dst, row, by, inverse, NULL, blocks, block, q);
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

#include "kernels/quant_values_avx2.inc"

void td_quant_init_avx2(td_quant_kernels *kernels)
{
    kernels->floats = floats_avx2;
    kernels->ints = ints_avx2;
    kernels->values = values_avx2;
}
