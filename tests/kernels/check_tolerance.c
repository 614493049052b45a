/* The kernels of kernels/tolerance.h, every version of this machine against a rule of its own in double: one pair to two vectors
 * and one more, in rows that are whole vectors, parts of them and neither, odd strides, bases off their alignment,
 * zeros of both signs, subnormals, infinities and NaNs, and guard bytes between the rows that are all NaN. The table of
 * kernels/tolerance.h makes the list. */
#include "base/cpu.h"
#include "kernels/tolerance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct kernel {
    const char *name;
    size_t size;
    td_measure_fn fn[3];
    td_measure_transposed_fn transposed[3]; /* or these */
} kernel;

static bool is_named(const kernel *k, const char *name)
{
    const char *of = k->transposed[0] ? k->name + strlen("transposed_") : k->name;
    return strcmp(of, name) == 0;
}

/* Where element i of row r lies on either side; of turned blocks what is expected has its rows the other way round. */
static unsigned char *expected_at(const kernel *k, const td_tolerance_rows *b, size_t r, size_t i)
{
    return (unsigned char *)(uintptr_t)b->expected +
           (k->transposed[0] ? (ptrdiff_t)i * b->expected_stride + (ptrdiff_t)(r * k->size)
                         : (ptrdiff_t)r * b->expected_stride + (ptrdiff_t)(i * k->size));
}

static unsigned char *actual_at(const kernel *k, const td_tolerance_rows *b, size_t r, size_t i)
{
    return (unsigned char *)(uintptr_t)b->actual + (ptrdiff_t)r * b->actual_stride + (ptrdiff_t)(i * k->size);
}

/* -- the rule ------------------------------------------------------------------------------------------------------ */

