/* From the forms of a text to the ops of a graph: loops are unrolled, names become what they stand for, every tensor
 * has its dtype and shape, every effect the words that it touches. td_graph_create does it for the arguments that are
 * set; program.c calls it. Files are opened here. Refused, with the place in the text: names that nobody has given,
 * shapes and dtypes that do not go together, layouts, words past a memory, and (words.c) two steps that write one
 * place. */
#include "program/elaborate.h"

#include "base/grow.h"
#include "base/suggest.h"
#include "tensor/slice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPS ((size_t)1 << 18)

td_status td_elab_op(td_elab *e, td_op_kind kind, const td_form *form, uint32_t *out)
{
    td_graph *g = e->graph;
    if (g->count == MOST_OPS)
        return td_program_fail(e->program, &form->word, TD_RANGE,
                               "more than %zu steps with all loops unrolled; run the program in parts", MOST_OPS);
    td_op *const ops = td_grow(g->op, g->count, &g->room, sizeof *ops, 64);
    if (!ops)
        return TD_NO_MEMORY;
    g->op = ops;
    *out = (uint32_t)g->count;
    g->op[g->count++] = (td_op){.kind = kind,
                                .form = form,
                                .statement = e->statement,
                                .label = e->label,
                                .is_value = kind < TD_OP_LOAD,
                                .loop = e->loop ? e->loop : ""};
    return TD_OK;
}

td_status td_elab_args(td_elab *e, uint32_t op, const uint32_t *arg, size_t count)
{
    uint32_t *copy = td_arena_get(&e->graph->arena, (count ? count : 1) * sizeof *copy);
    if (!copy)
        return TD_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        copy[i] = arg[i];
    e->graph->op[op].arg = copy;
    e->graph->op[op].args = (uint32_t)count;
    return TD_OK;
}

static td_status set_like(td_elab *e, const td_form *form, uint32_t op, td_dtype dtype, const td_shape *shape)
{
    td_tensor *like = &e->graph->op[op].like;
    uint64_t bytes = 0;
    like->dtype = dtype;
    like->shape = *shape;
    td_dtype_print(dtype, like->dtype_name);
    const td_status status = td_shape_check(shape, dtype, &like->elems, &bytes);
    return status ? td_program_place(e->program, &form->word, status) : TD_OK;
}

static td_status fill_text(td_elab *e, const td_token *token, const char **out)
{
    return td_token_fill(e->program, e->scope, token, &e->graph->arena, out);
}

/* -- names --------------------------------------------------------------------------------------------------------- */

static td_status fail_tensor(const td_elab *e, const td_token *name)
{
    const td_program *p = e->program;
    const char *known[256];
    size_t count = 0;
    for (size_t i = 0; i < e->names && count < 128; i++)
        known[count++] = e->name[i].text;
    for (size_t i = 0; i < p->bindings && count < 256; i++)
        if (p->binding[i]->kind == TD_NAME_TENSOR)
            known[count++] = p->binding[i]->name;
    const char *near = td_suggest(name->text, known, count);
    if (near)
        return td_program_fail(p, name, TD_FORMAT, "no tensor \"%s\"; did you mean \"%s\"?", name->text, near);
    return td_program_fail(p, name, TD_FORMAT, "no tensor \"%s\"; bind one, or write tensor %s = .. above", name->text,
                           name->text);
}

static td_status find_tensor(td_elab *e, const td_form *form, uint32_t *out)
{
    const char *name = form->name.text;
    for (size_t i = e->names; i-- > 0;)
        if (strcmp(e->name[i].text, name) == 0) {
            *out = e->name[i].op;
            return TD_OK;
        }
    const td_binding *b = td_program_find(e->program, name, TD_NAME_TENSOR);
    if (!b)
        return fail_tensor(e, &form->name);
    td_status status = td_elab_op(e, TD_OP_BOUND, form, out);
    if (!status)
        status = td_elab_args(e, *out, NULL, 0);
    if (status)
        return status;
    td_op *op = &e->graph->op[*out];
    op->like = *b->tensor;
    op->like.data = NULL;
    op->value = b->tensor;
    op->label = TD_NO_OP;
    return td_elab_name(e, b->name, *out);
}

