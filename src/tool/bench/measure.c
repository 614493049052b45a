/* One case from its group to its figure: open, count what a call allocates, check that the result is right, time. */
#include "tool/bench/bench.h"
#include "tool/bench/memory_use.h"

#include "base/clock.h"
#include "base/random.h"
#include "tensordoor.h"

#include <stdlib.h>
#include <string.h>

#define COUNTED_CALLS 4

void bench_add_runner(bench_subject *subject, const char *name, bench_run *run, void *state)
{
    if (subject->count < BENCH_MAX_RUNNERS)
        subject->runner[subject->count++] = (bench_runner){name, run, state};
}

bool bench_wants(const char *whole, const char *group, const char *text)
{
    char name[128], one[128];
    snprintf(name, sizeof name, "%s$", whole); /* the `$` is there to be asked for */
    for (const char *p = text; p; p = *p ? p + 1 : NULL) {
        const size_t length = strcspn(p, ",");
        snprintf(one, sizeof one, "%.*s", (int)length, p);
        if (strstr(name, one) && (!group || strstr(one, group)))
            return true;
        p += length;
    }
    return !text;
}

bool bench_chosen(const bench_group *group, const bench_spec *spec, const char *text)
{
    char whole[112];
    snprintf(whole, sizeof whole, "%s/%s", group->name, spec->name);
    return text ? bench_wants(whole, group->on_request ? group->name : NULL, text) : !group->on_request;
}

/* One call before, so that what is made once and kept is not counted. */
static void count_memory(const bench_subject *s, bench_figure *out)
{
    const bench_runner *ours = &s->runner[0];
    bench_memory_use use;
    if (ours->run(ours->state, 1) < 0)
        return;
    bench_memory_begin();
    const double ns = ours->run(ours->state, COUNTED_CALLS);
    bench_memory_end(&use);
    if (ns < 0)
        return;
    out->allocations = use.allocations / COUNTED_CALLS;
    out->peak_bytes = use.peak_bytes;
}

static void take_sampled(const bench_subject *s, const bench_sampled *sampled, bench_figure *out)
{
    out->ns = sampled->ns[0];
    out->ratio = sampled->ratio;
    out->calm = sampled->calm;
    out->calm_clocks = sampled->limit;
    out->disturbed = sampled->disturbed;
    out->peer_count = 0;
    for (size_t i = 1; i < s->count; i++) {
        if (!sampled->ns[i].samples)
            continue;
        snprintf(out->peer[out->peer_count].name, sizeof out->peer[0].name, "%s", s->runner[i].name);
        out->peer[out->peer_count++].ns = sampled->ns[i];
    }
    if (sampled->ratio.samples)
        snprintf(out->reference, sizeof out->reference, "%s", s->runner[1].name);
}

static bool time_subject(const bench_subject *s, const bench_settings *settings, bench_figure *out, char *why,
                         size_t size)
{
    bench_sampled sampled;
    if (s->check && !s->check(s->state, why, size))
        return false;
    count_memory(s, out);
    const td_plan_stats before = td_plan_cache_stats();
    if (!bench_sample(s->runner, s->count, &settings->method, settings->calm, &sampled)) {
        snprintf(why, size, "%.*s", (int)strcspn(td_last_error(), "\n"), td_last_error());
        return false;
    }
    const td_plan_stats after = td_plan_cache_stats();
    const double asked = (double)(after.hits - before.hits) + (double)(after.misses - before.misses);
    if (asked > 0)
        out->hits = (double)(after.hits - before.hits) / asked;
    take_sampled(s, &sampled, out);
    out->bytes = s->bytes;
    out->elems = s->elems;
    if (s->finish)
        s->finish(s->state, out);
    return true;
}

/* Where buffers lie beside each other decides up to a tenth of a small case's time, and a process that measures again
 * would get the same places again: a block of a random size before them moves them. */
static void *shift_heap(void)
{
    static uint64_t number;
    void *block = malloc(64 * (1 + td_random_at(td_now_ns(), number++) % 128));
    __asm__ volatile("" ::"r"(block) : "memory");
    return block;
}

bool bench_measure(const bench_group *group, size_t number, const bench_settings *settings, bench_figure *out,
                   char *why, size_t size)
{
    bench_spec spec = {.threads = 1};
    bench_subject subject = {0};
    bool good = true;
    group->spec(group, number, &spec);
    *out = (bench_figure){.threads = spec.threads, .allocations = -1, .peak_bytes = -1, .hits = -1};
    snprintf(out->group, sizeof out->group, "%s", group->name);
    snprintf(out->name, sizeof out->name, "%s", spec.name);
    snprintf(out->series, sizeof out->series, "%s", spec.series);
    td_speed_threads(spec.threads);
    void *shift = shift_heap();
    const bench_opened opened = group->open(group, number, settings, &subject, why, size);
    if (opened == BENCH_SKIPPED)
        snprintf(out->skipped, sizeof out->skipped, "%s", why);
    else
        good = opened == BENCH_OPENED && time_subject(&subject, settings, out, why, size);
    if (subject.close)
        subject.close(subject.state);
    free(shift);
    td_speed_threads(0);
    return good;
}
