/* Policies: every word and every message, verdicts over every kind of pair, and the distance in ulp against an
 * independent rule: the number of values of the dtype that lie between two, counted in a sorted list of all of them. */
#include "support.h"

#include "rule.h"
#include "values/judge.h"

static const struct {
    const char *text, *message;
} refused[] = {
    {"ulpp=1",
     "unknown word \"ulpp=1\" in policy \"ulpp=1\"; did you mean \"ulp=\"? the words are exact, atol=X, rtol=X, ulp=N, "
     "nan=, inf=, zero=, ftz, max=N, check_pad and stats"},
    {"exactly",
     "unknown word \"exactly\" in policy \"exactly\"; did you mean \"exact\"? the words are exact, atol=X, rtol=X, "
     "ulp=N, nan=, inf=, zero=, ftz, max=N, check_pad and stats"},
    {"atoll=1e-3000",
     "unknown word \"atoll=1e-3000\" in policy \"atoll=1e-3000\"; did you mean \"atol=\"? the words are exact, "
     "atol=X, rtol=X, ulp=N, nan=, inf=, zero=, ftz, max=N, check_pad and stats"},
    {"quick",
     "unknown word \"quick\" in policy \"quick\"; the words are exact, atol=X, rtol=X, ulp=N, nan=, inf=, zero=, ftz, "
     "max=N, check_pad and stats"},
    {"atol=", "atol= in policy \"atol=\" is not a number of at least 0; pass one like atol=1e-3"},
    {"atol=-1", "atol=-1 in policy \"atol=-1\" is not a number of at least 0; pass one like atol=1e-3"},
    {"rtol=nan", "rtol=nan in policy \"rtol=nan\" is not a number of at least 0; pass one like rtol=1e-3"},
    {"rtol=inf", "rtol=inf in policy \"rtol=inf\" is not a number of at least 0; pass one like rtol=1e-3"},
    {"ulp=-1", "ulp=-1 in policy \"ulp=-1\" is not a whole number from 0 to 18446744073709551614; pass one like ulp=1"},
    {"ulp=1.5",
     "ulp=1.5 in policy \"ulp=1.5\" is not a whole number from 0 to 18446744073709551614; pass one like ulp=1"},
    {"ulp=18446744073709551616",
     "ulp=18446744073709551616 in policy \"ulp=18446744073709551616\" is not a whole number from 0 to "
     "18446744073709551614; pass one like ulp=1"},
    {"max=65537", "max=65537 in policy \"max=65537\" is not a whole number from 0 to 65536; pass one like max=100"},
    {"nan=same", "nan=same in policy \"nan=same\"; pass nan=bits, nan=equal or nan=differ"},
    {"inf=same", "inf=same in policy \"inf=same\"; pass inf=equal or inf=differ"},
    {"zero=same", "zero=same in policy \"zero=same\"; pass zero=equal or zero=differ"},
    {"ulp=1 ulp=2", "ulp= stands twice in policy \"ulp=1 ulp=2\"; keep one of them"},
    {"exact ulp=2", "policy \"exact ulp=2\" says exact and a tolerance; keep one of them"},
    {"atol=0.00000000000000000000000000000000000000000000000001",
     "a word of policy \"atol=0.000000000000000000000000000000000...\" has 57 letters, and the longest has 47; the "
     "words are "
     "exact, atol=X, rtol=X, ulp=N, nan=, inf=, zero=, ftz, max=N, check_pad and stats"},
    {"ulp=1                                                                                                            "
     "          "
     "                 ",
     "policy \"ulp=1                                   ...\" has 140 letters, and a policy has at most 127; leave out "
     "the spaces"},
};

static void words_that_are_refused(void **state)
{
    (void)state;
    td_policy policy;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        ASSERT_REFUSED(td_policy_parse(refused[i].text, &policy), TD_OPTION, refused[i].message);
}

static void words_that_are_taken(void **state)
{
    (void)state;
    td_policy p;
    ASSERT_OK(td_policy_parse(NULL, &p));
    assert_false(p.tolerant);
    assert_int_equal(p.nan, TD_NAN_BITS);
    assert_true(p.zero_differ);
    assert_int_equal(p.max, 16);
    assert_string_equal(p.text, "exact");
    ASSERT_OK(td_policy_parse(" ,", &p));
    assert_string_equal(p.text, "exact");
    ASSERT_OK(td_policy_parse(
        "atol=0.5,rtol=1e-3 ulp=18446744073709551614 nan=differ inf=differ zero=differ ftz max=0 check_pad", &p));
    assert_true(p.tolerant && p.has_ulp && p.has_real && p.inf_differ && p.zero_differ && p.ftz && p.check_pad);
    assert_true(p.atol == 0.5 && p.rtol == 1e-3 && p.ulp == UINT64_MAX - 1 && p.max == 0 && p.nan == TD_NAN_DIFFER);
    ASSERT_OK(td_policy_parse("ulp=0", &p));
    assert_int_equal(p.nan, TD_NAN_EQUAL);
    assert_false(p.zero_differ);
    ASSERT_OK(td_policy_parse("exact nan=equal zero=equal inf=equal", &p));
    assert_int_equal(p.nan, TD_NAN_EQUAL);
    assert_false(p.zero_differ);
}

