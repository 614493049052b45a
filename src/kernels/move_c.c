/* The moving kernels in plain C: the rule that the other versions follow byte for byte. Elements are read and written
 * with memcpy of a constant size, so nothing has to be aligned. */
#include "kernels/move.h"

#include <string.h>

#define KERNEL(name) TD_MOVE_KERNEL(name, c)
#define INLINE static inline __attribute__((always_inline))
#define BLOCK 16 /* elements on an edge of what is moved at once: both sides stay in the first cache */

INLINE void transpose(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,
                      size_t rows, size_t cols, size_t size)
{
    for (size_t c0 = 0; c0 < cols; c0 += BLOCK) {
        const size_t c1 = cols - c0 < BLOCK ? cols : c0 + BLOCK;
        for (size_t r0 = 0; r0 < rows; r0 += BLOCK) {
            const size_t r1 = rows - r0 < BLOCK ? rows : r0 + BLOCK;
            for (size_t c = c0; c < c1; c++) {
                unsigned char *out = dst + (ptrdiff_t)c * dst_stride + r0 * size;
                const unsigned char *in = src + (ptrdiff_t)r0 * src_stride + c * size;
                for (size_t r = r0; r < r1; r++, out += size, in += src_stride)
                    memcpy(out, in, size);
            }
        }
    }
}

#include "kernels/transpose_odd.inc"

/* Few rows or few columns: the same rule, the short loop inside. */
INLINE void interleave(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,
                       size_t rows, size_t cols, size_t size)
{
    (void)dst_stride;
    for (size_t c = 0; c < cols; c++)
        for (size_t r = 0; r < rows; r++, dst += size)
            memcpy(dst, src + (ptrdiff_t)r * src_stride + c * size, size);
}

INLINE void deinterleave(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,
                         size_t rows, size_t cols, size_t size)
{
    (void)src_stride;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++, src += size)
            memcpy(dst + (ptrdiff_t)c * dst_stride + r * size, src, size);
}

#include "kernels/copy_runs.inc"

INLINE void copy(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride, size_t rows,
                 size_t cols, size_t size)
{
    (void)size;
    copy_runs(dst, dst_stride, src, src_stride, rows, cols);
}

#define X(name, size, rule)                                                                                            \
    KERNEL(name)                                                                                                       \
    {                                                                                                                  \
        (void)stream;                                                                                                  \
        rule(dst, dst_stride, src, src_stride, rows, cols, size);                                                      \
    }
TD_MOVE_KERNELS(X)
#undef X

void td_move_fence(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

void td_move_init(td_move_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name, size, rule) kernels->name = td_##name##_c;
    TD_MOVE_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_move_init_##isa(kernels);
    TD_MOVE_ISAS(X)
#undef X
}
