/* Elementwise steps on whole tensors, in the public header: td_tensor_add, td_tensor_mul, td_tensor_scale and
 * td_tensor_clamp. Each makes a step (steps.h) and runs it over the tensor in blocks, large ones on several threads. A
 * step that refuses a value gives no tensor. */
#include "base/pool.h"
#include "base/record.h"
#include "base/text.h"
#include "tensor/operand.h"
#include "tensor/steps.h"

#include <stdlib.h>

#define BLOCK_ELEMS 1024

typedef struct work {
    const td_step *step;
    const td_tensor *a;
    const td_operand *b; /* NULL: none */
    unsigned char *dst;
    unsigned parts;
    uint64_t past[TD_POOL_PARTS]; /* the first element of each part that does not fit; UINT64_MAX: none */
} work;

/* Elements [first, end); the first that does not fit, or end. */
static uint64_t run_range(const work *w, uint64_t first, uint64_t end)
{
    uint64_t scratch[BLOCK_ELEMS];
    const unsigned bytes = w->a->dtype.bytes;
    size_t some = 0;
    for (uint64_t at = first; at < end; at += some) {
        some = (size_t)(end - at < BLOCK_ELEMS ? end - at : BLOCK_ELEMS);
        bool one = false;
        const void *b = NULL;
        if (w->b) {
            some = td_operand_run(w->b, at, some);
            b = td_operand_at(w->b, at, some, scratch, &one);
        }
        const size_t done = td_step_run(w->step, w->dst + at * bytes, w->a->data + at * bytes, b, one, some);
        if (done < some)
            return at + done;
    }
    return end;
}

/* The first element of a part. */
static uint64_t cut(const work *w, unsigned part)
{
    const uint64_t blocks = (w->a->elems + BLOCK_ELEMS - 1) / BLOCK_ELEMS;
    const uint64_t at = blocks / w->parts * part + blocks % w->parts * part / w->parts;
    return part == w->parts ? w->a->elems : at * BLOCK_ELEMS;
}

static void run_parts(void *context, unsigned begin, unsigned end)
{
    work *w = context;
    const uint64_t last = cut(w, end), past = run_range(w, cut(w, begin), last);
    w->past[begin] = past < last ? past : UINT64_MAX;
}

static td_status fail_past(const work *w, uint64_t elem)
{
    uint64_t scratch;
    bool one = false;
    const unsigned bytes = w->a->dtype.bytes;
    return td_step_fail(w->step, &w->a->shape, elem, w->a->data + elem * bytes,
                        w->b ? td_operand_at(w->b, elem, 1, &scratch, &one) : NULL);
}

static td_status run_whole(work *w, td_tensor **out)
{
    td_tensor *made = NULL;
    td_status status = td_tensor_create_unset(w->a->dtype_name, w->a->shape, &made);
    if (status)
        return status;
    w->dst = made->data;
    w->parts = td_pool_parts(w->a->elems * w->a->dtype.bytes, w->a->elems / BLOCK_ELEMS + 1);
    for (unsigned i = 0; i < w->parts; i++)
        w->past[i] = UINT64_MAX;
    td_pool_run(w->parts, run_parts, w);
    for (unsigned i = 0; i < w->parts && !status; i++)
        if (w->past[i] != UINT64_MAX)
            status = fail_past(w, w->past[i]);
    if (status)
        td_tensor_destroy(&made);
    else
        *out = made;
    return status;
}

static void tell(td_step_op op, const td_tensor *a, const td_tensor *b, const char *options, double x, double y,
                 const td_tensor *out)
{
    static const char *const words[] = {"add", "mul", "scale", "clamp"};
    const td_tensor *const operand[] = {a, b};
    char behind[160];
    options = options ? options : "";
    if (op == TD_STEP_CLAMP)
        td_text_print(behind, sizeof behind, "%.17g %.17g", x, y);
    else if (op == TD_STEP_SCALE)
        td_text_print(behind, sizeof behind, "%.17g %s", x, options);
    else
        td_text_print(behind, sizeof behind, "%s", options);
    td_record(&(td_recorded){.kind = TD_RECORDED_TENSOR,
                             .text = words[op],
                             .operand = operand,
                             .operands = op <= TD_STEP_MUL ? 2 : 1,
                             .behind = behind,
                             .out = out});
}

static td_status call(const char *name, td_step_op op, const td_tensor *a, const td_tensor *b, const char *options,
                      double x, double y, td_tensor **out)
{
    td_step *step = NULL;
    td_operand operand;
    const bool pair = op <= TD_STEP_MUL;
    if (!a || !out || (pair && !b))
        return td_fail(TD_ARGUMENT, "%s: the %s is NULL; pass one", name,
                       !a     ? pair ? "first tensor" : "tensor"
                       : !out ? "output"
                              : "second tensor");
    td_status status = td_step_create(op, a->dtype, options, x, y, &step);
    if (!status && pair)
        status = td_operand_bind(&a->shape, a->dtype, b, options, &operand);
    if (!status)
        status = td_file_check(a->origin);
    if (!status && pair)
        status = td_file_check(b->origin);
    if (!status) {
        work w = {.step = step, .a = a, .b = pair ? &operand : NULL};
        status = run_whole(&w, out);
    }
    td_step_destroy(&step);
    if (status)
        td_fail_prefix("%s: ", name);
    else if (td_record_heard())
        tell(op, a, b, options, x, y, *out);
    return status;
}

td_status td_tensor_add(const td_tensor *a, const td_tensor *b, const char *options, td_tensor **out)
{
    return call("tensor_add", TD_STEP_ADD, a, b, options, 0, 0, out);
}

td_status td_tensor_mul(const td_tensor *a, const td_tensor *b, const char *options, td_tensor **out)
{
    return call("tensor_mul", TD_STEP_MUL, a, b, options, 0, 0, out);
}

td_status td_tensor_scale(const td_tensor *tensor, double factor, const char *options, td_tensor **out)
{
    return call("tensor_scale", TD_STEP_SCALE, tensor, NULL, options, factor, 0, out);
}

td_status td_tensor_clamp(const td_tensor *tensor, double low, double high, td_tensor **out)
{
    return call("tensor_clamp", TD_STEP_CLAMP, tensor, NULL, NULL, low, high, out);
}
