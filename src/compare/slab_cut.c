/* Cuts the boxes of a plan into slabs (slab.h): the order of the nodes first, then how many steps of each one slab
 * takes. Behind td_slabs_walk, which judging.c calls. Fails only with TD_NO_MEMORY. */
#include "compare/slab.h"

#include "base/thresholds.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64
/* Packed rows are unpacked in memory's order from this length on; shorter ones cost more than their bits. */
#define PACKED_ROW_ELEMS 8
/* Slabs stay within one bank or table entry where at least this much lies in each. */
#define GROUND_BYTES 2048
/* Axes that are compared transposed, in place, are at least as long as a vector. */
#define TRANSPOSED_BYTES 16u
#define FEW_ELEMS 1024

/* A box while it is cut into slabs. */
typedef struct cutting {
    const td_run *run;
    const td_box *box;
    const td_slab_wish *wish;
    td_node node[TD_SLAB_NODES];
    size_t count;
    td_box origin; /* the place of step 0, after backward steps were made forward */
    uint64_t block[TD_SLAB_NODES];
    size_t by_memory[TD_SLAB_NODES], by_tensor[TD_SLAB_NODES]; /* nodes, nearest first */
    td_slab_way way;
    bool whole_ground; /* slabs stay within one bank or table entry */
    size_t unit;
} cutting;

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static unsigned elem_bytes(const cutting *c)
{
    return c->run->plan->memory_dtype.bytes;
}

/* -- the order of the nodes ---------------------------------------------------------------------------------------- */

/* True when rows that are contiguous in the tensor are contiguous in memory too: then memory's order is taken. */
static bool has_rows(const cutting *c)
{
    const td_plan *plan = c->run->plan;
    const td_dtype dtype = plan->memory_dtype;
    const uint64_t least = dtype.bits == 8 * dtype.bytes ? c->wish->row_elems : PACKED_ROW_ELEMS;
    if (c->box->piece_count || c->box->node_count == c->box->selectors)
        return false;
    const td_node *last = &plan->node[c->box->first_node + c->box->node_count - 1];
    return last->tensor == 1 && last->memory == dtype.bits && !last->select && last->extent >= least;
}

/* Otherwise the tensor's order: forward, the longest step outermost, copies before all. */
static void sort_by_tensor(cutting *c)
{
    for (size_t i = 0; i < c->count; i++) {
        td_node node = c->node[i];
        if (node.tensor < 0) {
            const int64_t last = (int64_t)node.extent - 1;
            c->origin.tensor += node.tensor * last;
            c->origin.memory += node.memory * last;
            c->origin.select += node.select * last;
            node.tensor = -node.tensor;
            node.memory = -node.memory;
            node.select = -node.select;
        }
        size_t at = i;
        for (; at > 0 && node.tensor && (c->node[at - 1].tensor && c->node[at - 1].tensor < node.tensor); at--)
            c->node[at] = c->node[at - 1];
        for (; at > 0 && !node.tensor && c->node[at - 1].tensor; at--)
            c->node[at] = c->node[at - 1];
        c->node[at] = node;
    }
}

/* True when every element lies in whole bytes, so that a pointer can name it. */
static bool on_bytes(const cutting *c)
{
    const td_dtype dtype = c->run->plan->memory_dtype;
    bool on = dtype.bits == 8 * dtype.bytes && c->box->memory % 8 == 0;
    for (size_t i = 0; i < c->count; i++)
        on = on && c->node[i].memory % 8 == 0;
    return on;
}

static uint64_t count_elems(const cutting *c)
{
    uint64_t elems = 1;
    for (size_t i = 0; i < c->count; i++)
        elems *= c->node[i].extent;
    return elems;
}

/* True when the last node is contiguous in the tensor, another one in memory, and both are as long as a kernel's
 * vectors, or the box is so small that taking it out would be more work. */
static bool is_transposed(cutting *c)
{
    const td_dtype dtype = c->run->plan->memory_dtype;
    const uint64_t least = count_elems(c) <= FEW_ELEMS ? 1 : TRANSPOSED_BYTES / dtype.bytes;
    if (!c->wish->transposed || c->count < 2 || c->box->piece_count || dtype.bytes != c->wish->tensor_bytes ||
        !c->whole_ground || !on_bytes(c))
        return false;
    const td_node *last = &c->node[c->count - 1];
    if (last->tensor != 1 || last->select || last->extent < least)
        return false;
    for (c->unit = 0; c->unit + 1 < c->count; c->unit++) {
        const td_node *node = &c->node[c->unit];
        if (node->memory == dtype.bits && !node->select && node->extent >= least)
            return true;
    }
    return false;
}

