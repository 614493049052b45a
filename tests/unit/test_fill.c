/* Fillings of memories, tensors of coordinates, and tensors from a distribution. */
#include "support.h"

#include <math.h>
#include <stdbool.h>

static td_memory *make(uint64_t width)
{
    td_memory *m = NULL;
    ASSERT_OK(td_memory_create("ram", width, 16, &m));
    memset(td_memory_data(m), 0x11 & (int)((1u << (width < 8 ? width : 8)) - 1), 16 * td_memory_word_bytes(m));
    return m;
}

static uint64_t low(td_memory *m, uint64_t address)
{
    uint64_t word = 0;
    const size_t bytes = td_memory_word_bytes(m);
    memcpy(&word, (unsigned char *)td_memory_data(m) + address * bytes, bytes < 8 ? bytes : 8);
    return word;
}

static void test_patterns(void **state)
{
    (void)state;
    static const uint64_t widths[] = {1, 5, 8, 12, 32, 33, 64, 100};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        const uint64_t width = widths[i], mask = width < 64 ? ((uint64_t)1 << width) - 1 : UINT64_MAX;
        td_memory *m = make(width);
        const uint64_t before = low(m, 2);
        ASSERT_OK(td_memory_fill(m, "one", 3, 5));
        assert_int_equal(low(m, 2), before);
        assert_int_equal(low(m, 8), before);
        assert_int_equal(low(m, 3), mask);
        assert_int_equal(low(m, 7), mask);
        ASSERT_OK(td_memory_fill(m, "address", 0, 16));
        assert_int_equal(low(m, 13), 13 & mask);
        ASSERT_OK(td_memory_fill(m, "constant=1", 4, 1));
        assert_int_equal(low(m, 4), 1);
        ASSERT_OK(td_memory_fill(m, "random seed=7", 0, 16));
        uint64_t seen = 0;
        for (uint64_t a = 0; a < 16; a++) {
            assert_int_equal(low(m, a) & ~mask, 0);
            seen |= low(m, a);
        }
        assert_int_equal(seen & 1, 1);
        const uint64_t at_9 = low(m, 9);
        ASSERT_OK(td_memory_fill(m, "zero", 0, 16));
        assert_int_equal(low(m, 9), 0);
        ASSERT_OK(td_memory_fill(m, "random seed=7", 9, 1));
        assert_int_equal(low(m, 9), at_9);
        ASSERT_OK(td_memory_fill(m, "random", 9, 1));
        td_memory_destroy(&m);
    }
}

static void test_wide_constant(void **state)
{
    (void)state;
    td_memory *m = make(100);
    ASSERT_OK(td_memory_fill(m, "constant=0xf00000000000000000000000a", 5, 1));
    const unsigned char *word = (unsigned char *)td_memory_data(m) + 5 * 16;
    assert_int_equal(word[0], 0x0a);
    assert_int_equal(word[12], 0x0f);
    assert_int_equal(word[13], 0);
    td_memory_destroy(&m);
}

static void test_refusals(void **state)
{
    (void)state;
    td_memory *m = make(12);
    ASSERT_REFUSED(td_memory_fill(m, "constant=0x1000", 0, 1), TD_RANGE,
                   "memory_fill \"ram\": constant=0x1000 in words of 12 bits; pass fewer bits");
    ASSERT_REFUSED(td_memory_fill(m, "constant=4096", 0, 1), TD_RANGE,
                   "memory_fill \"ram\": constant=0x1000 in words of 12 bits; pass fewer bits");
    ASSERT_REFUSED(td_memory_fill(m, "constant=0xg", 0, 1), TD_OPTION,
                   "memory_fill \"ram\": constant=0xg is no number; pass hex or decimal digits");
    ASSERT_REFUSED(td_memory_fill(m, "constant=ten", 0, 1), TD_OPTION,
                   "memory_fill \"ram\": constant=ten is no number; pass hex or decimal digits");
    ASSERT_REFUSED(
        td_memory_fill(m, "random seed=x", 0, 1), TD_OPTION,
        "memory_fill \"ram\": \"random seed=x\" is no filling; pass zero, one, constant=VALUE, address or random "
        "seed=N");
    ASSERT_REFUSED(td_memory_fill(m, "zero", 15, 2), TD_RANGE,
                   "memory_fill \"ram\": 2 words from 0xf in a memory of 16 words; pass words inside it, at least one");
    ASSERT_REFUSED(td_memory_fill(NULL, "zero", 0, 1), TD_ARGUMENT, "memory_fill: the memory is NULL; pass one");
    ASSERT_OK(td_memory_fill(m, "constant=0xfff", 0, 1));
    td_memory_destroy(&m);
}

