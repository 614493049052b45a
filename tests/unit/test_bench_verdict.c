/* The bench's verdicts on made-up clocks: a planted slowdown is found, an equal build is not, and over two hundred
 * pairs of noisy runs the rates of false alarms and of misses are printed and held. The clock is a model of a shared
 * machine: every run has a speed of its own that ours and the reference share, and a small one that is ours alone
 * (pages, lines); bursts of a neighbour slow some rounds of both; every sample has some noise. */
#include "tool/bench/verdict.h"

#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct machine {
    uint64_t seed, step;
    double slowdown;           /* of ours: 1.3 is planted */
    double shared, own;        /* speeds of this run */
    double noise, burst, load; /* of a sample; the chance and the weight of a burst */
    int burst_left;
} machine;

static double chance(machine *m)
{
    return (double)(td_random_at(m->seed, m->step++) >> 11) / 9007199254740992.0;
}

/* Roughly normal, by the sum of twelve. */
static double normal(machine *m)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += chance(m);
    return sum;
}

static double sample(machine *m, double ns)
{
    if (m->burst_left > 0)
        m->burst_left--;
    else if (chance(m) < m->burst)
        m->burst_left = 2 + (int)(20 * chance(m));
    const double busy = m->burst_left > 0 ? 1 + m->load * chance(m) : 1;
    return ns * m->shared * busy * exp(m->noise * normal(m));
}

static double run_ours(void *state, uint64_t repetitions)
{
    machine *m = state;
    (void)repetitions;
    return sample(m, 1000 * m->own * m->slowdown);
}

static double run_reference(void *state, uint64_t repetitions)
{
    (void)repetitions;
    return sample(state, 800);
}

static bool measure(void *context, bench_figure *now)
{
    machine *m = context;
    const bench_runner runner[] = {{"ours", run_ours, m}, {"memcpy", run_reference, m}};
    const bench_method method = {31, 31e3, 1};
    bench_sampled s;
    m->own = exp(0.015 * normal(m));
    if (!bench_sample(runner, 2, &method, &s))
        return false;
    *now = (bench_figure){
        .ns = s.ns[0], .ratio = s.ratio, .peer_count = 1, .allocations = -1, .peak_bytes = -1, .hits = -1};
    strcpy(now->reference, "memcpy");
    strcpy(now->peer[0].name, "memcpy");
    now->peer[0].ns = s.ns[1];
    return true;
}

/* A baseline of three passes, then a run that is slower by so much. */
static bench_judgement judge_pair(uint64_t seed, double slowdown, double noise, double burst, double load)
{
    machine m = {.seed = seed, .slowdown = 1, .noise = noise, .burst = burst, .load = load};
    bench_figure pass[3], then, now;
    bench_judgement out;
    m.shared = exp(0.05 * normal(&m));
    for (int i = 0; i < 3; i++)
        assert_true(measure(&m, &pass[i]));
    bench_figure_merge(pass, 3, &then);
    m.shared = exp(0.05 * normal(&m)); /* the machine is another one today */
    m.slowdown = slowdown;
    assert_true(measure(&m, &now));
    bench_judge(&now, &then, &out);
    for (int i = 0; i < BENCH_CONFIRM && bench_looks_changed(&out); i++)
        bench_confirm(&now, &then, measure, &m, &out);
    return out;
}

static void a_planted_slowdown_is_found(void **state)
{
    (void)state;
    const bench_judgement j = judge_pair(1, 1.3, 0.01, 0, 0);
    assert_int_equal(j.verdict, BENCH_FAILS);
    assert_true(j.change > 0.2 && j.change < 0.4);
    assert_non_null(strstr(j.text, " % slower: "));
    assert_non_null(strstr(j.text, "; so it is against memcpy"));
}

static void an_equal_build_is_equal(void **state)
{
    (void)state;
    assert_int_equal(judge_pair(2, 1, 0.01, 0, 0).verdict, BENCH_EQUAL);
}

