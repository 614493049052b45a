/* What a comparison accepts in whole slabs, on several threads: it must say what the judge says about the single pairs
 * of a dumped tensor, and the report must not depend on the number of threads. */
#include "support.h"

#include "base/cpu.h"
#include "values/judge.h"

#include <math.h>

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 11;
}

typedef struct truth {
    uint64_t compared, mismatches, ulp;
    double error;
} truth;

static truth judge_all(const td_judge *j, const td_tensor *expected, const td_tensor *actual, const td_tensor *mask)
{
    truth t = {0};
    for (uint64_t i = 0; i < td_tensor_elems(expected); i++) {
        uint64_t e = 0, a = 0, in = 1;
        ASSERT_OK(td_tensor_get_bits(expected, i, &e));
        ASSERT_OK(td_tensor_get_bits(actual, i, &a));
        if (mask)
            ASSERT_OK(td_tensor_get_bits(mask, i, &in));
        if (!in)
            continue;
        const td_verdict v = td_judge_pair(j, e, a);
        t.compared++;
        t.mismatches += !v.equal;
        t.ulp = !v.apart && v.ulp > t.ulp ? v.ulp : t.ulp;
        t.error = !v.apart && v.error > t.error ? v.error : t.error;
    }
    return t;
}

static td_judge judge_of(const char *dtype, const char *policy)
{
    td_policy parsed;
    td_dtype d;
    td_judge j;
    ASSERT_OK(td_policy_parse(policy, &parsed));
    ASSERT_OK(td_dtype_parse(dtype, &d));
    td_judge_init(&parsed, d, &j);
    return j;
}

static void assert_truth(const char *what, const char *policy, const td_report *report, const truth *t)
{
    if (td_report_compared(report) != t->compared || td_report_mismatches(report) != t->mismatches ||
        td_report_worst_ulp(report) != t->ulp || td_report_worst_error(report) != t->error)
        fail_msg("%s, policy \"%s\": %llu compared, %llu mismatches, worst %llu ulp and %.17g; one by one %llu, %llu, "
                 "%llu and %.17g",
                 what, policy, (unsigned long long)td_report_compared(report),
                 (unsigned long long)td_report_mismatches(report), (unsigned long long)td_report_worst_ulp(report),
                 td_report_worst_error(report), (unsigned long long)t->compared, (unsigned long long)t->mismatches,
                 (unsigned long long)t->ulp, t->error);
}

/* -- rows that are accepted ---------------------------------------------------------------------------------------- */

/* Pairs that the policy accepts: near ones where it does, else the same bits twice, else 0. */
static void fill_accepted(const td_judge *j, td_tensor *expected, td_tensor *actual, uint64_t seed)
{
    for (uint64_t i = 0; i < td_tensor_elems(expected); i++) {
        const uint64_t random = next_random(&seed);
        uint64_t e = random >> 3 & j->mask, a = (e + (random & 3) - 1) & j->mask;
        if (random % 97 == 5)
            a = e ^ (j->mask & ~(j->mask >> 1));
        if (!td_judge_pair(j, e, a).equal)
            a = e;
        if (!td_judge_pair(j, e, a).equal)
            e = a = 0;
        ASSERT_OK(td_tensor_set_bits(expected, i, e));
        ASSERT_OK(td_tensor_set_bits(actual, i, a));
    }
}