static void test_coordinates(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    uint64_t bits = 0;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(3, 5, 8), &t));
    ASSERT_OK(td_tensor_fill_coordinates(t));
    ASSERT_OK(td_tensor_get_bits(t, (2 * 5 + 4) * 8 + 7, &bits));
    assert_int_equal(bits, 2 << 6 | 4 << 3 | 7);
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_create("u7", TD_SHAPE(3, 5, 8), &t));
    ASSERT_REFUSED(td_tensor_fill_coordinates(t), TD_RANGE,
                   "tensor_fill_coordinates: the coordinates take 8 bits, an element of u7 has 7; use a wider dtype");
    td_tensor_destroy(&t);
}

/* -- distributions -- */

static void fill(const char *dtype, uint64_t elems, const char *what, td_tensor **t)
{
    td_tensor_destroy(t);
    ASSERT_OK(td_tensor_create(dtype, (td_shape){1, {elems}}, t));
    ASSERT_OK(td_tensor_fill(*t, what));
}

static double real(const td_tensor *t, uint64_t i)
{
    double value = 0;
    ASSERT_OK(td_tensor_get_real(t, i, &value));
    return value;
}

static double moment(const td_tensor *t, double mean, int power)
{
    double sum = 0;
    for (uint64_t i = 0; i < td_tensor_elems(t); i++)
        sum += pow(real(t, i) - mean, power);
    return sum / (double)td_tensor_elems(t);
}

static uint64_t sum_of(const td_tensor *t)
{
    const unsigned char *data = td_tensor_data_const(t);
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < td_tensor_elems(t) * td_tensor_elem_bytes(t); i++)
        sum = (sum ^ data[i]) * 1099511628211u;
    return sum;
}

static void test_uniform(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    static const char *const dtypes[] = {"i4", "u4", "i8", "q4.4", "u3"};
    for (size_t d = 0; d < 5; d++) { /* the whole type, evenly */
        fill(dtypes[d], 1 << 16, "uniform seed=9", &t);
        const uint64_t patterns = (uint64_t)1 << td_tensor_elem_bits(t);
        uint64_t counts[256] = {0};
        for (uint64_t i = 0; i < 1 << 16; i++) {
            uint64_t bits = 0;
            ASSERT_OK(td_tensor_get_bits(t, i, &bits));
            counts[bits]++;
        }
        const double expected = 65536.0 / (double)patterns;
        for (uint64_t p = 0; p < patterns; p++)
            assert_true(fabs((double)counts[p] - expected) < 6 * sqrt(expected));
    }
    fill("i16", 1 << 14, "uniform min=-3 max=2 seed=1", &t);
    bool seen[6] = {false};
    for (uint64_t i = 0; i < 1 << 14; i++) {
        assert_true(real(t, i) >= -3 && real(t, i) <= 2);
        seen[(int)real(t, i) + 3] = true;
    }
    for (int i = 0; i < 6; i++)
        assert_true(seen[i]);
    fill("u64", 1000, "uniform min=18446744073709551614 max=0xffffffffffffffff", &t);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(((const uint64_t *)td_tensor_data_const(t))[i] >= UINT64_MAX - 1);
    fill("f32", 1 << 16, "uniform min=2 max=6 seed=3", &t);
    assert_true(fabs(moment(t, 0, 1) - 4) < 0.03);
    assert_true(fabs(moment(t, 4, 2) - 16.0 / 12) < 0.03);
    for (uint64_t i = 0; i < 1 << 16; i++)
        assert_true(real(t, i) >= 2 && real(t, i) <= 6);
    fill("f64", 1000, "uniform min=-1.7e308 max=1.7e308", &t); /* the difference passes the type */
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(isfinite(real(t, i)));
    fill("e8m0", 1000, "uniform", &t);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(real(t, i) >= 0.5 && real(t, i) <= 2);
    td_tensor_destroy(&t);
}

