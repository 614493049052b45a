/* See slab.h. */
#include "slab.h"

#include "move.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* Elements that lie straight in memory which a slab takes at once at least, where the layout turns axes: enough of a run for
 * the machine to see it coming. Measured. */
#define RUN_ELEMS ((uint64_t)1024)
/* A slab that is seen in place: lines of the tensor that it comes back to stay in the first cache. */
#define IN_PLACE_BYTES ((size_t)32 << 10)
/* Rows in bits are unpacked in memory's order from this length on: a word by itself takes longer. */
#define PACKED_ROW_ELEMS 8
/* Banks and table entries are steps from slab to slab where as much lies in one of them. */
#define GROUND_BYTES 2048

/* A box on its way to slabs. */
typedef struct cutting {
    const td_run *run;
    const td_box *box;
    td_node node[TD_SLAB_NODES];
    size_t count;
    td_box origin; /* the place of step 0, after steps were turned forward */
    uint64_t block[TD_SLAB_NODES];
    bool in_place, whole_ground; /* slabs stay within one bank or table entry */
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

/* Rows that are straight in the tensor lie straight in memory too: its order is taken. */
static bool has_rows(const cutting *c, uint64_t row_elems)
{
    const td_plan *plan = c->run->plan;
    const td_dtype dtype = plan->memory_dtype;
    const uint64_t least = dtype.bits == 8 * dtype.bytes ? row_elems : PACKED_ROW_ELEMS;
    if (c->box->piece_count || c->box->node_count == c->box->selectors)
        return false;
    const td_node *last = &plan->node[c->box->first_node + c->box->node_count - 1];
    return last->tensor == 1 && last->memory == dtype.bits && !last->select && last->extent >= least;
}

/* Otherwise the tensor's: forward, the longest step outermost, copies before all. */
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

/* Whole bytes everywhere, so that elements can be pointed at. */
static bool on_bytes(const cutting *c)
{
    const td_dtype dtype = c->run->plan->memory_dtype;
    bool on = dtype.bits == 8 * dtype.bytes && c->box->memory % 8 == 0;
    for (size_t i = 0; i < c->count; i++)
        on = on && c->node[i].memory % 8 == 0;
    return on;
}

static void take_nodes(cutting *c, const td_run *run, const td_box *box, uint64_t row_elems)
{
    uint64_t inside = run->plan->memory_dtype.bytes;
    *c = (cutting){.run = run, .box = box, .count = box->node_count, .origin = *box};
    for (size_t i = 0; i < c->count; i++) {
        c->node[i] = run->plan->node[box->first_node + i];
        inside *= i >= box->selectors && inside < GROUND_BYTES ? c->node[i].extent : 1;
    }
    c->whole_ground = box->selectors == 0 || inside >= GROUND_BYTES;
    const bool rows = has_rows(c, row_elems);
    c->in_place = rows && c->whole_ground && on_bytes(c);
    if (!rows)
        sort_by_tensor(c);
}

/* -- the size of a slab -------------------------------------------------------------------------------------------- */

static void grow(cutting *c, size_t i, uint64_t *budget, uint64_t most)
{
    const uint64_t factor = *budget < most ? *budget : most, block = c->block[i];
    if (factor <= 1 || (c->node[i].select && c->whole_ground))
        return;
    const uint64_t wanted = factor > c->node[i].extent ? c->node[i].extent : block * factor;
    c->block[i] = wanted < c->node[i].extent ? wanted : c->node[i].extent;
    *budget /= (c->block[i] + block - 1) / block;
}

static bool is_closer(const td_node *a, const td_node *b)
{
    return magnitude(a->select) != magnitude(b->select) ? magnitude(a->select) < magnitude(b->select)
                                                        : magnitude(a->memory) < magnitude(b->memory);
}

/* How much of each node one slab takes: first enough straight memory, then tensor rows, then what memory has left. */
static void choose_blocks(cutting *c, uint64_t budget)
{
    size_t by_memory[TD_SLAB_NODES], by_tensor[TD_SLAB_NODES];
    for (size_t i = 0; i < c->count; i++) {
        size_t m = i, t = i;
        for (; m > 0 && is_closer(&c->node[i], &c->node[by_memory[m - 1]]); m--)
            by_memory[m] = by_memory[m - 1];
        by_memory[m] = i;
        for (; t > 0 && magnitude(c->node[i].tensor) < magnitude(c->node[by_tensor[t - 1]].tensor); t--)
            by_tensor[t] = by_tensor[t - 1];
        by_tensor[t] = i;
        c->block[i] = 1;
    }
    for (size_t i = 0, run = 1; i < c->count && run < RUN_ELEMS; i++) {
        const size_t n = by_memory[i];
        grow(c, n, &budget, (RUN_ELEMS + run - 1) / run);
        run *= c->block[n];
    }
    for (size_t i = 0; i < c->count; i++)
        grow(c, by_tensor[i], &budget, UINT64_MAX);
    for (size_t i = 0; i < c->count; i++)
        grow(c, by_memory[i], &budget, UINT64_MAX);
}

/* -- a part of a box ----------------------------------------------------------------------------------------------- */

/* Lanes in pieces: one lane begins wherever a piece has the element's lowest bit. */
static td_status take_pieces(td_slabs *s, const td_box *box)
{
    s->lanes = 1;
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
        s->small_piece[k].tensor = (int64_t)lanes - 1;
    }
    s->lane_piece[lanes] = box->piece_count;
    s->lanes = lanes ? lanes : 1; /* the first piece of a box has the lowest bit */
    s->piece = s->plan->piece + box->first_piece;
    return TD_OK;
}

