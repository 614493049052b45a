/* A run: the cases that were chosen, one after the other. bench.c reads the command line and calls it. */
#ifndef TD_BENCH_RUN_H
#define TD_BENCH_RUN_H

#include "tool/bench/bench.h"
#include "tool/bench/out.h"

/* Each in a process of its own (again.h). A case that was calm in fewer of them than BENCH_CALM_PASSES, or whose
 * passes leave an interval with ends further apart than BENCH_APART, is measured again, up to BENCH_MOST_PASSES times
 * in all. */
#define BENCH_BASELINE_PASSES 5
#define BENCH_CALM_PASSES 3
#define BENCH_APART 1.15

typedef struct bench_run_request {
    bench_settings settings;
    const char *text;         /* which cases; NULL: all */
    const bench_record *then; /* a baseline: what one measurement does not decide is measured again */
    unsigned passes;          /* over all cases, merged: a baseline takes BENCH_BASELINE_PASSES */
    bool table;               /* lines to stdout as they come */
    bool (*wanted)(const bench_group *group, const bench_spec *spec); /* in place of `text`; NULL: `text` */
} bench_run_request;

/* How many cases are meant. */
size_t bench_run_count(const bench_run_request *request);

/* How long a case may wait until the core is ours (calm.h), in measurement times: in an ordinary run, and in one that a
 * baseline is kept of, that is held against one, or that looks at targets. All cases share it. So a run on a machine
 * that is never calm ends: measuring again takes BENCH_AGAIN_PARTS times as long as all before it, and
 * BENCH_AGAIN_TIMES measurement times. */
#define BENCH_PATIENCE 2
#define BENCH_JUDGED_PATIENCE 20
#define BENCH_AGAIN_PARTS 5
#define BENCH_AGAIN_TIMES 1300 /* 20 s by default */

/* So many measurement times may the answer of a peer take, two minutes by default: a peer that hangs is left out. */
#define BENCH_ANSWER_TIMES 8000

/* Fills the record and one judgement for each of its figures (free them). Returns how many cases were broken, each with
 * a line on stderr. */
size_t bench_run_cases(const bench_run_request *request, bench_record *now, bench_judgement **judgements);

/* What the environment or git calls the commit; "unknown" without both. */
void bench_commit(char *out, size_t size);

#endif
