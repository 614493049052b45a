/* The passes over a graph: td_graph_run_passes lists them in order. Called when a program is compiled, and by
 * explain.c, which prints the graph after each. Small ones are here; join.c and fuse.c have the others. */
#include "program/passes.h"

#include "tensor/slice.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    td_status (*run)(td_program *, td_graph *);
} passes[] = {
    {"hoist", td_pass_hoist}, {"view", td_pass_view}, {"join", td_pass_join},
    {"fuse", td_pass_fuse},   {"drop", td_pass_drop},
};
#define PASSES (sizeof passes / sizeof *passes)

td_status td_graph_run_passes(td_program *p, td_graph *g, td_explain *explain)
{
    td_status status = TD_OK;
    if (explain)
        td_explain_graph(explain, g, "as written");
    for (size_t i = 0; i < PASSES && !status; i++) {
        if (!(p->passes >> i & 1))
            continue;
        status = passes[i].run(p, g);
        if (explain && !status)
            td_explain_graph(explain, g, passes[i].name);
    }
    return status;
}

/* -- hoist --------------------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_op(const td_op *a, const td_op *b)
{
    return a->kind == b->kind && a->args == b->args && memcmp(a->arg, b->arg, a->args * sizeof *a->arg) == 0 &&
           same_text(a->text, b->text) && a->number[0] == b->number[0] && a->number[1] == b->number[1] &&
           a->axis == b->axis && a->like.shape.rank == b->like.shape.rank &&
           memcmp(a->like.shape.dim, b->like.shape.dim, a->like.shape.rank * sizeof *a->like.shape.dim) == 0;
}

/* A step of a loop that was the same in the iteration before is the op of that iteration. Only the last one of each
 * form is looked at, which is all that a step without the loop variable needs. */
td_status td_pass_hoist(td_program *p, td_graph *g)
{
    (void)p;
    uint32_t *same = malloc((g->count + 1) * sizeof *same);
    if (!same)
        return td_fail_alloc((g->count + 1) * sizeof *same);
    for (size_t i = 0; i < g->count; i++)
        if (g->op[i].form)
            ((td_form *)(uintptr_t)g->op[i].form)->last_op = TD_NO_OP;
    for (size_t i = 0; i < g->count; i++) {
        td_op *op = &g->op[i];
        td_form *form = (td_form *)(uintptr_t)op->form; /* the program's own */
        same[i] = (uint32_t)i;
        for (uint32_t a = 0; a < op->args; a++)
            op->arg[a] = same[op->arg[a]];
        if (!form || !op->is_value || op->kind == TD_OP_BOUND || op->kind == TD_OP_OPEN || op->kind == TD_OP_TAKE ||
            op->kind == TD_OP_READ)
            continue;
        bool steady = true; /* a tensor that a dump writes may differ from step to step */
        for (uint32_t a = 0; a < op->args; a++)
            steady = steady && !g->op[op->arg[a]].written;
        const uint32_t last = form->last_op;
        if (steady && last != TD_NO_OP && same_op(&g->op[last], op)) {
            same[i] = last;
            op->dead = true;
        } else
            form->last_op = (uint32_t)i;
    }
    for (size_t i = 0; i < g->names; i++)
        g->name[i].op = same[g->name[i].op];
    free(same);
    return TD_OK;
}

/* -- view ---------------------------------------------------------------------------------------------------------- */

td_status td_pass_view(td_program *p, td_graph *g)
{
    (void)p;
    for (size_t i = 0; i < g->count; i++) {
        td_op *op = &g->op[i];
        td_slice slice;
        if (op->kind != TD_OP_SLICE || op->dead)
            continue;
        if (g->op[op->arg[0]].written) {
            op->why = "a copy: a dump writes the tensor";
            continue;
        }
        const td_shape *shape = &g->op[op->arg[0]].like.shape;
        const td_status status = td_slice_parse(op->text, shape, &slice);
        if (status)
            return status;
        op->is_view = td_slice_contiguous(&slice, shape, &op->first);
        if (!op->is_view)
            op->why = "a copy: its elements are no run of the tensor's";
    }
    return TD_OK;
}

/* -- drop ---------------------------------------------------------------------------------------------------------- */

td_status td_pass_drop(td_program *p, td_graph *g)
{
    (void)p;
    for (size_t i = g->count; i-- > 0;) {
        td_op *op = &g->op[i];
        op->used = false;
    }
    for (size_t i = g->count; i-- > 0;) {
        td_op *op = &g->op[i];
        if (op->dead || (op->is_value && !op->used && !td_op_is_root(op))) {
            op->dead = true;
            continue;
        }
        for (uint32_t a = 0; a < op->args; a++)
            g->op[op->arg[a]].used = true;
    }
    return TD_OK;
}
