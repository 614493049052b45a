/* The kernels of 2:4 for AVX2: elements of 2 bytes, eight of which are closed up by one shuffle; the compiler's vectors
 * for the rest. */
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

TARGET static void largest_avx2(unsigned char *bits, const void *src, size_t n, unsigned bytes, uint64_t own)
{
    largest_rows(bits, src, n, bytes, own);
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

TARGET static bool open_avx2(void *dst, const void *src, const unsigned char *codes, size_t n, unsigned bytes)
{
    return open_rows(dst, src, codes, n, bytes);
}

void td_pairs_init_avx2(td_pairs_kernels *kernels)
{
    *kernels = (td_pairs_kernels){flags_avx2, largest_avx2, crowded_rows, close_avx2, open_avx2};
}