td_status td_elab_name(td_elab *e, const char *name, uint32_t op)
{
    for (size_t i = 0; i < e->names; i++)
        if (strcmp(e->name[i].text, name) == 0) {
            e->name[i].op = op;
            return TD_OK;
        }
    td_elab_value *grown = realloc(e->name, (e->names + 1) * sizeof *grown);
    if (!grown)
        return td_fail_alloc((e->names + 1) * sizeof *grown);
    e->name = grown;
    grown[e->names++] = (td_elab_value){.text = name, .op = op};
    return TD_OK;
}

td_status td_elab_memory(const td_elab *e, const td_token *name, const td_binding **out)
{
    const td_program *p = e->program;
    const char *known[64];
    size_t count = 0;
    *out = td_program_find(p, name->text, TD_NAME_MEMORY);
    if (*out)
        return TD_OK;
    for (size_t i = 0; i < p->bindings && count < 64; i++)
        if (p->binding[i]->kind == TD_NAME_MEMORY)
            known[count++] = p->binding[i]->name;
    const char *near = td_suggest(name->text, known, count);
    if (near)
        return td_program_fail(p, name, TD_FORMAT, "no memory \"%s\"; did you mean \"%s\"?", name->text, near);
    return td_program_fail(p, name, TD_FORMAT, "no memory \"%s\"; bind one of this name", name->text);
}

td_status td_elab_number(const td_elab *e, const td_ex *ex, const td_token *at, const char *what, uint64_t *out)
{
    int64_t value = 0;
    const td_status status = ex ? td_ex_value(e->program, e->scope, ex, &value) : TD_OK;
    if (status)
        return status;
    if (value < 0)
        return td_program_fail(e->program, at, TD_RANGE, "%s is %" PRId64 "%s%s; it has to be 0 or more", what, value,
                               e->loop ? " with " : "", e->loop ? e->loop : "");
    *out = (uint64_t)value;
    return TD_OK;
}

/* -- values -------------------------------------------------------------------------------------------------------- */

static td_status elab_open(td_elab *e, td_form *form, uint32_t *out)
{
    const char *path = NULL, *dtype = NULL;
    td_tensor *tensor = NULL;
    td_status status = fill_text(e, &form->text, &path);
    if (!status)
        status = fill_text(e, &form->dtype, &dtype);
    for (size_t i = 0; i < e->graph->count && !status; i++) {
        const td_op *op = &e->graph->op[i];
        if (op->kind == TD_OP_OPEN && !dtype && !op->form->dtype.text && strcmp(op->text, path) == 0) {
            e->graph->op[i].shared |= op->form != form;
            *out = (uint32_t)i;
            return TD_OK;
        }
    }
    if (!status) {
        status = td_tensor_open(path, dtype, &tensor);
        if (status)
            return td_program_place(e->program, &form->text, status);
    }
    if (!status)
        status = td_elab_op(e, TD_OP_OPEN, form, out);
    if (!status) {
        td_op *op = &e->graph->op[*out];
        op->text = path;
        op->like = *tensor;
        op->like.data = NULL;
        op->value = tensor;
        op->owned = op->constant = true;
        op->label = TD_NO_OP;
        status = td_elab_args(e, *out, NULL, 0);
    } else
        td_tensor_destroy(&tensor);
    return status;
}

/* DTYPE and 3x8x8, or "DTYPE 3 8 8". */
static td_status find_kind(td_elab *e, const td_form *form, td_dtype *dtype, td_shape *shape)
{
    const char *first = NULL, *second = NULL;
    char name[TD_DTYPE_NAME_BYTES + 1], sizes[TD_SHAPE_TEXT_BYTES];
    td_status status = fill_text(e, &form->dtype, &first);
    if (!status && form->shape.text)
        status = fill_text(e, &form->shape, &second);
    if (status)
        return status;
    const size_t length = strcspn(first, " \t");
    if (!second)
        second = first + length;
    snprintf(name, sizeof name, "%.*s", (int)length, first);
    snprintf(sizes, sizeof sizes, "%s", strcmp(second, "()") == 0 ? "" : second);
    const char *lone = NULL; /* an x that stands between no two extents */
    for (char *c = sizes; *c; c++)
        if (*c == 'x') {
            if (c == sizes || c[-1] == ' ' || !strchr("0123456789", c[1]) || !c[1])
                lone = second + strspn(second, " \t");
            *c = ' ';
        }
    status = td_dtype_parse(name, dtype);
    if (status)
        return td_program_place(e->program, &form->dtype, status);
    status = lone ? td_fail(TD_SHAPE, "shape \"%s\" has an x without an extent on each side; write it as 3x8x8", lone)
                  : td_shape_parse(sizes, shape);
    return status ? td_program_place(e->program, form->shape.text ? &form->shape : &form->dtype, status) : TD_OK;
}

