/* Finds the copies of a plan (copies.h) from the axes that make them: a repeat, or two axes of a sliding group whose
 * windows overlap. Called by compile.c once the boxes are made. It refuses nothing: where copies have no such form
 * (three overlapping axes, lanes in pieces) plan->slides says so, and a dump holds all places against the tensor
 * instead. */
#include "plan/copies.h"

#include "kernels/bits.h"
#include "plan/passes.h"
#include "plan/walk.h"

#include <stdlib.h>
#include <string.h>

/* Masks are made when a plan is, so they are kept short; longer runs of whole bytes need none. */
#define MASK_BITS ((int64_t)8 * 1024)
#define RUN_BITS ((int64_t)8 * 64)
/* Copies that lie further apart than a first-level cache are compared block by block, so that each is read once. */
#define BLOCK_BYTES ((uint64_t)16 << 10)
#define FAR_BITS (8 * 2 * (int64_t)BLOCK_BYTES)
/* Boxes that overlapping windows may cut one box into. */
#define MAX_REGIONS 64

/* A step of `by` along one axis and of `back` against another leads to a copy of the same element. */
typedef struct copier {
    int axis, other; /* other: -1 for a repeat */
    uint64_t by, back;
} copier;

/* A box that is being cut, with nodes of its own. */
typedef struct region {
    td_box box;
    td_node node[TD_MAX_BOUND];
} region;

/* -- the axes that copy -------------------------------------------------------------------------------------------- */

