/* Loads with the steps that are part of them, and loads side by side, against the same calls one by one, bit for bit:
 * every layout of a list with every operand of a list. */
#include "support.h"

#include <math.h>

enum { ROWS = 48, COLUMNS = 96, WORDS = 8192 };

static const struct {
    const char *pattern, *options, *as;
    uint64_t width;
} layouts[] = {
    {"r c -> r c", "", "", 32 * COLUMNS},
    {"(rt rs) (ct cs) -> (rt ct rs) cs", "rs=16 cs=16", "", 512},
    {"(rt rs) (ct cs) -> (rt ct rs) cs", "rs=16 cs=16", "i8 scale=0.05", 128},
    {"(rt rs) (ct cs) -> (rt ct) (rs cs)", "rs=8 cs=8", "i8 scale=0.05", 512},
    {"r c -> c r", "", "", 32 * ROWS},
    {"r c -> c r", "", "f16", 16 * ROWS},
    {"r c -> (c r) 1", "", "i8 scale=0.5", 8},
    {"r (ct cs) -> (r ct) cs", "cs=32", "i5 scale=0.1", 160},
    {"r (ct cs) -> (r ct) cs", "cs=20 pad=0", "", 640},
    {"r (ct cs) -> (ct r) cs", "cs=7 tail=clip", "", 224},
    {"r c -> (r c) 1", "slot=40 lsb=3", "", 48},
    {"... -> (...)", "", "", 33},
};

static const struct {
    const char *dtype, *shape, *axis;
    td_shape of;
} operands[] = {
    {"f32", "48x96", "", {.rank = 2, .dim = {ROWS, COLUMNS}}},
    {"f32", "96", "", {.rank = 1, .dim = {COLUMNS}}},
    {"f32", "48x1", "", {.rank = 2, .dim = {ROWS, 1}}},
    {"f32", "48", "axis=0", {.rank = 1, .dim = {ROWS}}},
    {"f32", "1", "", {.rank = 1, .dim = {1}}},
};

static td_tensor *draw(const char *dtype, td_shape shape, const char *what)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create(dtype, shape, &t));
    ASSERT_OK(td_tensor_fill(t, what));
    return t;
}

/* clamp(mul(add(scale(x), y), y)), each a tensor of its own. */
static void load_each(td_memory *m, const td_tensor *x, const td_tensor *y, const char *axis, const td_layout *layout,
                      const char *as)
{
    td_tensor *a = NULL, *b = NULL, *c = NULL, *d = NULL;
    ASSERT_OK(td_tensor_scale(x, 0.75, NULL, &a));
    ASSERT_OK(td_tensor_add(a, y, axis, &b));
    ASSERT_OK(td_tensor_mul(b, y, axis, &c));
    ASSERT_OK(td_tensor_clamp(c, -0.5, 1.25, &d));
    ASSERT_OK(td_backdoor_load_tensor(m, d, layout, as));
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
    td_tensor_destroy(&c);
    td_tensor_destroy(&d);
}

static void check_chain(size_t l, size_t o)
{
    char text[512];
    td_memory *one = NULL, *other = NULL;
    td_layout *layout = NULL;
    td_program *p = NULL;
    td_tensor *x = draw("f32", (td_shape){.rank = 2, .dim = {ROWS, COLUMNS}}, "normal seed=5"),
              *y = draw("f32", operands[o].of, "normal seed=6");
    const char *axis = operands[o].axis;
    ASSERT_OK(td_tensor_set_real(x, 7, (double)NAN));
    ASSERT_OK(td_memory_create("m", layouts[l].width, WORDS, &one));
    ASSERT_OK(td_memory_create("m", layouts[l].width, WORDS, &other));
    ASSERT_OK(td_memory_fill(one, "random seed=1", 0, WORDS));
    ASSERT_OK(td_memory_fill(other, "random seed=1", 0, WORDS));
    ASSERT_OK(td_layout_create(layouts[l].pattern, layouts[l].options, NULL, &layout));
    load_each(one, x, y, axis, layout, layouts[l].as);
    snprintf(text, sizeof text, "load m (clamp (mul (add (scale x 0.75) y %s) y %s) -0.5 1.25) rows as \"%s\"", axis,
             axis, layouts[l].as);
    ASSERT_OK(td_program_create(text, &p));
    ASSERT_OK(td_program_bind_memory(p, "m", other));
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    ASSERT_OK(td_program_bind_tensor(p, "y", y));
    ASSERT_OK(td_program_bind_layout(p, "rows", layout));
    ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
    if (memcmp(td_memory_data(one), td_memory_data(other), WORDS * td_memory_word_bytes(one)) != 0)
        fail_msg("%s %s as %s, operand %s: other words", layouts[l].pattern, layouts[l].options, layouts[l].as,
                 operands[o].shape);
    td_program_destroy(&p);
    td_layout_destroy(&layout);
    td_tensor_destroy(&x);
    td_tensor_destroy(&y);
    td_memory_destroy(&one);
    td_memory_destroy(&other);
}

