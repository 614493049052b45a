/* The kernels of sparse tensors for AVX2: eight elements at a time are closed up, or spread out, by a shuffle whose
 * places a table gives for every set of eight; the compiler's vectors for the rest. */
#define OWN_MOVES
#include "kernels/keep.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#include "kernels/keep.inc"

#define ALL 0xffU
#define EACH 0x0101010101010101U

#include "kernels/keep_places.inc"

/* -- eight elements -- */

INLINE uint64_t eight_at(const unsigned char *src)
{
    uint64_t eight;
    memcpy(&eight, src, sizeof eight);
    return eight;
}

INLINE __m128i places_4(const uint64_t *places)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)places);
}

/* Places of 2-byte elements as those of their bytes; one from 0x80 on stays none. */
INLINE __m128i places_2(const uint64_t *places)
{
    const __m128i once = places_4(places), twice = _mm_adds_epu8(once, once);
    return _mm_unpacklo_epi8(twice, _mm_or_si128(twice, _mm_set1_epi8(1)));
}

/* The elements of src that the byte has to the front of dst, where eight have room. */
INLINE void keep_eight(unsigned char *dst, const unsigned char *src, size_t set, const unsigned bytes)
{
    if (bytes == 1) {
        const uint64_t kept = _pext_u64(eight_at(src), _pdep_u64(set, EACH) * ALL);
        memcpy(dst, &kept, sizeof kept);
    } else if (bytes == 2) {
        const __m128i elems = _mm_loadu_si128((const __m128i *)(const void *)src);
        _mm_storeu_si128((__m128i *)(void *)dst, _mm_shuffle_epi8(elems, places_2(keep_places + set)));
    } else {
        const __m256i elems = _mm256_loadu_si256((const __m256i *)(const void *)src),
                      at = _mm256_cvtepu8_epi32(places_4(keep_places + set));
        _mm256_storeu_si256((__m256i *)(void *)dst, _mm256_permutevar8x32_epi32(elems, at));
    }
}

/* 64 elements at a time: what they are written over may be the set, as far as the compiler knows. */
INLINE size_t keep_eights(unsigned char *dst, size_t room, const unsigned char *src, const unsigned char *set, size_t n,
                          const unsigned bytes)
{
    size_t kept = 0, i = 0;
    for (; i + 64 <= n && kept + 64 <= room; i += 64) {
        uint64_t sets = eight_at(set + i / 8);
        for (size_t k = 0; k < 64; k += 8, sets >>= 8) {
            keep_eight(dst + kept * bytes, src + (i + k) * bytes, sets & ALL, bytes);
            kept += (size_t)__builtin_popcountll(sets & ALL);
        }
    }
    for (; i + 8 <= n && kept + 8 <= room; i += 8) {
        const size_t some = set[i / 8];
        keep_eight(dst + kept * bytes, src + i * bytes, some, bytes);
        kept += (size_t)__builtin_popcountll(some);
    }
    return kept + keep_of(dst + kept * bytes, room - kept, src + i * bytes, set + i / 8, n - i, bytes);
}

/* The first elements of src to those of dst that the byte has; the others become 0. Eight are read. */
INLINE void spread_eight(unsigned char *dst, const unsigned char *src, size_t set, const unsigned bytes)
{
    if (bytes == 1) {
        const uint64_t spread = _pdep_u64(eight_at(src), _pdep_u64(set, EACH) * ALL);
        memcpy(dst, &spread, sizeof spread);
    } else if (bytes == 2) {
        const __m128i elems = _mm_loadu_si128((const __m128i *)(const void *)src);
        _mm_storeu_si128((__m128i *)(void *)dst, _mm_shuffle_epi8(elems, places_2(spread_places + set)));
    } else {
        const __m256i elems = _mm256_loadu_si256((const __m256i *)(const void *)src),
                      at = _mm256_cvtepi8_epi32(places_4(spread_places + set)),
                      each = _mm256_permutevar8x32_epi32(elems, at);
        _mm256_storeu_si256((__m256i *)(void *)dst, _mm256_andnot_si256(_mm256_srai_epi32(at, 31), each));
    }
}

INLINE size_t spread_eights(unsigned char *dst, const unsigned char *src, size_t room, const unsigned char *set,
                            size_t n, const unsigned bytes)
{
    size_t taken = 0, i = 0;
    for (; i + 64 <= n && taken + 64 <= room; i += 64) {
        uint64_t sets = eight_at(set + i / 8);
        for (size_t k = 0; k < 64; k += 8, sets >>= 8) {
            spread_eight(dst + (i + k) * bytes, src + taken * bytes, sets & ALL, bytes);
            taken += (size_t)__builtin_popcountll(sets & ALL);
        }
    }
    for (; i + 8 <= n && taken + 8 <= room; i += 8) {
        const size_t some = set[i / 8];
        spread_eight(dst + i * bytes, src + taken * bytes, some, bytes);
        taken += (size_t)__builtin_popcountll(some);
    }
    return taken + spread_of(dst + i * bytes, src + taken * bytes, room - taken, set + i / 8, n - i, bytes);
}

