/* A plan in one line, for td_layout_explain and for tests: boxes, loops and the path that each box takes. */
#include "base/text.h"
#include "plan/move.h"

#include <inttypes.h>
#include <stdlib.h>

/* "transpose x32 32x2048 around 64 8" */
static void describe_move(const td_move *m, td_text *out)
{
    static const char *const name[] = {"walk", "runs", "transpose", "interleave", "deinterleave", "picks"};
    td_text_add(out, "%s", name[m->kind]);
    if (m->kind == TD_MOVE_NONE)
        return;
    td_text_add(out, " x%u %" PRIu64 "x%" PRIu64 "%s", 8u * m->elem_bytes, m->high, m->wide,
                m->stream ? " streamed" : "");
    if (m->tuned)
        td_text_add(out, " tuned");
    for (size_t i = 0; i < m->loops; i++)
        td_text_add(out, "%s%" PRIu64 "%s", i ? " " : " around ", m->loop[i].extent,
                    m->loop[i].of == TD_LOOP_HIGH   ? "h"
                    : m->loop[i].of == TD_LOOP_WIDE ? "w"
                                                    : "");
}

static void describe_boxes(const td_plan *plan, const char *name, const td_box *box, size_t count, td_text *out)
{
    if (!count)
        return;
    td_text_add(out, "%s%s", out->used ? "; " : "", name);
    for (size_t b = 0; b < count && b < 4; b++) {
        td_text_add(out, "%s", b ? " + " : " ");
        for (size_t i = 0; i < box[b].node_count; i++) {
            const td_node *n = &plan->node[box[b].first_node + i];
            const bool selects = i < box[b].selectors;
            td_text_add(out, "%s%" PRIu64 ":%" PRId64 ":%" PRId64, selects ? (plan->table ? "@" : "#") : "[", n->extent,
                        n->tensor, selects ? n->select : n->memory);
            td_text_add(out, "%s", selects ? " " : "]");
        }
        if (!box[b].node_count)
            td_text_add(out, "[1]");
        if (box[b].piece_count)
            td_text_add(out, "{%zu pieces}", box[b].piece_count);
    }
    if (count > 4)
        td_text_add(out, " + %zu more", count - 4);
}

td_status td_plan_describe(const td_plan *plan, char **text)
{
    td_text out = {0};
    describe_boxes(plan, "move", plan->data, plan->data_count, &out);
    describe_boxes(plan, "pad", plan->pads, plan->pads_count, &out);
    if (plan->lane_mask)
        describe_boxes(plan, "clear", plan->words, plan->words_count, &out);
    if (plan->table)
        td_text_add(&out, "; table of %" PRIu64 " words%s", plan->table_count, plan->in_order ? ", in order" : "");
    for (size_t b = 0; plan->move && b < plan->data_count && b < 4; b++) {
        td_text_add(&out, "%s", b ? " + " : "; load ");
        describe_move(&plan->move[2 * b], &out);
    }
    if (out.failed) {
        free(out.text);
        return td_fail_alloc(out.used);
    }
    *text = out.text;
    return TD_OK;
}
