/* The bench's verdicts on made-up clocks: a planted slowdown is found, an equal build is not, and over two hundred
 * pairs of noisy runs the rates of false alarms and of misses are printed and held. The clock is a model of a shared
 * machine: every run has a speed of its own that ours and the reference share, and a small one that is ours alone
 * (pages, lines); a neighbour on the other half of the core comes and goes, and slows ours more than the reference, and
 * the probe too; bursts of another kind slow some rounds of both and no probe; every sample has some noise. */
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
    double busy;   /* share of the time that the neighbour is there */
    double there;  /* how much it slows ours now; 1: it is not there */
    int stay_left; /* for how many looks it stays, or stays away */
    double patience_ns;
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

/* The neighbour comes and goes. */
static double neighbour(machine *m)
{
    if (m->stay_left-- <= 0) {
        const bool comes = chance(m) < m->busy;
        m->there = comes ? 1.25 + 0.5 * chance(m) : 1;
        m->stay_left = 5 + (int)(60 * chance(m));
    }
    return m->there;
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
    return sample(m, 1000 * m->own * m->slowdown * neighbour(m));
}

static double run_reference(void *state, uint64_t repetitions)
{
    machine *m = state;
    (void)repetitions;
    return sample(m, 800 * sqrt(neighbour(m)));
}

static bench_probed probe(void *state)
{
    machine *m = state;
    const double clocks = 4000 * neighbour(m) * (1 + 0.003 * fabs(normal(m)));
    return (bench_probed){clocks, clocks, 0};
}

static bool measure(void *context, bench_figure *now)
{
    machine *m = context;
    const bench_runner runner[] = {{"ours", run_ours, m}, {"memcpy", run_reference, m}};
    const bench_method method = {31, 31e3, 1};
    bench_calm calm = {
        .probe = probe, .state = m, .known = 4000, .patience_ns = m->patience_ns, .share_ns = m->patience_ns};
    bench_sampled s;
    m->own = exp(0.015 * normal(m));
    if (!bench_sample(runner, 2, &method, &calm, &s))
        return false;
    *now = (bench_figure){.ns = s.ns[0],
                          .ratio = s.ratio,
                          .calm = s.calm,
                          .disturbed = s.disturbed,
                          .peer_count = 1,
                          .allocations = -1,
                          .peak_bytes = -1,
                          .hits = -1};
    strcpy(now->reference, "memcpy");
    strcpy(now->peer[0].name, "memcpy");
    now->peer[0].ns = s.ns[1];
    return true;
}

typedef struct noise {
    double noise, burst, load, busy;
} noise;

static const noise still_machine = {0.01, 0, 0, 0};

/* A baseline of five passes, then a run that is slower by so much. */
static bench_judgement judge_pair(uint64_t seed, double slowdown, const noise *then_noise, const noise *now_noise)
{
    machine m = {.seed = seed,
                 .slowdown = 1,
                 .noise = then_noise->noise,
                 .burst = then_noise->burst,
                 .load = then_noise->load,
                 .busy = then_noise->busy,
                 .patience_ns = 2e6}; /* 500 looks */
    bench_figure pass[5], then, now;
    bench_trials trials = {0};
    bench_judgement out;
    m.shared = exp(0.05 * normal(&m));
    for (int i = 0; i < 5; i++)
        assert_true(measure(&m, &pass[i]));
    bench_figure_merge(pass, 5, &then);
    m.shared = exp(0.05 * normal(&m)); /* the machine is another one today */
    m.slowdown = slowdown;
    m.noise = now_noise->noise;
    m.burst = now_noise->burst;
    m.load = now_noise->load;
    m.busy = now_noise->busy;
    do {
        assert_true(measure(&m, &trials.figure[trials.count++]));
    } while (!bench_decide(&trials, &then, &now, &out));
    return out;
}

static void a_planted_slowdown_is_found(void **state)
{
    (void)state;
    const bench_judgement j = judge_pair(1, 1.3, &still_machine, &still_machine);
    assert_int_equal(j.verdict, BENCH_FAILS);
    assert_true(j.change > 0.2 && j.change < 0.4);
    assert_non_null(strstr(j.text, " % slower: "));
    assert_non_null(strstr(j.text, "; so it is against memcpy"));
}

static void an_equal_build_is_equal(void **state)
{
    (void)state;
    assert_int_equal(judge_pair(2, 1, &still_machine, &still_machine).verdict, BENCH_EQUAL);
}

typedef struct rates {
    int count[BENCH_FAILS + 1];
} rates;

/* Two hundred pairs, each with another noise: from a still machine to one whose samples spread by a third, whose core
 * is shared for nine tenths of the time, and which has bursts that no probe sees. */
