/* Did it get worse? One figure now against the same of a baseline, by the regression policy:
 *
 *     over 5 % slower          reported
 *     over 10 % slower         fails
 *     over 20 % more memory    fails
 *     over 20 % more spread    reported
 *     under 95 % cache hits    fails, with or without a baseline
 *
 * Slower is what is slower against the reference of the same run and by the clock, with intervals that are apart in
 * both. How much slower, the ratio says, as a machine that is slower today slows the reference too; the clock has to
 * have moved by half of that limit at least. What the intervals leave open is measured again, from new allocations on
 * and later, until they decide; what they never decide is called undecided, and counted. */
#ifndef TD_BENCH_VERDICT_H
#define TD_BENCH_VERDICT_H

#include "tool/bench/record.h"

typedef enum bench_verdict {
    BENCH_EQUAL, /* more than 10 % slower is out of the question */
    BENCH_FASTER,
    BENCH_NEW,       /* the baseline does not have it */
    BENCH_UNDECIDED, /* from here on reported */
    BENCH_SPREADS,
    BENCH_SLOWER,
    BENCH_FAILS /* from here on --check exits with 1 */
} bench_verdict;

typedef struct bench_judgement {
    bench_verdict verdict;
    double change;  /* of the time that counts: 0.12 is 12 % slower; 0 without a baseline */
    char text[200]; /* "12 % slower: 9.1 us, was 8.1 us; so it is against memcpy" */
} bench_judgement;

/* One measurement against the baseline, which may be NULL. */
void bench_judge(const bench_figure *now, const bench_figure *then, bench_judgement *out);

const char *bench_verdict_name(bench_verdict verdict);

/* Several measurements of one case, each in a process of its own, as one whose interval becomes narrower with each. A
 * change needs BENCH_LEAST_TRIALS of them, and slower is what every one of them found slower, but for one in four that
 * found the reference slower too; where some were calm (calm.h) only those count. One that is as fast by the clock as a
 * baseline that was no less calm settles that a case is equal, and so do more than half of them that are as fast
 * against the reference. Disturbed ones alone fail against a calm baseline only where they take twice as long, and
 * against a disturbed one only from twice the limit on, and when there are BENCH_DISTURBED_TRIALS of them. */
#define BENCH_TRIALS 12
#define BENCH_LEAST_TRIALS 4
#define BENCH_DISTURBED_TRIALS 7
/* Of cases on more bytes than the caches of a core hold, as no probe sees who else uses the memory. */
#define BENCH_FAR_TRIALS 7
#define BENCH_FAR_BYTES 2e6

typedef struct bench_trials {
    size_t count;
    bench_figure figure[BENCH_TRIALS];
} bench_trials;

/* What they come to as one figure, and the verdict. False where one more could change it. */
bool bench_decide(const bench_trials *trials, const bench_figure *then, bench_figure *now, bench_judgement *out);

/* The same where there is no time for one more: what is still open is undecided. */
void bench_give_up(const bench_trials *trials, const bench_figure *then, bench_figure *now, bench_judgement *out);

#endif
