/* Every pass on a graph, with the graph that it should leave; and what is not fused or joined, with the reason. What
 * the passes must not change is the business of tests/prop/prop_program.c. */
#include "support.h"

/* The program's graph after a pass: the lines of that pass, or of the last one before it that changed something. */
static void assert_graph(const char *text, const char *pass, const char *expected)
{
    td_memory *m = NULL;
    td_tensor *x = NULL, *y = NULL, *w = NULL;
    td_program *p = NULL;
    char *all = NULL, title[32];
    ASSERT_OK(td_memory_create("m", 512, 4096, &m));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(64, 32, 16), &x));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(16), &y));
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(8, 64), &w));
    ASSERT_OK(td_program_create("layout rows = \"r c -> r c\"\nlayout all = \"t r c -> (t r) c\"\n", &p));
    ASSERT_OK(td_program_add(p, text));
    ASSERT_OK(td_program_bind_memory(p, "m", m));
    ASSERT_OK(td_program_bind_tensor(p, "x", x));
    ASSERT_OK(td_program_bind_tensor(p, "y", y));
    ASSERT_OK(td_program_bind_tensor(p, "w", w));
    ASSERT_OK(td_program_explain(p, NULL, NULL, &all));
    snprintf(title, sizeof title, "%s: ", pass);
    char *shown = NULL; /* the steps of the last pass that changed them */
    for (char *block = all, *next = NULL; block; block = next) {
        next = strstr(block, "\n\n");
        if (next) {
            next[1] = 0;
            next += 2;
        }
        char *steps = strstr(block, ": ") + 2;
        shown = strcmp(steps, "nothing changes\n") == 0 ? shown : steps;
        if (strncmp(block, title, strlen(title)) == 0)
            break;
        assert_non_null(next);
    }
    assert_memory_equal(expected, title, strlen(title));
    assert_string_equal(shown, expected + strlen(title));
    td_free(all);
    td_program_destroy(&p);
    td_tensor_destroy(&x);
    td_tensor_destroy(&y);
    td_tensor_destroy(&w);
    td_memory_destroy(&m);
}

static void test_as_written(void **state)
{
    (void)state;
    assert_graph("arg n = 2\n"
                 "tensor a = fill i8 2x3 ramp\n"
                 "for t in 0..n:\n"
                 "  write m t 7\n"
                 "fill m one from 8 count 4\n"
                 "tensor d = dump m i8 2x3 rows at 8\n"
                 "checkpoint c d a\n",
                 "as written",
                 "as written: 6 steps\n"
                 "    %0 = fill \"ramp\": i8 (2, 3), once  # line 4\n"
                 "    write into m words [0, 1)  # line 6 t=0\n"
                 "    write into m words [1, 2)  # line 6 t=1\n"
                 "    fill \"one\" into m words [8, 12)  # line 7\n"
                 "    %4 = dump from m words [8, 10): i8 (2, 3)  # line 8\n"
                 "    checkpoint c %4 %0  # line 9\n");
}

static void test_hoist(void **state)
{
    (void)state;
    static const char text[] = "for t in 0..2:\n  load m (scale x[7] 2) rows at 32*t\n";
    assert_graph(text, "as written",
                 "as written: 7 steps\n"
                 "    %0 = bound x: f32 (64, 32, 16)  # line 4 t=0\n"
                 "    %1 = slice %0 \"7\": f32 (32, 16)  # line 4 t=0\n"
                 "    %2 = scale %1 2: f32 (32, 16)  # line 4 t=0\n"
                 "    load %2 into m words [0, 32)  # line 4 t=0\n"
                 "    %4 = slice %0 \"7\": f32 (32, 16)  # line 4 t=1\n"
                 "    %5 = scale %4 2: f32 (32, 16)  # line 4 t=1\n"
                 "    load %5 into m words [32, 64)  # line 4 t=1\n");
    assert_graph(text, "hoist",
                 "hoist: 5 steps\n"
                 "    %0 = bound x: f32 (64, 32, 16)  # line 4 t=0\n"
                 "    %1 = slice %0 \"7\": f32 (32, 16)  # line 4 t=0\n"
                 "    %2 = scale %1 2: f32 (32, 16)  # line 4 t=0\n"
                 "    load %2 into m words [0, 32)  # line 4 t=0\n"
                 "    load %2 into m words [32, 64)  # line 4 t=1\n");
}

