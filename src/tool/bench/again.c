/* The command calls itself, with the cases by their whole names, and reads the JSON that it prints. */
#include "tool/bench/again.h"

#include "tool/bench/child.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALM "TD_BENCH_CALM" /* between the two processes: the least clocks of the probe, and the wait of a case */

#define COLD "TD_BENCH_COLD"

static bool is_command; /* `tensordoor bench`, not td-bench */

void bench_again_from(char *const *argv)
{
    is_command = strcmp(argv[-1], "bench") == 0;
}

void bench_again_inherit(bench_calm *calm)
{
    const char *text = getenv(CALM);
    double floor = 0, share_ns = 0;
    if (!text || sscanf(text, "%lf %lf", &floor, &share_ns) != 2)
        return;
    bench_calm_know(calm, floor);
    calm->share_ns = share_ns;
}

void bench_again_cold(void)
{
    char *argv[] = {"tensordoor", is_command ? "bench" : NULL, NULL};
    unsetenv("TD_PROFILE"); /* its table is not what was asked for */
    setenv(COLD, "1", 1);
    execv("/proc/self/exe", argv);
}

bool bench_again_is_cold(void)
{
    return getenv(COLD) != NULL;
}

/* "words/read_10$,plan/plan_cached$": a `$` ends the name. */
static char *list_names(const bench_record *record, const bool *wanted)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const char *comma = "";
    for (size_t i = 0; out && i < record->count; i++) {
        if (!wanted[i])
            continue;
        fprintf(out, "%s%s/%s$", comma, record->figure[i].group, record->figure[i].name);
        comma = ",";
    }
    if (out && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

typedef struct again_work {
    const bench_settings *settings;
    char *names;
} again_work;

static void become_bench(void *work)
{
    enum { MOST = 16 };
    const bench_settings *s = ((again_work *)work)->settings;
    char *names = ((again_work *)work)->names;
    char samples[24], measurement[32], warm_up[32], calm[80];
    char *argv[MOST] = {"tensordoor"};
    int count = 1;
    snprintf(samples, sizeof samples, "%u", s->method.samples);
    snprintf(measurement, sizeof measurement, "%.9g", s->method.measurement_ns / 1e9);
    snprintf(warm_up, sizeof warm_up, "%.9g", s->method.warm_up_ns / 1e9);
    if (s->calm) {
        snprintf(calm, sizeof calm, "%.6g %.6g", s->calm->floor, s->calm->share_ns);
        setenv(CALM, calm, 1);
    }
    if (is_command)
        argv[count++] = "bench";
    char *const fixed[] = {names,           "--json", "--commit",           "again",
                           "--sample-size", samples,  "--measurement-time", measurement,
                           "--warm-up",     warm_up};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        argv[count++] = fixed[i];
    if (s->no_peers)
        argv[count++] = "--no-peers";
    if (s->tune)
        argv[count++] = "--tune";
    execv("/proc/self/exe", argv);
}

bool bench_again(const bench_settings *settings, const bench_record *record, const bool *wanted, bench_record *out)
{
    size_t length = 0;
    char message[200], *text = NULL, *names = list_names(record, wanted);
    bench_child child = {0};
    again_work work = {settings, names};
    *out = (bench_record){0};
    if (names && names[0] && bench_child_start(&child, &(bench_child_work){become_bench, &work, .quiet = true}))
        text = bench_child_all(&child, &length);
    const bool good = bench_child_stop(&child) && text && bench_record_read(text, length, out, message, sizeof message);
    free(text);
    free(names);
    return good;
}
