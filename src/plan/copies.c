/* Finds the copies of a plan (copies.h) from the axes that make them: a repeat, or two axes of a sliding group whose
 * windows overlap. copy_links.c makes the links. Called by compile.c once the boxes are made. It refuses nothing: where
 * copies have no such form (three overlapping axes, lanes in pieces) plan->slides says so, and a dump holds all places
 * against the tensor instead. */
#include "plan/copy_links.h"

#include "plan/passes.h"
#include "plan/walk.h"

#include <stdlib.h>
#include <string.h>

/* Boxes that overlapping windows may cut one box into. */
#define MAX_REGIONS 64

/* A step of `by` along one axis and of `back` against another leads to a copy of the same element. */
typedef struct copier {
    int axis, other; /* other: -1 for a repeat */
    int digit;       /* of a repeat whose axis has several: each of them copies by itself */
    uint64_t by, back;
} copier;

/* What the boxes were made from. */
typedef struct source {
    const td_bound *bound;
    const td_lanes *lanes;
    const td_words *words;
} source;

/* -- the axes that copy -------------------------------------------------------------------------------------------- */

static uint64_t divisor_of(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a ? a : 1; /* anything divides 0 and 0 */
}

static bool has_node(const source *s, int axis)
{
    return s->lanes->by_strides || s->bound->axis[axis].role != TD_ROLE_LANE;
}

