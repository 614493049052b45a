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

/* As floats_wide, 64 elements at a time: codes and signs are put together in bytes. */
INLINE void floats_64(uint8_t *dst, const float *row, const float *by, size_t blocks, const size_t block,
                      const td_quant *q, const unsigned man_bits, const unsigned bits, const bool bounded)
{
    const float_rule r = rule_of(q, man_bits, bits);
    const __m512i less = _mm512_set1_epi8((char)constant_of(q)), own = _mm512_set1_epi8((char)((1U << bits) - 1)),
                  magnitude = _mm512_set1_epi8((char)((1U << (bits - 1)) - 1)),
                  most = _mm512_set1_epi8((char)float_code(float_of(q->most_bits), q, constant_of(q)));
    const __m128i to_sign = _mm_cvtsi32_si128((int)(8 - bits));
    const __m512i first = _mm512_load_si512(first_bytes);
    const __m512i last = _mm512_add_epi8(first, _mm512_set1_epi8(3));
    const float *const end = q->end;
    const bool stream = streams(dst, q);
    for (size_t at = 0; at < blocks * block; at += 64, row += 64) {
        __m512i codes[4], values[4];
        td_prefetch_pages(row, 64 * sizeof *row, end);
        for (size_t k = 0; k < 4; k++) {
            const __m512 x = _mm512_mul_ps(_mm512_loadu_ps(row + 16 * k), _mm512_set1_ps(by[(at + 16 * k) / block]));
            codes[k] = bounded ? bounded_codes(x, &r) : magnitude_codes(x, &r);
            values[k] = _mm512_castps_si512(x);
        }
        const __m512i code = _mm512_min_epu8(_mm512_sub_epi8(bytes_of_four(codes, first), less), most);
        const __m512i sign = _mm512_srl_epi16(bytes_of_four(values, last), to_sign);
        const __m512i both = _mm512_ternarylogic_epi32(magnitude, code, sign, 0xca); /* chosen by the first */
        put_codes(dst + at, bits == 8 ? both : _mm512_and_si512(both, own), stream);
    }
}

#define FLOATS_64(size, man_bits, bits, bounded) floats_64(dst, row, by, blocks, size, q, man_bits, bits, bounded)
#define FORMAT_64(name, man_bits, bits)                                                                                \
    TARGET static void name(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,              \
                            const td_quant *q, bool bounded)                                                           \
    {                                                                                                                  \
        if (block == 32 && bounded)                                                                                    \
            FLOATS_64(32, man_bits, bits, true);                                                                       \
        else if (block == 16 && bounded)                                                                               \
            FLOATS_64(16, man_bits, bits, true);                                                                       \
        else                                                                                                           \
            FLOATS_64(block, man_bits, bits, false);                                                                   \
    }
FORMAT_64(e2m1_64, 1, 4)
FORMAT_64(e3m2_64, 2, 6)
FORMAT_64(e2m3_64, 3, 6)
FORMAT_64(e5m2_64, 2, 8)
FORMAT_64(e4m3_64, 3, 8)

/* -- e2m1 -- */

/* Bounded products go to codes by a table: from a quarter on, five binades of the exponent, two bits of the mantissa,
 * and whether the others are all 0, are what the code depends on. In words, half as many operations do that; two words
 * of two vectors lie in one element, then four bytes, which one permutation puts in order. */
static const uint8_t e2m1_table[64] __attribute__((aligned(64))) = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4,
    4, 4, 4, 5, 5, 5, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};

#define EIGHTH 124 /* the exponent field of the binade below a quarter */

/* Where the bytes of four vectors are that e2m1_words puts together. */
static const uint8_t interleaved[64] __attribute__((aligned(64))) = {
    0,  4,  8,  12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 2,  6,  10, 14, 18, 22,
    26, 30, 34, 38, 42, 46, 50, 54, 58, 62, 1,  5,  9,  13, 17, 21, 25, 29, 33, 37, 41, 45,
    49, 53, 57, 61, 3,  7,  11, 15, 19, 23, 27, 31, 35, 39, 43, 47, 51, 55, 59, 63};

/* Bits of the second where the first has them, else of the third. */
INLINE __m512i chosen(__m512i where, __m512i a, __m512i b)
{
    return _mm512_ternarylogic_epi32(where, a, b, 0xca);
}

INLINE __m512i with_bits(__m512i a, __m512i b, __m512i which)
{
    return _mm512_ternarylogic_epi32(a, b, which, 0xf8);
}

