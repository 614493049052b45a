/* The bench, `tensordoor bench`: groups of cases, each timed beside memcpy and whoever else can do the same work. This
 * header is what the files of the folder share; record.h is what a run comes to. */
#ifndef TD_BENCH_H
#define TD_BENCH_H

#include "tool/bench/record.h"

typedef struct bench_settings {
    bench_method method;
    bool no_peers;    /* only ours and the reference */
    bool tune;        /* layouts with tune=on */
    bench_calm *calm; /* NULL: every round counts */
} bench_settings;

/* One case made ready to be timed: the first runner is ours, the second the reference. */
typedef struct bench_subject {
    void *state;
    size_t count;
    bench_runner runner[BENCH_MAX_RUNNERS];
    double bytes, elems;
    /* Our result against another way to it; false with the reason. NULL: there is nothing to hold it against. Called
     * once before the clock runs, and by --validate for every instruction set. */
    bool (*check)(void *state, char *why, size_t size);
    void (*finish)(void *state, bench_figure *figure); /* what the case says beside its time; may be NULL */
    void (*close)(void *state);
} bench_subject;

typedef enum bench_opened { BENCH_OPENED, BENCH_SKIPPED, BENCH_BROKEN } bench_opened;

typedef struct bench_spec {
    char name[80], series[72]; /* as in bench_figure */
    unsigned threads;
} bench_spec;

typedef struct bench_group {
    const char *name, *about;
    bool on_request; /* takes long: runs only when TEXT names the group, or a target needs it */
    const void *of;  /* the group's own table */
    size_t (*count)(const struct bench_group *group);
    void (*spec)(const struct bench_group *group, size_t number, bench_spec *out);
    /* `why`: what is missing here (skipped), or what went wrong (broken). */
    bench_opened (*open)(const struct bench_group *group, size_t number, const bench_settings *settings,
                         bench_subject *out, char *why, size_t size);
} bench_group;

extern const bench_group *const bench_groups[];
extern const size_t bench_group_count;

void bench_add_runner(bench_subject *subject, const char *name, bench_run *run, void *state);

/* Opens, checks, times and closes one case. False where it is broken: the reason is in `why`. A case that is skipped
 * has the reason in its figure. */
bool bench_measure(const bench_group *group, size_t number, const bench_settings *settings, bench_figure *out,
                   char *why, size_t size);

/* Is this name meant by the TEXT of the command line, or by one of several with commas between them? A `$` stands for
 * the end of a name; NULL means all. With a group, only texts that name it count. */
bool bench_wants(const char *whole, const char *group, const char *text);
/* The same for a case; NULL means all that are not on request. */
bool bench_chosen(const bench_group *group, const bench_spec *spec, const char *text);

/* The other end of bench_again_cold (again.h): prints two times as doubles. Returns an exit code. */
int bench_start_cold(void);

/* `tensordoor bench` and td-bench: argv[0] is the first argument. Returns an exit code. */
int bench_main(int argc, char **argv);

#endif
