/* The kernels of codes for AVX2: blocks of 64 words; a term is two shuffles, one for each half of a byte. What code.inc
 * takes for a vector is two of them, so that one block has work for the processor while it waits for the other's, and
 * a table is loaded once for both. */
#include "kernels/code.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define WORDS 64

typedef struct vec {
    __m256i a, b;
} vec;

INLINE __m256i load_half(const unsigned char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE void store_half(unsigned char *p, __m256i z)
{
    _mm256_storeu_si256((__m256i *)(void *)p, z);
}

INLINE vec load(const unsigned char *p)
{
    return (vec){load_half(p), load_half(p + 32)};
}

INLINE void store(unsigned char *p, vec z)
{
    store_half(p, z.a);
    store_half(p + 32, z.b);
}

INLINE vec both(__m256i z)
{
    return (vec){z, z};
}

#define broadcast_byte(value) both(_mm256_set1_epi8((char)(value)))
#define broadcast_32(value) both(_mm256_set1_epi32((int)(value)))

INLINE vec shift_left_32(vec z, __m128i by)
{
    return (vec){_mm256_sll_epi32(z.a, by), _mm256_sll_epi32(z.b, by)};
}

INLINE vec shift_right_32(vec z, __m128i by)
{
    return (vec){_mm256_srl_epi32(z.a, by), _mm256_srl_epi32(z.b, by)};
}

#define PAIRWISE(name, instruction)                                                                                    \
    INLINE vec name(vec x, vec y)                                                                                      \
    {                                                                                                                  \
        return (vec){instruction(x.a, y.a), instruction(x.b, y.b)};                                                    \
    }
PAIRWISE(and_of, _mm256_and_si256)
PAIRWISE(xor_of, _mm256_xor_si256)
PAIRWISE(or_of, _mm256_or_si256)
PAIRWISE(unpack_low_32, _mm256_unpacklo_epi32)
PAIRWISE(unpack_high_32, _mm256_unpackhi_epi32)
PAIRWISE(unpack_low_64, _mm256_unpacklo_epi64)
PAIRWISE(unpack_high_64, _mm256_unpackhi_epi64)

INLINE bool is_zero(vec z)
{
    const __m256i any = _mm256_or_si256(z.a, z.b);
    return _mm256_testz_si256(any, any);
}

INLINE vec square_bytes(vec z)
{
    const __m256i order =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return (vec){_mm256_shuffle_epi8(z.a, order), _mm256_shuffle_epi8(z.b, order)};
}

INLINE __m128i load_quarter(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

INLINE vec widen_8(const unsigned char *p)
{
    const __m128i z = load_quarter(p);
    return (vec){_mm256_cvtepu8_epi32(z), _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(z, z))};
}

INLINE vec widen_16(const unsigned char *p)
{
    return (vec){_mm256_cvtepu16_epi32(load_quarter(p)), _mm256_cvtepu16_epi32(load_quarter(p + 16))};
}

INLINE vec load_lanes(const unsigned char *p, size_t stride)
{
    return (vec){
        _mm256_inserti128_si256(_mm256_castsi128_si256(load_quarter(p)), load_quarter(p + stride), 1),
        _mm256_inserti128_si256(_mm256_castsi128_si256(load_quarter(p + 2 * stride)), load_quarter(p + 3 * stride), 1)};
}

INLINE void store_lanes(unsigned char *p, size_t stride, vec z)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(z.a));
    _mm_storeu_si128((__m128i *)(void *)(p + stride), _mm256_extracti128_si256(z.a, 1));
    _mm_storeu_si128((__m128i *)(void *)(p + 2 * stride), _mm256_castsi256_si128(z.b));
    _mm_storeu_si128((__m128i *)(void *)(p + 3 * stride), _mm256_extracti128_si256(z.b, 1));
}

/* Eight words of two times 32 bits into two vectors, and back. */
INLINE void split_2(const unsigned char *src, __m256i *c)
{
    const __m256 a = _mm256_castsi256_ps(load_half(src)), b = _mm256_castsi256_ps(load_half(src + 32));
    c[0] = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)), 0xd8);
    c[1] = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)), 0xd8);
}

INLINE void merge_2(unsigned char *dst, const __m256i *c)
{
    const __m256i low = _mm256_unpacklo_epi32(c[0], c[1]), high = _mm256_unpackhi_epi32(c[0], c[1]);
    store_half(dst, _mm256_permute2x128_si256(low, high, 0x20));
    store_half(dst + 32, _mm256_permute2x128_si256(low, high, 0x31));
}

