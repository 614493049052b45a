/* The rounds of a case. Before the clock of a sample starts its runner goes once without it, as what the runner before
 * left in the caches is not this one's doing. The ratio is made of pairs that lie side by side in time: a clock that
 * speeds up, or a neighbour that stays for a second, divides out. */
#include "tool/bench/sample.h"

#include <math.h>

static double run_once(const bench_runner *r, uint64_t repetitions)
{
    const double warm = r->run(r->state, 1);
    return warm < 0 ? warm : r->run(r->state, repetitions);
}

/* A sample. A call that is longer than any cache is large starts as cold as it ends, and needs no warm one before. */
static double take_sample(const bench_runner *r, uint64_t repetitions, double one_ns)
{
    return one_ns > BENCH_COLD_NS ? r->run(r->state, repetitions) : run_once(r, repetitions);
}

/* How many repetitions fill a sample: doubling until one is long enough to count in, then as long again as the warm-up
 * lasts. 0 where the runner cannot. */
static uint64_t calibrate(const bench_runner *r, const bench_method *m, double *one_ns)
{
    const double sample_ns = m->measurement_ns / m->samples;
    uint64_t n = 1;
    double ns = run_once(r, n), spent = ns;
    while (ns >= 0 && ns * (double)n < sample_ns / 4 && n < (uint64_t)1 << 24) {
        n *= 4;
        ns = run_once(r, n);
        spent += ns * (double)n;
    }
    while (ns >= 0 && spent < m->warm_up_ns) {
        ns = r->run(r->state, n);
        spent += ns * (double)n + 1;
    }
    *one_ns = ns;
    return ns < 0 ? 0 : (uint64_t)(sample_ns / (ns + 1)) + 1;
}

/* The interval of the median by ranks alone, which is quick: as many samples below the middle as chance would put
 * there. Wide where it is more than BENCH_WIDE of the median. */
static bool is_wide(const double *sample, size_t count)
{
    double sorted[BENCH_MAX_SAMPLES];
    if (count < 2)
        return false;
    bench_sort(sample, count, sorted);
    const double reach = 2.576 / (2 * sqrt((double)count)); /* the 99.5th percentile of the normal distribution */
    const double low = reach < 0.5 ? 0.5 - reach : 0;
    return bench_quantile(sorted, count, 1 - low) - bench_quantile(sorted, count, low) >
           BENCH_WIDE * bench_quantile(sorted, count, 0.5);
}

/* One round of every runner that still takes part; `rounds` is how many each has yet to give. */
static void take_round(const bench_runner *runner, size_t count, const uint64_t *repetitions, const double *one_ns,
                       unsigned *rounds, double (*sample)[BENCH_MAX_SAMPLES], unsigned *taken)
{
    for (size_t i = 0; i < count; i++) {
        if (!rounds[i])
            continue;
        const double ns = take_sample(&runner[i], repetitions[i], one_ns[i]);
        rounds[i]--;
        if (ns < 0)
            rounds[i] = taken[i] = 0;
        else
            sample[i][taken[i]++] = ns;
    }
}

/* How many rounds the time of a case allows, all its parts together; `round_ns` is what one takes. */
static unsigned rounds_allowed(const bench_method *m, double round_ns)
{
    const double most = (double)m->samples * BENCH_MOST_PARTS;
    const double fit = round_ns > 0 ? BENCH_CASE_TIMES * m->measurement_ns / round_ns : most;
    const unsigned least = m->samples < BENCH_LEAST_ROUNDS ? m->samples : BENCH_LEAST_ROUNDS;
    return fit < least ? least : (unsigned)(fit < most ? fit : most);
}

bool bench_sample(const bench_runner *runner, size_t count, const bench_method *method, bench_sampled *out)
{
    static double sample[BENCH_MAX_RUNNERS][BENCH_MAX_SAMPLES], ratio[BENCH_MAX_SAMPLES];
    uint64_t repetitions[BENCH_MAX_RUNNERS] = {0};
    unsigned rounds[BENCH_MAX_RUNNERS] = {0}, taken[BENCH_MAX_RUNNERS] = {0};
    bool slow[BENCH_MAX_RUNNERS] = {0};
    double round_ns = 0, one_ns[BENCH_MAX_RUNNERS] = {0};
    *out = (bench_sampled){0};
    for (size_t i = 0; i < count; i++) {
        repetitions[i] = calibrate(&runner[i], method, &one_ns[i]);
        slow[i] = i > 1 && one_ns[i] > BENCH_SLOW_NS && method->samples > BENCH_SLOW_ROUNDS;
        rounds[i] = !repetitions[i] ? 0
                    : slow[i]       ? (one_ns[i] > 20 * BENCH_SLOW_NS ? 2 : BENCH_SLOW_ROUNDS)
                                    : method->samples;
        round_ns +=
            repetitions[i] && !slow[i] ? one_ns[i] * (double)(repetitions[i] + (one_ns[i] > BENCH_COLD_NS ? 0 : 1)) : 0;
    }
    const unsigned allowed = rounds_allowed(method, round_ns);
    const unsigned in_part = method->samples < allowed ? method->samples : allowed;
    for (unsigned part = 0; part < BENCH_MOST_PARTS; part++) {
        for (unsigned round = 0; round < in_part; round++)
            take_round(runner, count, repetitions, one_ns, rounds, sample, taken);
        for (unsigned i = 0; count > 1 && i < taken[0] && i < taken[1]; i++)
            ratio[i] = sample[0][i] > 0 ? sample[1][i] / sample[0][i] : 0;
        if (taken[0] + in_part > BENCH_MAX_SAMPLES || (part + 2) * in_part > allowed ||
            (!is_wide(sample[0], taken[0]) && !is_wide(ratio, count > 1 && taken[1] == taken[0] ? taken[0] : 0)))
            break;
        for (size_t i = 0; i < count; i++)
            rounds[i] = taken[i] && !slow[i] ? method->samples : 0;
    }
    for (size_t i = 0; i < count; i++)
        bench_stat_of(sample[i], taken[i], &out->ns[i]);
    bench_stat_of(ratio, count > 1 && taken[1] == taken[0] ? taken[0] : 0, &out->ratio);
    return taken[0] > 0;
}
