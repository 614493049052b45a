/* Other arguments without a new compilation: where an argument stands only in what tensors and memories are filled with
 * and in the paths of files, nothing else of the graph depends on it, and those steps alone get their new words.
 * arguments.c asks before it compiles; what is refused here is compiled, which has the message. */
#include "program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- where an argument stands -------------------------------------------------------------------------------------- */

/* The token is the argument, or has {argument} in it. */
static bool token_has(const td_token *token, const char *name)
{
    const size_t length = strlen(name);
    if (!token->text)
        return false;
    if (strcmp(token->text, name) == 0)
        return true;
    for (const char *at = strchr(token->text, '{'); at; at = strchr(at + 1, '{'))
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] == '}')
            return true;
    return false;
}

static bool ex_has(const td_ex *ex, const char *name)
{
    if (!ex)
        return false;
    return (ex->kind == TD_EX_NAME && token_has(&ex->name, name)) || ex_has(ex->a, name) || ex_has(ex->b, name);
}

static bool is_filling(const td_form *f)
{
    return f->kind == TD_FORM_MAKE || f->kind == TD_FORM_FILL || f->kind == TD_FORM_OPEN;
}

/* The argument stands somewhere else than in the words of a filling. */
static bool decides(const td_form *f, const char *name)
{
    enum { TOKENS = 10 };
    const td_token *const tokens[TOKENS] = {
        &f->name,  &f->memory, &f->layout,    &f->as,        &f->policy,
        &f->dtype, &f->shape,  &f->number[0], &f->number[1], is_filling(f) ? NULL : &f->text};
    bool has = ex_has(f->at, name) || ex_has(f->first, name) || ex_has(f->count, name);
    if (f->kind == TD_FORM_ARG)
        return false;
    for (size_t i = 0; i < TOKENS && !has; i++)
        has = tokens[i] && token_has(tokens[i], name);
    for (size_t i = 0; i < f->word_values && !has; i++)
        has = token_has(&f->word_value[i], name);
    for (size_t i = 0; i < f->indices && !has; i++)
        has = ex_has(f->index[i].first, name) || ex_has(f->index[i].last, name) || ex_has(f->index[i].step, name);
    for (size_t i = 0; i < f->values && !has; i++)
        has = decides(f->value[i], name);
    return has;
}

bool td_argument_fills(const td_program *p, const char *name)
{
    for (const td_form *f = p->first; f; f = f->next)
        if (decides(f, name))
            return false;
    return true;
}

/* -- new words ----------------------------------------------------------------------------------------------------- */

/* The loop variables of an op, out of "t=3 u=1"; the names are the forms', which are compared as text. */
static const td_scope *read_scope(const char *loop, td_scope *scope, char (*name)[64])
{
    const td_scope *inner = NULL;
    for (size_t depth = 0; *loop && depth < TD_MOST_DEPTH; depth++) {
        const size_t length = strcspn(loop, "=");
        snprintf(name[depth], 64, "%.*s", (int)length, loop);
        char *end = NULL;
        scope[depth] = (td_scope){.name = name[depth], .value = strtoll(loop + length + 1, &end, 10), .up = inner};
        inner = &scope[depth];
        loop = end + (*end == ' ');
    }
    return inner;
}

static td_status open_again(td_op *op)
{
    td_tensor *tensor = NULL;
    if (op->shared || op->form->dtype.text)
        return TD_ARGUMENT;
    const td_status status = td_tensor_open(op->text, NULL, &tensor);
    if (status)
        return status;
    if (!td_dtype_equal(tensor->dtype, op->like.dtype) || tensor->shape.rank != op->like.shape.rank ||
        memcmp(tensor->shape.dim, op->like.shape.dim, tensor->shape.rank * sizeof *tensor->shape.dim) != 0) {
        td_tensor_destroy(&tensor);
        return TD_SHAPE;
    }
    td_tensor_destroy(&op->value);
    op->value = tensor;
    return TD_OK;
}

/* Whether the words of a filling of a memory are understood. */
static td_status try_fill(const td_op *op)
{
    td_memory *one = NULL;
    td_status status = td_memory_create("", op->memory->bank[0]->width_bits, 1, &one);
    if (!status)
        status = td_memory_fill(one, op->text, 0, 1);
    td_memory_destroy(&one);
    return status;
}

/* And of a tensor. */
static td_status try_make(const td_graph *g, const td_op *op)
{
    td_op one = *op;
    one.like.shape = (td_shape){.rank = 1, .dim = {1}};
    one.like.elems = 1;
    one.value = NULL;
    one.owned = false;
    one.spare = NULL;
    const td_status status = td_op_evaluate(g, &one);
    td_tensor_destroy(&one.value);
    return status;
}

static td_status give_words(const td_program *p, td_graph *g, td_op *op)
{
    td_scope scope[TD_MOST_DEPTH];
    char name[TD_MOST_DEPTH][64];
    const char *text = NULL;
    td_status status = td_token_fill(p, read_scope(op->loop, scope, name), &op->form->text, &g->arena, &text);
    if (status || strcmp(text, op->text) == 0)
        return status;
    op->text = text;
    return op->kind == TD_OP_OPEN ? open_again(op) : op->kind == TD_OP_FILL ? try_fill(op) : try_make(g, op);
}

td_status td_graph_rearm(const td_program *p, td_graph *g, const char *const *changed, size_t count)
{
    td_status status = ++g->rearmed > TD_MOST_REARMED ? TD_NO_MEMORY : TD_OK; /* the words pile up in the arena */
    for (size_t i = 0; i < g->count && !status; i++) {
        td_op *op = &g->op[i];
        bool has = false;
        for (size_t k = 0; k < count && is_filling(op->form); k++)
            has |= token_has(&op->form->text, changed[k]);
        if (has && op->kind != TD_OP_BOUND)
            status = give_words(p, g, op);
    }
    for (size_t i = 0; i < g->count && !status; i++) {
        td_op *op = &g->op[i];
        if (!op->is_value || !op->constant || op->kind == TD_OP_OPEN || op->kind == TD_OP_BOUND)
            continue;
        if (op->owned)
            td_tensor_destroy(&op->value);
        op->owned = false;
        op->value = NULL;
    }
    return status;
}
