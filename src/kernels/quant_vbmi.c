/* The kernels between f32 and codes for AVX-512 VBMI: values of up to 256 codes, by permutations of the two bytes that
 * make the upper half of an f32. Everything else is the version for AVX-512. */
#include "kernels/prefetch.h"
#include "kernels/quant.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx2,fma")))
#include "kernels/quant.inc"

#include "kernels/quant_avx512.inc"

/* One byte of every value, in four vectors. */
typedef struct byte_table {
    __m512i part[4];
} byte_table;

INLINE byte_table load_bytes(const unsigned char *bytes)
{
    byte_table t;
    for (size_t i = 0; i < 4; i++)
        t.part[i] = _mm512_loadu_si512(bytes + 64 * i);
    return t;
}

INLINE __m512i look_up(const byte_table *t, __m512i at, __mmask64 upper)
{
    return _mm512_mask_blend_epi8(upper, _mm512_permutex2var_epi8(t->part[0], at, t->part[1]),
                                  _mm512_permutex2var_epi8(t->part[2], at, t->part[3]));
}

/* 64 values in four vectors, in the order of the codes: unpacking goes by lanes of 16 bytes, so the codes are put
 * into the lanes that they come out of beforehand, four by four. */
INLINE void values_64(const uint8_t *codes, const byte_table *low, const byte_table *high, __m512 *out)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i at = _mm512_permutexvar_epi32(order, _mm512_loadu_si512(codes)), none = _mm512_setzero_si512();
    const __mmask64 upper = _mm512_movepi8_mask(at);
    const __m512i a = look_up(low, at, upper), b = look_up(high, at, upper);
    const __m512i first = _mm512_unpacklo_epi8(a, b), second = _mm512_unpackhi_epi8(a, b);
    out[0] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(none, first));
    out[1] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(none, first));
    out[2] = _mm512_castsi512_ps(_mm512_unpacklo_epi16(none, second));
    out[3] = _mm512_castsi512_ps(_mm512_unpackhi_epi16(none, second));
}

/* Vectors of 16 elements, four at a time. Returns the blocks that are whole then; the others are the caller's. */
INLINE size_t values_256(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks,
                         size_t block, const td_quant *q, const bool stream)
{
    const byte_table low = load_bytes(q->half[0]), high = load_bytes(q->half[1]);
    const __m512 extra = _mm512_set1_ps(q->extra);
    const size_t vectors = blocks * block / 64 * 4, per_block = block / 16;
    size_t j = 0, left = per_block;
    for (size_t v = 0; v < vectors; v += 4, codes += 64) {
        __m512 four[4];
        values_64(codes, &low, &high, four);
        for (size_t k = 0; k < 4; k++, dst += 16) {
            const __m512 value = _mm512_sub_ps(four[k], _mm512_set1_ps(zero ? zero[j] : 0));
            put_values(dst, _mm512_mul_ps(_mm512_mul_ps(value, _mm512_set1_ps(by[j])), extra), stream);
            if (--left == 0) {
                left = per_block;
                j++;
            }
        }
    }
    return vectors / per_block;
}

/* The same of blocks of one element. Returns how many are done. */
INLINE size_t values_256_each(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks,
                              const td_quant *q, const bool stream)
{
    const byte_table low = load_bytes(q->half[0]), high = load_bytes(q->half[1]);
    const __m512 extra = _mm512_set1_ps(q->extra), none = _mm512_setzero_ps();
    size_t i = 0;
    for (; i + 64 <= blocks; i += 64) {
        __m512 four[4];
        values_64(codes + i, &low, &high, four);
        for (size_t k = 0; k < 4; k++) {
            const size_t at = i + 16 * k;
            const __m512 value = _mm512_sub_ps(four[k], zero ? _mm512_loadu_ps(zero + at) : none);
            put_values(dst + at, _mm512_mul_ps(_mm512_mul_ps(value, _mm512_loadu_ps(by + at)), extra), stream);
        }
    }
    return i;
}

