/* Rewrites the loop nodes of a box: units dropped, steps made forward, nodes sorted and folded. Each pass keeps
 * which elements the nest moves and changes only the walk. Called by compile.c, addresses.c and compare/slab.c;
 * refuses nothing. A plan that runs in order keeps its selector nodes as they are. */
#include "plan/passes.h"

#include <string.h>

static size_t drop_units(td_node *node, size_t count, bool in_order)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (node[i].extent != 1 || (in_order && node[i].select))
            node[kept++] = node[i];
    return kept;
}

/* Walks backward axes forward, from their other end. */
static void make_forward(td_node *node, size_t count, td_box *box)
{
    for (size_t i = 0; i < count; i++) {
        if (node[i].memory >= 0)
            continue;
        const int64_t last = (int64_t)node[i].extent - 1;
        box->memory += node[i].memory * last;
        box->tensor += node[i].tensor * last;
        box->select += node[i].select * last;
        node[i].memory = -node[i].memory;
        node[i].tensor = -node[i].tensor;
        node[i].select = -node[i].select;
    }
}

static void move_selectors_out(td_node *node, td_box *box)
{
    size_t selectors = 0;
    for (size_t i = 0; i < box->node_count; i++) {
        if (!node[i].select)
            continue;
        const td_node selector = node[i];
        memmove(&node[selectors + 1], &node[selectors], (i - selectors) * sizeof *node);
        node[selectors++] = selector;
    }
    box->selectors = selectors;
}

/* Longest stride outermost, so that memory is walked in order. Copies (tensor stride 0) keep their place. */
static void sort_by_memory(td_node *node, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && node[j].memory > node[j - 1].memory; j--) {
            const td_node swap = node[j];
            node[j] = node[j - 1];
            node[j - 1] = swap;
        }
}

/* Two neighbouring loops are one where the outer continues where the inner ends. */
static size_t fold(td_node *node, size_t count)
{
    if (count == 0)
        return 0;
    size_t kept = 0;
    for (size_t i = 1; i < count; i++) {
        td_node *outer = &node[kept];
        const int64_t steps = (int64_t)node[i].extent;
        if (outer->tensor == node[i].tensor * steps && outer->memory == node[i].memory * steps &&
            outer->select == node[i].select * steps) {
            node[i].extent *= outer->extent;
            *outer = node[i];
        } else
            node[++kept] = node[i];
    }
    return kept + 1;
}

size_t td_nodes_fold(td_node *node, size_t count)
{
    return fold(node, drop_units(node, count, false));
}

void td_box_fold(td_node *all, td_box *box, bool in_order)
{
    td_node *node = all + box->first_node;
    box->node_count = drop_units(node, box->node_count, in_order);
    move_selectors_out(node, box);
    td_node *inner = node + box->selectors;
    make_forward(inner, box->node_count - box->selectors, box);
    sort_by_memory(inner, box->node_count - box->selectors);
    const size_t inner_count = fold(inner, box->node_count - box->selectors);
    box->node_count = box->selectors + inner_count;
    if (in_order || box->selectors == 0)
        return;
    const size_t selectors = fold(node, box->selectors);
    memmove(node + selectors, inner, inner_count * sizeof *node);
    box->selectors = selectors;
    box->node_count = selectors + inner_count;
}

void td_boxes_fold(td_plan *plan)
{
    for (size_t b = 0; b < plan->data_count; b++)
        td_box_fold(plan->node, &plan->data[b], plan->in_order);
    for (size_t b = 0; b < plan->pads_count; b++)
        td_box_fold(plan->node, &plan->pads[b], plan->in_order);
    for (size_t b = 0; b < plan->words_count; b++)
        td_box_fold(plan->node, &plan->words[b], plan->in_order);
    for (size_t b = 0; b < plan->fill_count; b++)
        td_box_fold(plan->node, &plan->fill[b].box, plan->in_order);
}
