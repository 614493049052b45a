/* The moving kernels for AVX2. */
#if defined(__x86_64__)
#include "move.h"

#include <immintrin.h>
#include <string.h>

#define KERNEL __attribute__((target("avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) KERNEL

#define LANES 2
typedef __m256i vec;

INLINE __m128i load16(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

INLINE __m128i load16_upto(const unsigned char *p, size_t bytes)
{
    _Alignas(16) unsigned char part[16] = {0};
    if (bytes >= 16)
        return load16(p);
    memcpy(part, p, bytes);
    return _mm_load_si128((const __m128i *)(const void *)part);
}

INLINE vec load_lanes(const unsigned char *p, ptrdiff_t stride)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(p)), load16(p + stride), 1);
}

INLINE vec load_lanes_upto(const unsigned char *p, ptrdiff_t stride, size_t rows, size_t bytes)
{
    vec z = _mm256_setzero_si256();
    if (rows > 0)
        z = _mm256_inserti128_si256(z, load16_upto(p, bytes), 0);
    if (rows > 1)
        z = _mm256_inserti128_si256(z, load16_upto(p + stride, bytes), 1);
    return z;
}

INLINE vec unpack_low(vec a, vec b, const int size)
{
    return size == 1   ? _mm256_unpacklo_epi8(a, b)
           : size == 2 ? _mm256_unpacklo_epi16(a, b)
           : size == 4 ? _mm256_unpacklo_epi32(a, b)
                       : _mm256_unpacklo_epi64(a, b);
}

INLINE vec unpack_high(vec a, vec b, const int size)
{
    return size == 1   ? _mm256_unpackhi_epi8(a, b)
           : size == 2 ? _mm256_unpackhi_epi16(a, b)
           : size == 4 ? _mm256_unpackhi_epi32(a, b)
                       : _mm256_unpackhi_epi64(a, b);
}

INLINE void store(unsigned char *p, vec z)
{
    _mm256_storeu_si256((__m256i *)(void *)p, z);
}

INLINE void stream_store(unsigned char *p, vec z)
{
    _mm256_stream_si256((__m256i *)(void *)p, z);
}

INLINE void store_upto(unsigned char *p, vec z, size_t bytes)
{
    _Alignas(32) unsigned char part[32];
    if (bytes >= 32) {
        store(p, z);
        return;
    }
    _mm256_store_si256((__m256i *)(void *)part, z);
    memcpy(p, part, bytes);
}

INLINE void copy_line(unsigned char *dst, const unsigned char *src)
{
    const __m256i *in = (const __m256i *)(const void *)src;
    __m256i *out = (__m256i *)(void *)dst;
    const __m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1);
    _mm256_storeu_si256(out, a);
    _mm256_storeu_si256(out + 1, b);
}

#include "transpose_tile.h"

TRANSPOSE(8)
TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)
TRANSPOSE(128)

void td_move_init_avx2(td_move_kernels *kernels)
{
    kernels->transpose_x8 = transpose_x8;
    kernels->transpose_x16 = transpose_x16;
    kernels->transpose_x32 = transpose_x32;
    kernels->transpose_x64 = transpose_x64;
    kernels->transpose_x128 = transpose_x128;
}
#else
typedef int td_move_avx2_unused;
#endif