static void open_judge(const char *dtype, const char *text, td_judge *out)
{
    td_policy policy;
    td_dtype d;
    ASSERT_OK(td_policy_parse(text, &policy));
    ASSERT_OK(td_dtype_parse(dtype, &d));
    td_judge_init(&policy, d, out);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Every value of a format in order, once each: -0 and 0 are one. */
static size_t list_values(const rule_format *f, double *list)
{
    size_t count = 0, kept = 0;
    for (uint32_t code = 0; code < 1u << f->bits; code++)
        if (!isnan(rule_value(f, code)))
            list[count++] = rule_value(f, code) + 0.0;
    qsort(list, count, sizeof *list, by_value);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || list[i] != list[kept - 1])
            list[kept++] = list[i];
    return kept;
}

static void distances_are_counts_of_values(void **state)
{
    (void)state;
    double *list = calloc(65536, sizeof *list);
    int64_t *place = calloc(65536, sizeof *place);
    assert_true(list && place);
    for (size_t i = 0; i < RULE_FORMATS; i++) {
        const rule_format *f = &rule_formats[i];
        td_judge j;
        open_judge(f->name, "ulp=1", &j);
        const size_t count = list_values(f, list);
        const uint32_t codes = 1u << f->bits;
        for (uint32_t code = 0; code < codes; code++) {
            const double value = rule_value(f, code);
            assert_int_equal(td_judge_is_nan(&j, code), isnan(value) != 0);
            if (isnan(value))
                continue;
            assert_true(td_judge_value(&j, code) == value);
            const double key = value + 0.0;
            place[code] = (const double *)bsearch(&key, list, count, sizeof *list, by_value) - list;
        }
        /* All pairs of small formats; of 16 bits every code against codes all over the range. */
        const uint32_t step = f->bits > 8 ? 255 : 1;
        for (uint32_t a = 0; a < codes; a++)
            for (uint32_t b = a % step; b < codes; b += step) {
                if (isnan(rule_value(f, a)) || isnan(rule_value(f, b)))
                    continue;
                const uint64_t between = (uint64_t)llabs(place[a] - place[b]);
                if (td_ulp_distance(&j, a, b) != between)
                    fail_msg("%s 0x%x 0x%x: %llu, and there are %llu steps", f->name, a, b,
                             (unsigned long long)td_ulp_distance(&j, a, b), (unsigned long long)between);
            }
    }
    free(list);
    free(place);
}

static void distances_with_ftz_leave_out_subnormals(void **state)
{
    (void)state;
    td_judge j;
    open_judge("e5m2", "ulp=1 ftz", &j);
    assert_int_equal(td_ulp_distance(&j, 0x00, 0x03), 0); /* both are zero then */
    assert_int_equal(td_ulp_distance(&j, 0x00, 0x04), 1); /* the smallest normal */
    assert_int_equal(td_ulp_distance(&j, 0x84, 0x04), 2);
    assert_int_equal(td_ulp_distance(&j, 0x04, 0x05), 1);
}

static void distances_of_wide_types(void **state)
{
    (void)state;
    td_judge j;
    open_judge("i64", "ulp=1", &j);
    assert_true(td_ulp_distance(&j, (uint64_t)INT64_MIN, INT64_MAX) == UINT64_MAX);
    open_judge("u64", "ulp=1", &j);
    assert_true(td_ulp_distance(&j, UINT64_MAX, 0) == UINT64_MAX);
    open_judge("f64", "ulp=1", &j);
    assert_true(td_ulp_distance(&j, 0xfff0000000000000, 0x7ff0000000000000) == 0xffe0000000000000);
    assert_true(td_ulp_distance(&j, 0x8000000000000000, 0) == 0);
}