static void accepted_rows_are_judged_like_pairs(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"f32", "f16", "bf16", "e4m3", "e5m2", "e2m1", "e3m5", "e5m7", "i8",  "u8",
                                         "i4",  "i16", "u16",  "u11",  "q4.4", "e8m0", "i32",  "u32",  "i27", "f64"};
    static const char *const policies[] = {"ulp=0",
                                           "ulp=1",
                                           "ulp=3",
                                           "atol=0.5",
                                           "atol=1e-3 rtol=1e-3",
                                           "rtol=0.01",
                                           "atol=1 ulp=2",
                                           "rtol=1e30",
                                           "rtol=1e-40",
                                           "atol=0",
                                           "atol=1e40",
                                           "atol=1",
                                           "ulp=2 ftz",
                                           "ulp=2 nan=differ",
                                           "ulp=2 nan=bits",
                                           "exact nan=differ",
                                           "exact inf=differ",
                                           "exact"};
    static const unsigned cpus[] = {TD_CPU_C, TD_CPU_AVX2, TD_CPU_ALL};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
        for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
            td_tensor *expected = NULL, *actual = NULL;
            ASSERT_OK(td_tensor_create(dtypes[d], TD_SHAPE(3301), &expected));
            ASSERT_OK(td_tensor_create(dtypes[d], TD_SHAPE(3301), &actual));
            const td_judge j = judge_of(dtypes[d], policies[p]);
            fill_accepted(&j, expected, actual, 77 * d + p);
            const truth t = judge_all(&j, expected, actual, NULL);
            assert_int_equal(t.mismatches, 0);
            for (size_t c = 0; c < sizeof cpus / sizeof cpus[0]; c++) {
                td_report *report = NULL;
                td_cpu_mask(cpus[c]);
                ASSERT_OK(td_tensor_compare(expected, actual, policies[p], &report));
                assert_truth(dtypes[d], policies[p], report, &t);
                td_report_destroy(&report);
            }
            td_cpu_mask(TD_CPU_ALL);
            td_tensor_destroy(&expected);
            td_tensor_destroy(&actual);
        }
}

/* -- layouts ------------------------------------------------------------------------------------------------------- */

typedef struct layout_case {
    const char *dtype, *shape, *pattern, *options, *address, *as;
    uint64_t width;
    size_t banks;
} layout_case;

static const layout_case layouts[] = {
    {"f32", "517 311", "r c -> r c", "", NULL, NULL, 311 * 32, 1},
    {"f32", "517 311", "r c -> c r", "", NULL, NULL, 517 * 32, 1},
    {"u8", "517 1311", "r c -> c r", "", NULL, NULL, 517 * 8, 1},
    {"u8", "512 512", "r c -> c r", "", NULL, NULL, 4096, 1},
    {"i16", "130 700", "r c -> c r", "", "699 - c", NULL, 130 * 16, 1},
    {"f64", "211 97", "r c -> c r", "", NULL, NULL, 211 * 64, 1},
    {"f32", "3 40 17 19", "n c h w -> (n h w) c", "", NULL, NULL, 40 * 32, 1},
    {"i8", "2 48 33 35", "n (ct cs) h w -> (n ct h w) cs", "cs=16", NULL, NULL, 128, 1},
    {"i8", "2 48 33 35", "n (ct cs) h w -> (n ct h w) cs", "cs=4", "1 + 2*index", NULL, 32, 1},
    {"i8", "352 208", "(rt rs) (ct cs) -> (rt ct) (rs cs)", "rs=16 cs=16", NULL, NULL, 2048, 1},
    {"i16", "3 29 31 64", "b h w (ct cs) -> (b ct h w) cs", "cs=16", NULL, NULL, 256, 1},
    {"f16", "3 29 31 64", "b h w (ct cs) -> (b ct h w) cs", "cs=16", NULL, NULL, 320, 1},
    {"i4", "311 1024", "r (ct cs) -> (ct r) cs", "cs=16", NULL, NULL, 64, 1},
    {"i5", "311 1001", "r (ct cs) -> (ct r) cs", "cs=7 slot=6 lsb=3", NULL, NULL, 64, 1},
    {"i12", "311 1000", "r (ct cs) -> (ct r) cs", "cs=8 beats=2 slot=13", NULL, NULL, 56, 1},
    {"i8", "64 4096", "(rb rs) c -> rb (rs c)", "rb=8", "bank = rb % 4; addr = rb / 4", NULL, 8 * 4096 * 8, 4},
    {"i8", "512 96", "r (ct cs) -> (r ct) cs", "cs=16", "bank = (r + ct) % 4; addr = 8*r + ct", NULL, 128, 4},
    {"f32", "400 256", "r (ct cs) -> (r ct) cs", "cs=16", NULL, "i8 scale=0.05", 128, 1},
    {"f32", "400 256", "r (ct cs) -> (ct r) cs", "cs=16", NULL, "bf16", 256, 1},
    {"f16", "400 256", "r c -> c r", "", NULL, "e4m3", 400 * 8, 1},
    {"f32", "400 256", "r c -> c r", "", NULL, "i8 scale=0.1 round=stochastic seed=5", 400 * 8, 1},
};

