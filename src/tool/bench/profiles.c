/* The profile of one case of every group, for the page: the largest that takes no more than a few milliseconds, called
 * a few times while the library counts its steps. Told as JSON, as td_profile_json does. */
#include "tool/bench/page.h"

#include "tensordoor.h"

#include <string.h>

#define MOST_NS 20e6
#define CALLS 12
#define SHORT_NS 20e3
#define SHORT_CALLS 1000

static const bench_figure *choose(const bench_record *now, const bench_group *group)
{
    const bench_figure *best = NULL;
    for (size_t i = 0; i < now->count; i++) {
        const bench_figure *f = &now->figure[i];
        if (strcmp(f->group, group->name) == 0 && !f->skipped[0] && f->threads == 1 && f->ns.median < MOST_NS &&
            (!best || f->ns.median > best->ns.median))
            best = f;
    }
    return best;
}

static bool find_number(const bench_group *group, const char *name, size_t *number)
{
    for (size_t i = 0; i < group->count(group); i++) {
        bench_spec spec = {.threads = 1};
        group->spec(group, i, &spec);
        if (strcmp(spec.name, name) == 0) {
            *number = i;
            return true;
        }
    }
    return false;
}

/* The JSON of some calls of ours, after one that makes what is kept; NULL where there is none. Of short ones it takes
 * many, or most of what they take would be caches that the calls before have filled with something else. */
static char *profile_of(const bench_group *group, size_t number, double call_ns)
{
    const uint64_t calls = call_ns < SHORT_NS ? SHORT_CALLS : CALLS;
    const bench_settings settings = {.no_peers = true};
    bench_subject subject = {0};
    char why[200] = "", *json = NULL;
    td_speed_threads(1);
    if (group->open(group, number, &settings, &subject, why, sizeof why) == BENCH_OPENED &&
        subject.runner[0].run(subject.runner[0].state, 1) >= 0) {
        td_profile_reset();
        if (td_profile_start(NULL) == TD_OK) {
            (void)subject.runner[0].run(subject.runner[0].state, calls);
            td_profile_stop();
            if (td_profile_json(&json) != TD_OK)
                json = NULL;
        }
    }
    if (subject.close)
        subject.close(subject.state);
    td_speed_threads(0);
    return json;
}

void bench_profiles_write(FILE *out, const bench_record *now)
{
    bool any = false;
    fputs("[", out);
    for (size_t g = 0; g < bench_group_count; g++) {
        const bench_group *group = bench_groups[g];
        const bench_figure *f = choose(now, group);
        size_t number = 0;
        if (!f || group->on_request || !find_number(group, f->name, &number))
            continue;
        char *json = profile_of(group, number, f->ns.median);
        if (json)
            fprintf(out, "%s{\"group\": \"%s\", \"case\": \"%s\", \"profile\": %s}", any ? ", " : "", f->group, f->name,
                    json);
        any |= json != NULL;
        td_free(json);
    }
    fputs("]", out);
}
