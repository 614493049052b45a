/* The kernels of sparse tensors for AVX-512, which closes up and spreads out lanes of 4 bytes itself. */
#include "kernels/keep.h"
#include "kernels/prefetch.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,popcnt")))
#define OWN_MOVES
#include "kernels/keep.inc"

/* 16 elements at a time, in lanes of 4 bytes. */
INLINE __m512i get_16(const unsigned char *src, const unsigned bytes)
{
    if (bytes == 1)
        return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)src));
    if (bytes == 2)
        return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)src));
    return _mm512_loadu_si512(src);
}

INLINE void put_16(unsigned char *dst, __m512i all, const unsigned bytes)
{
    if (bytes == 1)
        _mm_storeu_si128((__m128i *)(void *)dst, _mm512_cvtepi32_epi8(all));
    else if (bytes == 2)
        _mm256_storeu_si256((__m256i *)(void *)dst, _mm512_cvtepi32_epi16(all));
    else
        _mm512_storeu_si512(dst, all);
}

INLINE __mmask16 mask_16(const unsigned char *set, size_t i)
{
    uint16_t mask;
    memcpy(&mask, set + i / 8, sizeof mask);
    return (__mmask16)mask;
}

/* What would pass the room goes element by element. */
INLINE size_t keep_16(unsigned char *dst, size_t room, const unsigned char *src, const unsigned char *set, size_t n,
                      const unsigned bytes)
{
    size_t kept = 0, i = 0;
    for (; i + 16 <= n && room - kept >= 16; i += 16) {
        const __mmask16 mask = mask_16(set, i);
        put_16(dst + kept * bytes, _mm512_maskz_compress_epi32(mask, get_16(src + i * bytes, bytes)), bytes);
        kept += (size_t)__builtin_popcount(mask);
    }
    return kept + keep_of(dst + kept * bytes, room - kept, src + i * bytes, set + i / 8, n - i, bytes);
}

INLINE size_t spread_16(unsigned char *dst, const unsigned char *src, size_t room, const unsigned char *set, size_t n,
                        const unsigned bytes)
{
    size_t taken = 0, i = 0;
    for (; i + 16 <= n && room - taken >= 16; i += 16) {
        const __mmask16 mask = mask_16(set, i);
        /* What is read goes on by uneven steps across lines, which the processor's own prefetching does not follow. */
        __builtin_prefetch(src + taken * bytes + TD_PREFETCH_BYTES, 0, 3);
        put_16(dst + i * bytes, _mm512_maskz_expand_epi32(mask, get_16(src + taken * bytes, bytes)), bytes);
        taken += (size_t)__builtin_popcount(mask);
    }
    return taken + spread_of(dst + i * bytes, src + taken * bytes, room - taken, set + i / 8, n - i, bytes);
}

TARGET static size_t keep_wide(void *dst, size_t room, const void *src, const unsigned char *set, size_t n,
                               unsigned bytes)
{
    switch (bytes) {
    case 1:
        return keep_16(dst, room, src, set, n, 1);
    case 2:
        return keep_16(dst, room, src, set, n, 2);
    case 4:
        return keep_16(dst, room, src, set, n, 4);
    default:
        return keep_of(dst, room, src, set, n, 8);
    }
}

TARGET static size_t spread_wide(void *dst, const void *src, size_t room, const unsigned char *set, size_t n,
                                 unsigned bytes)
{
    switch (bytes) {
    case 1:
        return spread_16(dst, src, room, set, n, 1);
    case 2:
        return spread_16(dst, src, room, set, n, 2);
    case 4:
        return spread_16(dst, src, room, set, n, 4);
    default:
        return spread_of(dst, src, room, set, n, 8);
    }
}

/* 64 elements of 1 byte, 32 of 2 or 16 of 4 at a time are bits of a mask. */
TARGET static size_t bits_wide(unsigned char *set, const void *src, size_t n, unsigned bytes, uint64_t own)
{
    const unsigned char *at = src;
    const size_t step = 64 / bytes;
    const __m512i own_1 = _mm512_set1_epi8((char)own), own_2 = _mm512_set1_epi16((short)own),
                  own_4 = _mm512_set1_epi32((int)own);
    size_t i = 0, count = 0;
    for (; bytes <= 4 && i + step <= n; i += step, at += 64) {
        const __m512i all = _mm512_loadu_si512(at);
        const uint64_t mask = bytes == 1   ? _mm512_test_epi8_mask(all, own_1)
                              : bytes == 2 ? _mm512_test_epi16_mask(all, own_2)
                                           : _mm512_test_epi32_mask(all, own_4);
        memcpy(set + i / 8, &mask, step / 8);
        count += (size_t)__builtin_popcountll(mask);
    }
    return count + bits_rows(set + i / 8, at, n - i, bytes, own);
}

TARGET static void ones_wide(unsigned char *flags, const unsigned char *set, size_t n)
{
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        uint64_t mask;
        memcpy(&mask, set + i / 8, sizeof mask);
        _mm512_storeu_si512(flags + i, _mm512_maskz_set1_epi8(mask, 1));
    }
    ones_rows(flags + i, set + i / 8, n - i);
}

void td_keep_init_avx512(td_keep_kernels *kernels)
{
    *kernels =
        (td_keep_kernels){flags_rows, bits_wide, ones_wide, count_rows, keep_wide, spread_wide, most_rows, total_rows};
}
