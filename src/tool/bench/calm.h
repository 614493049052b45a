/* Is this core ours alone at the moment? The two halves of a core share its units, and a virtual machine does not say
 * which of its processors are halves of one: whatever runs on the other half makes ours slower by up to the half, a
 * kernel of vectors more than a copy, so that not even their ratio stays. A probe finds it out: a few microseconds of
 * fixed work that fills the units takes more clocks when somebody shares them. A clock that speeds up or slows down is
 * no neighbour: it hits our work and the reference alike. Rounds that lie between slow probes are disturbed, and the
 * figures are made of the others. So are rounds in which the system took the core away from us altogether, which it
 * counts itself: no probe lies inside of that time. */
#ifndef TD_BENCH_CALM_H
#define TD_BENCH_CALM_H

#include <stdbool.h>
#include <stddef.h>

typedef struct bench_probed {
    double clocks;  /* that the fixed work took */
    double took_ns; /* the whole probe */
    long taken;     /* how often this process has lost a core to another one so far */
} bench_probed;

#define BENCH_CALM_BIN 0.01
#define BENCH_CALM_BINS 1800 /* up to 6e7 clocks */

typedef struct bench_calm {
    bench_probed (*probe)(void *state);
    void *state;
    double floor;       /* what the fixed work takes alone on the core, in clocks */
    double patience_ns; /* so long the cases that are left may wait for calm rounds, all together */
    double share_ns;    /* the part of one case */
    double known;       /* a floor that another run found; 0: none */
    long taken;         /* as the last probe says */
    size_t probes;      /* bins of the logarithm: how many probes, and the least of them */
    unsigned count[BENCH_CALM_BINS];
    double least[BENCH_CALM_BINS];
} bench_calm;

/* A probe that takes so much longer than the least is disturbed. Measured: alone it stays within 1 %, beside any
 * neighbour it is at 1.1 to 2. */
#define BENCH_CALM_LIMIT 1.06

/* The probe of this machine, which ignores its argument. */
bench_probed bench_calm_probe(void *unused);

/* Another run of this machine found that floor. */
void bench_calm_know(bench_calm *calm, double floor);

/* Probes once, and counts it. The floor is the least that came up in a thousandth of all probes: a single one is too
 * short when an interrupt hits both of its chains. Returns the clocks that it took. */
double bench_calm_look(bench_calm *calm);

/* The clocks up to which a probe is calm: BENCH_CALM_LIMIT of the least. 0 without `calm`, where everything is. */
double bench_calm_limit(const bench_calm *calm);

/* A neighbour stays for seconds, which is longer than the part of one case and shorter than those of all: the case that
 * meets it may wait for half of what all have together, beside its own part, and gives back what it did not need.
 * Then those behind it are calm too. */
double bench_calm_borrow(bench_calm *calm);
void bench_calm_return(bench_calm *calm, double left_ns);

/* Probes until it is calm, or until *patience_ns is used up, which is lowered by the time that passes. Returns the
 * clocks of the last probe. */
double bench_calm_wait(bench_calm *calm, double *patience_ns);

/* Probes for so long. Returns the share of probes that were calm. */
double bench_calm_share(bench_calm *calm, double for_ns);

#endif
