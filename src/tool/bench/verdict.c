/* The policy, in one place. Everything here is arithmetic on two figures: tests/unit/test_bench_verdict.c plants
 * slowdowns and counts false alarms on made-up clocks. */
#include "tool/bench/verdict.h"

#include <stdio.h>
#include <string.h>

#define REPORTED 0.05
#define FAILED 0.10
#define MORE 0.20
#define MORE_BYTES 4096    /* less than a page more is no finding */
#define LITTLE_SPREAD 0.05 /* under it a spread is not worth a word */
#define HITS 0.95
#define LITTLE_NS 0.3 /* of a call that takes a few, by less than that no processor tells two runs apart */

static void print_ns(double ns, char *text, size_t size)
{
    if (ns < 1e3)
        snprintf(text, size, "%.3g ns", ns);
    else if (ns < 1e6)
        snprintf(text, size, "%.3g us", ns / 1e3);
    else
        snprintf(text, size, "%.3g ms", ns / 1e6);
}

/* Where the change lies: 0.12 is 12 % slower. `clock` is by the clock alone, `middle` by the ratio where there is one.
 * Slower means slower in both, so that the bounds are those of the one that moved less. */
typedef struct change {
    double middle, clock;
    double low, high;  /* as slower */
    double high_clock; /* by the clock alone */
    double fastest;    /* the upper bound of the one that moved less, as faster */
    double more_ns;    /* by the clock */
    bool contrary;     /* against the reference it is slower, apart and beyond what fails; by the clock it is not */
} change;

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static change change_of(const bench_figure *now, const bench_figure *then)
{
    const bool timed = then->ns.low > 0 && then->ns.median > 0 && then->ns.high > 0;
    const bool referred = now->reference[0] && strcmp(now->reference, then->reference) == 0 && now->ratio.low > 0 &&
                          now->ratio.median > 0 && now->ratio.high > 0;
    if (!timed)
        return (change){0};
    const double clock = now->ns.median / then->ns.median - 1;
    change c = {.middle = clock, .clock = clock, .more_ns = now->ns.median - then->ns.median};
    c.low = now->ns.low / then->ns.high - 1;
    c.fastest = c.high = c.high_clock = now->ns.high / then->ns.low - 1;
    if (referred) {
        const double high = then->ratio.high / now->ratio.low - 1;
        c.middle = then->ratio.median / now->ratio.median - 1;
        c.low = smaller(c.low, then->ratio.low / now->ratio.high - 1);
        c.fastest = high > c.high ? high : c.high;
        c.contrary = c.high <= FAILED && c.middle > FAILED && then->ratio.low > now->ratio.high;
        c.high = smaller(c.high, high);
    }
    return c;
}

static bool beyond(double moved, double clock, double limit)
{
    return moved > limit && clock > limit / 2;
}

/* More spread than before, and more than the reference's grew in the same time. */
static bool spreads(const bench_figure *now, const bench_figure *then)
{
    if (now->ns.spread < LITTLE_SPREAD || now->ns.spread_low <= (1 + MORE) * then->ns.spread_high)
        return false;
    if (now->reference[0] && now->ratio.spread_low <= (1 + MORE) * then->ratio.spread_high)
        return false;
    if (!now->peer_count || !then->peer_count)
        return true;
    const double before = then->peer[0].ns.spread > 0.01 ? then->peer[0].ns.spread : 0.01;
    const double after = now->peer[0].ns.spread > 0.01 ? now->peer[0].ns.spread : 0.01;
    return now->ns.spread / after > (1 + MORE) * then->ns.spread / before;
}

static void say_time(const bench_figure *now, const bench_figure *then, bench_judgement *out)
{
    char before[24], after[24];
    print_ns(then->ns.median, before, sizeof before);
    print_ns(now->ns.median, after, sizeof after);
    snprintf(out->text, sizeof out->text, "%.0f %% %s: %s, was %s%s%s",
             100 * (out->change < 0 ? -out->change : out->change), out->change < 0 ? "faster" : "slower", after, before,
             now->reference[0] ? "; so it is against " : "", now->reference);
}

static bench_verdict verdict_of(const change *c)
{
    if (c->low > 0 && beyond(c->middle, c->clock, REPORTED))
        return beyond(c->middle, c->clock, FAILED) ? BENCH_FAILS : BENCH_SLOWER;
    if (c->fastest < 0 && beyond(-c->middle, -c->clock, REPORTED))
        return BENCH_FASTER;
    return (c->high <= FAILED || c->more_ns < LITTLE_NS) && !c->contrary ? BENCH_EQUAL : BENCH_UNDECIDED;
}

