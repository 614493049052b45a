/* Finds slabs and takes them out (slab.h), after slab_cut.c has cut them. Called by accept.c and judging.c from any
 * thread; only td_slabs_take_out allocates. */
#include "compare/slab.h"

#include "kernels/equal.h"
#include "plan/passes.h"

#include <stdlib.h>
#include <string.h>

/* -- as rows ------------------------------------------------------------------------------------------------------- */

static void find_rows(td_slabs *s)
{
    const unsigned bytes = s->plan->memory_dtype.bytes;
    s->row_elems = s->lane_rows ? s->lanes : 1;
    s->row_nodes = 0;
    for (size_t i = s->node_count; i-- > 0 && s->lane_rows && s->node[i].tensor == (int64_t)s->row_elems &&
                                   s->stride[i] == (int64_t)(s->row_elems * bytes);
         s->row_nodes++)
        s->row_elems *= s->extent[i];
    s->panel = 0;
    for (size_t i = 0; i + s->row_nodes < s->node_count; i++)
        if (s->extent[i] > s->extent[s->panel])
            s->panel = i;
    s->panel_loops = 0;
    for (size_t i = 0; i + s->row_nodes < s->node_count; i++)
        if (i != s->panel)
            s->panel_loop[s->panel_loops++] =
                (td_node){.extent = s->extent[i], .tensor = s->node[i].tensor, .memory = s->stride[i]};
}

void td_slabs_see_rows(td_slabs *s)
{
    for (size_t i = 0; i < s->node_count; i++)
        s->stride[i] = s->node[i].memory / 8;
    find_rows(s);
}

void td_slabs_see_blocks(td_slabs *s)
{
    s->block_loops = 0;
    for (size_t i = 0; i + 1 < s->node_count; i++)
        if (i != s->unit)
            s->block_loop[s->block_loops++] =
                (td_node){.extent = s->extent[i], .tensor = s->node[i].tensor, .memory = s->node[i].memory / 8};
}

/* -- the small plan ------------------------------------------------------------------------------------------------ */

/* Makes the small plan that takes slabs out: the slab's nodes with dense steps on the tensor's side. It serves every
 * slab, so it must not assume that bits begin a byte where only some slabs do. */
static td_status make_small(td_slabs *s)
{
    const td_plan *whole = s->plan;
    const size_t pieces = s->piece ? s->lane_piece[s->lanes] : 0;
    s->small = (td_plan){.geometry = whole->geometry,
                         .tensor_dtype = whole->memory_dtype,
                         .memory_dtype = whole->memory_dtype,
                         .beats = whole->beats,
                         .cell_bits = whole->cell_bits,
                         .elems = s->elems,
                         .node = s->small_node,
                         .piece = s->small_piece,
                         .data = &s->small_box,
                         .data_count = 1,
                         .table = whole->table};
    s->small_box = (td_box){.node_count = s->node_count, .piece_count = pieces};
    int64_t step = (int64_t)s->lanes, memory = s->memory;
    for (size_t i = s->node_count; i-- > 0; step *= (int64_t)s->extent[i]) {
        s->small_node[i] =
            (td_node){.extent = s->extent[i], .tensor = step, .memory = s->node[i].memory, .select = s->node[i].select};
        s->stride[i] = step * whole->memory_dtype.bytes;
        if (s->steps[i] > 1)
            memory |= s->node[i].memory * (int64_t)s->extent[i];
    }
    td_box_fold(s->small_node, &s->small_box, false);
    s->small.node_count = s->small_box.node_count;
    const int64_t offset = s->small_box.memory;
    if ((memory & 7) != 0)
        s->small_box.memory = 1;
    const td_status status = td_moves_create(&s->small);
    s->small_box.memory = offset;
    return status;
}

