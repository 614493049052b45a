/* The passes of a compilation, in the order in which compile.c runs them: from a layout and a shape to a plan that
 * exec can run. Each comment says what the pass takes, what it gives, and what it refuses. Only compile.c runs them
 * all; show/view.c asks lanes.c and addresses.c for single places, and compare/slab.c has moves made for boxes of
 * its own. */
#ifndef TD_PASSES_H
#define TD_PASSES_H

#include "kernels/pack_words.h"
#include "layout/bind.h"
#include "plan/move.h"
#include "plan/plan.h"

/* -- 1. binding: td_bind (layout/bind.h) gives every axis its size, its strides in the tensor and its role -- */

/* -- 2. lanes.c: where the lanes of a vector lie -- */

/* Relative to the vector's first word. */
typedef struct td_lanes {
    uint64_t slot_bits;
    uint64_t part_bits;           /* of one beat */
    uint64_t cell_bits;           /* what a load may write from a lane's lowest bit on, the element included */
    uint64_t first_bit;           /* flat: where the stream begins in its first word; the option lsb elsewhere */
    bool by_strides;              /* every lane axis has a constant stride, in stride[]; else lanes come in pieces */
    int64_t base;                 /* bits, of lane 0 */
    int64_t stride[TD_MAX_BOUND]; /* bits per step, per bound axis */
} td_lanes;

/* Takes the options slot, lsb, lanes and beats. Gives `out`, and splits a lane axis of `bound` where beats cut it. A
 * flat layout is one vector whose strides count the bits of the stream; where the storage of words has gaps, `bound`
 * becomes one dimension of shorter vectors. Refuses a slot narrower than the element, beats that do not divide the
 * vector, and a lane past the word unless `truncate`. */
td_status td_lanes_place(td_bound *bound, const td_plan_request *request, td_lanes *out);

/* No pass: the bits of one lane as pieces, at most 64 of them; returns how many. `memory` is relative to the word. */
size_t td_lanes_pieces(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes, uint64_t lane,
                       td_piece *out);

/* No pass: whether some bits of a vector's words belong to no lane. */
bool td_lanes_leave_bits(const td_bound *bound, const td_plan_request *request);

/* -- 3. addresses.c: where the words lie -- */

/* A part of an axis of size n: step i of the axis is step i / unit % size of the digit. The slowest digit of an axis
 * may end early. */
typedef struct td_digit {
    uint64_t unit, size;
    int64_t address, bank; /* strides; 0 where it has entries */
    int64_t entry;         /* entries of the table per step */
} td_digit;

#define TD_MAX_DIGITS 32

/* A rectangle of the bound axes: what one box covers. */
typedef struct td_region {
    uint64_t beats; /* that its vectors reach into: the last beat written, plus one */
    uint64_t start[TD_MAX_BOUND];
    uint64_t extent[TD_MAX_BOUND];
} td_region;

/* A rectangle of words that has strides of its own. */
typedef struct td_words_piece {
    td_region at;
    int64_t address, bank; /* of step 0 of every axis, which may lie outside of it */
    int64_t address_stride[TD_MAX_BOUND], bank_stride[TD_MAX_BOUND];
} td_words_piece;

typedef struct td_words {
    bool by_strides; /* the axes have strides */
    bool by_digits;  /* their digits have strides, or entries of a table; else the plan has a table of all words */
    int64_t address, bank; /* of step 0; by digits with a table: above the place of the entry */
    int64_t address_stride[TD_MAX_BOUND];
    int64_t bank_stride[TD_MAX_BOUND];
    uint64_t number_stride[TD_MAX_BOUND]; /* of the linear number of a word over lane axes that have addresses (the
                                           * slowest), bank axes and word axes */
    uint64_t count;
    int64_t unit;                 /* what the address counts: 1, or with addr_unit=byte the bytes of a word */
    int64_t said;                 /* by_strides: the address of step 0 as the layout says it, in that unit */
    uint64_t lane_words;          /* of one step of those lane axes: all of them, where there are none */
    bool inside;                  /* by table: every word lies inside the memories, whether it is written or not */
    int64_t low, high, high_bank; /* by table: the least and the greatest */
    uint8_t first_digit[TD_MAX_BOUND], digits[TD_MAX_BOUND]; /* by digits: of every placed axis, slowest first */
    td_digit digit[TD_MAX_DIGITS];
    td_words_piece *piece; /* neither, but rectangles of them have: together they are all words; compile.c frees it */
    size_t piece_count;
} td_words;