static void test_normal(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    fill("f32", 1 << 18, "normal mean=3 sigma=2 seed=5", &t);
    const double mean = moment(t, 0, 1), variance = moment(t, mean, 2);
    assert_true(fabs(mean - 3) < 0.02);
    assert_true(fabs(variance - 4) < 0.05);
    assert_true(fabs(moment(t, mean, 3)) < 0.2);
    assert_true(fabs(moment(t, mean, 4) / (variance * variance) - 3) < 0.08);
    double furthest = 0;
    for (uint64_t i = 0; i < 1 << 18; i++)
        furthest = fmax(furthest, fabs(real(t, i) - 3) / 2);
    assert_true(furthest > 4 && furthest < 7); /* it has tails */
    fill("i8", 1 << 14, "normal mean=100 sigma=50 seed=5", &t);
    double highest = 0;
    for (uint64_t i = 0; i < 1 << 14; i++)
        highest = fmax(highest, real(t, i));
    assert_true(highest == 127); /* the nearest number, not a wrapped one */
    fill("e4m3", 1 << 14, "normal sigma=400 seed=5", &t);
    for (uint64_t i = 0; i < 1 << 14; i++)
        assert_true(isfinite(real(t, i)));
    td_tensor_destroy(&t);
}

static void test_sparse(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    static const struct {
        const char *what;
        double share;
    } rows[] = {{"sparse seed=2", 0.9},
                {"sparse zeros=0.5 min=-1 max=1", 0.5},
                {"normal zeros=0.25 sigma=30", 0.25},
                {"uniform zeros=1", 1}};
    for (size_t r = 0; r < 4; r++) {
        fill("i8", 1 << 16, rows[r].what, &t);
        uint64_t zeros = 0;
        for (uint64_t i = 0; i < 1 << 16; i++)
            zeros += real(t, i) == 0;
        assert_true(fabs((double)zeros / 65536 - rows[r].share) < 0.01);
    }
    td_tensor_destroy(&t);
}

static void test_corners(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    static const struct {
        const char *dtype;
        double values[4];
    } rows[] = {{"i8", {-128, 127, -1, 0}},
                {"u4", {0, 15, 1, 5}},
                {"f16", {65504, -65504, 0x1p-24, 1}},
                {"bf16", {INFINITY, -INFINITY, 1, 0}},
                {"e4m3", {448, -448, 0x1p-9, 0x1p-6}},
                {"q8.8", {1, -128, 0, -1}}};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        fill(rows[r].dtype, 64, "corners seed=4", &t);
        for (size_t v = 0; v < 4; v++) {
            bool found = false;
            for (uint64_t i = 0; i < 64; i++)
                found |= real(t, i) == rows[r].values[v];
            if (!found)
                fail_msg("%s has no corner %g", rows[r].dtype, rows[r].values[v]);
        }
    }
    fill("f32", 200, "corners", &t);
    uint64_t nans = 0;
    for (uint64_t i = 0; i < 200; i++)
        nans += isnan(real(t, i)) ? 1 : 0;
    assert_true(nans > 0);
    fill("f32", 200, "corners finite", &t);
    for (uint64_t i = 0; i < 200; i++)
        assert_true(isfinite(real(t, i)));
    td_tensor_destroy(&t);
}

