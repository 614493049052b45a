/* The bench's statistics on samples with known answers, its way of sampling on made-up clocks, its records as JSON. */
#include "tool/bench/baseline.h"
#include "tool/bench/json_read.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static void known_answers(void **state)
{
    (void)state;
    static const double five[] = {5, 1, 4, 2, 3}, four[] = {1, 2, 3, 10}, one[] = {7};
    bench_stat s;
    bench_stat_of(five, 5, &s);
    assert_true(near(s.median, 3) && s.samples == 5 && s.outliers == 0);
    assert_true(near(s.spread, (4.6 - 1.4) / 3));
    bench_stat_of(four, 4, &s);
    assert_true(near(s.median, 2.5));
    bench_stat_of(one, 1, &s);
    assert_true(near(s.median, 7) && near(s.low, 7) && near(s.high, 7) && s.spread == 0);
    bench_stat_of(one, 0, &s);
    assert_int_equal(s.samples, 0);
}

static void outliers_lie_beyond_the_fences(void **state)
{
    (void)state;
    /* Quartiles 3 and 9 of 1..11, so the fences are -6 and 18. */
    double sample[13] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0};
    bench_stat s;
    bench_stat_of(sample, 11, &s);
    assert_int_equal(s.outliers, 0);
    sample[10] = 100;
    bench_stat_of(sample, 11, &s);
    assert_int_equal(s.outliers, 1);
    assert_true(near(s.median, 6)); /* one wild sample moves nothing */
}

/* Of an odd number of samples the bootstrap's medians are samples, and the chance that the median is at most the k-th
 * of n is that of at least (n + 1) / 2 of n draws among the first k: the binomial's. */
static double chance_at_most(int n, int k)
{
    double sum = 0;
    for (int hits = (n + 1) / 2; hits <= n; hits++)
        sum += exp(lgamma(n + 1) - lgamma(hits + 1) - lgamma(n - hits + 1) + hits * log((double)k / n) +
                   (k == n ? 0 : (n - hits) * log(1 - (double)k / n))) *
               (k == n && hits < n ? 0 : 1);
    return sum;
}

static void intervals_are_the_bootstraps(void **state)
{
    (void)state;
    for (int n = 5; n <= 101; n += 12) {
        double sample[101];
        bench_stat s;
        for (int i = 0; i < n; i++)
            sample[i] = (double)((i * 37) % n + 1); /* 1..n in another order, as 37 divides none of them */
        bench_stat_of(sample, (size_t)n, &s);
        int low = 1, high = n;
        while (chance_at_most(n, low) < 0.005)
            low++;
        while (high > 1 && chance_at_most(n, high - 1) >= 0.995)
            high--;
        /* 800 draws find the half percent within three ranks. */
        assert_true(fabs(s.low - low) <= 3 && fabs(s.high - high) <= 3);
        assert_true(s.low <= s.median && s.median <= s.high);
    }
}

static void order_does_not_matter(void **state)
{
    (void)state;
    double forward[31], backward[31];
    bench_stat a, b;
    for (int i = 0; i < 31; i++)
        forward[i] = backward[30 - i] = sqrt(i + 2);
    bench_stat_of(forward, 31, &a);
    bench_stat_of(backward, 31, &b);
    assert_memory_equal(&a, &b, sizeof a);
}

/* A made-up clock: fixed times, counted calls. */
typedef struct fake {
    double ns;
    uint64_t calls, repetitions, fails_after;
} fake;

static double run_fake(void *state, uint64_t repetitions)
{
    fake *f = state;
    f->calls++;
    f->repetitions += repetitions;
    return f->fails_after && f->calls > f->fails_after ? -1 : f->ns;
}

