/* The second tensor of a sum or product, broadcast into the shape of the first: which of its elements stand beside a
 * run of the first's. step_calls.c and programs ask for them run by run; steps.c has the arithmetic. */
#ifndef TD_OPERAND_H
#define TD_OPERAND_H

#include "tensor/tensor.h"

/* It borrows the tensor's data. */
typedef struct td_operand {
    const unsigned char *data;
    unsigned bytes; /* of an element */
    size_t count;   /* of nodes, outermost first: what is one run, or one value, is one node */
    struct {
        uint64_t extent, stride; /* in elements; a stride of 0 repeats */
    } node[TD_MAX_RANK];
} td_operand;

/* TD_DTYPE when b is of another type than `dtype`, TD_SHAPE when it cannot be broadcast, TD_OPTION for the options. */
td_status td_operand_bind(const td_shape *shape, td_dtype dtype, const td_tensor *b, const char *options,
                          td_operand *out);

/* Of the elements [first, first + n) of the broadcast operand, how many td_operand_at should be asked for at once: up
 * to the end of a run that lies in b as it is, or all of them. */
size_t td_operand_run(const td_operand *o, uint64_t first, size_t n);

/* These elements: in b itself or, put together, in `scratch` of n elements. With *one it is a single one for all. */
const void *td_operand_at(const td_operand *o, uint64_t first, size_t n, void *scratch, bool *one);

#endif
