/* Parts of a tensor as NumPy writes them: "3, 0:16:2, :". slice.c reads the text and copies; programs also ask whether
 * the part lies in the tensor as one run, which needs no copy. It refuses text that is no such part, indices past the
 * end, and parts without an element. */
#ifndef TD_SLICE_H
#define TD_SLICE_H

#include "tensor/tensor.h"

/* For every dimension of the tensor: `count` elements from `first` on, `step` apart. */
typedef struct td_slice {
    size_t rank;
    uint64_t first[TD_MAX_RANK], count[TD_MAX_RANK];
    int64_t step[TD_MAX_RANK];
    bool drop[TD_MAX_RANK]; /* by an index: not a dimension of the result */
} td_slice;

td_status td_slice_parse(const char *text, const td_shape *shape, td_slice *out);

td_shape td_slice_shape(const td_slice *s);

/* Whether the part is one run of the tensor's elements, in order; *first_elem is where it begins. */
bool td_slice_contiguous(const td_slice *s, const td_shape *shape, uint64_t *first_elem);

/* `src` is the whole tensor of that shape, `dst` has the elements of the part. */
void td_slice_copy(const td_slice *s, const td_shape *shape, const void *src, void *dst, unsigned elem_bytes);

/* rearrange.c: elements at strides into a contiguous run. */
typedef struct td_stride_node {
    uint64_t extent;
    int64_t stride; /* of the source, in elements */
} td_stride_node;

/* Nodes outermost first; changes them. */
void td_strided_copy(td_stride_node *node, size_t count, const unsigned char *src, unsigned char *dst,
                     unsigned elem_bytes);

#endif
