/* See slab.h. */
#include "slab.h"

#include "move.h"

#include <stdlib.h>
#include <string.h>

/* Staged elements of a slab, in bytes: half of a small second-level cache, the other half is the tensor's. */
#define SLAB_BYTES ((uint64_t)128 << 10)
/* Straight memory that a slab takes at once at least, where the layout turns axes: a few lines. */
#define RUN_BITS ((uint64_t)2048)

#define MAX_NODES (TD_MAX_AXES + TD_MAX_RANK + 1)

typedef struct slabs {
    const td_run *run;
    const td_box *box;
    td_slab slab;
    td_node node[MAX_NODES];
    uint64_t block[MAX_NODES], at[MAX_NODES];
    size_t *lane_piece;

    /* The small plan: the slab's nodes with dense steps on the tensor's side. */
    td_plan plan;
    td_node plan_node[MAX_NODES];
    td_box plan_box;
    td_piece *plan_piece;
    uint64_t built[MAX_NODES]; /* the extents it was made for */
    int64_t built_memory, offset_memory, offset_select;
    bool is_built;
    bool is_straight; /* memory holds the slab as the staging buffer would: it is looked at in place */
    unsigned char *staging;
} slabs;

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* Copies the box's nodes: forward in the tensor, the longest tensor step outermost, copies before all. */
static void take_nodes(slabs *s, td_box *origin)
{
    const td_box *box = s->box;
    *origin = *box;
    for (size_t i = 0; i < box->node_count; i++) {
        td_node node = s->run->plan->node[box->first_node + i];
        if (node.tensor < 0) {
            const int64_t last = (int64_t)node.extent - 1;
            origin->tensor += node.tensor * last;
            origin->memory += node.memory * last;
            origin->select += node.select * last;
            node.tensor = -node.tensor;
            node.memory = -node.memory;
            node.select = -node.select;
        }
        size_t at = i;
        for (; at > 0 && node.tensor && (s->node[at - 1].tensor && s->node[at - 1].tensor < node.tensor); at--)
            s->node[at] = s->node[at - 1];
        for (; at > 0 && !node.tensor && s->node[at - 1].tensor; at--)
            s->node[at] = s->node[at - 1];
        s->node[at] = node;
    }
    s->slab.node_count = box->node_count;
}

static uint64_t grown(uint64_t block, uint64_t extent, uint64_t *budget, uint64_t most)
{
    uint64_t factor = *budget < most ? *budget : most;
    if (factor <= 1)
        return block;
    uint64_t wanted = block * factor;
    wanted = wanted < extent ? wanted : extent;
    *budget /= (wanted + block - 1) / block;
    return wanted;
}

/* How much of each node one slab takes: first enough straight memory, then tensor rows, then what memory has left. */
static void choose_blocks(slabs *s, uint64_t budget)
{
    const size_t count = s->slab.node_count;
    size_t by_memory[MAX_NODES];
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        const td_node *node = &s->node[i];
        for (; at > 0; at--) {
            const td_node *other = &s->node[by_memory[at - 1]];
            if ((magnitude(other->select) != magnitude(node->select) &&
                 magnitude(other->select) < magnitude(node->select)) ||
                (magnitude(other->select) == magnitude(node->select) &&
                 magnitude(other->memory) <= magnitude(node->memory)))
                break;
            by_memory[at] = by_memory[at - 1];
        }
        by_memory[at] = i;
        s->block[i] = 1;
    }
    const uint64_t bits = s->run->plan->memory_dtype.bits;
    for (size_t i = 0, run = 1; i < count && run * bits < RUN_BITS; i++) {
        const size_t n = by_memory[i];
        s->block[n] = grown(1, s->node[n].extent, &budget, (RUN_BITS / bits + run - 1) / run);
        run *= s->block[n];
    }
    for (size_t i = count; i-- > 0;)
        s->block[i] = grown(s->block[i], s->node[i].extent, &budget, UINT64_MAX);
    for (size_t i = 0; i < count; i++)
        s->block[by_memory[i]] = grown(s->block[by_memory[i]], s->node[by_memory[i]].extent, &budget, UINT64_MAX);
}

