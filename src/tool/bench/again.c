/* The command calls itself, with the cases by their whole names, and reads the JSON that it prints. */
#include "tool/bench/again.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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

static void become_bench(const bench_settings *s, char *names)
{
    enum { MOST = 16 };
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
    if (freopen("/dev/null", "w", stderr))
        execv("/proc/self/exe", argv);
    _exit(127);
}

static char *read_all(int from, size_t *length)
{
    char *text = NULL, block[4096];
    FILE *out = open_memstream(&text, length);
    ssize_t got = 0;
    while (out && (got = read(from, block, sizeof block)) > 0)
        fwrite(block, 1, (size_t)got, out);
    if (out && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

bool bench_again(const bench_settings *settings, const bench_record *record, const bool *wanted, bench_record *out)
{
    int from[2], status = 1;
    size_t length = 0;
    char message[200], *text = NULL, *names = list_names(record, wanted);
    *out = (bench_record){0};
    if (!names || !names[0] || pipe(from)) {
        free(names);
        return false;
    }
    fflush(NULL);
    (void)signal(SIGCHLD, SIG_DFL); /* whoever ignores it has no child to wait for */
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        /* It must not go on measuring beside others when this process is killed. */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || dup2(from[1], 1) < 0)
            _exit(127);
        for (int end = 0; end < 2; end++)
            if (from[end] != 1) /* as it is where the output was closed */
                close(from[end]);
        become_bench(settings, names);
    }
    close(from[1]);
    if (child > 0)
        text = read_all(from[0], &length);
    close(from[0]);
    const bool ended = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    const bool good = ended && text && bench_record_read(text, length, out, message, sizeof message);
    free(text);
    free(names);
    return good;
}