static void say_undecided(const change *c, const bench_figure *now, bench_judgement *out)
{
    if (c->contrary)
        snprintf(out->text, sizeof out->text,
                 "%.0f %% slower against %s, which is faster itself; by the clock it is not", 100 * c->middle,
                 now->reference);
    else if (c->high < 0)
        snprintf(out->text, sizeof out->text, "looks %.0f %% faster%s", -100 * c->middle,
                 now->calm ? ", which other measurements did not confirm" : ", but the core was never ours alone");
    else if (c->low < 0)
        snprintf(out->text, sizeof out->text, "between %.0f %% faster and %.0f %% slower%s", -100 * c->low,
                 100 * c->high, now->calm ? "" : ": the core was never ours alone");
    else
        snprintf(out->text, sizeof out->text, "looks %.0f %% slower%s", 100 * c->middle,
                 now->calm ? ", which other measurements did not confirm" : ", but the core was never ours alone");
}

static void judge_change(const bench_figure *now, const bench_figure *then, bench_judgement *out)
{
    const change c = change_of(now, then);
    out->verdict = verdict_of(&c);
    out->change = out->verdict == BENCH_EQUAL ? 0 : c.middle;
    if (out->verdict == BENCH_UNDECIDED)
        say_undecided(&c, now, out);
    else if (out->verdict != BENCH_EQUAL)
        say_time(now, then, out);
    if (out->verdict == BENCH_EQUAL && spreads(now, then)) {
        out->verdict = BENCH_SPREADS;
        snprintf(out->text, sizeof out->text, "spreads by %.0f %%, was %.0f %%", 100 * now->ns.spread,
                 100 * then->ns.spread);
    }
}

/* What needs no statistics: memory and hits are counted. */
static void judge_counts(const bench_figure *now, const bench_figure *then, bench_judgement *out)
{
    if (out->verdict != BENCH_FAILS && then && then->peak_bytes >= 0 &&
        now->peak_bytes > (1 + MORE) * then->peak_bytes + MORE_BYTES) {
        out->verdict = BENCH_FAILS;
        snprintf(out->text, sizeof out->text, "needs %.0f bytes more while it runs, was %.0f", now->peak_bytes,
                 then->peak_bytes);
    }
    if (now->hits >= 0 && now->hits < HITS) {
        out->verdict = BENCH_FAILS;
        snprintf(out->text, sizeof out->text, "only %.1f %% of the plans were found in the cache; 95 %% are needed",
                 100 * now->hits);
    }
}

void bench_judge(const bench_figure *now, const bench_figure *then, bench_judgement *out)
{
    *out = (bench_judgement){.verdict = BENCH_NEW};
    if (now->skipped[0])
        return;
    then = then && then->skipped[0] ? NULL : then;
    if (then)
        judge_change(now, then, out);
    judge_counts(now, then, out);
}

const char *bench_verdict_name(bench_verdict verdict)
{
    static const char *const name[] = {
        [BENCH_EQUAL] = "equal",         [BENCH_FASTER] = "faster",   [BENCH_NEW] = "new",
        [BENCH_UNDECIDED] = "undecided", [BENCH_SPREADS] = "spreads", [BENCH_SLOWER] = "slower",
        [BENCH_FAILS] = "fails",
    };
    return name[verdict];
}

/* -- several measurements ------------------------------------------------------------------------------------------ */

typedef struct tally {
    size_t used, slower, spread;
    size_t as_fast; /* no slower by the clock or against the reference, and no calmer than the baseline */
    size_t excused; /* slower by the clock, but not against the reference */
    bool calm;
    bool by_clock; /* one of those by the clock, which settles it: what else is on a machine only slows */
    change least;  /* the smallest that any saw, as slower, but for those that are excused */
} tally;

static void count_trial(const bench_figure *f, const bench_figure *then, tally *t)
{
    const change c = change_of(f, then);
    t->slower += c.low > 0;
    t->spread += spreads(f, then);
    if ((then->calm || !f->calm) && c.high <= FAILED && !c.contrary) {
        t->as_fast++;
        t->by_clock = t->by_clock || c.high_clock <= FAILED;
    }
    t->used++;
    if (c.clock > REPORTED && c.middle <= REPORTED) {
        t->excused++;
        return;
    }
    const bool first = t->used - t->excused == 1;
    t->least.middle = first ? c.middle : smaller(t->least.middle, c.middle);
    t->least.clock = first ? c.clock : smaller(t->least.clock, c.clock);
}

