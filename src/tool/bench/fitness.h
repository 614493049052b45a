/* Is this machine fit to be measured on? Looked at before a run and again after it. An unfit one is said and marked in
 * everything that the run writes; it is measured all the same. */
#ifndef TD_BENCH_FITNESS_H
#define TD_BENCH_FITNESS_H

#include "tool/bench/calm.h"

typedef struct bench_fitness {
    bool fit;
    double load;         /* of the last minute, all processors together; negative: unknown */
    double steal;        /* share of the processors' time that the host gave to others; negative: unknown */
    double calibration;  /* spread of a loop that always does the same */
    double calm;         /* share of the time in which the core was ours alone (calm.h) */
    double probe_clocks; /* what the probe of that takes at least */
    char governor[24];   /* "": the system does not say */
    char why[200];       /* what makes it unfit; "" when fit */
} bench_fitness;

/* Takes about 100 ms, 40 of them with the probe, whose least time is in `calm` then. */
void bench_fitness_look(bench_calm *calm, bench_fitness *out);

/* From numbers alone, with the limits: load 0.75 per processor, steal 2 %, spread of the loop 5 %, a core that is ours
 * for less than half of the time, a governor that saves power. Sets `fit` and `why`. */
void bench_fitness_judge(bench_fitness *f, unsigned cores);

/* Time of all processors and the part that was stolen, in ticks since the machine started; false where the system does
 * not say. */
bool bench_fitness_ticks(double *total, double *stolen);

#endif