/* The nodes that an axis has in a box. */
static int nodes_of(const source *s, int axis)
{
    return s->words->by_digits && s->bound->axis[axis].placed ? s->words->digits[axis] : 1;
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
static bool find_copiers(const source *s, copier *out, size_t *count)
{
    const td_bound *bound = s->bound;
    *count = 0;
    for (int a = 0; a < bound->axis_count; a++)
        if (bound->axis[a].dim < 0 && bound->axis[a].size > 1) {
            if (!has_node(s, a))
                return false;
            for (int digit = 0; digit < nodes_of(s, a); digit++)
                out[(*count)++] = (copier){.axis = a, .digit = digit, .other = -1, .by = 1};
        }
    for (size_t d = 0; d < bound->rank; d++) {
        int axis[TD_MAX_BOUND];
        const int axes = bound->dim[d].sliding ? sort_axes(bound, (int)d, axis) : 0;
        if (axes == 0 || stand_apart(bound, axis, axes))
            continue;
        if (axes != 2 || !has_node(s, axis[0]) || !has_node(s, axis[1]))
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

/* -- cutting ------------------------------------------------------------------------------------------------------- */

/* The first node of an axis: nodes stand in the order of the roles. */
static size_t node_of(const source *s, int axis)
{
    const td_bound *bound = s->bound;
    size_t at = 0;
    for (int role = TD_ROLE_BANK; role <= TD_ROLE_LANE; role++)
        for (int i = 0; i < bound->role_count[role]; at += (size_t)nodes_of(s, bound->role_axis[role][i]), i++)
            if (bound->role_axis[role][i] == axis)
                return at;
    return at;
}

/* Keeps the steps [start, start + extent) of a node. */
static void keep_steps(td_copy_region *r, size_t at, uint64_t start, uint64_t extent)
{
    td_node *node = &r->node[at];
    const int64_t from = (int64_t)start;
    r->box.tensor += node->tensor * from;
    r->box.memory += node->memory * from;
    r->box.select += node->select * from;
    node->start += start;
    node->extent = extent;
}

/* Where the copies of all words of a table's node lie the same way off, and the words are some consecutive ones in any
 * order, that order does not matter: the node becomes a stride. Lanes that lie in a word each have an order: each is at
 * a bit of its own. */
static td_status straighten(const td_plan *plan, td_copy_region *r)
{
    td_box *box = &r->box;
    td_node *node = &r->node[0];
    if (!plan->table.entry || box->selectors != 1 || node->extent < 2 || node->memory)
        return TD_OK;
    uint64_t lowest = UINT64_MAX, highest = 0, seen = 0;
    int64_t lowest_at = box->select;
    for (uint64_t i = 0; i < node->extent; i++) {
        const int64_t at = box->select + node->select * (int64_t)i;
        const uint64_t entry = td_table_get(&plan->table, (uint64_t)at);
        highest = entry > highest ? entry : highest;
        if (entry < lowest) {
            lowest = entry;
            lowest_at = at;
        }
    }
    if (highest - lowest != node->extent - 1 || highest >> plan->table.bank_shift != lowest >> plan->table.bank_shift)
        return TD_OK;
    unsigned char *is_there = calloc(node->extent, 1);
    if (!is_there)
        return td_fail_alloc(node->extent);
    for (uint64_t i = 0; i < node->extent; i++) {
        const uint64_t entry = td_table_get(&plan->table, (uint64_t)(box->select + node->select * (int64_t)i));
        seen += !is_there[entry - lowest];
        is_there[entry - lowest] = 1;
    }
    free(is_there);
    if (seen < node->extent)
        return TD_OK;
    box->select = lowest_at;
    node->select = 0;
    node->memory = 8 * (int64_t)plan->geometry.word_bytes;
    td_box_fold(r->node, box, false);
    return TD_OK;
}

/* Holds the copies that one axis makes against each other. */
static td_status link_region(const td_linking *l, const source *s, const copier *c, const td_copy_region *of)
{
    td_copy_region r = *of;
    const size_t at = node_of(s, c->axis) + (size_t)c->digit;
    int64_t memory = r.node[at].memory * (int64_t)c->by, select = r.node[at].select * (int64_t)c->by;
    keep_steps(&r, at, 0, r.node[at].extent - c->by);
    if (c->other >= 0) {
        const size_t other = node_of(s, c->other);
        memory -= r.node[other].memory * (int64_t)c->back;
        select -= r.node[other].select * (int64_t)c->back;
        keep_steps(&r, other, c->back, r.node[other].extent - c->back);
    }
    if (!memory && !select)
        return TD_OK; /* one place */
    td_linking in = *l;
    in.copy = (td_node){.extent = 1};
    if (c->other < 0 && (select || memory > TD_COPY_FAR_BITS || memory < -TD_COPY_FAR_BITS)) {
        in.copy = (td_node){.extent = r.node[at].extent, .memory = memory, .select = select};
        r.node[at].extent = 1;
    }
    for (size_t i = 0; i < r.box.node_count; i++)
        r.node[i].tensor = 0;
    td_box_fold(r.node, &r.box, false);
    const td_status status = select ? TD_OK : straighten(l->plan, &r);
    return status ? status : td_link_add(&in, &r, memory, select);
}

/* Keeps every `step`th step of a node. */
static void skip_steps(td_copy_region *r, size_t at, uint64_t step)
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
static size_t drop_copies(const source *s, const copier *c, const td_copy_region *r, td_copy_region *out)
{
    const size_t at = node_of(s, c->axis) + (size_t)c->digit;
    out[0] = *r;
    if (c->other < 0) {
        keep_steps(&out[0], at, 0, 1);
        return 1;
    }
    const size_t other = node_of(s, c->other);
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

static td_status add_once(td_plan *once, const td_copy_region *r)
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
static td_status link_box(const td_linking *l, const source *s, const copier *c, size_t count, const td_box *box,
                          td_copy_region *set)
{
    size_t regions = 1;
    td_status status = TD_OK;
    set[0].box = *box;
    set[0].box.first_node = 0;
    memcpy(set[0].node, l->plan->node + box->first_node, box->node_count * sizeof(td_node));
    for (size_t i = 0; i < count && !status; i++) {
        size_t next = regions;
        for (size_t r = 0; r < regions && !status; r++) {
            td_copy_region left[2];
            status = link_region(l, s, &c[i], &set[r]);
            const size_t parts = drop_copies(s, &c[i], &set[r], left);
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
                      .windows = plan->windows,
                      .truncates = plan->truncates,
                      .cell_bits = plan->cell_bits,
                      .piece = plan->piece,
                      .piece_count = plan->piece_count,
                      .table = plan->table,
                      .elems = plan->elems};
}

td_status td_copies_find(const td_bound *bound, const td_lanes *lanes, const td_words *words, td_plan *plan)
{
    const source from = {.bound = bound, .lanes = lanes, .words = words};
    copier c[TD_MAX_BOUND];
    size_t count = 0, regions = 1;
    if (!bound->repeats && !bound->slides)
        return TD_OK;
    plan->slides = !find_copiers(&from, c, &count);
    for (size_t i = 0; i < count; i++)
        regions *= c[i].other < 0 ? 1 : 2;
    plan->slides |= regions > MAX_REGIONS;
    if (plan->slides || count == 0)
        return TD_OK;
    td_copies *copies = calloc(1, sizeof *copies);
    td_copy_region *set = malloc(regions * sizeof *set);
    td_status status = copies && set ? TD_OK : td_fail_alloc(sizeof *copies + regions * sizeof *set);
    plan->copies = copies;
    if (!status) {
        const td_linking l = {.plan = plan, .copies = copies};
        begin_once(plan, &copies->once);
        for (size_t b = 0; b < plan->data_count && !status; b++)
            status = link_box(&l, &from, c, count, &plan->data[b], set);
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
