/* Moves: the data boxes of a plan, made ready to run. prepare.c makes two of each box when a plan is made, one per
 * direction, and chooses the kernel, the blocks and the order of the loops; move.c runs them. exec.c calls them for the
 * boxes that have one and walks the others itself. Nothing here fails at run time.
 *
 * Values may be converted on the way (move_convert.c): the kernel moves elements of the narrower type, and a block that
 * fits in the first cache is converted before or after it. The strides are those of each side's own type.
 *
 * A move is a nest of loops around a block, all in bytes. In a block `high` runs along the axis that is straight in the
 * destination and `wide` along the one that is straight in the source; where those are one axis the block is a list of
 * `high` runs of `wide` bytes. */
#ifndef TD_MOVE_H
#define TD_MOVE_H

#include "base/text.h"
#include "kernels/move.h"
#include "kernels/pick.h"
#include "plan/plan.h"
#include "values/convert.h"

#define TD_MOVE_LOOPS 12

typedef enum td_move_kind {
    TD_MOVE_NONE, /* exec walks the box by itself */
    TD_MOVE_RUNS,
    TD_MOVE_TRANSPOSE,
    TD_MOVE_INTERLEAVE,
    TD_MOVE_DEINTERLEAVE,
    TD_MOVE_PICKS /* elements are put together from bytes of short blocks, and transposed */
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
    bool lines;         /* whole lines, if the destination itself is on one */
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

/* The moves of every data box, load and dump in turn: 2 * data_count in plan->move. Fails on TD_NO_MEMORY alone. */
td_status td_moves_create(td_plan *plan);
void td_moves_free(td_plan *plan);

/* One box between two places; `alone` keeps it on this thread. With `values` they are converted. */
typedef struct td_move_values {
    const td_convert *convert;
    const unsigned char *tensor; /* its first element */
} td_move_values;

void td_move_run(const td_move *move, const td_move_values *values, bool alone, unsigned char *dst,
                 const unsigned char *src);

/* Whether a move can convert so: where an element's number matters, it has to be the tensor's side that is converted. */
bool td_move_converts(const td_move *move, const td_convert *convert);

/* For move_convert.c: what a move does inside all its loops, with strides of its own, and the same with a conversion. */
void td_move_block(const td_move *move, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                   const unsigned char *src, ptrdiff_t src_stride, uint64_t high, uint64_t wide, bool stream);
void td_move_convert_block(const td_move *move, const td_move_values *values, unsigned char *dst,
                           const unsigned char *src, uint64_t high, uint64_t wide, bool stream);

/* "transpose_x32 32x2048 around 64 8" */
void td_move_describe(const td_move *move, td_text *out);

#endif
