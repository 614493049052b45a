/* The loops of one box in bytes, while choose.c and choose_shuffle.c look for the kernel that takes some of them; what
 * it leaves become the loops around it. */
#ifndef TD_NEST_H
#define TD_NEST_H

#include "plan/move.h"

typedef struct td_nest {
    td_loop loop[TD_MOVE_LOOPS + 2];
    size_t count;
    uint64_t elem; /* bytes that stay together */
} td_nest;

static inline void td_nest_drop(td_nest *n, size_t at)
{
    n->count--;
    for (size_t i = at; i < n->count; i++)
        n->loop[i] = n->loop[i + 1];
}

/* Gives the move a list of shuffles for the loops that are closest in the destination, and takes them out of the nest.
 * `transposes`: a transpose could move it as well. False where no list is worth it: both are as they were. */
bool td_nest_shuffle(td_nest *n, bool transposes, unsigned cpu_flags, td_move *m);

/* The same by a list of places, where not even that helps: element by element, without loops around each. */
bool td_nest_places(td_nest *n, td_move *m);

#endif
