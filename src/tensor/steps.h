/* Elementwise steps on runs of elements: sums and products with another tensor, products with a number, values brought
 * into a range. step_calls.c runs them on whole tensors, programs on runs that lie in the cache. A step is made once,
 * and then refuses nothing but values past the range of integers, where its options say `error`; section 3 of the
 * public header has the arithmetic. */
#ifndef TD_STEPS_H
#define TD_STEPS_H

#include "kernels/chain.h"
#include "tensor/tensor.h"

typedef enum td_step_op { TD_STEP_ADD, TD_STEP_MUL, TD_STEP_SCALE, TD_STEP_CLAMP } td_step_op;

typedef struct td_step td_step;

/* `options` as in the public header; axis= is read by td_operand_bind (operand.h) and only checked here. x and y are
 * the factor of scale, or the ends of clamp. TD_OPTION, TD_RANGE or TD_ARGUMENT, with the message of the public call
 * but its name. */
td_status td_step_create(td_step_op op, td_dtype dtype, const char *options, double x, double y, td_step **out);
void td_step_destroy(td_step **step);

/* Whether td_step_run may return less than n. */
bool td_step_refuses(const td_step *s);

/* n contiguous elements; dst may be a itself, and overlaps with neither a nor b otherwise. b has n elements, or one
 * with b_one; NULL for scale and clamp. Returns n, or the number of the first element whose result is past the range;
 * what dst holds then is not said. Threads may share a step. */
size_t td_step_run(const td_step *s, void *dst, const void *a, const void *b, bool b_one, size_t n);

/* The step for kernels/chain.h; false where it is not one on f32. `b` is set for a product with a number alone, and
 * lives as long as the step. */
bool td_step_chain(const td_step *s, td_chain_step *out);

/* TD_RANGE with the message for such an element; `elem` is its number in `shape`, a and b point at the operands. */
td_status td_step_fail(const td_step *s, const td_shape *shape, uint64_t elem, const void *a, const void *b);

#endif
