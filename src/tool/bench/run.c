/* The loop over cases, with a line of progress on a terminal. A case that is broken is said and the others go on. */
#include "tool/bench/run.h"

#include "tool/bench/again.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct progress {
    bool shown;
    size_t done, all;
    uint64_t start_ns;
} progress;

static void show_progress(const progress *p, const char *group, const char *name)
{
    if (!p->shown)
        return;
    const double spent = (double)(td_now_ns() - p->start_ns) / 1e9;
    const double left = p->done ? spent / (double)p->done * (double)(p->all - p->done) : 0;
    fprintf(stderr, "\r\033[K[%zu/%zu] %s/%s", p->done + 1, p->all, group, name);
    if (p->done)
        fprintf(stderr, ", %.0f s left", left);
    fflush(stderr);
}

static void clear_progress(const progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r\033[K");
}

static bool wants(const bench_run_request *r, const bench_group *group, const bench_spec *spec)
{
    return r->wanted ? r->wanted(group, spec) : bench_chosen(group, spec, r->text);
}

size_t bench_run_count(const bench_run_request *r)
{
    size_t count = 0;
    for (size_t g = 0; g < bench_group_count; g++)
        for (size_t i = 0; i < bench_groups[g]->count(bench_groups[g]); i++) {
            bench_spec spec = {.threads = 1};
            bench_groups[g]->spec(bench_groups[g], i, &spec);
            count += wants(r, bench_groups[g], &spec);
        }
    return count;
}

typedef struct again { /* what measuring a case once more takes */
    const bench_group *group;
    size_t number;
    const bench_settings *settings;
} again;

static bool measure_again(void *context, bench_figure *now)
{
    const again *a = context;
    char why[200] = "";
    return bench_measure(a->group, a->number, a->settings, now, why, sizeof why);
}

static bool run_case(const bench_run_request *r, const bench_group *group, size_t number, bench_record *now,
                     bench_judgement **judgements, again *sources)
{
    char why[200] = "";
    bench_judgement *more = realloc(*judgements, (now->count + 1) * sizeof *more);
    if (more)
        *judgements = more;
    bench_figure *f = more && sources ? bench_record_add(now) : NULL;
    if (!f)
        return false;
    if (!bench_measure(group, number, &r->settings, f, why, sizeof why)) {
        fprintf(stderr, "tensordoor bench: %s/%s: %s\n", f->group, f->name, why);
        now->count--;
        return false;
    }
    sources[now->count - 1] = (again){group, number, &r->settings};
    bench_judge(f, bench_record_find(r->then, f->group, f->name), &(*judgements)[now->count - 1]);
    return true;
}

/* One pass over the cases, with lines to stdout in the last. A verdict is not said yet where it has to be confirmed. */
static size_t run_pass(const bench_run_request *r, progress *p, bool print, bench_record *now,
                       bench_judgement **judgements, again *sources)
{
    size_t broken = 0;
    for (size_t g = 0; g < bench_group_count; g++)
        for (size_t i = 0; i < bench_groups[g]->count(bench_groups[g]); i++) {
            bench_spec spec = {.threads = 1};
            bench_groups[g]->spec(bench_groups[g], i, &spec);
            if (!wants(r, bench_groups[g], &spec))
                continue;
            show_progress(p, bench_groups[g]->name, spec.name);
            const bool good = run_case(r, bench_groups[g], i, now, judgements, sources);
            clear_progress(p);
            broken += !good;
            if (good && print)
                bench_out_line(stdout, &now->figure[now->count - 1], NULL);
            p->done++;
        }
    return broken;
}

/* In a process that has it open already; nobody waits for Verilator twice. */
static bool stays_here(const again *source, const bench_figure *figure)
{
    return !source->group || source->group->on_request || figure->skipped[0];
}

/* The cases that are wanted once more, in a new process (again.h); those of a group that takes long to open, and all
 * where no process can be started, in this one. */
static void measure_more(const bench_run_request *r, progress *p, const bench_record *now, again *sources,
                         const bool *wanted, bench_record *out)
{
    bool *there = calloc(now->count, sizeof *there);
    size_t all = 0, away = 0;
    for (size_t i = 0; i < now->count; i++) {
        all += wanted[i];
        if (there)
            away += there[i] = wanted[i] && !stays_here(&sources[i], &now->figure[i]);
    }
    p->all += all;
    *out = (bench_record){0};
    if (r->settings.calm)
        r->settings.calm->patience_ns += (double)(all - away) * r->settings.calm->share_ns;
    if (away) {
        char name[48];
        snprintf(name, sizeof name, "%zu cases in a new process", away);
        show_progress(p, "again", name);
        if (!bench_again(&r->settings, now, there, out))
            memset(there, 0, now->count * sizeof *there);
        else
            p->done += away;
        clear_progress(p);
    }
    for (size_t i = 0; i < now->count; i++) {
        if (!wanted[i] || (there && there[i]))
            continue;
        show_progress(p, now->figure[i].group, now->figure[i].name);
        bench_figure *f = bench_record_add(out);
        if (f && !measure_again(&sources[i], f))
            out->count--;
        clear_progress(p);
        p->done++;
    }
    free(there);
}

/* What another process found out about the least probe, and what its figures were calm by. */
static void learn_floor(const bench_run_request *r, bench_record *more)
{
    bench_calm *calm = r->settings.calm;
    const double floor = more->fitness.probe_clocks;
    if (!calm || floor <= 0)
        return;
    bench_calm_know(calm, floor);
    for (size_t i = 0; i < more->count; i++)
        if (more->figure[i].calm_clocks <= 0)
            more->figure[i].calm_clocks = BENCH_CALM_LIMIT * floor;
}

/* What one more measurement of every open case says. Returns how many are still open. */
static size_t decide_round(const bench_run_request *r, const bench_record *more, bench_record *now,
                           bench_judgement *judgements, bench_trials *trials, bool *open)
{
    size_t left = 0;
    for (size_t i = 0; i < now->count; i++) {
        if (!open[i])
            continue;
        const bench_figure *then = bench_record_find(r->then, now->figure[i].group, now->figure[i].name);
        const bench_figure *next = bench_record_find(more, now->figure[i].group, now->figure[i].name);
        if (next)
            trials[i].figure[trials[i].count++] = *next;
        bench_figures_recall(trials[i].figure, trials[i].count, bench_calm_limit(r->settings.calm));
        open[i] = !bench_decide(&trials[i], then, &now->figure[i], &judgements[i]);
        left += open[i];
    }
    return left;
}

/* A neighbour that disturbed the last measurement may still be there, and some stay for long: .3 s, .6 s, up to 2.4. */
static void wait_for_others(int round)
{
    const uint64_t ns = 300000000 * ((uint64_t)1 << (round < 4 ? round - 1 : 3));
    const struct timespec wait = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&wait, NULL);
}

