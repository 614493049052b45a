/* The pairs of a comparison, slab by slab: accept.c settles the slabs that the policy accepts whole, and the pairs of
 * the others are judged in order and on one thread, so that a report never depends on the number of threads. compare.c
 * calls it; what it finds goes into the report. */
#ifndef TD_JUDGING_H
#define TD_JUDGING_H

#include "backdoor/x_elems.h"
#include "compare/accept.h"
#include "report/report.h"

typedef struct td_judging {
    const td_comparison *what;
    td_report *report;
    td_report_source source;
    const td_run *run; /* NULL between two tensors */
    const td_slab *slab;
    const td_x_elems *unknown; /* elements that are x or z and count as mismatches; NULL: none */
    uint64_t done, total;
    td_accept accept;
    bool left[TD_ACCEPT_SLABS];
    bool all;                           /* were accepted */
    struct td_judging_scratch *scratch; /* for the slabs that are left; the caller frees it */
} td_judging;

/* All elements of the plan. Fails only with TD_NO_MEMORY; then, too, `failed` of the report may be set. */
td_status td_judge_memory(td_judging *c, const td_run *run);

/* All elements of what->actual. */
void td_judge_tensor(td_judging *c);

#endif
