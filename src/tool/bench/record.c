/* Records in memory, and what this machine is called. */
#include "tool/bench/record.h"

#include "tensordoor.h"

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
        bench_stat_join(part, count, least, out);
    for (size_t i = 0; timed && i < count; i++) { /* where a pass has been, the next run may be */
        out->low = part[i]->median < out->low ? part[i]->median : out->low;
        out->high = part[i]->median > out->high ? part[i]->median : out->high;
    }
    out->spread_low = spread_low;
    out->spread_high = spread_high;
}

static void merge_all(const bench_figure *passes, size_t count, bench_figure *out)
{
    const bench_stat *part[BENCH_MOST_PASSES] = {NULL};
    size_t middle = 0;
    for (size_t i = 0; i < count; i++) {
        size_t below = 0;
        for (size_t k = 0; k < count; k++)
            below += passes[k].ns.median < passes[i].ns.median || (k < i && passes[k].ns.median == passes[i].ns.median);
        if (below == count / 2)
            middle = i;
    }
    *out = passes[middle];
    for (size_t i = 0; i < count; i++)
        part[i] = &passes[i].ns;
    merge_stat(part, count, passes[middle].ns.median, &out->ns);
    for (size_t i = 0; i < count; i++)
        part[i] = &passes[i].ratio;
    merge_stat(part, count, passes[middle].ns.median, &out->ratio);
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
    const bench_figure *fast[BENCH_MOST_PASSES] = {passes};
    bench_figure kept[BENCH_MOST_PASSES] = {*passes};
    count = count < BENCH_MOST_PASSES ? count : BENCH_MOST_PASSES;
    const size_t most = bench_least_disturbed(passes, count, count / 2 + 1, fast);
    for (size_t i = 0; i < most; i++)
        kept[i] = *fast[i];
    merge_all(kept, most, out);
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
