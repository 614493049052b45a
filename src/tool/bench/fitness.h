/* Is this machine fit to be measured on? Looked at before a run and again after it. An unfit one is said and marked in
 * everything that the run writes; it is measured all the same. */
#ifndef TD_BENCH_FITNESS_H
#define TD_BENCH_FITNESS_H

#include "tool/bench/calm.h"

typedef struct bench_fitness {
    bool fit;
    double load;         /* of the last minute, all processors together; negative: unknown */
    double steal;        /* share of the processors' time that the host gave to others; negative: unknown */
    double calibration;  /* spread of a loop that always does the same, beside the clock of the moment */
    double clock;        /* spread of that clock; 0: not known, in a record of an earlier version */
    double calm;         /* share of the time in which the core was ours alone (calm.h) */
    double probe_clocks; /* what the probe of that takes at least */
    char governor[24];   /* "": the system does not say */
    char why[320];       /* what makes it unfit; "" when fit */
} bench_fitness;

/* Takes about 120 ms, 40 of them with the probe, whose least time is in `calm` then. */
void bench_fitness_look(bench_calm *calm, bench_fitness *out);

/* Sets the two spreads from the times of loops that follow each other, up to BENCH_MAX_SAMPLES of stats.h. */
void bench_fitness_loops(const double *loop_ns, size_t count, bench_fitness *out);

/* From numbers alone, with the limits: load 0.75 per processor, steal 2 %, spread of the loop 5 %, of the clock 20 %,
 * a core that is ours for less than half of the time, a governor that saves power. Sets `fit` and `why`. */
void bench_fitness_judge(bench_fitness *f, unsigned cores);

/* Time of all processors and the part that was stolen, in ticks since the machine started; false where the system does
 * not say. */
bool bench_fitness_ticks(double *total, double *stolen);

/* Sets `steal` from two differences of those. */
void bench_fitness_steal(bench_fitness *f, double total, double stolen);

#endif
