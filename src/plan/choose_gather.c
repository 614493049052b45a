/* Boxes over a table or over banks whose elements move in single runs of bytes: the loops around the runs, with the
 * table innermost, so that a step of it is a run and no call. Called by compile.c once the moves are chosen; boxes that
 * need more than runs keep what choose.c gave them. */
#include "plan/passes.h"

#include <stdlib.h>

/* Places beyond the second-level cache are prefetched. */
#define FAR_BYTES ((uint64_t)1 << 20)

/* Entries of a table whose steps are looked at, and steps up to which the processor sees the next places coming. */
#define LOOKED_AT 64
#define NEAR_BYTES 4096

/* Longest run that goes through a table's kernel with loops around it; a longer one is worth a call of its own. */
#define LONG_RUN 512

static void sort_loops(td_words_move *m)
{
    for (int i = 1; i < m->loops; i++)
        for (int j = i; j > 0 && llabs(m->loop[j].tensor) > llabs(m->loop[j - 1].tensor); j--) {
            const td_node swap = m->loop[j];
            m->loop[j] = m->loop[j - 1];
            m->loop[j - 1] = swap;
        }
}

/* The nodes inside the ground that are not part of the run. */
static bool add_inner(const td_plan *plan, const td_box *box, bool dump, td_words_move *m)
{
    const td_node *node = plan->node + box->first_node;
    bool in_run[TD_MOVE_LOOPS + 2] = {false};
    const size_t count = box->node_count - box->selectors;
    const int64_t elem = plan->tensor_dtype.bytes;
    int64_t run = elem;
    if (count > TD_MOVE_LOOPS)
        return false;
    for (size_t i = 0; i < count;) {
        const td_node *n = &node[box->selectors + i];
        if (!in_run[i] && n->memory == 8 * run && n->tensor * elem == run) {
            in_run[i] = true;
            run *= (int64_t)n->extent;
            i = 0;
        } else
            i++;
    }
    for (size_t i = 0; i < count; i++) {
        const td_node *n = &node[box->selectors + i];
        if (in_run[i] || (dump && !n->tensor)) /* a dump reads one copy of each element */
            continue;
        if (m->loops == TD_GATHER_LOOPS)
            return false;
        m->loop[m->loops++] = *n;
    }
    m->bytes = (size_t)run;
    return true;
}

/* Whether most words lie close to the one before them in the table, as in a swizzle: then prefetching them one by one
 * takes longer than they do. */
static bool is_near(const td_plan *plan)
{
    const td_table *table = &plan->table;
    const uint64_t apart = table->count / LOOKED_AT;
    uint64_t near = 0;
    for (uint64_t i = 0; apart > 1 && i < LOOKED_AT; i++) {
        const uint64_t a = td_table_word(table, td_table_get(table, i * apart)),
                       b = td_table_word(table, td_table_get(table, i * apart + 1));
        near += (a < b ? b - a : a - b) <= NEAR_BYTES / plan->geometry.word_bytes;
    }
    return near > LOOKED_AT / 4 * 3;
}

static void choose(const td_plan *plan, size_t b, bool dump, const td_kernels *kernels, td_words_move *m)
{
    const td_box *box = &plan->data[b];
    const td_node *node = plan->node + box->first_node;
    const td_move *move = &plan->move[2 * b + dump];
    td_words_move found = {0};
    if (!box->selectors || move->kind != TD_MOVE_RUNS || move->dst_scale != move->src_scale ||
        !add_inner(plan, box, dump, &found) || box->selectors + found.loops > TD_GATHER_LOOPS)
        return;
    if (found.loops && (!plan->table.entry || found.bytes > LONG_RUN))
        return;
    sort_loops(&found);
    for (size_t i = 0; i + 1 < box->selectors; i++)
        found.loop[found.loops++] = node[i];
    found.row = node[box->selectors - 1];
    found.far = plan->elems * plan->tensor_dtype.bytes >= FAR_BYTES && !(plan->table.entry && is_near(plan));
    found.splits = !plan->slides && !plan->skewed && (found.loops ? found.loop[0].tensor : found.row.tensor) != 0;
    if (plan->table.entry)
        found.fn = dump ? kernels->gather.gather : kernels->gather.scatter;
    *m = found;
}

td_status td_gathers_choose(td_plan *plan, const td_kernels *kernels)
{
    bool any = false;
    for (size_t b = 0; b < plan->data_count; b++)
        any |= plan->data[b].selectors != 0;
    if (!any)
        return TD_OK;
    plan->gather = calloc(2 * plan->data_count, sizeof *plan->gather);
    if (!plan->gather)
        return td_fail_alloc(2 * plan->data_count * sizeof *plan->gather);
    for (size_t b = 0; b < plan->data_count; b++)
        for (int dump = 0; dump < 2; dump++)
            choose(plan, b, dump, kernels, &plan->gather[2 * b + (size_t)dump]);
    return TD_OK;
}
