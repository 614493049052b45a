/* The shape of a curve of time against size: what a call costs at least, how fast it gets at most, where the one gives
 * way to the other, how it grows from there, and every size at which an element costs more than at the size before. */
#ifndef TD_BENCH_CURVE_H
#define TD_BENCH_CURVE_H

#include "tool/bench/record.h"

#define BENCH_CURVE_POINTS 32
#define BENCH_CURVE_RISE 0.10 /* more than that is a cache that ended, or a wrong threshold; also of the ratio */

typedef struct bench_curve {
    char group[24], series[72];
    size_t count;
    const bench_figure *point[BENCH_CURVE_POINTS]; /* by size, each larger than the one before */
    double floor_ns;                               /* the time of the smallest size */
    double ceiling;                                /* the most elements a ns */
    double knee_elems; /* the size at which half of the ceiling is reached, between the points; 0: never below it */
    double exponent;   /* of the size in the time, from the knee on: 1 is linear */
    size_t rises;
    size_t rise[BENCH_CURVE_POINTS]; /* points whose element costs over a tenth more than at the point before, with
                                      * intervals that are apart */
    bool ours[BENCH_CURVE_POINTS];   /* of each rise: the reference does not rise with it; else a cache ends there */
    size_t cliffs;                   /* how many are ours */
} bench_curve;

/* The curves of a record, of at least three sizes each. Returns how many; at most `most` are filled. They point into
 * the record. */
size_t bench_curves_of(const bench_record *record, bench_curve *out, size_t most);

/* One line, and one more for every rise. */
void bench_curve_print(FILE *out, const bench_curve *curve);

#endif
