/* Kernels that move whole elements of 1 to 32 bytes. exec's moves choose one when a plan is made and call it on blocks;
 * they refuse nothing and know no layout. All strides are in bytes. Nothing outside the named elements is written, and
 * nothing outside them is read.
 *
 * One line of the table makes a kernel's prototypes, its place in td_move_kernels, its test and its bench.
 *
 *   transpose     dst[c * dst_stride + r * size] = src[r * src_stride + c * size]   for r < rows, c < cols
 *   interleave    the same with dst_stride = rows * size: few rows, many columns, dst one straight run
 *   deinterleave  the same with src_stride = cols * size: few columns, many rows, src one straight run
 *   copy          rows runs of `cols` bytes each, src_stride and dst_stride apart
 *
 * `stream`: the output is larger than the caches: store past them. Where dst and the strides do not fall on lines of 64 bytes a
 * transpose does it line by line, and interleaving must not be asked to. Whoever asks calls td_move_fence after the last. */
#ifndef TD_KERNELS_MOVE_H
#define TD_KERNELS_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    name             size of an element, or 1 */
#define TD_MOVE_KERNELS(X)                                                                                             \
    X(transpose_x8, 1)                                                                                                 \
    X(transpose_x16, 2)                                                                                                \
    X(transpose_x32, 4)                                                                                                \
    X(transpose_x64, 8)                                                                                                \
    X(transpose_x128, 16)                                                                                              \
    X(transpose_x256, 32)                                                                                              \
    X(interleave_x8, 1)                                                                                                \
    X(interleave_x16, 2)                                                                                               \
    X(interleave_x32, 4)                                                                                               \
    X(interleave_x64, 8)                                                                                               \
    X(deinterleave_x8, 1)                                                                                              \
    X(deinterleave_x16, 2)                                                                                             \
    X(deinterleave_x32, 4)                                                                                             \
    X(deinterleave_x64, 8)                                                                                             \
    X(copy, 1)

typedef void (*td_move_fn)(unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src, ptrdiff_t src_stride,
                           size_t rows, size_t cols, bool stream);

typedef struct td_move_kernels {
#define X(name, size) td_move_fn name;
    TD_MOVE_KERNELS(X)
#undef X
} td_move_kernels;

/* Fills every pointer with the best version that `cpu_flags` (cpu.h) allow. */
void td_move_init(td_move_kernels *kernels, unsigned cpu_flags);

/* The per-ISA parts of td_move_init; they override what they have. */
void td_move_init_avx2(td_move_kernels *kernels);
void td_move_init_avx512(td_move_kernels *kernels, bool vbmi);
void td_move_init_neon(td_move_kernels *kernels);

/* Streamed lines are in memory before another thread is told of them. */
void td_move_fence(void);

#endif
