/* The boxes of an organisation that a run of words has, cut out of those of all words and ready to move. organisation.c
 * keeps the last few. */
#ifndef TD_OVER_PARTS_H
#define TD_OVER_PARTS_H

#include "plan/plan.h"

#define TD_ALL_COPIES UINT64_MAX

/* Boxes whose strides are whole bytes are a plan of bytes, which moves as any other; the others go bit by bit, many at
 * a time (bits.c). Both count the tensor from the first bit of the run. */
typedef struct td_bit_part {
    uint64_t first, count, copy; /* what it is a part of */
    td_plan bytes, bits;
} td_bit_part;

/* Words [first, first + count), of `width` bits, of a plan of bits whose words begin `pitch` bits apart. Fails only
 * with TD_NO_MEMORY. */
td_status td_bit_part_create(const td_plan *plan, uint64_t width, uint64_t pitch, uint64_t first, uint64_t count,
                             uint64_t copy, td_bit_part **out);
void td_bit_part_destroy(td_bit_part **part);

/* Of boxes that somebody else finds, which count `bytes` of the tensor: `find` calls fn for each. */
typedef void td_bit_box_fn(void *context, td_node *node, const td_box *box);
typedef struct td_bit_source {
    void (*find)(void *context, td_bit_box_fn *fn, void *to);
    void *context;
} td_bit_source;
td_status td_bit_part_make(const td_plan *plan, const td_bit_source *boxes, uint64_t bytes, td_bit_part **out);

/* The same boxes without a part: calls fn for each, with nodes of its own. Cannot fail. */
void td_bit_boxes(const td_plan *plan, uint64_t pitch, uint64_t first, uint64_t count, uint64_t copy, td_bit_box_fn *fn,
                  void *context);

/* A box of whole words, of `width` bits, that are stored alike on both sides: they move with the zeros above them, so
 * that they follow each other. Other boxes stay as they are. */
void td_bit_widen(const td_plan *plan, uint64_t width, uint64_t pitch, td_node *node, td_box *box);

/* bits.c: its bits are fields of words that fill the words of arrays: kernels/slice.h. */
bool td_bits_slices(const td_plan *plan, const td_node *node, const td_box *box);

/* The two sides of a move of bits. */
typedef struct td_bits_sides {
    unsigned char *words;
    unsigned char *const *array;
    bool back;   /* from the arrays into the words */
    bool stream; /* store past the caches where that is possible; the caller calls td_move_fence */
} td_bits_sides;

/* bits.c: moves a box of bits, whose nodes begin at `node`. */
void td_bits_move(const td_plan *plan, const td_node *node, const td_box *box, const td_bits_sides *sides);

#endif
