/* Steps on tensors for SystemVerilog: one shim for all of them, since they differ only in what stands behind the
 * operands. */
#include "handles.h"

#include <svdpi.h>

/* As td_dpi_pkg::step_e says it. */
enum { STEP_SLICE, STEP_TRANSPOSE, STEP_CONCAT, STEP_ADD, STEP_MUL, STEP_SCALE, STEP_CLAMP, STEPS };

static td_status run(int step, const td_tensor *a, const td_tensor *b, const char *text, double x, double y,
                     td_tensor **out)
{
    const td_tensor *const pair[] = {a, b};
    switch (step) {
    case STEP_SLICE:
        return td_tensor_slice(a, text, out);
    case STEP_TRANSPOSE:
        return td_tensor_transpose(a, *text ? text : NULL, out);
    case STEP_CONCAT:
        return td_tensor_concat(pair, 2, (size_t)x, out);
    case STEP_ADD:
        return td_tensor_add(a, b, text, out);
    case STEP_MUL:
        return td_tensor_mul(a, b, text, out);
    case STEP_SCALE:
        return td_tensor_scale(a, x, text, out);
    default:
        return td_tensor_clamp(a, x, y, out);
    }
}

/* `other` is 0 where the step has one operand; `text` is the slice, the order or the options; x is the axis, the factor
 * or the lower bound. */
TD_API int td_dpi_tensor_step(td_dpi_u64 tensor, td_dpi_u64 other, int step, const char *text, double x, double y,
                              td_dpi_u64 *made, const char **message)
{
    static const char *const names[STEPS] = {"tensor_slice", "tensor_transpose", "tensor_concat", "tensor_add",
                                             "tensor_mul",   "tensor_scale",     "tensor_clamp"};
    td_dpi_claim claims[] = {
        {.handle = tensor, .kind = TD_DPI_TENSOR},
        {.handle = other, .kind = TD_DPI_TENSOR, .optional = step < STEP_CONCAT || step > STEP_MUL}};
    td_tensor *out = NULL;
    *made = 0;
    td_status status = td_dpi_claim_all(names[step], claims, 2, message);
    if (status)
        return (int)status;
    status = (td_status)td_dpi_end(claims, 2, run(step, claims[0].object, claims[1].object, text, x, y, &out), message);
    if (!status)
        status = td_dpi_handle_create(TD_DPI_TENSOR, out, made, message);
    if (status)
        td_tensor_destroy(&out);
    return (int)status;
}
