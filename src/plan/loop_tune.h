/* The order of a move's loops by the clock, for layouts that say tune=on. */
#ifndef TD_TUNE_H
#define TD_TUNE_H

#include "plan/move.h"

/* Tries other orders of the loops, and ordinary stores where streaming was chosen, and keeps what is fastest. Runs on pages of
 * its own, never on a tensor or a memory; changes nothing where there is no room for those. Takes from `left_ns` the
 * time that it needed, and stops when that is used up. The rows of runs are not taken yet (order.h). */
void td_tune_move(td_move *move, uint64_t *left_ns);

#endif
