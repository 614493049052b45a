/* Kernels that say whether two places hold the same bytes. compare/accept.c calls them on blocks and takes a block that
 * differs apart; they refuse nothing and know no layout. All strides are in bytes, and nothing outside the named
 * elements is read.
 *
 *   transposed   a[c * a_stride + r * size] == b[r * b_stride + c * size]                for r < rows, c < cols
 *   rows         a[r * a_stride + c] == b[r * b_stride + c]                              for r < rows, c < cols
 *
 * A caller that will compare a block of the same form next says how many bytes further it lies (td_ahead): the kernel
 * prefetches its lines, which need not exist. */
#ifndef TD_KERNELS_EQUAL_H
#define TD_KERNELS_EQUAL_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    name             size of an element, or 1; rule */
#define TD_EQUAL_KERNELS(X)                                                                                            \
    X(transposed_x8, 1, transposed)                                                                                    \
    X(transposed_x16, 2, transposed)                                                                                   \
    X(transposed_x32, 4, transposed)                                                                                   \
    X(transposed_x64, 8, transposed)                                                                                   \
    X(rows, 1, rows)

/* From a block to the next one, in bytes; 0: nothing is prefetched on that side. */
typedef struct td_ahead {
    ptrdiff_t a, b;
} td_ahead;

typedef bool (*td_equal_fn)(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                            size_t rows, size_t cols, td_ahead ahead);

#define TD_EQUAL_KERNEL(name, isa)                                                                                     \
    bool td_equal_##name##_##isa(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b,                   \
                                 ptrdiff_t b_stride, size_t rows, size_t cols, td_ahead ahead)

typedef struct td_equal_kernels {
#define X(name, size, rule) td_equal_fn name;
    TD_EQUAL_KERNELS(X)
#undef X
} td_equal_kernels;

#define X(name, size, rule) TD_PROTOTYPES(TD_EQUAL_KERNEL, name)
TD_EQUAL_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_equal_init(td_equal_kernels *kernels, unsigned cpu_flags);

#define TD_EQUAL_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X) TD_ISA_NEON(X)
#define X(isa, flag) void td_equal_init_##isa(td_equal_kernels *kernels);
TD_EQUAL_ISAS(X)
#undef X

/* Into the second-level cache: the first is too small for a block that comes later. The empty statement keeps gcc from
 * taking a function that only prefetches for one without effect. */
static inline void td_prefetch(const unsigned char *line, ptrdiff_t ahead)
{
    __asm__ volatile("");
    __builtin_prefetch((const void *)((uintptr_t)line + (uintptr_t)ahead), 0, 2);
}

/* Prefetches every line of `rows` rows that lie `ahead` bytes further, each once. */
void td_prefetch_rows(const unsigned char *p, ptrdiff_t stride, size_t rows, size_t cols, ptrdiff_t ahead);

/* The `rows` rule by a version that does not prefetch, `near`, with the prefetching between its calls. */
typedef bool td_equal_near_fn(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                              size_t rows, size_t cols);
bool td_equal_rows_ahead(td_equal_near_fn *near, const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b,
                         ptrdiff_t b_stride, size_t rows, size_t cols, td_ahead ahead);

#endif
