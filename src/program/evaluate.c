/* The tensor of an op, out of the tensors that it takes: one call of section 3, 7 or 8 of the public header each.
 * run.c calls it for every value that no pass has made part of something else. Refused is what those calls refuse. */
#include "program/program.h"

#include "backdoor/call.h"

#include <stdlib.h>
#include <string.h>

static td_status make(const td_op *op, td_tensor **out)
{
    td_tensor *t = NULL;
    const char *what = op->text;
    td_status status = td_tensor_create(op->like.dtype_name, op->like.shape, &t);
    if (!status && strncmp(what, "constant=", 9) == 0) {
        char *end = NULL;
        const double value = td_text_real(what + 9, &end);
        if (end == what + 9 || *end)
            status = td_fail(TD_OPTION, "\"%s\" is no number; write constant=1.5", what + 9);
        else {
            status = td_tensor_set_real(t, 0, value); /* refuses what the type cannot hold */
            if (!status)
                status = td_tensor_fill_ramp(t, value, 0);
        }
    } else if (!status && strcmp(what, "zero") != 0)
        status = td_tensor_fill(t, what);
    if (status)
        td_tensor_destroy(&t);
    else
        *out = t;
    return status;
}

static td_status concat(const td_graph *g, const td_op *op, td_tensor **out)
{
    const td_tensor *all[64];
    for (size_t i = 0; i < op->args; i++)
        all[i] = g->op[op->arg[i]].value;
    return td_tensor_concat(all, op->args, op->axis, out);
}

static td_status step(const td_graph *g, const td_op *op, td_tensor **out)
{
    const td_tensor *a = g->op[op->arg[0]].value, *b = op->args > 1 ? g->op[op->arg[1]].value : NULL;
    switch (op->step_op) {
    case TD_STEP_ADD:
        return td_tensor_add(a, b, op->text, out);
    case TD_STEP_MUL:
        return td_tensor_mul(a, b, op->text, out);
    case TD_STEP_SCALE:
        return td_tensor_scale(a, op->number[0], op->text, out);
    default:
        return td_tensor_clamp(a, op->number[0], op->number[1], out);
    }
}

td_status td_op_move_layout(td_op *op)
{
    if (!op->at || op->moved || op->move->truncate)
        return TD_OK;
    return td_layout_shift(op->move->layout, op->at, op->memory->bank[0]->width_bits, &op->moved);
}

td_status td_op_dump(td_op *op, td_tensor *into)
{
    const td_program_move *m = op->move;
    if (td_binding_is_plain(op->memory) && !td_program_move_refuses(m)) {
        const td_run run = {.plan = m->plan, .bank = op->bank, .tensor = into->data, .convert = m->convert};
        td_exec_dump(&run);
        return TD_OK;
    }
    if (m->truncate)
        return td_backdoor_dump_matrix(op->memory->bank[0], into, op->at,
                                       op->at + (into->shape.rank == 2 ? into->shape.dim[0] : 1));
    const td_status status = td_op_move_layout(op);
    const td_call call = {.operation = "dump",
                          .bank = (const td_memory *const *)op->memory->bank,
                          .banks = op->memory->banks,
                          .tensor = into,
                          .layout = op->moved ? op->moved : m->layout,
                          .as = td_layout_choose_as(m->layout, m->as),
                          .writes_tensor = true};
    return status ? status : td_call_run(&call);
}

static td_status take(td_op *op, td_tensor **out)
{
    td_tensor *t = NULL;
    td_status status = td_tensor_create(op->like.dtype_name, op->like.shape, &t);
    if (!status)
        status = td_op_dump(op, t);
    if (status)
        td_tensor_destroy(&t);
    else
        *out = t;
    return status;
}

static td_status read_words(const td_op *op, td_tensor **out)
{
    const td_memory *m = op->memory->bank[0];
    td_tensor *t = NULL;
    td_status status = td_tensor_create(op->like.dtype_name, op->like.shape, &t);
    for (uint64_t i = 0; i < op->count && !status; i++) {
        const uint64_t address = op->first + i;
        status = td_backdoor_read(m, &address, 1, t->data + i * m->word_bytes);
    }
    if (status)
        td_tensor_destroy(&t);
    else
        *out = t;
    return status;
}

td_status td_op_evaluate(const td_graph *g, td_op *op)
{
    td_tensor *out = NULL;
    td_status status = TD_OK;
    op->run = g->run;
    if (op->is_view) {
        const td_tensor *of = g->op[op->arg[0]].value;
        op->like.data = of->data + op->first * of->dtype.bytes;
        op->like.read_only = true;
        op->value = &op->like;
        return TD_OK;
    }
    if (op->spare)
        td_tensor_destroy(&op->spare);
    switch (op->kind) {
    case TD_OP_MAKE:
        status = make(op, &out);
        break;
    case TD_OP_CONVERT:
        status = td_tensor_convert(g->op[op->arg[0]].value, op->text, &out);
        break;
    case TD_OP_STEP:
        status = step(g, op, &out);
        break;
    case TD_OP_SLICE:
        status = td_tensor_slice(g->op[op->arg[0]].value, op->text, &out);
        break;
    case TD_OP_CONCAT:
        status = concat(g, op, &out);
        break;
    case TD_OP_TRANSPOSE:
        status = td_tensor_transpose(g->op[op->arg[0]].value, op->text, &out);
        break;
    case TD_OP_TAKE:
        status = take(op, &out);
        break;
    case TD_OP_READ:
        status = read_words(op, &out);
        break;
    default: /* files and tensors of the caller are there */
        return TD_OK;
    }
    if (status)
        return status;
    if (op->owned)
        td_tensor_destroy(&op->value);
    op->value = out;
    op->owned = true;
    return TD_OK;
}

td_status td_op_make(const td_graph *g, td_op *op)
{
    return op->constant && op->value ? TD_OK : td_op_evaluate(g, op);
}
