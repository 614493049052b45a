/* Every tolerance kernel of every instruction set of this machine against a rule of its own, pair by pair: one pair to
 * two vectors and one more, in rows that are whole vectors, parts of them and neither, odd strides, bases off their
 * alignment, zeros of both signs, subnormals, infinities and NaNs, and guard bytes between the rows that are all NaN.
 * The table of kernels/tolerance.h makes the list. */
#include "kernels/tolerance.h"
#include "check/check.h"
#include "check/versions.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum rule { RULE_measure, RULE_transposed, RULE_pairs, RULE_integers } rule;

typedef struct kernel {
    const char *name, *isa;
    size_t size;
    rule rule;
    td_tolerance_fn fn;
} kernel;

static bool is_named(const kernel *k, const char *part)
{
    return strstr(k->name, part) != NULL;
}

static bool is_exact(const kernel *k)
{
    return strncmp(k->name, "exact", 5) == 0;
}

/* Where element i of row r lies on either side; a transposed block has its rows the other way round on one. */
static unsigned char *expected_at(const kernel *k, const td_tolerance_rows *b, size_t r, size_t i)
{
    return (unsigned char *)(uintptr_t)b->expected +
           (k->rule == RULE_transposed ? (ptrdiff_t)i * b->expected_stride + (ptrdiff_t)(r * k->size)
                                       : (ptrdiff_t)r * b->expected_stride + (ptrdiff_t)(i * k->size));
}

static unsigned char *actual_at(const kernel *k, const td_tolerance_rows *b, size_t r, size_t i)
{
    return (unsigned char *)(uintptr_t)b->actual + (ptrdiff_t)r * b->actual_stride + (ptrdiff_t)(i * k->size);
}

static uint64_t element(const kernel *k, const unsigned char *p)
{
    uint64_t bits = 0;
    memcpy(&bits, p, k->size);
    return bits;
}

/* -- the rules ----------------------------------------------------------------------------------------------------- */

static double value_of_f16(uint64_t bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = (double)(bits & 1023) / 1024, sign = bits >> 15 ? -1 : 1;
    if (exponent == 31)
        return bits & 1023 ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1 + fraction, exponent - 15) : ldexp(fraction, -14));
}