/* Where bytes 0 of the elements of two vectors are. */
static const uint8_t first_bytes[64]
    __attribute__((aligned(64))) = {0,  4,  8,  12, 16, 20, 24, 28, 32, 36,  40,  44,  48,  52,  56,  60,
                                    64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108, 112, 116, 120, 124};

/* One byte of every element of four vectors, from the place that `at` names for the first. */
INLINE __m512i bytes_of_four(const __m512i *v, __m512i at)
{
    const __m512i low = _mm512_permutex2var_epi8(v[0], at, v[1]), high = _mm512_permutex2var_epi8(v[2], at, v[3]);
    return _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
}

INLINE bool streams(const uint8_t *dst, const td_quant *q)
{
    return q->stream && (uintptr_t)dst % 64 == 0;
}

INLINE void put_codes(uint8_t *dst, __m512i codes, bool stream)
{
    if (stream)
        _mm512_stream_si512((void *)dst, codes);
    else
        _mm512_storeu_si512(dst, codes);
}

/* What the 16 elements from number `at` on have each, of numbers of their blocks. */
INLINE __m512 of_blocks(const float *numbers, size_t at, const size_t block)
{
    return block == 1 ? _mm512_loadu_ps(numbers + at) : _mm512_set1_ps(numbers[at / block]);
}

/* `once`: rows that are read in one step, not for a second time. */
INLINE void prefetch_64(const float *row, size_t ahead, const float *end, const bool once)
{
    if (once)
        td_prefetch_lines(row, 64 * sizeof *row, end);
    else
        td_prefetch_pages(row, 64 * sizeof *row, ahead, end);
}

/* As floats_wide, 64 elements at a time: codes and signs are put together in bytes. */
INLINE void floats_64(uint8_t *dst, const float *row, const float *by, size_t blocks, const size_t block,
                      const td_quant *q, const unsigned man_bits, const unsigned bits)
{
    const float_rule r = rule_of(q, man_bits, bits);
    const __m512i less = _mm512_set1_epi8((char)constant_of(q)), own = _mm512_set1_epi8((char)((1U << bits) - 1)),
                  magnitude = _mm512_set1_epi8((char)((1U << (bits - 1)) - 1));
    const __m128i to_sign = _mm_cvtsi32_si128((int)(8 - bits));
    const __m512i first = _mm512_load_si512(first_bytes);
    const __m512i last = _mm512_add_epi8(first, _mm512_set1_epi8(3));
    const float *const end = q->end;
    const size_t ahead = q->ahead;
    const bool stream = streams(dst, q);
    for (size_t at = 0; at < blocks * block; at += 64, row += 64) {
        __m512i codes[4], values[4];
        td_prefetch_pages(row, 64 * sizeof *row, ahead, end);
        for (size_t k = 0; k < 4; k++) {
            const __m512 x = _mm512_mul_ps(_mm512_loadu_ps(row + 16 * k), of_blocks(by, at + 16 * k, block));
            codes[k] = magnitude_codes(x, &r);
            values[k] = _mm512_castps_si512(x);
        }
        const __m512i code = _mm512_sub_epi8(bytes_of_four(codes, first), less);
        const __m512i sign = _mm512_srl_epi16(bytes_of_four(values, last), to_sign);
        const __m512i both = _mm512_ternarylogic_epi32(magnitude, code, sign, 0xca); /* chosen by the first */
        put_codes(dst + at, bits == 8 ? both : _mm512_and_si512(both, own), stream);
    }
}

/* -- bounded products -- */

/* Where byte 1 of every element of two vectors is, then byte 3. */
static const uint8_t second_and_last[64] __attribute__((aligned(64))) = {
    1,  5,  9,  13,  17,  21,  25,  29,  33,  37,  41, 45, 49, 53,  57,  61,  65,  69,  73,  77, 81, 85,
    89, 93, 97, 101, 105, 109, 113, 117, 121, 125, 3,  7,  11, 15,  19,  23,  27,  31,  35,  39, 43, 47,
    51, 55, 59, 63,  67,  71,  75,  79,  83,  87,  91, 95, 99, 103, 107, 111, 115, 119, 123, 127};

