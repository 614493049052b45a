/* Words by table and by bank (gather.c). exec.c alone calls it, with what plan/choose_gather.c has chosen. */
#ifndef TD_GATHER_RUN_H
#define TD_GATHER_RUN_H

#include "exec/exec.h"
#include "plan/move.h"

/* One box, from the place of its step 0. */
void td_gather_run(const td_run *run, const td_words_move *move, bool dump, td_at at);

#endif
