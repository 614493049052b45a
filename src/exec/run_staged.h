/* Runs the stages of a plan (plan/stage.h). exec.c calls it for the data boxes that have one. */
#ifndef TD_RUN_STAGED_H
#define TD_RUN_STAGED_H

#include "exec/exec.h"
#include "plan/stage.h"

/* One box, its grounds among it, over threads where that pays. */
void td_stage_run(const td_stage *stage, const td_run *run, const td_box *box, bool dump);

#endif
