/* The kernel of kernels/equal.h, every version of this machine against memcmp: runs of every length around its
 * vectors, rows around its blocks, one byte changed in each place, and what lies between the runs never looked at. */
#include "cpu.h"
#include "kernels/equal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct version {
    const char *name;
    unsigned needs;
    td_equal_fn fn;
} version;

static const version versions[] = {
    {"c", TD_CPU_C, td_equal_c},
#if defined(__x86_64__)
    {"avx2", TD_CPU_AVX2, td_equal_avx2},
    {"avx512", TD_CPU_AVX512, td_equal_avx512},
#endif
};

/* Rows `gap` bytes apart from end to begin, in blocks that end with the last run, so that a sanitizer sees a step past. */
static unsigned char *rows_of(size_t high, size_t wide, size_t gap, unsigned char between)
{
    const size_t bytes = high * wide + (high - 1) * gap;
    unsigned char *rows = malloc(bytes ? bytes : 1);
    assert_non_null(rows);
    memset(rows, between, bytes);
    for (size_t r = 0; r < high; r++)
        for (size_t i = 0; i < wide; i++)
            rows[r * (wide + gap) + i] = (unsigned char)(r * 31 + i * 7);
    return rows;
}

static void check_rows(const version *v, size_t high, size_t wide)
{
    const size_t a_gap = 3, b_gap = 70;
    unsigned char *a = rows_of(high, wide, a_gap, 0xaa), *b = rows_of(high, wide, b_gap, 0x55);
    const ptrdiff_t a_stride = (ptrdiff_t)(wide + a_gap), b_stride = (ptrdiff_t)(wide + b_gap);
    if (!v->fn(a, a_stride, b, b_stride, high, wide))
        fail_msg("equal_%s: %zu equal runs of %zu bytes", v->name, high, wide);
    for (size_t r = 0; r < high; r++)
        for (size_t i = 0; i < wide; i += wide < 140 ? 1 : 13) {
            unsigned char *byte = &b[r * (wide + b_gap) + i];
            *byte ^= 0x10;
            if (v->fn(a, a_stride, b, b_stride, high, wide))
                fail_msg("equal_%s: byte %zu of run %zu, %zu runs of %zu bytes", v->name, i, r, high, wide);
            *byte ^= 0x10;
        }
    free(a);
    free(b);
}

static void every_version(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof versions / sizeof versions[0]; k++) {
        if ((td_cpu_flags() & versions[k].needs) != versions[k].needs)
            continue;
        for (size_t wide = 1; wide <= 300; wide += wide < 140 ? 1 : 53)
            for (size_t high = 1; high <= 18; high += high < 2 || high > 6 ? 1 : 5)
                check_rows(&versions[k], high, wide);
    }
}

static void the_choice_follows_the_machine(void **state)
{
    (void)state;
    assert_true(td_equal_choose(TD_CPU_C) == td_equal_c);
#if defined(__x86_64__)
    assert_true(td_equal_choose(TD_CPU_AVX2) == td_equal_avx2);
    assert_true(td_equal_choose(TD_CPU_ALL) == td_equal_avx512);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version),
        cmocka_unit_test(the_choice_follows_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
