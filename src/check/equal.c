/* The kernels of kernels/equal.h, every version of this machine against plain C: one element to two squares and one
 * more on either side, odd strides, bases off their alignment, one byte changed in places of what is looked at, and
 * what lies between the rows never the same. The table of kernels/equal.h makes the list. */
#include "kernels/equal.h"
#include "check/check.h"
#include "check/versions.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum rule { RULE_transposed, RULE_rows } rule;

typedef struct kernel {
    const char *name, *isa;
    size_t size;
    rule rule;
    td_equal_fn fn;
} kernel;

/* Both sides of a block in pieces of memory that end with it, so that a sanitizer sees a step past. */
typedef struct sides {
    unsigned char *a, *b; /* the first element of each */
    unsigned char *a_buffer, *b_buffer;
    ptrdiff_t a_stride, b_stride;
    size_t a_bytes, b_bytes, rows, cols, size;
    bool transposed;
} sides;

static unsigned char *a_at(const sides *s, size_t r, size_t c)
{
    return s->transposed ? s->a + (ptrdiff_t)c * s->a_stride + (ptrdiff_t)(r * s->size)
                         : s->a + (ptrdiff_t)r * s->a_stride + (ptrdiff_t)c;
}

static unsigned char *b_at(const sides *s, size_t r, size_t c)
{
    return s->b + (ptrdiff_t)r * s->b_stride + (ptrdiff_t)(c * s->size);
}

static unsigned char *buffer_of(size_t before, size_t rows, ptrdiff_t stride, size_t row_bytes, size_t *bytes)
{
    *bytes = before + (rows - 1) * (size_t)stride + row_bytes;
    unsigned char *buffer = malloc(*bytes);
    assert_non_null(buffer);
    return buffer;
}

static sides make_sides(const kernel *k, size_t rows, size_t cols, size_t gap, size_t shift)
{
    sides s = {.rows = rows, .cols = cols, .size = k->size, .transposed = k->rule == RULE_transposed};
    const size_t a_rows = s.transposed ? cols : rows, a_row_bytes = s.transposed ? rows * k->size : cols,
                 b_row_bytes = cols * k->size;
    s.a_stride = (ptrdiff_t)(a_row_bytes + gap % 7);
    s.b_stride = (ptrdiff_t)(gap == 4096 ? gap : b_row_bytes + gap);
    s.a_buffer = buffer_of(shift, a_rows, s.a_stride, a_row_bytes, &s.a_bytes);
    s.b_buffer = buffer_of(2 * shift, rows, s.b_stride, b_row_bytes, &s.b_bytes);
    s.a = s.a_buffer + shift;
    s.b = s.b_buffer + 2 * shift;
    memset(s.a_buffer, 0xaa, s.a_bytes);
    memset(s.b_buffer, 0x55, s.b_bytes);
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            for (size_t i = 0; i < k->size; i++)
                a_at(&s, r, c)[i] = b_at(&s, r, c)[i] = (unsigned char)(r * 31 + c * 7 + i * 101);
    return s;
}

static bool run(const kernel *k, const sides *s)
{
    const td_ahead ahead = {1 << 20, -(1 << 20)}; /* nothing is there */
    return k->fn(s->a, s->a_stride, s->b, s->b_stride, s->rows, s->cols, ahead);
}

static void check(const kernel *k, size_t rows, size_t cols, size_t gap, size_t shift)
{
    sides s = make_sides(k, rows, cols, gap, shift);
    const size_t every = rows * cols < 300 ? 1 : rows * cols / 101;
    if (!run(k, &s))
        fail_msg("%s_%s: %zu rows, %zu columns are equal", k->name, k->isa, rows, cols);
    for (size_t n = 0; n < rows * cols; n += n + 1 < rows * cols && n + every >= rows * cols ? 1 : every) {
        unsigned char *byte = a_at(&s, n / cols, n % cols) + n % k->size;
        *byte ^= 0x10;
        if (run(k, &s))
            fail_msg("%s_%s: row %zu, column %zu of %zu x %zu", k->name, k->isa, n / cols, n % cols, rows, cols);
        *byte ^= 0x10;
    }
    free(s.a_buffer);
    free(s.b_buffer);
}