static uint64_t divisor_of(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool has_node(const td_bound *bound, const td_lanes *lanes, int axis)
{
    return lanes->by_strides || bound->axis[axis].role != TD_ROLE_LANE;
}

/* Axes of a sliding dimension of more than one step, the shortest first; returns how many. */
static int sort_axes(const td_bound *bound, int dim, int *axis)
{
    int count = 0;
    for (int a = 0; a < bound->axis_count; a++) {
        if (bound->axis[a].dim != dim || bound->axis[a].size == 1)
            continue;
        int at = count++;
        for (; at > 0 && bound->axis[axis[at - 1]].dim_stride > bound->axis[a].dim_stride; at--)
            axis[at] = axis[at - 1];
        axis[at] = a;
    }
    return count;
}

/* True when every step is longer than what the shorter ones reach together, so that no two windows overlap. */
static bool stand_apart(const td_bound *bound, const int *axis, int count)
{
    uint64_t reach = 0;
    for (int i = 0; i < count; i++) {
        const td_bound_axis *a = &bound->axis[axis[i]];
        if (a->dim_stride <= reach)
            return false;
        reach += a->dim_stride * (a->size - 1);
    }
    return true;
}

/* Gives the copiers of a layout; false where they have no such form. */
static bool find_copiers(const td_bound *bound, const td_lanes *lanes, copier *out, size_t *count)
{
    *count = 0;
    for (int a = 0; a < bound->axis_count; a++)
        if (bound->axis[a].dim < 0 && bound->axis[a].size > 1) {
            if (!has_node(bound, lanes, a))
                return false;
            out[(*count)++] = (copier){.axis = a, .other = -1, .by = 1};
        }
    for (size_t d = 0; d < bound->rank; d++) {
        int axis[TD_MAX_BOUND];
        const int axes = bound->dim[d].sliding ? sort_axes(bound, (int)d, axis) : 0;
        if (axes == 0 || stand_apart(bound, axis, axes))
            continue;
        if (axes != 2 || !has_node(bound, lanes, axis[0]) || !has_node(bound, lanes, axis[1]))
            return false;
        const td_bound_axis *near = &bound->axis[axis[0]], *far = &bound->axis[axis[1]];
        const uint64_t common = divisor_of(near->dim_stride, far->dim_stride);
        const copier c = {
            .axis = axis[1], .other = axis[0], .by = near->dim_stride / common, .back = far->dim_stride / common};
        if (c.by < far->size && c.back < near->size)
            out[(*count)++] = c;
    }
    return true;
}

/* -- windows ------------------------------------------------------------------------------------------------------- */

typedef struct linking {
    const td_plan *plan;
    td_copies *copies;
    td_node copy; /* from each copy to the next, as the innermost loop; extent 1: it is one of the nodes */
} linking;

static td_link *new_link(td_copies *c)
{
    td_link *grown = realloc(c->link, (c->link_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    c->link = grown;
    c->link[c->link_count] = (td_link){0};
    return &c->link[c->link_count++];
}

/* The bits that one step of a box holds, from the first to one past the last. */
static void find_bits(const td_plan *plan, const td_box *box, int64_t *low, int64_t *high)
{
    *low = box->piece_count ? INT64_MAX : 0;
    *high = box->piece_count ? INT64_MIN : plan->memory_dtype.bits;
    for (size_t k = 0; k < box->piece_count; k++) {
        const td_piece *piece = &plan->piece[box->first_piece + k];
        if (!piece->bits)
            continue;
        *low = piece->memory < *low ? piece->memory : *low;
        *high = piece->memory + piece->bits > *high ? piece->memory + piece->bits : *high;
    }
}

/* A mask of every step of `count` nodes, of which bit 0 is `from` bits before the first. */
static void draw_mask(const td_plan *plan, const td_box *box, const td_node *node, size_t count, int64_t from,
                      unsigned char *mask)
{
    const td_piece whole = {.bits = plan->memory_dtype.bits};
    const td_piece *piece = box->piece_count ? plan->piece + box->first_piece : &whole;
    const size_t pieces = box->piece_count ? box->piece_count : 1;
    td_walk w;
    for (td_walk_begin(&w, node, count, (td_at){.memory = from}); w.more; td_walk_next(&w))
        for (size_t k = 0; k < pieces; k++)
            if (piece[k].bits)
                td_put_bits(mask, w.at.memory + piece[k].memory, piece[k].bits, UINT64_MAX);
}

/* Nodes that a link may come to have: those it is made of, and three that cut_blocks adds. */
#define SPACE(count) ((count) + 4)

/* The nodes before `count` become the loops of the link; the last of them its rows where it steps over whole bytes. */
static td_status take_loops(const td_node *node, size_t count, size_t selectors, td_link *link)
{
    link->rows = 1;
    if (count > selectors && node[count - 1].memory % 8 == 0) {
        link->rows = node[count - 1].extent;
        link->stride = node[count - 1].memory / 8;
        count--;
    }
    link->node_count = count;
    link->node = malloc(SPACE(count) * sizeof *link->node);
    if (!link->node)
        return td_fail_alloc(SPACE(count) * sizeof *link->node);
    memcpy(link->node, node, count * sizeof *node);
    return TD_OK;
}

static bool is_bytes(const td_node *node, size_t count, int64_t memory, int64_t delta)
{
    int64_t bits = memory | delta;
    for (size_t i = 0; i < count; i++)
        bits |= node[i].memory;
    return bits % 8 == 0;
}

/* Adds a loop inside the others; take_loops left space for it. */
static void add_loop(td_link *link, td_node node)
{
    if (node.extent != 1)
        link->node[link->node_count++] = node;
}

/* A link like one before. */
static td_status add_rest(td_copies *c, size_t of)
{
    td_link *link = new_link(c);
    const td_link *like = &c->link[of];
    if (!link)
        return td_fail_alloc(sizeof *link);
    *link = *like;
    link->mask = like->mask ? malloc(like->bytes) : NULL;
    link->node = malloc(SPACE(like->node_count) * sizeof *link->node);
    if (!link->node || (like->mask && !link->mask))
        return td_fail_alloc(like->bytes + SPACE(like->node_count) * sizeof *link->node);
    memcpy(link->node, like->node, like->node_count * sizeof *link->node);
    if (link->mask)
        memcpy(link->mask, like->mask, like->bytes);
    return TD_OK;
}

/* Cuts what is compared together into blocks, and goes from copy to copy inside them. */
static td_status cut_blocks(const linking *l)
{
    td_copies *c = l->copies;
    const size_t of = c->link_count - 1;
    td_link *link = &c->link[of];
    if (l->copy.extent == 1)
        return TD_OK;
    const bool cuts_run = !link->mask && link->bytes > BLOCK_BYTES;
    uint64_t blocks = 1, rest = 0;
    int64_t step = 8 * (int64_t)BLOCK_BYTES;
    if (cuts_run) {
        blocks = link->bytes / BLOCK_BYTES;
        rest = link->bytes % BLOCK_BYTES;
        add_loop(link, (td_node){.extent = link->rows, .memory = 8 * link->stride});
        link->rows = 1;
        link->bytes = BLOCK_BYTES;
    } else if (link->rows * link->bytes > BLOCK_BYTES) {
        const uint64_t high = link->bytes < BLOCK_BYTES ? BLOCK_BYTES / link->bytes : 1;
        blocks = link->rows / high;
        rest = link->rows % high;
        step = 8 * (int64_t)high * link->stride;
        link->rows = high;
    }
    td_status status = rest ? add_rest(c, of) : TD_OK;
    add_loop(&c->link[of], (td_node){.extent = blocks, .memory = step});
    if (rest && !status) {
        link = &c->link[of + 1];
        link->memory += (int64_t)blocks * step;
        link->rows = cuts_run ? 1 : rest;
        link->bytes = cuts_run ? (size_t)rest : link->bytes;
    }
    for (size_t i = of; i < c->link_count && !status; i++)
        add_loop(&c->link[i], l->copy);
    return status;
}

/* A link over nodes that are folded and sorted, and `delta` away. Where a node is too long for a mask, its rest is a
 * link of its own. */
static td_status add_link(const linking *l, const region *r, int64_t delta_memory, int64_t delta_select)
{
    region in = *r;
    td_box *box = &in.box;
    int64_t low, high;
    td_status status = TD_OK;
    find_bits(l->plan, box, &low, &high);
    size_t count = box->node_count;
    int64_t span = high - low;
    if (span <= 0)
        return TD_OK; /* no lane of these reaches into the word */
    td_node *last = count > box->selectors ? &in.node[count - 1] : NULL;
    const bool runs = last && !box->piece_count && last->memory == span && span * (int64_t)last->extent >= RUN_BITS &&
                      span * (int64_t)last->extent % 8 == 0 && is_bytes(in.node, count - 1, box->memory, delta_memory);
    td_link *link = new_link(l->copies);
    if (!link)
        return td_fail_alloc(sizeof *link);
    link->memory = box->memory + low;
    link->select = box->select;
    link->delta_memory = delta_memory;
    link->delta_select = delta_select;
    if (runs) {
        link->bytes = (size_t)(span * (int64_t)last->extent / 8);
        status = take_loops(in.node, count - 1, box->selectors, link);
        return status ? status : cut_blocks(l);
    }
    td_node inside[TD_MAX_BOUND + 1];
    size_t inner = TD_MAX_BOUND + 1, rest_node = 0;
    uint64_t rest = 0;
    for (bool more = true; more && count > box->selectors && span < MASK_BITS;) {
        td_node *node = &in.node[count - 1], *taken = &inside[inner - 1];
        const uint64_t fit = node->memory ? (uint64_t)((MASK_BITS - span) / node->memory) + 1 : node->extent;
        if (fit < 2)
            break;
        *taken = *node;
        inner--;
        if (fit < node->extent) {
            taken->extent = fit;
            rest_node = count - 1;
            rest = node->extent % fit;
            node->extent /= fit;
            node->memory *= (int64_t)fit;
            more = false;
        } else
            count--;
        span += taken->memory * (int64_t)(taken->extent - 1);
    }
    link->shifts = !is_bytes(in.node, count, 0, delta_memory);
    const int64_t phase = link->shifts ? 0 : link->memory & 7;
    link->memory -= phase;
    link->bytes = (size_t)(span + phase + 7) / 8;
    link->mask = calloc(link->bytes, 1);
    if (!link->mask)
        return td_fail_alloc(link->bytes);
    draw_mask(l->plan, box, inside + inner, TD_MAX_BOUND + 1 - inner, phase - low, link->mask);
    status = take_loops(in.node, count, box->selectors, link);
    status = status ? status : cut_blocks(l);
    if (status || !rest)
        return status;
    region left = *r;
    td_node *node = &left.node[rest_node];
    left.box.memory += (int64_t)(node->extent - rest) * node->memory;
    node->extent = rest;
    return add_link(l, &left, delta_memory, delta_select);
}

/* -- cutting ------------------------------------------------------------------------------------------------------- */

/* The node of an axis: nodes stand in the order of the roles. */
static size_t node_of(const td_bound *bound, int axis)
{
    size_t at = 0;
    for (int role = TD_ROLE_BANK; role <= TD_ROLE_LANE; role++)
        for (int i = 0; i < bound->role_count[role]; i++, at++)
            if (bound->role_axis[role][i] == axis)
                return at;
    return at;
}

/* Keeps the steps [start, start + extent) of a node. */
static void keep_steps(region *r, size_t at, uint64_t start, uint64_t extent)
{
    td_node *node = &r->node[at];
    const int64_t from = (int64_t)start;
    r->box.tensor += node->tensor * from;
    r->box.memory += node->memory * from;
    r->box.select += node->select * from;
    node->start += start;
    node->extent = extent;
}

/* Holds the copies that one axis makes against each other. */
static td_status link_region(const linking *l, const td_bound *bound, const copier *c, const region *of)
{
    region r = *of;
    const size_t at = node_of(bound, c->axis);
    int64_t memory = r.node[at].memory * (int64_t)c->by, select = r.node[at].select * (int64_t)c->by;
    keep_steps(&r, at, 0, r.node[at].extent - c->by);
    if (c->other >= 0) {
        const size_t other = node_of(bound, c->other);
        memory -= r.node[other].memory * (int64_t)c->back;
        select -= r.node[other].select * (int64_t)c->back;
        keep_steps(&r, other, c->back, r.node[other].extent - c->back);
    }
    if (!memory && !select)
        return TD_OK; /* one place */
    linking in = *l;
    in.copy = (td_node){.extent = 1};
    if (c->other < 0 && (select || memory > FAR_BITS || memory < -FAR_BITS)) {
        in.copy = (td_node){.extent = r.node[at].extent, .memory = memory, .select = select};
        r.node[at].extent = 1;
    }
    for (size_t i = 0; i < r.box.node_count; i++)
        r.node[i].tensor = 0;
    td_box_fold(r.node, &r.box, false);
    return add_link(&in, &r, memory, select);
}

/* Keeps every `step`th step of a node. */
static void skip_steps(region *r, size_t at, uint64_t step)
{
    td_node *node = &r->node[at];
    node->extent = (node->extent - 1) / step + 1;
    node->tensor *= (int64_t)step;
    node->memory *= (int64_t)step;
    node->select *= (int64_t)step;
}

/* What is left of a region when the copies of one axis are dropped: one region, or two. Of windows without gaps, every
 * so many that stand side by side, so that few words are read and those whole, and the end of the last window; of
 * others the first steps of each, and the last windows. */
static size_t drop_copies(const td_bound *bound, const copier *c, const region *r, region *out)
{
    const size_t at = node_of(bound, c->axis);
    out[0] = *r;
    if (c->other < 0) {
        keep_steps(&out[0], at, 0, 1);
        return 1;
    }
    const size_t other = node_of(bound, c->other);
    const uint64_t windows = r->node[at].extent, wide = r->node[other].extent;
    out[1] = *r;
    keep_steps(&out[1], at, windows - c->by, c->by);
    if (c->by == 1) {
        const uint64_t apart = wide / c->back, tiles = (windows - 1) / apart + 1,
                       left = (windows - 1) * c->back + wide - tiles * apart * c->back;
        skip_steps(&out[0], at, apart);
        keep_steps(&out[0], other, 0, apart * c->back);
        keep_steps(&out[1], other, wide - left, left);
        return left ? 2 : 1;
    }
    keep_steps(&out[0], other, 0, c->back);
    keep_steps(&out[1], other, c->back, wide - c->back);
    return 2;
}

static td_status add_once(td_plan *once, const region *r)
{
    const size_t nodes = once->node_count + r->box.node_count;
    td_node *node = realloc(once->node, (nodes + 1) * sizeof *node);
    if (!node)
        return td_fail_alloc((nodes + 1) * sizeof *node);
    once->node = node;
    td_box *data = realloc(once->data, (once->data_count + 1) * sizeof *data);
    if (!data)
        return td_fail_alloc((once->data_count + 1) * sizeof *data);
    once->data = data;
    td_box box = r->box;
    box.first_node = once->node_count;
    memcpy(node + box.first_node, r->node, box.node_count * sizeof *node);
    td_box_fold(node, &box, false);
    once->node_count += box.node_count;
    data[once->data_count++] = box;
    return TD_OK;
}

/* All copies of one box: every axis that makes some is linked and then dropped. */
static td_status link_box(const linking *l, const td_bound *bound, const copier *c, size_t count, const td_box *box,
                          region *set)
{
    size_t regions = 1;
    td_status status = TD_OK;
    set[0].box = *box;
    set[0].box.first_node = 0;
    memcpy(set[0].node, l->plan->node + box->first_node, box->node_count * sizeof(td_node));
    for (size_t i = 0; i < count && !status; i++) {
        size_t next = regions;
        for (size_t r = 0; r < regions && !status; r++) {
            region left[2];
            status = link_region(l, bound, &c[i], &set[r]);
            const size_t parts = drop_copies(bound, &c[i], &set[r], left);
            set[r] = left[0];
            if (parts == 2)
                set[next++] = left[1];
        }
        regions = next;
    }
    for (size_t r = 0; r < regions && !status; r++)
        status = add_once(&l->copies->once, &set[r]);
    return status;
}

/* The plan of a dump shares the pieces and the table. */
static void begin_once(const td_plan *plan, td_plan *once)
{
    *once = (td_plan){.geometry = plan->geometry,
                      .tensor_dtype = plan->tensor_dtype,
                      .memory_dtype = plan->memory_dtype,
                      .beats = plan->beats,
                      .skewed = plan->skewed,
                      .tune = plan->tune,
                      .truncates = plan->truncates,
                      .cell_bits = plan->cell_bits,
                      .piece = plan->piece,
                      .piece_count = plan->piece_count,
                      .table = plan->table,
                      .elems = plan->elems};
}

td_status td_copies_find(const td_bound *bound, const td_lanes *lanes, td_plan *plan)
{
    copier c[TD_MAX_BOUND];
    size_t count = 0, regions = 1;
    if (!bound->repeats && !bound->slides)
        return TD_OK;
    plan->slides = !find_copiers(bound, lanes, c, &count);
    for (size_t i = 0; i < count; i++)
        regions *= c[i].other < 0 ? 1 : 2;
    plan->slides |= regions > MAX_REGIONS;
    if (plan->slides || count == 0)
        return TD_OK;
    td_copies *copies = calloc(1, sizeof *copies);
    region *set = malloc(regions * sizeof *set);
    td_status status = copies && set ? TD_OK : td_fail_alloc(sizeof *copies + regions * sizeof *set);
    plan->copies = copies;
    if (!status) {
        const linking l = {.plan = plan, .copies = copies};
        begin_once(plan, &copies->once);
        for (size_t b = 0; b < plan->data_count && !status; b++)
            status = link_box(&l, bound, c, count, &plan->data[b], set);
    }
    free(set);
    return status;
}

void td_copies_free(td_copies *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->link_count; i++) {
        free(c->link[i].node);
        free(c->link[i].mask);
    }
    free(c->link);
    td_moves_free(&c->once);
    free(c->once.node);
    free(c->once.data);
    free(c);
}
