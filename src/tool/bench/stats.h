/* What a list of samples says: the median, an interval for it, the spread, the outliers. Every figure of the bench is
 * one of these. Nothing here reads a clock: the tests give it samples whose answers are known. */
#ifndef TD_BENCH_STATS_H
#define TD_BENCH_STATS_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_MAX_SAMPLES 1001
#define BENCH_CONFIDENCE 0.99 /* of every interval */
#define BENCH_WIDTH 2.576     /* half of such an interval of the normal distribution, in standard deviations */

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

/* Measurements of one thing as one, by random effects (DerSimonian and Laird): each counts by how narrow its interval
 * is, and where they lie further apart than their intervals explain, as allocations and neighbours differ, that goes
 * into the interval of the whole, which more of them make narrower. With `least` above 0 the interval is the one that
 * one more measurement would lie in, and two differ by that share at least. Median, low and high are set, which are
 * above 0 in all parts; the rest of `out` stays. */
void bench_stat_join(const bench_stat *const *part, size_t count, double least, bench_stat *out);

/* A sorted copy. */
void bench_sort(const double *number, size_t count, double *out);

/* The quantile q of sorted numbers, between neighbours linearly. */
double bench_quantile(const double *sorted, size_t count, double q);

#endif
