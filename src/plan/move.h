/* Moves and bit rows: the data boxes of a plan, ready to run. compile.c has two moves made of each box, one per
 * direction, with the kernel, the blocks and the order of the loops, and bit rows beside them; exec runs the move
 * where there is one and the rows where there is none, and walks boxes in pieces itself. Nothing here fails at run
 * time.
 *
 * A move is a nest of loops around a block, all in bytes. In a block `high` runs along the axis that is contiguous in
 * the destination and `wide` along the one that is contiguous in the source; where those are one axis the block is a
 * list of `high` runs of `wide` bytes. Values may be converted on the way: the kernel moves elements of the narrower
 * type, and a block that fits in the first cache is converted before or after it. The strides are those of each
 * side's own type.
 *
 * A bit row runs along the axis that is closest in memory. Its elements are gathered into a small buffer where the
 * tensor has them apart, converted there if they have to be, and packed; a dump goes the other way. */
#ifndef TD_MOVE_H
#define TD_MOVE_H

#include "kernels/move.h"
#include "kernels/pack.h"
#include "kernels/pick.h"
#include "plan/plan.h"
#include "values/convert.h"

#define TD_MOVE_LOOPS 12

typedef enum td_move_kind {
    TD_MOVE_NONE, /* bit rows, or the plain walker */
    TD_MOVE_RUNS,
    TD_MOVE_TRANSPOSE,
    TD_MOVE_INTERLEAVE,
    TD_MOVE_DEINTERLEAVE,
    TD_MOVE_PICKS /* elements are picked from bytes of short blocks, and transposed */
} td_move_kind;

/* What a loop steps over: places, or blocks of the two axes of which the last may be shorter. */
typedef enum td_loop_of { TD_LOOP_PLAIN, TD_LOOP_HIGH, TD_LOOP_WIDE } td_loop_of;

typedef struct td_loop {
    uint64_t extent;
    int64_t dst, src; /* bytes per step */
    uint64_t block;   /* high or wide: so many of it per step */
    uint8_t of;       /* td_loop_of */
} td_loop;

typedef struct td_move {
    uint8_t kind;       /* td_move_kind */
    uint8_t elem_bytes; /* of the kernel: neighbours that stay together are one element */
    bool stream;        /* large */
    bool lines;         /* every store is a whole line, if the destination begins on one */
    bool tuned;         /* its order was timed */
    bool splits;        /* threads may share it: their steps write different bytes */
    uint8_t loops, split;
    uint8_t dst_scale, src_scale; /* bytes of each side for a byte of the kernel: one of them is 1 */
    bool tensor_first;            /* a load: the source is the tensor */
    td_move_fn fn;
    ptrdiff_t dst_stride, src_stride; /* of the kernel */
    uint64_t high, wide;
    td_loop loop[TD_MOVE_LOOPS];
    uint64_t bytes;
    td_picks *picks;       /* their columns come in parts of `wide` */
    ptrdiff_t part_stride; /* in the destination */
} td_move;

#define TD_ROWS_LOOPS 12
#define TD_ROWS_ELEMS 512 /* gathered or converted at a time */

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
    int8_t split; /* what threads share: a loop by its number, or one of the two below; negative: nothing */
    td_move_fn transpose, copy; /* of the tensor's containers */
    td_pack_fn pack;            /* of the memory's elements */
    td_unpack_fn unpack;
    td_put_fn put;
    td_get_fn get;
} td_rows;

/* Running moves: exec/run_move.c and exec/run_convert.c. Declared here because loop_tune.c times moves. */

/* One box between two places; `one_thread` keeps it on the calling thread. With `values` they are converted. */
typedef struct td_move_values {
    const td_convert *convert;
    const unsigned char *tensor; /* its first element */
} td_move_values;

void td_move_run(const td_move *move, const td_move_values *values, bool one_thread, unsigned char *dst,
                 const unsigned char *src);

/* Whether a move can do this conversion: where the number of an element matters, the tensor's side has to be the one
 * converted. */
bool td_move_converts(const td_move *move, const td_convert *convert);

/* For run_convert.c: what a move does inside all its loops, with strides of its own, and the same with a conversion. */
void td_move_block(const td_move *move, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                   const unsigned char *src, ptrdiff_t src_stride, uint64_t high, uint64_t wide, bool stream);
void td_move_convert_block(const td_move *move, const td_move_values *values, unsigned char *dst,
                           const unsigned char *src, uint64_t high, uint64_t wide, bool stream);

#endif
