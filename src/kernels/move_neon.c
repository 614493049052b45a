/* The moving kernels for NEON: transposes from the template, and the processor's own interleaving loads and stores for
 * two, three and four lanes. Elements of 32 bytes and copies stay with plain C. */
#include "kernels/move.h"

#include "kernels/vector_neon.inc"

#define KERNEL(name) TD_MOVE_KERNEL(name, neon)

#include "kernels/transpose_tile.inc"

TRANSPOSE(8)
TRANSPOSE(16)
TRANSPOSE(32)
TRANSPOSE(64)
TRANSPOSE(128)

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
    KERNEL(interleave_x##bits)                                                                                         \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        const size_t size = (bits) / 8, done = rows == 2   ? weave_2_x##bits(dst, src, src_stride, cols)               \
                                               : rows == 3 ? weave_3_x##bits(dst, src, src_stride, cols)               \
                                               : rows == 4 ? weave_4_x##bits(dst, src, src_stride, cols)               \
                                                           : 0;                                                        \
        block_x##bits(dst + done * rows * size, dst_stride, src + done * size, src_stride, rows, cols - done);         \
    }                                                                                                                  \
    KERNEL(deinterleave_x##bits)                                                                                       \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        const size_t size = (bits) / 8, done = cols == 2   ? unweave_2_x##bits(dst, dst_stride, src, rows)             \
                                               : cols == 3 ? unweave_3_x##bits(dst, dst_stride, src, rows)             \
                                               : cols == 4 ? unweave_4_x##bits(dst, dst_stride, src, rows)             \
                                                           : 0;                                                        \
        block_x##bits(dst + done * size, dst_stride, src + done * cols * size, src_stride, rows - done, cols);         \
    }

SHORT(8, 16)
SHORT(16, 8)
SHORT(32, 4)
SHORT(64, 2)

void td_move_init_neon(td_move_kernels *kernels)
{
    kernels->transpose_x8 = td_transpose_x8_neon;
    kernels->transpose_x16 = td_transpose_x16_neon;
    kernels->transpose_x32 = td_transpose_x32_neon;
    kernels->transpose_x64 = td_transpose_x64_neon;
    kernels->transpose_x128 = td_transpose_x128_neon;
    kernels->interleave_x8 = td_interleave_x8_neon;
    kernels->interleave_x16 = td_interleave_x16_neon;
    kernels->interleave_x32 = td_interleave_x32_neon;
    kernels->interleave_x64 = td_interleave_x64_neon;
    kernels->deinterleave_x8 = td_deinterleave_x8_neon;
    kernels->deinterleave_x16 = td_deinterleave_x16_neon;
    kernels->deinterleave_x32 = td_deinterleave_x32_neon;
    kernels->deinterleave_x64 = td_deinterleave_x64_neon;
}