static td_status elab_make(td_elab *e, td_form *form, uint32_t *out)
{
    td_dtype dtype;
    td_shape shape;
    td_status status = find_kind(e, form, &dtype, &shape);
    if (!status)
        status = td_elab_op(e, TD_OP_MAKE, form, out);
    if (!status)
        status = fill_text(e, &form->text, &e->graph->op[*out].text);
    if (!status)
        status = set_like(e, form, *out, dtype, &shape);
    if (!status)
        status = td_elab_args(e, *out, NULL, 0);
    if (status)
        return status;
    td_op one = e->graph->op[*out]; /* whether the words are understood: one element is filled */
    e->graph->op[*out].constant = true;
    one.like.shape = (td_shape){.rank = 1, .dim = {1}};
    one.like.elems = 1;
    one.value = NULL;
    status = td_op_evaluate(e->graph, &one);
    td_tensor_destroy(&one.value);
    return status ? td_program_place(e->program, &form->text, status) : TD_OK;
}

/* The steps that keep the shape, with one tensor or two. */
static td_status elab_step(td_elab *e, td_form *form, const uint32_t *arg, uint32_t *out)
{
    static const td_step_op ops[] = {[TD_FORM_SCALE] = TD_STEP_SCALE,
                                     [TD_FORM_ADD] = TD_STEP_ADD,
                                     [TD_FORM_MUL] = TD_STEP_MUL,
                                     [TD_FORM_CLAMP] = TD_STEP_CLAMP};
    td_status status = td_elab_op(e, TD_OP_STEP, form, out);
    if (status)
        return status;
    td_op *op = &e->graph->op[*out];
    const td_tensor *a = &e->graph->op[arg[0]].like;
    op->step_op = ops[form->kind];
    for (int i = 0; i < 2 && !status; i++)
        if (form->number[i].text)
            status = td_token_real(e->program, e->scope, &form->number[i], &op->number[i]);
    if (!status)
        status = fill_text(e, &form->text, &op->text);
    if (!status)
        status = set_like(e, form, *out, a->dtype, &a->shape);
    if (status)
        return status;
    status = td_step_create(op->step_op, a->dtype, op->text, op->number[0], op->number[1], &op->step);
    if (!status && form->values == 2) {
        td_operand operand;
        status = td_operand_bind(&a->shape, a->dtype, &e->graph->op[arg[1]].like, op->text, &operand);
    }
    op->refuses = !status && td_step_refuses(op->step);
    return status ? td_program_place(e->program, &form->word, status) : TD_OK;
}

/* The text of x[..], with its numbers. */
static td_status print_slice(td_elab *e, const td_form *form, const char **out)
{
    td_text text = {0};
    td_status status = TD_OK;
    for (size_t i = 0; i < form->indices && !status; i++) {
        const td_index *x = &form->index[i];
        const td_ex *part[3] = {x->first, x->last, x->step};
        td_text_add(&text, "%s%s", i ? ", " : "", x->dots ? "..." : "");
        for (int k = 0; k < 3 && !status; k++) {
            int64_t value = 0;
            if (k == 1 && x->range)
                td_text_add(&text, ":");
            if (k == 2 && x->step)
                td_text_add(&text, ":");
            if (part[k] && !(status = td_ex_value(e->program, e->scope, part[k], &value)))
                td_text_add(&text, "%" PRId64, value);
        }
    }
    if (!status) {
        *out = text.failed ? NULL : td_arena_copy(&e->graph->arena, text.text ? text.text : "", text.used);
        status = *out ? TD_OK : td_fail_alloc(text.used + 1);
    }
    free(text.text);
    return status;
}

