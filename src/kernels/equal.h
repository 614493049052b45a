/* Whether runs of bytes are equal, many at a time. A comparison asks it about rows that lie straight on both sides; where
 * it says no, compare.c looks for the pair.
 *
 *   equal     for r < high:  memcmp(a + r * a_stride, b + r * b_stride, wide) == 0
 */
#ifndef TD_KERNELS_EQUAL_H
#define TD_KERNELS_EQUAL_H

#include <stdbool.h>
#include <stddef.h>

typedef bool (*td_equal_fn)(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                            size_t high, size_t wide);

/* The best version that `cpu_flags` (cpu.h) allow. */
td_equal_fn td_equal_choose(unsigned cpu_flags);

bool td_equal_c(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride, size_t high,
                size_t wide);
bool td_equal_avx2(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride, size_t high,
                   size_t wide);
bool td_equal_avx512(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                     size_t high, size_t wide);

#endif