static void find_rows(td_slabs *s)
{
    const unsigned bytes = s->plan->memory_dtype.bytes;
    s->row_elems = 1;
    s->row_nodes = 0;
    for (size_t i = s->node_count; i-- > 0 && !s->piece && s->node[i].tensor == (int64_t)s->row_elems &&
                                   s->stride[i] == (int64_t)(s->row_elems * bytes);
         s->row_nodes++)
        s->row_elems *= s->extent[i];
}

/* The small plan: a slab's nodes with dense steps on the tensor's side. It serves every slab, so it must not count on bits that
 * begin a byte where only some slabs do. */
static td_status make_small(td_slabs *s, size_t pieces)
{
    const td_plan *whole = s->plan;
    s->small = (td_plan){.geometry = whole->geometry,
                         .tensor_dtype = whole->memory_dtype,
                         .memory_dtype = whole->memory_dtype,
                         .beats = whole->beats,
                         .node = s->small_node,
                         .piece = s->small_piece,
                         .data = &s->small_box,
                         .data_count = 1,
                         .table = whole->table,
                         .table_count = whole->table_count};
    s->small_box = (td_box){.node_count = s->node_count, .piece_count = pieces};
    int64_t step = (int64_t)s->lanes, memory = s->memory;
    for (size_t i = s->node_count; i-- > 0; step *= (int64_t)s->extent[i]) {
        s->small_node[i] =
            (td_node){.extent = s->extent[i], .tensor = step, .memory = s->node[i].memory, .select = s->node[i].select};
        s->stride[i] = step * whole->memory_dtype.bytes;
        if (s->steps[i] > 1)
            memory |= s->node[i].memory * (int64_t)s->extent[i];
    }
    td_optimise_box(s->small_node, &s->small_box, false);
    s->small.node_count = s->small_box.node_count;
    const int64_t offset = s->small_box.memory;
    if ((memory & 7) != 0)
        s->small_box.memory = 1;
    const td_status status = td_moves_create(&s->small);
    s->small_box.memory = offset;
    return status;
}

static td_status make_ready(const cutting *c, td_slabs *s)
{
    s->elems = s->lanes;
    s->count = 1;
    for (size_t i = 0; i < s->node_count; i++) {
        s->elems *= s->extent[i];
        s->count *= s->steps[i];
        s->stride[i] = s->node[i].memory / 8;
    }
    td_status status = TD_OK;
    if (!c->in_place)
        status = make_small(s, c->box->piece_count);
    if (!status && !c->in_place && s->elems * elem_bytes(c) > TD_SLAB_BYTES) {
        s->own_buffer = malloc(s->elems * elem_bytes(c));
        status = s->own_buffer ? TD_OK : td_fail_alloc(s->elems * elem_bytes(c));
    }
    find_rows(s);
    return status;
}

/* Part `part` of a box: of each node that its block does not divide, the even slabs or what is left behind them. False when
 * such a part has nothing in it. */
static bool cut(const cutting *c, uint64_t part, td_slabs *s)
{
    *s = (td_slabs){.plan = c->run->plan,
                    .bank = c->run->bank,
                    .node_count = c->count,
                    .in_place = c->in_place,
                    .tensor = c->origin.tensor,
                    .memory = c->origin.memory,
                    .select = c->origin.select};
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
    }
    return part == 0;
}

static void free_slabs(td_slabs *s)
{
    td_moves_free(&s->small);
    free(s->lane_piece);
    free(s->small_piece);
    free(s->own_buffer);
}

