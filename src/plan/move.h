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

#include "kernels/gather.h"
#include "kernels/move.h"
#include "kernels/pack.h"
#include "kernels/pad.h"
#include "kernels/pick.h"
#include "kernels/shuffle.h"
#include "plan/fold.h"
#include "plan/plan.h"
#include "values/convert.h"

#define TD_MOVE_LOOPS 12

typedef enum td_move_kind {
    TD_MOVE_NONE, /* bit rows, or the plain walker */
    TD_MOVE_RUNS,
    TD_MOVE_TRANSPOSE,
    TD_MOVE_INTERLEAVE,
    TD_MOVE_DEINTERLEAVE,
    TD_MOVE_PICKS,   /* elements are picked from bytes of short blocks, and transposed */
    TD_MOVE_SHUFFLE, /* short blocks by a list; `wide` are its units */
    TD_MOVE_FOLD     /* short axes, through a scratch (fold.h); `wide` are its units */
} td_move_kind;

/* What a loop steps over: places, or blocks of the two axes of which the last may be shorter. */
typedef enum td_loop_of { TD_LOOP_PLAIN, TD_LOOP_HIGH, TD_LOOP_WIDE } td_loop_of;

typedef struct td_loop {
    uint64_t extent;
    int64_t dst, src; /* bytes per step */
    uint64_t block;   /* high or wide: so many of it per step */
    uint8_t of;       /* td_loop_of */
} td_loop;

/* A load that fills whole words (td_fill of plan.h) before it writes data into them: every step of loop `level`, or
 * the kernel's block where that is the number of loops, first fills the words that it is about to write. */
#define TD_FILL_LOOPS 4

typedef struct td_move_fill {
    const unsigned char *value, *keep; /* the plan's */
    size_t bytes;                      /* of the words of one vector */
    ptrdiff_t offset;                  /* of the move's first byte in its vector */
    uint8_t level, loops;
    td_loop loop[TD_FILL_LOOPS]; /* over vectors, one at least; `of` tells whose extent is that of the block */
    /* Moves that write whole words at once instead, where they do not convert. Runs: each with its word, by this
     * kernel. */
    td_pad_fn pad_runs; /* or NULL */
    td_pad_word word;
    ptrdiff_t dst_stride, src_stride; /* of the runs */
    /* Transposes: the rows of padding lie in a scratch beside copies of the others, and all of them are transposed. */
    td_move_fn rows_fn;             /* or NULL */
    uint64_t rows, first_row, cols; /* of the scratch; the first with data */
} td_move_fill;

#define TD_FILL_SCRATCH 16384

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
    ptrdiff_t dst_first, src_first;   /* from the places of the box to the first: loops that begin at their other end */
    ptrdiff_t dst_stride, src_stride; /* of the kernel */
    uint64_t high, wide;
    td_loop loop[TD_MOVE_LOOPS];
    uint64_t bytes;
    td_picks *picks;       /* their columns come in parts of `wide` */
    ptrdiff_t part_stride; /* in the destination */
    td_shuffle *shuffle;
    struct td_fold *fold;
    td_move_fill *fill; /* or NULL */
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

/* A box over a table or over banks whose steps are single runs of bytes: every step of `loop`, and inside all of them
 * the runs of `row`. */
#define TD_GATHER_LOOPS 16

typedef struct td_words_move {
    size_t bytes; /* of a run; 0: the box is none */
    bool far;     /* the places are more than the caches hold */
    uint8_t loops;
    bool splits;     /* threads may share the outermost loop, or the row: their steps write different bytes */
    td_gather_fn fn; /* NULL without a table */
    td_node loop[TD_GATHER_LOOPS], row;
} td_words_move;

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