static void sampling_fills_its_time(void **state)
{
    (void)state;
    fake ours = {100, 0, 0, 0}, reference = {50, 0, 0, 0}, slow = {5e6, 0, 0, 0}, broken = {1, 0, 0, 1};
    const bench_runner runner[] = {{"ours", run_fake, &ours},
                                   {"memcpy", run_fake, &reference},
                                   {"slow", run_fake, &slow},
                                   {"none", run_fake, &broken}};
    const bench_method method = {31, 31e6, 1e6};
    bench_sampled out;
    assert_true(bench_sample(runner, 4, &method, NULL, &out));
    assert_true(near(out.ns[0].median, 100) && out.ns[0].samples == 31);
    assert_true(near(out.ratio.median, 0.5) && out.ratio.samples == 31);
    assert_int_equal(out.ns[2].samples, BENCH_SLOW_ROUNDS);
    assert_int_equal(out.ns[3].samples, 0);
    /* 31 samples of 1 ms, and the warm-up's. */
    const double spent = (double)ours.repetitions * 100;
    assert_true(spent > 31e6 * 0.95 && spent < 31e6 * 1.1 + 2e6);
}

static void sampling_needs_ours(void **state)
{
    (void)state;
    fake ours = {100, 0, 0, 3};
    const bench_runner runner[] = {{"ours", run_fake, &ours}};
    const bench_method method = {31, 31e6, 1e6};
    bench_sampled out;
    assert_false(bench_sample(runner, 1, &method, NULL, &out));
}

static void fitness_says_why_not(void **state)
{
    (void)state;
    bench_fitness f = {.load = 0.4, .steal = 0.001, .calibration = 0.01, .calm = 0.97};
    bench_fitness_judge(&f, 2);
    assert_true(f.fit);
    assert_string_equal(f.why, "");
    f = (bench_fitness){.load = 3.2, .steal = 0.08, .calibration = 0.31, .calm = 0.2, .governor = "powersave"};
    bench_fitness_judge(&f, 2);
    assert_false(f.fit);
    assert_string_equal(
        f.why,
        "load 3.2 in the last minute, 8 % of the time stolen by the host, a loop of fixed work spreads by 31 %, the "
        "core is shared for 80 % of the time, the processor saves power (set the governor to performance)");
    bench_fitness_steal(&f, 24, 1); /* the grain of the clock */
    assert_true(f.steal < 1e-9);
    bench_fitness_steal(&f, 201, 11);
    assert_true(f.steal > 0.049 && f.steal < 0.051);
    bench_calm calm = {.probe = bench_calm_probe};
    bench_fitness_look(&calm, &f);
    assert_true(f.calibration >= 0);
}

/* Loops of half a millisecond with an interrupt of 11 us in every other one: a clock that rises by a tenth, and
 * somebody else who takes a millisecond out of every fifth. Only the last is a reason. */
static void loops_tell_the_clock_from_others(void **state)
{
    (void)state;
    enum { LOOPS = 61 };
    double loop[LOOPS];
    for (int who = 0; who < 4; who++) {
        bench_fitness f = {.load = 0, .calm = 1};
        for (int i = 0; i < LOOPS; i++) {
            const double clock = who == 1 || who == 3 ? 1.1 - 0.1 * i / LOOPS : 1;
            loop[i] = 5e5 * clock + (i % 2 ? 11e3 : 0) + (who >= 2 && i % 5 == 0 ? 1e6 : 0);
        }
        bench_fitness_loops(loop, LOOPS, &f);
        bench_fitness_judge(&f, 2);
        assert_int_equal(f.fit, who < 2);
        if (who < 2)
            assert_true(f.calibration > 0.015 && f.calibration < 0.04);
        else
            assert_true(f.calibration > 1.5 && f.calibration < 2.1);
        if (who % 2)
            assert_true(f.clock > 0.06 && f.clock < 0.1);
        else
            assert_true(f.clock < 0.03);
    }
    bench_fitness f = {.clock = 0.31, .calm = 1};
    bench_fitness_judge(&f, 2);
    assert_false(f.fit);
    assert_string_equal(f.why, "the clock moves by 31 %");
}

