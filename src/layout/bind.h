/* A layout bound to a shape: every axis gets its size and its strides in the tensor, and ragged dimensions get their
 * padding. Called by plan/compile.c, show/view.c, report/count.c and backdoor/scales.c. Refuses a shape that does
 * not fit the pattern, and names the group at fault. */
#ifndef TD_BIND_H
#define TD_BIND_H

#include "layout/layout.h"

/* A pattern's axes, those that `...` stands for, and one more when beats cut an axis. */
#define TD_MAX_BOUND (TD_MAX_AXES + TD_MAX_RANK + 1)

typedef struct td_bound_axis {
    uint64_t size;
    int pattern_axis;      /* or -1: from `...` */
    int dim;               /* the tensor dimension, or -1: a repeat */
    uint64_t dim_stride;   /* what one step is worth in that dimension */
    int64_t tensor_stride; /* in elements */
    td_role role;
    bool placed;          /* it takes part in addresses: a word or bank axis, or a lane axis that the address names */
    uint64_t role_stride; /* what one step is worth in the linear number of its right group */
} td_bound_axis;

typedef struct td_bound_dim {
    uint64_t length;
    uint64_t padded;     /* the product of its group's sizes */
    uint64_t pad_before; /* with pad_at=begin, padded - length */
    bool sliding;
    int64_t tensor_stride;
} td_bound_dim;

typedef struct td_bound {
    const td_layout *layout;
    int axis_count;
    td_bound_axis axis[TD_MAX_BOUND];
    int role_count[TD_ROLES];
    int role_axis[TD_ROLES][TD_MAX_BOUND]; /* slowest first */
    size_t rank;
    td_shape shape;
    td_bound_dim dim[TD_MAX_RANK];
    uint64_t count[TD_ROLES];   /* banks, words, lanes: the products of their sizes */
    bool pad_begin;             /* padding stands in front */
    bool clip;                  /* what is past the tensor's end is not written */
    bool ragged;                /* some dimension has padding or a clipped tail */
    bool repeats;               /* some element has several copies */
    bool slides;                /* some dimension has overlapping axes */
    uint64_t size[TD_MAX_AXES]; /* per pattern axis, for expressions */
} td_bound;

/* TD_SHAPE or TD_OVERFLOW, with the pattern, a caret, the shape and the sizes in the message. */
td_status td_bind(const td_layout *layout, const td_shape *shape, td_bound *out);

/* Splits a lane axis into (size / inner) slow and `inner` fast steps: how beats cut a vector between lanes. */
void td_bind_split(td_bound *bound, int axis, uint64_t inner);

/* Merges the axes of a flat layout that has the tensor's own order into one dimension of `words` vectors of `lanes`
 * elements. False where the order is another, or there are padding, repeats or sliding groups. */
bool td_bind_merge(td_bound *bound, uint64_t lanes, uint64_t words);

/* The rows of the tensor's first dimension begin `pitch` elements apart, which are more than they have. */
void td_bind_pitch(td_bound *bound, uint64_t pitch);

/* Appends "shape (2, 10), sizes k=3 k4=4" to this thread's message. */
void td_bind_describe(const td_layout *layout, const td_shape *shape);

#endif
