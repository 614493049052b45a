/* Checkpoints and statistics: the list and its order, text, JSON and JUnit in full, statistics against plain sums of
 * this file, through layouts, conversions, masks and copies, and the text of every refusal. */
#include "support.h"

#include <math.h>

static td_tensor *vector(const char *dtype, size_t count, const double *values)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create(dtype, (td_shape){1, {count}}, &t));
    for (size_t i = 0; i < count; i++)
        ASSERT_OK(td_tensor_set_real(t, i, values[i]));
    return t;
}

static td_report *compare(const char *dtype, size_t count, const double *expected, const double *actual,
                          const char *policy)
{
    td_tensor *golden = vector(dtype, count, expected), *found = vector(dtype, count, actual);
    td_report *report = NULL;
    ASSERT_OK(td_tensor_compare(golden, found, policy, &report));
    td_tensor_destroy(&golden);
    td_tensor_destroy(&found);
    return report;
}

static const double good[] = {1, -2, 4, 0}, off[] = {1, -2, 5, 0};

static td_checkpoints *three(void)
{
    td_checkpoints *c = NULL;
    ASSERT_OK(td_checkpoints_create("infer", &c));
    td_report *r = compare("f32", 4, good, good, "stats");
    ASSERT_OK(td_checkpoints_add(c, "layer0", &r));
    assert_null(r);
    r = compare("f32", 4, good, off, "atol=0.5 stats");
    ASSERT_OK(td_checkpoints_add(c, "layer1", &r));
    r = compare("i8", 4, good, off, NULL);
    ASSERT_OK(td_checkpoints_add(c, "a \"<b>\" & c", &r));
    return c;
}

static void the_list(void **state)
{
    (void)state;
    td_checkpoints *c = NULL;
    ASSERT_OK(td_checkpoints_create("t", &c));
    assert_string_equal(td_checkpoints_line(c), "t: no checkpoints");
    assert_true(td_checkpoints_passed(c));
    assert_int_equal(td_checkpoints_first(c), 0);
    td_report *r = compare("f32", 4, good, good, NULL);
    ASSERT_OK(td_checkpoints_add(c, "one", &r));
    assert_string_equal(td_checkpoints_line(c), "t: the only checkpoint matches");
    for (int i = 0; i < 40; i++) {
        r = compare("f32", 4, good, good, NULL);
        ASSERT_OK(td_checkpoints_add(c, "more", &r));
    }
    assert_string_equal(td_checkpoints_line(c), "t: all 41 checkpoints match");
    assert_int_equal(td_checkpoints_first(c), 41);
    r = compare("i8", 4, good, off, NULL);
    ASSERT_OK(td_checkpoints_add(c, "bad", &r));
    r = compare("i8", 4, good, good, NULL);
    ASSERT_OK(td_checkpoints_add(c, "last", &r));
    assert_int_equal(td_checkpoints_count(c), 43);
    assert_int_equal(td_checkpoints_failed(c), 1);
    assert_int_equal(td_checkpoints_first(c), 41);
    assert_false(td_checkpoints_passed(c));
    assert_string_equal(td_checkpoints_title(c), "t");
    assert_string_equal(td_checkpoints_name(c, 41), "bad");
    assert_int_equal(td_report_mismatches(td_checkpoints_report(c, 41)), 1);
    assert_null(td_checkpoints_name(c, 43));
    assert_null(td_checkpoints_report(c, 43));
    assert_string_equal(
        td_checkpoints_line(c),
        "t: 1 of 43 checkpoints differs, first \"bad\": compare a tensor with golden i8 (4), policy "
        "exact: 1 of 4 elements differs, worst 1 step, 1 in value; first at (2): expected 4 (0x04), got "
        "5 (0x05)");
    td_checkpoints_destroy(&c);
    assert_null(c);
    td_checkpoints_destroy(&c);
    assert_int_equal(td_checkpoints_count(NULL), 0);
    assert_false(td_checkpoints_passed(NULL));
    assert_string_equal(td_checkpoints_line(NULL), "");
}

