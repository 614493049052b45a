/* The order of a move's loops. */
#ifndef TD_ORDER_H
#define TD_ORDER_H

#include "plan/move.h"

/* Puts the loops in the order that is cheapest by estimate, outermost first. */
void td_order_loops(td_move *move);

/* Behind the order: the innermost loop of runs becomes the rows of their kernel, when it is a plain one. */
void td_order_take_rows(td_move *move);

#endif