/* Bit 20 set where it or any bit below is. */
INLINE __m512i with_rest(__m512i x)
{
    return with_bits(x, _mm512_add_epi32(x, _mm512_set1_epi32(0xfffff)), _mm512_set1_epi32(0x100000));
}

/* The upper halves of the elements of two vectors, in turn. */
INLINE __m512i interleaved_words(__m512i a, __m512i b)
{
    return chosen(_mm512_set1_epi32((int)0xffff0000U), b, _mm512_srli_epi32(a, 16));
}

/* Magnitudes from a power of two on, 8 places in a binade at bits 4 and up; nothing below it. */
INLINE __m512i places_of(__m512i words, __m512i base)
{
    return _mm512_subs_epu16(_mm512_and_si512(words, _mm512_set1_epi16(0x7fff)), base);
}

INLINE void e2m1_words(uint8_t *dst, const float *row, const float *by, size_t blocks, const size_t block,
                       const td_quant *q, const bool powers)
{
    const __m512i table = _mm512_load_si512(e2m1_table), order = _mm512_load_si512(interleaved),
                  sign = _mm512_set1_epi8(8), upper = _mm512_set1_epi16((short)0xff00);
    const float *const end = q->end;
    const bool stream = streams(dst, q);
    for (size_t at = 0; at < blocks * block; at += 64, row += 64) {
        __m512i x[4], base[2];
        td_prefetch_pages(row, 64 * sizeof *row, end);
        for (size_t k = 0; k < 4; k++) {
            const float scale = by[(at + 16 * k) / block];
            const __m512 value = _mm512_loadu_ps(row + 16 * k);
            x[k] = with_rest(_mm512_castps_si512(powers ? value : _mm512_mul_ps(value, _mm512_set1_ps(scale))));
            if (k % 2 == 0) /* with powers, a block is two vectors; their exponents begin elsewhere */
                base[k / 2] =
                    _mm512_set1_epi16((short)((powers ? EIGHTH + 127 - (bits_of(scale) >> 23) : EIGHTH) << 7));
        }
        const __m512i low = interleaved_words(x[0], x[1]), high = interleaved_words(x[2], x[3]);
        const __m512i place = with_bits(_mm512_srli_epi16(places_of(low, base[0]), 4),
                                        _mm512_slli_epi16(places_of(high, base[1]), 4), upper);
        const __m512i signs = _mm512_srli_epi16(chosen(upper, high, _mm512_srli_epi16(low, 8)), 4);
        const __m512i code = with_bits(_mm512_permutexvar_epi8(place, table), signs, sign);
        put_codes(dst + at, _mm512_permutexvar_epi8(order, code), stream);
    }
}

/* Exponents of scales such that no base is out of range, nor a product subnormal. */
INLINE bool are_usual(const float *by, size_t blocks)
{
    unsigned odd = 0;
    for (size_t j = 0; j < blocks; j++)
        odd |= bits_of(by[j]) - 0x05000000U > 0x74000000U;
    return !odd;
}

TARGET static void e2m1_by_table(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,
                                 const td_quant *q, bool bounded)
{
    if (bounded && block == 32 && q->powers && are_usual(by, blocks))
        e2m1_words(dst, row, by, blocks, 32, q, true);
    else if (bounded && block == 16)
        e2m1_words(dst, row, by, blocks, 16, q, false);
    else
        e2m1_64(dst, row, by, blocks, block, q, bounded);
}