/* No pass: the words as if all of them had the strides of one piece. */
td_words td_words_of_piece(const td_words *words, const td_words_piece *piece);

/* No pass: leaves of a region what lies in a piece; false where nothing does, and the region means nothing. */
bool td_region_cut(const td_bound *bound, const td_region *piece, td_region *region);

/* Takes the address and bank expressions. Gives their strides over the axes, where they are affine and words may be
 * written in any order; refuses beats past 2^62, and byte addresses that lie inside a word. */
td_status td_words_find(const td_bound *bound, uint64_t width_bits, bool any_order, td_words *out);

/* Where there are no strides: with `digits`, looks for what is regular about the places and gives words->by_digits,
 * with a small plan->table where some digits need one, or words->piece; or else gives plan->table, one entry per word.
 * Refuses more words than the memories have, and expressions that divide by 0. */
td_status td_words_table(const td_bound *bound, bool digits, td_words *words, td_plan *plan);

/* No pass: of `count` steps of an axis from `at` on, the most that are a rectangle of its digits: steps of one digit,
 * with all those below it. */
uint64_t td_digits_part(const td_words *words, int axis, uint64_t at, uint64_t count);

/* Where the boxes of a dense plan put the words: word number n at beats * n, in the order of the pattern. */
td_words td_words_dense(const td_bound *bound, const td_words *words);

/* A dense plan, once its words are checked: where they belong, from the strides or the table, into plan->place or
 * plan->place_table. Fails only with TD_NO_MEMORY. */
td_status td_words_keep(const td_bound *bound, const td_words *words, td_plan *plan);

/* No pass: where the stream of a flat layout begins in its first word, which a byte address moves. Refuses byte
 * addresses in words of other than whole bytes. */
td_status td_flat_first_bit(const td_bound *bound, uint64_t width_bits, uint64_t *out);

/* No pass: the place of word `number`. */
td_status td_words_at(const td_bound *bound, const td_words *words, uint64_t number, int64_t *address, int64_t *bank);

/* -- 4. boxes.c: rectangles that are all data or all padding -- */

/* The words that a load writes, told apart by their steps on the bank and word axes. */
typedef struct td_regions {
    td_region *region; /* the caller frees it */
    size_t count;
} td_regions;

/* Takes the places of lanes and words. Gives plan->data, pads and words with their nodes and pieces, plan->fill where
 * words can be filled, and the regions of the words. Refuses a tensor that ragged dimensions cut into more than 2^16
 * boxes. */
td_status td_boxes_make(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes,
                        const td_words *words, td_plan *plan, td_regions *regions);

/* -- 5. check_words.c: the refusals -- */

/* Refuses a word outside its memory, and two words in one place unless alias=last. */
td_status td_words_check(const td_bound *bound, const td_words *words, td_plan *plan, const td_regions *written);

/* -- 5b. table_lines.c: how a table moves words within lines -- */

/* Gives plan->table.lines where most words of a line stay together. Fails only with TD_NO_MEMORY. */
td_status td_table_find_lines(td_plan *plan);

/* -- 6. lanes.c again: the bits that a load clears -- */

/* Gives plan->lane_mask, unless fill=keep or the lanes own every bit. */
td_status td_lanes_mask(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes, td_plan *plan);

/* -- 6b. fills.c: the words that a load fills before it writes data into them -- */

/* Gives plan->fill_value and fill_keep, and leaves of plan->fill the words of which some bits are no data. Fails only
 * with TD_NO_MEMORY. */
td_status td_fills_find(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes, td_plan *plan);

/* -- 7. copies.c: places that hold the same element -- */

/* Gives plan->copies, or plan->slides where copies have no form that it knows. Fails only with TD_NO_MEMORY. The moves
 * of the plan of a dump are made later. */
td_status td_copies_find(const td_bound *bound, const td_lanes *lanes, const td_words *words, td_plan *plan);

/* -- 8. optimise.c: fewer and longer loops -- */

/* Rewrites the nodes of every box in place: units dropped, steps made forward, sorted, neighbours folded. */
void td_boxes_fold(td_plan *plan);

