/* Is this core ours alone at the moment? The two halves of a core share its units, and a virtual machine does not say
 * which of its processors are halves of one: whatever runs on the other half makes ours slower by up to the half, a
 * kernel of vectors more than a copy, so that not even their ratio stays. A probe finds it out: a few microseconds of
 * fixed work that fills the units takes longer when somebody shares them. Rounds that lie between slow probes are
 * disturbed, and the figures are made of the others. */
#ifndef TD_BENCH_CALM_H
#define TD_BENCH_CALM_H

#include <stdbool.h>

typedef struct bench_calm {
    double (*probe)(void *state); /* the time of the fixed work in ns */
    void *state;
    double floor_ns;    /* the least that it ever took: alone on the core, at its highest clock */
    double patience_ns; /* so long one case may wait for calm rounds, all together */
} bench_calm;

/* A probe that takes so much longer than the least is disturbed. Measured: alone it stays within 1 %, beside any
 * neighbour it is at 1.15 to 1.8. */
#define BENCH_CALM_LIMIT 1.06

/* The probe of this machine, which ignores its argument. */
double bench_calm_probe(void *unused);

/* Probes once, and keeps the least; by how much it took longer than that. */
double bench_calm_look(bench_calm *calm);

/* Probes until it is calm, or until *patience_ns is used up, which is lowered by the time that passes. Returns what the
 * last probe said. */
double bench_calm_wait(bench_calm *calm, double *patience_ns);

/* Probes for so long. Returns the share of probes that were calm. */
double bench_calm_share(bench_calm *calm, double for_ns);

#endif
