/* `tensordoor tune`: works.c has the calls that are timed and the pairs of timings, search.c finds the thresholds with
 * them, tune.c is the command. Thresholds are reached through the public td_tune_*. */
#ifndef TENSORDOOR_TUNE_H
#define TENSORDOOR_TUNE_H

#include "tensordoor.h"

#include <stdbool.h>
#include <stdio.h>

enum { TUNE_MOST_THRESHOLDS = 32, TUNE_MOST_CASES = 64 };

/* All thresholds at once, in the order of td_tune_threshold. */
typedef struct tune_values {
    uint64_t value[TUNE_MOST_THRESHOLDS];
} tune_values;

typedef enum tune_work_id {
    TUNE_COPY,
    TUNE_TRANSPOSE_U8,
    TUNE_TRANSPOSE_F32,
    TUNE_TRANSPOSE_U64,
    TUNE_ODD_U8,
    TUNE_ODD_F32,
    TUNE_NARROW,
    TUNE_WIDEN,
    TUNE_PACK,
    TUNE_COMPARE,
    TUNE_COMPARE_TILES,
    TUNE_COMPARE_TRANSPOSED,
    TUNE_WORKS
} tune_work_id;

/* One work on so many bytes. */
typedef struct tune_case {
    tune_work_id work;
    uint64_t bytes;       /* of the tensor */
    uint64_t moved_bytes; /* half of what is read and written, which is what thresholds of stores count */
    td_tensor *tensor;
    td_memory *memory;
    td_layout *layout;
} tune_case;

bool tune_case_open(tune_work_id work, uint64_t bytes, tune_case *out);
void tune_case_close(tune_case *c);
void tune_case_name(const tune_case *c, char *out, size_t bytes);

/* Two settings of the library on one case, timed in turns. The ratio is after by before, the median over the rounds;
 * half of the rounds lie between low and high. Where both have one thread it is processor time. */
typedef struct tune_pair {
    double before_ns, after_ns, ratio, low, high;
    double had; /* of the time of one thread, the part in which it had a processor: less than 1 beside other programs */
} tune_pair;

typedef struct tune_setting {
    const tune_values *values;
    unsigned threads; /* 0: all */
} tune_setting;

/* Sets all thresholds; returns false where one is out of bounds. */
bool tune_apply(const tune_values *values);
tune_pair tune_measure(const tune_case *c, tune_setting before, tune_setting after, double seconds);

typedef struct tune_line { /* of the table at the end */
    char name[64];
    tune_pair pair;
    size_t final; /* the case, for search.c */
    bool changed; /* was timed with a value that is not the default, */
    bool dropped; /* and did not stay */
} tune_line;

typedef struct tune_search {
    double seconds;      /* for everything */
    uint64_t most_bytes; /* of a tensor */
    bool progress;
    uint64_t start_ns;
    size_t done, all; /* pairs */
    double had;       /* summed up over `looked` pairs */
    size_t looked;
    unsigned threads;
    tune_values standard, chosen;
    tune_line line[TUNE_MOST_CASES];
    size_t lines;
} tune_search;

/* What is kept of `chosen`, by the lines of the table; the search ends with it. A case speaks for up to two
 * thresholds. */
void tune_keep_gains(tune_search *s);
bool tune_speaks_for(size_t final, size_t threshold);

/* The part of the time in which measurements of one thread had a processor. */
double tune_share(const tune_search *s);

/* What the measurements are worth where there was one processor, or others had it; nothing on a quiet machine. */
void tune_say_fitness(const tune_search *s, FILE *out);

/* Measures; the library is left with the defaults. False with the library's last error. */
bool tune_search_run(tune_search *s);

#endif
