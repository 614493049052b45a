/* The moving kernels for AVX2. */
#if defined(__x86_64__)
#include "kernels/move.h"
#include "kernels/pick.h"

#include <immintrin.h>
#include <string.h>

#define KERNEL __attribute__((target("avx2,bmi2")))
#define APART __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline)) KERNEL

#include "kernels/vector_avx2.inc"

#include "kernels/transpose_tile.inc"

TRANSPOSE(8)
TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)
TRANSPOSE(128)

#include "kernels/interleave_avx2.inc"

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

#include "kernels/copy_runs.inc"

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

#include "kernels/pick_tile.inc"

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
