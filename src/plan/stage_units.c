/* The units of a stage (stage.h): what one word, or one vector, of a box is, where its elements lie in it and in the
 * tensor, and the nodes over units. Called by stage.c. A box whose lanes leave their words has no
 * units, unless its elements are whole bytes. */
#include "plan/stage.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LANES 8192 /* of a unit */
#define LINE 64         /* longer units that are no whole lines are packed slower than their words */

static int64_t word_bits_of(const td_plan *plan)
{
    return 8 * (int64_t)plan->geometry.word_bytes;
}

/* -- units --------------------------------------------------------------------------------------------------------- */

/* A node that walks through several words, each of them full, is one over words and one inside them. */
static bool split_node(const td_node *node, int64_t word_bits, uint64_t below, td_node *words, td_node *inside)
{
    const uint64_t steps = (uint64_t)(word_bits / node->memory);
    if (word_bits % node->memory || node->extent % steps || below > (uint64_t)node->memory)
        return false;
    *words = (td_node){.extent = node->extent / steps, .tensor = node->tensor * (int64_t)steps, .memory = word_bits};
    *inside = (td_node){.extent = steps, .tensor = node->tensor, .memory = node->memory};
    return true;
}

/* Where lanes have addresses of their own, every element of whole bytes is a unit. False where there are others. */
static bool take_elements(td_stage_draft *d)
{
    const td_plan *plan = d->plan;
    const td_node *node = plan->node + d->box->first_node;
    td_stage *s = d->stage;
    if (d->box->piece_count || plan->memory_dtype.bits != 8 * plan->memory_dtype.bytes || d->box->memory % 8)
        return false;
    for (size_t i = 0; i < d->box->node_count; i++) {
        if (node[i].memory % 8)
            return false;
        s->unit[s->unit_count++] = node[i];
    }
    s->align_bits = 8;
    s->phase = 0;
    s->code.bytes = plan->memory_dtype.bytes;
    return true;
}

/* Divides the nodes into those over words and those over the lanes of one word. False where lanes leave their word. */
static bool divide_nodes(td_stage_draft *d)
{
    const td_plan *plan = d->plan;
    const td_box *box = d->box;
    td_stage *s = d->stage;
    const td_node *node = plan->node + box->first_node;
    const int64_t word_bits = word_bits_of(plan);
    s->align_bits = (uint64_t)word_bits;
    s->phase = (uint64_t)box->memory % (uint64_t)word_bits;
    uint64_t end = s->phase + plan->memory_dtype.bits;
    if (box->memory < 0)
        return false;
    size_t lanes_from = box->node_count; /* nodes are sorted by their steps in memory */
    for (size_t i = box->node_count; i-- > box->selectors && node[i].memory % word_bits;)
        lanes_from = i;
    for (size_t i = 0; i < lanes_from; i++) {
        if (node[i].memory % 8 || (i >= box->selectors && node[i].memory % word_bits))
            return false;
        s->unit[s->unit_count++] = node[i];
    }
    td_node words = {.extent = 1};
    for (size_t i = box->node_count; i-- > lanes_from;) { /* innermost first */
        td_node inside = node[i];
        const uint64_t span = end + (node[i].extent - 1) * (uint64_t)node[i].memory;
        if (box->piece_count || words.extent > 1)
            return false;
        if (span > (uint64_t)word_bits && !split_node(&node[i], word_bits, end, &words, &inside))
            return false;
        end += (inside.extent - 1) * (uint64_t)inside.memory;
        if (end > (uint64_t)word_bits)
            return false;
        memmove(d->lane + 1, d->lane, d->lane_count++ * sizeof *d->lane);
        d->lane[0] = inside;
    }
    if (words.extent > 1)
        s->unit[s->unit_count++] = words;
    /* An element of a flat layout may reach over several words. */
    s->code.bytes = (uint32_t)((end + s->align_bits - 1) / s->align_bits * plan->geometry.word_bytes);
    return true;
}

/* Few words that follow one another at every entry of a table are one unit. */
static void join_words(td_stage_draft *d)
{
    td_stage *s = d->stage;
    uint64_t lanes = 1;
    for (size_t i = 0; i < d->lane_count; i++)
        lanes *= d->lane[i].extent;
    const bool dense = lanes * d->plan->memory_dtype.bits == 8 * (uint64_t)s->code.bytes;
    while (s->unit_count > d->box->selectors && d->box->selectors && !d->box->piece_count) {
        const td_node *last = &s->unit[s->unit_count - 1];
        if (last->memory != 8 * (int64_t)s->code.bytes || last->tensor == 0 || lanes * last->extent > 64 ||
            (!dense && s->code.bytes * last->extent > LINE && s->code.bytes * last->extent % LINE))
            return;
        lanes *= last->extent;
        memmove(d->lane + 1, d->lane, d->lane_count++ * sizeof *d->lane);
        d->lane[0] = *last;
        s->code.bytes *= (uint32_t)last->extent;
        s->unit_count--;
    }
}

/* -- the elements of a unit ---------------------------------------------------------------------------------------- */

/* From the lane nodes. */
static td_status list_lanes(td_stage_draft *d)
{
    uint64_t lanes = 1;
    for (size_t i = 0; i < d->lane_count && lanes <= MOST_LANES; i++)
        lanes *= d->lane[i].extent;
    if (lanes > MOST_LANES)
        return TD_OK;
    d->place = calloc(lanes, sizeof *d->place);
    if (!d->place)
        return td_fail_alloc(lanes * sizeof *d->place);
    int64_t end = 0;
    td_walk w;
    for (td_walk_begin(&w, d->lane, d->lane_count, (td_at){.memory = (int64_t)d->stage->phase}); w.more;
         td_walk_next(&w)) {
        if (w.at.memory < end) { /* the kernels keep the order of bits */
            d->place_count = 0;
            return TD_OK;
        }
        end = w.at.memory + d->plan->memory_dtype.bits;
        d->place[d->place_count++] =
            (td_piece){.tensor = w.at.tensor, .memory = w.at.memory, .bits = d->plan->memory_dtype.bits};
    }
    d->lanes = lanes;
    return TD_OK;
}

