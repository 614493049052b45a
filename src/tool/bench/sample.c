/* The rounds of a case. Before the clock of a sample starts its runner goes once without it, as what the runner before
 * left in the caches is not this one's doing. The ratio is made of pairs that lie side by side in time: a clock that
 * speeds up, or a neighbour that stays for a second, divides out. */
#include "tool/bench/sample.h"

#include <math.h>

static double run_warm(const bench_runner *r, uint64_t calls, uint64_t repetitions)
{
    const double warm = r->run(r->state, calls);
    return warm < 0 ? warm : r->run(r->state, repetitions);
}

static double run_once(const bench_runner *r, uint64_t repetitions)
{
    return run_warm(r, 1, repetitions);
}

/* A sample. A call that is longer than any cache is large starts as cold as it ends, and needs no warm one before. */
static double take_sample(const bench_runner *r, uint64_t calls, uint64_t repetitions, double one_ns)
{
    return one_ns > BENCH_COLD_NS ? r->run(r->state, repetitions) : run_warm(r, calls, repetitions);
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
    const double reach = BENCH_WIDTH / (2 * sqrt((double)count));
    const double low = reach < 0.5 ? 0.5 - reach : 0;
    return bench_quantile(sorted, count, 1 - low) - bench_quantile(sorted, count, low) >
           BENCH_WIDE * bench_quantile(sorted, count, 0.5);
}

typedef struct sampling {
    size_t count;
    bool slow[BENCH_MAX_RUNNERS];
    uint64_t repetitions[BENCH_MAX_RUNNERS];
    double one_ns[BENCH_MAX_RUNNERS];
    unsigned left[BENCH_MAX_RUNNERS], taken[BENCH_MAX_RUNNERS]; /* rounds */
    double sample[BENCH_MAX_RUNNERS][BENCH_MAX_SAMPLES];
    double clocks[BENCH_MAX_SAMPLES]; /* of the slowest probe of a round */
    bool cut[BENCH_MAX_SAMPLES];      /* somebody else had the core in the middle of a round */
} sampling;

/* One round of every runner that still takes part: a moment that is calm, if one comes in time, ours and the reference
 * with a probe behind each, the others. */
static void take_round(const bench_runner *runner, bench_calm *calm, double *patience_ns, sampling *s)
{
    const unsigned round = s->taken[0];
    double longest = calm ? bench_calm_wait(calm, patience_ns) : 0;
    const long taken = calm ? calm->taken : 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!s->left[i])
            continue;
        const double ns =
            take_sample(&runner[i], i == 0 && s->count > 2 ? BENCH_WARM_CALLS : 1, s->repetitions[i], s->one_ns[i]);
        s->left[i]--;
        if (ns < 0)
            s->left[i] = s->taken[i] = 0;
        else
            s->sample[i][s->taken[i]++] = ns;
        const double after = calm && i < 2 ? bench_calm_look(calm) : 0;
        longest = after > longest ? after : longest;
    }
    s->clocks[round] = longest;
    s->cut[round] = calm && calm->taken != taken;
}

/* Which rounds make the figures: those with probes up to `limit`, or the calmest quarter where they are too few; of
 * these, the ones that were not cut, where they are enough: a call that is longer than the system lets anyone run
 * always is. Returns how many. */
static size_t choose_rounds(const sampling *s, unsigned least, double limit, bool *keep, bool *calm)
{
    const unsigned rounds = s->taken[0];
    double sorted[BENCH_MAX_SAMPLES];
    size_t still = 0, whole = 0, kept = 0;
    for (unsigned i = 0; i < rounds; i++)
        still += s->clocks[i] <= limit;
    *calm = still >= least || still == rounds;
    if (!*calm) {
        const unsigned quarter = rounds / 4 > least ? rounds / 4 : least;
        bench_sort(s->clocks, rounds, sorted);
        limit = quarter < rounds ? sorted[quarter - 1] : sorted[rounds - 1];
    }
    for (unsigned i = 0; i < rounds; i++)
        whole += s->clocks[i] <= limit && !s->cut[i];
    for (unsigned i = 0; i < rounds; i++)
        kept += keep[i] = s->clocks[i] <= limit && (whole < least || !s->cut[i]);
    return kept;
}