/* Those that are open once more, all of them before any is measured a third time; and not at once. The time for it is
 * bounded, but for the measurements that a change may need, as a machine may stand still for a while: what is still
 * open then is undecided. */
static void decide_all(const bench_run_request *r, progress *p, bench_record *now, bench_judgement *judgements,
                       again *sources)
{
    bench_trials *trials = calloc(now->count, sizeof *trials);
    bool *open = calloc(now->count, sizeof *open);
    const uint64_t first_ns = td_now_ns() - p->start_ns;
    const uint64_t until_ns =
        td_now_ns() + BENCH_AGAIN_PARTS * first_ns + (uint64_t)(BENCH_AGAIN_TIMES * r->settings.method.measurement_ns);
    for (size_t i = 0; trials && open && i < now->count; i++) {
        trials[i] = (bench_trials){.count = 1, .figure = {now->figure[i]}};
        open[i] = true;
    }
    size_t left = trials && open ? decide_round(r, NULL, now, judgements, trials, open) : 0;
    for (int round = 1; left && round < BENCH_TRIALS && (round < BENCH_FAR_TRIALS || td_now_ns() < until_ns); round++) {
        bench_record more;
        wait_for_others(round);
        measure_more(r, p, now, sources, open, &more);
        learn_floor(r, &more);
        left = decide_round(r, &more, now, judgements, trials, open);
        bench_record_clear(&more);
    }
    for (size_t i = 0; left && i < now->count; i++)
        if (open[i])
            bench_give_up(&trials[i], bench_record_find(r->then, now->figure[i].group, now->figure[i].name),
                          &now->figure[i], &judgements[i]);
    free(trials);
    free(open);
}

