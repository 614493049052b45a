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

static void print_ns(double ns, char *text, size_t size)
{
    if (ns < 1e3)
        snprintf(text, size, "%.3g ns", ns);
    else if (ns < 1e6)
        snprintf(text, size, "%.3g us", ns / 1e3);
    else
        snprintf(text, size, "%.3g ms", ns / 1e6);
}

/* By how much it is slower, or faster (negative); 0 where clock and ratio disagree, or an interval of the one reaches
 * into the other's. *clock is the change by the clock alone. */
static double time_change(const bench_figure *now, const bench_figure *then, double *clock)
{
    const bool referred = now->reference[0] && then->reference[0] && strcmp(now->reference, then->reference) == 0;
    *clock = then->ns.median > 0 ? now->ns.median / then->ns.median - 1 : 0;
    const double ratio = !referred ? *clock : now->ratio.median > 0 ? then->ratio.median / now->ratio.median - 1 : 0;
    const bool slower = now->ns.low > then->ns.high && (!referred || now->ratio.high < then->ratio.low);
    const bool faster = now->ns.high < then->ns.low && (!referred || now->ratio.low > then->ratio.high);
    return slower || faster ? ratio : 0;
}

static bool beyond(double change, double clock, double limit)
{
    return change > limit && clock > limit / 2;
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

static void judge_change(const bench_figure *now, const bench_figure *then, bench_judgement *out)
{
    double clock = 0;
    out->change = time_change(now, then, &clock);
    out->verdict = beyond(out->change, clock, FAILED)       ? BENCH_FAILS
                   : beyond(out->change, clock, REPORTED)   ? BENCH_SLOWER
                   : beyond(-out->change, -clock, REPORTED) ? BENCH_FASTER
                                                            : BENCH_EQUAL;
    if (out->verdict != BENCH_EQUAL)
        say_time(now, then, out);
    if (out->verdict != BENCH_FAILS && then->peak_bytes >= 0 &&
        now->peak_bytes > (1 + MORE) * then->peak_bytes + MORE_BYTES) {
        out->verdict = BENCH_FAILS;
        snprintf(out->text, sizeof out->text, "needs %.0f bytes more while it runs, was %.0f", now->peak_bytes,
                 then->peak_bytes);
    }
    if (out->verdict == BENCH_EQUAL && spreads(now, then)) {
        out->verdict = BENCH_SPREADS;
        snprintf(out->text, sizeof out->text, "spreads by %.0f %%, was %.0f %%", 100 * now->ns.spread,
                 100 * then->ns.spread);
    }
}

void bench_judge(const bench_figure *now, const bench_figure *then, bench_judgement *out)
{
    *out = (bench_judgement){.verdict = BENCH_NEW};
    if (now->skipped[0])
        return;
    if (then && !then->skipped[0])
        judge_change(now, then, out);
    if (now->hits >= 0 && now->hits < HITS) {
        out->verdict = BENCH_FAILS;
        snprintf(out->text, sizeof out->text, "only %.1f %% of the plans were found in the cache; 95 %% are needed",
                 100 * now->hits);
    }
}

const char *bench_verdict_name(bench_verdict verdict)
{
    static const char *const name[] = {
        [BENCH_EQUAL] = "equal",     [BENCH_FASTER] = "faster", [BENCH_NEW] = "new",
        [BENCH_SPREADS] = "spreads", [BENCH_SLOWER] = "slower", [BENCH_FAILS] = "fails",
    };
    return name[verdict];
}

static double size_of(double x)
{
    return x < 0 ? -x : x;
}

bool bench_looks_changed(const bench_judgement *judgement)
{
    return judgement->verdict != BENCH_EQUAL && judgement->verdict != BENCH_NEW;
}

void bench_confirm(bench_figure *now, const bench_figure *then, bool (*measure)(void *context, bench_figure *now),
                   void *context, bench_judgement *out)
{
    bench_figure next = *now;
    bench_judgement other;
    if (!measure(context, &next))
        return;
    bench_judge(&next, then, &other);
    if (other.verdict == BENCH_EQUAL ||
        (other.verdict <= out->verdict && size_of(other.change) < size_of(out->change))) {
        *now = next;
        *out = other;
    }
}