/* Lanes in pieces: one lane begins wherever a piece has the element's lowest bit. */
static td_status take_pieces(slabs *s)
{
    const td_plan *plan = s->run->plan;
    const td_box *box = s->box;
    s->slab.lanes = 1;
    s->slab.piece = NULL;
    if (!box->piece_count)
        return TD_OK;
    free(s->lane_piece);
    free(s->plan_piece);
    s->lane_piece = malloc((box->piece_count + 1) * sizeof *s->lane_piece);
    s->plan_piece = malloc(box->piece_count * sizeof *s->plan_piece);
    if (!s->lane_piece || !s->plan_piece)
        return td_fail_alloc(box->piece_count * sizeof *s->plan_piece);
    uint64_t lanes = 0;
    for (size_t k = 0; k < box->piece_count; k++) {
        s->plan_piece[k] = plan->piece[box->first_piece + k];
        if (s->plan_piece[k].elem_bit == 0)
            s->lane_piece[lanes++] = k;
        s->plan_piece[k].tensor = (int64_t)lanes - 1;
    }
    s->lane_piece[lanes] = box->piece_count;
    s->slab.lanes = lanes ? lanes : 1; /* the first piece of a box has the lowest bit */
    s->slab.piece = plan->piece + box->first_piece;
    s->slab.lane_piece = s->lane_piece;
    return TD_OK;
}

/* Whole bytes, one after the other, in one bank. */
static bool is_straight(const slabs *s)
{
    const td_box *box = &s->plan_box;
    const td_dtype dtype = s->plan.memory_dtype;
    return !box->piece_count && !s->plan.table && box->selectors == 0 && box->node_count == 1 &&
           dtype.bits == 8 * dtype.bytes && s->plan_node[0].tensor == 1 && s->plan_node[0].memory == dtype.bits &&
           box->memory % 8 == 0;
}

/* The small plan for the slab's extents; kept from slab to slab while they stay the same. */
static td_status build(slabs *s)
{
    const td_plan *whole = s->run->plan;
    const td_slab *slab = &s->slab;
    if (s->is_built && memcmp(s->built, slab->extent, slab->node_count * sizeof *s->built) == 0 &&
        ((s->built_memory ^ slab->memory) & 7) == 0)
        return TD_OK;
    td_moves_free(&s->plan);
    s->plan = (td_plan){.geometry = whole->geometry,
                        .tensor_dtype = whole->memory_dtype,
                        .memory_dtype = whole->memory_dtype,
                        .beats = whole->beats,
                        .node = s->plan_node,
                        .piece = s->plan_piece,
                        .data = &s->plan_box,
                        .data_count = 1,
                        .table = whole->table,
                        .table_count = whole->table_count};
    s->plan_box = (td_box){.node_count = slab->node_count, .memory = slab->memory, .select = slab->select};
    s->plan_box.piece_count = slab->piece ? s->box->piece_count : 0;
    int64_t step = (int64_t)slab->lanes;
    for (size_t i = slab->node_count; i-- > 0;) {
        s->plan_node[i] = (td_node){
            .extent = slab->extent[i], .tensor = step, .memory = s->node[i].memory, .select = s->node[i].select};
        step *= (int64_t)slab->extent[i];
    }
    td_optimise_box(s->plan_node, &s->plan_box, false);
    s->plan.node_count = s->plan_box.node_count;
    s->offset_memory = s->plan_box.memory - slab->memory;
    s->offset_select = s->plan_box.select - slab->select;
    s->built_memory = slab->memory;
    memcpy(s->built, slab->extent, slab->node_count * sizeof *s->built);
    s->is_built = true;
    s->is_straight = is_straight(s);
    return td_moves_create(&s->plan);
}

static void take_out(slabs *s)
{
    s->plan_box.memory = s->slab.memory + s->offset_memory;
    s->plan_box.select = s->slab.select + s->offset_select;
    if (s->is_straight)
        s->slab.stored = s->run->bank[s->plan_box.select] + s->plan_box.memory / 8;
    else {
        s->slab.stored = s->staging;
        td_exec_dump(&(td_run){.plan = &s->plan, .bank = s->run->bank, .tensor = s->staging});
    }
}

static td_status walk_box(slabs *s, td_slab_visit *visit, void *context, bool *stopped)
{
    td_box origin;
    td_slab *slab = &s->slab;
    take_nodes(s, &origin);
    td_status status = take_pieces(s);
    if (status)
        return status;
    const uint64_t budget = SLAB_BYTES / s->run->plan->memory_dtype.bytes / slab->lanes;
    choose_blocks(s, budget ? budget : 1);
    s->is_built = false;
    memset(s->at, 0, sizeof s->at);
    for (bool more = true; more && !*stopped;) {
        slab->tensor = origin.tensor;
        slab->memory = origin.memory;
        slab->select = origin.select;
        slab->elems = slab->lanes;
        for (size_t i = 0; i < slab->node_count; i++) {
            const uint64_t left = s->node[i].extent - s->at[i];
            slab->extent[i] = left < s->block[i] ? left : s->block[i];
            slab->elems *= slab->extent[i];
            slab->tensor += (int64_t)s->at[i] * s->node[i].tensor;
            slab->memory += (int64_t)s->at[i] * s->node[i].memory;
            slab->select += (int64_t)s->at[i] * s->node[i].select;
        }
        if ((status = build(s)))
            return status;
        take_out(s);
        *stopped = !visit(context, slab);
        more = false;
        for (size_t i = slab->node_count; i-- > 0 && !more;) {
            s->at[i] += s->block[i];
            more = s->at[i] < s->node[i].extent;
            if (!more)
                s->at[i] = 0;
        }
    }
    return TD_OK;
}

