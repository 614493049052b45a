/* Tensors of scales and zero points: `scale=@NAME` of an `as`. A name is one that td_scales_set knows, or a file.
 * call.c looks them up for every call and hands the values to values/convert.h along one dimension of the tensor;
 * backdoor/ knows layouts and shapes, so that the rooms below need not. */
#ifndef TD_SCALES_H
#define TD_SCALES_H

#include "layout/layout.h"
#include "values/convert.h"

/* What a call holds while it runs; zero-initialise. */
typedef struct td_scales {
    td_scale_axis axis; /* extent 0: one scale for all, in the td_as */
    double *scale;      /* one per coordinate of a dimension */
    int64_t *zero;
} td_scales;

/* Finds what the `as` names. A tensor of one element becomes the number of the `as` itself. The axis is one of the
 * layout's pattern (`layout` may be NULL) or the number of a dimension. */
td_status td_scales_find(td_as *as, const td_layout *layout, const td_shape *shape, td_scales *out);
void td_scales_free(td_scales *scales);

/* Leaves the arrays to a conversion that was bound with them, for td_convert_free. */
void td_scales_give(td_scales *scales, td_convert *convert);

#endif
