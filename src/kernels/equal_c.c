/* The comparing kernels in plain C: the rule that the other versions follow. */
#include "kernels/equal.h"

#include <string.h>

#define KERNEL(name) TD_EQUAL_KERNEL(name, c)

static inline __attribute__((always_inline)) bool transposed(const unsigned char *a, ptrdiff_t a_stride,
                                                             const unsigned char *b, ptrdiff_t b_stride, size_t rows,
                                                             size_t cols, const size_t size)
{
    for (size_t r = 0; r < rows; r++, a += size, b += b_stride)
        for (size_t c = 0; c < cols; c++)
            if (memcmp(a + (ptrdiff_t)c * a_stride, b + c * size, size) != 0)
                return false;
    return true;
}

#define TRANSPOSED(bits)                                                                                               \
    KERNEL(transposed_x##bits)                                                                                         \
    {                                                                                                                  \
        (void)ahead;                                                                                                   \
        return transposed(a, a_stride, b, b_stride, rows, cols, (bits) / 8);                                           \
    }

TRANSPOSED(8)
TRANSPOSED(16)
TRANSPOSED(32)
TRANSPOSED(64)

KERNEL(rows)
{
    (void)ahead;
    for (size_t r = 0; r < rows; r++, a += a_stride, b += b_stride)
        if (memcmp(a, b, cols) != 0)
            return false;
    return true;
}

/* Bytes that are compared between two rounds of prefetching: as many lines as a core can have on their way. */
#define ROUND_BYTES 2048

/* Rows that lie side by side are one run. Of rows that are whole lines apart, several of these narrow blocks share a
 * line: only the first block in a line prefetches it. */
void td_prefetch_rows(const unsigned char *p, ptrdiff_t stride, size_t rows, size_t cols, ptrdiff_t ahead)
{
    if (stride > 0 && (size_t)stride <= cols + 32) { /* one run, but for small gaps */
        cols = (rows - 1) * (size_t)stride + cols;
        rows = 1;
    } else if (stride % 64 == 0 && (uintptr_t)p % 64 >= cols)
        return;
    for (size_t r = 0; r < rows; r++, p += stride)
        for (size_t at = 0; at < cols; at += 64)
            td_prefetch(p + at, ahead);
}

bool td_equal_rows_ahead(td_equal_near_fn *near, const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b,
                         ptrdiff_t b_stride, size_t rows, size_t cols, td_ahead ahead)
{
    const size_t most = cols < ROUND_BYTES ? ROUND_BYTES / cols : 1;
    if (!ahead.a && !ahead.b)
        return near(a, a_stride, b, b_stride, rows, cols);
    for (size_t r = 0, n = 0; r < rows; r += n, a += (ptrdiff_t)n * a_stride, b += (ptrdiff_t)n * b_stride) {
        n = rows - r < most ? rows - r : most;
        td_prefetch_rows(a, a_stride, n, cols, ahead.a);
        td_prefetch_rows(b, b_stride, n, cols, ahead.b);
        if (!near(a, a_stride, b, b_stride, n, cols))
            return false;
    }
    return true;
}

void td_equal_init(td_equal_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name, size, rule) kernels->name = td_equal_##name##_c;
    TD_EQUAL_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_equal_init_##isa(kernels);
    TD_EQUAL_ISAS(X)
#undef X
}
