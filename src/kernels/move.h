/* Kernels that move whole elements of 1 to 32 bytes. plan/choose.c chooses one for every move, exec calls it on blocks;
 * they refuse nothing and know no layout. All strides are in bytes. Nothing outside the named elements is read or
 * written.
 *
 *   transpose     dst[c * dst_stride + r * size] = src[r * src_stride + c * size]   for r < rows, c < cols
 *   odd           the same, for sizes that are no power of two
 *   interleave    the same with dst_stride = rows * size: few rows, many columns, dst one contiguous run
 *   deinterleave  the same with src_stride = cols * size: few columns, many rows, src one contiguous run
 *   copy          `rows` runs of `cols` bytes each, src_stride and dst_stride apart
 *
 * `stream`: the output is larger than the caches, so store past them. A transpose does so line by line where dst and
 * the strides do not fall on lines of 64 bytes; an interleave must not be told to then. The caller that streams calls
 * td_move_fence after the last kernel. */
#ifndef TD_KERNELS_MOVE_H
#define TD_KERNELS_MOVE_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements of odd lengths, as pixels of three bytes: each moves as the next power of two would, the bytes too many are
 * overwritten by the element after it. */
#define TD_MOVE_ODD_KERNELS(X)                                                                                         \
    X(transpose_x24, 3, odd)                                                                                           \
    X(transpose_x40, 5, odd)                                                                                           \
    X(transpose_x48, 6, odd)                                                                                           \
    X(transpose_x56, 7, odd)                                                                                           \
    X(transpose_x72, 9, odd)                                                                                           \
    X(transpose_x80, 10, odd)                                                                                          \
    X(transpose_x88, 11, odd)                                                                                          \
    X(transpose_x96, 12, odd)                                                                                          \
    X(transpose_x104, 13, odd)                                                                                         \
    X(transpose_x112, 14, odd)                                                                                         \
    X(transpose_x120, 15, odd)

/*    name             size of an element, or 1; rule */
#define TD_MOVE_KERNELS(X)                                                                                             \
    X(transpose_x8, 1, transpose)                                                                                      \
    X(transpose_x16, 2, transpose)                                                                                     \
    X(transpose_x32, 4, transpose)                                                                                     \
    X(transpose_x64, 8, transpose)                                                                                     \
    X(transpose_x128, 16, transpose)                                                                                   \
    X(transpose_x256, 32, transpose)                                                                                   \
    TD_MOVE_ODD_KERNELS(X)                                                                                             \
    X(interleave_x8, 1, interleave)                                                                                    \
    X(interleave_x16, 2, interleave)                                                                                   \
    X(interleave_x32, 4, interleave)                                                                                   \
    X(interleave_x64, 8, interleave)                                                                                   \
    X(deinterleave_x8, 1, deinterleave)                                                                                \
    X(deinterleave_x16, 2, deinterleave)                                                                               \
    X(deinterleave_x32, 4, deinterleave)                                                                               \
    X(deinterleave_x64, 8, deinterleave)                                                                               \
    X(copy, 1, copy)

typedef void (*td_move_fn)(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,
                           size_t rows, size_t cols, bool stream);

#define TD_MOVE_KERNEL(name, isa)                                                                                      \
    void td_##name##_##isa(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,   \
                           size_t rows, size_t cols, bool stream)

typedef struct td_move_kernels {
#define X(name, size, rule) td_move_fn name;
    TD_MOVE_KERNELS(X)
#undef X
} td_move_kernels;

#define X(name, size, rule) TD_PROTOTYPES(TD_MOVE_KERNEL, name)
TD_MOVE_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_move_init(td_move_kernels *kernels, unsigned cpu_flags);

#define TD_MOVE_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X) TD_ISA_VBMI(X) TD_ISA_NEON(X)
#define X(isa, flag) void td_move_init_##isa(td_move_kernels *kernels);
TD_MOVE_ISAS(X)
#undef X

/* Whether the rows of a transpose fall on so few sets of the first cache that their lines, and those that are written,
 * evict each other before they are used up: then it copies a line of each, or a few, into a scratch first. */
#define TD_SET_BYTES 4096 /* lines so far apart, or nearly, are in one set */
#define TD_SET_NEAR 16
#define TD_SET_WAYS 12

static inline bool td_transpose_gathers(ptrdiff_t src_stride, size_t size)
{
    const ptrdiff_t rows = size ? (ptrdiff_t)(64 / size) : 0, lines = src_stride % 64 ? 3 * rows : rows + rows / 2;
    for (ptrdiff_t apart = TD_SET_BYTES, sets = 1; apart >= 1024; apart /= 2, sets *= 2)
        if (lines > TD_SET_WAYS * sets && (src_stride % apart + apart + TD_SET_NEAR) % apart <= 2 * TD_SET_NEAR)
            return true;
    return false;
}

/* Streamed lines are in memory before another thread is told of them. */
void td_move_fence(void);

#endif
