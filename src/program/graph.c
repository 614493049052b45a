/* The graph as a whole: loops and labels unrolled into the statements of effects.c, what is checked of all together,
 * the passes and the schedules. Called when a program is compiled. */
#include "program/elaborate.h"
#include "program/passes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- blocks -------------------------------------------------------------------------------------------------------- */

static td_status elab_block(td_elab *e, td_form *first, unsigned depth, td_form **end);

static td_form *skip_block(td_form *form, unsigned depth)
{
    while (form && form->depth >= depth)
        form = form->next;
    return form;
}

static td_status elab_for(td_elab *e, td_form *form, td_form **end)
{
    int64_t first = 0, last = 0;
    td_program *p = e->program;
    td_status status = td_ex_value(p, e->scope, form->first, &first);
    if (!status)
        status = td_ex_value(p, e->scope, form->count, &last);
    const char *const loop = e->loop;
    *end = skip_block(form->next, form->depth + 1);
    for (int64_t i = first; i < last && !status; i++) {
        const td_scope scope = {.name = form->name.text, .value = i, .up = e->scope};
        char text[128];
        if (++e->iterations > TD_MOST_ITERATIONS)
            return td_program_fail(p, &form->word, TD_RANGE,
                                   "more than %zu iterations of all loops; run the program in parts",
                                   TD_MOST_ITERATIONS);
        snprintf(text, sizeof text, "%s%s%s=%" PRId64, loop ? loop : "", loop ? " " : "", scope.name, i);
        e->loop = td_arena_copy(&e->graph->arena, text, strlen(text));
        e->scope = &scope;
        status = e->loop ? elab_block(e, form->next, form->depth + 1, end) : TD_NO_MEMORY;
        e->scope = scope.up;
    }
    e->loop = loop;
    return status;
}

static td_status elab_label(td_elab *e, td_form *form, td_form **end)
{
    const uint32_t above = e->label;
    const td_program *p = e->program;
    if (above != TD_NO_OP)
        return td_program_fail(p, &form->word, TD_FORMAT, "a label inside of label %s; close that one first",
                               p->label[above]);
    for (uint32_t i = 0; i < p->labels; i++)
        if (strcmp(p->label[i], form->name.text) == 0)
            e->label = i;
    const td_status status = elab_block(e, form->next, form->depth + 1, end);
    e->label = above;
    return status;
}

static td_status elab_block(td_elab *e, td_form *first, unsigned depth, td_form **end)
{
    td_form *form = first;
    td_status status = TD_OK;
    while (form && form->depth >= depth && !status) {
        td_form *next = form->next;
        if (form->kind == TD_FORM_FOR)
            status = elab_for(e, form, &next);
        else if (form->kind == TD_FORM_LABEL)
            status = elab_label(e, form, &next);
        else
            status = td_elab_statement(e, form);
        form = next;
    }
    *end = form;
    return status;
}

/* A name that two lines give would make one of them useless. */
static td_status check_twice(const td_program *p)
{
    for (const td_form *a = p->first; a; a = a->next)
        for (const td_form *b = p->first; (a->kind == TD_FORM_TENSOR || a->kind == TD_FORM_LAYOUT) && b != a;
             b = b->next)
            if (b->kind == a->kind && strcmp(a->name.text, b->name.text) == 0)
                return td_program_fail(p, &a->name, TD_FORMAT, "%s %s stands in line %u already; give it another name",
                                       a->word.text, a->name.text, b->name.line->number);
    return TD_OK;
}

static td_status check_layouts(td_program *p)
{
    const td_layout *layout = NULL;
    td_status status = TD_OK;
    for (const td_form *f = p->first; f && !status; f = f->next)
        if (f->kind == TD_FORM_LAYOUT)
            status = td_program_layout(p, &f->name, f->name.text, &layout);
    return status;
}

static td_status make_schedules(td_program *p, td_graph *g)
{
    td_status status = TD_OK;
    g->schedules = p->labels + 1;
    g->schedule = calloc(g->schedules, sizeof *g->schedule);
    if (!g->schedule)
        return td_fail_alloc(g->schedules * sizeof *g->schedule);
    for (size_t i = 0; i < g->schedules && !status; i++)
        status = td_schedule_make(g, i == p->labels ? TD_NO_OP : (uint32_t)i, &g->schedule[i]);
    return status;
}

/* The tensors whose values depend on a dump into a tensor of the caller. */
static void mark_written(td_graph *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->op[i].kind == TD_OP_DUMP)
            g->op[g->op[i].arg[0]].written = true;
    for (size_t i = 0; i < g->count; i++)
        for (uint32_t a = 0; a < g->op[i].args && g->op[i].is_value; a++)
            g->op[i].written |= g->op[g->op[i].arg[a]].written;
}

/* Moves belong to the graph before. */
static void forget_moves(td_form *form)
{
    form->last_move = NULL;
    for (size_t i = 0; i < form->values; i++)
        forget_moves(form->value[i]);
}

td_status td_graph_create(td_program *p, td_explain *explain, td_graph **out)
{
    td_form *end = NULL;
    td_elab e = {.program = p, .label = TD_NO_OP};
    for (td_form *f = p->first; f; f = f->next)
        forget_moves(f);
    e.graph = calloc(1, sizeof *e.graph);
    if (!e.graph)
        return td_fail_alloc(sizeof *e.graph);
    td_status status = check_twice(p);
    if (!status)
        status = check_layouts(p);
    if (!status)
        status = elab_block(&e, p->first, 0, &end);
    for (size_t i = 0; i < e.names && !status; i++)
        status = td_graph_name(e.graph, e.name[i].text, e.name[i].op);
    if (!status)
        status = td_graph_check_overlaps(p, e.graph);
    if (!status) {
        mark_written(e.graph);
        status = td_graph_run_passes(p, e.graph, explain);
    }
    if (!status)
        status = make_schedules(p, e.graph);
    free(e.name);
    if (status)
        td_graph_destroy(&e.graph);
    else
        *out = e.graph;
    return status;
}

void td_graph_destroy(td_graph **graph)
{
    td_graph *g = *graph;
    if (!g)
        return;
    for (size_t i = 0; i < g->count; i++) {
        td_op *op = &g->op[i];
        if (op->owned)
            td_tensor_destroy(&op->value);
        td_tensor_destroy(&op->spare);
        if (op->step)
            td_step_destroy(&op->step);
        td_layout_destroy(&op->moved);
        td_plan_release(&op->moved_plan);
        if (op->fused)
            td_fused_free(op->fused);
    }
    while (g->moves) {
        td_program_move *next = g->moves->next;
        td_program_move_free(g->moves);
        g->moves = next;
    }
    for (size_t i = 0; g->schedule && i < g->schedules; i++)
        td_schedule_free(&g->schedule[i]);
    free(g->schedule);
    free(g->name);
    free(g->op);
    td_arena_free(&g->arena);
    free(g);
    *graph = NULL;
}
