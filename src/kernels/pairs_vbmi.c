/* The kernels of 2:4 for AVX-512 VBMI: sets become masks, which close up and spread out lanes of any size. Sets and
 * codes of 128 groups are translated at once, by shuffles of tables of 16. */
#include "kernels/pairs.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2")))
#include "kernels/pairs.inc"

#include "kernels/lanes_vbmi.inc"

#define SETS 64 /* bytes of sets, and of codes, that are translated at once */

INLINE __m512i table_of(const unsigned char *table)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)table));
}

/* Both halves of every byte by a table. */
INLINE __m512i translate(__m512i halves, __m512i table)
{
    const __m512i low = _mm512_set1_epi8(15);
    const __m512i first = _mm512_shuffle_epi8(table, _mm512_and_si512(halves, low)),
                  second = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(halves, 4), low));
    return _mm512_or_si512(first, _mm512_slli_epi16(second, 4)); /* below 16, so nothing leaves its byte */
}

/* As many bits of a set as a vector has elements. */
INLINE uint64_t set_at(const unsigned char *sets, size_t first, const unsigned bytes)
{
    uint64_t set = 0;
    memcpy(&set, sets + first / 8, 8 / bytes);
    return set;
}

#define FLAGS(size)                                                                                                    \
    TARGET static void flags_##size(unsigned char *bits, const unsigned char *src, size_t n, uint64_t own)             \
    {                                                                                                                  \
        const size_t lanes = 512 / (size);                                                                             \
        const __m512i mask = spread_own(own, (size) / 8);                                                              \
        for (; n >= lanes; n -= lanes, src += 64, bits += lanes / 8) {                                                 \
            const uint64_t set = TEST(size, _mm512_loadu_si512(src), mask);                                            \
            memcpy(bits, &set, lanes / 8);                                                                             \
        }                                                                                                              \
        const uint64_t set = TEST(size, LOAD(size, low_bits(n), src), mask);                                           \
        memcpy(bits, &set, (n + 7) / 8);                                                                               \
    }
FLAGS(8)
FLAGS(16)
FLAGS(32)
FLAGS(64)

#define CALL_FLAGS(size, ...) flags_##size(__VA_ARGS__)
TARGET static void flags_vbmi(unsigned char *bits, const void *src, size_t n, unsigned bytes,
                              uint64_t own){SIZES(CALL_FLAGS, , bits, src, n, own)}

/* The element r places on in its group of four, from the first again behind the last. */
INLINE __m512i rotate(__m512i x, const int r, const unsigned bytes)
{
    return bytes == 1 ? _mm512_rorv_epi32(x, _mm512_set1_epi32(8 * r))
                      : _mm512_rorv_epi64(x, _mm512_set1_epi64(16 * r));
}

typedef __mmask64 lanes_of_8;
typedef __mmask32 lanes_of_16;

/* Which lose to the element r places on: it wins by more if it is later in the group, else by as much. */
#define LOSES(size, x, r)                                                                                              \
    (_mm512_mask_cmpgt_epu##size##_mask((lanes_of_##size)(0x1111111111111111ULL * ((1U << (4 - (r))) - 1)),            \
                                        rotate(x, r, (size) / 8), x) |                                                 \
     _mm512_mask_cmpge_epu##size##_mask((lanes_of_##size)(0x1111111111111111ULL * (15U & (15U << (4 - (r))))),         \
                                        rotate(x, r, (size) / 8), x))

/* Of even numbers, those of earlier elements are one more, so that no two are equal: an element is one of the two
 * largest where it is more than the middle one of the three others. Those r places on come out of a shift whose upper
 * half has the ones that are more. */
#define OTHER_8(x, more, r) _mm512_shldi_epi32(more, x, 32 - 8 * (r))
#define OTHER_16(x, more, r) _mm512_shldi_epi64(more, x, 64 - 16 * (r))
#define MIDDLE(size, a, b, c)                                                                                          \
    _mm512_max_epu##size(_mm512_min_epu##size(a, b), _mm512_min_epu##size(c, _mm512_max_epu##size(a, b)))

