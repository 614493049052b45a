/* The order of a move's loops. */
#ifndef TD_ORDER_H
#define TD_ORDER_H

#include "move.h"

/* Puts the loops in the order that is cheapest by estimate, outermost first. */
void td_order_loops(td_move *move);

#endif
