/* The moving kernels for NEON: transposes from the templates, and the interleaving stores and loads of the processor for two,
 * three and four lanes. Nothing is streamed: what stores past the caches gain there has not been measured. */
#if defined(__aarch64__)
#include "kernels/move.h"

#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define APART __attribute__((noinline))
#define KERNEL

#include "kernels/vector_neon.inc"

#include "kernels/transpose_tile.inc"

/* Kept in the caches, whatever is asked for. */
#define KEPT(bits)                                                                                                     \
    TRANSPOSE(bits)                                                                                                    \
    static void kept_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride, \
                             size_t rows, size_t cols, bool stream)                                                    \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        transpose_x##bits(dst, dst_stride, src, src_stride, rows, cols, false);                                        \
    }

KEPT(8)
KEPT(16)
KEPT(32)
KEPT(64)
KEPT(128)

/* -- few lanes */

/* Whole vectors of `n` rows or columns; both give how many of the long side are done. */
#define WEAVE(n, bits, lanes)                                                                                          \
    static size_t weave_##n##_x##bits(unsigned char *dst, const unsigned char *src, ptrdiff_t stride, size_t cols)     \
    {                                                                                                                  \
        size_t c = 0;                                                                                                  \
        for (; c + (lanes) <= cols; c += (lanes), src += 16, dst += (n)*16) {                                          \
            uint##bits##x##lanes##x##n##_t z;                                                                          \
            for (int r = 0; r < (n); r++)                                                                              \
                z.val[r] = vreinterpretq_u##bits##_u8(vld1q_u8(src + r * stride));                                     \
            vst##n##q_u##bits((uint##bits##_t *)(void *)dst, z);                                                       \
        }                                                                                                              \
        return c;                                                                                                      \
    }                                                                                                                  \
    static size_t unweave_##n##_x##bits(unsigned char *dst, ptrdiff_t stride, const unsigned char *src, size_t rows)   \
    {                                                                                                                  \
        size_t r = 0;                                                                                                  \
        for (; r + (lanes) <= rows; r += (lanes), src += (n)*16, dst += 16) {                                          \
            const uint##bits##x##lanes##x##n##_t z = vld##n##q_u##bits((const uint##bits##_t *)(const void *)src);     \
            for (int c = 0; c < (n); c++)                                                                              \
                vst1q_u8(dst + c * stride, vreinterpretq_u8_u##bits(z.val[c]));                                        \
        }                                                                                                              \
        return r;                                                                                                      \
    }

#define vreinterpretq_u8_u8(x) (x)

#define SHORT(bits, lanes)                                                                                             \
    WEAVE(2, bits, lanes)                                                                                              \
    WEAVE(3, bits, lanes)                                                                                              \
    WEAVE(4, bits, lanes)                                                                                              \
    static void interleave_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src,                 \
                                   ptrdiff_t src_stride, size_t rows, size_t cols, bool stream)                        \
    {                                                                                                                  \
        const size_t size = (bits) / 8, done = rows == 2   ? weave_2_x##bits(dst, src, src_stride, cols)               \
                                               : rows == 3 ? weave_3_x##bits(dst, src, src_stride, cols)               \
                                               : rows == 4 ? weave_4_x##bits(dst, src, src_stride, cols)               \
                                                           : 0;                                                        \
        kept_x##bits(dst + done * rows * size, dst_stride, src + done * size, src_stride, rows, cols - done, stream);  \
    }                                                                                                                  \
    static void deinterleave_x##bits(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src,               \
                                     ptrdiff_t src_stride, size_t rows, size_t cols, bool stream)                      \
    {                                                                                                                  \
        const size_t size = (bits) / 8, done = cols == 2   ? unweave_2_x##bits(dst, dst_stride, src, rows)             \
                                               : cols == 3 ? unweave_3_x##bits(dst, dst_stride, src, rows)             \
                                               : cols == 4 ? unweave_4_x##bits(dst, dst_stride, src, rows)             \
                                                           : 0;                                                        \
        kept_x##bits(dst + done * size, dst_stride, src + done * cols * size, src_stride, rows - done, cols, stream);  \
    }

SHORT(8, 16)
SHORT(16, 8)
SHORT(32, 4)
SHORT(64, 2)

void td_move_init_neon(td_move_kernels *kernels)
{
    kernels->transpose_x8 = kept_x8;
    kernels->transpose_x16 = kept_x16;
    kernels->transpose_x32 = kept_x32;
    kernels->transpose_x64 = kept_x64;
    kernels->transpose_x128 = kept_x128;
    kernels->interleave_x8 = interleave_x8;
    kernels->interleave_x16 = interleave_x16;
    kernels->interleave_x32 = interleave_x32;
    kernels->interleave_x64 = interleave_x64;
    kernels->deinterleave_x8 = deinterleave_x8;
    kernels->deinterleave_x16 = deinterleave_x16;
    kernels->deinterleave_x32 = deinterleave_x32;
    kernels->deinterleave_x64 = deinterleave_x64;
}
#else
typedef int td_move_neon_unused;
#endif
