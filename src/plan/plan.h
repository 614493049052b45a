/* The plan: a layout compiled for one shape, one pair of dtypes and one memory geometry. Made by compile.c, kept by
 * cache.c, run by exec; load, dump and compare share it. Immutable once made.
 *
 * A plan is a list of boxes. A box is a rectangle of elements that all exist (data) or that are all padding (pads),
 * so nothing is tested per element. It is a flat nest of loops, outermost first; step i of a node moves the place by
 * i * stride on both sides. A place in memory is a bit: word * (8 * word_bytes) + bit in the word.
 *
 * Selector nodes (box.selectors of them, outermost) choose the ground that the bits count from: entry sum(i * select)
 * of the table when the plan has one, bank sum(i * select) otherwise. */
#ifndef TD_PLAN_H
#define TD_PLAN_H

#include "layout/layout.h"
#include "values/dtype.h"

#include <stdatomic.h>

typedef struct td_geometry {
    uint64_t width_bits;
    uint64_t depth_words;
    uint64_t banks;
    size_t word_bytes;
} td_geometry;

typedef struct td_node {
    uint64_t extent;
    int64_t tensor; /* elements per step */
    int64_t memory; /* bits per step */
    int64_t select; /* table entries, or banks, per step */
    uint64_t start; /* where the box begins on this axis; kept for plans that run in order */
} td_node;

/* The part of an element that lies in one word. Only where a lane has no stride: it straddles two beats, or the word
 * ends inside it. */
typedef struct td_piece {
    int64_t tensor;   /* elements from the box's place */
    int64_t memory;   /* bits from the box's place */
    uint8_t elem_bit; /* the lowest bit of the element that lies here */
    uint8_t bits;
} td_piece;

typedef struct td_box {
    size_t first_node, node_count, selectors; /* into td_plan.node */
    size_t first_piece, piece_count;          /* into td_plan.piece; without pieces every step is a whole element */
    int64_t tensor, memory, select;           /* the place at step 0 of every node */
    uint64_t beat, beats;                     /* word boxes: the words of each vector, [beat, beat + beats) */
} td_box;

/* Words that a load fills before it writes their data, because some of their bits are no data: padding, or outside of
 * all lanes. They become plan.fill_value with the bits of plan.fill_keep as they were. Where the move of a data box
 * fills them as it goes (move.h), block by block in the first-level cache, `moved` says so; the others are filled
 * before all data. */
typedef struct td_fill {
    td_box box;  /* one step per vector, as in td_plan.words */
    size_t data; /* the first data box that writes into these words, or TD_NO_BOX: all of them are padding */
    bool pads;   /* some lanes of theirs are padding */
    bool apart;  /* data boxes that begin in other words write into none of these */
    bool alone;  /* one data box writes into them, and no other */
    bool moved;
    bool staged; /* the stage of that box writes whole words, zero where no data is */
} td_fill;
#define TD_NO_BOX SIZE_MAX

#define TD_MAX_BANKS ((uint64_t)1 << 15)

/* Places of words, as narrow as the memories allow: the bank above, the word below. Entries of words that are never
 * written mean nothing, and no box reaches them. */
typedef struct td_table {
    void *entry; /* NULL: there is none */
    uint64_t count;
    uint8_t entry_bytes; /* 2, 4 or 8 */
    uint8_t bank_shift;
    struct td_lines *lines; /* how it moves words within lines (kernels/gather.h), or NULL */
} td_table;

static inline uint64_t td_table_get(const td_table *table, uint64_t i)
{
    return table->entry_bytes == 2   ? ((const uint16_t *)table->entry)[i]
           : table->entry_bytes == 4 ? ((const uint32_t *)table->entry)[i]
                                     : ((const uint64_t *)table->entry)[i];
}

static inline uint64_t td_table_word(const td_table *table, uint64_t entry)
{
    return entry & ~(~(uint64_t)0 << table->bank_shift);
}

struct td_gather;

