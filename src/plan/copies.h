/* The copies of a plan: which places in memory hold the same element, and boxes that name every element once. copies.c
 * finds them for layouts that repeat, or whose windows overlap; exec/verify.c holds the copies against each other
 * before a dump, and a dump reads the boxes. Nothing here is about values: copies agree where their bits do.
 *
 * A link is a nest of loops whose every step names some bits, and the same bits `delta` away: links form chains, so
 * that all copies of an element are held against each other by as many links as there are axes that copy. The innermost
 * loops have become a window: a run of whole bytes, or of bits under a mask. */
#ifndef TD_COPIES_H
#define TD_COPIES_H

#include "plan/plan.h"

typedef struct td_link {
    td_node *node; /* outermost first; `tensor` is not used */
    size_t node_count;
    int64_t memory, select;             /* of the first step; of a mask, its bit 0 */
    int64_t delta_memory, delta_select; /* from a place to its copy */
    uint64_t rows;                      /* steps of `stride` bytes that are compared together: inside the nodes */
    int64_t stride;
    size_t bytes;        /* of the window */
    unsigned char *mask; /* NULL: every bit of the window counts */
    bool shifts;         /* places are not always at the same bit of a byte */
} td_link;

typedef struct td_copies {
    td_link *link;
    size_t link_count;
    td_plan once; /* the plan of a dump: every element in one of its places */
} td_copies;

void td_copies_free(td_copies *copies);

#endif