/* The runs of memory that a slab touches: nodes whose steps are less than a line are part of them. */
static void list_runs(td_slabs *s)
{
    int64_t run = s->plan->memory_dtype.bits;
    s->run_bytes = s->run_nodes = 0;
    s->run_bit = 0;
    if (s->piece || s->small_box.selectors)
        return;
    for (size_t i = s->small_box.node_count; i-- > 0;) { /* nearest first; all steps are forward by now */
        const td_node *node = &s->small_node[i];
        if (node->memory <= run || node->memory < 8 * 64)
            run += node->memory * (int64_t)(node->extent - 1);
        else
            s->run_node[s->run_nodes++] = *node;
    }
    s->run_bit = s->small_box.memory;
    s->run_bytes = (size_t)(run + 7) / 8;
}

td_status td_slabs_take_out(td_slabs *s)
{
    const uint64_t bytes = s->elems * s->plan->memory_dtype.bytes;
    if (s->has_small)
        return TD_OK;
    s->has_small = true;
    td_status status = make_small(s);
    if (!status && bytes > TD_SLAB_BYTES) {
        s->own_buffer = malloc(bytes);
        status = s->own_buffer ? TD_OK : td_fail_alloc(bytes);
    }
    find_rows(s);
    list_runs(s);
    return status;
}

void td_slabs_free(td_slabs *s)
{
    if (s->has_small)
        td_moves_free(&s->small);
    free(s->lane_piece);
    free(s->small_piece);
    free(s->own_buffer);
}

/* -- one slab ------------------------------------------------------------------------------------------------------ */

void td_slab_find(const td_slabs *s, uint64_t number, td_slab *out)
{
    *out = (td_slab){.of = s, .tensor = s->tensor, .memory = s->memory, .select = s->select};
    for (size_t k = 0; k < s->node_count; k++) {
        const size_t i = s->order[k];
        const uint64_t steps = s->steps[i];
        if (steps == 1)
            continue;
        const int64_t step = (int64_t)(number % steps * s->extent[i]);
        number /= steps;
        out->tensor += step * s->node[i].tensor;
        out->memory += step * s->node[i].memory;
        out->select += step * s->node[i].select;
    }
    if (s->way != TD_SLAB_TAKEN) {
        out->stored = (s->plan ? td_ground_at(s->plan, s->bank, out->select) : s->bank[0]) + out->memory / 8;
    }
}

void td_slab_taker_init(const td_slabs *s, td_slab_taker *out)
{
    out->slabs = s;
    if (!s->has_small)
        return;
    out->plan = s->small;
    out->box = s->small_box;
    out->plan.data = &out->box;
}

void td_slab_take(td_slab_taker *t, unsigned char *buffer, td_slab *slab)
{
    const td_slabs *s = t->slabs;
    if (s->way == TD_SLAB_ROWS)
        return;
    unsigned char *const taken = s->own_buffer ? s->own_buffer : buffer;
    t->box.memory = s->small_box.memory + slab->memory;
    t->box.select = s->small_box.select + slab->select;
    td_exec_dump(&(td_run){.plan = &t->plan, .bank = s->bank, .tensor = taken, .inner = true});
    slab->stored = taken;
}

void td_slab_prefetch(const td_slab *slab)
{
    const td_slabs *s = slab->of;
    if (!s->run_bytes)
        return;
    const unsigned char *from = td_ground_at(s->plan, s->bank, slab->select) + (slab->memory + s->run_bit) / 8;
    td_walk w;
    for (td_walk_begin(&w, s->run_node, s->run_nodes, (td_at){0}); w.more; td_walk_next(&w))
        for (size_t at = 0; at < s->run_bytes; at += 64)
            td_prefetch(from + w.at.memory / 8, (ptrdiff_t)at);
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

td_place td_slab_place(const td_slab *slab, uint64_t n)
{
    const td_slabs *s = slab->of;
    const uint64_t lane = n % s->lanes;
    td_at at = {.memory = slab->memory, .select = slab->select};
    unsigned bits = s->plan->memory_dtype.bits;
    if (s->piece) {
        const td_piece *piece = &s->piece[s->lane_piece[lane]];
        at.memory += piece->memory;
        bits = piece->bits ? piece->bits : 1;
    }
    n /= s->lanes;
    for (size_t i = s->node_count; i-- > 0; n /= s->extent[i])
        at = td_at_step(at, &s->node[i], n % s->extent[i]);
    return td_place_of(s->plan, at, bits);
}
