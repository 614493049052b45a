/* Bit rows for the boxes of a plan: which axis is the row, how its elements lie in memory, which kernels pack them
 * and what threads share. Called by compile.c for every box, as exec runs the rows where no move fits a box, and
 * where a move cannot convert. Refuses nothing: boxes in pieces, or with too many loops, are left to the plain
 * walker. */
#include "plan/passes.h"

#include <stdlib.h>

static bool on_bytes(const td_plan *plan, const td_box *box)
{
    if (box->memory % 8)
        return false;
    for (size_t i = 0; i < box->node_count; i++)
        if (plan->node[box->first_node + i].memory % 8)
            return false;
    return true;
}

/* Rows begin at a byte, whatever the step inside them is. */
static bool on_bytes_from(const td_plan *plan, const td_box *box)
{
    if (box->memory % 8)
        return false;
    for (size_t i = 0; i + 1 < box->node_count; i++)
        if (plan->node[box->first_node + i].memory % 8)
            return false;
    return true;
}

static void choose_kernels(const td_plan *plan, const td_kernels *k, td_rows *r)
{
    r->copy = k->move.copy;
    switch (r->elem_bytes) {
    case 1:
        r->transpose = k->move.transpose_x8;
        break;
    case 2:
        r->transpose = k->move.transpose_x16;
        break;
    case 4:
        r->transpose = k->move.transpose_x32;
        break;
    default:
        r->transpose = k->move.transpose_x64;
    }
    switch (plan->memory_dtype.bytes) {
#define X(size)                                                                                                        \
    case size / 8:                                                                                                     \
        r->pack = k->pack.pack_x##size;                                                                                \
        r->unpack = k->pack.unpack_x##size;                                                                            \
        r->put = k->pack.put_x##size;                                                                                  \
        r->get = k->pack.get_x##size;                                                                                  \
        break;
        TD_PACK_KERNELS(X)
#undef X
    default:
        break;
    }
}

/* True when threads may share the steps of a node: no two steps write to one byte. In memory that holds for steps
 * over different words, or over whole bytes. In the tensor it holds unless the step stays on one element or windows
 * overlap. */
static bool may_split(const td_plan *plan, const td_rows *r, const td_node *node)
{
    const int64_t word_bits = 8 * (int64_t)plan->geometry.word_bytes;
    return node->extent > 1 && node->tensor && !plan->slides && !plan->skewed &&
           (r->way == TD_ROWS_CELLS || (node->memory && node->memory % word_bits == 0));
}

static void choose_split(const td_plan *plan, const td_box *box, td_rows *r)
{
    r->split = -1;
    for (uint8_t i = 0; i < r->loops && r->split < 0; i++)
        if (may_split(plan, r, &r->loop[i]) && r->loop[i].extent >= 8)
            r->split = (int8_t)i;
    if (r->split < 0 && may_split(plan, r, &r->across) && r->across.extent >= 256)
        r->split = TD_ROWS_SPLIT_ACROSS;
    /* Blocks of the row are multiples of 8 elements: whole bytes, from a whole byte on. */
    if (r->split < 0 && r->row.tensor && !plan->slides &&
        (r->way == TD_ROWS_CELLS || (r->way == TD_ROWS_PACKED && on_bytes_from(plan, box))))
        r->split = TD_ROWS_SPLIT_ROW;
}

/* The rows of a pad read one element again and again, which has the memory's dtype. */
static void choose_rows(const td_plan *plan, const td_box *box, const td_kernels *k, bool pad, td_rows *r)
{
    const size_t count = box->node_count - box->selectors;
    const td_node single = {.extent = 1, .tensor = 1, .memory = plan->memory_dtype.bits};
    td_node node[TD_ROWS_LOOPS];
    *r = (td_rows){
        .row = single, .across = single, .elem_bytes = pad ? plan->memory_dtype.bytes : plan->tensor_dtype.bytes};
    if (box->piece_count || count > TD_ROWS_LOOPS)
        return;
    for (size_t i = 0; i < count; i++) {
        node[i] = plan->node[box->first_node + box->selectors + i];
        if (pad)
            node[i].tensor = 0;
    }
    if (count)
        r->row = node[count - 1]; /* nodes are sorted: the shortest step in memory is the last */
    r->gathers = r->row.tensor != 1;
    size_t across = count;
    for (size_t i = 0; i + 1 < count && r->gathers; i++)
        if (node[i].tensor == 1)
            across = i;
    if (!r->gathers && count > 1 && r->row.extent < TD_ROWS_ELEMS)
        across = count - 2; /* short rows are converted together */
    for (size_t i = 0; i + 1 < count; i++) {
        if (i == across)
            r->across = node[i];
        else
            r->loop[r->loops++] = node[i];
    }
    const uint64_t bits = plan->memory_dtype.bits;
    if (on_bytes(plan, box) && plan->cell_bits >= 8u * plan->memory_dtype.bytes)
        r->way = TD_ROWS_CELLS;
    else
        r->way = r->row.memory == (int64_t)bits ? TD_ROWS_PACKED : TD_ROWS_LOOSE;
    choose_split(plan, box, r);
    choose_kernels(plan, k, r);
}

td_status td_rows_choose(td_plan *plan, const td_kernels *k)
{
    plan->rows = calloc(plan->data_count + 1, sizeof *plan->rows);
    plan->pad_rows = calloc(plan->pads_count + 1, sizeof *plan->pad_rows);
    if (!plan->rows || !plan->pad_rows)
        return td_fail_alloc((plan->data_count + plan->pads_count) * sizeof *plan->rows);
    for (size_t b = 0; b < plan->data_count; b++)
        choose_rows(plan, &plan->data[b], k, false, &plan->rows[b]);
    for (size_t b = 0; b < plan->pads_count; b++)
        choose_rows(plan, &plan->pads[b], k, true, &plan->pad_rows[b]);
    return TD_OK;
}
