/* The moving kernels for AVX2. */
#if defined(__x86_64__)
#include "move.h"
#include "pick.h"

#include <immintrin.h>
#include <string.h>

#define KERNEL __attribute__((target("avx2,bmi2")))
#define APART __attribute__((noinline))
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

/* A run whose middle lines are streamed. */
INLINE void stream_run(unsigned char *dst, const unsigned char *src, size_t bytes)
{
    const size_t head = -(uintptr_t)dst & 63;
    size_t at = 0;
    if (head && head <= bytes) {
        memcpy(dst, src, head);
        at = head;
    }
    for (; at + 64 <= bytes && head <= bytes; at += 64) {
        const __m256i *in = (const __m256i *)(const void *)(src + at);
        const __m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1);
        stream_store(dst + at, a);
        stream_store(dst + at + 32, b);
    }
    memcpy(dst + at, src + at, bytes - at);
}

#include "transpose_tile.inc"

TRANSPOSE(8)
TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)
TRANSPOSE(128)

#include "interleave_avx2.inc"

/* Elements of a whole vector. */
static KERNEL void transpose_x256(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src,
                                  ptrdiff_t src_stride, size_t rows, size_t cols, bool stream)
{
    stream = stream && (uintptr_t)dst % VEC_BYTES == 0 && dst_stride % VEC_BYTES == 0;
    for (size_t c = 0; c < cols; c++, dst += dst_stride, src += 32) {
        const unsigned char *in = src;
        for (size_t r = 0; r < rows; r++, in += src_stride)
            put(dst + r * 32, _mm256_loadu_si256((const __m256i *)(const void *)in), stream);
    }
}

/* -- runs */

#include "copy_runs.inc"

static KERNEL void copy(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,
                        size_t rows, size_t cols, bool stream)
{
    if (stream) {
        for (; rows; rows--, dst += dst_stride, src += src_stride)
            stream_run(dst, src, cols);
        return;
    }
    copy_runs(dst, dst_stride, src, src_stride, rows, cols);
}

/* -- elements put together from bytes */

INLINE vec load_from(const unsigned char *const *lane, ptrdiff_t at)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(lane[0] + at)), load16(lane[1] + at), 1);
}

INLINE vec spread(const uint8_t *p)
{
    return _mm256_broadcastsi128_si256(load16(p));
}

INLINE vec pick_bytes(vec z, vec list)
{
    return _mm256_shuffle_epi8(z, list);
}

INLINE vec both(vec a, vec b)
{
    return _mm256_or_si256(a, b);
}

#include "pick_tile.inc"

KERNEL void td_pick_avx2(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                         const unsigned char *src, ptrdiff_t src_stride, size_t rows, bool stream)
{
    pick(p, dst, dst_stride, part_stride, src, src_stride, rows, stream);
}

void td_move_init_avx2(td_move_kernels *kernels)
{
    kernels->transpose_x8 = transpose_x8;
    kernels->transpose_x16 = transpose_x16;
    kernels->transpose_x32 = transpose_x32;
    kernels->transpose_x64 = transpose_x64;
    kernels->transpose_x128 = transpose_x128;
    kernels->transpose_x256 = transpose_x256;
    kernels->interleave_x8 = interleave_x8;
    kernels->interleave_x16 = interleave_x16;
    kernels->interleave_x32 = interleave_x32;
    kernels->interleave_x64 = interleave_x64;
    kernels->deinterleave_x8 = deinterleave_x8;
    kernels->deinterleave_x16 = deinterleave_x16;
    kernels->deinterleave_x32 = deinterleave_x32;
    kernels->deinterleave_x64 = deinterleave_x64;
    kernels->copy = copy;
}
#else
typedef int td_move_avx2_unused;
#endif