static td_status walk_box(const td_run *run, const td_box *box, uint64_t row_elems, td_slabs *s, td_slabs_visit *visit,
                          void *context, bool *stopped)
{
    cutting c;
    td_status status = TD_OK;
    take_nodes(&c, run, box, row_elems);
    const uint64_t step_bytes = elem_bytes(&c) * (box->piece_count ? box->piece_count : 1);
    const uint64_t slab_bytes = c.in_place ? IN_PLACE_BYTES : TD_SLAB_BYTES;
    choose_blocks(&c, step_bytes < slab_bytes ? slab_bytes / step_bytes : 1);
    for (uint64_t part = 0; !status && !*stopped && cut(&c, part, s); part++) {
        status = take_pieces(s, box);
        if (!status)
            status = make_ready(&c, s);
        if (!status)
            *stopped = !visit(context, s);
        free_slabs(s);
    }
    return status;
}

td_status td_slabs_walk(const td_run *run, uint64_t row_elems, td_slabs_visit *visit, void *context)
{
    td_slabs *s = malloc(sizeof *s);
    td_status status = s ? TD_OK : td_fail_alloc(sizeof *s);
    bool stopped = false;
    for (size_t b = 0; b < run->plan->data_count && !status && !stopped; b++)
        status = walk_box(run, &run->plan->data[b], row_elems, s, visit, context, &stopped);
    free(s);
    return status;
}

void td_slabs_of_tensor(unsigned char *const *data, unsigned bytes, uint64_t elems, td_slabs_visit *visit,
                        void *context)
{
    const uint64_t block = TD_SLAB_BYTES / bytes, even = elems / block, left = elems % block;
    td_slabs s = {.bank = data, .node_count = 1, .lanes = 1, .in_place = true, .row_nodes = 1};
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

static td_slab find(const td_slabs *s, uint64_t number)
{
    td_slab slab = {.of = s, .tensor = s->tensor, .memory = s->memory, .select = s->select};
    for (size_t i = s->node_count; i-- > 0; number /= s->steps[i]) {
        const int64_t step = (int64_t)(number % s->steps[i] * s->extent[i]);
        slab.tensor += step * s->node[i].tensor;
        slab.memory += step * s->node[i].memory;
        slab.select += step * s->node[i].select;
    }
    return slab;
}

void td_slab_take(const td_slabs *s, uint64_t number, unsigned char *buffer, td_slab *out)
{
    *out = find(s, number);
    if (s->in_place) {
        const td_run run = {.plan = s->plan, .bank = s->bank};
        out->stored = (s->plan ? td_ground_at(&run, out->select) : s->bank[0]) + out->memory / 8;
        return;
    }
    unsigned char *const staged = s->own_buffer ? s->own_buffer : buffer;
    td_plan plan = s->small;
    td_box box = s->small_box;
    box.memory += out->memory;
    box.select += out->select;
    plan.data = &box;
    td_exec_dump(&(td_run){.plan = &plan, .bank = s->bank, .tensor = staged});
    out->stored = staged;
}

/* -- where an element is ------------------------------------------------------------------------------------------- */

uint64_t td_slab_elem(const td_slab *slab, uint64_t n)
{
    const td_slabs *s = slab->of;
    const uint64_t lane = n % s->lanes;
    int64_t tensor = slab->tensor + (s->piece ? s->piece[s->lane_piece[lane]].tensor : 0);
    n /= s->lanes;
    for (size_t i = s->node_count; i-- > 0; n /= s->extent[i])
        tensor += (int64_t)(n % s->extent[i]) * s->node[i].tensor;
    return (uint64_t)tensor;
}

const unsigned char *td_slab_stored(const td_slab *slab, uint64_t n)
{
    const td_slabs *s = slab->of;
    const unsigned char *stored = slab->stored + (s->piece ? n % s->lanes * s->plan->memory_dtype.bytes : 0);
    n /= s->lanes;
    for (size_t i = s->node_count; i-- > 0; n /= s->extent[i])
        stored += (int64_t)(n % s->extent[i]) * s->stride[i];
    return stored;
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
    const td_slabs *s = slab->of;
    const uint64_t lane = n % s->lanes;
    int64_t memory = slab->memory, select = slab->select;
    unsigned bits = s->plan->memory_dtype.bits;
    if (s->piece) {
        const td_piece *piece = &s->piece[s->lane_piece[lane]];
        memory += piece->memory;
        bits = piece->bits ? piece->bits : 1;
    }
    n /= s->lanes;
    for (size_t i = s->node_count; i-- > 0; n /= s->extent[i]) {
        const int64_t step = (int64_t)(n % s->extent[i]);
        memory += step * s->node[i].memory;
        select += step * s->node[i].select;
    }
    return td_plan_place(s->plan, select, memory, bits);
}
