/* The plain walker: a box element by element, right for every plan. exec.c takes it where no kernel fits a box;
 * verify.c and backdoor/x_elems.c read elements with it. The kernels are tested against it. Nothing here fails. */
#ifndef TD_PLAIN_H
#define TD_PLAIN_H

#include "exec/exec.h"

/* One row of a box: row->extent steps from `at` on. */
typedef void td_row(const td_run *run, const td_box *box, const td_node *row, td_at at);

td_row td_load_row, td_dump_row, td_pad_row, td_clear_row;

/* All rows of all boxes. */
void td_plain_run(const td_run *run, const td_box *boxes, size_t count, td_row *row);

/* The element at a place: whole, or put together from its pieces, of which the first has bit 0. *used says how many. */
uint64_t td_memory_value(const td_run *run, const unsigned char *ground, int64_t memory, const td_piece *piece,
                         size_t count, size_t *used);

/* Element `elem` from the bits that the memory holds, in its tensor bytes. */
uint64_t td_tensor_value(const td_run *run, uint64_t bits, int64_t elem);

/* `count` elements from places `step` bits apart, into containers of the memory's dtype, `stride` bytes apart. */
void td_fetch_row(const td_run *run, const unsigned char *ground, int64_t memory, int64_t step, unsigned char *dst,
                  int64_t stride, uint64_t count);

/* Converted rows pass through two small buffers that stay in the first cache. */
#define TD_SCRATCH_ELEMS 512

typedef struct td_convert_scratch {
    _Alignas(64) unsigned char tensor[TD_SCRATCH_ELEMS * 8], memory[TD_SCRATCH_ELEMS * 8];
} td_convert_scratch;

#endif