static void as_text(void **state)
{
    (void)state;
    td_checkpoints *c = three();
    char *text = NULL, *whole = NULL, want[4096];
    ASSERT_OK(td_checkpoints_text(c, &text));
    ASSERT_OK(td_report_text(td_checkpoints_report(c, 1), &whole));
    assert_non_null(strstr(whole, "  mean relative error 0.0833333, mean square error 0.25, cosine 0.996023841\n"));
    snprintf(want, sizeof want,
             "infer: 2 of 3 checkpoints differ, the first is \"layer1\":\n\n%s\n"
             "  checkpoint   verdict  compared  mismatches  worst error  worst ulp  mean rel.   MSE    cosine\n"
             "  layer0       match           4           0            0          0          0     0         1\n"
             "  layer1       DIFFER          4           1            1    2097152  0.0833333  0.25  0.996024\n"
             "  a \"<b>\" & c  DIFFER          4           1            1          1          -     -         -\n",
             whole);
    assert_string_equal(text, want);
    td_free(text);
    td_free(whole);
    td_checkpoints_destroy(&c);
    ASSERT_OK(td_checkpoints_create("empty", &c));
    ASSERT_OK(td_checkpoints_text(c, &text));
    assert_string_equal(text, "empty: no checkpoints\n\n");
    td_free(text);
    td_checkpoints_destroy(&c);
}

static void as_json_and_junit(void **state)
{
    (void)state;
    td_checkpoints *c = three();
    char *json = NULL, *xml = NULL, *report = NULL;
    ASSERT_OK(td_checkpoints_json(c, &json));
    assert_ptr_equal(strstr(json, "{\"name\": \"infer\", \"passed\": false, \"failed\": 2, \"first\": 1,\n"), json);
    assert_non_null(strstr(json, "{\"name\": \"a \\\"\\u003cb>\\\" & c\", \"report\": {\"passed\": false"));
    assert_non_null(strstr(json, "\"worst\": {\"ulp\": 2097152, \"error\": 1},\n \"statistics\": "
                                 "{\"mean_relative_error\": 0.083333333333333329, \"mse\": 0.25, \"cosine\": 0.99"));
    ASSERT_OK(td_report_json(td_checkpoints_report(c, 2), &report));
    assert_null(strstr(report, "statistics"));
    assert_non_null(strstr(json, report));
    ASSERT_OK(td_checkpoints_junit(c, &xml));
    static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                               "  <testsuite name=\"infer\" tests=\"3\" failures=\"2\" errors=\"0\">\n"
                               "    <testcase classname=\"infer\" name=\"layer0\"/>\n"
                               "    <testcase classname=\"infer\" name=\"layer1\">\n"
                               "      <failure type=\"mismatch\" message=\"compare a tensor with golden f32 (4), ";
    assert_int_equal(strncmp(xml, head, sizeof head - 1), 0);
    assert_non_null(strstr(xml, "<testcase classname=\"infer\" name=\"a &quot;&lt;b&gt;&quot; &amp; c\">"));
    assert_non_null(strstr(xml, "</failure>\n    </testcase>\n  </testsuite>\n</testsuites>\n"));
    td_free(json);
    td_free(xml);
    td_free(report);
    td_checkpoints_destroy(&c);
    ASSERT_OK(td_checkpoints_create("a\tb\001\"", &c));
    ASSERT_OK(td_checkpoints_json(c, &json));
    assert_string_equal(json, "{\"name\": \"a\\u0009b\\u0001\\\"\", \"passed\": true, \"failed\": 0, \"first\": null,\n"
                              "\"checkpoints\": []}\n");
    ASSERT_OK(td_checkpoints_junit(c, &xml));
    assert_non_null(strstr(xml, "<testsuite name=\"a\tb?&quot;\" tests=\"0\" failures=\"0\" errors=\"0\">"));
    td_free(json);
    td_free(xml);
    td_checkpoints_destroy(&c);
}