static td_status elab_slice(td_elab *e, td_form *form, const uint32_t *arg, uint32_t *out)
{
    const char *text = NULL;
    td_slice slice;
    td_status status = form->indices ? print_slice(e, form, &text) : fill_text(e, &form->text, &text);
    if (!status)
        status = td_elab_op(e, TD_OP_SLICE, form, out);
    if (status)
        return status;
    const td_tensor a = e->graph->op[arg[0]].like;
    e->graph->op[*out].text = text;
    status = td_slice_parse(text, &a.shape, &slice);
    if (status)
        return td_program_place(e->program, &form->text, status);
    const td_shape shape = td_slice_shape(&slice);
    return set_like(e, form, *out, a.dtype, &shape);
}

static td_status elab_concat(td_elab *e, td_form *form, const uint32_t *arg, uint32_t *out)
{
    double axis = 0;
    td_status status = td_token_real(e->program, e->scope, &form->number[0], &axis);
    td_shape shape = e->graph->op[arg[0]].like.shape;
    const td_dtype dtype = e->graph->op[arg[0]].like.dtype;
    if (!status && (axis < 0 || axis >= (double)shape.rank || axis != (double)(size_t)axis))
        status = td_program_fail(e->program, &form->number[0], TD_RANGE,
                                 "axis %s of a tensor of %zu dimensions; use 0 to %zu", form->number[0].text,
                                 shape.rank, shape.rank ? shape.rank - 1 : 0);
    for (size_t i = 1; i < form->values && !status; i++) {
        const td_tensor *b = &e->graph->op[arg[i]].like;
        char a_text[TD_SHAPE_TEXT_BYTES], b_text[TD_SHAPE_TEXT_BYTES];
        bool same = td_dtype_equal(b->dtype, dtype) && b->shape.rank == shape.rank;
        for (size_t d = 0; d < shape.rank && same; d++)
            same = d == (size_t)axis || b->shape.dim[d] == shape.dim[d];
        if (!same)
            status =
                td_program_fail(e->program, &form->value[i]->word, TD_SHAPE,
                                "%s %s cannot follow %s %s along axis %zu; make dtype and other extents equal",
                                b->dtype_name, td_shape_print(&b->shape, b_text), e->graph->op[arg[0]].like.dtype_name,
                                td_shape_print(&e->graph->op[arg[0]].like.shape, a_text), (size_t)axis);
        else if (!td_add_fits(shape.dim[(size_t)axis], b->shape.dim[(size_t)axis], &shape.dim[(size_t)axis]))
            status = td_program_fail(e->program, &form->value[i]->word, TD_OVERFLOW,
                                     "the extents along axis %zu pass 63 bits; join fewer tensors", (size_t)axis);
    }
    if (!status)
        status = td_elab_op(e, TD_OP_CONCAT, form, out);
    if (status)
        return status;
    e->graph->op[*out].axis = (size_t)axis;
    return set_like(e, form, *out, dtype, &shape);
}

static td_status elab_transpose(td_elab *e, td_form *form, const uint32_t *arg, uint32_t *out)
{
    const td_tensor a = e->graph->op[arg[0]].like;
    td_shape shape = {.rank = a.shape.rank};
    const char *text = NULL;
    uint64_t seen = 0, dim = 0;
    td_status status = fill_text(e, &form->text, &text);
    if (status)
        return status;
    const char *at = text;
    for (size_t i = 0; i < shape.rank; i++) {
        dim = shape.rank - 1 - i;
        at += at ? strspn(at, " ,") : 0;
        if (text && *text && (!td_text_number(&at, &dim) || dim >= shape.rank || seen >> dim & 1))
            dim = UINT64_MAX;
        if (dim == UINT64_MAX)
            break;
        seen |= (uint64_t)1 << dim;
        shape.dim[i] = a.shape.dim[dim];
    }
    if (dim == UINT64_MAX || (text && *text && at[strspn(at, " ,")]))
        return td_program_fail(e->program, &form->text, TD_OPTION,
                               "order \"%s\" of a tensor of %zu dimensions; name each of 0 to %zu once", text,
                               shape.rank, shape.rank ? shape.rank - 1 : 0);
    status = td_elab_op(e, TD_OP_TRANSPOSE, form, out);
    if (status)
        return status;
    e->graph->op[*out].text = text;
    return set_like(e, form, *out, a.dtype, &shape);
}

