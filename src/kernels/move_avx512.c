/* The moving kernels for AVX-512 F, BW, DQ and VL, and VBMI where the processor has it. */
#if defined(__x86_64__)
#include "kernels/move.h"
#include "kernels/pick.h"

#include <immintrin.h>
#include <string.h>

#define KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#define VBMI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,avx512vbmi")))
#define APART __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline)) KERNEL

#include "kernels/vector_avx512.inc"

#include "kernels/transpose_tile.inc"

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

#include "kernels/interleave_avx512.inc"

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

#include "kernels/pick_tile.inc"

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