static void test_view(void **state)
{
    (void)state;
    assert_graph(
        "load m x[3] rows\nload m x[0, :, 2:4] rows at 32\nload m w[1] matrix at 64\ndump m w rows\n"
        "load m y \"c -> 1 c\" at 99\n",
        "view",
        "view: 11 steps\n"
        "    %0 = bound x: f32 (64, 32, 16)  # line 3\n"
        "    %1 = view %0 \"3\": f32 (32, 16)  # line 3\n"
        "    load %1 into m words [0, 32)  # line 3\n"
        "    %3 = slice %0 \"0, :, 2:4\": f32 (32, 2)  # line 4; a copy: its elements are no run of the tensor's\n"
        "    load %3 into m words [32, 64)  # line 4\n"
        "    %5 = bound w: i8 (8, 64)  # line 5\n"
        "    %6 = slice %5 \"1\": i8 (64)  # line 5; a copy: a dump writes the tensor\n"
        "    load %6 into m words [64, 65)  # line 5\n"
        "    dump %5 from m words [0, 8)  # line 6\n"
        "    %9 = bound y: f32 (16)  # line 7\n"
        "    load %9 into m words [99, 100)  # line 7\n");
}

static void test_join(void **state)
{
    (void)state;
    assert_graph("for t in 0..4:\n  load m x[t] rows at 32*t\n", "drop",
                 "drop: 3 steps\n"
                 "    %0 = bound x: f32 (64, 32, 16)  # line 4 t=0\n"
                 "    %1 = view %0 \"0\": f32 (128, 16)  # line 4 t=0\n"
                 "    load %1 into m words [0, 128), 4 loads in one  # line 4 t=0\n");
    assert_graph("for t in 0..2:\n  load m x[t] rows at 33*t\n", "drop",
                 "drop: 3 steps\n"
                 "    %0 = bound x: f32 (64, 32, 16)  # line 4 t=0\n"
                 "    %1 = view %0 \"0\": f32 (2, 32, 16)  # line 4 t=0\n"
                 "    load %1 into m words [0, 65), 2 loads in one  # line 4 t=0\n");
    assert_graph("for t in 0..2:\n  load m w[t] \"... -> (...)\" at 3*t\n", "drop",
                 "drop: 5 steps\n"
                 "    %0 = bound w: i8 (8, 64)  # line 4 t=0\n"
                 "    %1 = view %0 \"0\": i8 (64)  # line 4 t=0\n"
                 "    load %1 into m words [0, 1)  # line 4 t=0; not joined with the loads behind it: no layout of all "
                 "lies so\n"
                 "    %3 = view %0 \"1\": i8 (64)  # line 4 t=1\n"
                 "    load %3 into m words [3, 4)  # line 4 t=1\n");
}

static void test_fuse(void **state)
{
    (void)state;
    assert_graph("tensor a = scale x 0.5\ntensor b = add a y\nload m (convert (clamp b -1 1) \"f32\") all\n", "drop",
                 "drop: 3 steps\n"
                 "    %0 = bound x: f32 (64, 32, 16)  # line 3\n"
                 "    %2 = bound y: f32 (16)  # line 4\n"
                 "    load %0 | scale | add %2 | clamp | convert into m words [0, 2048), 2 slabs  # line 5\n");
    assert_graph("load m (clamp (add (scale x 0.5) y) -1 1) \"t (q r) c -> (t q) (r c); r=4\" as \"i8 scale=0.05\"\n",
                 "drop",
                 "drop: 3 steps\n"
                 "    %0 = bound x: f32 (64, 32, 16)  # line 3\n"
                 "    %2 = bound y: f32 (16)  # line 3\n"
                 "    load %0 | scale | add %2 | clamp into m words [0, 512), inside of the move  # line 3\n");
    assert_graph("load m (clamp (add (scale x 0.5) y) -1 1) all as \"i8 scale=0.05\"\n", "drop",
                 "drop: 3 steps\n"
                 "    %0 = bound x: f32 (64, 32, 16)  # line 3\n"
                 "    %2 = bound y: f32 (16)  # line 3\n"
                 "    load %0 | scale | add %2 | clamp into m words [0, 2048), 2 slabs  # line 3; not inside of the "
                 "move, which takes the words one by one\n");
    assert_graph("load m (scale x[0] 0.5) rows\n", "drop",
                 "drop: 3 steps\n"
                 "    %0 = bound x: f32 (64, 32, 16)  # line 3\n"
                 "    %1 = view %0 \"0\": f32 (32, 16)  # line 3\n"
                 "    load %1 | scale into m words [0, 32), inside of the move  # line 3\n");
}