static td_status elab_convert(td_elab *e, td_form *form, const uint32_t *arg, uint32_t *out)
{
    td_as as;
    td_status status = td_elab_op(e, TD_OP_CONVERT, form, out);
    if (!status)
        status = fill_text(e, &form->text, &e->graph->op[*out].text);
    if (status)
        return status;
    const td_tensor a = e->graph->op[arg[0]].like;
    status = td_as_parse(e->graph->op[*out].text, a.dtype, &as);
    if (status)
        return td_program_place(e->program, &form->text, status);
    e->graph->op[*out].refuses = true;
    return set_like(e, form, *out, as.dtype, &a.shape);
}

static td_status elab_take(td_elab *e, td_form *form, uint32_t *out)
{
    td_dtype dtype;
    td_shape shape;
    td_status status = find_kind(e, form, &dtype, &shape);
    if (!status)
        status = td_elab_op(e, TD_OP_TAKE, form, out);
    if (!status)
        status = set_like(e, form, *out, dtype, &shape);
    if (!status)
        status = td_elab_args(e, *out, NULL, 0);
    return status ? status : td_elab_move(e, form, *out, &e->graph->op[*out].like);
}

static td_status elab_read(td_elab *e, td_form *form, uint32_t *out)
{
    const td_binding *memory = NULL;
    td_dtype dtype;
    td_shape shape = {.rank = 1};
    char name[TD_DTYPE_NAME_BYTES];
    td_status status = td_elab_memory(e, &form->memory, &memory);
    if (!status)
        status = td_elab_op(e, TD_OP_READ, form, out);
    if (!status)
        status = td_elab_words(e, form, *out, memory);
    if (status)
        return status;
    td_op *op = &e->graph->op[*out];
    const uint64_t width = memory->bank[0]->width_bits;
    shape.dim[0] = op->count;
    if (width > 64) {
        shape.rank = 2;
        shape.dim[1] = memory->bank[0]->word_bytes / 4;
    }
    snprintf(name, sizeof name, "u%u", width > 64 ? 32 : (unsigned)width);
    status = td_dtype_parse(name, &dtype);
    if (!status)
        status = set_like(e, form, *out, dtype, &shape);
    return status ? status : td_elab_args(e, *out, NULL, 0);
}

td_status td_elab_value_of(td_elab *e, td_form *form, uint32_t *out)
{
    uint32_t arg[64] = {0};
    td_status status = TD_OK;
    for (size_t i = 0; i < form->values && !status; i++)
        status = td_elab_value_of(e, form->value[i], &arg[i]);
    if (status)
        return status;
    switch (form->kind) {
    case TD_FORM_NAME:
        return find_tensor(e, form, out);
    case TD_FORM_OPEN:
        return elab_open(e, form, out);
    case TD_FORM_MAKE:
        return elab_make(e, form, out);
    case TD_FORM_TAKE:
        return elab_take(e, form, out);
    case TD_FORM_READ:
        return elab_read(e, form, out);
    case TD_FORM_CONVERT:
        status = elab_convert(e, form, arg, out);
        break;
    case TD_FORM_SLICE:
        status = elab_slice(e, form, arg, out);
        break;
    case TD_FORM_CONCAT:
        status = elab_concat(e, form, arg, out);
        break;
    case TD_FORM_TRANSPOSE:
        status = elab_transpose(e, form, arg, out);
        break;
    default:
        status = elab_step(e, form, arg, out);
    }
    if (status)
        return status;
    bool constant = true;
    for (size_t i = 0; i < form->values; i++)
        constant = constant && e->graph->op[arg[i]].constant;
    e->graph->op[*out].constant = constant;
    return td_elab_args(e, *out, arg, form->values);
}