static void noisy_pairs(void **state)
{
    (void)state;
    int false_fails = 0, false_reports = 0, missed = 0, unreported = 0;
    const int pairs = 200;
    for (int i = 0; i < pairs; i++) {
        const double noise = 0.01 + 0.02 * (i % 5);
        const double burst = 0.01 * (i % 4), load = 1.5;
        const bench_verdict equal = judge_pair(1000 + (uint64_t)i, 1, noise, burst, load).verdict;
        const bench_verdict slower = judge_pair(5000 + (uint64_t)i, 1.3, noise, burst, load).verdict;
        false_fails += equal == BENCH_FAILS;
        false_reports += equal == BENCH_SLOWER;
        missed += slower != BENCH_FAILS;
        unreported += slower < BENCH_SPREADS;
    }
    print_message("# %d pairs of noisy runs of one build: %d fail, %d are reported as slower\n", pairs, false_fails,
                  false_reports);
    print_message("# %d pairs with 30 %% planted: %d do not fail, %d of them are not reported either\n", pairs, missed,
                  unreported);
    assert_int_equal(false_fails, 0);
    assert_true(false_reports <= 2);
    assert_true(missed <= pairs / 20);
}

/* Two figures without noise. */
static void still(bench_figure *f, double ns, double ratio)
{
    *f = (bench_figure){.allocations = 1, .peak_bytes = 100000, .hits = 1, .peer_count = 1};
    f->ns = (bench_stat){ns, ns * 0.99, ns * 1.01, 0.02, 0.015, 0.025, 31, 0};
    f->ratio = (bench_stat){ratio, ratio * 0.99, ratio * 1.01, 0.02, 0.015, 0.025, 31, 0};
    f->peer[0].ns = (bench_stat){ns * ratio, 0, 0, 0.02, 0.015, 0.025, 31, 0};
    strcpy(f->reference, "memcpy");
    strcpy(f->peer[0].name, "memcpy");
}

static bench_verdict verdict_of(const bench_figure *now, const bench_figure *then, const char *text)
{
    bench_judgement j;
    bench_judge(now, then, &j);
    assert_string_equal(j.text, text);
    return j.verdict;
}

static void the_policy(void **state)
{
    (void)state;
    bench_figure then, now;
    still(&then, 1000, 0.8);
    still(&now, 1040, 0.8 / 1.04);
    assert_int_equal(verdict_of(&now, &then, ""), BENCH_EQUAL);
    still(&now, 1070, 0.8 / 1.07);
    assert_int_equal(verdict_of(&now, &then, "7 % slower: 1.07 us, was 1 us; so it is against memcpy"), BENCH_SLOWER);
    still(&now, 1120, 0.8 / 1.12);
    assert_int_equal(verdict_of(&now, &then, "12 % slower: 1.12 us, was 1 us; so it is against memcpy"), BENCH_FAILS);
    still(&now, 800, 1.0);
    assert_int_equal(verdict_of(&now, &then, "20 % faster: 800 ns, was 1 us; so it is against memcpy"), BENCH_FASTER);
    /* The machine is slower, memcpy too. */
    still(&now, 1500, 0.8);
    assert_int_equal(verdict_of(&now, &then, ""), BENCH_EQUAL);
    /* Only the ratio moved: memcpy is faster today. */
    still(&now, 1000, 0.5);
    assert_int_equal(verdict_of(&now, &then, ""), BENCH_EQUAL);
    /* An interval that reaches into the other's. */
    still(&now, 1300, 0.8 / 1.3);
    now.ns.low = 1005;
    assert_int_equal(verdict_of(&now, &then, ""), BENCH_EQUAL);
    still(&now, 1000, 0.8);
    now.peak_bytes = 130000;
    assert_int_equal(verdict_of(&now, &then, "needs 130000 bytes more while it runs, was 100000"), BENCH_FAILS);
    now.peak_bytes = 115000;
    assert_int_equal(verdict_of(&now, &then, ""), BENCH_EQUAL);
    still(&now, 1000, 0.8);
    now.ns.spread = 0.3;
    now.ns.spread_low = 0.2;
    assert_int_equal(verdict_of(&now, &then, ""), BENCH_EQUAL); /* the ratio's did not grow: both spread */
    now.ratio.spread = 0.3;
    now.ratio.spread_low = 0.2;
    assert_int_equal(verdict_of(&now, &then, "spreads by 30 %, was 2 %"), BENCH_SPREADS);
    now.peer[0].ns.spread = 0.3;
    assert_int_equal(verdict_of(&now, &then, ""), BENCH_EQUAL);
    still(&now, 1000, 0.8);
    now.hits = 0.94;
    assert_int_equal(verdict_of(&now, NULL, "only 94.0 % of the plans were found in the cache; 95 % are needed"),
                     BENCH_FAILS);
    now.hits = 0.96;
    assert_int_equal(verdict_of(&now, NULL, ""), BENCH_NEW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_slowdown_is_found),
        cmocka_unit_test(an_equal_build_is_equal),
        cmocka_unit_test(noisy_pairs),
        cmocka_unit_test(the_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
