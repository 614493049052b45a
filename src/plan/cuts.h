/* One ragged dimension as regions that are all data or all padding. boxes.c takes one region of every dimension for a
 * box; nothing else knows them. */
#ifndef TD_CUTS_H
#define TD_CUTS_H

#include "layout/bind.h"

/* What a region covers of one dimension: the ranges of its axes, slowest first. */
#define TD_MAX_DIM_AXES (TD_MAX_AXES + 1)

typedef struct td_cut {
    bool pad;
    int count;
    uint64_t start[TD_MAX_DIM_AXES], extent[TD_MAX_DIM_AXES];
} td_cut;

typedef struct td_dim_cuts {
    int axis_count;
    int axis[TD_MAX_DIM_AXES]; /* bound axes of more than one step, slowest first */
    int count;
    td_cut *cut; /* at most 2 * axis_count + 1 */
} td_dim_cuts;

/* Cuts [0, length) out of the product of the axes, digit by digit; the caller frees out->cut. Fails only with
 * TD_NO_MEMORY. */
td_status td_cut_dim(const td_bound *bound, int dim, td_dim_cuts *out);

#endif