/* Eight words of three times 32 bits are 24 numbers in three vectors. Number 3 * i + j is element i of column j, and
 * stands in place (3 * i + j) % 8: the three vectors have those of one column in different places. */
#define PLACES_0 0x49 /* 0, 3, 6 */
#define PLACES_1 0x92 /* 1, 4, 7 */
#define PLACES_2 0x24 /* 2, 5 */

INLINE void split_3(const unsigned char *src, __m256i *out)
{
    const __m256i a = load_half(src), b = load_half(src + 32), c = load_half(src + 64);
    const __m256i x0 = _mm256_blend_epi32(_mm256_blend_epi32(a, b, PLACES_1), c, PLACES_2);
    const __m256i x1 = _mm256_blend_epi32(_mm256_blend_epi32(a, b, PLACES_2), c, PLACES_0);
    const __m256i x2 = _mm256_blend_epi32(_mm256_blend_epi32(a, b, PLACES_0), c, PLACES_1);
    out[0] = _mm256_permutevar8x32_epi32(x0, _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
    out[1] = _mm256_permutevar8x32_epi32(x1, _mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6));
    out[2] = _mm256_permutevar8x32_epi32(x2, _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
}

INLINE void merge_3(unsigned char *dst, const __m256i *c)
{
    const __m256i x0 = _mm256_permutevar8x32_epi32(c[0], _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5));
    const __m256i x1 = _mm256_permutevar8x32_epi32(c[1], _mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2));
    const __m256i x2 = _mm256_permutevar8x32_epi32(c[2], _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7));
    store_half(dst, _mm256_blend_epi32(_mm256_blend_epi32(x0, x1, PLACES_1), x2, PLACES_2));
    store_half(dst + 32, _mm256_blend_epi32(_mm256_blend_epi32(x0, x1, PLACES_2), x2, PLACES_0));
    store_half(dst + 64, _mm256_blend_epi32(_mm256_blend_epi32(x0, x1, PLACES_0), x2, PLACES_1));
}

/* The same for 16 words, whose columns are in memory. */
INLINE void read_2(const unsigned char *src, unsigned char *c0, unsigned char *c1)
{
    for (size_t i = 0; i < 2; i++) {
        __m256i c[2];
        split_2(src + 64 * i, c);
        store_half(c0 + 32 * i, c[0]);
        store_half(c1 + 32 * i, c[1]);
    }
}

INLINE void write_2(unsigned char *dst, const unsigned char *c0, const unsigned char *c1)
{
    for (size_t i = 0; i < 2; i++)
        merge_2(dst + 64 * i, (const __m256i[]){load_half(c0 + 32 * i), load_half(c1 + 32 * i)});
}

INLINE void read_3(const unsigned char *src, unsigned char *c0, unsigned char *c1, unsigned char *c2)
{
    for (size_t i = 0; i < 2; i++) {
        __m256i c[3];
        split_3(src + 96 * i, c);
        store_half(c0 + 32 * i, c[0]);
        store_half(c1 + 32 * i, c[1]);
        store_half(c2 + 32 * i, c[2]);
    }
}

INLINE void write_3(unsigned char *dst, const unsigned char *c0, const unsigned char *c1, const unsigned char *c2)
{
    for (size_t i = 0; i < 2; i++)
        merge_3(dst + 96 * i,
                (const __m256i[]){load_half(c0 + 32 * i), load_half(c1 + 32 * i), load_half(c2 + 32 * i)});
}

INLINE __m256i table_of(const unsigned char *table)
{
    return _mm256_broadcastsi128_si256(load_quarter(table));
}

INLINE __m256i shuffled_half(__m256i low_table, __m256i high_table, __m256i plane)
{
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i low = _mm256_and_si256(plane, nibble), high = _mm256_and_si256(_mm256_srli_epi16(plane, 4), nibble);
    return _mm256_xor_si256(_mm256_shuffle_epi8(low_table, low), _mm256_shuffle_epi8(high_table, high));
}

INLINE vec shuffled(const td_code_term *term, vec plane)
{
    const __m256i low = table_of(term->low), high = table_of(term->high);
    return (vec){shuffled_half(low, high, plane.a), shuffled_half(low, high, plane.b)};
}

#define APPLY shuffled
#include "kernels/code.inc"
#include "kernels/code_single_avx2.inc"

CODE_MAP(avx2, td_code_single_avx2)
