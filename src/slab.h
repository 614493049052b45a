/* A plan in slabs: pieces of its data boxes that are small enough to stay in the cache, each taken out of memory into a
 * staging buffer in tensor order, or looked at in place where memory holds it so. What looks at elements (compare.c) sees
 * straight rows without a dumped copy of the tensor; the taking out is td_exec_dump on a small plan that stands for the
 * slab, never a second way to read memory. */
#ifndef TD_SLAB_H
#define TD_SLAB_H

#include "exec.h"

typedef struct td_slab {
    const td_plan *plan;
    const td_node *node; /* outermost first, tensor steps not negative and falling; copies (tensor step 0) in front */
    size_t node_count;
    uint64_t extent[TD_MAX_AXES + TD_MAX_RANK + 1]; /* of each node in this slab */
    int64_t tensor, memory, select;                 /* the place of step 0 of every node */
    uint64_t lanes;                                 /* elements per step: more than 1 where lanes are said in pieces */
    const td_piece *piece;                          /* of the plan; NULL without pieces */
    const size_t *lane_piece;                       /* the first piece of each lane, and one past the last */
    const unsigned char *stored; /* elements in the bytes of the memory's dtype: nodes outermost first, then lanes */
    uint64_t elems;
} td_slab;

/* A place in memory: the bits [lsb, msb] of a word. */
typedef struct td_place {
    uint64_t bank, address, lsb, msb;
} td_place;

/* Returns false to stop. */
typedef bool td_slab_visit(void *context, const td_slab *slab);

/* Every element of every data box, copies one by one. TD_NO_MEMORY for the staging buffer alone. `run->tensor` and
 * `run->convert` are not used: elements come as the memory holds them. */
td_status td_slabs_walk(const td_run *run, td_slab_visit *visit, void *context);

/* The row-major number of staged element `n`, and its place; of an element in several words the place of its low bits.
 */
uint64_t td_slab_elem(const td_slab *slab, uint64_t n);
td_place td_slab_place(const td_slab *slab, uint64_t n);

/* The number of trailing nodes whose elements follow each other in the tensor: rows of *row_elems straight elements. */
size_t td_slab_row_nodes(const td_slab *slab, uint64_t *row_elems);

/* A box step's place: `select` and `memory` as in plan.h. */
td_place td_plan_place(const td_plan *plan, int64_t select, int64_t memory, unsigned bits);

#endif