/* The sum of float_code in quant.inc, whose lower word is the mantissa and whose upper one has the exponent from bit 7
 * on: one product of words adds both so that byte 1 is the code, but for the constant, and byte 3 all sign. */
INLINE __m512i sum_codes(__m512 x, __m512 least, __m512 up, __m512i weights)
{
    const __m512 power = _mm512_castsi512_ps(_mm512_andnot_si512(_mm512_set1_epi32(0x7fffff), _mm512_castps_si512(x)));
    const __m512 at = _mm512_range_ps(power, least, 3); /* the larger magnitude, same sign */
    return _mm512_madd_epi16(_mm512_castps_si512(_mm512_fmadd_ps(at, up, x)), weights);
}

#define BASES 64 /* blocks whose scales are taken out of their elements at once */

/* Blocks of 32 whose scales are powers of two need no product: their elements begin at another power, and their codes
 * count from another constant. */
typedef struct base_rule {
    float least[BASES];
    uint8_t less[BASES];
} base_rule;

INLINE void find_bases(const float *by, size_t blocks, const td_quant *q, const unsigned man_bits, base_rule *r)
{
    const uint32_t one = 127U << 23, constant = constant_of(q), least = q->least_bits;
    for (size_t j = 0; j < blocks; j++) {
        const uint32_t more = bits_of(by[j]) - one; /* in units of the exponent */
        r->least[j] = float_of(least - more);
        r->less[j] = (uint8_t)(constant - (more >> (23 - man_bits)));
    }
}

INLINE void bounded_64(uint8_t *dst, const float *row, const float *by, size_t blocks, const size_t block,
                       const td_quant *q, const unsigned man_bits, const unsigned bits, const base_rule *bases,
                       const bool once)
{
    const __m512 up = _mm512_castsi512_ps(_mm512_set1_epi32((int)((127 + 23 - man_bits) << 23))),
                 least = _mm512_castsi512_ps(_mm512_set1_epi32((int)q->least_bits));
    const __m512i weights = _mm512_set1_epi32((int)(256U | 1U << (man_bits + 17))),
                  most = _mm512_set1_epi8((char)float_code(float_of(q->most_bits), q, constant_of(q))),
                  sign = _mm512_set1_epi8((char)(1U << (bits - 1))), order = _mm512_load_si512(second_and_last),
                  other_order = _mm512_shuffle_i64x2(order, order, 0x4e), /* signs first */
        constant = bases ? _mm512_loadu_si512(bases->less) : _mm512_set1_epi8((char)constant_of(q));
    /* with bases, the number of the block that a byte belongs to */
    __m512i of_block = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi8(1), 1);
    const float *const end = q->end;
    const size_t ahead = q->ahead;
    const bool stream = streams(dst, q);
    for (size_t at = 0; at < blocks * block; at += 64, row += 64) {
        __m512i codes[4];
        prefetch_64(row, ahead, end, once);
        for (size_t k = 0; k < 4; k++) {
            const __m512 x = _mm512_loadu_ps(row + 16 * k);
            codes[k] = bases ? sum_codes(x, of_blocks(bases->least, at + 16 * k, block), up, weights)
                             : sum_codes(_mm512_mul_ps(x, of_blocks(by, at + 16 * k, block)), least, up, weights);
        }
        const __m512i low = _mm512_permutex2var_epi8(codes[0], order, codes[1]),
                      high = _mm512_permutex2var_epi8(codes[2], other_order, codes[3]);
        const __m512i less = bases ? _mm512_permutexvar_epi8(of_block, constant) : constant;
        const __m512i code = _mm512_min_epu8(_mm512_sub_epi8(_mm512_mask_blend_epi64(0xf0, low, high), less), most);
        of_block = _mm512_add_epi8(of_block, _mm512_set1_epi8(2));
        put_codes(dst + at,
                  _mm512_ternarylogic_epi32(code, _mm512_shuffle_i64x2(low, high, 0x4e), sign, 0xf8), /* a | b & c */
                  stream);
    }
}

