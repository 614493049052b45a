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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chains), cmocka_unit_test(test_side_by_side),
                                       cmocka_unit_test(test_view_of_dropped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