/* The least disturbed become one figure. */
static tally join_trials(const bench_trials *t, const bench_figure *then, bench_figure *now)
{
    const bench_figure *kept[BENCH_TRIALS] = {t->figure};
    const bench_stat *ns[BENCH_LEAST_TRIALS] = {NULL}, *ratio[BENCH_LEAST_TRIALS] = {&t->figure->ratio};
    const size_t fit = bench_least_disturbed(t->figure, t->count, BENCH_TRIALS, kept);
    const size_t count = fit < BENCH_LEAST_TRIALS ? fit : BENCH_LEAST_TRIALS;
    bool good = true;
    tally out = {.calm = kept[0]->calm};
    *now = *kept[0];
    (void)bench_middle_ratios(kept, fit, BENCH_LEAST_TRIALS, ratio);
    now->ratio = *ratio[0];
    for (size_t i = 0; i < count; i++) {
        ns[i] = &kept[i]->ns;
        good = good && ns[i]->median > 0 && (!now->reference[0] || ratio[i]->median > 0);
    }
    for (size_t i = 0; i < t->count; i++)
        if (t->figure[i].calm == out.calm)
            count_trial(&t->figure[i], then, &out);
    if (count > 1 && good) {
        bench_stat_join(ns, count, 0, &now->ns);
        if (now->reference[0])
            bench_stat_join(ratio, count, 0, &now->ratio);
    }
    return out;
}

#define NEIGHBOUR 1.0 /* nobody on the other half of a core makes us slower by more than that */
#define CERTAIN 4.0   /* five times as slow: one measurement is enough, as no calm one may come on a busy machine */

/* May a change stand? Enough measurements have to have seen it; slower, each of them by itself: were the builds equal,
 * k measurements that are all slower than n passes of a baseline came once in (n + k over k) times by chance. One in
 * four may find the reference slower too, as that is a small call and now and then slow in a process. Not
 * against a calm baseline when nothing was calm now, unless no neighbour could do it; and where nothing was calm at
 * all, it has to be twice as large, and seen by more. */
static bool may_stand(const tally *t, const bench_figure *then, const bench_judgement *j)
{
    const double size = j->change < 0 ? -j->change : j->change;
    const bool slower = j->change > 0;
    if (slower && (4 * t->excused > t->used || !beyond(t->least.middle, t->least.clock, REPORTED)))
        return false;
    if (j->change > CERTAIN)
        return true;
    if (t->calm || t->used < BENCH_LEAST_TRIALS)
        return t->used >= (then->bytes > BENCH_FAR_BYTES && slower ? BENCH_FAR_TRIALS : BENCH_LEAST_TRIALS);
    return size > NEIGHBOUR || (!then->calm && size > 2 * FAILED && t->used >= BENCH_DISTURBED_TRIALS);
}

/* Is that the answer? An equal that a slower one stands against waits for a third. */
static bool is_settled(const tally *t, const bench_figure *then, const bench_judgement *j)
{
    switch (j->verdict) {
    case BENCH_EQUAL:
        return 2 * t->slower < t->used || t->used >= 3;
    case BENCH_SPREADS:
        return t->used >= BENCH_LEAST_TRIALS && t->spread == t->used;
    case BENCH_FASTER:
    case BENCH_SLOWER:
    case BENCH_FAILS:
        return may_stand(t, then, j);
    default:
        return false;
    }
}

static bool decide(const bench_trials *trials, const bench_figure *then, bool last, bench_figure *now,
                   bench_judgement *out)
{
    *now = trials->figure[0];
    if (!then || then->skipped[0] || now->skipped[0]) {
        bench_judge(now, then, out);
        return true;
    }
    const tally t = join_trials(trials, then, now);
    *out = (bench_judgement){0};
    judge_change(now, then, out);
    if (out->verdict == BENCH_SPREADS && t.spread < t.used)
        *out = (bench_judgement){.verdict = BENCH_EQUAL};
    /* Against the reference alone it takes half of them, as that is a small call too and slow now and then. */
    if ((t.by_clock || 2 * t.as_fast > t.used) && t.slower < t.used && out->verdict >= BENCH_UNDECIDED &&
        out->verdict != BENCH_SPREADS)
        *out = (bench_judgement){.verdict = BENCH_EQUAL};
    const bool settled = is_settled(&t, then, out);
    if (last && !settled && out->verdict != BENCH_SPREADS) {
        const change c = change_of(now, then);
        out->verdict = BENCH_UNDECIDED;
        say_undecided(&c, now, out);
    }
    judge_counts(now, then, out);
    return settled || last;
}

bool bench_decide(const bench_trials *trials, const bench_figure *then, bench_figure *now, bench_judgement *out)
{
    return decide(trials, then, trials->count == BENCH_TRIALS, now, out);
}

void bench_give_up(const bench_trials *trials, const bench_figure *then, bench_figure *now, bench_judgement *out)
{
    (void)decide(trials, then, true, now, out);
}