static void fill_record(bench_record *r)
{
    *r = (bench_record){
        .cores = 2, .method = BENCH_DEFAULT_METHOD, .fitness = {.fit = false, .load = 1.5, .why = "load"}};
    strcpy(r->library, "0.1.0");
    strcpy(r->commit, "abc\"\\");
    strcpy(r->time, "2026-01-02T03:04:05Z");
    strcpy(r->processor, "some \t processor");
    strcpy(r->isa, "avx2");
    for (int i = 0; i < 3; i++) {
        bench_figure *f = bench_record_add(r);
        snprintf(f->group, sizeof f->group, "g");
        snprintf(f->name, sizeof f->name, "case_%d", i);
        if (i == 1) {
            strcpy(f->skipped, "no verilator here");
            continue;
        }
        f->elems = 10 + i;
        f->bytes = 40;
        f->ns = (bench_stat){12.5, 12, 13, 0.25, 0.125, 0.5, 31, 2};
        if (i == 0) {
            strcpy(f->reference, "memcpy");
            f->ratio = (bench_stat){0.5, 0.25, 0.75, 0, 0, 0, 31, 0};
            strcpy(f->peer[f->peer_count].name, "memcpy");
            f->peer[f->peer_count++].ns = f->ratio;
            f->allocations = 2;
            f->peak_bytes = 4096;
            f->hits = 1;
            bench_figure_extra(f, "max_error", 0.5);
        }
    }
}

static char *text_of(const bench_record *r, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    bench_record_write(out, r);
    fclose(out);
    return text;
}

static void records_survive_json(void **state)
{
    (void)state;
    bench_record r, back;
    char message[256] = "";
    size_t length = 0, again = 0;
    fill_record(&r);
    char *text = text_of(&r, &length);
    assert_true(bench_record_read(text, length, &back, message, sizeof message));
    char *second = text_of(&back, &again);
    assert_string_equal(text, second);
    assert_string_equal(back.commit, "abc\"\\");
    assert_true(bench_record_find(&back, "g", "case_2")->allocations < 0);
    assert_null(bench_record_find(&back, "g", "case_9"));
    bench_record_clear(&back);
    /* Half written, at whatever byte. */
    for (size_t cut = 1; cut < length; cut += 7) {
        bench_record half;
        assert_false(bench_record_read(text, cut, &half, message, sizeof message));
        assert_non_null(strstr(message, "half written"));
    }
    /* A member that has another name. */
    const char *const said[][2] = {{"\"elems\"", "has a figure (number 1) that lacks a member; measure it anew"},
                                   {"\"figures\"", "has no list of figures; measure it anew"}};
    char *other = strdup(text);
    assert_non_null(other);
    for (size_t i = 0; i < 2; i++) {
        strstr(other, said[i][0])[1] = '_';
        assert_false(bench_record_read(other, length, &back, message, sizeof message));
        assert_string_equal(message, said[i][1]);
    }
    free(other);
    free(text);
    free(second);
    bench_record_clear(&r);
}

