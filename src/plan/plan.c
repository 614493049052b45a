/* The life of a plan and its one-line description; lower.c makes it. */
#include "plan/plan.h"

#include "plan/move.h"

#include <inttypes.h>
#include <stdlib.h>

void td_plan_hold(td_plan *plan)
{
    atomic_fetch_add_explicit(&plan->users, 1, memory_order_relaxed);
}

void td_plan_release(td_plan **plan)
{
    td_plan *p = *plan;
    *plan = NULL;
    if (!p || atomic_fetch_sub_explicit(&p->users, 1, memory_order_acq_rel) > 1)
        return;
    free(p->node);
    free(p->piece);
    free(p->data);
    free(p->pads);
    free(p->words);
    td_moves_free(p);
    free(p->table);
    free(p->place);
    free(p->place_table);
    free(p->lane_mask);
    free(p);
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
        td_move_describe(&plan->move[2 * b], &out);
    }
    if (out.failed) {
        free(out.text);
        return td_fail_alloc(out.used);
    }
    *text = out.text;
    return TD_OK;
}
