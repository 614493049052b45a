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

INLINE __m128i close_8(const unsigned char *src, size_t sets, const td_pairs_table *table)
{
    const __m128i by = _mm_loadl_epi64((const __m128i *)(const void *)table->shuffle[sets]),
                  elems = _mm_loadu_si128((const __m128i *)(const void *)src);
    return _mm_shuffle_epi8(elems, by);
}

/* 64 elements of 2 bytes; what they are written over may be the sets, as far as the compiler knows, so that all of
 * those are read first. */
INLINE void close_64(unsigned char *dst, unsigned char *codes, const unsigned char *src, const unsigned char *bits,
                     const td_pairs_table *table)
{
    uint64_t sets, all = 0;
    memcpy(&sets, bits, sizeof sets);
    for (size_t k = 0; k < 4; k++, src += 32, dst += 16) {
        const size_t first = sets >> 16 * k & 0xff, second = sets >> (16 * k + 8) & 0xff;
        const __m128i kept = _mm_unpacklo_epi64(close_8(src, first, table), close_8(src + 16, second, table));
        _mm_storeu_si128((__m128i *)(void *)dst, kept);
        all |= (uint64_t)(table->codes[first] | (unsigned)table->codes[second] << 8) << 16 * k;
    }
    memcpy(codes, &all, sizeof all);
}

TARGET static void close_avx2(void *dst, unsigned char *codes, const void *src, const unsigned char *bits,
                              const td_pairs_table *table, size_t n, unsigned bytes)
{
    unsigned char *to = dst;
    const unsigned char *at = src;
    size_t i = 0;
    for (; bytes == 2 && i + 64 <= n; i += 64, at += 128, to += 64)
        close_64(to, codes + i / 8, at, bits + i / 8, table);
    for (; bytes == 2 && i + 8 <= n; i += 8, at += 16, to += 8) {
        const unsigned char sets = bits[i / 8];
        _mm_storel_epi64((__m128i *)(void *)to, close_8(at, sets, table));
        codes[i / 8] = table->codes[sets];
    }
    close_rows(to, codes + i / 8, at, bits + i / 8, table, n - i, bytes);
}

/* Four groups of 2-byte elements, whose codes are the quarters of a word: where a group's part of the word, the first
 * place or the second, is that of an element, the element is its value. */
INLINE __m256i open_16(__m128i values, uint16_t codes)
{
    const __m256i all = _mm256_set1_epi16((short)codes);
    const __m256i first = _mm256_setr_epi64x(0x0003000200010000, 0x0030002000100000, 0x0300020001000000,
                                             0x3000200010000000),
                  in_first = _mm256_setr_epi64x(0x0003000300030003, 0x0030003000300030, 0x0300030003000300,
                                                0x3000300030003000);
    const __m256i at_first = _mm256_cmpeq_epi16(_mm256_and_si256(all, in_first), first),
                  at_second = _mm256_cmpeq_epi16(_mm256_and_si256(all, _mm256_slli_epi16(in_first, 2)),
                                                 _mm256_slli_epi16(first, 2));
    const __m256i each = _mm256_permute4x64_epi64(_mm256_castsi128_si256(values), 0x50);
    const __m256i even =
        _mm256_setr_epi64x(0x0100010001000100, 0x0504050405040504, 0x0100010001000100, 0x0504050405040504);
    const __m256i odd = _mm256_or_si256(even, _mm256_set1_epi8(2));
    return _mm256_or_si256(_mm256_and_si256(_mm256_shuffle_epi8(each, even), at_first),
                           _mm256_and_si256(_mm256_shuffle_epi8(each, odd), at_second));
}

/* Whether the places of some code do not ascend. */
TARGET static bool has_wrong(const unsigned char *codes, size_t bytes)
{
    unsigned char wrong = 0;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char low = codes[i] & 0x33, high = codes[i] >> 2 & 0x33;
        wrong |= (unsigned char)(((high & 3) <= (low & 3)) | ((high & 0x30) <= (low & 0x30)));
    }
    return wrong;
}

TARGET static bool open_avx2(void *dst, const void *src, const unsigned char *codes, size_t n, unsigned bytes)
{
    unsigned char *to = dst;
    const unsigned char *at = src;
    size_t i = 0;
    for (; bytes == 2 && i + 16 <= n; i += 16, at += 16, to += 32) {
        uint16_t four;
        memcpy(&four, codes + i / 8, sizeof four);
        _mm256_storeu_si256((__m256i *)(void *)to, open_16(_mm_loadu_si128((const __m128i *)(const void *)at), four));
    }
    return open_rows(to, at, codes + i / 8, n - i, bytes) && !has_wrong(codes, i / 8);
}

void td_pairs_init_avx2(td_pairs_kernels *kernels)
{
    *kernels = (td_pairs_kernels){flags_avx2, largest_avx2, crowded_rows, close_avx2, open_avx2};
}