/* -- sets -- */

INLINE __m256i load(const unsigned char *src)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)src);
}

/* All ones for the zeros among 32 bytes. */
INLINE __m256i zeros_at(const unsigned char *src, __m256i own, const unsigned bytes)
{
    const __m256i all = _mm256_and_si256(load(src), own), zero = _mm256_setzero_si256();
    return bytes == 1   ? _mm256_cmpeq_epi8(all, zero)
           : bytes == 2 ? _mm256_cmpeq_epi16(all, zero)
                        : _mm256_cmpeq_epi32(all, zero);
}

/* Of 32 elements, a byte each. */
INLINE __m256i zeros_32(const unsigned char *src, __m256i own, const unsigned bytes)
{
    if (bytes == 1)
        return zeros_at(src, own, 1);
    if (bytes == 2)
        return _mm256_permute4x64_epi64(_mm256_packs_epi16(zeros_at(src, own, 2), zeros_at(src + 32, own, 2)), 0xd8);
    const __m256i low = _mm256_packs_epi32(zeros_at(src, own, 4), zeros_at(src + 32, own, 4)),
                  high = _mm256_packs_epi32(zeros_at(src + 64, own, 4), zeros_at(src + 96, own, 4));
    return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

INLINE size_t bits_32(unsigned char *set, const unsigned char *src, size_t n, uint64_t own, const unsigned bytes)
{
    const __m256i mask = bytes == 1   ? _mm256_set1_epi8((char)own)
                         : bytes == 2 ? _mm256_set1_epi16((short)own)
                                      : _mm256_set1_epi32((int)own);
    size_t i = 0, count = 0;
    for (; i + 32 <= n; i += 32) {
        const uint32_t some = ~(uint32_t)_mm256_movemask_epi8(zeros_32(src + i * bytes, mask, bytes));
        memcpy(set + i / 8, &some, sizeof some);
        count += (size_t)__builtin_popcount(some);
    }
    return count + bits_rows(set + i / 8, src + i * bytes, n - i, bytes, own);
}

TARGET static size_t bits_avx2(unsigned char *set, const void *src, size_t n, unsigned bytes, uint64_t own)
{
    switch (bytes) {
    case 1:
        return bits_32(set, src, n, own, 1);
    case 2:
        return bits_32(set, src, n, own, 2);
    case 4:
        return bits_32(set, src, n, own, 4);
    default:
        return bits_rows(set, src, n, 8, own);
    }
}

/* Each byte of the set to eight bytes, which look at a bit each. */
TARGET static void ones_avx2(unsigned char *flags, const unsigned char *set, size_t n)
{
    const __m256i byte = _mm256_setr_epi64x(0, EACH, 2 * EACH, 3 * EACH), one = _mm256_set1_epi8(1),
                  bit = _mm256_set1_epi64x((long long)0x8040201008040201U);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        int32_t four;
        memcpy(&four, set + i / 8, sizeof four);
        const __m256i own = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(four), byte), bit);
        _mm256_storeu_si256((__m256i *)(void *)(flags + i), _mm256_min_epu8(own, one));
    }
    ones_rows(flags + i, set + i / 8, n - i);
}

TARGET static size_t keep_avx2(void *dst, size_t room, const void *src, const unsigned char *set, size_t n,
                               unsigned bytes)
{
    switch (bytes) {
    case 1:
        return keep_eights(dst, room, src, set, n, 1);
    case 2:
        return keep_eights(dst, room, src, set, n, 2);
    case 4:
        return keep_eights(dst, room, src, set, n, 4);
    default:
        return keep_of(dst, room, src, set, n, 8);
    }
}

TARGET static size_t spread_avx2(void *dst, const void *src, size_t room, const unsigned char *set, size_t n,
                                 unsigned bytes)
{
    switch (bytes) {
    case 1:
        return spread_eights(dst, src, room, set, n, 1);
    case 2:
        return spread_eights(dst, src, room, set, n, 2);
    case 4:
        return spread_eights(dst, src, room, set, n, 4);
    default:
        return spread_of(dst, src, room, set, n, 8);
    }
}

TARGET static uint64_t count_avx2(const unsigned char *flags, size_t n)
{
    __m256i sum = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i ones = _mm256_loadu_si256((const __m256i *)(const void *)(flags + i));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(ones, _mm256_setzero_si256()));
    }
    uint64_t four[4];
    memcpy(four, &sum, sizeof four);
    return four[0] + four[1] + four[2] + four[3] + count_rows(flags + i, n - i);
}

void td_keep_init_avx2(td_keep_kernels *kernels)
{
    *kernels =
        (td_keep_kernels){flags_rows, bits_avx2, ones_avx2, count_avx2, keep_avx2, spread_avx2, most_rows, total_rows};
}