/* Scales for which no base is out of range, nor a sum. */
INLINE bool are_usual(const float *by, size_t blocks)
{
    unsigned odd = 0;
    for (size_t j = 0; j < blocks; j++)
        odd |= bits_of(by[j]) - 0x20000000U > 0x40000000U; /* 2^-63 to 2^65 */
    return !odd;
}

INLINE void bounded_powers(uint8_t *dst, const float *row, const float *by, size_t blocks, const td_quant *q,
                           const unsigned man_bits, const unsigned bits)
{
    for (size_t done = 0; done < blocks; done += BASES) {
        const size_t some = blocks - done < BASES ? blocks - done : BASES;
        base_rule bases = {{0}, {0}}; /* the last vector of bytes is read whole */
        find_bases(by + done, some, q, man_bits, &bases);
        bounded_64(dst + 32 * done, row + 32 * done, by + done, some, 32, q, man_bits, bits, &bases, false);
    }
}

#define FORMAT_64(name, man_bits, bits)                                                                                \
    TARGET static void name(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,              \
                            const td_quant *q, bool bounded)                                                           \
    {                                                                                                                  \
        if (bounded && block == 32 && q->powers && are_usual(by, blocks))                                              \
            bounded_powers(dst, row, by, blocks, q, man_bits, bits);                                                   \
        else if (bounded && block == 32)                                                                               \
            bounded_64(dst, row, by, blocks, 32, q, man_bits, bits, NULL, false);                                      \
        else if (bounded && block == 16)                                                                               \
            bounded_64(dst, row, by, blocks, 16, q, man_bits, bits, NULL, false);                                      \
        else if (bounded && block == 1)                                                                                \
            bounded_64(dst, row, by, blocks, 1, q, man_bits, bits, NULL, false);                                       \
        else if (block == 1)                                                                                           \
            floats_64(dst, row, by, blocks, 1, q, man_bits, bits);                                                     \
        else                                                                                                           \
            floats_64(dst, row, by, blocks, block, q, man_bits, bits);                                                 \
    }
FORMAT_64(e2m1_64, 1, 4)
FORMAT_64(e3m2_64, 2, 6)
FORMAT_64(e2m3_64, 3, 6)
FORMAT_64(e5m2_64, 2, 8)
FORMAT_64(e4m3_64, 3, 8)

TARGET static void floats_vbmi(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,
                               const td_quant *q, bool bounded)
{
    size_t done = 0;
    if (!q->divides && (block == 1 || block == 16 || block == 32 || block % 64 == 0)) {
        done = blocks * block / 64 * 64 / block;
        (q->bits == 4       ? e2m1_64
         : q->bits == 6     ? q->man_bits == 2 ? e3m2_64 : e2m3_64
         : q->man_bits == 2 ? e5m2_64
                            : e4m3_64)(dst, row, by, done, block, q, bounded);
    }
    if (done < blocks)
        floats_by_format(dst + done * block, row + done * block, by + done, blocks - done, block, q);
}

/* -- integers of less than 8 bits -- */

#define CLAMP 64.0F /* past every code, and a byte still has room for a zero point beside it */
#define CLOSE_IN_CLAMP (0.5F - 0x1p-15F)

#define INVERSES 64 /* blocks whose inverses are found at once */

/* Bounded quotients and zero points, of codes up to MOST_BOUNDED: a sum with BASE is from 128 to 256, and its bits are
 * as many whole numbers over 16 bits of fraction. */
#define BASE 176.0F
#define BASE_CODE (176 - 128) /* what byte 2 of such a sum has for 0 */
#define MOST_BOUNDED 31

