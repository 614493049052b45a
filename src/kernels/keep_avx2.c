/* The kernels of sparse tensors for AVX2: eight elements at a time are closed up, or spread out, by a shuffle whose
 * places the flags themselves give; the compiler's vectors for the rest. */
#define OWN_MOVES
#include "kernels/keep.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#include "kernels/keep.inc"

#define PLACES 0x0706050403020100U /* of eight elements, a byte each */
#define ALL 0xffU

INLINE uint64_t eight_at(const unsigned char *src)
{
    uint64_t eight;
    memcpy(&eight, src, sizeof eight);
    return eight;
}

/* Places of 2-byte elements as those of their bytes; one from 0x80 on is none. */
INLINE __m128i byte_places(uint64_t places)
{
    const uint64_t doubled = places + places;
    const __m128i twice = _mm_cvtsi64_si128((long long)doubled);
    return _mm_unpacklo_epi8(twice, _mm_or_si128(twice, _mm_set1_epi8(1)));
}

/* The elements of src whose byte in `set` is ALL to the front of dst, where eight have room. */
INLINE void keep_eight(unsigned char *dst, const unsigned char *src, uint64_t set, const unsigned bytes)
{
    const uint64_t places = _pext_u64(PLACES, set);
    if (bytes == 1) {
        const uint64_t kept = _pext_u64(eight_at(src), set);
        memcpy(dst, &kept, sizeof kept);
    } else if (bytes == 2) {
        const __m128i elems = _mm_loadu_si128((const __m128i *)(const void *)src);
        _mm_storeu_si128((__m128i *)(void *)dst, _mm_shuffle_epi8(elems, byte_places(places)));
    } else {
        const __m256i elems = _mm256_loadu_si256((const __m256i *)(const void *)src),
                      at = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)places));
        _mm256_storeu_si256((__m256i *)(void *)dst, _mm256_permutevar8x32_epi32(elems, at));
    }
}

INLINE size_t keep_eights(unsigned char *dst, size_t room, const unsigned char *src, const unsigned char *flags,
                          size_t n, const unsigned bytes)
{
    size_t kept = 0, i = 0;
    for (; i + 8 <= n && kept + 8 <= room; i += 8) {
        const uint64_t ones = eight_at(flags + i);
        keep_eight(dst + kept * bytes, src + i * bytes, ones * ALL, bytes);
        kept += (size_t)__builtin_popcountll(ones);
    }
    return kept + keep_of(dst + kept * bytes, room - kept, src + i * bytes, flags + i, n - i, bytes);
}

/* The first elements of src to those of dst whose byte in `set` is ALL; the others become 0. Eight are read. */
INLINE void spread_eight(unsigned char *dst, const unsigned char *src, uint64_t set, const unsigned bytes)
{
    const uint64_t places = _pdep_u64(PLACES, set), others = ~set;
    if (bytes == 1) {
        const uint64_t spread = _pdep_u64(eight_at(src), set);
        memcpy(dst, &spread, sizeof spread);
    } else if (bytes == 2) {
        const __m128i elems = _mm_loadu_si128((const __m128i *)(const void *)src),
                      none = _mm_cvtsi64_si128((long long)others), at = byte_places(places);
        _mm_storeu_si128((__m128i *)(void *)dst,
                         _mm_shuffle_epi8(elems, _mm_or_si128(at, _mm_unpacklo_epi8(none, none))));
    } else {
        const __m256i elems = _mm256_loadu_si256((const __m256i *)(const void *)src),
                      at = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)places)),
                      own = _mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long)set));
        _mm256_storeu_si256((__m256i *)(void *)dst, _mm256_and_si256(_mm256_permutevar8x32_epi32(elems, at), own));
    }
}

INLINE size_t spread_eights(unsigned char *dst, const unsigned char *src, size_t room, const unsigned char *flags,
                            size_t n, const unsigned bytes)
{
    size_t taken = 0, i = 0;
    for (; i + 8 <= n && taken + 8 <= room; i += 8) {
        const uint64_t ones = eight_at(flags + i);
        spread_eight(dst + i * bytes, src + taken * bytes, ones * ALL, bytes);
        taken += (size_t)__builtin_popcountll(ones);
    }
    return taken + spread_of(dst + i * bytes, src + taken * bytes, room - taken, flags + i, n - i, bytes);
}

TARGET static size_t keep_avx2(void *dst, size_t room, const void *src, const unsigned char *flags, size_t n,
                               unsigned bytes)
{
    switch (bytes) {
    case 1:
        return keep_eights(dst, room, src, flags, n, 1);
    case 2:
        return keep_eights(dst, room, src, flags, n, 2);
    case 4:
        return keep_eights(dst, room, src, flags, n, 4);
    default:
        return keep_of(dst, room, src, flags, n, 8);
    }
}

TARGET static size_t spread_avx2(void *dst, const void *src, size_t room, const unsigned char *flags, size_t n,
                                 unsigned bytes)
{
    switch (bytes) {
    case 1:
        return spread_eights(dst, src, room, flags, n, 1);
    case 2:
        return spread_eights(dst, src, room, flags, n, 2);
    case 4:
        return spread_eights(dst, src, room, flags, n, 4);
    default:
        return spread_of(dst, src, room, flags, n, 8);
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
    *kernels = (td_keep_kernels){flags_rows, count_avx2, keep_avx2, spread_avx2, most_rows};
}
