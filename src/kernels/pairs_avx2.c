/* The kernels of 2:4 for AVX2: elements of 2 bytes, eight of which are closed up or opened by one shuffle; the
 * compiler's vectors for the rest. */
#include "kernels/pairs.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2")))
#include "kernels/pairs.inc"

INLINE __m256i load(const unsigned char *src)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)src);
}

TARGET static void flags_avx2(unsigned char *bits, const void *src, size_t n, unsigned bytes, uint64_t own)
{
    const unsigned char *at = src;
    size_t i = 0;
    if (bytes == 2) {
        const __m256i mask = _mm256_set1_epi16((short)own), zero = _mm256_setzero_si256();
        for (; i + 32 <= n; i += 32, at += 64) {
            const __m256i low = _mm256_cmpeq_epi16(_mm256_and_si256(load(at), mask), zero),
                          high = _mm256_cmpeq_epi16(_mm256_and_si256(load(at + 32), mask), zero),
                          all = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);
            const uint32_t set = ~(uint32_t)_mm256_movemask_epi8(all);
            memcpy(bits + i / 8, &set, sizeof set);
        }
    }
    flags_rows(bits + i / 8, at, n - i, bytes, own);
}

/* Four groups: every element against the others of its group, which come by in three turns. It loses to an earlier one
 * that is as large, that is, larger than itself less 1. All ones for those that lose once at most and are not 0. */
INLINE __m256i largest_16(__m256i elems, __m256i own)
{
    const __m256i me = _mm256_and_si256(elems, own);
    const __m256i by_1 = _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(me, 0x39), 0x39),
                  by_2 = _mm256_shuffle_epi32(me, 0xb1),
                  by_3 = _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(me, 0x93), 0x93);
    const __m256i less_1 = _mm256_set1_epi64x(0x0001000000000000), less_2 = _mm256_set1_epi64x(0x0001000100000000),
                  less_3 = _mm256_set1_epi64x(0x0001000100010000);
    const __m256i lost = _mm256_add_epi16(_mm256_cmpgt_epi16(by_1, _mm256_sub_epi16(me, less_1)),
                                          _mm256_add_epi16(_mm256_cmpgt_epi16(by_2, _mm256_sub_epi16(me, less_2)),
                                                           _mm256_cmpgt_epi16(by_3, _mm256_sub_epi16(me, less_3))));
    const __m256i is_kept = _mm256_cmpgt_epi16(lost, _mm256_set1_epi16(-2));
    return _mm256_and_si256(is_kept, _mm256_cmpgt_epi16(me, _mm256_setzero_si256()));
}

TARGET static void largest_avx2(unsigned char *bits, const void *src, size_t n, unsigned bytes, uint64_t own)
{
    const unsigned char *at = src;
    size_t i = 0;
    if (bytes == 2 && own <= 0x7fff) { /* positive as signed numbers */
        const __m256i mask = _mm256_set1_epi16((short)own);
        for (; i + 32 <= n; i += 32, at += 64) {
            const __m256i all = _mm256_packs_epi16(largest_16(load(at), mask), largest_16(load(at + 32), mask));
            const uint32_t set = (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(all, 0xd8));
            memcpy(bits + i / 8, &set, sizeof set);
        }
    }
    largest_rows(bits + i / 8, at, n - i, bytes, own);
}

TARGET static void close_avx2(void *dst, unsigned char *codes, const void *src, const unsigned char *bits,
                              const td_pairs_table *table, size_t n, unsigned bytes)
{
    unsigned char *to = dst;
    const unsigned char *at = src;
    size_t i = 0;
    if (bytes == 2)
        for (; i + 8 <= n; i += 8, at += 16, to += 8) {
            const unsigned char sets = bits[i / 8];
            const __m128i by = _mm_loadl_epi64((const __m128i *)(const void *)table->shuffle[sets]),
                          elems = _mm_loadu_si128((const __m128i *)(const void *)at);
            _mm_storel_epi64((__m128i *)(void *)to, _mm_shuffle_epi8(elems, by));
            codes[i / 8] = table->codes[sets];
        }
    close_rows(to, codes + i / 8, at, bits + i / 8, table, n - i, bytes);
}

/* Two groups of 2-byte elements by their codes: eight places, of which those that are in the set take the next of four
 * values; the others become 0. */
INLINE __m128i open_eight(__m128i values, unsigned set)
{
    const uint64_t places = 0x0706050403020100U, own = _pdep_u64(set, 0x0101010101010101U) * 0xff,
                   at = _pdep_u64(places, own) | ~own;
    const __m128i twice = _mm_cvtsi64_si128((long long)at), even = _mm_add_epi8(twice, twice);
    return _mm_shuffle_epi8(values, _mm_unpacklo_epi8(even, _mm_or_si128(even, _mm_set1_epi8(1))));
}

TARGET static bool open_avx2(void *dst, const void *src, const unsigned char *codes, size_t n, unsigned bytes)
{
    unsigned char *to = dst;
    const unsigned char *at = src;
    size_t i = 0;
    unsigned wrong = 0;
    for (; bytes == 2 && i + 8 <= n; i += 8, at += 8, to += 16) {
        const unsigned code = codes[i / 8], a = code & 3, b = code >> 2 & 3, c = code >> 4 & 3, d = code >> 6;
        wrong |= (unsigned)(b <= a) | (unsigned)(d <= c);
        _mm_storeu_si128((__m128i *)(void *)to, open_eight(_mm_loadl_epi64((const __m128i *)(const void *)at),
                                                           1U << a | 1U << b | 16U << c | 16U << d));
    }
    return open_rows(to, at, codes + i / 8, n - i, bytes) && !wrong;
}

void td_pairs_init_avx2(td_pairs_kernels *kernels)
{
    *kernels = (td_pairs_kernels){flags_avx2, largest_avx2, crowded_rows, close_avx2, open_avx2};
}