/* What a block's elements go by: the inverse of its scale, and what is added, with the zero point in it: BASE, or a
 * number past all fractions. */
typedef struct int_rule {
    float inverse[INVERSES], large[INVERSES];
} int_rule;

/* False where an inverse is no normal number, nor 0. */
INLINE bool int_rules(const float *by, const float *zero, size_t blocks, float large, int_rule *r)
{
    unsigned odd = 0;
    for (size_t j = 0; j < blocks; j++) {
        r->inverse[j] = 1 / by[j];
        const float magnitude = fabsf(r->inverse[j]);
        odd |= !((magnitude >= 0x1p-126F) & (magnitude <= 0x1p126F)) & (magnitude != 0);
    }
    for (size_t j = 0; j < blocks; j++)
        r->large[j] = zero ? large + zero[j] : large;
    return !odd;
}

/* 64 elements by division. */
INLINE void divide_64(uint8_t *dst, const float *row, const float *by, const float *zero, size_t at, size_t block,
                      const td_quant *q)
{
    for (size_t k = 0; k < 64; k += block < 64 ? block : 64) {
        const size_t j = (at + k) / block;
        ints_of(dst + k, row + k, by + j, zero ? zero + j : NULL, 1, block < 64 ? block : 64, q);
    }
}

/* As ints_wide, 64 elements at a time: codes are put together in bytes. A zero point that is part of the sum leaves its
 * rounding as it is but for ties, which are close to a half. */
INLINE void ints_64(uint8_t *dst, const float *row, const float *by, const int_rule *r, const float *zero,
                    size_t blocks, const size_t block, const td_quant *q)
{
    const __m512 most = _mm512_set1_ps(CLAMP), half = _mm512_set1_ps(CLOSE_IN_CLAMP);
    const __m512i low = _mm512_set1_epi8((char)q->low), high = _mm512_set1_epi8((char)q->high),
                  first = _mm512_load_si512(first_bytes);
    const float *const end = q->end;
    const size_t ahead = q->ahead;
    const bool stream = streams(dst, q);
    for (size_t at = 0; at < blocks * block; at += 64, row += 64, dst += 64) {
        __m512i sum[4];
        td_prefetch_pages(row, 64 * sizeof *row, ahead, end);
        __m512 close = _mm512_setzero_ps();
        for (size_t k = 0; k < 4; k++) {
            const __m512 product =
                _mm512_mul_ps(_mm512_loadu_ps(row + 16 * k), of_blocks(r->inverse, at + 16 * k, block));
            const __m512 quotient = _mm512_range_ps(product, most, 2); /* the smaller magnitude */
            const __m512 large = of_blocks(r->large, at + 16 * k, block), whole = _mm512_add_ps(quotient, large);
            sum[k] = _mm512_castps_si512(whole);
            close = _mm512_range_ps(close, _mm512_sub_ps(quotient, _mm512_sub_ps(whole, large)), 0xb); /* the larger */
        }
        const __m512i code = bytes_of_four(sum, first);
        put_codes(dst, _mm512_min_epi8(_mm512_max_epi8(code, low), high), stream);
        if (_mm512_cmp_ps_mask(close, half, _CMP_NLT_UQ))
            divide_64(dst, row, by, zero, at, block, q);
    }
}

/* The same for bounded quotients. A sum is off by less than two units of its last place, so those that are further from
 * a half round as the quotient does; the others have 0, 1 or 2 in the lower word once half and a unit are added. */