static void check_kernel(const kernel *k)
{
    if (k->rule == RULE_rows) {
        for (size_t cols = 1; cols <= 300; cols += cols < 140 ? 1 : 53)
            for (size_t rows = 1; rows <= 18; rows += rows < 2 || rows > 6 ? 1 : 5)
                check(k, rows, cols, cols % 3 * 70, rows % 3);
        for (size_t cols = 1000; cols <= 5000; cols += 997)
            check(k, 2, cols, 5, 1);
        for (size_t cols = 65535; cols <= 65537; cols++) /* about where the C library takes over */
            check(k, 2, cols, 5, 1);
        return;
    }
    const size_t edge = 64 / k->size, wide = 16 / k->size;
    for (size_t rows = 1; rows <= 2 * edge + 1; rows += rows < 5 ? 1 : rows % 7 + 1)
        for (size_t cols = 1; cols <= 2 * wide + 1; cols++)
            check(k, rows, cols, rows % 4 * 3, rows % 5);
    for (size_t cols = edge - 1; cols <= 2 * edge + 1; cols += cols < edge + 1 ? 1 : cols % 5 + 1)
        for (size_t rows = edge - 1; rows <= 2 * edge + 1; rows += rows < edge + 1 ? 1 : rows % 9 + 1) {
            check(k, rows, cols, rows % 4 * 3, cols % 5);
            check(k, rows, cols, 4096, 0); /* rows that fall on one set of the cache */
        }
}

#define X(name, size, rule)                                                                                            \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        CHECK_VERSIONS(equal, check_kernel, name, size, RULE_##rule);                                                  \
    }
TD_EQUAL_KERNELS(X)
#undef X

static void the_choice_follows_the_machine(void **state)
{
    (void)state;
    const unsigned flags = td_cpu_flags();
    td_equal_kernels plain, avx2, best;
    td_equal_init(&plain, TD_CPU_C);
    td_equal_init(&avx2, flags & TD_CPU_AVX2);
    td_equal_init(&best, flags);
    assert_true((avx2.rows != plain.rows) == ((flags & TD_CPU_AVX2) != 0));
    assert_true((best.transposed_x8 != avx2.transposed_x8) == ((flags & (TD_CPU_AVX512 | TD_CPU_NEON)) != 0));
}

/* -- with --bench: equal blocks of 128 KiB, square or in rows of 64 bytes */

#define BENCH_BYTES ((size_t)128 << 10)

static unsigned char bench_a[BENCH_BYTES], bench_b[BENCH_BYTES];

static void bench_run(const kernel *k)
{
    const size_t elems = BENCH_BYTES / k->size, rows = k->rule == RULE_rows ? BENCH_BYTES / 64 : 128,
                 cols = k->rule == RULE_rows ? 64 : elems / 128;
    const size_t a_row = k->rule == RULE_rows ? 64 : rows * k->size;
    if (!k->fn(bench_a, (ptrdiff_t)a_row, bench_b, (ptrdiff_t)(cols * k->size), rows, cols, (td_ahead){0, 0}))
        printf("%s_%s: not equal\n", k->name, k->isa);
}

static void bench_kernel(const kernel *k)
{
    static unsigned char copy[BENCH_BYTES];
    BENCH(bench_run, k, copy, bench_b, BENCH_BYTES);
}

static int bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("kernel: memcpy's time by its own, %zu KiB on either side\n", BENCH_BYTES >> 10);
#define X(name, size, rule) CHECK_VERSIONS(equal, bench_kernel, name, size, RULE_##rule);
    TD_EQUAL_KERNELS(X)
#undef X
    return 0;
}

static const td_check checks[] = {
#define X(name, size, rule) TD_CHECK(test_##name),
    TD_EQUAL_KERNELS(X)
#undef X
        TD_CHECK(the_choice_follows_the_machine),
};

TD_CHECK_FAMILY(equal, checks, NULL, NULL, bench);