static void refusals(void **state)
{
    (void)state;
    td_checkpoints *c = NULL;
    td_report *none = NULL, *r = compare("i8", 4, good, off, NULL);
    char *text = NULL;
    ASSERT_REFUSED(td_checkpoints_create(NULL, &c), TD_ARGUMENT, "checkpoints_create: the name is NULL; pass one");
    ASSERT_REFUSED(td_checkpoints_create("x", NULL), TD_ARGUMENT, "checkpoints_create: the output is NULL; pass one");
    ASSERT_OK(td_checkpoints_create("x", &c));
    ASSERT_REFUSED(td_checkpoints_add(NULL, "n", &r), TD_ARGUMENT, "checkpoints_add: the list is NULL; pass one");
    ASSERT_REFUSED(td_checkpoints_add(c, NULL, &r), TD_ARGUMENT, "checkpoints_add: the name is NULL; pass one");
    ASSERT_REFUSED(td_checkpoints_add(c, "n", &none), TD_ARGUMENT, "checkpoints_add: the report is NULL; pass one");
    assert_non_null(r);
    ASSERT_REFUSED(td_checkpoints_text(NULL, &text), TD_ARGUMENT, "checkpoints_text: the list is NULL; pass one");
    ASSERT_REFUSED(td_checkpoints_json(c, NULL), TD_ARGUMENT, "checkpoints_json: the output is NULL; pass one");
    ASSERT_REFUSED(td_checkpoints_junit(NULL, &text), TD_ARGUMENT, "checkpoints_junit: the list is NULL; pass one");
    ASSERT_REFUSED(td_checkpoints_html(c, NULL), TD_ARGUMENT, "checkpoints_html: the path is NULL; pass one");
    ASSERT_REFUSED(td_checkpoints_html(NULL, "x"), TD_ARGUMENT, "checkpoints_html: the list is NULL; pass one");
    assert_int_equal(td_checkpoints_html(c, "no/such/folder/x.html"), TD_FILE);
    assert_int_equal(strncmp(td_last_error(), "checkpoints_html \"no/such/folder/x.html\": ", 42), 0);
    td_report_destroy(&r);
    td_checkpoints_destroy(&c);
}

/* -- statistics -- */

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-12 * fabs(want)) && got != want)
        fail_msg("%.17g, expected %.17g", got, want);
}

/* Against sums of this file over pairs of numbers; weights say how often a pair counts. */
static void check(td_report *report, const td_tensor *golden, const td_tensor *actual, const unsigned char *weight)
{
    double relative = 0, ratios = 0, square = 0, pairs = 0, e2 = 0, a2 = 0, ea = 0;
    td_statistics s = {-1, -1, -1};
    for (uint64_t i = 0; i < td_tensor_elems(golden); i++) {
        double e = 0, a = 0;
        ASSERT_OK(td_tensor_get_real(golden, i, &e));
        ASSERT_OK(td_tensor_get_real(actual, i, &a));
        if (!isfinite(e) || !isfinite(a))
            continue;
        for (unsigned k = 0; k < (weight ? weight[i] : 1); k++) {
            relative += e != 0 ? fabs(a - e) / fabs(e) : 0;
            ratios += e != 0;
            square += (a - e) * (a - e);
            pairs++;
            e2 += e * e;
            a2 += a * a;
            ea += e * a;
        }
    }
    assert_int_equal(td_report_statistics(report, &s), 1);
    assert_near(s.mean_relative_error, relative / ratios);
    assert_near(s.mse, square / pairs);
    assert_near(s.cosine, ea / sqrt(e2 * a2));
    td_report_destroy(&report);
}

static td_tensor *disturbed(const td_tensor *from, uint64_t every)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create(td_tensor_dtype(from), td_tensor_shape(from), &t));
    memcpy(td_tensor_data(t), td_tensor_data_const(from), td_tensor_elems(t) * td_tensor_elem_bytes(t));
    for (uint64_t i = 3; i < td_tensor_elems(t); i += every) {
        uint64_t bits = 0;
        ASSERT_OK(td_tensor_get_bits(t, i, &bits));
        ASSERT_OK(td_tensor_set_bits(t, i, bits ^ 1));
    }
    return t;
}

static void statistics_of_memories(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"i8", "u4", "f16", "bf16", "f32", "f64", "i32", "e4m3", "q4.12"};
    static const char *const patterns[] = {"h w (ct cs) -> (h w ct) cs", "h w (ct cs) -> (ct h) (w cs)",
                                           "h w (ct cs) -> (ct cs h) w"};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
        for (size_t p = 0; p < sizeof patterns / sizeof patterns[0]; p++) {
            td_tensor *golden = NULL, *actual = NULL;
            td_memory *m = NULL;
            td_layout *l = NULL;
            td_report *r = NULL;
            ASSERT_OK(td_tensor_create(dtypes[d], TD_SHAPE(9, 10, 24), &golden));
            ASSERT_OK(td_tensor_fill(golden, "uniform seed=3"));
            actual = disturbed(golden, 7);
            ASSERT_OK(td_memory_create("m", 2560, 4096, &m));
            ASSERT_OK(td_layout_create(patterns[p], "cs=4", NULL, &l));
            ASSERT_OK(td_backdoor_load_tensor(m, actual, l, NULL));
            ASSERT_OK(td_backdoor_compare_tensor(m, golden, l, d % 2 ? "stats" : "ulp=1 stats", NULL, &r));
            check(r, golden, actual, NULL);
            td_tensor_destroy(&golden);
            td_tensor_destroy(&actual);
            td_memory_destroy(&m);
            td_layout_destroy(&l);
        }
}

