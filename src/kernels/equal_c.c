/* The comparing kernels in plain C: the rule that the other versions follow. */
#include "base/cpu.h"
#include "kernels/equal.h"

#include <string.h>

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

#define TRANSPOSED(name, size)                                                                                         \
    static bool name(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,           \
                     size_t rows, size_t cols, td_ahead ahead)                                                         \
    {                                                                                                                  \
        (void)ahead;                                                                                                   \
        return transposed(a, a_stride, b, b_stride, rows, cols, size);                                                 \
    }

TRANSPOSED(transposed_x8, 1)
TRANSPOSED(transposed_x16, 2)
TRANSPOSED(transposed_x32, 4)
TRANSPOSED(transposed_x64, 8)

bool td_equal_rows_c(const unsigned char *a, ptrdiff_t a_stride, const unsigned char *b, ptrdiff_t b_stride,
                     size_t rows, size_t cols, td_ahead ahead)
{
    (void)ahead;
    for (size_t r = 0; r < rows; r++, a += a_stride, b += b_stride)
        if (memcmp(a, b, cols) != 0)
            return false;
    return true;
}

/* Bytes that are looked at between two times of asking: so many lines can be on their way. */
#define TURN_BYTES 2048

/* Where all rows begin at the same place of their lines, it is for those that begin them. */
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
    const size_t most = cols < TURN_BYTES ? TURN_BYTES / cols : 1;
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
    kernels->transposed_x8 = transposed_x8;
    kernels->transposed_x16 = transposed_x16;
    kernels->transposed_x32 = transposed_x32;
    kernels->transposed_x64 = transposed_x64;
    kernels->rows = td_equal_rows_c;
#if defined(__x86_64__)
    if (cpu_flags & TD_CPU_AVX2)
        td_equal_init_avx2(kernels);
    if (cpu_flags & TD_CPU_AVX512)
        td_equal_init_avx512(kernels);
#elif defined(__aarch64__)
    if (cpu_flags & TD_CPU_NEON)
        td_equal_init_neon(kernels);
#else
    (void)cpu_flags;
#endif
}