typedef struct setting {
    td_tensor *golden, *dumped, *mask;
    td_layout *layout;
    td_memory *bank[4];
} setting;

static void open_setting(const layout_case *k, setting *s)
{
    td_shape shape;
    td_span *spans = NULL;
    size_t count = 0;
    uint64_t depth = 0;
    *s = (setting){0};
    ASSERT_OK(td_shape_parse(k->shape, &shape));
    ASSERT_OK(td_tensor_create(k->dtype, shape, &s->golden));
    ASSERT_OK(td_tensor_create(k->dtype, shape, &s->dumped));
    ASSERT_OK(td_tensor_create("u8", shape, &s->mask));
    if (k->as)
        ASSERT_OK(td_tensor_fill_ramp(s->golden, -3, 5e-5));
    else
        ASSERT_OK(td_tensor_fill_random(s->golden, 9));
    ASSERT_OK(td_layout_create(k->pattern, k->options, k->address, &s->layout));
    ASSERT_OK(td_layout_spans(s->layout, s->golden, k->as, k->width, NULL, &spans, &count));
    for (size_t i = 0; i < count; i++)
        depth = spans[i].first + spans[i].count > depth ? spans[i].first + spans[i].count : depth;
    td_free(spans);
    for (size_t b = 0; b < k->banks; b++)
        ASSERT_OK(td_memory_create("m", k->width, depth, &s->bank[b]));
    ASSERT_OK(td_backdoor_load_tensor_banks(s->bank, k->banks, s->golden, s->layout, k->as));
    uint64_t random = 3;
    for (uint64_t i = 0; i < td_tensor_elems(s->mask); i++)
        ASSERT_OK(td_tensor_set_bits(s->mask, i, next_random(&random) % 5 != 0));
}

static void close_setting(setting *s)
{
    for (size_t b = 0; b < 4; b++)
        td_memory_destroy(&s->bank[b]);
    td_layout_destroy(&s->layout);
    td_tensor_destroy(&s->golden);
    td_tensor_destroy(&s->dumped);
    td_tensor_destroy(&s->mask);
}

