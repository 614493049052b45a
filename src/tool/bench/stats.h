/* What a list of samples says: the median, an interval for it, the spread, the outliers. Every figure of the bench is
 * one of these. Nothing here reads a clock: the tests give it samples whose answers are known. */
#ifndef TD_BENCH_STATS_H
#define TD_BENCH_STATS_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_MAX_SAMPLES 1001
#define BENCH_CONFIDENCE 0.99 /* of every interval */

typedef struct bench_stat {
    double median;
    double low, high;               /* the interval of the median, by bootstrap */
    double spread;                  /* from the 10th to the 90th percentile, by the median */
    double spread_low, spread_high; /* its interval */
    unsigned samples;               /* 0: nothing was measured */
    unsigned outliers;              /* beyond Tukey's fences: 1.5 times the middle half outside of it */
} bench_stat;

/* Of up to BENCH_MAX_SAMPLES samples; the order they came in does not matter, and equal samples give equal answers. */
void bench_stat_of(const double *sample, size_t count, bench_stat *out);

/* A sorted copy. */
void bench_sort(const double *number, size_t count, double *out);

/* The quantile q of sorted numbers, between neighbours linearly. */
double bench_quantile(const double *sorted, size_t count, double q);

#endif
