/* The pass `join`: loads of neighbouring parts of one tensor into neighbouring words, as a loop over x[t] makes them,
 * become one load of all parts. Where the layout, given a first dimension that is so many times as long, puts each part
 * where its own load did, it is that layout: plan/layers.h is asked for that. Otherwise, as where there are gaps
 * between the parts, it is the layout with one dimension more, which steps from part to part. */
#include "program/passes.h"

#include "layout/bind.h"
#include "plan/cache.h"
#include "plan/layers.h"

#include <stdlib.h>
#include <string.h>

/* The elements that a load takes, as a run of a tensor that is not a view. */
static bool find_run(const td_graph *g, const td_op *load, uint32_t *root, uint64_t *first)
{
    uint32_t at = load->arg[0];
    *first = 0;
    if (!g->op[at].is_view)
        return false;
    for (; g->op[at].is_view; at = g->op[at].arg[0])
        *first += g->op[at].first;
    *root = at;
    return true;
}

/* The next load, where only tensors are made in between. */
static size_t next_load(const td_graph *g, size_t from)
{
    for (size_t i = from + 1; i < g->count; i++)
        if (!g->op[i].dead && (!g->op[i].is_value || g->op[i].kind == TD_OP_TAKE || g->op[i].kind == TD_OP_READ))
            return g->op[i].kind == TD_OP_LOAD ? i : g->count;
    return g->count;
}

/* How many loads from `at` on are alike, each `step` words behind the one before. */
static size_t count_alike(const td_graph *g, size_t at, size_t *last, uint64_t *step)
{
    const td_op *a = &g->op[at];
    uint32_t root = 0, other = 0;
    uint64_t first = 0, next = 0;
    size_t count = 1;
    *last = at;
    if (a->move->truncate || a->refuses || a->move->shape.rank == 0 || !find_run(g, a, &root, &first))
        return 1;
    for (size_t i = next_load(g, at); i < g->count; i = next_load(g, i)) {
        const td_op *b = &g->op[i];
        if (b->move != a->move || b->label != a->label || !find_run(g, b, &other, &next) || other != root ||
            next != first + count * a->move->elems || b->at <= a->at)
            break;
        if (count == 1)
            *step = b->at - a->at;
        if (b->at - a->at != count * *step)
            break;
        count++;
        *last = i;
    }
    return count;
}

/* Whether a tensor that is `count` times as long lies as those loads put its parts. */
static bool lies_alike(const td_op *a, size_t count, uint64_t step)
{
    const td_program_move *m = a->move;
    td_shape shape = m->shape;
    td_layers cut;
    uint64_t length = 0;
    const td_memory *memory = a->memory->bank[0];
    if (!td_mul_fits(shape.dim[0], (uint64_t)count, &length) || (m->convert && m->convert->numbers))
        return false;
    shape.dim[0] = length;
    const td_plan_request request = {
        .layout = m->layout,
        .shape = &shape,
        .tensor_dtype = m->dtype,
        .memory_dtype = m->memory_dtype,
        .geometry = {memory->width_bits, memory->depth_words, a->memory->banks, memory->word_bytes}};
    td_plan *whole = NULL;
    if (td_cache_plan(&request, &whole) != TD_OK)
        return false;
    td_plan_release(&whole);
    if (!td_layers_find(&request, m->shape.dim[0], m->elems * m->dtype.bytes, &cut))
        return false;
    const bool alike = cut.rows == m->shape.dim[0] && cut.last_rows == cut.rows &&
                       cut.step_bytes == (int64_t)(step * memory->word_bytes);
    td_layers_free(&cut);
    return alike;
}

