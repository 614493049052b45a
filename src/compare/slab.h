/* A plan in slabs: parts of its data boxes that are small enough to stay in the first-level cache. A slab is seen in
 * place where memory holds its rows contiguous or merely transposed, and taken out into a small buffer where it does
 * not. So accept.c and judging.c see contiguous rows without a dumped copy of the tensor; taking out is td_exec_dump on
 * a small plan that stands for the slab, never a second way to read memory.
 *
 * A box is cut into parts in which every slab has the same form, so that the small plan is made once per part, by the
 * caller; after that threads may take slabs as they like. */
#ifndef TD_SLAB_H
#define TD_SLAB_H

#include "exec/exec.h"

#define TD_SLAB_NODES TD_WALK_NODES
#define TD_SLAB_BYTES ((size_t)32 << 10) /* of the buffer that a slab is taken out into: the most of slab_bytes */

/* Where the elements of a slab are read. */
typedef enum td_slab_way {
    TD_SLAB_TAKEN,      /* in a buffer */
    TD_SLAB_ROWS,       /* in place: what is contiguous in the tensor is contiguous in memory */
    TD_SLAB_TRANSPOSED, /* in place: the last node is contiguous in the tensor, another one in memory */
} td_slab_way;

typedef struct td_slabs {
    const td_plan *plan;
    unsigned char *const *bank;
    td_slab_way way;
    td_node node[TD_SLAB_NODES]; /* outermost first */
    size_t node_count;
    uint64_t extent[TD_SLAB_NODES]; /* of each node in a slab */
    uint64_t steps[TD_SLAB_NODES];  /* slabs along each node */
    size_t order[TD_SLAB_NODES];    /* the nodes as slabs are numbered, fastest first */
    int64_t tensor, memory, select; /* the place of slab 0 */
    uint64_t lanes;                 /* elements per step: more than 1 where lanes are lists of pieces */
    const td_piece *piece;          /* of the plan; NULL without pieces */
    size_t *lane_piece;             /* the first piece of each lane, and one past the last */
    bool lane_rows;                 /* lanes are contiguous in the tensor, or there is one */
    int64_t lane_tensor;            /* the first lane's element, from that of the step */
    uint64_t elems;                 /* of a slab */
    uint64_t count;                 /* of slabs */
    size_t unit;                    /* TRANSPOSED: the node that is contiguous in memory */
    td_node
        /* TRANSPOSED: the loops around a block of `unit` and the last node, memory in bytes. */
        block_loop[TD_SLAB_NODES];
    size_t block_loops;

    /* For rows, in place or taken out. */
    int64_t stride[TD_SLAB_NODES]; /* bytes between the stored elements of a node's steps */
    size_t row_nodes;              /* trailing nodes that are contiguous in the tensor and in what is stored */
    uint64_t row_elems;
    size_t panel;                      /* the longest of the nodes before them: its rows are looked at together */
    td_node panel_loop[TD_SLAB_NODES]; /* the loops around a panel, memory in bytes of what is stored */
    size_t panel_loops;

    /* For slabs that are taken out; made by td_slabs_take_out. */
    bool has_small;
    unsigned char *own_buffer; /* where a slab is longer than TD_SLAB_BYTES; then one thread at a time */
    td_plan small;
    td_node small_node[TD_SLAB_NODES];
    td_box small_box;
    td_piece *small_piece;
    size_t run_bytes,
        run_nodes;   /* what a slab touches: runs, and the loops around them; no runs where that is not known */
    int64_t run_bit; /* the lowest */
    td_node run_node[TD_SLAB_NODES];
} td_slabs;

typedef struct td_slab {
    const td_slabs *of;
    int64_t tensor, memory, select; /* the place of step 0 of every node */
    const unsigned char *stored;    /* its first element, in the bytes of the memory's dtype */
} td_slab;

/* Returns false to stop. */
typedef bool td_slabs_visit(void *context, td_slabs *slabs);

/* What the visitor can compare in place. */
typedef struct td_slab_wish {
    unsigned tensor_bytes; /* of the golden element */
    uint64_t row_elems;    /* rows from this length on; shorter ones come in the tensor's order */
    bool transposed;
} td_slab_wish;

/* Every element of every data box, copies one by one. Fails only with TD_NO_MEMORY. `run->tensor` and `run->convert`
 * are not used: elements come as the memory holds them. */
td_status td_slabs_walk(const td_run *run, const td_slab_wish *wish, td_slabs_visit *visit, void *context);

/* The same for elements that lie contiguous at *data, as a tensor's; they have no places. */
void td_slabs_of_tensor(unsigned char *const *data, unsigned elem_bytes, uint64_t elems, td_slabs_visit *visit,
                        void *context);

/* Before transposed slabs are taken. Fails only with TD_NO_MEMORY. */
td_status td_slabs_take_out(td_slabs *slabs);

/* For slab_cut.c: slabs that are seen in place, as rows or as transposed blocks, and the end of a part. */
void td_slabs_see_rows(td_slabs *slabs);
void td_slabs_see_blocks(td_slabs *slabs);
void td_slabs_free(td_slabs *slabs);

/* The state for taking slabs out; each thread has its own. */
typedef struct td_slab_taker {
    const td_slabs *slabs;
    td_plan plan; /* the small one, with a box of its own */
    td_box box;
} td_slab_taker;

void td_slab_taker_init(const td_slabs *slabs, td_slab_taker *out);

/* Where slab `number` lies; its elements too, if they can be read in place. */
void td_slab_find(const td_slabs *slabs, uint64_t number, td_slab *out);

/* Makes the slab readable as rows: takes it out into TD_SLAB_BYTES at `buffer` unless it is read in place. Allocates
 * nothing. */
void td_slab_take(td_slab_taker *taker, unsigned char *buffer, td_slab *slab);

/* Prefetches the lines of memory that a slab will be taken out of. */
void td_slab_prefetch(const td_slab *slab);

/* Of element `n` of a slab, nodes outermost first, then lanes: its row-major number in the tensor, where it is stored,
 * and its place; of an element in several words the place of its low bits. */
uint64_t td_slab_elem(const td_slab *slab, uint64_t n);
const unsigned char *td_slab_stored(const td_slab *slab, uint64_t n);
td_place td_slab_place(const td_slab *slab, uint64_t n);

#endif
