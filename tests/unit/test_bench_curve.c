/* The shape of curves whose formula is known. */
#include "tool/bench/curve.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void add(bench_record *r, const char *series, double elems, double ns)
{
    bench_figure *f = bench_record_add(r);
    assert_non_null(f);
    strcpy(f->group, "g");
    snprintf(f->series, sizeof f->series, "%s", series);
    f->elems = elems;
    f->ns = (bench_stat){ns, ns * 0.99, ns * 1.01, 0, 0, 0, 31, 0};
}

/* 50 ns for the call and a quarter of a ns for an element: half of the ceiling is where both are as large, 200. */
static void latency_and_throughput(void **state)
{
    (void)state;
    bench_record r = {0};
    bench_curve c[2];
    for (double n = 1e7; n >= 10; n /= 10) /* the order of the figures does not matter */
        add(&r, "line", n, 50 + n / 4);
    assert_int_equal(bench_curves_of(&r, c, 2), 1);
    assert_int_equal(c[0].count, 7);
    assert_true(fabs(c[0].floor_ns - 52.5) < 1e-9);
    assert_true(fabs(c[0].ceiling - 4) < 0.01);
    assert_true(c[0].knee_elems > 100 && c[0].knee_elems < 400);
    assert_true(c[0].exponent > 0.9 && c[0].exponent <= 1.0);
    assert_int_equal(c[0].rises, 0);
    bench_record_clear(&r);
}

static void quadratic_growth(void **state)
{
    (void)state;
    bench_record r = {0};
    bench_curve c[1];
    for (double n = 10; n <= 1e4; n *= 10)
        add(&r, "square", n, n * n);
    assert_int_equal(bench_curves_of(&r, c, 1), 1);
    assert_true(fabs(c[0].exponent - 2) < 1e-6);
    assert_int_equal(c[0].rises, 3);
    bench_record_clear(&r);
}

static void a_cliff_is_named(void **state)
{
    (void)state;
    bench_record r = {0};
    bench_curve c[2];
    char *text = NULL;
    size_t length = 0;
    for (double n = 1000; n <= 1e6; n *= 10)
        add(&r, "cliff", n, n * (n > 5e4 ? 1.5 : 1)); /* from 100 000 on an element costs half as much again */
    add(&r, "two", 10, 1);
    add(&r, "two", 20, 2);
    assert_int_equal(bench_curves_of(&r, c, 2), 1); /* two sizes are no curve */
    assert_int_equal(c[0].rises, 1);
    FILE *out = open_memstream(&text, &length);
    bench_curve_print(out, &c[0]);
    fclose(out);
    assert_non_null(strstr(text,
                           "100000 elements cost 50 % more each than 10000 (150 us): a cache ends, or a threshold is "
                           "wrong"));
    free(text);
    bench_record_clear(&r);
}

/* A rise that its interval does not carry is none. */
static void a_wide_interval_is_no_cliff(void **state)
{
    (void)state;
    bench_record r = {0};
    bench_curve c[1];
    for (double n = 1000; n <= 1e5; n *= 10)
        add(&r, "noisy", n, n * (n > 5e4 ? 1.5 : 1));
    r.figure[2].ns.low = 0.9e5;
    assert_int_equal(bench_curves_of(&r, c, 1), 1);
    assert_int_equal(c[0].rises, 0);
    bench_record_clear(&r);
}

/* Where memcpy rises too, a cache ends; where the ratio falls with it, it is ours. */
static void cliffs_are_told_from_edges(void **state)
{
    (void)state;
    bench_figure f[3];
    bench_record r = {.count = 3, .figure = f};
    const double elems[] = {100, 1000, 10000}, ns[] = {100, 2000, 40000}, ratio[] = {0.9, 0.88, 0.5};
    for (int i = 0; i < 3; i++) {
        f[i] = (bench_figure){.group = "g", .series = "s", .reference = "memcpy", .elems = elems[i]};
        f[i].ns = (bench_stat){ns[i], ns[i] * 0.99, ns[i] * 1.01, 0, 0, 0, 31, 0};
        f[i].ratio = (bench_stat){ratio[i], ratio[i] * 0.99, ratio[i] * 1.01, 0, 0, 0, 31, 0};
    }
    bench_curve c;
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(bench_curves_of(&r, &c, 1), 1);
    assert_true(c.rises == 2 && c.cliffs == 1 && !c.ours[0] && c.ours[1]);
    FILE *out = open_memstream(&text, &length);
    bench_curve_print(out, &c);
    fclose(out);
    assert_non_null(strstr(text, "1000 elements cost 100 % more each than 100 (2.00 us): a cache ends, as memcpy shows "
                                 "too\n"));
    assert_non_null(strstr(text,
                           "10000 elements cost 100 % more each than 1000 (40.0 us): a cliff of ours, which memcpy "
                           "does not have\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_and_throughput),     cmocka_unit_test(quadratic_growth),
        cmocka_unit_test(a_cliff_is_named),           cmocka_unit_test(a_wide_interval_is_no_cliff),
        cmocka_unit_test(cliffs_are_told_from_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
