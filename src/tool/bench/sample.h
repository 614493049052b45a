/* Taking samples: the runners of a case take turns, round by round, so that whatever the machine does in the meantime
 * hits them all. A runner is a function that repeats its work and says how long one repetition took; the tests pass
 * runners that make their times up. */
#ifndef TD_BENCH_SAMPLE_H
#define TD_BENCH_SAMPLE_H

#include "tool/bench/calm.h"
#include "tool/bench/stats.h"

#include <stdbool.h>

#define BENCH_MAX_RUNNERS 6

/* The time of one repetition in ns; negative: it cannot. */
typedef double bench_run(void *state, uint64_t repetitions);

typedef struct bench_runner {
    const char *name;
    bench_run *run;
    void *state;
} bench_runner;

typedef struct bench_method {
    unsigned samples;      /* rounds: every runner gives one sample in each; more where the interval stays wide */
    double measurement_ns; /* of our samples together; one round lasts a part of it */
    double warm_up_ns;     /* of every runner, before the rounds */
} bench_method;

#define BENCH_DEFAULT_METHOD                                                                                           \
    {                                                                                                                  \
        31, 15e6, 2e6                                                                                                  \
    }

typedef struct bench_sampled {
    bench_stat ns[BENCH_MAX_RUNNERS]; /* samples 0: that runner could not */
    bench_stat ratio;                 /* of runner 1, the reference, by runner 0: round by round, then the median */
    unsigned disturbed;               /* rounds that were left out */
    bool calm;                        /* the others were calm; else they are only the calmest quarter of all */
    double limit;                     /* the clocks up to which a probe was calm */
} bench_sampled;

/* Runner 0 is ours, runner 1 the reference where there is one. False where ours cannot run. A runner over
 * BENCH_SLOW_NS that is neither takes part in a few rounds only. Without `calm` (NULL) every round counts. */
#define BENCH_WIDE 0.03    /* an interval wider than that, by its median, asks for as many rounds again */
#define BENCH_MOST_PARTS 4 /* so many times at most */
#define BENCH_SLOW_NS 2e6
#define BENCH_COLD_NS 5e6
/* Ours comes behind the peers of the round before, which work on other memory. A last level that is filled by what the
 * second one drops has all of ours only after some calls, and without peers it always has. */
#define BENCH_WARM_CALLS 4
#define BENCH_SLOW_ROUNDS 5
/* A case whose calls are long gets fewer rounds, and none beyond them: all of it takes about so many measurement times.
 * With BENCH_LEAST_ROUNDS an interval still reaches over nearly all samples. */
#define BENCH_CASE_TIMES 40
#define BENCH_LEAST_ROUNDS 9
bool bench_sample(const bench_runner *runner, size_t count, const bench_method *method, bench_calm *calm,
                  bench_sampled *out);

#endif