/* The move of all parts by `layout`, which has one dimension more where `deeper`. */
static td_status find_longer(td_graph *g, const td_op *a, size_t count, const td_layout *layout, bool deeper,
                             const td_program_move **out)
{
    td_program_move like = *a->move;
    like.plan = NULL;
    like.convert = NULL;
    like.spans = NULL;
    like.span_count = 0;
    like.end = 0;
    like.next = NULL;
    like.elems *= count;
    if (deeper) {
        like.as = td_layout_choose_as(a->move->layout, a->move->as);
        like.layout = layout;
        memmove(&like.shape.dim[1], &like.shape.dim[0], like.shape.rank++ * sizeof *like.shape.dim);
        like.shape.dim[0] = count;
    } else
        like.shape.dim[0] *= count;
    return td_program_move_find(g, &like, (td_form *)(uintptr_t)a->form, out); /* the program's own */
}

static uint64_t count_words(const td_program_move *m)
{
    uint64_t words = 0;
    for (size_t i = 0; i < m->span_count; i++)
        words += m->spans[i].count;
    return words;
}

/* The move of all parts, `step` words apart, by a layout with a dimension more; or NULL. Words that two parts share
 * keep them apart: the later load has to come later. */
static const td_program_move *find_loop(td_program *p, td_graph *g, const td_op *a, size_t count, uint64_t step)
{
    const td_program_move *m = a->move, *all = NULL;
    const td_layout *layout = m->layout, *deeper = NULL;
    if (layout->flat || layout->skews || layout->alias_last || m->shape.rank == TD_MAX_RANK ||
        (m->convert && m->convert->numbers))
        return NULL;
    td_bound *bound = malloc(sizeof *bound);
    const uint64_t part = bound && td_bind(layout, &m->shape, bound) == TD_OK ? bound->count[TD_ROLE_WORD] : 0;
    free(bound);
    if (!part || td_program_layout_of_loop(p, layout, part, step, a->memory->bank[0]->width_bits, &deeper) != TD_OK ||
        find_longer(g, a, count, deeper, true, &all) != TD_OK)
        return NULL;
    return count_words(all) == count * count_words(m) && all->end == m->end + (count - 1) * step ? all : NULL;
}

/* The first of `count` loads becomes the load of all; the tensor that it takes is a longer view. */
static void join(td_graph *g, size_t at, size_t last, size_t count, const td_program_move *longer)
{
    td_op *a = &g->op[at];
    td_op *view = &g->op[a->arg[0]];
    if (longer->end > a->memory->bank[0]->depth_words - a->at)
        return;
    view->like.shape = longer->shape;
    view->like.elems = longer->elems;
    a->move = longer;
    a->joined = (uint32_t)count - 1;
    for (size_t i = at + 1; i <= last; i++)
        if (g->op[i].kind == TD_OP_LOAD && !g->op[i].dead)
            g->op[i].dead = g->op[i].joined_into = true;
}

/* The views of these loads serve nothing else. */
static bool views_are_free(const td_graph *g, size_t at)
{
    uint32_t uses = 0;
    for (size_t i = 0; i < g->count; i++)
        for (uint32_t a = 0; a < g->op[i].args && !g->op[i].dead; a++)
            uses += g->op[i].arg[a] == g->op[at].arg[0];
    for (size_t i = 0; i < g->names; i++)
        uses += g->name[i].op == g->op[at].arg[0];
    return uses == 1;
}

td_status td_pass_join(td_program *p, td_graph *g)
{
    for (size_t i = 0; i < g->count; i++) {
        size_t last = i;
        uint64_t step = 0;
        if (g->op[i].kind != TD_OP_LOAD || g->op[i].dead)
            continue;
        const size_t count = count_alike(g, i, &last, &step);
        if (count > 1 && views_are_free(g, i)) {
            const td_program_move *longer = NULL;
            if (lies_alike(&g->op[i], count, step)) {
                const td_status status = find_longer(g, &g->op[i], count, NULL, false, &longer);
                if (status)
                    return status;
            } else
                longer = find_loop(p, g, &g->op[i], count, step);
            if (longer)
                join(g, i, last, count, longer);
            else
                g->op[i].why = "not joined with the loads behind it: no layout of all lies so";
        }
        i = last;
    }
    return TD_OK;
}
