/* Medians and their intervals. The interval is the bootstrap's: samples are drawn from the samples themselves, with
 * replacement, and the middle of the medians that come out is where the true one lies. It needs no shape of the noise,
 * which on a shared machine is one-sided and in bursts. The draws have a fixed seed, so that the same samples always
 * give the same interval. */
#include "tool/bench/stats.h"

#include "base/random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 800

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_sort(const double *number, size_t count, double *out)
{
    memmove(out, number, count * sizeof *number);
    qsort(out, count, sizeof *out, compare);
}

double bench_quantile(const double *sorted, size_t count, double q)
{
    const double at = q * (double)(count - 1);
    const size_t below = (size_t)at;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

static double spread_of(const double *sorted, size_t count)
{
    const double median = bench_quantile(sorted, count, 0.5);
    return median > 0 ? (bench_quantile(sorted, count, 0.9) - bench_quantile(sorted, count, 0.1)) / median : 0;
}

static unsigned count_outliers(const double *sorted, size_t count)
{
    const double first = bench_quantile(sorted, count, 0.25), third = bench_quantile(sorted, count, 0.75);
    const double fence = 1.5 * (third - first);
    unsigned outside = 0;
    for (size_t i = 0; i < count; i++)
        outside += sorted[i] < first - fence || sorted[i] > third + fence;
    return outside;
}

/* The draws have a fixed seed, so a drawn list is a list of ranks that the number of samples decides: where its
 * quantiles lie is found once and kept for the next lists of that length. */
#define QUANTILES 3
static const double quantile[QUANTILES] = {0.1, 0.5, 0.9};

typedef struct drawn_ranks {
    size_t count;                                                    /* of samples; 0: not filled */
    unsigned short below[DRAWS][QUANTILES], above[DRAWS][QUANTILES]; /* that a quantile lies between */
} drawn_ranks;

/* Counting how often each rank was drawn sorts the list without comparing. */
static void draw(size_t count, uint64_t number, unsigned short *out)
{
    unsigned short times[BENCH_MAX_SAMPLES] = {0};
    for (size_t i = 0; i < count; i += 2) { /* two draws of 32 bits each */
        const uint64_t bits = td_random_at(number, i);
        times[((bits >> 32) * count) >> 32]++;
        if (i + 1 < count)
            times[((bits & 0xffffffff) * count) >> 32]++;
    }
    for (size_t rank = 0; rank < count; rank++)
        for (unsigned t = 0; t < times[rank]; t++)
            *out++ = (unsigned short)rank;
}

static const drawn_ranks *ranks_of(size_t count)
{
    enum { KEPT = 16 };
    static drawn_ranks kept[KEPT];
    unsigned short drawn[BENCH_MAX_SAMPLES] = {0};
    drawn_ranks *r = &kept[count % KEPT];
    if (r->count == count)
        return r;
    r->count = count;
    for (uint64_t d = 0; d < DRAWS; d++) {
        draw(count, d, drawn);
        for (int q = 0; q < QUANTILES; q++) {
            const size_t below = (size_t)(quantile[q] * (double)(count - 1));
            r->below[d][q] = drawn[below];
            r->above[d][q] = drawn[below + 1 < count ? below + 1 : count - 1];
        }
    }
    return r;
}

/* The numbers at both ends of a list, which is all that an interval needs of it. */
#define ENDS ((size_t)((1 - BENCH_CONFIDENCE) / 2 * (DRAWS - 1)) + 2)
typedef struct ends {
    size_t count;
    double low[16], high[16]; /* the least, ascending; the largest, descending */
} ends;

static void add_to_ends(ends *e, double number)
{
    const bool full = e->count >= ENDS;
    size_t i = full ? ENDS - 1 : e->count;
    if (!full || number < e->low[ENDS - 1]) {
        for (; i > 0 && e->low[i - 1] > number; i--)
            e->low[i] = e->low[i - 1];
        e->low[i] = number;
    }
    i = full ? ENDS - 1 : e->count;
    if (!full || number > e->high[ENDS - 1]) {
        for (; i > 0 && e->high[i - 1] < number; i--)
            e->high[i] = e->high[i - 1];
        e->high[i] = number;
    }
    e->count++;
}

static void interval_of(const ends *e, double *low, double *high)
{
    const double at = (1 - BENCH_CONFIDENCE) / 2 * (DRAWS - 1), share = at - (double)(size_t)at;
    const size_t i = (size_t)at;
    *low = e->low[i] + share * (e->low[i + 1] - e->low[i]);
    *high = e->high[i] + share * (e->high[i + 1] - e->high[i]);
}

static void find_intervals(const double *sorted, size_t count, bench_stat *out)
{
    const drawn_ranks *r = ranks_of(count);
    ends median = {0}, spread = {0};
    for (size_t d = 0; d < DRAWS; d++) {
        double at[QUANTILES];
        for (int q = 0; q < QUANTILES; q++) {
            const double place = quantile[q] * (double)(count - 1), share = place - (double)(size_t)place;
            const double below = sorted[r->below[d][q]];
            at[q] = below + share * (sorted[r->above[d][q]] - below);
        }
        add_to_ends(&median, at[1]);
        add_to_ends(&spread, at[1] > 0 ? (at[2] - at[0]) / at[1] : 0);
    }
    interval_of(&median, &out->low, &out->high);
    interval_of(&spread, &out->spread_low, &out->spread_high);
}

void bench_stat_of(const double *sample, size_t count, bench_stat *out)
{
    double sorted[BENCH_MAX_SAMPLES] = {0};
    *out = (bench_stat){0};
    if (count == 0)
        return;
    count = count < BENCH_MAX_SAMPLES ? count : BENCH_MAX_SAMPLES;
    bench_sort(sample, count, sorted);
    out->samples = (unsigned)count;
    out->median = bench_quantile(sorted, count, 0.5);
    out->spread = spread_of(sorted, count);
    out->outliers = count_outliers(sorted, count);
    find_intervals(sorted, count, out);
}

#define LEAST_ERROR 0.002

static double error_of(const bench_stat *s)
{
    const double error = s->low > 0 && s->high > s->low ? log(s->high / s->low) / (2 * BENCH_WIDTH) : 0;
    return error > LEAST_ERROR ? error : LEAST_ERROR;
}

void bench_stat_join(const bench_stat *const *part, size_t count, double least, bench_stat *out)
{
    double sum = 0, squares = 0, mean = 0, apart = 0;
    for (size_t i = 0; i < count; i++) {
        const double error = error_of(part[i]), weight = 1 / (error * error);
        sum += weight;
        squares += weight * weight;
        mean += weight * log(part[i]->median);
    }
    mean /= sum;
    for (size_t i = 0; i < count; i++) {
        const double error = error_of(part[i]), off = log(part[i]->median) - mean;
        apart += off * off / (error * error);
    }
    const double between = (apart - (double)(count - 1)) / (sum - squares / sum);
    const double variance = count > 1 && between > 0 ? between : 0;
    sum = mean = 0;
    for (size_t i = 0; i < count; i++) {
        const double error = error_of(part[i]), weight = 1 / (error * error + variance);
        sum += weight;
        mean += weight * log(part[i]->median);
    }
    mean /= sum;
    const double next = least > 0 ? (variance > least * least ? variance : least * least) : 0;
    const double reach = BENCH_WIDTH * sqrt(1 / sum + next);
    out->median = exp(mean);
    out->low = exp(mean - reach);
    out->high = exp(mean + reach);
}
