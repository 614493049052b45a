/* Records in memory, and what this machine is called. */
#include "tool/bench/record.h"

#include "tensordoor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

const bench_figure *bench_record_find(const bench_record *record, const char *group, const char *name)
{
    for (size_t i = 0; record && i < record->count; i++)
        if (strcmp(record->figure[i].name, name) == 0 && strcmp(record->figure[i].group, group) == 0)
            return &record->figure[i];
    return NULL;
}

bench_figure *bench_record_add(bench_record *record)
{
    bench_figure *more = realloc(record->figure, (record->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    record->figure = more;
    more[record->count] = (bench_figure){.threads = 1, .allocations = -1, .peak_bytes = -1, .hits = -1};
    return &more[record->count++];
}

void bench_figure_extra(bench_figure *figure, const char *name, double value)
{
    if (figure->extra_count == BENCH_MAX_EXTRAS)
        return;
    bench_extra *extra = &figure->extra[figure->extra_count++];
    snprintf(extra->name, sizeof extra->name, "%s", name);
    extra->value = value;
}

/* Two processes of the same build differ by about so much for reasons of their own, such as pages and lines; where a
 * call is of nanoseconds, by a part of a cycle too. */
#define LEAST_BETWEEN 0.015
#define LEAST_BETWEEN_NS 0.2

/* Where a pass has been, the next run may be. From RANKED passes on it is hardly elsewhere either: a case with two
 * speeds, by where a process puts it, has no more than those, and an interval of the normal distribution reaches far
 * beyond. */
#define RANKED 6
static void join_passes(const bench_stat *const *part, size_t count, double least, bench_stat *out)
{
    double slowest = part[0]->median, fastest = slowest;
    for (size_t i = 1; i < count; i++) {
        slowest = part[i]->median > slowest ? part[i]->median : slowest;
        fastest = part[i]->median < fastest ? part[i]->median : fastest;
    }
    bench_stat_join(part, count, least, out);
    if (count >= RANKED) {
        const double reach = exp(least), at_least = exp(BENCH_WIDTH * least);
        const double low = fmin(fastest / reach, out->median / at_least);
        const double high = fmax(slowest * reach, out->median * at_least);
        out->low = fmax(out->low, low);
        out->high = fmin(out->high, high);
    }
    out->low = fmin(out->low, fastest);
    out->high = fmax(out->high, slowest);
}

static void merge_stat(const bench_stat *const *part, size_t count, double ns, bench_stat *out)
{
    const double least = LEAST_BETWEEN + (ns > 0 ? LEAST_BETWEEN_NS / ns : 0);
    double spread_low = out->spread_low, spread_high = out->spread_high;
    bool timed = true;
    for (size_t i = 0; i < count; i++) {
        spread_low = part[i]->spread_low < spread_low ? part[i]->spread_low : spread_low;
        spread_high = part[i]->spread_high > spread_high ? part[i]->spread_high : spread_high;
        timed = timed && part[i]->low > 0;
    }
    if (timed)
        join_passes(part, count, least, out);
    out->spread_low = spread_low;
    out->spread_high = spread_high;
}

size_t bench_middle_ratios(const bench_figure *const *all, size_t count, size_t most, const bench_stat **out)
{
    double ratio[BENCH_MOST_FIGURES] = {0}, sorted[BENCH_MOST_FIGURES] = {0};
    bool taken[BENCH_MOST_FIGURES] = {false};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        ratio[i] = all[i]->ratio.median;
    bench_sort(ratio, count, sorted);
    const double middle = bench_quantile(sorted, count, 0.5);
    for (; kept < most && kept < count; kept++) {
        size_t nearest = count;
        for (size_t i = 0; i < count; i++)
            if (!taken[i] && (nearest == count || fabs(ratio[i] - middle) < fabs(ratio[nearest] - middle)))
                nearest = i;
        taken[nearest] = true;
        out[kept] = &all[nearest]->ratio;
    }
    return kept;
}

size_t bench_least_disturbed(const bench_figure *all, size_t count, size_t most, const bench_figure **out)
{
    bool calm = false;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        calm = calm || all[i].calm;
    for (size_t i = 0; i < count; i++) {
        if (calm && !all[i].calm)
            continue;
        size_t at = kept < most ? kept++ : most;
        for (; at > 0 && out[at - 1]->ns.median > all[i].ns.median; at--)
            if (at < most)
                out[at] = out[at - 1];
        if (at < most)
            out[at] = &all[i];
    }
    return kept;
}

void bench_figure_merge(const bench_figure *passes, size_t count, bench_figure *out)
{
    const bench_figure *all[BENCH_MOST_FIGURES] = {passes};
    const bench_stat *ns[BENCH_MOST_FIGURES] = {&passes->ns}, *ratio[BENCH_MOST_FIGURES] = {&passes->ratio};
    count = count < BENCH_MOST_PASSES ? count : BENCH_MOST_PASSES;
    const size_t half = count / 2 + 1, fit = bench_least_disturbed(passes, count, count, all);
    const size_t kept = fit < half ? fit : half;
    const size_t ratios = bench_middle_ratios(all, fit, half, ratio);
    bench_figure joined = *all[kept / 2];
    for (size_t i = 0; i < kept; i++)
        ns[i] = &all[i]->ns;
    joined.ratio = *ratio[0];
    merge_stat(ns, kept, joined.ns.median, &joined.ns);
    merge_stat(ratio, ratios, joined.ns.median, &joined.ratio);
    *out = joined;
}

void bench_figures_recall(bench_figure *figure, size_t count, double limit)
{
    for (size_t i = 0; i < count; i++)
        if (figure[i].calm_clocks > limit * (1 + 1e-4)) /* limits of other processes have been through text */
            figure[i].calm = false;
}

void bench_record_clear(bench_record *record)
{
    free(record->figure);
    *record = (bench_record){0};
}

static void read_processor(char *out, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "unknown");
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strstr(line, ": ");
        if (strncmp(line, "model name", 10) != 0 || !value)
            continue;
        snprintf(out, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (file)
        fclose(file);
}

void bench_record_describe(bench_record *record, const char *commit)
{
    struct utsname name;
    struct tm utc;
    const time_t now = time(NULL);
    snprintf(record->library, sizeof record->library, "%s", td_version());
    snprintf(record->commit, sizeof record->commit, "%s", commit ? commit : "unknown");
    if (gmtime_r(&now, &utc))
        strftime(record->time, sizeof record->time, "%Y-%m-%dT%H:%M:%SZ", &utc);
    read_processor(record->processor, sizeof record->processor);
    if (uname(&name) == 0)
        snprintf(record->system, sizeof record->system, "%.20s %.40s", name.sysname, name.release);
    snprintf(record->isa, sizeof record->isa, "%s", td_speed_isa());
    record->cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
}