static void test_chains(void **state)
{
    (void)state;
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
        for (size_t o = 0; o < sizeof operands / sizeof *operands; o++)
            check_chain(l, o);
}

/* Ten loads of 64 KiB that share no word, one of which writes over the first: they cannot all go side by side. */
static void test_side_by_side(void **state)
{
    (void)state;
    td_memory *a = NULL, *b = NULL;
    td_tensor *x = draw("i8", (td_shape){.rank = 3, .dim = {11, 256, 256}}, "random seed=2");
    td_layout *rows = NULL;
    td_program *p = NULL;
    char text[1024];
    size_t used = 0;
    ASSERT_OK(td_memory_create("m", 2048, 11 * 256, &a));
    ASSERT_OK(td_memory_create("m", 2048, 11 * 256, &b));
    for (int i = 0; i < 11; i++) { /* in odd order, so that they are not joined */
        const int part = i == 10 ? 10 : i * 3 % 10, at = 256 * (i == 10 ? 4 : i);
        char address[32];
        td_tensor *slice = NULL;
        used += (size_t)snprintf(text + used, sizeof text - used, "load m x[%d] \"r c -> r c\" at %d over\n", part, at);
        snprintf(address, sizeof address, "%d + index", at);
        ASSERT_OK(td_layout_create("r c -> r c", NULL, address, &rows));
        snprintf(address, sizeof address, "%d", part);
        ASSERT_OK(td_tensor_slice(x, address, &slice));
        ASSERT_OK(td_backdoor_load_tensor(a, slice, rows, NULL));
        td_layout_destroy(&rows);
        td_tensor_destroy(&slice);
    }
    ASSERT_OK(td_program_create(text, &p));
    ASSERT_OK(td_program_bind_memory(p, "m", b));
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    for (int run = 0; run < 50; run++) {
        ASSERT_OK(td_memory_fill(b, "zero", 0, 11 * 256));
        ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
        assert_memory_equal(td_memory_data(a), td_memory_data(b), (size_t)11 * 256 * 256);
    }
    td_program_destroy(&p);
    td_tensor_destroy(&x);
    td_memory_destroy(&a);
    td_memory_destroy(&b);
}

/* Dumps into tensors of the caller beside loads that read them: only those that share nothing may change places. */
static void test_dumps_side_by_side(void **state)
{
    (void)state;
    enum { PARTS = 8, BYTES = 256 * 256 };
    td_memory *m = NULL;
    td_tensor *x[PARTS], *y[PARTS];
    td_program *p = NULL;
    char text[2048], name[8];
    size_t used = 0;
    ASSERT_OK(td_memory_create("m", 2048, (PARTS + 1) * 256, &m));
    for (int i = 0; i < PARTS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "load m x%d \"r c -> r c\" at %d\n", i, 256 * i);
    for (int i = 0; i < PARTS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "dump m y%d \"r c -> r c\" at %d\n", i,
                                 256 * (PARTS - 1 - i));
    used += (size_t)snprintf(text + used, sizeof text - used, "load m y1 \"r c -> r c\" at %d\n", 256 * PARTS);
    ASSERT_OK(td_program_create(text, &p));
    ASSERT_OK(td_program_bind_memory(p, "m", m));
    for (int i = 0; i < PARTS; i++) {
        x[i] = draw("i8", (td_shape){.rank = 2, .dim = {256, 256}}, "random seed=3");
        y[i] = draw("i8", (td_shape){.rank = 2, .dim = {256, 256}}, "ramp");
        memset(td_tensor_data(x[i]), i + 1, BYTES);
        snprintf(name, sizeof name, "x%d", i);
        ASSERT_OK(td_program_bind_tensor(p, name, x[i]));
        snprintf(name, sizeof name, "y%d", i);
        ASSERT_OK(td_program_bind_tensor(p, name, y[i]));
    }
    for (int run = 0; run < 50; run++) {
        for (int i = 0; i < PARTS; i++)
            memset(td_tensor_data(y[i]), 0, BYTES);
        ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
        for (int i = 0; i < PARTS; i++)
            assert_memory_equal(td_tensor_data(y[i]), td_tensor_data(x[PARTS - 1 - i]), BYTES);
        assert_memory_equal((const char *)td_memory_data(m) + (size_t)PARTS * BYTES, td_tensor_data(y[1]), BYTES);
    }
    td_program_destroy(&p);
    for (int i = 0; i < PARTS; i++) {
        td_tensor_destroy(&x[i]);
        td_tensor_destroy(&y[i]);
    }
    td_memory_destroy(&m);
}