/* Of runner i, the rounds that are kept; all of one that took part in a few only. */
static size_t kept_samples(const sampling *s, size_t i, const bool *keep, double *out)
{
    size_t count = 0;
    for (unsigned k = 0; k < s->taken[i]; k++)
        if (s->slow[i] || keep[k])
            out[count++] = s->sample[i][k];
    return count;
}

static size_t kept_ratios(const sampling *s, const bool *keep, double *out)
{
    size_t count = 0;
    for (unsigned k = 0; s->count > 1 && s->taken[1] == s->taken[0] && k < s->taken[0]; k++)
        if (keep[k])
            out[count++] = s->sample[0][k] > 0 ? s->sample[1][k] / s->sample[0][k] : 0;
    return count;
}

/* How many rounds the time of a case allows, all its parts together; `round_ns` is what one takes. */
static unsigned rounds_allowed(const bench_method *m, double round_ns)
{
    const double most = (double)m->samples * BENCH_MOST_PARTS;
    const double fit = round_ns > 0 ? BENCH_CASE_TIMES * m->measurement_ns / round_ns : most;
    const unsigned least = m->samples < BENCH_LEAST_ROUNDS ? m->samples : BENCH_LEAST_ROUNDS;
    return fit < least ? least : (unsigned)(fit < most ? fit : most);
}

static double prepare(const bench_runner *runner, const bench_method *method, sampling *s)
{
    double round_ns = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double one = (s->repetitions[i] = calibrate(&runner[i], method, &s->one_ns[i])) ? s->one_ns[i] : 0;
        s->slow[i] = i > 1 && one > BENCH_SLOW_NS && method->samples > BENCH_SLOW_ROUNDS;
        s->left[i] = !s->repetitions[i] ? 0
                     : s->slow[i]       ? (one > 20 * BENCH_SLOW_NS ? 2 : BENCH_SLOW_ROUNDS)
                                        : method->samples;
        round_ns += s->slow[i] ? 0 : one * (double)(s->repetitions[i] + (one > BENCH_COLD_NS ? 0 : 1));
    }
    return round_ns;
}

/* Enough calm rounds, and the intervals that they give are narrow. */
static bool is_enough(const sampling *s, unsigned least, double limit)
{
    bool keep[BENCH_MAX_SAMPLES], calm = false;
    double number[BENCH_MAX_SAMPLES];
    (void)choose_rounds(s, least, limit, keep, &calm);
    return calm && !is_wide(number, kept_samples(s, 0, keep, number)) && !is_wide(number, kept_ratios(s, keep, number));
}

bool bench_sample(const bench_runner *runner, size_t count, const bench_method *method, bench_calm *calm,
                  bench_sampled *out)
{
    static sampling s;
    bool keep[BENCH_MAX_SAMPLES] = {0};
    double number[BENCH_MAX_SAMPLES], patience_ns = calm ? bench_calm_borrow(calm) : 0;
    s = (sampling){.count = count};
    *out = (bench_sampled){0};
    const unsigned allowed = rounds_allowed(method, prepare(runner, method, &s));
    const unsigned in_part = method->samples < allowed ? method->samples : allowed;
    const unsigned least = in_part < BENCH_LEAST_ROUNDS ? in_part : BENCH_LEAST_ROUNDS;
    for (unsigned part = 0; part < BENCH_MOST_PARTS; part++) {
        for (unsigned round = 0; s.left[0] && round < in_part; round++)
            take_round(runner, calm, &patience_ns, &s);
        if (s.taken[0] + in_part > BENCH_MAX_SAMPLES || (part + 2) * in_part > allowed ||
            is_enough(&s, least, bench_calm_limit(calm)))
            break;
        for (size_t i = 0; i < count; i++)
            s.left[i] = s.taken[i] && !s.slow[i] ? method->samples : 0;
    }
    if (calm)
        bench_calm_return(calm, patience_ns);
    out->limit = bench_calm_limit(calm); /* of the least probe of now, which may be less than when the case began */
    out->disturbed = s.taken[0] - (unsigned)choose_rounds(&s, least, out->limit, keep, &out->calm);
    for (size_t i = 0; i < count; i++)
        bench_stat_of(number, kept_samples(&s, i, keep, number), &out->ns[i]);
    bench_stat_of(number, kept_ratios(&s, keep, number), &out->ratio);
    return s.taken[0] > 0;
}