typedef struct td_plan {
    atomic_int users;
    td_geometry geometry;
    td_dtype tensor_dtype, memory_dtype;
    uint64_t beats;
    bool in_order;        /* alias=last: words are written one by one, in order of their number */
    struct td_plan *last; /* alias=last: what a load runs instead, the words that no later one overwrites; or NULL */
    bool repeats;         /* some node has tensor stride 0 and more than one step: copies */
    bool slides;          /* elements have copies, and `copies` could not be found */
    bool windows;         /* some dimension has windows: elements may have copies, or be left out */
    bool skewed;    /* lanes have addresses of their own: a word that several vectors write is in `words` as often */
    bool tune;      /* the order of loops is timed */
    bool permutes;  /* it is a step of a stage, and has none of its own: one that no move takes would nest for ever */
    bool truncates; /* pieces leave out bits of some elements: what a dump reads there is zero */
    uint64_t pad_bits;
    uint64_t part_of_bytes, load_of_bytes; /* of the request */
    uint64_t cell_bits;                    /* what a load may write from a lane's lowest bit on, the element included */

    td_node *node;
    td_piece *piece;
    td_box *data, *pads, *words; /* words: one step per vector of which words are written */
    size_t node_count, piece_count, data_count, pads_count, words_count;

    struct td_move *move;            /* of the data boxes: load and dump in turn (move.h) */
    struct td_rows *rows, *pad_rows; /* of the data boxes and of the pads (move.h) */
    struct td_words_move *gather;    /* of the data boxes: load and dump in turn; NULL where none has selectors */
    struct td_stage **stage;         /* of the data boxes: load and dump in turn (stage.h); NULL where none is staged */
    bool covered; /* a load writes every bit of its words by stages, so that none is cleared before */

    struct td_copies *copies; /* of the data boxes (copies.h); NULL: no element has any, or `slides` */

    td_table table;

    unsigned char *lane_mask; /* beats words: the bits that belong to lanes; NULL when a load keeps the other bits */
    uint64_t elems;           /* of the tensor */

    /* Instead of pads, words and lane_mask, where fills_pads says so: what a load does before the data. */
    bool fills_pads;
    bool fills_disjoint; /* no word is in two fills */
    td_fill *fill;
    size_t fill_count;
    unsigned char *fill_value; /* beats words: the padding in every lane */
    unsigned char *fill_keep;  /* beats words, or NULL: a word keeps nothing */
    void (*fill_scatter)(
        const struct td_gather *); /* of words by table that keep nothing, or NULL (kernels/gather.h) */

    /* Of a load and a dump, without and with a conversion: the paths that the data boxes take, as a set of
     * 1 << td_path,
     * and the bytes of the tensor that take each. */
    struct td_path_use {
        uint64_t set, bytes[TD_PATHS];
    } path_use[2][2];

    /* request.dense: where the words of the staging buffer belong, in its order: `beats` words for every step of the
     * nodes (outermost first, bits in `memory`), or for every entry of the table. */
    td_node *place;
    size_t place_count;
    uint64_t first_place; /* the word of step 0 */
    uint64_t dense_words; /* of the staging buffer */
    td_table place_table;
} td_plan;

/* What a plan is compiled from; the key of the cache. */
typedef struct td_plan_request {
    const td_layout *layout;
    const td_shape *shape;
    td_dtype tensor_dtype, memory_dtype;
    td_geometry geometry;
    bool truncate; /* the matrix operations: lanes past the word are cut off instead of refused */
    /* For words that are staged: the boxes put word number n (times beats) at word n of a staging buffer, and the
     * plan says apart from them where each belongs in the memory. Addresses are checked as always. Only for layouts
     * of one bank that write every word once: no bank expression, tail=clip or alias=last. */
    bool dense;
    /* A dump of this plan is a part of one that writes so many bytes, which decides whether it stores past the caches;
     * 0: it is all of it. The second is the same for a load. */
    uint64_t part_of_bytes, load_of_bytes;
    /* The rows of the tensor's first dimension begin so many elements apart; 0: one after another. Not for plans of the
     * cache. */
    uint64_t pitch;
    /* compile.c alone: the part of a layout with alias=last that td_plan.last is. */
    bool last;
} td_plan_request;

/* Compiles and checks; every refusal of a layout comes from here or from bind.c. */
td_status td_plan_create(const td_plan_request *request, td_plan **out);

/* Counted references (cache.c): a plan in the cache may be dropped while a call still runs it. */
void td_plan_hold(td_plan *plan);
void td_plan_release(td_plan **plan);

/* The plan in one line: boxes as [steps:elements:bits] per loop (@[steps:elements:entries] over a table, #[..] over
 * banks), then the path of each box in both directions, as in "move [64:1:32] [32:64:8]; load transpose_x8_avx2
 * (64x32); dump transpose_x8_avx2 (32x64)"; free with td_free. */
td_status td_plan_describe(const td_plan *plan, char **text);

/* Only the paths: "transpose_x8_avx2", "2 x converted contiguous of 64 bytes + walk". Their words:
 *
 *   contiguous .. of N bytes   runs of N bytes that are contiguous on both sides
 *   transpose interleave deinterleave pick    the kernel, with the bits of its element
 *   shuffle                    short blocks by a list of byte shuffles, with the bits of its vectors
 *   two steps of shuffle       by two such lists, where a unit has few bytes in a long stretch of the source
 *   places of N bytes          the same by a list of places, element by element
 *   folded ..                  several short axes through a scratch, as one transpose or interleave
 *   packed cells loose         bit rows: without gaps, in whole bytes, one by one
 *   gather of N bytes          one run per entry of the table, or per bank
 *   padded ..                  whole words are filled first, a block at a time: padding, bits outside of lanes; or, in
 *                              pad_runs and short transposes, together with their data
 *   staged N-bit               batches of words, packed in a scratch (copied, where elements are bytes) and placed
 *                              whole
 *   converted ..               the two dtypes differ, so values are converted on the way
 *   walk                       the plain walker, element by element */
td_status td_plan_paths(const td_plan *plan, bool dump, char **text);

/* Whether words of so many bytes, on their way between memories over others and their arrays, are more than the caches
 * hold (stream.c); td_stream_cuts_go_past says what follows of that. */
bool td_stream_cuts(uint64_t bytes);

/* Moves and bit rows (move.h) for a plan that has its boxes, as comparisons make them. Fails only with TD_NO_MEMORY. */
td_status td_moves_create(td_plan *plan);
void td_moves_free(td_plan *plan);

#endif