#define LARGEST(size)                                                                                                  \
    INLINE uint64_t two_of_##size(__m512i x)                                                                           \
    {                                                                                                                  \
        const uint64_t a = LOSES(size, x, 1), b = LOSES(size, x, 2), c = LOSES(size, x, 3);                            \
        return TEST(size, x, x) & ~((a & b) | (c & (a | b)));                                                          \
    }                                                                                                                  \
    INLINE uint64_t two_of_even_##size(__m512i x, __m512i one)                                                         \
    {                                                                                                                  \
        const __m512i more = _mm512_or_si512(x, one), a = OTHER_##size(x, more, 1), b = OTHER_##size(x, more, 2),      \
                      c = OTHER_##size(x, more, 3);                                                                    \
        return _mm512_cmpge_epu##size##_mask(x, _mm512_max_epu##size(MIDDLE(size, a, b, c), one));                     \
    }                                                                                                                  \
    TARGET static void largest_##size(unsigned char *bits, const unsigned char *src, size_t n, uint64_t own)           \
    {                                                                                                                  \
        const size_t lanes = 512 / (size);                                                                             \
        const __m512i mask = spread_own(own, (size) / 8), one = spread_own(1, (size) / 8);                             \
        const bool doubles = !(own >> ((size)-1) & 1);                                                                 \
        for (; doubles && n >= lanes; n -= lanes, src += 64, bits += lanes / 8) {                                      \
            const __m512i x = _mm512_and_si512(_mm512_loadu_si512(src), mask);                                         \
            const uint64_t set = two_of_even_##size(DOUBLE(size, x), one);                                             \
            memcpy(bits, &set, lanes / 8);                                                                             \
        }                                                                                                              \
        for (; n; src += 64, bits += lanes / 8) {                                                                      \
            const size_t here = n < lanes ? n : lanes;                                                                 \
            const uint64_t set = two_of_##size(_mm512_and_si512(LOAD(size, low_bits(here), src), mask));               \
            memcpy(bits, &set, (here + 7) / 8);                                                                        \
            n -= here;                                                                                                 \
        }                                                                                                              \
    }
#define DOUBLE_8(x) _mm512_add_epi8(x, x)
#define DOUBLE_16(x) _mm512_add_epi16(x, x)
#define DOUBLE(bits, x) DOUBLE_##bits(x)
LARGEST(8)
LARGEST(16)

TARGET static void largest_vbmi(unsigned char *bits, const void *src, size_t n, unsigned bytes, uint64_t own)
{
    if (bytes == 1)
        largest_8(bits, src, n, own);
    else if (bytes == 2)
        largest_16(bits, src, n, own);
    else
        largest_rows(bits, src, n, bytes, own);
}

/* Sets of four, three or none of them too many. */
static const unsigned char is_crowded[16] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 1};

TARGET static bool crowded_vbmi(const unsigned char *bits, size_t n)
{
    const __m512i crowd = table_of(is_crowded);
    __m512i any = _mm512_setzero_si512();
    for (size_t left = (n + 7) / 8; left; bits += SETS) {
        const size_t here = left < SETS ? left : SETS;
        any = _mm512_or_si512(any, translate(_mm512_maskz_loadu_epi8(low_bits(here), bits), crowd));
        left -= here;
    }
    return _mm512_test_epi8_mask(any, any) != 0;
}

#define MANY (8 * (size_t)SETS) /* translated before the first is used: what is read back at once is waited for */

/* Sets to the pairs that are kept, and to codes. */
INLINE void translate_sets(unsigned char *pairs, unsigned char *codes, const unsigned char *bits, size_t bytes,
                           const td_pairs_table *table)
{
    const __m512i code = table_of(table->code), kept = table_of(table->kept);
    for (size_t i = 0; i < bytes; i += SETS) {
        const __mmask64 used = low_bits(bytes - i);
        const __m512i set = _mm512_maskz_loadu_epi8(used, bits + i);
        _mm512_mask_storeu_epi8(codes + i, used, translate(set, code));
        _mm512_store_si512(pairs + i, translate(set, kept));
    }
}