static rates judge_pairs(const char *what, double slowdown, bool other_noise)
{
    const int pairs = 200;
    rates r = {{0}};
    for (int i = 0; i < pairs; i++) {
        const noise then = {0.01 + 0.02 * (i % 5), 0.01 * (i % 4), 1.5, 0.3 * (i / 4 % 4)};
        const noise now = {then.noise, then.burst, then.load, other_noise ? 0.3 * ((i / 4 + 2) % 4) : then.busy};
        r.count[judge_pair(1000 + 7919 * (uint64_t)(100 * slowdown) + (uint64_t)i, slowdown, &then, &now).verdict]++;
    }
    print_message("# %d pairs of noisy runs, %s:", pairs, what);
    for (int v = 0; v <= BENCH_FAILS; v++)
        print_message(" %d %s%s", r.count[v], bench_verdict_name((bench_verdict)v), v < BENCH_FAILS ? "," : "\n");
    return r;
}

static void noisy_pairs(void **state)
{
    (void)state;
    const rates equal = judge_pairs("one build", 1, false), moved = judge_pairs("one build, other load", 1, true);
    const rates slower = judge_pairs("30 % planted", 1.3, false), unlike = judge_pairs("30 %, other load", 1.3, true);
    const rates little = judge_pairs("12 % planted", 1.12, false);
    assert_int_equal(equal.count[BENCH_FAILS] + moved.count[BENCH_FAILS], 0);
    assert_true(equal.count[BENCH_SLOWER] <= 2 && moved.count[BENCH_SLOWER] <= 2);
    assert_true(equal.count[BENCH_UNDECIDED] <= 10 && moved.count[BENCH_UNDECIDED] <= 10);
    assert_true(slower.count[BENCH_FAILS] >= 195 && unlike.count[BENCH_FAILS] >= 195);
    assert_int_equal(slower.count[BENCH_EQUAL] + unlike.count[BENCH_EQUAL], 0);
    assert_true(little.count[BENCH_FAILS] + little.count[BENCH_SLOWER] >= 150);
}

