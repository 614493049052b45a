/* A run of the bench as data: what was measured, on which machine, how. Everything that is printed, stored, compared or
 * drawn is made from a record, and a record is the same after it was written as JSON and read again. */
#ifndef TD_BENCH_RECORD_H
#define TD_BENCH_RECORD_H

#include "tool/bench/fitness.h"
#include "tool/bench/sample.h"

#include <stdio.h>

#define BENCH_FORMAT "tensordoor-bench"
#define BENCH_FORMAT_VERSION 3
#define BENCH_MAX_EXTRAS 8

typedef struct bench_extra { /* a figure that only this case has: an error, a count, a part of the time */
    char name[24];
    double value;
} bench_extra;

typedef struct bench_figure {
    char group[24], name[80];
    char series[72];     /* the curve that it is a point of; "": of none */
    char skipped[120];   /* why there is no figure; "": there is one */
    double elems, bytes; /* of one call; bytes are half of what is read and written */
    unsigned threads;
    bench_stat ns;
    char reference[16]; /* the runner that `ratio` is against; "": there is none */
    bench_stat ratio;   /* its time by ours: more is faster */
    double calm_clocks; /* what a probe took at most while it was measured; in no file */
    bool calm;          /* measured while the core was ours alone (calm.h) */
    unsigned disturbed; /* rounds that were left out, as it was not */
    size_t peer_count;  /* the reference is the first */
    struct {
        char name[16];
        bench_stat ns;
    } peer[BENCH_MAX_RUNNERS];
    double allocations, peak_bytes; /* of one call; negative: not counted */
    double hits;                    /* plans found in the cache, of those asked for; negative: does not apply */
    size_t extra_count;
    bench_extra extra[BENCH_MAX_EXTRAS];
} bench_figure;

typedef struct bench_record {
    char library[24]; /* version */
    char commit[64], time[24];
    char processor[80], system[80], isa[16];
    unsigned cores;
    bench_fitness fitness;
    bench_method method;
    size_t count;
    bench_figure *figure; /* malloc'd */
} bench_record;

/* NULL where there is none. */
const bench_figure *bench_record_find(const bench_record *record, const char *group, const char *name);
/* A figure at the end, all zero; NULL without memory. It may move the others. */
bench_figure *bench_record_add(bench_record *record);
void bench_figure_extra(bench_figure *figure, const char *name, double value);
/* Several measurements of one case as one figure: the one with the middle median, whose intervals are those that one
 * more measurement would lie in. So a baseline knows how far apart two runs of the same build may lie. It is made of
 * the least disturbed: calm ones where there are any, and of those the faster half, as what else runs on a machine only
 * ever slows; for the ratio, the half in the middle. */
#define BENCH_MOST_PASSES 12
void bench_figure_merge(const bench_figure *passes, size_t count, bench_figure *out);
/* The `most` fastest of the calm ones, or of all where none was calm, the fastest first. Returns how many. */
size_t bench_least_disturbed(const bench_figure *all, size_t count, size_t most, const bench_figure **out);
/* Of figures, up to BENCH_MOST_FIGURES of them, the `most` whose ratios lie nearest to the middle: the reference is a
 * small call too, and now and then a process has it in places where it is slow. Returns how many. */
#define BENCH_MOST_FIGURES 16
size_t bench_middle_ratios(const bench_figure *const *all, size_t count, size_t most, const bench_stat **out);
/* Figures that passed for calm while the least probe was not known yet: from `limit` clocks on they are not. */
void bench_figures_recall(bench_figure *figure, size_t count, double limit);
void bench_record_clear(bench_record *record);

/* Version, commit, time, machine. */
void bench_record_describe(bench_record *record, const char *commit);

/* One line of JSON, without its newline. */
void bench_record_write(FILE *out, const bench_record *record);

/* The record that `text` of so many bytes holds. False with the reason in `message`: no JSON, half written, another
 * format or version, a member that is missing. */
bool bench_record_read(const char *text, size_t length, bench_record *out, char *message, size_t size);

#endif