/* Bytes are read as e5m2, and 16 bits that are not f16 as bf16. */
static double value_of(const kernel *k, uint64_t bits)
{
    if (k->size == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (k->size == 1 || is_named(k, "_f16"))
        return value_of_f16(k->size == 1 ? bits << 8 : bits);
    const uint32_t wide = (uint32_t)(k->size == 2 ? bits << 16 : bits);
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

static uint64_t sign_of(const kernel *k)
{
    return (uint64_t)1 << (8 * k->size - 1);
}

/* Values of the type from one to the other; the two zeros are one. */
static uint64_t steps_between(const kernel *k, uint64_t x, uint64_t y)
{
    const uint64_t sign = sign_of(k), m = x & ~sign, n = y & ~sign;
    if ((x ^ y) & sign)
        return m + n;
    return m > n ? m - n : n - m;
}

static void raise_to(float *most, float value)
{
    *most = value > *most ? value : *most;
}

static td_tolerance_found measure_by_rule(const kernel *k, const td_tolerance_rows *b, float rtol)
{
    td_tolerance_found m = {.excess = -INFINITY};
    for (size_t r = 0; r < b->rows; r++)
        for (size_t i = 0; i < b->count; i++) {
            const uint64_t x = element(k, expected_at(k, b, r, i)), y = element(k, actual_at(k, b, r, i));
            const uint32_t m1 = (uint32_t)(x & ~sign_of(k)), m2 = (uint32_t)(y & ~sign_of(k));
            uint64_t steps = steps_between(k, x, y);
            uint32_t bits;
            if (is_named(k, "near_f32") && (x ^ y) & sign_of(k)) { /* the distance of the bits, around the circle */
                const uint32_t up = (uint32_t)(x - y), down = (uint32_t)(y - x);
                steps = up < down ? up : down;
            }
            const float e = (float)value_of(k, x), a = (float)value_of(k, y), error = fabsf(a - e);
            memcpy(&bits, &error, sizeof bits);
            m.steps = steps > m.steps ? steps : m.steps;
            m.largest = m1 > m.largest ? m1 : m.largest;
            m.largest = m2 > m.largest ? m2 : m.largest;
            m.error = bits > m.error ? bits : m.error;
            if (isfinite(error)) {
                raise_to(&m.excess, error - rtol * fabsf(e));
                m.unsure |= 2 * (double)error > fabs((double)e);
            }
        }
    return m;
}

/* One pair against the limits, in f32 or f64. */
static void add_pair(const kernel *k, const td_tolerance_limits *t, uint64_t x, uint64_t y, td_tolerance_found *f)
{
    const uint64_t steps = steps_between(k, x, y), ulp = k->size == 8 ? t->long_ulp : t->ulp;
    f->steps = steps > f->steps ? steps : f->steps;
    if (x == y && t->same_bits)
        return;
    if (is_exact(k)) {
        const double e = value_of(k, x), a = value_of(k, y), error = fabs(a - e);
        if (!isfinite(error) || (error > t->exact_atol + t->exact_rtol * fabs(e) && steps > ulp))
            f->near = false;
        f->exact_error = error > f->exact_error ? error : f->exact_error;
    } else {
        const float e = (float)value_of(k, x), a = (float)value_of(k, y), error = fabsf(a - e);
        if (!isfinite(error) || (error > t->atol + t->rtol * fabsf(e) && steps > ulp))
            f->near = false;
        raise_to(2 * error <= fabsf(e) ? &f->sure_error : &f->unsure_error, error);
    }
}

static td_tolerance_found pairs_by_rule(const kernel *k, const td_tolerance_rows *b, const td_tolerance_limits *t)
{
    td_tolerance_found f = {.near = true};
    for (size_t r = 0; r < b->rows; r++)
        for (size_t i = 0; i < b->count; i++)
            add_pair(k, t, element(k, expected_at(k, b, r, i)), element(k, actual_at(k, b, r, i)), &f);
    return f;
}

static int64_t integer_of(uint64_t bits, const td_tolerance_limits *t)
{
    const int64_t value = (int64_t)(bits & t->mask);
    return bits & t->sign ? value - 2 * (int64_t)t->sign : value;
}

static td_tolerance_found integers_by_rule(const kernel *k, const td_tolerance_rows *b, const td_tolerance_limits *t)
{
    td_tolerance_found f = {.near = true};
    for (size_t r = 0; r < b->rows; r++)
        for (size_t i = 0; i < b->count; i++) {
            const int64_t e = integer_of(element(k, expected_at(k, b, r, i)), t),
                          a = integer_of(element(k, actual_at(k, b, r, i)), t);
            const uint64_t steps = (uint64_t)(e > a ? e - a : a - e);
            f.steps = steps > f.steps ? steps : f.steps;
            if (steps > t->ulp &&
                (double)steps > (t->exact_atol / t->step + t->exact_rtol * fabs((double)e)) * (1 - 1e-12))
                f.near = false;
        }
    return f;
}

static td_tolerance_found by_rule(const kernel *k, const td_tolerance_rows *b, const td_tolerance_limits *t)
{
    return k->rule == RULE_pairs      ? pairs_by_rule(k, b, t)
           : k->rule == RULE_integers ? integers_by_rule(k, b, t)
                                      : measure_by_rule(k, b, t->rtol);
}

/* Of what a kernel finds, all that says something. */
static bool agree(const kernel *k, const td_tolerance_found *a, const td_tolerance_found *b)
{
    const bool finite = b->error < TD_TOLERANCE_NOT_FINITE;
    if (k->rule == RULE_integers)
        return is_exact(k) ? a->near == b->near : a->steps == b->steps;
    if (k->rule == RULE_pairs)
        return a->near == b->near && (a->steps == b->steps || (is_exact(k) && k->size < 8)) &&
               (!b->near || (is_exact(k) ? a->exact_error == b->exact_error
                                         : a->sure_error == b->sure_error && a->unsure_error == b->unsure_error));
    if (is_named(k, "steps_x16"))
        return a->steps == b->steps && a->largest == b->largest;
    if ((a->error < TD_TOLERANCE_NOT_FINITE) != finite || a->steps != b->steps)
        return false;
    return !finite ||
           (a->error == b->error && a->excess == b->excess && (is_named(k, "near_f32") || a->unsure == b->unsure));
}

/* -- blocks -------------------------------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Pairs a few steps apart; with `wild`, of anything. */
static void fill(const kernel *k, const td_tolerance_rows *b, bool wild, uint64_t seed)
{
    const uint64_t one = k->size == 8                          ? (uint64_t)0x3ff << 52
                         : k->size == 4                        ? 0x3f800000u
                         : k->size == 1 || is_named(k, "_f16") ? 0x3c00u >> (16 - 8 * k->size)
                                                               : 0x3f80u;
    static const uint64_t special[] = {0,
                                       0x8000,
                                       0x80000000,
                                       1,
                                       0x8001,
                                       0x80,
                                       0x7c,
                                       (uint64_t)1 << 63,
                                       0x7c00,
                                       0x7f80,
                                       0x7f800000,
                                       0xff800001,
                                       0x7fff,
                                       0xff,
                                       (uint64_t)0x7ff << 52};
    const size_t specials = sizeof special / sizeof special[0];
    for (size_t r = 0; r < b->rows; r++)
        for (size_t i = 0; i < b->count; i++) {
            uint64_t x = one + next_random(&seed) % (k->size == 1 ? 50 : 5000), y = x + next_random(&seed) % 7 - 3;
            if (wild) {
                x = next_random(&seed) << 42 ^ next_random(&seed) << 16 ^ next_random(&seed);
                y = next_random(&seed) % 2 ? x ^ (next_random(&seed) % 9) << 13 : next_random(&seed) << 33 >> k->size;
                if (next_random(&seed) % 16 == 0)
                    x = special[next_random(&seed) % specials];
                if (next_random(&seed) % 16 == 0)
                    y = next_random(&seed) % 2 ? x : special[next_random(&seed) % specials];
            }
            memcpy(expected_at(k, b, r, i), &x, k->size);
            memcpy(actual_at(k, b, r, i), &y, k->size);
        }
}

/* The values of elements that come with them. */
static void decode(const kernel *k, td_tolerance_rows *b, float *expected, float *actual)
{
    for (size_t r = 0; r < b->rows; r++)
        for (size_t i = 0; i < b->count; i++) {
            expected[r * b->count + i] = (float)value_of(k, element(k, expected_at(k, b, r, i)));
            actual[r * b->count + i] = (float)value_of(k, element(k, actual_at(k, b, r, i)));
        }
    b->expected_values = expected;
    b->actual_values = actual;
}

static void check_limits(const kernel *k, const td_tolerance_rows *b, const td_tolerance_limits *t)
{
    const td_tolerance_found found = k->fn(b, t), truth = by_rule(k, b, t);
    if (!agree(k, &found, &truth))
        fail_msg("%s_%s: %zu rows of %zu, rtol %g, atol %g, ulp %u: error %x %a %a %a, steps %llu, excess %a, unsure "
                 "%d, largest %x, near %d; by rule %x %a %a %a, %llu, %a, %d, %x, %d",
                 k->name, k->isa, b->rows, b->count, t->exact_rtol, t->exact_atol, t->ulp, found.error,
                 found.exact_error, (double)found.sure_error, (double)found.unsure_error,
                 (unsigned long long)found.steps, (double)found.excess, found.unsure, found.largest, found.near,
                 truth.error, truth.exact_error, (double)truth.sure_error, (double)truth.unsure_error,
                 (unsigned long long)truth.steps, (double)truth.excess, truth.unsure, truth.largest, truth.near);
}

/* Integers are of all bits of their container and of fewer, with a sign and without. */
static void check_policies(const kernel *k, const td_tolerance_rows *b, float rtol)
{
    const bool floats = k->rule != RULE_integers;
    for (unsigned ulp = 0; ulp <= 3; ulp += floats && k->rule != RULE_pairs ? 4 : 1)
        for (unsigned form = 0; form < (k->rule == RULE_measure || k->rule == RULE_transposed ? 1 : 4); form++) {
            const unsigned bits = (unsigned)(8 * k->size) - (floats ? 0 : form / 2 * 3);
            const uint64_t mask = bits >= 32 ? UINT32_MAX : ((uint64_t)1 << bits) - 1;
            const td_tolerance_limits t = {.atol = form % 2 ? 0.005f : -1,
                                           .rtol = rtol,
                                           .exact_atol = form % 2 ? 0.005
                                                         : floats ? -1
                                                                  : 0,
                                           .exact_rtol = (double)rtol,
                                           .ulp = ulp,
                                           .long_ulp = ulp,
                                           .same_bits = form / 2 ? -1 : 0,
                                           .step = 0.002,
                                           .mask = (uint32_t)mask,
                                           .sign = floats || ulp % 2 ? (uint32_t)(mask ^ mask >> 1) : 0};
            check_limits(k, b, &t);
        }
}

static void check(const kernel *k, size_t rows, size_t count, size_t gap, size_t shift, float rtol, bool wild)
{
    const bool across = k->rule == RULE_transposed;
    const size_t row_bytes = count * k->size, e_rows = across ? count : rows,
                 e_row_bytes = across ? rows * k->size : row_bytes, e_stride = e_row_bytes + gap,
                 a_stride = gap == 4096 ? gap : row_bytes + 2 * gap;
    const size_t e_bytes = shift + (e_rows - 1) * e_stride + e_row_bytes, a_bytes = (rows - 1) * a_stride + row_bytes;
    unsigned char *e = malloc(e_bytes), *a = malloc(a_bytes);
    float *values = malloc(2 * rows * count * sizeof *values);
    assert_non_null(e);
    assert_non_null(a);
    assert_non_null(values);
    memset(e, 0xff, e_bytes);
    memset(a, 0x7f, a_bytes);
    td_tolerance_rows b = {.expected = e + shift,
                           .actual = a,
                           .expected_stride = (ptrdiff_t)e_stride,
                           .actual_stride = (ptrdiff_t)a_stride,
                           .rows = rows,
                           .count = count,
                           .ahead = {gap ? 1 << 20 : 0, 0}}; /* nothing is there */
    fill(k, &b, wild, rows * 1000 + count);
    if (k->rule == RULE_pairs)
        decode(k, &b, values, values + rows * count);
    check_policies(k, &b, rtol);
    free(e);
    free(a);
    free(values);
}

static void check_rows(const kernel *k)
{
    const size_t vector = 64 / k->size;
    for (size_t count = 1; count <= 2 * vector + 1; count++)
        for (size_t rows = 1; rows <= 9; rows += k->rule == RULE_measure ? 1 : 2)
            for (int wild = 0; wild < 2; wild++) {
                check(k, rows, count, 0, 0, 0, wild);
                check(k, rows, count, count % 5 * 3, rows % 4, 0.01f, wild);
            }
    check(k, 1, 2048, 0, 1, 0, false);
    check(k, 64, 32, 64, 0, 0.25f, true);
}

static void check_transposed(const kernel *k)
{
    const size_t edge = 64 / k->size, wide = 16 / k->size;
    for (int wild = 0; wild < 2; wild++) {
        for (size_t rows = 1; rows <= 2 * edge + 1; rows += rows < 5 ? 1 : rows % 7 + 1)
            for (size_t count = 1; count <= 2 * wide + 1; count++)
                check(k, rows, count, rows % 4 * 3, rows % 5, wild ? 0.01f : 0, wild);
        for (size_t count = edge - 1; count <= 2 * edge + 1; count += count < edge + 1 ? 1 : count % 5 + 1)
            for (size_t rows = edge - 1; rows <= 2 * edge + 1; rows += rows < edge + 1 ? 1 : rows % 9 + 1) {
                check(k, rows, count, rows % 3 * 4, count % 5, rows % 2 ? 0.01f : 0, wild);
                check(k, rows, count, 4096, 0, 0, wild); /* rows that fall on one set of the cache */
            }
    }
}

static void check_kernel(const kernel *k)
{
    if (k->rule == RULE_transposed)
        check_transposed(k);
    else
        check_rows(k);
}

#define X(name, size, rule)                                                                                            \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        CHECK_VERSIONS(tolerance, check_kernel, name, size, RULE_##rule);                                              \
    }
TD_TOLERANCE_KERNELS(X)
#undef X

/* -- with --bench: a block of 2048 pairs a few steps apart, or of 32 rows and columns that are transposed */

static _Alignas(64) unsigned char bench_e[2048 * 8], bench_a[2048 * 8];
static float bench_values[2 * 2048];
static td_tolerance_rows bench_block;

static void bench_run(const kernel *k)
{
    static const td_tolerance_limits limits = {
        .atol = -1, .exact_atol = -1, .ulp = 3, .long_ulp = 3, .step = 1, .mask = UINT32_MAX};
    static volatile uint64_t steps;
    for (int i = 0; i < 16; i++)
        steps += k->fn(&bench_block, &limits).steps;
}

static void bench_kernel(const kernel *k)
{
    static unsigned char copy[16 * 2048 * 8], from[16 * 2048 * 8];
    const bool across = k->rule == RULE_transposed;
    const size_t rows = across ? 32 : 1, count = across ? 32 : 2048;
    bench_block = (td_tolerance_rows){.expected = bench_e,
                                      .actual = bench_a,
                                      .expected_stride = (ptrdiff_t)(count * k->size),
                                      .actual_stride = (ptrdiff_t)(count * k->size),
                                      .rows = rows,
                                      .count = count};
    fill(k, &bench_block, false, 1);
    if (k->rule == RULE_pairs)
        decode(k, &bench_block, bench_values, bench_values + 2048);
    BENCH(bench_run, k, copy, from, 16 * rows * count * k->size);
}

static int bench(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("kernel: memcpy's time of one side by its own, 16 blocks\n");
#define X(name, size, rule) CHECK_VERSIONS(tolerance, bench_kernel, name, size, RULE_##rule);
    TD_TOLERANCE_KERNELS(X)
#undef X
    return 0;
}

static const td_check checks[] = {
#define X(name, size, rule) TD_CHECK(test_##name),
    TD_TOLERANCE_KERNELS(X)
#undef X
};

TD_CHECK_FAMILY(tolerance, checks, NULL, NULL, bench);
