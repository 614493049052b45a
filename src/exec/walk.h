/* One walker carries an operation over a box, element by element; what differs is the row, the innermost loop. exec.c takes
 * this way where no kernel fits a box, agree.c for what it has to look at. */
#ifndef TD_WALK_H
#define TD_WALK_H

#include "exec/exec.h"

/* One innermost loop: node->extent steps from `memory` bits above `ground` and element `tensor`. Returns false to stop. */
typedef bool td_row(void *context, const td_run *run, const td_box *box, const td_node *node, unsigned char *ground,
                    int64_t memory, int64_t tensor);

td_row td_load_row, td_dump_row, td_pad_row, td_clear_row;

/* Each returns false as soon as a row did. */
bool td_walk_all(void *context, const td_run *run, const td_box *boxes, size_t count, td_row *row);
bool td_walk_inner(void *context, const td_run *run, const td_box *box, const td_node *node, size_t count,
                   unsigned char *ground, int64_t memory, int64_t tensor, td_row *row);

/* What the bits count from: the word of a table entry, or the first word of a bank. */
unsigned char *td_ground_at(const td_run *run, int64_t select);

/* The element at a place: whole, or put together from its pieces, of which the first has bit 0. *used says how many. */
uint64_t td_memory_value(const td_run *run, const unsigned char *ground, int64_t memory, const td_piece *piece,
                         size_t count, size_t *used);

/* Element `elem` from the bits that the memory holds, in its tensor bytes. */
uint64_t td_tensor_value(const td_run *run, uint64_t bits, int64_t elem);

/* `count` elements from places `step` bits apart, into containers of the memory's dtype, `stride` bytes apart. */
void td_fetch_row(const td_run *run, const unsigned char *ground, int64_t memory, int64_t step, unsigned char *dst,
                  int64_t stride, uint64_t count);

/* Converted rows pass through two small buffers that stay in the first cache. */
#define TD_STAGE_ELEMS 512

typedef struct td_stage {
    _Alignas(64) unsigned char tensor[TD_STAGE_ELEMS * 8], memory[TD_STAGE_ELEMS * 8];
} td_stage;

#endif