/* The same on every machine, and with every version of this library: these sums are part of the promise. */
static void test_the_same_everywhere(void **state)
{
    (void)state;
    td_tensor *t = NULL, *other = NULL;
    static const struct {
        const char *dtype, *what;
        uint64_t sum;
    } rows[] = {
        {"i8", "uniform seed=7", 0x77eba569a8e86f15},
        {"f32", "uniform min=-1 max=1 seed=7", 0x9c236a9c763adf6d},
        {"f64", "normal mean=1 sigma=3 seed=7", 0x9b8c5a7a6fb30a19},
        {"bf16", "sparse zeros=0.75 seed=7", 0x634405fff4b8bd89},
        {"f16", "corners seed=7", 0x48a9d2911c66b112},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        fill(rows[r].dtype, 1000, rows[r].what, &t);
        if (sum_of(t) != rows[r].sum)
            fail_msg("%s \"%s\" has the sum 0x%llx", rows[r].dtype, rows[r].what, (unsigned long long)sum_of(t));
    }
    fill("f32", 100, "random seed=3", &t);
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(100), &other));
    ASSERT_OK(td_tensor_fill_random(other, 3));
    assert_memory_equal(td_tensor_data(t), td_tensor_data(other), 400);
    fill("f32", 100, "ramp start=2 step=0.5", &t);
    assert_true(real(t, 3) == 3.5);
    td_tensor_destroy(&t);
    td_tensor_destroy(&other);
}

static void test_words(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    static const struct {
        const char *what;
        td_status status;
        const char *text;
    } rows[] = {
        {"", TD_OPTION, "the filling is empty; pass one like \"uniform min=-1 max=1 seed=7\""},
        {"unifrom", TD_OPTION,
         "unknown filling \"unifrom\"; did you mean \"uniform\"? pass uniform, normal, sparse, corners, random, ramp "
         "or "
         "coordinates"},
        {"uniform sigma=1", TD_OPTION,
         "unknown word \"sigma=1\" in \"uniform sigma=1\"; uniform has min=, max=, zeros=, "
         "seed="},
        {"coordinates seed=1", TD_OPTION,
         "unknown word \"seed=1\" in \"coordinates seed=1\"; coordinates has no words"},
        {"normal mean=x", TD_OPTION, "mean=x in \"normal mean=x\" is not a finite number; pass one like mean=0.5"},
        {"normal sigma=-1", TD_OPTION, "sigma=-1 in \"normal sigma=-1\" is negative; pass a number of at least 0"},
        {"sparse zeros=2", TD_OPTION, "zeros=2 in \"sparse zeros=2\" is no share; pass a number from 0 to 1"},
        {"uniform seed=-1", TD_OPTION,
         "seed=-1 in \"uniform seed=-1\" is not an integer from 0 to 2^64 - 1; pass one like seed=1"},
        {"uniform min=1 min=2", TD_OPTION, "\"uniform min=1 min=2\" says min= twice; keep one of them"},
        {"uniform min=5 max=4", TD_OPTION,
         "the range of \"uniform min=5 max=4\" goes from 5 to 4; pass a min= that is not above max="},
        {"uniform max=128", TD_RANGE,
         "max=128 in \"uniform max=128\": value 128 is not in i8, which holds whole numbers from -128 to 127; pass a "
         "value in that range"},
    };
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4), &t));
    ASSERT_OK(td_tensor_fill_ramp(t, 1, 1));
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        char want[512];
        snprintf(want, sizeof want, "tensor_fill: %s", rows[r].text);
        ASSERT_REFUSED(td_tensor_fill(t, rows[r].what), rows[r].status, want);
        assert_memory_equal(td_tensor_data(t), "\1\2\3\4", 4);
    }
    ASSERT_REFUSED(td_tensor_fill(t, NULL), TD_ARGUMENT,
                   "tensor_fill: what is NULL; pass a text like \"uniform min=-1 max=1 seed=7\"");
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_create("e8m0", TD_SHAPE(4), &t));
    ASSERT_REFUSED(td_tensor_fill(t, "sparse"), TD_OPTION,
                   "tensor_fill: \"sparse\" writes zeros, and e8m0 has none; pass zeros=0");
    td_tensor_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_wide_constant),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_the_same_everywhere),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
