/* How a tensor of one shape and dtype goes into a memory or comes out of it: the conversion, the plan and its words,
 * found once when a program is compiled and held by it, so that a run looks up and parses nothing. elaborate.c asks.
 * Refused is what td_backdoor_load_tensor, _dump_tensor and td_compare refuse of names, shapes, layouts and addresses;
 * the messages are theirs. */
#include "program/program.h"

#include "backdoor/call.h"
#include "backdoor/scales.h"
#include "plan/walk.h"

#include <stdlib.h>
#include <string.h>

static td_status make_convert(td_program_move *m, const char *text, const td_shape *shape)
{
    td_as as;
    td_scales scales = {0};
    td_status status = td_as_parse(text, m->dtype, &as);
    td_convert *convert = status ? NULL : malloc(sizeof *convert);
    if (status)
        return status;
    if (!convert)
        return td_fail_alloc(sizeof *convert);
    status = td_scales_find(&as, m->layout, shape, &scales);
    if (!status)
        status = td_convert_bind(&as, m->dtype, m->to_tensor || m->compares ? TD_TO_TENSOR : TD_TO_MEMORY, &scales.axis,
                                 convert);
    if (status) {
        td_scales_free(&scales);
        free(convert);
        return status;
    }
    td_scales_give(&scales, convert);
    m->memory_dtype = as.dtype;
    m->convert = convert;
    return TD_OK;
}

static td_status fill_in(td_program_move *m)
{
    td_tensor like = {.dtype = m->dtype, .shape = m->shape, .elems = m->elems};
    const td_call call = {.operation = "",
                          .bank = (const td_memory *const *)m->memory->bank,
                          .banks = m->memory->banks,
                          .tensor = &like,
                          .layout = m->layout,
                          .as = m->as,
                          .writes_tensor = m->to_tensor,
                          .compares = m->compares,
                          .truncate = m->truncate};
    const char *text = td_layout_choose_as(m->layout, m->as);
    td_status status = td_call_check_banks(&call);
    m->memory_dtype = m->dtype;
    if (!status && *text)
        status = make_convert(m, text, &m->shape);
    if (!status)
        status = td_call_check_dtype(&call, m->memory_dtype);
    if (!status)
        status = td_call_plan(&call, m->memory_dtype, &m->plan);
    if (!status)
        status = td_plan_spans(m->plan, &m->spans, &m->span_count);
    for (size_t i = 0; i < m->span_count && !status; i++)
        if (m->spans[i].first + m->spans[i].count > m->end)
            m->end = m->spans[i].first + m->spans[i].count;
    if (m->convert && m->convert->copy) {
        td_convert_free(m->convert);
        free(m->convert);
        m->convert = NULL;
    }
    m->partial = m->layout->keep || m->layout->clip || m->layout->flat;
    return status;
}

void td_program_move_free(td_program_move *m)
{
    if (m->plan)
        td_plan_release(&m->plan);
    if (m->convert) {
        td_convert_free(m->convert);
        free(m->convert);
    }
    free(m->spans);
    free(m);
}

bool td_program_move_refuses(const td_program_move *m)
{
    return (m->convert && m->convert->check) || (m->to_tensor && (m->plan->slides || m->plan->copies));
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same(const td_program_move *a, const td_program_move *b)
{
    return a->memory == b->memory && a->layout == b->layout && same_text(a->as, b->as) &&
           td_dtype_equal(a->dtype, b->dtype) && a->shape.rank == b->shape.rank &&
           memcmp(a->shape.dim, b->shape.dim, a->shape.rank * sizeof *a->shape.dim) == 0 &&
           a->to_tensor == b->to_tensor && a->compares == b->compares && a->truncate == b->truncate;
}

td_status td_program_move_find(td_graph *g, const td_program_move *like, td_form *form, const td_program_move **out)
{
    if (form->last_move && is_same(form->last_move, like)) {
        *out = form->last_move;
        return TD_OK;
    }
    td_program_move *m = malloc(sizeof *m);
    if (!m)
        return td_fail_alloc(sizeof *m);
    *m = *like;
    const td_status status = fill_in(m);
    if (status) {
        td_program_move_free(m);
        return status;
    }
    m->next = g->moves;
    g->moves = m;
    form->last_move = m;
    *out = m;
    return TD_OK;
}
