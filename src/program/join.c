/* The pass `join`: loads of neighbouring parts of one tensor into neighbouring words, as a loop over x[t] makes them,
 * become one load of all parts. They are one where the layout, given a first dimension that is so many times as long,
 * puts each part where its own load did: plan/layers.h is asked for that. */
#include "program/passes.h"

#include "plan/cache.h"
#include "plan/layers.h"

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

/* The first of `count` loads becomes the load of all; the tensor that it takes is a longer view. */
static td_status join(td_graph *g, size_t at, size_t last, size_t count)
{
    td_op *a = &g->op[at];
    td_op *view = &g->op[a->arg[0]];
    const td_program_move *m = a->move, *longer = NULL;
    td_program_move like = *m;
    like.plan = NULL;
    like.convert = NULL;
    like.spans = NULL;
    like.span_count = 0;
    like.end = 0;
    like.next = NULL;
    like.shape.dim[0] *= count;
    like.elems *= count;
    td_status status = td_program_move_find(g, &like, (td_form *)(uintptr_t)a->form, &longer); /* the program's own */
    if (status)
        return status;
    if (longer->end > a->memory->bank[0]->depth_words - a->at)
        return TD_OK;
    view->like.shape = like.shape;
    view->like.elems = like.elems;
    a->move = longer;
    a->joined = (uint32_t)count - 1;
    for (size_t i = at + 1; i <= last; i++)
        if (g->op[i].kind == TD_OP_LOAD && !g->op[i].dead)
            g->op[i].dead = g->op[i].joined_into = true;
    return TD_OK;
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
    (void)p;
    td_status status = TD_OK;
    for (size_t i = 0; i < g->count && !status; i++) {
        size_t last = i;
        uint64_t step = 0;
        if (g->op[i].kind != TD_OP_LOAD || g->op[i].dead)
            continue;
        const size_t count = count_alike(g, i, &last, &step);
        if (count > 1 && views_are_free(g, i)) {
            if (lies_alike(&g->op[i], count, step))
                status = join(g, i, last, count);
            else
                g->op[i].why = "not joined with the loads behind it: the layout of all would lie elsewhere";
        }
        i = last;
    }
    return status;
}
