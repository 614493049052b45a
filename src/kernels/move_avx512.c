/* The moving kernels for AVX-512 F, BW, DQ and VL, and VBMI where the processor has it. */
#if defined(__x86_64__)
#include "move.h"
#include "pick.h"

#include <immintrin.h>
#include <string.h>

#define KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#define VBMI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,avx512vbmi")))
#define APART __attribute__((noinline))
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

INLINE vec load_halves(const unsigned char *p, ptrdiff_t stride)
{
    const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)p);
    return _mm512_inserti64x4(_mm512_castsi256_si512(a),
                              _mm256_loadu_si256((const __m256i *)(const void *)(p + stride)), 1);
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

INLINE void copy_upto(unsigned char *dst, const unsigned char *src, size_t bytes)
{
    store_upto(dst, _mm512_maskz_loadu_epi8(bytes < 64 ? ((__mmask64)1 << bytes) - 1 : ~(__mmask64)0, src), bytes);
}

/* A run whose middle lines are streamed. */
INLINE void stream_run(unsigned char *dst, const unsigned char *src, size_t bytes)
{
    const size_t head = -(uintptr_t)dst & 63;
    size_t at = 0;
    if (head && head <= bytes) {
        copy_upto(dst, src, head);
        at = head;
    }
    for (; at + 256 <= bytes; at += 256) {
        const vec a = _mm512_loadu_si512(src + at), b = _mm512_loadu_si512(src + at + 64);
        const vec c = _mm512_loadu_si512(src + at + 128), d = _mm512_loadu_si512(src + at + 192);
        stream_store(dst + at, a);
        stream_store(dst + at + 64, b);
        stream_store(dst + at + 128, c);
        stream_store(dst + at + 192, d);
    }
    for (; at + 64 <= bytes; at += 64)
        stream_store(dst + at, _mm512_loadu_si512(src + at));
    if (at < bytes)
        copy_upto(dst + at, src + at, bytes - at);
}

#include "transpose_tile.inc"

TRANSPOSE(8)
TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)
TRANSPOSE(128)

/* Elements of half a vector: two rows are one. */
static KERNEL void transpose_x256(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src,
                                  ptrdiff_t src_stride, size_t rows, size_t cols, bool stream)
{
    stream = stream && (uintptr_t)dst % VEC_BYTES == 0 && dst_stride % VEC_BYTES == 0;
    for (size_t c = 0; c < cols; c++, dst += dst_stride, src += 32) {
        const unsigned char *in = src;
        size_t r = 0;
        for (; r + 2 <= rows; r += 2, in += 2 * src_stride) {
            const vec z = load_halves(in, src_stride);
            if (stream)
                stream_store(dst + r * 32, z);
            else
                store(dst + r * 32, z);
        }
        if (r < rows)
            memcpy(dst + r * 32, in, 32);
    }
}

#include "interleave_avx512.inc"

/* -- runs */

INLINE void copy_lines(unsigned char *dst, const unsigned char *src, const size_t bytes)
{
    vec z[8];
    _Pragma("GCC unroll 8") for (size_t i = 0; i < bytes / 64; i++) z[i] = _mm512_loadu_si512(src + 64 * i);
    _Pragma("GCC unroll 8") for (size_t i = 0; i < bytes / 64; i++) store(dst + 64 * i, z[i]);
}

#define RUNS(size)                                                                                                     \
    case size:                                                                                                         \
        for (; rows; rows--, dst += dst_stride, src += src_stride)                                                     \
            memcpy(dst, src, size);                                                                                    \
        break;

/* The lines that are written a few runs later are asked for: what is read is found by itself, what is written is not. */
#define RUNS_AHEAD 4

#define LINES(size)                                                                                                    \
    case size:                                                                                                         \
        for (; rows; rows--, dst += dst_stride, src += src_stride) {                                                   \
            for (ptrdiff_t at = 0; at < (size); at += 64)                                                              \
                __builtin_prefetch(dst + RUNS_AHEAD * dst_stride + at, 1);                                             \
            copy_lines(dst, src, size);                                                                                \
        }                                                                                                              \
        break;

static KERNEL void copy(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,
                        size_t rows, size_t cols, bool stream)
{
    if (stream) {
        for (; rows; rows--, dst += dst_stride, src += src_stride)
            stream_run(dst, src, cols);
        return;
    }
    switch (cols) {
        RUNS(1)
        RUNS(2)
        RUNS(4)
        RUNS(8)
        RUNS(16)
        RUNS(32)
        LINES(64)
        LINES(128)
        LINES(256)
    default:
        if (cols < 64) {
            const __mmask64 mask = ((__mmask64)1 << cols) - 1;
            for (; rows; rows--, dst += dst_stride, src += src_stride)
                _mm512_mask_storeu_epi8(dst, mask, _mm512_maskz_loadu_epi8(mask, src));
        } else
            for (; rows; rows--, dst += dst_stride, src += src_stride)
                memcpy(dst, src, cols);
    }
}

/* -- elements put together from bytes */

INLINE vec load_from(const unsigned char *const *lane, ptrdiff_t at)
{
    vec z = _mm512_castsi128_si512(load16(lane[0] + at));
    z = _mm512_mask_broadcast_i32x4(z, 0x00f0, load16(lane[1] + at));
    z = _mm512_mask_broadcast_i32x4(z, 0x0f00, load16(lane[2] + at));
    return _mm512_mask_broadcast_i32x4(z, 0xf000, load16(lane[3] + at));
}

INLINE vec spread(const uint8_t *p)
{
    return _mm512_broadcast_i32x4(load16(p));
}

INLINE vec pick_bytes(vec z, vec list)
{
    return _mm512_shuffle_epi8(z, list);
}

INLINE vec both(vec a, vec b)
{
    return _mm512_or_si512(a, b);
}

#include "pick_tile.inc"

KERNEL void td_pick_avx512(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                           const unsigned char *src, ptrdiff_t src_stride, size_t rows, bool stream)
{
    pick(p, dst, dst_stride, part_stride, src, src_stride, rows, stream);
}

void td_move_init_avx512(td_move_kernels *kernels, bool vbmi)
{
    if (vbmi) {
        kernels->interleave_x8 = interleave_x8;
        kernels->deinterleave_x8 = deinterleave_x8;
    }
    kernels->interleave_x16 = interleave_x16;
    kernels->interleave_x32 = interleave_x32;
    kernels->interleave_x64 = interleave_x64;
    kernels->deinterleave_x16 = deinterleave_x16;
    kernels->deinterleave_x32 = deinterleave_x32;
    kernels->deinterleave_x64 = deinterleave_x64;
    kernels->copy = copy;
    kernels->transpose_x256 = transpose_x256;
    kernels->transpose_x8 = transpose_x8;
    kernels->transpose_x16 = transpose_x16;
    kernels->transpose_x32 = transpose_x32;
    kernels->transpose_x64 = transpose_x64;
    kernels->transpose_x128 = transpose_x128;
}
#else
typedef int td_move_avx512_unused;
#endif
