/* Runs the bit rows of a plan (plan/move.h). exec.c calls it where no move fits a box, or where a move cannot
 * convert. */
#ifndef TD_BIT_ROWS_H
#define TD_BIT_ROWS_H

#include "exec/exec.h"
#include "plan/move.h"

/* One box at one ground; `one_thread` keeps it on the calling thread. */
void td_rows_run(const td_rows *r, const td_run *run, bool dump, bool one_thread, unsigned char *ground, int64_t memory,
                 int64_t tensor);

#endif
