/* The moving kernels for AVX-512 F, BW, DQ and VL, and VBMI where the processor has it. */
#if defined(__x86_64__)
#include "move.h"

#include <immintrin.h>
#include <string.h>

#define KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#define INLINE static inline __attribute__((always_inline)) KERNEL

#define LANES 4
typedef __m512i vec;

INLINE __m128i load16(const unsigned char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

INLINE __m128i load16_upto(const unsigned char *p, size_t bytes)
{
    return _mm_maskz_loadu_epi8((__mmask16)((1U << bytes) - 1), p);
}

INLINE vec load_lanes(const unsigned char *p, ptrdiff_t stride)
{
    vec z = _mm512_castsi128_si512(load16(p));
    z = _mm512_mask_broadcast_i32x4(z, 0x00f0, load16(p + stride));
    z = _mm512_mask_broadcast_i32x4(z, 0x0f00, load16(p + 2 * stride));
    return _mm512_mask_broadcast_i32x4(z, 0xf000, load16(p + 3 * stride));
}

INLINE vec load_lanes_upto(const unsigned char *p, ptrdiff_t stride, size_t rows, size_t bytes)
{
    vec z = _mm512_setzero_si512();
    const size_t n = bytes < 16 ? bytes : 16;
    if (rows > 0)
        z = _mm512_castsi128_si512(load16_upto(p, n));
    if (rows > 1)
        z = _mm512_mask_broadcast_i32x4(z, 0x00f0, load16_upto(p + stride, n));
    if (rows > 2)
        z = _mm512_mask_broadcast_i32x4(z, 0x0f00, load16_upto(p + 2 * stride, n));
    if (rows > 3)
        z = _mm512_mask_broadcast_i32x4(z, 0xf000, load16_upto(p + 3 * stride, n));
    return z;
}

INLINE vec unpack_low(vec a, vec b, const int size)
{
    return size == 1   ? _mm512_unpacklo_epi8(a, b)
           : size == 2 ? _mm512_unpacklo_epi16(a, b)
           : size == 4 ? _mm512_unpacklo_epi32(a, b)
                       : _mm512_unpacklo_epi64(a, b);
}

INLINE vec unpack_high(vec a, vec b, const int size)
{
    return size == 1   ? _mm512_unpackhi_epi8(a, b)
           : size == 2 ? _mm512_unpackhi_epi16(a, b)
           : size == 4 ? _mm512_unpackhi_epi32(a, b)
                       : _mm512_unpackhi_epi64(a, b);
}

INLINE void store(unsigned char *p, vec z)
{
    _mm512_storeu_si512(p, z);
}

INLINE void stream_store(unsigned char *p, vec z)
{
    _mm512_stream_si512((void *)p, z);
}

INLINE void store_upto(unsigned char *p, vec z, size_t bytes)
{
    _mm512_mask_storeu_epi8(p, bytes < 64 ? ((__mmask64)1 << bytes) - 1 : ~(__mmask64)0, z);
}

INLINE void copy_line(unsigned char *dst, const unsigned char *src)
{
    _mm512_storeu_si512(dst, _mm512_loadu_si512(src));
}

#include "transpose_tile.h"

TRANSPOSE(8)
TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)
TRANSPOSE(128)

void td_move_init_avx512(td_move_kernels *kernels, bool vbmi)
{
    (void)vbmi;
    kernels->transpose_x8 = transpose_x8;
    kernels->transpose_x16 = transpose_x16;
    kernels->transpose_x32 = transpose_x32;
    kernels->transpose_x64 = transpose_x64;
    kernels->transpose_x128 = transpose_x128;
}
#else
typedef int td_move_avx512_unused;
#endif
