/* A first look at slabs, on as many threads as pay: which of them the policy accepts whole. Most comparisons end
 * here; judging.c takes the slabs that are left in order and pair by pair, so that a report never depends on the
 * number of threads. Nothing here allocates or fails. */
#ifndef TD_SCAN_H
#define TD_SCAN_H

#include "compare/slab.h"
#include "compare/tolerance.h"
#include "kernels/equal.h"
#include "kernels/move.h"
#include "tensor/tensor.h"

#define TD_ACCEPT_SLABS 4096 /* per call, at most */

/* What the threads share; made by td_accept_init. */
typedef struct td_accept {
    const td_tensor *golden, *mask;
    const td_convert *convert; /* NULL: stored values are compared as they are */
    const td_judge *judge;
    bool never;       /* no slab can be accepted whole */
    bool by_value;    /* values, not bytes */
    bool only_finite; /* equal bits are accepted only where the values are finite */
    td_slab_wish wish;
    td_equal_fn equal, equal_transposed;
    td_move_fn copy;
    td_tolerance tolerance;
} td_accept;

void td_accept_init(const td_judge *judge, const td_tensor *golden, const td_tensor *mask, const td_convert *convert,
                    td_accept *out);

/* Slabs [first, first + count) of at most TD_ACCEPT_SLABS. left[i] is set where slab first + i has to be looked at
 * again; *masked and *worst grow by what the others have. */
void td_accept_slabs(const td_accept *accept, const td_slabs *slabs, uint64_t first, size_t count, bool *left,
                     uint64_t *masked, td_worst *worst);

/* Whether the mask leaves an element out. */
bool td_is_masked(const td_tensor *mask, uint64_t elem);

#endif