/* From the pieces of the box, which come by lane: upwards in memory, or with lanes=msb downwards. */
static td_status list_pieces(td_stage_draft *d)
{
    const td_piece *piece = d->plan->piece + d->box->first_piece;
    const size_t count = d->box->piece_count;
    int64_t end = 0, before = -1;
    bool up = true, down = true;
    if (count > 2 * MOST_LANES)
        return TD_OK;
    d->place = calloc(count, sizeof *d->place);
    if (!d->place)
        return td_fail_alloc(count * sizeof *d->place);
    for (size_t i = 0; i < count; i++) {
        if (piece[i].bits && piece[i].memory + piece[i].bits > end)
            end = piece[i].memory + piece[i].bits;
        if (piece[i].elem_bit || !piece[i].bits)
            continue;
        up &= before < 0 || piece[i].memory > before;
        down &= before < 0 || piece[i].memory < before;
        before = piece[i].memory;
    }
    if (!up && !down)
        return TD_OK;
    for (size_t i = 0, lane = 0; i < count; i += lane) {
        lane = 1;
        while (i + lane < count && piece[i + lane].elem_bit)
            lane++;
        memcpy(&d->place[up ? i : count - i - lane], &piece[i], lane * sizeof *piece);
        d->lanes++;
    }
    d->place_count = count;
    const int64_t word_bits = word_bits_of(d->plan);
    d->stage->code.bytes = (uint32_t)((end + word_bits - 1) / word_bits * (word_bits / 8));
    return TD_OK;
}

/* A nest of loops that gives `count` offsets in their order, innermost first; false where there is none. */
static bool find_nest(const int64_t *offset, uint64_t count, td_node *node, size_t *nodes)
{
    uint64_t step = 1; /* of the offsets that the nodes so far give */
    for (*nodes = 0; step < count; (*nodes)++) {
        const int64_t stride = offset[step] - offset[0];
        uint64_t extent = 2;
        while (extent * step < count && offset[extent * step] == offset[0] + (int64_t)extent * stride)
            extent++;
        if (*nodes == TD_MAX_AXES || count % (extent * step))
            return false;
        node[*nodes] = (td_node){.extent = extent, .tensor = stride, .memory = (int64_t)step};
        step *= extent;
    }
    for (uint64_t i = 0; i < count; i++) {
        int64_t at = offset[0];
        for (size_t k = 0; k < *nodes; k++)
            at += (int64_t)(i / (uint64_t)node[k].memory % node[k].extent) * node[k].tensor;
        if (at != offset[i])
            return false;
    }
    return true;
}

/* Gives the lane nodes for the containers of a unit, outermost first: their memory counts containers. Lanes that all
 * run backwards in the tensor have their containers in the tensor's order. */
static td_status find_containers(td_stage_draft *d, bool *found)
{
    td_stage *s = d->stage;
    int64_t *offset = calloc(d->lanes, sizeof *offset);
    td_node node[TD_WALK_NODES];
    size_t lane = 0, nodes = 0;
    if (!offset)
        return td_fail_alloc(d->lanes * sizeof *offset);
    for (size_t i = 0; i < d->place_count; i++)
        if (d->place[i].elem_bit == 0)
            offset[lane++] = d->place[i].tensor;
    *found = find_nest(offset, d->lanes, node, &nodes);
    bool backwards = nodes > 0;
    for (size_t i = 0; i < nodes; i++)
        backwards &= node[i].tensor < 0;
    s->code.reversed = *found && backwards;
    s->tensor = offset[backwards ? d->lanes - 1 : 0];
    d->lane_count = nodes;
    for (size_t i = 0; i < nodes; i++) {
        d->lane[i] = node[nodes - 1 - i];
        if (backwards)
            d->lane[i].tensor = -d->lane[i].tensor;
    }
    free(offset);
    return TD_OK;
}

/* Elements of whole bytes side by side are a unit by themselves. */
static void leave_edges(td_stage_draft *d)
{
    td_stage *s = d->stage;
    const td_dtype dtype = d->plan->memory_dtype;
    const int64_t first = d->place[0].memory;
    if (!d->tight || d->box->piece_count || dtype.bits != 8 * dtype.bytes || first % 8)
        return;
    for (size_t i = 0; i < d->place_count; i++)
        if (d->place[i].memory != first + (int64_t)(i * dtype.bits))
            return;
    for (size_t i = 0; i < d->place_count; i++)
        d->place[i].memory -= first;
    s->code.bytes = (uint32_t)(d->lanes * dtype.bytes);
    s->align_bits = 8;
    s->phase = 0;
}

/* A unit that begins where its bytes do not cover whole words would reach into the next word, which another entry of
 * the table may have. */
static bool are_aligned(const td_stage *s)
{
    for (size_t i = 0; i < s->unit_count; i++)
        if (s->unit[i].memory % (int64_t)s->align_bits)
            return false;
    return true;
}

td_status td_stage_units(td_stage_draft *d, bool *found)
{
    *found = false;
    if (!(d->plan->skewed ? take_elements(d) : divide_nodes(d)))
        return TD_OK;
    join_words(d);
    const td_status status = d->box->piece_count ? list_pieces(d) : list_lanes(d);
    if (status || d->place_count == 0)
        return status;
    leave_edges(d);
    return are_aligned(d->stage) ? find_containers(d, found) : TD_OK;
}