/* Tensors that need nothing of each other, on any number of threads: the same bytes, and explain names them. */
static void test_tensors_side_by_side(void **state)
{
    (void)state;
    td_tensor *x = draw("f32", (td_shape){.rank = 2, .dim = {256, 512}}, "uniform seed=1"),
              *y = draw("f32", (td_shape){.rank = 2, .dim = {256, 512}}, "uniform seed=2");
    td_memory *m[3] = {NULL};
    char *told = NULL;
    for (unsigned threads = 1; threads <= 3; threads++) {
        td_program *p = NULL;
        ASSERT_OK(td_memory_create("m", 32, 1 << 20, &m[threads - 1]));
        ASSERT_OK(td_program_create("tensor a = clamp (scale x 2) -9 9\ntensor b = clamp (scale y 3) -9 9\n"
                                    "tensor c = transpose x \"1 0\"\ntensor d = convert y \"i8 sat\"\n"
                                    "tensor e = add a b\n"
                                    "load m (concat a b e axis 0) \"r c -> (r c) 1\"\n"
                                    "load m c \"r c -> (r c) 1\" at 0x80000\n"
                                    "load m d \"r c -> (r c) 1\" at 0xc0000\n",
                                    &p));
        ASSERT_OK(td_program_bind_memory(p, "m", m[threads - 1]));
        ASSERT_OK(td_program_bind_tensor(p, "x", x));
        ASSERT_OK(td_program_bind_tensor(p, "y", y));
        td_speed_threads(threads);
        for (int run = 0; run < 20; run++)
            ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
        ASSERT_OK(td_program_explain(p, NULL, NULL, &told));
        if (!strstr(told, "side by side from 262144 bytes on: %1 = scale, %4 = scale, %6 = transpose\n") ||
            !strstr(told, "side by side from 262144 bytes on: %2 = clamp, %5 = clamp\n"))
            fail_msg("%s", told);
        td_free(told);
        assert_memory_equal(td_memory_data(m[0]), td_memory_data(m[threads - 1]), (size_t)4 << 20);
        td_program_destroy(&p);
    }
    td_speed_threads(0);
    for (int i = 0; i < 3; i++)
        td_memory_destroy(&m[i]);
    td_tensor_destroy(&x);
    td_tensor_destroy(&y);
}

/* Two steps are refused. The first of the text is told, also where the other one runs before it, or on another thread.
 */
static void test_first_refusal(void **state)
{
    (void)state;
    td_memory *m = NULL;
    td_tensor *x = draw("i8", (td_shape){.rank = 1, .dim = {1 << 19}}, "ramp start=100 step=0");
    ASSERT_OK(td_memory_create("m", 8, 1 << 22, &m));
    for (unsigned threads = 1; threads <= 3; threads++) {
        td_program *p = NULL;
        td_speed_threads(threads);
        ASSERT_OK(td_program_create("tensor a = scale (scale x 1) 2\ntensor b = scale x 3\ntensor c = scale x 4\n"
                                    "load m (concat a b c axis=0) \"r -> r 1\"\n",
                                    &p));
        ASSERT_OK(td_program_bind_memory(p, "m", m));
        ASSERT_OK(td_program_bind_tensor(p, "x", x));
        for (int run = 0; run < 20; run++) {
            assert_int_equal(td_program_run(p, NULL, NULL, NULL), TD_RANGE);
            assert_string_equal(td_last_error(),
                                "program_run: line 1: tensor_scale: element (0): 100 * 2 is past the range of i8, -128 "
                                "to 127; pass sat or wrap, or convert the tensor to a wider type first\n"
                                "    tensor a = scale (scale x 1) 2\n    ^~~~~~");
        }
        td_program_destroy(&p);
    }
    td_speed_threads(0);
    td_tensor_destroy(&x);
    td_memory_destroy(&m);
}

/* A view that is asked for behind the run, when the tensor that it is of was given up. */
static void test_view_of_dropped(void **state)
{
    (void)state;
    td_memory *m = NULL;
    td_tensor *x = draw("f32", (td_shape){.rank = 2, .dim = {8, 4}}, "ramp start=1"), *two = NULL, *four = NULL;
    const td_tensor *v = NULL;
    td_program *p = NULL;
    ASSERT_OK(td_memory_create("m", 128, 64, &m));
    ASSERT_OK(td_program_create("tensor a = scale x 2\ntensor v = a[2:6]\nload m (clamp v 0 9) \"r c -> r c\"\n"
                                "load m v \"r c -> r c\" at 8\nload m a \"r c -> r c\" at 16\n",
                                &p));
    ASSERT_OK(td_program_bind_memory(p, "m", m));
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    ASSERT_OK(td_tensor_scale(x, 2, NULL, &two));
    ASSERT_OK(td_tensor_slice(two, "2:6", &four));
    for (int run = 0; run < 2; run++) {
        ASSERT_OK(td_program_run(p, NULL, NULL, NULL));
        ASSERT_OK(td_program_tensor(p, "v", &v));
        assert_memory_equal(td_tensor_data_const(v), td_tensor_data_const(four), 16 * sizeof(float));
    }
    td_program_destroy(&p);
    td_tensor_destroy(&x);
    td_tensor_destroy(&two);
    td_tensor_destroy(&four);
    td_memory_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains),
                                       cmocka_unit_test(test_side_by_side),
                                       cmocka_unit_test(test_dumps_side_by_side),
                                       cmocka_unit_test(test_tensors_side_by_side),
                                       cmocka_unit_test(test_first_refusal),
                                       cmocka_unit_test(test_view_of_dropped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