/* Two figures without noise. */
static void still(bench_figure *f, double ns, double ratio)
{
    *f = (bench_figure){.calm = true, .allocations = 1, .peak_bytes = 100000, .hits = 1, .peer_count = 1};
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
    assert_int_equal(
        verdict_of(&now, &then, "60 % slower against memcpy, which is faster itself; by the clock it is not"),
        BENCH_UNDECIDED);
    /* An interval that reaches into the other's. */
    still(&now, 1300, 0.8 / 1.3);
    now.ns.low = 1005;
    assert_int_equal(verdict_of(&now, &then, "between 0 % faster and 33 % slower"), BENCH_UNDECIDED);
    now.calm = false;
    assert_int_equal(verdict_of(&now, &then, "between 0 % faster and 33 % slower: the core was never ours alone"),
                     BENCH_UNDECIDED);
    /* A call of two nanoseconds whose interval is as wide as a step of its clock. */
    still(&then, 2, 0.8);
    still(&now, 2.25, 0.8 / 1.125);
    now.ns.low = 1.9;
    now.ns.high = 2.6;
    now.ratio.low = 0.6;
    assert_int_equal(verdict_of(&now, &then, ""), BENCH_EQUAL);
    still(&now, 2.35, 0.8 / 1.175);
    now.ns.low = 1.9;
    assert_int_equal(verdict_of(&now, &then, "between 6 % faster and 20 % slower"), BENCH_UNDECIDED);
    still(&then, 1000, 0.8);
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

static bench_verdict decide(bench_trials *t, size_t count, const bench_figure *now, const bench_figure *then,
                            bool settles, const char *text)
{
    bench_figure joined;
    bench_judgement j;
    for (t->count = 0; t->count < count; t->count++)
        t->figure[t->count] = *now;
    assert_int_equal(bench_decide(t, then, &joined, &j), settles);
    assert_string_equal(j.text, text);
    return j.verdict;
}

/* How many measurements a verdict needs, and when none may stand. */
static void several_measurements(void **state)
{
    (void)state;
    static bench_trials t;
    bench_figure then, now, other;
    bench_judgement j;
    const char *slower = "30 % slower: 1.3 us, was 1 us; so it is against memcpy";
    still(&then, 1000, 0.8);
    still(&now, 1000, 0.8);
    assert_int_equal(decide(&t, 1, &now, &then, true, ""), BENCH_EQUAL);
    still(&now, 1300, 0.8 / 1.3);
    assert_int_equal(decide(&t, BENCH_LEAST_TRIALS - 1, &now, &then, false, slower), BENCH_FAILS);
    /* No time for one more: what is not confirmed fails nobody. */
    bench_give_up(&t, &then, &other, &j);
    assert_int_equal(j.verdict, BENCH_UNDECIDED);
    assert_string_equal(j.text, "looks 30 % slower, which other measurements did not confirm");
    still(&now, 700, 0.8 / 0.7);
    decide(&t, BENCH_LEAST_TRIALS - 1, &now, &then, false, "30 % faster: 700 ns, was 1 us; so it is against memcpy");
    bench_give_up(&t, &then, &other, &j);
    assert_int_equal(j.verdict, BENCH_UNDECIDED);
    assert_string_equal(j.text, "looks 30 % faster, which other measurements did not confirm");
    still(&now, 1300, 0.8 / 1.3);
    assert_int_equal(decide(&t, BENCH_LEAST_TRIALS, &now, &then, true, slower), BENCH_FAILS);
    /* On more memory than a core's caches hold it takes more, as nobody sees who else uses it. */
    then.bytes = 4e6;
    assert_int_equal(decide(&t, BENCH_FAR_TRIALS - 1, &now, &then, false, slower), BENCH_FAILS);
    assert_int_equal(decide(&t, BENCH_FAR_TRIALS, &now, &then, true, slower), BENCH_FAILS);
    then.bytes = 0;
    assert_int_equal(decide(&t, BENCH_LEAST_TRIALS, &now, &then, true, slower), BENCH_FAILS);
    /* One that is slower by 4 % only stands against the others; one that is as fast settles it. */
    still(&t.figure[1], 1040, 0.8 / 1.04);
    t.figure[1].ns.high = 1100;
    assert_false(bench_decide(&t, &then, &other, &j));
    still(&t.figure[1], 1000, 0.8);
    assert_true(bench_decide(&t, &then, &other, &j));
    assert_int_equal(j.verdict, BENCH_EQUAL);
    /* The reference was slow too in one: that settles nothing, and of five it does not stand against the others. */
    still(&now, 1300, 0.8 / 1.3);
    decide(&t, BENCH_LEAST_TRIALS - 1, &now, &then, false, slower);
    still(&t.figure[0], 1300, 0.8);
    assert_false(bench_decide(&t, &then, &other, &j));
    decide(&t, BENCH_LEAST_TRIALS + 1, &now, &then, true, slower);
    still(&t.figure[1], 1300, 0.8);
    assert_true(bench_decide(&t, &then, &other, &j));
    assert_int_equal(j.verdict, BENCH_FAILS);
    /* In most of them it is the machine. */
    for (size_t i = 0; i < 3; i++)
        still(&t.figure[i], 1300, 0.8);
    assert_true(bench_decide(&t, &then, &other, &j));
    assert_int_equal(j.verdict, BENCH_EQUAL);
    /* Never calm, while the baseline was. */
    now.calm = false;
    assert_int_equal(decide(&t, BENCH_TRIALS - 1, &now, &then, false, slower), BENCH_FAILS);
    assert_int_equal(
        decide(&t, BENCH_TRIALS, &now, &then, true, "looks 30 % slower, but the core was never ours alone"),
        BENCH_UNDECIDED);
    still(&now, 2500, 0.8 / 2.5); /* no neighbour does that */
    now.calm = false;
    assert_int_equal(decide(&t, 4, &now, &then, true, "150 % slower: 2.5 us, was 1 us; so it is against memcpy"),
                     BENCH_FAILS);
    still(&now, 6000, 0.8 / 6); /* six times as slow needs no second measurement */
    assert_int_equal(decide(&t, 1, &now, &then, true, "500 % slower: 6 us, was 1 us; so it is against memcpy"),
                     BENCH_FAILS);
    /* Neither was calm: nearly all have to say so, and 15 % are not enough. */
    then.calm = false;
    still(&now, 1300, 0.8 / 1.3);
    now.calm = false;
    assert_int_equal(decide(&t, BENCH_DISTURBED_TRIALS - 1, &now, &then, false, slower), BENCH_FAILS);
    assert_int_equal(decide(&t, BENCH_DISTURBED_TRIALS, &now, &then, true, slower), BENCH_FAILS);
    still(&now, 1150, 0.8 / 1.15);
    now.calm = false;
    assert_int_equal(
        decide(&t, BENCH_TRIALS, &now, &then, true, "looks 15 % slower, but the core was never ours alone"),
        BENCH_UNDECIDED);
    /* A calm one outweighs any number that were not. */
    then.calm = true;
    t.figure[2] = then;
    assert_true(bench_decide(&t, &then, &other, &j));
    assert_int_equal(j.verdict, BENCH_EQUAL);
    /* Two that contradict each other wait for a third where the baseline was disturbed and they were not: the build
     * may be slower and the machine calmer. */
    still(&now, 1300, 0.8 / 1.3);
    t.count = 2;
    t.figure[0] = then;
    t.figure[1] = now;
    then.calm = false;
    assert_false(bench_decide(&t, &then, &other, &j));
    assert_int_equal(j.verdict, BENCH_UNDECIDED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_slowdown_is_found),
        cmocka_unit_test(an_equal_build_is_equal),
        cmocka_unit_test(noisy_pairs),
        cmocka_unit_test(the_policy),
        cmocka_unit_test(several_measurements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