/* Bits of the memory turned over here and there. */
static void disturb(const layout_case *k, setting *s, unsigned flips)
{
    uint64_t random = flips;
    for (unsigned i = 0; i < flips; i++) {
        td_memory *memory = s->bank[next_random(&random) % k->banks];
        unsigned char *data = td_memory_data(memory);
        const uint64_t word = next_random(&random) % td_memory_depth_words(memory),
                       bit = next_random(&random) % k->width;
        data[word * td_memory_word_bytes(memory) + bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static char *compare_on(const layout_case *k, const setting *s, const char *policy, bool masked, unsigned threads,
                        const truth *t)
{
    td_report *report = NULL;
    char *text = NULL;
    td_speed_threads(threads);
    ASSERT_OK(td_compare(&(td_comparison){.banks = (td_memory **)(uintptr_t)s->bank,
                                          .bank_count = k->banks,
                                          .golden = s->golden,
                                          .layout = s->layout,
                                          .as = k->as,
                                          .policy = policy,
                                          .mask = masked ? s->mask : NULL},
                         &report));
    assert_truth(k->pattern, policy, report, t);
    ASSERT_OK(td_report_json(report, &text));
    td_report_destroy(&report);
    td_speed_threads(0);
    return text;
}

static void neither_threads_nor_machines_change_anything(void **state)
{
    (void)state;
    static const char *const policies[] = {"max=50", "ulp=1", "atol=0.5 max=3", "rtol=0.02 nan=differ", "nan=differ"};
    static const unsigned flips[] = {0, 40, 3000};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        setting s;
        open_setting(&layouts[i], &s);
        for (size_t f = 0; f < sizeof flips / sizeof flips[0]; f++) {
            disturb(&layouts[i], &s, flips[f]);
            ASSERT_OK(td_backdoor_dump_tensor_banks(s.bank, layouts[i].banks, s.dumped, s.layout, layouts[i].as));
            for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++)
                for (int masked = 0; masked < 2; masked++) {
                    const td_judge j = judge_of(layouts[i].dtype, policies[p]);
                    const truth t = judge_all(&j, s.golden, s.dumped, masked ? s.mask : NULL);
                    char *one = compare_on(&layouts[i], &s, policies[p], masked, 1, &t);
                    char *four = compare_on(&layouts[i], &s, policies[p], masked, 4, &t);
                    assert_string_equal(one, four);
                    td_free(four);
                    for (size_t c = 0; c < 2; c++) {
                        td_cpu_mask(c ? TD_CPU_AVX2 : TD_CPU_C);
                        char *plain = compare_on(&layouts[i], &s, policies[p], masked, 1, &t);
                        assert_string_equal(one, plain);
                        td_free(plain);
                    }
                    td_cpu_mask(TD_CPU_ALL);
                    td_free(one);
                }
        }
        close_setting(&s);
    }
}

/* Every element a step or two off, over the binades and through 0: what is accepted, and the worst of it, is what the
 * judge says of the single pairs. */
static void near_tensors_are_judged_like_pairs(void **state)
{
    (void)state;
    static const layout_case near[] = {
        {"f32", "517 311", "r c -> r c", "", NULL, NULL, 311 * 32, 1},
        {"f32", "517 311", "r c -> c r", "", NULL, NULL, 517 * 32, 1},
        {"f32", "512 256", "r c -> c r", "", NULL, NULL, 512 * 32, 1},
        {"f32", "5 7", "r c -> c r", "", NULL, NULL, 5 * 32, 1},
        {"f32", "3 40 17 19", "n c h w -> (n h w) c", "", NULL, NULL, 40 * 32, 1},
        {"f16", "3 29 31 64", "b h w (ct cs) -> (b ct h w) cs", "cs=16", NULL, NULL, 256, 1},
        {"f16", "300 130", "r c -> c r", "", NULL, NULL, 300 * 16, 1},
        {"bf16", "300 130", "r c -> c r", "", "129 - c", NULL, 300 * 16, 1},
        {"bf16", "300 130", "r c -> r c", "", NULL, NULL, 130 * 16, 1},
        {"e4m3", "300 130", "r c -> c r", "", NULL, NULL, 300 * 8, 1},
        {"f64", "90 130", "r c -> c r", "", NULL, NULL, 90 * 64, 1},
        {"i16", "300 130", "r c -> c r", "", NULL, NULL, 300 * 16, 1},
    };
    static const char *const policies[] = {"ulp=2",          "ulp=1",     "atol=1e-3",         "rtol=0.02",
                                           "atol=0.5 ulp=9", "atol=1e-9", "rtol=0.3 atol=1e-4"};
    static const unsigned cpus[] = {TD_CPU_C, TD_CPU_AVX2, TD_CPU_ALL};
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        setting s;
        open_setting(&near[i], &s);
        ASSERT_OK(td_tensor_fill_ramp(s.golden, -1, near[i].dtype[0] == 'i' ? 1 : 2e-5));
        ASSERT_OK(td_backdoor_load_tensor(s.bank[0], s.golden, s.layout, NULL));
        uint64_t random = i;
        for (uint64_t e = 0; e < td_tensor_elems(s.golden); e++) {
            uint64_t bits = 0;
            ASSERT_OK(td_tensor_get_bits(s.golden, e, &bits));
            const uint64_t off = next_random(&random) % 3;
            ASSERT_OK(td_tensor_set_bits(s.golden, e, bits >= 4 ? bits - off : bits));
        }
        ASSERT_OK(td_backdoor_dump_tensor(s.bank[0], s.dumped, s.layout, NULL));
        for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
            const td_judge j = judge_of(near[i].dtype, policies[p]);
            const truth t = judge_all(&j, s.golden, s.dumped, NULL);
            for (size_t c = 0; c < sizeof cpus / sizeof cpus[0]; c++)
                for (unsigned threads = 1; threads <= 4; threads += 3) {
                    td_cpu_mask(cpus[c]);
                    td_free(compare_on(&near[i], &s, policies[p], false, threads, &t));
                }
        }
        td_cpu_mask(TD_CPU_ALL);
        close_setting(&s);
    }
}

/* Every second element of a row: no step of the tensor is one element, so nothing lies turned that could be seen in
 * place. */
