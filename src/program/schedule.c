/* Which ops a run of a label needs, and in which order: first everything that only makes tensors, so that what can be
 * refused is refused before a word is written; then the effects, with the tensors that depend on memories, in the order
 * of the text. Made once for each label when a program is compiled. */
#include "program/program.h"

#include <stdlib.h>
#include <string.h>

td_status td_graph_name(td_graph *g, const char *name, uint32_t op)
{
    td_graph_tensor *grown = realloc(g->name, (g->names + 1) * sizeof *grown);
    if (!grown)
        return td_fail_alloc((g->names + 1) * sizeof *grown);
    g->name = grown;
    grown[g->names++] = (td_graph_tensor){.text = name, .op = op};
    return TD_OK;
}

/* A dump or read that the text gives a name: it belongs to its place as an effect does. */
bool td_op_is_root(const td_op *op)
{
    if (!op->is_value)
        return true;
    return (op->kind == TD_OP_TAKE || op->kind == TD_OP_READ) && op->statement->kind == TD_FORM_TENSOR &&
           op->form == op->statement->value[0];
}

enum { NEEDED = 1, ROOT = 2, MOVES = 4 };

/* Ops come after those that they take, so one pass from the end marks all that are needed. */
static void mark(const td_graph *g, uint32_t label, unsigned char *flag)
{
    for (size_t i = g->count; i-- > 0;) {
        const td_op *op = &g->op[i];
        if (!op->dead && td_op_is_root(op) && (label == TD_NO_OP || op->label == label))
            flag[i] |= NEEDED | ROOT;
        if (flag[i] & NEEDED)
            for (uint32_t a = 0; a < op->args; a++)
                flag[op->arg[a]] |= NEEDED;
    }
    /* MOVES: it depends on what memories hold, or on a tensor that a dump writes */
    for (size_t i = 0; i < g->count; i++)
        if (g->op[i].kind == TD_OP_DUMP)
            flag[g->op[i].arg[0]] |= MOVES;
    for (size_t i = 0; i < g->count; i++) {
        const td_op *op = &g->op[i];
        if (!op->is_value || op->kind == TD_OP_TAKE || op->kind == TD_OP_READ)
            flag[i] |= MOVES;
        for (uint32_t a = 0; a < op->args && op->kind != TD_OP_BOUND; a++)
            flag[i] |= flag[op->arg[a]] & MOVES;
    }
}

static bool writes(const td_op *op)
{
    return op->kind == TD_OP_LOAD || op->kind == TD_OP_FILL || op->kind == TD_OP_WRITE || op->kind == TD_OP_DUMP;
}

/* A view keeps the tensor that it is of. */
static void keep_until(const td_graph *g, const td_schedule *s, uint32_t op, uint32_t place)
{
    for (;; op = g->op[op].arg[0]) {
        if (s->last_use[op] != TD_NO_OP)
            s->last_use[op] = place;
        if (!g->op[op].is_view)
            return;
    }
}

td_status td_schedule_make(td_graph *g, uint32_t label, td_schedule *out)
{
    unsigned char *flag = calloc(g->count + 1, 1);
    *out = (td_schedule){.label = label};
    out->op = calloc(g->count + 1, sizeof *out->op);
    out->last_use = malloc((g->count + 1) * sizeof *out->last_use);
    if (!flag || !out->op || !out->last_use) {
        free(flag);
        return td_fail_alloc((g->count + 1) * sizeof *out->op);
    }
    mark(g, label, flag);
    for (size_t i = 0; i < g->count; i++)
        if ((flag[i] & NEEDED) && !(flag[i] & MOVES))
            out->op[out->count++] = (uint32_t)i;
    out->pure = out->count;
    bool wrote = false;
    for (size_t i = 0; i < g->count; i++)
        if ((flag[i] & NEEDED) && (flag[i] & MOVES)) {
            const td_op *op = &g->op[i];
            out->op[out->count++] = (uint32_t)i;
            out->journal |= wrote && (op->refuses || (op->is_value && op->kind != TD_OP_BOUND));
            wrote |= writes(op);
        }
    for (size_t i = 0; i < g->count; i++)
        out->last_use[i] = flag[i] & ROOT ? TD_NO_OP : 0;
    for (size_t i = 0; i < out->count; i++)
        for (uint32_t a = 0; a < g->op[out->op[i]].args; a++)
            keep_until(g, out, g->op[out->op[i]].arg[a], (uint32_t)i);
    free(flag);
    return TD_OK;
}
