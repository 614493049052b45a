/* Rows: the data boxes of a plan that bits are packed for. prepare.c makes them beside the moves; exec.c calls them where
 * no move fits. A row runs along the axis that is closest in memory. Its elements are gathered into a small buffer where
 * the tensor has them apart, converted there if they have to be, and placed; a dump goes the other way. */
#ifndef TD_ROWS_H
#define TD_ROWS_H

#include "exec/exec.h"
#include "kernels/move.h"
#include "kernels/pack.h"

#define TD_ROWS_LOOPS 12

typedef enum td_rows_way {
    TD_ROWS_NONE,   /* exec walks the box by itself */
    TD_ROWS_PACKED, /* elements without gaps, from any bit */
    TD_ROWS_CELLS,  /* elements in whole bytes that are theirs */
    TD_ROWS_LOOSE   /* one by one */
} td_rows_way;

/* Blocks of the axes that are no loop, for td_rows.split. */
#define TD_ROWS_SPLIT_ACROSS TD_ROWS_LOOPS
#define TD_ROWS_SPLIT_ROW (TD_ROWS_LOOPS + 1)

typedef struct td_rows {
    uint8_t way;        /* td_rows_way */
    uint8_t elem_bytes; /* of a container in the tensor */
    uint8_t loops;      /* around the row and `across`, outermost first */
    bool gathers;       /* the row's elements are apart in the tensor */
    td_node row;
    td_node across; /* neighbours in the tensor that lie in other rows, or short rows; extent 1 when there are none */
    td_node loop[TD_ROWS_LOOPS];
    int8_t split; /* what threads share: a loop by its number, or one of the two below; none is negative */
    td_move_fn transpose, copy; /* of the tensor's containers */
    td_pack_fn pack;            /* of the memory's */
    td_unpack_fn unpack;
    td_put_fn put;
    td_get_fn get;
} td_rows;

/* The rows of one box; way NONE when it has pieces or too many loops. Those of a pad stay on one element, which has the
 * memory's dtype. */
void td_rows_prepare(const td_plan *plan, const td_box *box, bool pad, td_rows *r);

/* One box at one ground; `alone` keeps it on this thread. */
void td_rows_run(const td_rows *r, const td_run *run, bool dump, bool alone, unsigned char *ground, int64_t memory,
                 int64_t tensor);

#endif
