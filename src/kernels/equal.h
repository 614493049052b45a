/* Kernels that say whether two places hold the same, many bytes at a time; where one says no, compare.c looks for the pair.
 * scan.c calls them on blocks; they refuse nothing and know no layout. All strides are in bytes, and nothing outside
 * the named elements is read.
 *
 *   turned    a[c * a_stride + r * size] == b[r * b_stride + c * size]                for r < rows, c < cols
 *   rows      a[r * a_stride + c] == b[r * b_stride + c]                              for r < rows, c < cols
 *
 * The next block has the same form: what lies `ahead` bytes behind each line that is looked at is asked for, and need
 * not be there.
 *
 * One line of the table makes a kernel's place in td_equal_kernels and its test. */
#ifndef TD_KERNELS_EQUAL_H
#define TD_KERNELS_EQUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    name           size of an element, or 1 */
#define TD_EQUAL_KERNELS(X)                                                                                            \
    X(transposed_x8, 1)                                                                                                \
    X(transposed_x16, 2)                                                                                               \
    X(transposed_x32, 4)                                                                                               \
    X(transposed_x64, 8)                                                                                               \
    X(rows, 1)

typedef struct td_ahead {
    ptrdiff_t a, b;
} td_ahead;

/* Into the second-level cache: the first has no room for a block that comes later. The empty statement is for gcc, which takes a
 * function that does nothing but ask for one that does nothing. */
static inline void td_prefetch(const unsigned char *line, ptrdiff_t ahead)
{
    __asm__ volatile("");
    __builtin_prefetch((const void *)((uintptr_t)line + (uintptr_t)ahead), 0, 2);
}

typedef bool (*td_equal_fn)(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                            size_t rows, size_t cols, td_ahead ahead);

typedef struct td_equal_kernels {
#define X(name, size) td_equal_fn name;
    TD_EQUAL_KERNELS(X)
#undef X
} td_equal_kernels;

/* Fills every pointer with the best version that `cpu_flags` (cpu.h) allow. */
void td_equal_init(td_equal_kernels *kernels, unsigned cpu_flags);

/* The per-ISA parts of td_equal_init; they override what they have. */
void td_equal_init_avx2(td_equal_kernels *kernels);
void td_equal_init_avx512(td_equal_kernels *kernels);
void td_equal_init_neon(td_equal_kernels *kernels);

/* Plain C, for what versions leave to it. */
bool td_equal_rows_c(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                     size_t rows, size_t cols, td_ahead ahead);

/* Asks for every line of some rows that lie ahead, once. */
void td_prefetch_rows(const unsigned char *p, ptrdiff_t stride, size_t rows, size_t cols, ptrdiff_t ahead);

/* Rows of a version that asks for nothing by itself, with the asking in between. */
typedef bool td_equal_near_fn(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                              size_t rows, size_t cols);
bool td_equal_rows_ahead(td_equal_near_fn *near, const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b,
                         ptrdiff_t b_stride, size_t rows, size_t cols, td_ahead ahead);

#endif