/* The longest vector in pieces: what a slab holds at least. */
static uint64_t most_lanes(const td_plan *plan)
{
    uint64_t most = 1;
    for (size_t b = 0; b < plan->data_count; b++)
        most = plan->data[b].piece_count > most ? plan->data[b].piece_count : most;
    return most;
}

td_status td_slabs_walk(const td_run *run, td_slab_visit *visit, void *context)
{
    const uint64_t vector_bytes = most_lanes(run->plan) * run->plan->memory_dtype.bytes;
    const size_t bytes = (size_t)(vector_bytes > SLAB_BYTES ? vector_bytes : SLAB_BYTES);
    slabs *s = calloc(1, sizeof *s);
    unsigned char *stored = NULL;
    if (!s || posix_memalign((void **)&stored, 64, bytes) != 0) {
        free(s);
        return td_fail_alloc(bytes + sizeof *s);
    }
    s->run = run;
    s->slab.plan = run->plan;
    s->slab.node = s->node;
    s->staging = stored;
    td_status status = TD_OK;
    bool stopped = false;
    for (size_t b = 0; b < run->plan->data_count && !status && !stopped; b++) {
        s->box = &run->plan->data[b];
        status = walk_box(s, visit, context, &stopped);
    }
    td_moves_free(&s->plan);
    free(s->lane_piece);
    free(s->plan_piece);
    free(s);
    free(stored);
    return status;
}

/* -- where a staged element is ------------------------------------------------------------------------------------- */

uint64_t td_slab_elem(const td_slab *slab, uint64_t n)
{
    const uint64_t lane = n % slab->lanes;
    int64_t tensor = slab->tensor + (slab->piece ? slab->piece[slab->lane_piece[lane]].tensor : 0);
    n /= slab->lanes;
    for (size_t i = slab->node_count; i-- > 0; n /= slab->extent[i])
        tensor += (int64_t)(n % slab->extent[i]) * slab->node[i].tensor;
    return (uint64_t)tensor;
}

td_place td_plan_place(const td_plan *plan, int64_t select, int64_t memory, unsigned bits)
{
    const uint64_t word_bits = plan->geometry.word_bytes * 8;
    uint64_t bank = (uint64_t)select, word = 0;
    if (plan->table) {
        bank = TD_TABLE_BANK(plan->table[select]);
        word = TD_TABLE_WORD(plan->table[select]);
    }
    const uint64_t bit = (uint64_t)memory % word_bits;
    return (td_place){.bank = bank, .address = word + (uint64_t)memory / word_bits, .lsb = bit, .msb = bit + bits - 1};
}

td_place td_slab_place(const td_slab *slab, uint64_t n)
{
    const uint64_t lane = n % slab->lanes;
    int64_t memory = slab->memory, select = slab->select;
    unsigned bits = slab->plan->memory_dtype.bits;
    if (slab->piece) {
        const td_piece *piece = &slab->piece[slab->lane_piece[lane]];
        memory += piece->memory;
        bits = piece->bits ? piece->bits : 1;
    }
    n /= slab->lanes;
    for (size_t i = slab->node_count; i-- > 0; n /= slab->extent[i]) {
        const int64_t step = (int64_t)(n % slab->extent[i]);
        memory += step * slab->node[i].memory;
        select += step * slab->node[i].select;
    }
    return td_plan_place(slab->plan, select, memory, bits);
}

size_t td_slab_row_nodes(const td_slab *slab, uint64_t *row_elems)
{
    uint64_t row = 1;
    size_t nodes = 0;
    if (slab->lanes == 1 && !slab->piece)
        for (size_t i = slab->node_count; i-- > 0 && slab->node[i].tensor == (int64_t)row && slab->node[i].tensor;
             nodes++)
            row *= slab->extent[i];
    *row_elems = row;
    return nodes;
}
