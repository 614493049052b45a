/* The loops of one box in bytes, while choose.c and what it calls (choose_picks.c, choose_shuffle.c,
 * choose_fold.c) look for the kernel that takes some of them; what it leaves become the loops around it. */
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

struct td_kernels;

/* Gives the move a kernel that picks what is together in the destination out of short blocks of the source, and takes
 * its loops out of the nest. False where there is none: both are as they were. */
bool td_nest_picks(td_nest *n, const struct td_kernels *k, td_move *m);

/* Gives the move a list of shuffles for the loops that are closest in the destination, and takes them out of the nest.
 * `transposes`: a transpose could move it as well. False where no list is worth it: both are as they were. */
bool td_nest_shuffle(td_nest *n, bool transposes, unsigned cpu_flags, td_move *m);

/* The same by a list of places, where not even that helps: element by element, without loops around each. */
bool td_nest_places(td_nest *n, td_move *m);

/* The same through a scratch (fold.h), where that takes clearly less than `other` cycles for each element. */
bool td_nest_fold(td_nest *n, const struct td_kernels *k, double other, td_move *m);

/* choose.c: the longest loop whose step on one side is one element, n->count when there is none. */
size_t td_nest_unit(const td_nest *n, bool dst);

/* choose.c: the kernels for elements of so many bytes, or NULL; and whether lanes are few enough for an interleave. */
td_move_fn td_transpose_of(const td_move_kernels *k, uint64_t elem);
td_move_fn td_interleave_of(const td_move_kernels *k, uint64_t elem);
bool td_few_lanes(uint64_t lanes, uint64_t bytes, uint64_t most);

#endif
