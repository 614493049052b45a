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
 * have moved by half of that limit at least. */
#ifndef TD_BENCH_VERDICT_H
#define TD_BENCH_VERDICT_H

#include "tool/bench/record.h"

typedef enum bench_verdict {
    BENCH_EQUAL,
    BENCH_FASTER,
    BENCH_NEW,     /* the baseline does not have it */
    BENCH_SPREADS, /* from here on reported */
    BENCH_SLOWER,
    BENCH_FAILS /* from here on --check exits with 1 */
} bench_verdict;

typedef struct bench_judgement {
    bench_verdict verdict;
    double change;  /* of the time that counts: 0.12 is 12 % slower; 0 without a baseline */
    char text[200]; /* "12 % slower (8.1 to 9.1 us, against memcpy 14 %)" */
} bench_judgement;

/* `then` may be NULL. */
void bench_judge(const bench_figure *now, const bench_figure *then, bench_judgement *out);

const char *bench_verdict_name(bench_verdict verdict);

/* Does it look changed? Then it is measured again, from new allocations on, up to BENCH_CONFIRM times and each time
 * later than the last: what a build does it does again, what a neighbour did it does not. */
#define BENCH_CONFIRM 4
bool bench_looks_changed(const bench_judgement *judgement);

/* Once more: `measure` fills `now` anew, or returns false where it cannot. The one with the least change stays. */
void bench_confirm(bench_figure *now, const bench_figure *then, bool (*measure)(void *context, bench_figure *now),
                   void *context, bench_judgement *out);

#endif