TARGET static void floats_vbmi(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,
                               const td_quant *q, bool bounded)
{
    size_t done = 0;
    if (!q->divides && (block == 16 || block == 32 || block % 64 == 0)) {
        done = blocks * block / 64 * 64 / block;
        (q->bits == 4       ? e2m1_by_table
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

/* What a block's elements go by: the inverse of its scale, and what rounds them, a number past all fractions with the
 * zero point in it. */
typedef struct int_rule {
    float inverse[INVERSES], large[INVERSES];
} int_rule;

/* False where an inverse is no normal number, nor 0. */
INLINE bool int_rules(const float *by, const float *zero, size_t blocks, int_rule *r)
{
    unsigned odd = 0;
    for (size_t j = 0; j < blocks; j++) {
        r->inverse[j] = 1 / by[j];
        const float magnitude = fabsf(r->inverse[j]);
        odd |= !((magnitude >= 0x1p-126F) & (magnitude <= 0x1p126F)) & (magnitude != 0);
    }
    for (size_t j = 0; j < blocks; j++)
        r->large[j] = zero ? LARGE + zero[j] : LARGE;
    return !odd;
}

/* As ints_wide, 64 elements at a time: codes are put together in bytes. A zero point that is part of the sum leaves its
 * rounding as it is but for ties, which are close to a half. */
INLINE void ints_64(uint8_t *dst, const float *row, const float *by, const int_rule *r, const float *zero,
                    size_t blocks, const size_t block, const td_quant *q, const bool bounded)
{
    const __m512 most = _mm512_set1_ps(CLAMP), half = _mm512_set1_ps(CLOSE_IN_CLAMP);
    const __m512i low = _mm512_set1_epi8((char)q->low), high = _mm512_set1_epi8((char)q->high),
                  first = _mm512_load_si512(first_bytes);
    const float *const end = q->end;
    const bool stream = streams(dst, q);
    for (size_t at = 0; at < blocks * block; at += 64, row += 64, dst += 64) {
        __m512i sum[4];
        td_prefetch_pages(row, 64 * sizeof *row, end);
        __m512 close = _mm512_setzero_ps();
        for (size_t k = 0; k < 4; k++) {
            const size_t j = (at + 16 * k) / block;
            const __m512 product = _mm512_mul_ps(_mm512_loadu_ps(row + 16 * k), _mm512_set1_ps(r->inverse[j]));
            const __m512 quotient = bounded ? product : _mm512_range_ps(product, most, 2); /* the smaller magnitude */
            const __m512 large = _mm512_set1_ps(r->large[j]), whole = _mm512_add_ps(quotient, large);
            sum[k] = _mm512_castps_si512(whole);
            close = _mm512_range_ps(close, _mm512_sub_ps(quotient, _mm512_sub_ps(whole, large)), 0xb); /* the larger */
        }
        const __m512i code = bytes_of_four(sum, first);
        put_codes(dst, _mm512_min_epi8(_mm512_max_epi8(code, low), high), stream);
        if (_mm512_cmp_ps_mask(close, half, _CMP_NLT_UQ))
            for (size_t k = 0; k < 64; k += block < 64 ? block : 64) {
                const size_t j = (at + k) / block;
                ints_of(dst + k, row + k, by + j, zero ? zero + j : NULL, 1, block < 64 ? block : 64, q);
            }
    }
}

#define INTS_64(size, bounded) ints_64(dst, row, by, &rule, zero, done, size, q, bounded)

INLINE size_t ints_chunk(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks,
                         size_t block, const td_quant *q, bool bounded)
{
    int_rule rule;
    const size_t most = blocks < INVERSES ? blocks : INVERSES, done = most * block / 64 * 64 / block;
    if (!int_rules(by, zero, done, &rule))
        ints_of(dst, row, by, zero, done, block, q);
    else if (block == 32 && bounded)
        INTS_64(32, true);
    else if (block == 16 && bounded)
        INTS_64(16, true);
    else if (block == 128 && bounded)
        INTS_64(128, true);
    else
        INTS_64(block, false);
    return done;
}

TARGET static void ints_vbmi(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks,
                             size_t block, const td_quant *q, bool bounded)
{
    const bool in_bytes = q->high < 64 && (block == 16 || block == 32 || block % 64 == 0);
    size_t done = 0, more = in_bytes && blocks;
    for (; more; done += more)
        more = ints_chunk(dst + done * block, row + done * block, by + done, zero ? zero + done : NULL, blocks - done,
                          block, q, bounded);
    if (done < blocks)
        ints_by_size(dst + done * block, row + done * block, by + done, zero ? zero + done : NULL, blocks - done, block,
                     q);
}

TARGET static void values_vbmi(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks,
                               size_t block, const td_quant *q)
{
    size_t done = 0;
    if (q->bits > 4 && block % 16 == 0 && q->stream && (uintptr_t)dst % 64 == 0)
        done = values_256(dst, codes, by, zero, blocks, block, q, true);
    else if (q->bits > 4 && block % 16 == 0)
        done = values_256(dst, codes, by, zero, blocks, block, q, false);
    if (done < blocks)
        values_by_size(dst + done * block, codes + done * block, by + done, zero ? zero + done : NULL, blocks - done,
                       block, q);
}

void td_quant_init_vbmi(td_quant_kernels *kernels)
{
    *kernels = (td_quant_kernels){floats_vbmi, ints_vbmi, values_vbmi};
}
