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

static void widen(bench_stat *s, const bench_stat *other)
{
    s->low = other->low < s->low ? other->low : s->low;
    s->high = other->high > s->high ? other->high : s->high;
    s->spread_low = other->spread_low < s->spread_low ? other->spread_low : s->spread_low;
    s->spread_high = other->spread_high > s->spread_high ? other->spread_high : s->spread_high;
}

void bench_figure_merge(const bench_figure *passes, size_t count, bench_figure *out)
{
    size_t middle = 0;
    for (size_t i = 0; i < count; i++) {
        size_t below = 0;
        for (size_t k = 0; k < count; k++)
            below += passes[k].ns.median < passes[i].ns.median || (k < i && passes[k].ns.median == passes[i].ns.median);
        if (below == count / 2)
            middle = i;
    }
    *out = passes[middle];
    for (size_t i = 0; i < count; i++) {
        widen(&out->ns, &passes[i].ns);
        widen(&out->ratio, &passes[i].ratio);
        for (size_t p = 0; p < out->peer_count && p < passes[i].peer_count; p++)
            widen(&out->peer[p].ns, &passes[i].peer[p].ns);
    }
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
