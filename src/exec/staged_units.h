/* The units of a batch between their places in memory, which strides, a table or banks give, and a dense scratch.
 * run_staged.c runs batches; this is what it shares with staged_units.c, which copies. */
#ifndef TD_STAGED_UNITS_H
#define TD_STAGED_UNITS_H

#include "exec/exec.h"
#include "exec/grounds.h"
#include "plan/stage.h"

#define TD_STAGE_SHORT_RUN 8 /* units that are not worth a call of a kernel */
#define TD_STAGE_LISTED 1024

/* The places of the units that some inner nodes of a batch reach, one after another. A batch that differs from the one
 * before by a stride alone takes its list. */
typedef struct td_stage_list {
    uint64_t count; /* 0: none yet */
    size_t node_count;
    td_node node[TD_WALK_NODES + 1];
    int64_t select, memory; /* of the first */
    uintptr_t at[TD_STAGE_LISTED];
    int64_t entry[TD_STAGE_LISTED];
} td_stage_list;

typedef struct td_stage_job {
    const td_stage *stage;
    const td_run *run;
    const td_grounds *grounds;
    bool dump;
    td_at at;
    uint64_t steps[TD_WALK_NODES], batches;
    unsigned parts;
    bool only; /* one batch has all steps of every node */
} td_stage_job;

/* One batch: so many steps of every node, from a place on. */
typedef struct td_stage_batch {
    td_at at;
    td_node unit[TD_WALK_NODES]; /* as far as the run */
    size_t count;                /* of those before the run */
    uint64_t units;
    size_t variant;
} td_stage_batch;

static inline unsigned char *td_stage_place(const td_stage_job *j, td_at at)
{
    unsigned char *ground =
        j->grounds ? (unsigned char *)j->grounds->at[at.select] : td_ground_at(j->run->plan, j->run->bank, at.select);
    return ground + at.memory / 8;
}

/* All units of a batch, to their places or from them. The list is that of the batches before, or a new one. */
void td_stage_copy_units(const td_stage_job *job, const td_stage_batch *batch, bool to_memory, unsigned char *words,
                         td_stage_list *list);

#endif