static bool is_closer(const td_node *a, const td_node *b)
{
    return magnitude(a->select) != magnitude(b->select) ? magnitude(a->select) < magnitude(b->select)
                                                        : magnitude(a->memory) < magnitude(b->memory);
}

static void sort_nodes(cutting *c)
{
    for (size_t i = 0; i < c->count; i++) {
        size_t m = i, t = i;
        for (; m > 0 && is_closer(&c->node[i], &c->node[c->by_memory[m - 1]]); m--)
            c->by_memory[m] = c->by_memory[m - 1];
        c->by_memory[m] = i;
        for (; t > 0 && magnitude(c->node[i].tensor) < magnitude(c->node[c->by_tensor[t - 1]].tensor); t--)
            c->by_tensor[t] = c->by_tensor[t - 1];
        c->by_tensor[t] = i;
    }
}

static void take_nodes(cutting *c, const td_run *run, const td_box *box, const td_slab_wish *wish)
{
    uint64_t inside = run->plan->memory_dtype.bytes;
    c->run = run;
    c->box = box;
    c->wish = wish;
    c->count = box->node_count;
    c->origin = *box;
    c->way = TD_SLAB_TAKEN;
    c->unit = 0;
    for (size_t i = 0; i < c->count; i++) {
        c->node[i] = run->plan->node[box->first_node + i];
        inside *= i >= box->selectors && inside < GROUND_BYTES ? c->node[i].extent : 1;
    }
    c->whole_ground = box->selectors == 0 || inside >= GROUND_BYTES;
    if (!has_rows(c)) {
        sort_by_tensor(c);
        c->way = is_transposed(c) ? TD_SLAB_TRANSPOSED : TD_SLAB_TAKEN;
    } else if (c->whole_ground && on_bytes(c))
        c->way = TD_SLAB_ROWS;
    sort_nodes(c);
}

/* -- the size of a slab -------------------------------------------------------------------------------------------- */

static void grow(cutting *c, size_t i, uint64_t *budget, uint64_t most)
{
    const uint64_t block = c->block[i], extent = c->node[i].extent;
    uint64_t factor = *budget < most ? *budget : most;
    if (factor <= 1 || (c->node[i].select && c->whole_ground))
        return;
    factor = factor < (extent + block - 1) / block ? factor : (extent + block - 1) / block;
    c->block[i] = block * factor < extent ? block * factor : extent;
    *budget /= factor;
}

/* Extends the slab along the nodes in `order` until it has this many consecutive elements, or the budget is used up. */
static void reach(cutting *c, const size_t *order, uint64_t *budget, uint64_t wanted)
{
    uint64_t run = 1;
    for (size_t i = 0; i < c->count && run < wanted; i++) {
        const uint64_t now = run * c->block[order[i]];
        if (now < wanted)
            grow(c, order[i], budget, (wanted - 1) / now + 1);
        run *= c->block[order[i]];
    }
}

/* How many steps of each node one slab takes: whole lines on both sides first, a few of them in a row where they are
 * transposed; then the tensor's next nodes, then memory's. Chosen by measurement. */
static void choose_blocks(cutting *c)
{
    const unsigned stored = elem_bytes(c), held = c->wish->tensor_bytes;
    const uint64_t bytes = stored > held ? stored : held,
                   step = bytes * (c->box->piece_count ? c->box->piece_count : 1);
    /* A box that is contiguous from end to end is read in place, so its slabs need not fit in the buffer. */
    const uint64_t most =
        td_threshold(c->way == TD_SLAB_ROWS && c->count == 1 ? TD_THRESHOLD_SLAB_CONTIGUOUS : TD_THRESHOLD_SLAB_BYTES);
    uint64_t budget = step < most ? most / step : 1;
    const bool whole = (!c->box->selectors || !c->whole_ground) && count_elems(c) <= budget;
    for (size_t i = 0; i < c->count; i++)
        c->block[i] = whole ? c->node[i].extent : 1;
    if (whole)
        return;
    reach(c, c->by_memory, &budget, LINE / stored);
    reach(c, c->by_tensor, &budget, 2 * LINE / held);
    reach(c, c->by_memory, &budget, 4 * LINE / stored);
    reach(c, c->by_tensor, &budget, UINT64_MAX);
    reach(c, c->by_memory, &budget, UINT64_MAX);
}

/* -- a part of a box ----------------------------------------------------------------------------------------------- */

