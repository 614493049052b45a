/* Single places of a plan: where an element lies, with every copy of it, and which elements lie at a bit. Both look
 * into the boxes that a load runs, so that an answer cannot differ from it. backdoor/ asks for tensors, over/ for the
 * bits of a memory in its arrays. Neither can fail. */
#ifndef TD_LOCATE_H
#define TD_LOCATE_H

#include "plan/plan.h"

/* Bits of an element that follow each other in one word. */
typedef struct td_located {
    uint64_t elem;
    uint64_t bank, word, bit; /* of the lowest of these bits */
    unsigned elem_bit;        /* which one of the element it is */
    unsigned bits;            /* how many */
} td_located;

/* Called for each place; false ends the search. */
typedef bool td_located_fn(void *context, const td_located *place);

/* Every place of an element. */
void td_plan_places(const td_plan *plan, uint64_t elem, td_located_fn *fn, void *context);

/* Every element that has a bit at this place, with its part in this word: one, or none, but for alias=last. */
void td_plan_elems(const td_plan *plan, uint64_t bank, uint64_t word, uint64_t bit, td_located_fn *fn, void *context);

#endif
