/* The loop over cases, with a line of progress on a terminal. A case that is broken is said and the others go on. */
#include "tool/bench/run.h"

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

/* Those that are open once more, all of them before any is measured a third time; and not at once, as a neighbour that
 * disturbed them may still be there. The time for it is bounded: what is still open then is undecided. */
static void decide_all(const bench_run_request *r, progress *p, bench_record *now, bench_judgement *judgements,
                       again *sources)
{
    bench_trials *trials = calloc(now->count, sizeof *trials);
    bool *open = calloc(now->count, sizeof *open);
    const uint64_t first_ns = td_now_ns() - p->start_ns, until_ns = td_now_ns() + BENCH_AGAIN_PARTS * first_ns;
    for (size_t i = 0; trials && open && i < now->count; i++) {
        trials[i] = (bench_trials){.count = 1, .figure = {now->figure[i]}};
        open[i] = true;
    }
    for (int round = 0; trials && open; round++) {
        size_t left = 0;
        for (size_t i = 0; i < now->count; i++) {
            const bench_figure *then = bench_record_find(r->then, now->figure[i].group, now->figure[i].name);
            open[i] = open[i] && !bench_decide(&trials[i], then, &now->figure[i], &judgements[i]);
            left += open[i];
        }
        if (!left || td_now_ns() > until_ns + (uint64_t)BENCH_AGAIN_NS)
            break;
        const struct timespec wait = {0, 300000000};
        nanosleep(&wait, NULL);
        if (r->settings.calm)
            r->settings.calm->patience_ns *= 2;
        p->all += left;
        for (size_t i = 0; i < now->count; i++) {
            if (!open[i])
                continue;
            show_progress(p, now->figure[i].group, now->figure[i].name);
            bench_figure *next = &trials[i].figure[trials[i].count];
            trials[i].count += measure_again(&sources[i], next);
            clear_progress(p);
            p->done++;
        }
    }
    free(trials);
    free(open);
}

static void merge_passes(bench_record *pass, unsigned passes, bench_record *now)
{
    for (size_t i = 0; i < now->count; i++) {
        bench_figure same[BENCH_BASELINE_PASSES];
        size_t count = 0;
        for (unsigned p = 0; p < passes; p++) {
            const bench_figure *f = bench_record_find(&pass[p], now->figure[i].group, now->figure[i].name);
            if (f)
                same[count++] = *f;
        }
        same[count++] = now->figure[i];
        bench_figure_merge(same, count, &now->figure[i]);
    }
}

size_t bench_run_cases(const bench_run_request *r, bench_record *now, bench_judgement **judgements)
{
    bench_record before[BENCH_BASELINE_PASSES - 1] = {0};
    const unsigned passes = r->passes > 1 ? BENCH_BASELINE_PASSES : 1;
    *judgements = NULL;
    progress p = {.shown = isatty(2) != 0, .all = bench_run_count(r) * passes, .start_ns = td_now_ns()};
    again *sources = calloc(bench_run_count(r) + 1, sizeof *sources);
    if (r->settings.calm)
        r->settings.calm->patience_ns =
            r->settings.method.measurement_ns * (r->then || passes > 1 ? BENCH_JUDGED_PATIENCE : BENCH_PATIENCE);
    for (unsigned pass = 0; pass + 1 < passes; pass++) {
        bench_judgement *unused = NULL;
        (void)run_pass(r, &p, false, &before[pass], &unused, sources);
        free(unused);
    }
    const size_t broken = run_pass(r, &p, r->table, now, judgements, sources);
    if (now->count && sources)
        decide_all(r, &p, now, *judgements, sources);
    free(sources);
    merge_passes(before, passes - 1, now);
    for (unsigned pass = 0; pass + 1 < passes; pass++)
        bench_record_clear(&before[pass]);
    return broken;
}