/* Lanes in pieces: a lane begins at each piece with the element's lowest bit. */
static td_status take_pieces(td_slabs *s, const td_box *box)
{
    s->lanes = 1;
    s->lane_tensor = box->piece_count ? s->plan->piece[box->first_piece].tensor : 0;
    s->lane_rows = true;
    if (!box->piece_count)
        return TD_OK;
    s->lane_piece = malloc((box->piece_count + 1) * sizeof *s->lane_piece);
    s->small_piece = malloc(box->piece_count * sizeof *s->small_piece);
    if (!s->lane_piece || !s->small_piece)
        return td_fail_alloc(box->piece_count * sizeof *s->small_piece);
    uint64_t lanes = 0;
    for (size_t k = 0; k < box->piece_count; k++) {
        s->small_piece[k] = s->plan->piece[box->first_piece + k];
        if (s->small_piece[k].elem_bit == 0)
            s->lane_piece[lanes++] = k;
        s->lane_rows &= s->small_piece[k].tensor == s->lane_tensor + (int64_t)lanes - 1;
        s->small_piece[k].tensor = (int64_t)lanes - 1;
    }
    s->lane_piece[lanes] = box->piece_count;
    s->lanes = lanes ? lanes : 1; /* the first piece of a box has the lowest bit */
    s->piece = s->plan->piece + box->first_piece;
    return TD_OK;
}

static void count_slabs(td_slabs *s)
{
    s->elems = s->lanes;
    s->count = 1;
    for (size_t i = 0; i < s->node_count; i++) {
        s->elems *= s->extent[i];
        s->count *= s->steps[i];
    }
}

/* Part `part` of a box: of each node that its block does not divide, either the full slabs or the rest. False when
 * the part is empty. */
static bool cut(const cutting *c, uint64_t part, td_slabs *s)
{
    s->plan = c->run->plan;
    s->bank = c->run->bank;
    s->way = c->way;
    s->node_count = c->count;
    s->unit = c->unit;
    s->tensor = c->origin.tensor;
    s->memory = c->origin.memory;
    s->select = c->origin.select;
    s->piece = NULL;
    s->lane_piece = NULL;
    s->small_piece = NULL;
    s->has_small = false;
    s->own_buffer = NULL;
    memcpy(s->node, c->node, c->count * sizeof *s->node);
    for (size_t i = 0; i < c->count; i++) {
        const uint64_t even = c->node[i].extent / c->block[i], left = c->node[i].extent % c->block[i];
        const bool rest = left && (part & 1);
        part >>= left ? 1 : 0;
        s->extent[i] = rest ? left : c->block[i];
        s->steps[i] = rest ? 1 : even;
        const int64_t start = rest ? (int64_t)(even * c->block[i]) : 0;
        s->tensor += start * c->node[i].tensor;
        s->memory += start * c->node[i].memory;
        s->select += start * c->node[i].select;
        s->order[i] = c->way == TD_SLAB_ROWS ? c->count - 1 - i : c->by_memory[i];
    }
    return part == 0;
}

static td_status walk_box(const cutting *c, td_slabs *s, td_slabs_visit *visit, void *context, bool *stopped)
{
    td_status status = TD_OK;
    for (uint64_t part = 0; !status && !*stopped && cut(c, part, s); part++) {
        status = take_pieces(s, c->box);
        count_slabs(s);
        if (!status && s->way == TD_SLAB_TAKEN)
            status = td_slabs_take_out(s);
        if (s->way == TD_SLAB_ROWS)
            td_slabs_see_rows(s);
        else if (s->way == TD_SLAB_TRANSPOSED)
            td_slabs_see_blocks(s);
        if (!status)
            *stopped = !visit(context, s);
        td_slabs_free(s);
    }
    return status;
}

td_status td_slabs_walk(const td_run *run, const td_slab_wish *wish, td_slabs_visit *visit, void *context)
{
    td_slabs s;
    td_status status = TD_OK;
    bool stopped = false;
    for (size_t b = 0; b < run->plan->data_count && !status && !stopped; b++) {
        cutting c;
        take_nodes(&c, run, &run->plan->data[b], wish);
        choose_blocks(&c);
        status = walk_box(&c, &s, visit, context, &stopped);
    }
    return status;
}

void td_slabs_of_tensor(unsigned char *const *data, unsigned bytes, uint64_t elems, td_slabs_visit *visit,
                        void *context)
{
    const uint64_t block = td_threshold(TD_THRESHOLD_SLAB_CONTIGUOUS) / bytes, even = elems / block,
                   left = elems % block;
    td_slabs s = {.bank = data, .node_count = 1, .lanes = 1, .lane_rows = true, .way = TD_SLAB_ROWS, .row_nodes = 1};
    s.node[0] = (td_node){.tensor = 1, .memory = 8 * (int64_t)bytes};
    s.stride[0] = bytes;
    for (int rest = 0; rest < 2; rest++) {
        s.elems = s.row_elems = s.extent[0] = s.node[0].extent = rest ? left : block;
        s.count = s.steps[0] = rest ? left != 0 : even;
        s.tensor = rest ? (int64_t)(even * block) : 0;
        s.memory = s.tensor * s.node[0].memory;
        if (s.count && !visit(context, &s))
            return;
    }
}