static void statistics_of_copies_masks_and_conversions(void **state)
{
    (void)state;
    td_tensor *golden = NULL, *actual = NULL, *mask = NULL;
    td_memory *m = NULL;
    td_layout *l = NULL;
    td_report *r = NULL;
    unsigned char weight[240];
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(10, 24), &golden));
    ASSERT_OK(td_tensor_create("u1", TD_SHAPE(10, 24), &mask));
    ASSERT_OK(td_tensor_fill(golden, "uniform min=-4 max=4 seed=3"));
    ASSERT_OK(td_memory_create("m", 768, 64, &m));
    actual = disturbed(golden, 5);
    ASSERT_OK(td_tensor_set_real(actual, 17, (double)NAN));
    ASSERT_OK(td_tensor_set_real(actual, 18, (double)INFINITY));
    for (uint64_t i = 0; i < 240; i++) {
        weight[i] = i % 3 != 0;
        ASSERT_OK(td_tensor_set_bits(mask, i, i % 3 != 0));
    }
    ASSERT_OK(td_layout_create("h w -> h w", NULL, NULL, &l));
    ASSERT_OK(td_backdoor_load_tensor(m, actual, l, NULL));
    const td_comparison masked = {
        .banks = &m, .bank_count = 1, .golden = golden, .layout = l, .policy = "rtol=1e-6 stats", .mask = mask};
    ASSERT_OK(td_compare(&masked, &r));
    check(r, golden, actual, weight);
    const td_comparison tensors = {.actual = actual, .golden = golden, .policy = "stats", .mask = mask};
    ASSERT_OK(td_compare(&tensors, &r));
    check(r, golden, actual, weight);
    td_layout_destroy(&l);

    /* two copies of every element */
    ASSERT_OK(td_layout_create("h w -> (h k) w", "k=2", NULL, &l));
    ASSERT_OK(td_backdoor_load_tensor(m, actual, l, NULL));
    ASSERT_OK(td_backdoor_compare_tensor(m, golden, l, "stats", NULL, &r));
    memset(weight, 2, sizeof weight);
    check(r, golden, actual, weight);

    /* stored as i8: what is compared is what a dump gives */
    ASSERT_OK(td_tensor_set_real(actual, 17, 1));
    ASSERT_OK(td_tensor_set_real(actual, 18, 1));
    ASSERT_OK(td_backdoor_load_tensor(m, actual, l, "i8 scale=0.05"));
    ASSERT_OK(td_backdoor_dump_tensor(m, actual, l, "i8 scale=0.05"));
    ASSERT_OK(td_backdoor_compare_tensor(m, golden, l, "atol=0.5 stats", "i8 scale=0.05", &r));
    check(r, golden, actual, weight);
    td_layout_destroy(&l);
    td_memory_destroy(&m);
    td_tensor_destroy(&golden);
    td_tensor_destroy(&actual);
    td_tensor_destroy(&mask);
}

static void statistics_at_the_edges(void **state)
{
    (void)state;
    static const double zero[] = {0, 0, 0, 0};
    td_statistics s = {-1, -1, -1};
    td_report *r = compare("f32", 4, zero, zero, "stats");
    assert_int_equal(td_report_statistics(r, &s), 1);
    assert_true(s.mean_relative_error == 0 && s.mse == 0 && s.cosine == 1);
    td_report_destroy(&r);
    r = compare("f32", 4, zero, off, "stats");
    assert_int_equal(td_report_statistics(r, &s), 1);
    assert_true(s.mean_relative_error == 0 && s.mse == 7.5 && s.cosine == 0);
    td_report_destroy(&r);
    s.mse = -1;
    r = compare("f32", 4, zero, off, NULL);
    assert_int_equal(td_report_statistics(r, &s), 0);
    assert_true(s.mse == -1);
    assert_int_equal(td_report_statistics(NULL, &s), 0);
    td_report_destroy(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list),
        cmocka_unit_test(as_text),
        cmocka_unit_test(as_json_and_junit),
        cmocka_unit_test(refusals),
        cmocka_unit_test(statistics_of_memories),
        cmocka_unit_test(statistics_of_copies_masks_and_conversions),
        cmocka_unit_test(statistics_at_the_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