/* No pass: for nodes whose order must stay, units dropped and neighbours folded; gives how many are left. */
size_t td_nodes_fold(td_node *node, size_t count);

/* No pass: everything for one box. */
void td_box_fold(td_node *all, td_box *box, bool in_order);

/* The kernels of this machine, for the passes that choose among them; compile.c fills them. */
typedef struct td_kernels {
    unsigned cpu_flags;
    td_move_kernels move;
    td_pack_kernels pack;
    td_pad_kernels pad;
    td_gather_kernels gather;
    td_pack_words_kernels pack_words;
} td_kernels;

/* -- 9. choose.c: from boxes to moves -- */

/* Gives plan->move: for every data box, once for a load and once for a dump, the kernel and the blocks that it gets, or
 * TD_MOVE_NONE where none fits. Fails only with TD_NO_MEMORY. */
td_status td_moves_choose(td_plan *plan, const td_kernels *kernels);

/* No pass: stream.c, whether the stores of a move that has its kind, bytes and lines go past the caches. The first
 * large one times this machine, for a few milliseconds, unless it is tuned. */
bool td_stream_move(const td_move *move, uint64_t part_of_bytes);

/* -- 10. loop_order.c and loop_tune.c: the order of a move's loops -- */

/* By estimate, outermost first. */
void td_loops_order(td_plan *plan);

/* By the clock, only for layouts that say tune=on: other orders of the loops, and ordinary stores where streaming was
 * chosen. Runs the moves on pages of its own, never on a tensor or a memory, for a second per direction at most;
 * changes nothing where those pages cannot be had. */
void td_loops_tune(td_plan *plan);

/* -- 11. choose.c again: what depends on the order -- */

/* Gives the rows of contiguous runs to their kernel, the strides of the wider side, and the loop that threads share. */
void td_moves_finish(td_plan *plan);

/* No pass: the innermost loop of runs becomes the rows of their kernel, when it is a plain one. */
void td_move_take_rows(td_move *move);

/* The loop that threads share: one of the first `loops`. */
void td_move_choose_split(td_move *move, uint8_t loops, bool splits);

/* -- 12. choose_gather.c: words over a table or over banks -- */

/* Gives plan->gather, for boxes with selectors whose move is single runs. Fails only with TD_NO_MEMORY. */
td_status td_gathers_choose(td_plan *plan, const td_kernels *kernels);

/* -- 12b. fills.c again: moves that fill their words themselves -- */

/* Gives td_move.fill of loads, and td_fill.moved; may cut and reorder loops, so that what is filled is still in the
 * first-level cache when the data comes. Fails only with TD_NO_MEMORY. */
td_status td_fills_attach(td_plan *plan, const td_kernels *kernels);

/* -- 13. choose_rows.c: bit rows, for what no move serves -- */

/* Gives plan->rows and plan->pad_rows; way TD_ROWS_NONE for boxes in pieces or with too many loops. Fails only with
 * TD_NO_MEMORY. */
td_status td_rows_choose(td_plan *plan, const td_kernels *kernels);

/* -- 14. choose_stage.c: batches, for what bit rows and converting moves are slow at -- */

/* Gives plan->stage, td_fill.staged and plan->covered, and takes td_fill.moved back where a box is staged. Fails only
 * with TD_NO_MEMORY. */
td_status td_stages_choose(td_plan *plan, const td_kernels *kernels);

/* stage.c, for choose_stage.c alone: the stage of a box; *out is NULL where it has no units. `tight` and `clears` are
 * those of a draft (stage.h). Fails only with TD_NO_MEMORY. */
td_status td_stage_make(const td_plan *plan, const td_box *box, const td_kernels *kernels, bool tight, bool clears,
                        struct td_stage **out);

/* -- 14b. fills.c once more: fills that are one run -- */

/* Where all words that a load fills are every word from one to another, those that a table has in another order are
 * filled as one run. */
void td_fills_join(td_plan *plan);

/* -- 15. path.c: which way that is, for the counters -- */

/* Gives plan->path_use. */
void td_path_find(td_plan *plan);

/* The path of one data box, and the bytes of its elements; exec names the steps of the profile by it. */
td_path td_path_of(const td_plan *plan, size_t b, bool dump, bool converts);
uint64_t td_path_bytes(const td_plan *plan, size_t b);

#endif