static void test_not_fused(void **state)
{
    (void)state;
    assert_graph(
        "load m (clamp (scale w 2) 0 9) rows\n", "drop",
        "drop: 3 steps\n"
        "    %0 = bound w: i8 (8, 64)  # line 3\n"
        "    %1 = scale %0 2: i8 (8, 64)  # line 3\n"
        "    load %1 | clamp into m words [0, 8), one tensor  # line 3; into one tensor first, which stays in the "
        "cache\n");
    assert_graph("load m (convert x[0] \"f16 error\") rows\n", "drop",
                 "drop: 4 steps\n"
                 "    %0 = bound x: f32 (64, 32, 16)  # line 3\n"
                 "    %1 = view %0 \"0\": f32 (32, 16)  # line 3\n"
                 "    %2 = convert %1 \"f16 error\": f16 (32, 16)  # line 3\n"
                 "    load %2 into m words [0, 32)  # line 3; a conversion that may refuse values\n");
    assert_graph("tensor a = scale y 2\nload m a \"c -> 1 c\"\nload m a \"c -> 1 c\" at 1\n", "drop",
                 "drop: 4 steps\n"
                 "    %0 = bound y: f32 (16)  # line 3\n"
                 "    %1 = scale %0 2: f32 (16)  # line 3\n"
                 "    load %1 into m words [0, 1)  # line 4; another step takes the tensor, too\n"
                 "    load %1 into m words [1, 2)  # line 5; another step takes the tensor, too\n");
}

static void test_drop(void **state)
{
    (void)state;
    assert_graph(
        "tensor a = scale x 2\ntensor b = dump m i8 4x4 rows\ntensor c = add b b sat\nfill m zero from 0 count 1\n",
        "drop",
        "drop: 2 steps\n"
        "    %2 = dump from m words [0, 4): i8 (4, 4)  # line 4\n"
        "    fill \"zero\" into m words [0, 1)  # line 6\n");
}

static void test_run_line(void **state)
{
    (void)state;
    assert_graph(
        "load m y \"c -> 1 c\"\ntensor d = dump m f32 16 \"c -> 1 c\"\n", "run",
        "run: 3 steps, 1 of them before anything is written; words are kept, as a later step may be refused\n");
}

static void test_svg(void **state)
{
    (void)state;
    td_program *p = NULL;
    td_memory *m = NULL;
    char *svg = NULL;
    ASSERT_OK(td_memory_create("m", 8, 8, &m));
    ASSERT_OK(td_program_create("tensor a = fill u8 2x8x1 ramp\nload m a[0] \"r c -> r c\"", &p));
    ASSERT_OK(td_program_bind_memory(p, "m", m));
    ASSERT_OK(td_program_svg(p, NULL, NULL, &svg));
    assert_int_equal(strncmp(svg, "<svg xmlns=", 11), 0);
    static const char *const passes[] = {"as written: 3 steps",   "hoist: nothing changes", "view: 3 steps",
                                         "join: nothing changes", "fuse: nothing changes",  "drop: nothing changes"};
    const char *at = svg;
    for (size_t i = 0; i < 6; i++) { /* in this order */
        at = strstr(at, passes[i]);
        assert_non_null(at);
    }
    assert_non_null(strstr(svg, "%0 = fill &#34;ramp&#34;: u8 (2, 8, 1), once  # line 1</text>"));
    assert_non_null(strstr(svg, "%1 = slice %0 &#34;0&#34;: u8 (8, 1), once  # line 2</text>"));
    assert_non_null(strstr(svg, "%1 = view %0 &#34;0&#34;: u8 (8, 1), once  # line 2</text>"));
    assert_non_null(strstr(svg, "<path d="));
    assert_string_equal(svg + strlen(svg) - 7, "</svg>\n");
    td_free(svg);
    ASSERT_REFUSED(td_program_svg(p, NULL, NULL, NULL), TD_ARGUMENT, "program_svg: the output is NULL; pass one");
    ASSERT_REFUSED(td_program_explain(p, NULL, NULL, NULL), TD_ARGUMENT,
                   "program_explain: the output is NULL; pass one");
    td_program_destroy(&p);
    td_memory_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_written), cmocka_unit_test(test_hoist),    cmocka_unit_test(test_view),
        cmocka_unit_test(test_join),       cmocka_unit_test(test_fuse),     cmocka_unit_test(test_not_fused),
        cmocka_unit_test(test_drop),       cmocka_unit_test(test_run_line), cmocka_unit_test(test_svg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