static void refused(const char *text, const char *want)
{
    bench_record r;
    char message[256] = "";
    assert_false(bench_record_read(text, strlen(text), &r, message, sizeof message));
    assert_string_equal(message, want);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    refused("{\"format\": \"else\"}", "is no run of tensordoor bench: it has no \"format\": \"tensordoor-bench\"");
    refused("[1, 2]", "is no run of tensordoor bench: it has no \"format\": \"tensordoor-bench\"");
    refused("{\"format\": \"tensordoor-bench\", \"version\": 7}",
            "has version 7 of the format, and this tensordoor reads version 3; measure it anew");
    refused("{\"format\": \"tensordoor-bench\", \"version\": 3}",
            "lacks a member that every run has (machine, fitness, method); measure it anew");
    refused("{\"format\": oops}", "is no JSON at byte 11");
    refused("", "ends early, after 0 bytes: it was half written; remove it, or measure it anew");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void histories_are_whole_lines(void **state)
{
    (void)state;
    char folder[] = "/tmp/td-bench-history-XXXXXX", path[64], message[512], want[256];
    bench_record r, *runs = NULL;
    size_t count = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/h", folder);
    fill_record(&r);
    assert_true(bench_history_add(path, &r, message, sizeof message));
    assert_true(bench_history_add(path, &r, message, sizeof message));
    assert_true(bench_history_open(path, &runs, &count, message, sizeof message));
    assert_int_equal(count, 2);
    assert_int_equal(runs[1].count, 3);
    bench_history_clear(runs, count);
    write_file(path, "{\"format\": \"tensordoor-bench\"");
    assert_false(bench_history_add(path, &r, message, sizeof message));
    snprintf(want, sizeof want, "the history %s ends in the middle of line 1: it was half written; remove that line",
             path);
    assert_string_equal(message, want);
    write_file(path, "{\"format\": \"tensordoor-bench\", \"version\": 1}\n");
    assert_false(bench_history_add(path, &r, message, sizeof message));
    snprintf(
        want, sizeof want,
        "line 1 of the history %s has version 1 of the format, and this tensordoor reads version 3; measure it anew",
        path);
    assert_string_equal(message, want);
    unlink(path);
    rmdir(folder);
    bench_record_clear(&r);
}

static void baselines_have_a_place(void **state)
{
    (void)state;
    char folder[] = "/tmp/td-bench-base-XXXXXX", path[128], want[160], message[512];
    bench_record r, back;
    assert_non_null(mkdtemp(folder));
    setenv("TD_BENCH_DIR", folder, 1);
    assert_true(bench_baseline_path("main", false, path, sizeof path));
    snprintf(want, sizeof want, "%s/main.json", folder);
    assert_string_equal(path, want);
    assert_true(bench_baseline_path("./main", false, path, sizeof path));
    assert_string_equal(path, "./main");
    assert_false(bench_baseline_open("main", &back, message, sizeof message));
    snprintf(want, sizeof want, "no baseline \"main\": cannot read %s/main.json; make it with --save-baseline main",
             folder);
    assert_string_equal(message, want);
    fill_record(&r);
    assert_true(bench_baseline_save("main", &r, message, sizeof message));
    assert_true(bench_baseline_open("main", &back, message, sizeof message));
    assert_int_equal(back.count, 3);
    bench_record_clear(&back);
    snprintf(path, sizeof path, "%s/main.json", folder);
    write_file(path, "{\"format\": \"tens");
    assert_false(bench_baseline_open("main", &back, message, sizeof message));
    assert_non_null(strstr(message, "main.json ends early, after 16 bytes: it was half written"));
    unlink(path);
    rmdir(folder);
    unsetenv("TD_BENCH_DIR");
    bench_record_clear(&r);
}

static bench_stat around(double median, double share)
{
    return (bench_stat){median, median * exp(-share), median * exp(share), 0, 0, 0, 31, 0};
}

/* In logarithms with errors of 0.01: alone, and where the measurements agree, their number makes the interval narrower
 * by its root; where they lie apart, that is the interval. */
static void measurements_are_joined(void **state)
{
    (void)state;
    const double share = 0.02576;
    const bench_stat same = around(100, share), far = around(100 * exp(0.2), share);
    const bench_stat *const four[] = {&same, &same, &same, &same}, *const apart[] = {&same, &far};
    bench_stat out = {.samples = 7};
    bench_stat_join(four, 1, 0, &out);
    assert_true(near(out.median, 100) && near(out.low, same.low) && near(out.high, same.high) && out.samples == 7);
    bench_stat_join(four, 4, 0, &out);
    assert_true(near(out.median, 100) && near(out.low, 100 * exp(-share / 2)) && near(out.high, 100 * exp(share / 2)));
    bench_stat_join(four, 4, 0.02, &out); /* one more: 0.005 and 0.02 together */
    assert_true(near(out.high, 100 * exp(2.576 * sqrt(0.005 * 0.005 + 0.02 * 0.02))));
    bench_stat_join(apart, 2, 0, &out); /* the variance of two that lie 0.2 apart is 0.02, that of their mean half */
    assert_true(near(out.median, 100 * exp(0.1)) && near(out.high, 100 * exp(0.1 + 2.576 * 0.1)));
}

/* Passes of a baseline: the interval is where the next run may lie. Disturbed ones are left out beside calm ones, and
 * so is the slower half. */
static void passes_are_merged(void **state)
{
    (void)state;
    bench_figure pass[3] = {0}, out;
    const double median[] = {30, 10, 20};
    for (int i = 0; i < 3; i++)
        pass[i].ns = around(median[i], 0.05);
    bench_figure_merge(pass, 3, &out);
    assert_true(out.ns.low < 10 && out.ns.high > 20 && out.ns.median > 12 && out.ns.median < 17);
    pass[2].calm = true;
    bench_figure_merge(pass, 3, &out);
    assert_true(near(out.ns.median, 20) && out.ns.low > 18 && out.ns.high < 22);
    /* A pass whose reference was slow leaves the ratio as it is. */
    bench_figure five[5] = {0};
    for (int i = 0; i < 5; i++) {
        five[i].ns = around(10 + i, 0.05);
        five[i].ratio = around(i == 0 ? 2 : 1, 0.01);
    }
    bench_figure_merge(five, 5, &out);
    assert_true(out.ratio.low > 0.9 && out.ratio.high < 1.1 && out.ns.low < 10 && out.ns.high < 16);
    /* Two speeds in twelve passes: the interval reaches over both, and hardly beyond. */
    bench_figure twelve[12] = {{.calm = true}};
    for (int i = 0; i < 12; i++) {
        twelve[i] = (bench_figure){.calm = true, .ns = around(i % 2 ? 3400 : 2800, 0.01)};
        twelve[i].ratio = around(1 + 0.001 * i, 0.01);
    }
    bench_figure_merge(twelve, 12, &out);
    assert_true(out.ns.low > 2690 && out.ns.low < 2800 && out.ns.high > 3400 && out.ns.high < 3470);
    assert_true(out.ratio.low < 0.97 && out.ratio.high > 1.03);
    /* What passed for calm before the least probe was known. */
    five[1] = (bench_figure){.calm = true, .calm_clocks = 14000};
    five[2] = (bench_figure){.calm = true, .calm_clocks = 12000};
    bench_figures_recall(five, 3, 12000);
    assert_true(!five[1].calm && five[2].calm);
}

/* A core that is shared until the hundredth probe. */
static bench_probed shared_core(void *state)
{
    unsigned *looks = state;
    const double clocks = ++*looks < 100 ? 6000 : 4000;
    return (bench_probed){clocks, clocks, 0};
}

/* Two probes of three thousand are far too short. */
static bench_probed slipping_clock(void *state)
{
    unsigned *looks = state;
    const double clocks = ++*looks % 1500 == 7 ? 900 : 4000;
    return (bench_probed){clocks, clocks, 0};
}

/* Somebody else gets the core in every third round of three probes. */
static bench_probed taken_core(void *state)
{
    unsigned *looks = state;
    ++*looks;
    return (bench_probed){4000, 4000, *looks / 9};
}

/* And in every one. */
static bench_probed lost_core(void *state)
{
    unsigned *looks = state;
    ++*looks;
    return (bench_probed){4000, 4000, *looks};
}

static double count_rounds(void *state, uint64_t repetitions)
{
    (void)repetitions;
    return ++*(unsigned *)state, 1000;
}

static void rounds_wait_for_a_calm_core(void **state)
{
    (void)state;
    unsigned looks = 0, calls = 0;
    bench_calm calm = {.probe = shared_core, .state = &looks, .known = 4000, .patience_ns = 1e9};
    double patience = 30000; /* five probes */
    assert_true(near(bench_calm_wait(&calm, &patience), 6000));
    assert_int_equal(looks, 6);
    const bench_runner runner[] = {{"ours", count_rounds, &calls}, {"memcpy", count_rounds, &calls}};
    const bench_method method = {9, 9e3, 1};
    bench_sampled out;
    assert_true(bench_sample(runner, 2, &method, &calm, &out));
    assert_true(out.calm && out.disturbed == 0 && out.ns[0].samples == 9);
    /* Without patience the first rounds are disturbed, and left out. */
    looks = 70;
    calm.patience_ns = 0;
    assert_true(bench_sample(runner, 2, &method, &calm, &out));
    assert_true(out.calm && out.disturbed == 10 && out.ns[0].samples == 17 && out.ratio.samples == 17);
    /* Never calm: the figures are there, and say it. */
    looks = 70;
    bench_calm_know(&calm, 3000);
    assert_true(bench_sample(runner, 2, &method, &calm, &out));
    assert_true(!out.calm && out.disturbed == 10 && out.ns[0].samples == 26);
    looks = 100;
    calm = (bench_calm){.probe = shared_core, .state = &looks};
    assert_true(near(bench_calm_share(&calm, 1e5), 1) && near(calm.floor, 4000));
    /* The first may take more than its part, and what it does not need is there for the others. */
    calm = (bench_calm){.patience_ns = 100, .share_ns = 10};
    assert_true(near(bench_calm_borrow(&calm), 60) && near(calm.patience_ns, 40));
    bench_calm_return(&calm, 50);
    assert_true(near(calm.patience_ns, 90));
    bench_calm_return(&calm, -3);
    assert_true(near(calm.patience_ns, 90));
    calm.share_ns = 1000;
    assert_true(near(bench_calm_borrow(&calm), 90) && near(calm.patience_ns, 0));
    /* Probes that interrupts made short are no floor while they are few. */
    looks = 0;
    calm = (bench_calm){.probe = slipping_clock, .state = &looks};
    for (int i = 0; i < 3000; i++)
        (void)bench_calm_look(&calm);
    assert_true(near(calm.floor, 4000) && near(bench_calm_limit(&calm), 4240));
    const bench_probed real = bench_calm_probe(NULL);
    assert_true(real.clocks > 0 && real.took_ns > 0);
}

static void rounds_that_were_cut_are_left_out(void **state)
{
    (void)state;
    unsigned looks = 0, calls = 0;
    bench_calm calm = {.probe = taken_core, .state = &looks};
    const bench_runner runner[] = {{"ours", count_rounds, &calls}, {"memcpy", count_rounds, &calls}};
    const bench_method method = {27, 27e3, 1};
    bench_sampled out;
    assert_true(bench_sample(runner, 2, &method, &calm, &out));
    assert_true(out.calm && out.disturbed == 9 && out.ns[0].samples == 18 && out.ratio.samples == 18);
    /* Where nothing else is left, they count. */
    calm.probe = lost_core;
    assert_true(bench_sample(runner, 2, &method, &calm, &out));
    assert_true(out.calm && out.disturbed == 0 && out.ns[0].samples == 27);
}

static void json_reads_what_json_is(void **state)
{
    (void)state;
    static const char text[] = " {\"a\": [1, -2.5e1, true, null, \"x\\n\\u0041\"], \"b\": {}} ";
    size_t where = 0;
    bench_json *doc = bench_json_read(text, sizeof text - 1, &where);
    const bench_json *list = bench_json_get(doc, "a");
    assert_non_null(list);
    assert_true(list->first->number == 1 && list->first->next->number == -25);
    assert_string_equal(list->first->next->next->next->next->text, "x\nA");
    assert_int_equal(bench_json_get(doc, "b")->kind, JSON_OBJECT);
    assert_null(bench_json_get(doc, "c"));
    bench_json_free(doc);
    static const char *const bad[] = {
        "{\"a\" 1}", "[1,]", "{,}", "tru",    "\"\\u00e4\"",
        "[1] 2",     "-",    "1e",  "\"\n\"", "[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_null(bench_json_read(bad[i], strlen(bad[i]), &where));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(outliers_lie_beyond_the_fences),
        cmocka_unit_test(intervals_are_the_bootstraps),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(sampling_fills_its_time),
        cmocka_unit_test(sampling_needs_ours),
        cmocka_unit_test(fitness_says_why_not),
        cmocka_unit_test(loops_tell_the_clock_from_others),
        cmocka_unit_test(records_survive_json),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(histories_are_whole_lines),
        cmocka_unit_test(baselines_have_a_place),
        cmocka_unit_test(measurements_are_joined),
        cmocka_unit_test(passes_are_merged),
        cmocka_unit_test(rounds_wait_for_a_calm_core),
        cmocka_unit_test(rounds_that_were_cut_are_left_out),
        cmocka_unit_test(json_reads_what_json_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