static void elements_apart_are_taken_out(void **state)
{
    (void)state;
    td_tensor *golden = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(40, 79), &golden));
    ASSERT_OK(td_tensor_set_bits(golden, 7 * 79 + 31,
                                 1)); /* between those that are compared: where steps of one would lead */
    ASSERT_OK(td_layout_create("r (2*h + k) -> (h k) r", "k=1", NULL, &layout));
    ASSERT_OK(td_memory_create("m", 40 * 16, 40, &memory));
    ASSERT_OK(td_backdoor_load_tensor(memory, golden, layout, NULL));
    for (int wrong = 0; wrong < 2; wrong++) {
        td_report *report = NULL;
        td_mismatch first = {0};
        ASSERT_OK(td_backdoor_compare_tensor(memory, golden, layout, "", NULL, &report));
        assert_int_equal(td_report_compared(report), 1600);
        assert_int_equal(td_report_mismatches(report), wrong);
        if (wrong) {
            ASSERT_OK(td_report_first(report, 0, &first));
            assert_int_equal(first.elem, 7 * 79 + 2 * 31);
            assert_int_equal(first.address, 31);
            assert_int_equal(first.lsb, 7 * 16);
        }
        td_report_destroy(&report);
        ((uint16_t *)td_memory_data(memory))[31 * 40 + 7] ^= 1;
    }
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    td_tensor_destroy(&golden);
}

/* Floats so far apart that f32 rounds their difference: the worst error is still the judge's, to the last bit. */
static void rounded_differences_are_not_the_worst(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"f32", "f16", "bf16"};
    static const unsigned cpus[] = {TD_CPU_C, TD_CPU_AVX2, TD_CPU_ALL};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            td_tensor *expected = NULL, *actual = NULL;
            uint64_t random = seed;
            ASSERT_OK(td_tensor_create(dtypes[d], TD_SHAPE(100), &expected));
            ASSERT_OK(td_tensor_create(dtypes[d], TD_SHAPE(100), &actual));
            for (uint64_t i = 0; i < 100; i++) {
                const double one = (double)(next_random(&random) % 100000) / 1e5,
                             tiny = (double)(next_random(&random) % 100000) / 3e9;
                ASSERT_OK(td_tensor_set_real(expected, i, seed % 2 ? one : tiny));
                ASSERT_OK(td_tensor_set_real(actual, i, seed % 2 ? -tiny : one));
            }
            const td_judge j = judge_of(dtypes[d], "atol=2");
            const truth t = judge_all(&j, expected, actual, NULL);
            for (size_t c = 0; c < sizeof cpus / sizeof cpus[0]; c++) {
                td_report *report = NULL;
                td_cpu_mask(cpus[c]);
                ASSERT_OK(td_tensor_compare(expected, actual, "atol=2", &report));
                assert_truth(dtypes[d], "atol=2", report, &t);
                td_report_destroy(&report);
            }
            td_cpu_mask(TD_CPU_ALL);
            td_tensor_destroy(&expected);
            td_tensor_destroy(&actual);
        }
}

static void tensors_on_threads(void **state)
{
    (void)state;
    td_tensor *a = NULL, *b = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(700, 501), &a));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(700, 501), &b));
    ASSERT_OK(td_tensor_fill_ramp(a, 0, 1e-3));
    ASSERT_OK(td_tensor_fill_ramp(b, 1e-5, 1e-3));
    ASSERT_OK(td_tensor_set_bits(b, 350000, 0x7fc00000));
    const td_judge j = judge_of("f32", "atol=1e-3");
    const truth t = judge_all(&j, a, b, NULL);
    assert_int_equal(t.mismatches, 1);
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        td_report *report = NULL;
        td_speed_threads(threads);
        ASSERT_OK(td_tensor_compare(a, b, "atol=1e-3", &report));
        assert_truth("two tensors", "atol=1e-3", report, &t);
        td_report_destroy(&report);
    }
    td_speed_threads(0);
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_rows_are_judged_like_pairs),
        cmocka_unit_test(neither_threads_nor_machines_change_anything),
        cmocka_unit_test(near_tensors_are_judged_like_pairs),
        cmocka_unit_test(elements_apart_are_taken_out),
        cmocka_unit_test(rounded_differences_are_not_the_worst),
        cmocka_unit_test(tensors_on_threads),
    };
    setenv("TD_PARALLEL_BYTES", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