#define CLOSE_ALL(size)                                                                                                \
    TARGET static void close_##size(unsigned char *dst, unsigned char *codes, const unsigned char *src,                \
                                    const unsigned char *bits, const td_pairs_table *table, size_t n)                  \
    {                                                                                                                  \
        const size_t lanes = 512 / (size);                                                                             \
        unsigned char pairs[MANY] __attribute__((aligned(64)));                                                        \
        for (size_t first = 0; first < n; first += 8 * MANY) {                                                         \
            const size_t here = n - first < 8 * MANY ? n - first : 8 * MANY;                                           \
            const unsigned char *sets = bits + first / 8;                                                              \
            translate_sets(pairs, codes + first / 8, sets, (here + 7) / 8, table);                                     \
            size_t i = 0;                                                                                              \
            for (; i + lanes <= here; i += lanes, src += 64, dst += 32) {                                              \
                const __m512i x = LOAD(size, set_at(sets, i, (size) / 8), src);                                        \
                const __m512i two = CLOSE(size, set_at(pairs, i, (size) / 8), x);                                      \
                _mm256_storeu_si256((__m256i *)(void *)dst, _mm512_castsi512_si256(two));                              \
            }                                                                                                          \
            if (i < here) {                                                                                            \
                uint64_t set = 0;                                                                                      \
                memcpy(&set, sets + i / 8, (here - i + 7) / 8);                                                        \
                const __m512i x = LOAD(size, set & low_bits(here - i), src);                                           \
                const __m512i two = CLOSE(size, set_at(pairs, i, (size) / 8), x);                                      \
                STORE(size, dst, low_bits((here - i) / 2), two);                                                       \
            }                                                                                                          \
        }                                                                                                              \
        if (n % 8)                                                                                                     \
            codes[n / 8] &= 15;                                                                                        \
    }
CLOSE_ALL(8)
CLOSE_ALL(16)
CLOSE_ALL(32)
CLOSE_ALL(64)

#define CALL_CLOSE(size, ...) close_##size(__VA_ARGS__)
TARGET static void close_vbmi(void *dst, unsigned char *codes, const void *src, const unsigned char *bits,
                              const td_pairs_table *table, size_t n, unsigned bytes)
{
    SIZES(CALL_CLOSE, , dst, codes, src, bits, table, n)
}

/* Of codes whose places ascend the set, of all others nothing. */
static const unsigned char set_of_code[16] = {0, 0, 0, 0, 3, 0, 0, 0, 5, 6, 0, 0, 9, 10, 12, 0};

/* Codes to sets; of those whose places do not ascend some are 0, in halves that are used. */
INLINE bool translate_codes(unsigned char *pairs, const unsigned char *codes, size_t groups)
{
    const __m512i kept = table_of(set_of_code), low = _mm512_set1_epi8(15), high = _mm512_set1_epi8((char)0xf0);
    __mmask64 wrong = 0;
    for (size_t i = 0; i < (groups + 1) / 2; i += SETS) {
        const __mmask64 whole = low_bits(groups / 2 - i), used = low_bits((groups + 1) / 2 - i);
        const __m512i set = translate(_mm512_maskz_loadu_epi8(used, codes + i), kept);
        wrong |= _mm512_mask_testn_epi8_mask(used, set, low) | _mm512_mask_testn_epi8_mask(whole, set, high);
        _mm512_store_si512(pairs + i, set);
    }
    return wrong != 0;
}

#define OPEN_ALL(size)                                                                                                 \
    TARGET static bool open_##size(unsigned char *dst, const unsigned char *src, const unsigned char *codes, size_t n) \
    {                                                                                                                  \
        const size_t lanes = 512 / (size);                                                                             \
        unsigned char pairs[MANY] __attribute__((aligned(64)));                                                        \
        bool wrong = false;                                                                                            \
        for (size_t first = 0; first < n; first += 8 * MANY) {                                                         \
            const size_t here = n - first < 8 * MANY ? n - first : 8 * MANY;                                           \
            wrong |= translate_codes(pairs, codes + first / 8, here / 4);                                              \
            size_t i = 0;                                                                                              \
            for (; i + lanes <= here; i += lanes, src += 32, dst += 64) {                                              \
                const __m512i x = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)src));      \
                _mm512_storeu_si512(dst, OPEN(size, set_at(pairs, i, (size) / 8), x));                                 \
            }                                                                                                          \
            if (i < here) {                                                                                            \
                const size_t left = here - i;                                                                          \
                const __m512i x = LOAD(size, low_bits(left / 2), src);                                                 \
                STORE(size, dst, low_bits(left), OPEN(size, set_at(pairs, i, (size) / 8), x));                         \
            }                                                                                                          \
        }                                                                                                              \
        return !wrong;                                                                                                 \
    }
OPEN_ALL(8)
OPEN_ALL(16)
OPEN_ALL(32)
OPEN_ALL(64)

#define CALL_OPEN(size, ...) open_##size(__VA_ARGS__)
TARGET static bool open_vbmi(void *dst, const void *src, const unsigned char *codes, size_t n, unsigned bytes)
{
    SIZES(CALL_OPEN, return, dst, src, codes, n)
}

void td_pairs_init_vbmi(td_pairs_kernels *kernels)
{
    *kernels = (td_pairs_kernels){flags_vbmi, largest_vbmi, crowded_vbmi, close_vbmi, open_vbmi};
}