static const struct {
    const char *policy, *dtype;
    uint64_t expected, actual;
    bool equal;
} pairs[] = {
    /* NaN */
    {"exact", "f32", 0x7fc00000, 0x7fc00000, true},
    {"exact", "f32", 0x7fc00000, 0x7fc00001, false},
    {"exact nan=equal", "f32", 0x7fc00000, 0xffc00001, true},
    {"exact nan=differ", "f32", 0x7fc00000, 0x7fc00000, false},
    {"ulp=1000000", "f32", 0x7fc00000, 0x7fc00001, true},
    {"ulp=18446744073709551614", "f32", 0x7fc00000, 0x3f800000, false},
    {"atol=1e30", "f32", 0x3f800000, 0x7fc00000, false},
    {"atol=1 nan=bits", "f32", 0x7fc00000, 0x7fc00001, false},
    {"atol=1 nan=differ", "f32", 0x7fc00000, 0x7fc00000, false},
    {"atol=1", "e4m3", 0x7f, 0xff, true},
    /* infinity */
    {"exact", "f16", 0x7c00, 0x7c00, true},
    {"exact inf=differ", "f16", 0x7c00, 0x7c00, false},
    {"ulp=1", "f16", 0x7c00, 0x7bff, false},
    {"atol=1e300", "f16", 0x7c00, 0x7bff, false},
    {"atol=1e300", "f16", 0x7c00, 0xfc00, false},
    {"atol=1e300 inf=differ", "f16", 0x7c00, 0x7c00, false},
    {"atol=1e300", "f16", 0x7bff, 0x7c00, false},
    /* zero */
    {"exact", "f32", 0, 0x80000000, false},
    {"exact zero=equal", "f32", 0, 0x80000000, true},
    {"ulp=0", "f32", 0, 0x80000000, true},
    {"ulp=9 zero=differ", "f32", 0, 0x80000000, false},
    /* ulp */
    {"ulp=1", "f32", 0x3f800000, 0x3f800001, true},
    {"ulp=1", "f32", 0x3f800000, 0x3f800002, false},
    {"ulp=2", "f32", 0x00000001, 0x80000001, true},
    {"ulp=1", "i8", 0x7f, 0x80, false},
    {"ulp=1", "i8", 0xff, 0x00, true},
    {"ulp=1", "u8", 0xff, 0x00, false},
    {"ulp=3", "q4.4", 0x10, 0x13, true},
    /* atol and rtol */
    {"atol=0.5", "f32", 0x3f800000, 0x3fc00000, true},
    {"atol=0.49", "f32", 0x3f800000, 0x3fc00000, false},
    {"rtol=0.5", "f32", 0x3f800000, 0x3fc00000, true},
    {"rtol=0.4", "f32", 0x3f800000, 0x3fc00000, false},
    {"rtol=0.34 ", "f32", 0x3fc00000, 0x3f800000, true}, /* of the expected value */
    {"atol=0.25 rtol=0.25", "f32", 0x3f800000, 0x3fc00000, true},
    {"atol=3", "i8", 0xff, 0x02, true},
    {"atol=2.5", "i8", 0xff, 0x02, false},
    {"rtol=1", "u64", 0x8000000000000000, 0, true},
    {"atol=1", "u64", 0x8000000000000000, 0x8000000000000001, true},
    {"atol=1", "u64", 0x8000000000000000, 0x8000000000000002, false},
    {"atol=0.125", "q4.4", 0x10, 0x12, true},
    {"atol=0.1 ulp=2", "q4.4", 0x10, 0x12, true}, /* either accepts */
    /* ftz */
    {"exact ftz", "f32", 0x00000001, 0x00000000, true},
    {"exact ftz", "f32", 0x00000001, 0x80000000, false},
    {"ulp=0 ftz", "f32", 0x00000001, 0x80000007, true},
    {"ulp=1 ftz", "f32", 0x00000001, 0x00800000, true},
    {"ulp=1", "f32", 0x00000001, 0x00800000, false},
};

static void pairs_are_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        td_judge j;
        open_judge(pairs[i].dtype, pairs[i].policy, &j);
        if (td_judge_pair(&j, pairs[i].expected, pairs[i].actual).equal != pairs[i].equal)
            fail_msg("policy \"%s\", %s 0x%llx and 0x%llx", pairs[i].policy, pairs[i].dtype,
                     (unsigned long long)pairs[i].expected, (unsigned long long)pairs[i].actual);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_are_refused),         cmocka_unit_test(words_that_are_taken),
        cmocka_unit_test(distances_are_counts_of_values), cmocka_unit_test(distances_with_ftz_leave_out_subnormals),
        cmocka_unit_test(distances_of_wide_types),        cmocka_unit_test(pairs_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
