/* The kernels of codes for AVX2: blocks of 32 words; a term is two shuffles, one for each half of a byte. */
#include "kernels/code.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define WORDS 32
typedef __m256i vec;

INLINE vec load(const unsigned char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE void store(unsigned char *p, vec z)
{
    _mm256_storeu_si256((__m256i *)(void *)p, z);
}

#define broadcast_byte(value) _mm256_set1_epi8((char)(value))
#define broadcast_32(value) _mm256_set1_epi32((int)(value))
#define shift_left_32 _mm256_sll_epi32
#define shift_right_32 _mm256_srl_epi32
#define and_of _mm256_and_si256
#define xor_of _mm256_xor_si256
#define or_of _mm256_or_si256
#define is_zero(z) _mm256_testz_si256(z, z)
#define unpack_low_32 _mm256_unpacklo_epi32
#define unpack_high_32 _mm256_unpackhi_epi32
#define unpack_low_64 _mm256_unpacklo_epi64
#define unpack_high_64 _mm256_unpackhi_epi64

INLINE vec square_bytes(vec z)
{
    return _mm256_shuffle_epi8(
        z, _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)));
}

INLINE vec widen_8(const unsigned char *p)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
}

INLINE vec widen_16(const unsigned char *p)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
}

INLINE vec load_lanes(const unsigned char *p, size_t stride)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p)),
                                   _mm_loadu_si128((const __m128i *)(const void *)(p + stride)), 1);
}

INLINE void store_lanes(unsigned char *p, size_t stride, vec z)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(z));
    _mm_storeu_si128((__m128i *)(void *)(p + stride), _mm256_extracti128_si256(z, 1));
}

/* Eight words of two times 32 bits into two vectors, and back. */
INLINE void read_2(const unsigned char *src, unsigned char *c0, unsigned char *c1)
{
    const __m256 a = _mm256_castsi256_ps(load(src)), b = _mm256_castsi256_ps(load(src + 32));
    store(c0, _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)), 0xd8));
    store(c1, _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)), 0xd8));
}

INLINE void write_2(unsigned char *dst, const unsigned char *c0, const unsigned char *c1)
{
    const vec low = unpack_low_32(load(c0), load(c1)), high = unpack_high_32(load(c0), load(c1));
    store(dst, _mm256_permute2x128_si256(low, high, 0x20));
    store(dst + 32, _mm256_permute2x128_si256(low, high, 0x31));
}

/* Eight words of three times 32 bits are 24 numbers in three vectors. Number 3 * i + j is element i of column j, and
 * stands in place (3 * i + j) % 8: the three vectors have those of one column in different places. */
#define PLACES_0 0x49 /* 0, 3, 6 */
#define PLACES_1 0x92 /* 1, 4, 7 */
#define PLACES_2 0x24 /* 2, 5 */

INLINE void read_3(const unsigned char *src, unsigned char *c0, unsigned char *c1, unsigned char *c2)
{
    const vec a = load(src), b = load(src + 32), c = load(src + 64);
    const vec x0 = _mm256_blend_epi32(_mm256_blend_epi32(a, b, PLACES_1), c, PLACES_2);
    const vec x1 = _mm256_blend_epi32(_mm256_blend_epi32(a, b, PLACES_2), c, PLACES_0);
    const vec x2 = _mm256_blend_epi32(_mm256_blend_epi32(a, b, PLACES_0), c, PLACES_1);
    store(c0, _mm256_permutevar8x32_epi32(x0, _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5)));
    store(c1, _mm256_permutevar8x32_epi32(x1, _mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6)));
    store(c2, _mm256_permutevar8x32_epi32(x2, _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7)));
}

INLINE void write_3(unsigned char *dst, const unsigned char *c0, const unsigned char *c1, const unsigned char *c2)
{
    const vec x0 = _mm256_permutevar8x32_epi32(load(c0), _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
    const vec x1 = _mm256_permutevar8x32_epi32(load(c1), _mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2));
    const vec x2 = _mm256_permutevar8x32_epi32(load(c2), _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
    store(dst, _mm256_blend_epi32(_mm256_blend_epi32(x0, x1, PLACES_1), x2, PLACES_2));
    store(dst + 32, _mm256_blend_epi32(_mm256_blend_epi32(x0, x1, PLACES_2), x2, PLACES_0));
    store(dst + 64, _mm256_blend_epi32(_mm256_blend_epi32(x0, x1, PLACES_0), x2, PLACES_1));
}

INLINE vec table_of(const unsigned char *table)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

INLINE vec shuffled(const td_code_term *term, vec plane)
{
    const vec nibble = _mm256_set1_epi8(15);
    const vec low = _mm256_and_si256(plane, nibble), high = _mm256_and_si256(_mm256_srli_epi16(plane, 4), nibble);
    return _mm256_xor_si256(_mm256_shuffle_epi8(table_of(term->low), low),
                            _mm256_shuffle_epi8(table_of(term->high), high));
}

#define APPLY shuffled
#include "kernels/code.inc"

CODE_MAP(avx2)
