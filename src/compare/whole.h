/* A first look at a whole plan, for layouts whose slabs are slow to take out: staged boxes, words that banks or a table
 * scatter, many small boxes, and tensors so small that the plans of their slabs would take longest. There one dump into
 * a buffer and one comparison of its bytes take less time than slab after slab. judging.c asks before it walks slabs;
 * where the answer is no, they say which elements differ. */
#ifndef TD_WHOLE_H
#define TD_WHOLE_H

#include "exec/exec.h"
#include "tensor/tensor.h"

/* True when the dumped elements have the bits of `golden`; false too where slabs are faster, an element has more than
 * one place, or there is no memory for the buffer. */
bool td_whole_equal(const td_run *run, const td_tensor *golden);

#endif