INLINE void bounded_ints(uint8_t *dst, const float *row, const float *by, const int_rule *r, const float *zero,
                         size_t blocks, const size_t block, const td_quant *q, const bool once)
{
    const __m512i low = _mm512_set1_epi8((char)q->low), high = _mm512_set1_epi8((char)q->high),
                  third = _mm512_add_epi8(_mm512_load_si512(first_bytes), _mm512_set1_epi8(2)),
                  more = _mm512_set1_epi32(0x8001), zero_code = _mm512_set1_epi8(BASE_CODE);
    const float *const end = q->end;
    const size_t ahead = q->ahead;
    const bool stream = streams(dst, q);
    for (size_t at = 0; at < blocks * block; at += 64, row += 64, dst += 64) {
        __m512i sum[4], close = _mm512_set1_epi32(-1);
        prefetch_64(row, ahead, end, once);
        for (size_t k = 0; k < 4; k++) {
            const size_t number = at + 16 * k;
            const __m512 x = _mm512_loadu_ps(row + 16 * k);
            const __m512 whole =
                _mm512_fmadd_ps(x, of_blocks(r->inverse, number, block), of_blocks(r->large, number, block));
            sum[k] = _mm512_add_epi32(_mm512_castps_si512(whole), more);
            close = _mm512_min_epu16(close, sum[k]);
        }
        const __m512i code = _mm512_sub_epi8(bytes_of_four(sum, third), zero_code);
        put_codes(dst, _mm512_min_epi8(_mm512_max_epi8(code, low), high), stream);
        if (_mm512_mask_cmple_epu16_mask(0x55555555, close, _mm512_set1_epi16(2)))
            divide_64(dst, row, by, zero, at, block, q);
    }
}

#define INTS_64(of, size, ...) of(dst, row, by, &rule, zero, done, size, __VA_ARGS__)

INLINE size_t ints_chunk(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks,
                         size_t block, const td_quant *q, bool bounded)
{
    int_rule rule;
    const size_t most = blocks < INVERSES ? blocks : INVERSES, done = most * block / 64 * 64 / block;
    if (!int_rules(by, zero, done, bounded ? BASE : LARGE, &rule))
        ints_by_size(dst, row, by, zero, done, block, q);
    else if (block == 32 && bounded)
        INTS_64(bounded_ints, 32, q, false);
    else if (block == 128 && bounded)
        INTS_64(bounded_ints, 128, q, false);
    else if (block == 1 && bounded)
        INTS_64(bounded_ints, 1, q, false);
    else if (bounded)
        INTS_64(bounded_ints, block, q, false);
    else if (block == 1)
        INTS_64(ints_64, 1, q);
    else
        INTS_64(ints_64, block, q);
    return done;
}

TARGET static void ints_vbmi(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks,
                             size_t block, const td_quant *q, bool bounded)
{
    const bool in_bytes = q->high < 64 && (block == 1 || block == 16 || block == 32 || block % 64 == 0);
    size_t done = 0, more = in_bytes && blocks;
    for (; more; done += more)
        more = ints_chunk(dst + done * block, row + done * block, by + done, zero ? zero + done : NULL, blocks - done,
                          block, q, bounded && q->high <= MOST_BOUNDED);
    if (done < blocks)
        ints_by_size(dst + done * block, row + done * block, by + done, zero ? zero + done : NULL, blocks - done, block,
                     q);
}

TARGET static void values_vbmi(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks,
                               size_t block, const td_quant *q)
{
    size_t done = 0;
    if (q->bits > 4 && block == 1)
        done = values_256_each(dst, codes, by, zero, blocks, q, q->stream && (uintptr_t)dst % 64 == 0);
    else if (q->bits > 4 && block % 16 == 0 && q->stream && (uintptr_t)dst % 64 == 0)
        done = values_256(dst, codes, by, zero, blocks, block, q, true);
    else if (q->bits > 4 && block % 16 == 0)
        done = values_256(dst, codes, by, zero, blocks, block, q, false);
    if (done < blocks)
        values_by_size(dst + done * block, codes + done * block, by + done, zero ? zero + done : NULL, blocks - done,
                       block, q);
}

#include "kernels/quant_both_vbmi.inc"

void td_quant_init_vbmi(td_quant_kernels *kernels)
{
    *kernels = (td_quant_kernels){floats_vbmi, ints_vbmi, values_vbmi, has_both_vbmi, both_vbmi};
}