/* All passes of a case as one figure. Returns in how many it was calm. */
static unsigned merge_case(const bench_record *pass, unsigned passes, const bench_figure *last, bench_figure *out)
{
    bench_figure same[BENCH_MOST_PASSES];
    size_t count = 0;
    unsigned calm = 0;
    for (unsigned p = 0; p < passes; p++) {
        const bench_figure *f = bench_record_find(&pass[p], last->group, last->name);
        if (f)
            same[count++] = *f;
    }
    same[count++] = *last;
    for (size_t i = 0; i < count; i++)
        calm += same[i].calm;
    bench_figure_merge(same, count, out);
    return calm;
}

static bool lie_apart(const bench_stat *s)
{
    return s->low > 0 && s->high > BENCH_APART * s->low;
}

static bool wants_pass(const bench_record *before, unsigned passes, const bench_figure *last)
{
    bench_figure merged;
    if (last->skipped[0])
        return false;
    const unsigned calm = merge_case(before, passes, last, &merged);
    return passes + 1 < BENCH_BASELINE_PASSES || calm < BENCH_CALM_PASSES || lie_apart(&merged.ns) ||
           lie_apart(&merged.ratio);
}

/* The other passes of a baseline. Returns how many there are. */
static unsigned pass_again(const bench_run_request *r, progress *p, bench_record *now, again *sources,
                           bench_record *before)
{
    bool *wanted = calloc(now->count + 1, sizeof *wanted);
    unsigned passes = 0;
    for (; wanted && passes + 1 < BENCH_MOST_PASSES; passes++) {
        bool any = false;
        for (size_t i = 0; i < now->count; i++)
            any |= wanted[i] = wants_pass(before, passes, &now->figure[i]);
        if (!any)
            break;
        measure_more(r, p, now, sources, wanted, &before[passes]);
        learn_floor(r, &before[passes]);
        for (unsigned k = 0; k <= passes; k++)
            bench_figures_recall(before[k].figure, before[k].count, bench_calm_limit(r->settings.calm));
        bench_figures_recall(now->figure, now->count, bench_calm_limit(r->settings.calm));
    }
    free(wanted);
    return passes;
}

size_t bench_run_cases(const bench_run_request *r, bench_record *now, bench_judgement **judgements)
{
    bench_record before[BENCH_MOST_PASSES - 1] = {0};
    unsigned passes = 0;
    *judgements = NULL;
    progress p = {.shown = isatty(2) != 0, .all = bench_run_count(r), .start_ns = td_now_ns()};
    again *sources = calloc(bench_run_count(r) + 1, sizeof *sources);
    if (r->settings.calm) {
        bench_calm *calm = r->settings.calm;
        if (calm->share_ns <= 0)
            calm->share_ns = r->settings.method.measurement_ns *
                             (r->then || r->passes > 1 || r->wanted ? BENCH_JUDGED_PATIENCE : BENCH_PATIENCE);
        calm->patience_ns = calm->share_ns * (double)p.all;
    }
    const size_t broken = run_pass(r, &p, r->table, now, judgements, sources);
    bench_figures_recall(now->figure, now->count, bench_calm_limit(r->settings.calm));
    if (r->passes > 1 && sources)
        passes = pass_again(r, &p, now, sources, before);
    if (now->count && sources)
        decide_all(r, &p, now, *judgements, sources);
    free(sources);
    for (size_t i = 0; passes && i < now->count; i++) {
        bench_figure merged;
        (void)merge_case(before, passes, &now->figure[i], &merged);
        now->figure[i] = merged;
    }
    for (unsigned pass = 0; pass < passes; pass++)
        bench_record_clear(&before[pass]);
    return broken;
}