static double value_of(const kernel *k, uint32_t bits)
{
    if (is_named(k, "f16")) {
        const int exponent = (int)(bits >> 10 & 31);
        const double fraction = (double)(bits & 1023) / 1024, sign = bits >> 15 ? -1 : 1;
        if (exponent == 31)
            return bits & 1023 ? NAN : sign * INFINITY;
        return sign * (exponent ? ldexp(1 + fraction, exponent - 15) : ldexp(fraction, -14));
    }
    if (k->size == 2)
        bits <<= 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Places in the order of the values; the two zeros share one. */
static int64_t place_of(const kernel *k, uint32_t bits)
{
    const uint32_t sign = k->size == 4 ? 0x80000000u : 0x8000u;
    return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static uint32_t element(const kernel *k, const unsigned char *p)
{
    uint32_t bits = 0;
    memcpy(&bits, p, k->size);
    return bits;
}

static float largest_of(float a, float b)
{
    return a > b ? a : b;
}

static td_tolerance_most by_rule(const kernel *k, const td_tolerance_rows *b, float rtol)
{
    td_tolerance_most m = {.excess = -INFINITY};
    for (size_t r = 0; r < b->rows; r++)
        for (size_t i = 0; i < b->count; i++) {
            const uint32_t x = element(k, expected_at(k, b, r, i)), y = element(k, actual_at(k, b, r, i));
            const uint32_t sign = k->size == 4 ? 0x80000000u : 0x8000u, m1 = x & ~sign, m2 = y & ~sign;
            const int64_t apart = place_of(k, x) - place_of(k, y);
            uint32_t steps = (uint32_t)(apart < 0 ? -apart : apart), bits;
            if (is_named(k, "near_f32") && (x ^ y) & sign) /* the distance of the bits, around the circle */
                steps = x - y < y - x ? x - y : y - x;
            const float e = (float)value_of(k, x), a = (float)value_of(k, y), error = fabsf(a - e);
            memcpy(&bits, &error, sizeof bits);
            m.steps = steps > m.steps ? steps : m.steps;
            m.largest = m1 > m.largest ? m1 : m.largest;
            m.largest = m2 > m.largest ? m2 : m.largest;
            m.error = bits > m.error ? bits : m.error;
            if (isfinite(error)) {
                m.excess = largest_of(error - rtol * fabsf(e), m.excess);
                m.unsure |= 2 * (double)error > fabs((double)e);
            }
        }
    return m;
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
    const uint32_t mask = k->size == 4 ? UINT32_MAX : 0xffff,
                   one = is_named(k, "f16") ? 0x3c00 : 0x3f800000u >> (32 - 8 * k->size);
    static const uint32_t special[] = {0,      0x8000, 0x80000000, 1,          0x8001,
                                       0x7c00, 0x7f80, 0x7f800000, 0xff800001, 0x7fff};
    for (size_t r = 0; r < b->rows; r++)
        for (size_t i = 0; i < b->count; i++) {
            uint32_t x = (one + (uint32_t)next_random(&seed) % 5000) & mask,
                     y = x + (uint32_t)next_random(&seed) % 7 - 3;
            if (wild) {
                x = (uint32_t)(next_random(&seed) << 16 ^ next_random(&seed));
                y = next_random(&seed) % 2 ? x ^ (uint32_t)(next_random(&seed) % 9) << 13
                                           : (uint32_t)(next_random(&seed) << 3);
                if (next_random(&seed) % 16 == 0)
                    x = special[next_random(&seed) % (sizeof special / sizeof special[0])];
                if (next_random(&seed) % 16 == 0)
                    y = special[next_random(&seed) % (sizeof special / sizeof special[0])];
            }
            memcpy(expected_at(k, b, r, i), &x, k->size);
            memcpy(actual_at(k, b, r, i), &y, k->size);
        }
}

/* What a kernel says, of what it finds. Errors that are not finite say nothing more. */
static bool agree(const kernel *k, td_tolerance_most a, td_tolerance_most b)
{
    const bool finite = b.error < TD_TOLERANCE_NOT_FINITE;
    if (is_named(k, "steps_x16"))
        return a.steps == b.steps && a.largest == b.largest;
    if ((a.error < TD_TOLERANCE_NOT_FINITE) != finite || a.steps != b.steps)
        return false;
    if (!finite)
        return true;
    return a.error == b.error && a.excess == b.excess && (is_named(k, "near_f32") || a.unsure == b.unsure);
}

static void check(const kernel *k, size_t rows, size_t count, size_t gap, size_t shift, float rtol, bool wild)
{
    const size_t row_bytes = count * k->size, e_rows = k->transposed[0] ? count : rows,
                 e_row_bytes = k->transposed[0] ? rows * k->size : row_bytes, e_stride = e_row_bytes + gap,
                 a_stride = gap == 4096 ? gap : row_bytes + 2 * gap;
    const size_t e_bytes = shift + (e_rows - 1) * e_stride + e_row_bytes, a_bytes = (rows - 1) * a_stride + row_bytes;
    unsigned char *e = malloc(e_bytes), *a = malloc(a_bytes);
    assert_non_null(e);
    assert_non_null(a);
    memset(e, 0xff, e_bytes);
    memset(a, 0x7f, a_bytes);
    const td_tolerance_rows b = {.expected = e + shift,
                                 .actual = a,
                                 .expected_stride = (ptrdiff_t)e_stride,
                                 .actual_stride = (ptrdiff_t)a_stride,
                                 .rows = rows,
                                 .count = count};
    fill(k, &b, wild, rows * 1000 + count);
    const td_tolerance_most truth = by_rule(k, &b, rtol);
    for (int isa = 0; isa < 3; isa++) {
        const td_ahead ahead = {gap ? 1 << 20 : 0, 0}; /* nothing is there */
        const td_tolerance_most m = k->transposed[0] ? k->transposed[isa](&b, ahead, rtol) : k->fn[isa](&b, rtol);
        if (!agree(k, m, truth))
            fail_msg("%s version %d: %zu rows of %zu, gap %zu, rtol %g%s: error %x, steps %u, excess %a, unsure %d, "
                     "largest %x; by rule %x, %u, %a, %d, %x",
                     k->name, isa, rows, count, gap, (double)rtol, wild ? ", wild" : "", m.error, m.steps,
                     (double)m.excess, m.unsure, m.largest, truth.error, truth.steps, (double)truth.excess,
                     truth.unsure, truth.largest);
    }
    free(e);
    free(a);
}

static void check_kernel(const kernel *k)
{
    const size_t vector = 64 / k->size;
    for (size_t count = 1; count <= 2 * vector + 1; count++)
        for (size_t rows = 1; rows <= 9; rows++)
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

/* What the machine has not, is the version below it again. */
static td_tolerance_kernels version[3];

#define X(name, bytes)                                                                                                 \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        check_kernel(&(kernel){#name, bytes, {version[0].name, version[1].name, version[2].name}, {NULL}});            \
    }
TD_TOLERANCE_KERNELS(X)
#undef X
#define X(name, bytes)                                                                                                 \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        check_transposed(&(kernel){#name, bytes, {NULL}, {version[0].name, version[1].name, version[2].name}});            \
    }
TD_TOLERANCE_TRANSPOSED_KERNELS(X)
#undef X

int main(void)
{
    td_tolerance_kernels_init(&version[0], TD_CPU_C);
    td_tolerance_kernels_init(&version[1], td_cpu_flags() & TD_CPU_AVX2);
    td_tolerance_kernels_init(&version[2], td_cpu_flags());
    const struct CMUnitTest tests[] = {
#define X(name, size) cmocka_unit_test(test_##name),
        TD_TOLERANCE_KERNELS(X) TD_TOLERANCE_TRANSPOSED_KERNELS(X)
#undef X
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
