/* What copies.c and copy_links.c share: a part of a box whose copies lie the same way off, and what a link is made
 * for. */
#ifndef TD_COPY_LINKS_H
#define TD_COPY_LINKS_H

#include "layout/bind.h"
#include "plan/copies.h"

/* Copies that lie further apart than a first-level cache are compared block by block, so that each is read once. */
#define TD_COPY_BLOCK_BYTES ((uint64_t)16 << 10)
#define TD_COPY_FAR_BITS (8 * 2 * (int64_t)TD_COPY_BLOCK_BYTES)

/* A box that is being cut, with nodes of its own. */
typedef struct td_copy_region {
    td_box box;
    td_node node[TD_MAX_BOUND];
} td_copy_region;

typedef struct td_linking {
    const td_plan *plan;
    td_copies *copies;
    td_node copy; /* from each copy to the next, as the innermost loop; extent 1: it is one of the nodes */
} td_linking;

/* Adds the link over nodes that are folded and sorted to the copy `delta` away. Where a node is too long for a mask,
 * its rest is a link of its own. */
td_status td_link_add(const td_linking *l, const td_copy_region *r, int64_t delta_memory, int64_t delta_select);

#endif
