/* From a bound layout to the boxes of a plan: see plan.h for what a box is. Each ragged dimension is cut into regions that
 * are all data or all padding; a box is one region of every dimension. The words that a load writes are boxes too, of
 * their own. */
#include "plan/boxes.h"

#include "memory/memory.h"
#include "plan/move.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One dimension's share of a region: the ranges of its axes, slowest first. */
#define MAX_DIM_AXES (TD_MAX_AXES + 1)

typedef struct cut {
    bool pad;
    int count;
    uint64_t start[MAX_DIM_AXES], extent[MAX_DIM_AXES];
} cut;

typedef struct dim_cuts {
    int axis_count;
    int axis[MAX_DIM_AXES]; /* bound axes of more than one step, slowest first */
    int count;
    cut *cut; /* at most 2 * axis_count + 1 */
} dim_cuts;

static void find_axes(const td_bound *bound, int dim, dim_cuts *out)
{
    for (int a = 0; a < bound->axis_count; a++) {
        if (bound->axis[a].dim != dim || bound->axis[a].size == 1)
            continue;
        int at = out->axis_count++;
        for (; at > 0 && bound->axis[out->axis[at - 1]].dim_stride < bound->axis[a].dim_stride; at--)
            out->axis[at] = out->axis[at - 1];
        out->axis[at] = a;
    }
}

/* Adds the region where axes before `level` stand still at `fixed`, axis `level` runs over [from, to) and the later ones
 * run whole. With the padding in front everything is mirrored. */
static void add_cut(const td_bound *bound, dim_cuts *d, const uint64_t *fixed, int level, uint64_t from, uint64_t to,
                    bool pad)
{
    if (from >= to)
        return;
    cut *c = &d->cut[d->count++];
    *c = (cut){.pad = pad, .count = d->axis_count};
    for (int i = 0; i < d->axis_count; i++) {
        const uint64_t size = bound->axis[d->axis[i]].size;
        c->start[i] = i < level ? fixed[i] : i == level ? from : 0;
        c->extent[i] = i < level ? 1 : i == level ? to - from : size;
        if (bound->layout->pad_begin)
            c->start[i] = size - c->start[i] - c->extent[i];
    }
}

/* Cuts [0, length) out of the product of the axes, digit by digit. */
static td_status cut_dim(const td_bound *bound, int dim, dim_cuts *out)
{
    find_axes(bound, dim, out);
    const size_t most = 2 * (size_t)out->axis_count + 1;
    out->cut = calloc(most, sizeof *out->cut);
    if (!out->cut)
        return td_fail_alloc(most * sizeof *out->cut);
    uint64_t fixed[MAX_DIM_AXES] = {0};
    const td_bound_dim *info = &bound->dim[dim];
    if (out->axis_count == 0 || info->padded == info->length || info->sliding) {
        cut *c = &out->cut[out->count++];
        c->count = out->axis_count;
        for (int i = 0; i < out->axis_count; i++)
            c->extent[i] = bound->axis[out->axis[i]].size;
        return TD_OK;
    }
    uint64_t rest = info->length;
    for (int i = 0; i < out->axis_count && rest; i++) {
        const td_bound_axis *axis = &bound->axis[out->axis[i]];
        const uint64_t step = axis->dim_stride, whole = rest / step;
        rest -= whole * step;
        add_cut(bound, out, fixed, i, 0, whole, false);
        add_cut(bound, out, fixed, i, whole + (rest != 0), axis->size, true);
        fixed[i] = whole;
    }
    return TD_OK;
}

typedef struct lowering {
    td_bound *bound;
    const td_plan_request *request;
    td_lanes lanes;
    td_words words;  /* where they belong */
    td_words placed; /* where the boxes put them: the same, or dense */
    td_plan *plan;
    dim_cuts dims[TD_MAX_RANK];
    td_region *word_regions;
    size_t word_region_count;
} lowering;

/* Makes room for one more of `size` bytes in an array of `count`; doubles. */
static void *grow(void *array, size_t count, size_t size)
{
    return count & (count - 1) ? array : realloc(array, (count ? count * 2 : 1) * size);
}

#define APPEND(array, count, value)                                                                                    \
    do {                                                                                                               \
        void *grown = grow((array), (count), sizeof *(array));                                                         \
        if (!grown)                                                                                                    \
            return td_fail_alloc(((count)*2 + 1) * sizeof *(array));                                                   \
        (array) = grown;                                                                                               \
        (array)[(count)++] = (value);                                                                                  \
    } while (0)

static td_status add_node(td_plan *plan, td_box *box, td_node node)
{
    APPEND(plan->node, plan->node_count, node);
    box->node_count++;
    return TD_OK;
}

/* The node of one axis; the box's place moves to where the region begins on it. */
static td_status add_axis(lowering *l, td_box *box, const td_region *region, int a, bool words_only)
{
    const td_bound_axis *axis = &l->bound->axis[a];
    const int64_t word_bits = (int64_t)l->request->geometry.word_bytes * 8, start = (int64_t)region->start[a];
    td_node node = {
        .extent = region->extent[a], .tensor = words_only ? 0 : axis->tensor_stride, .start = region->start[a]};
    if (axis->role == TD_ROLE_LANE)
        node.memory = l->lanes.stride[a];
    else if (l->placed.by_strides) {
        node.memory = l->placed.address_stride[a] * word_bits;
        node.select = l->placed.bank_stride[a];
    } else
        node.select = (int64_t)l->placed.number_stride[a];
    box->tensor += node.tensor * start;
    box->memory += node.memory * start;
    box->select += node.select * start;
    return add_node(l->plan, box, node);
}

/* The lanes of a region one by one, when strides cannot say them. */
static td_status add_pieces(lowering *l, td_box *box, const td_region *region)
{
    const td_bound *bound = l->bound;
    uint64_t lanes = 1;
    const int n = bound->role_count[TD_ROLE_LANE];
    for (int i = 0; i < n; i++)
        lanes *= region->extent[bound->role_axis[TD_ROLE_LANE][i]];
    box->first_piece = l->plan->piece_count;
    for (uint64_t number = 0; number < lanes; number++) {
        uint64_t rest = number, lane = 0;
        int64_t tensor = 0;
        for (int i = n - 1; i >= 0; i--) {
            const int a = bound->role_axis[TD_ROLE_LANE][i];
            const uint64_t at = region->start[a] + rest % region->extent[a];
            rest /= region->extent[a];
            lane += at * bound->axis[a].role_stride;
            tensor += (int64_t)at * bound->axis[a].tensor_stride;
        }
        td_piece piece[64];
        const size_t count = td_lanes_pieces(bound, l->request, &l->lanes, lane, piece);
        for (size_t i = 0; i < count; i++) {
            piece[i].tensor = tensor;
            APPEND(l->plan->piece, l->plan->piece_count, piece[i]);
        }
        if (count == 0) { /* wholly past the word: a dump still has to zero the element */
            const td_piece none = {.tensor = tensor};
            APPEND(l->plan->piece, l->plan->piece_count, none);
        }
    }
    box->piece_count = l->plan->piece_count - box->first_piece;
    return TD_OK;
}

/* The place of every axis at 0, before the region moves it. */
static td_box origin(const lowering *l, bool words_only)
{
    const td_bound *bound = l->bound;
    td_box box = {.first_node = l->plan->node_count};
    if (l->placed.by_strides) {
        box.memory = l->placed.address * (int64_t)l->request->geometry.word_bytes * 8;
        box.select = l->placed.bank;
    }
    if (words_only)
        return box;
    if (l->lanes.by_strides)
        box.memory += l->lanes.base;
    for (size_t d = 0; d < bound->rank; d++)
        box.tensor -= (int64_t)bound->dim[d].pad_before * bound->dim[d].tensor_stride;
    return box;
}

static td_status finish_box(lowering *l, td_box box, td_box **list, size_t *count)
{
    td_optimise_box(l->plan->node, &box, l->plan->in_order);
    l->plan->node_count = box.first_node + box.node_count;
    APPEND(*list, *count, box);
    return TD_OK;
}

static td_status add_elements(lowering *l, const td_region *region, bool pad)
{
    td_box box = origin(l, false);
    td_status status = TD_OK;
    for (int role = TD_ROLE_BANK; role <= TD_ROLE_LANE && !status; role++)
        for (int i = 0; i < l->bound->role_count[role] && !status; i++)
            if (role != TD_ROLE_LANE || l->lanes.by_strides)
                status = add_axis(l, &box, region, l->bound->role_axis[role][i], false);
    if (!status && !l->lanes.by_strides)
        status = add_pieces(l, &box, region);
    if (status)
        return status;
    return pad ? finish_box(l, box, &l->plan->pads, &l->plan->pads_count)
               : finish_box(l, box, &l->plan->data, &l->plan->data_count);
}

static td_status add_word_box(lowering *l, const td_region *region, uint64_t beat, uint64_t beats)
{
    td_box box = origin(l, true);
    box.memory += (int64_t)(beat * l->request->geometry.word_bytes * 8);
    box.beat = beat;
    box.beats = beats;
    for (int role = TD_ROLE_BANK; role <= TD_ROLE_TIME; role++)
        for (int i = 0; i < l->bound->role_count[role]; i++) {
            td_status status = add_axis(l, &box, region, l->bound->role_axis[role][i], true);
            if (status)
                return status;
        }
    return finish_box(l, box, &l->plan->words, &l->plan->words_count);
}

/* Whether the slot of a lane of the region reaches into that beat. */
static bool beat_has_lanes(const lowering *l, const td_region *region, uint64_t beat)
{
    const td_bound *bound = l->bound;
    const int n = bound->role_count[TD_ROLE_LANE];
    const uint64_t slot = l->lanes.slot_bits, part = l->lanes.part_bits;
    uint64_t lanes = 1;
    for (int i = 0; i < n; i++)
        lanes *= region->extent[bound->role_axis[TD_ROLE_LANE][i]];
    for (uint64_t number = 0; number < lanes; number++) {
        uint64_t rest = number, lane = 0;
        for (int i = n - 1; i >= 0; i--) {
            const int a = bound->role_axis[TD_ROLE_LANE][i];
            lane += (region->start[a] + rest % region->extent[a]) * bound->axis[a].role_stride;
            rest /= region->extent[a];
        }
        const uint64_t first = (bound->layout->lanes_msb ? bound->count[TD_ROLE_LANE] - 1 - lane : lane) * slot;
        if (first / part <= beat && beat <= (first + slot - 1) / part)
            return true;
    }
    return false;
}

/* The region of words that differs from this one in lanes alone, or NULL. */
static td_region *same_words(const lowering *l, const td_region *region)
{
    for (size_t r = 0; r < l->word_region_count; r++) {
        bool same = true;
        for (int a = 0; a < l->bound->axis_count && same; a++)
            same = l->bound->axis[a].role == TD_ROLE_LANE || (l->word_regions[r].start[a] == region->start[a] &&
                                                              l->word_regions[r].extent[a] == region->extent[a]);
        if (same)
            return &l->word_regions[r];
    }
    return NULL;
}

/* The words of a region. A clipped vector writes only the beats that it has lanes in; regions that differ in lanes alone
 * share their words where the vector is one word. */
static td_status add_words(lowering *l, const td_region *region)
{
    const uint64_t beats = l->plan->beats;
    td_region *words = same_words(l, region);
    if (words && beats == 1)
        return TD_OK;
    if (!words) {
        APPEND(l->word_regions, l->word_region_count, *region);
        words = &l->word_regions[l->word_region_count - 1];
    }
    if (beats == 1 || !l->bound->layout->clip || !l->bound->ragged) {
        words->beats = beats;
        return add_word_box(l, region, 0, beats);
    }
    td_status status = TD_OK;
    for (uint64_t beat = 0; beat < beats && !status; beat++)
        if (beat_has_lanes(l, region, beat)) {
            words->beats = beat + 1 > words->beats ? beat + 1 : words->beats;
            status = add_word_box(l, region, beat, 1);
        }
    return status;
}

/* Ragged dimensions multiply: each has a few cuts, and every combination is a box. Beyond this many a plan is no help. */
#define MAX_BOXES ((uint64_t)1 << 16)

static td_status check_boxes(const lowering *l)
{
    uint64_t boxes = 1;
    for (size_t d = 0; d < l->bound->rank && boxes <= MAX_BOXES; d++)
        boxes *= (uint64_t)l->dims[d].count;
    if (boxes <= MAX_BOXES)
        return TD_OK;
    return td_fail(TD_SHAPE,
                   "too many dimensions of \"%s\" do not fill their groups: they cut the tensor into more than %" PRIu64
                   " boxes; pad the tensor first, or use sizes that divide",
                   l->bound->layout->pattern.text, MAX_BOXES);
}

/* Every combination of one cut per dimension, as regions of all axes. */
static td_status add_regions(lowering *l)
{
    const td_bound *bound = l->bound;
    const bool clip = bound->layout->clip;
    int pick[TD_MAX_RANK] = {0};
    td_region region = {0};
    for (int a = 0; a < bound->axis_count; a++)
        region.extent[a] = bound->axis[a].size;
    const td_region all = region;
    td_status status = clip ? TD_OK : add_words(l, &all);
    for (bool more = true; more && !status;) {
        bool pad = false;
        for (size_t d = 0; d < bound->rank; d++) {
            const dim_cuts *dim = &l->dims[d];
            const cut *c = &dim->cut[pick[d]];
            pad |= c->pad;
            for (int i = 0; i < dim->axis_count; i++) {
                region.start[dim->axis[i]] = c->start[i];
                region.extent[dim->axis[i]] = c->extent[i];
            }
        }
        if (!pad || !clip)
            status = add_elements(l, &region, pad);
        if (!pad && clip && !status)
            status = add_words(l, &region);
        more = false;
        for (size_t d = bound->rank; d-- > 0 && !more;) {
            more = ++pick[d] < l->dims[d].count;
            if (!more)
                pick[d] = 0;
        }
    }
    return status;
}

/* The bits of a vector's words that lanes own; a load clears the others. Nothing to clear when lanes own every bit. */
static td_status make_lane_mask(lowering *l)
{
    const td_geometry *g = &l->request->geometry;
    const uint64_t lanes = l->bound->count[TD_ROLE_LANE], owned = lanes * l->request->memory_dtype.bits;
    if (l->bound->layout->keep || owned >= g->width_bits * l->plan->beats)
        return TD_OK;
    uint64_t bytes = 0;
    if (!td_mul_fits(l->plan->beats, g->word_bytes, &bytes) || !(l->plan->lane_mask = calloc(1, bytes)))
        return td_fail_alloc(bytes);
    for (uint64_t lane = 0; lane < lanes; lane++) {
        td_piece piece[64];
        const size_t count = td_lanes_pieces(l->bound, l->request, &l->lanes, lane, piece);
        for (size_t i = 0; i < count; i++)
            for (uint64_t bit = (uint64_t)piece[i].memory; bit < (uint64_t)piece[i].memory + piece[i].bits; bit++)
                l->plan->lane_mask[bit / 8] |= (unsigned char)(1u << (bit % 8));
    }
    return TD_OK;
}

/* A lane's slot is its own, up to the end of the word; a word with one lane is all that lane's. */
static uint64_t find_cell(const lowering *l)
{
    const uint64_t bits = l->request->memory_dtype.bits, word_bits = 8 * l->request->geometry.word_bytes,
                   lsb = l->bound->layout->lsb_bits;
    const uint64_t slot = l->lanes.slot_bits, slots = l->lanes.part_bits / slot,
                   last = lsb + (slots ? slots - 1 : 0) * slot;
    if (l->bound->layout->keep || last + bits > word_bits)
        return bits;
    if (l->bound->count[TD_ROLE_LANE] == 1)
        return word_bits - lsb;
    return slot < word_bits - last ? slot : word_bits - last;
}

static td_status lower(lowering *l)
{
    const td_plan_request *request = l->request;
    const td_layout *layout = request->layout;
    td_plan *plan = l->plan;
    *plan = (td_plan){.geometry = request->geometry,
                      .tensor_dtype = request->tensor_dtype,
                      .memory_dtype = request->memory_dtype,
                      .beats = layout->beats,
                      .in_order = layout->alias_last,
                      .tune = layout->tune};
    atomic_init(&plan->users, 1);
    td_status status = td_bind(layout, request->shape, l->bound);
    if (!status && layout->pad) {
        status = td_dtype_from_text(request->memory_dtype, layout->pad, &plan->pad_bits);
        if (status)
            td_fail_prefix("option pad=%s: ", layout->pad);
    }
    if (!status)
        status = td_lanes_place(l->bound, request, &l->lanes);
    if (!status)
        plan->cell_bits = find_cell(l);
    if (!status)
        status = td_places_find(l->bound, &l->words);
    if (!status && !l->words.by_strides)
        status = td_places_table(l->bound, &l->words, plan);
    if (!status)
        l->placed = request->dense ? td_places_dense(l->bound, &l->words) : l->words;
    for (size_t d = 0; d < l->bound->rank && !status; d++)
        status = cut_dim(l->bound, (int)d, &l->dims[d]);
    if (!status)
        status = check_boxes(l);
    if (!status)
        status = add_regions(l);
    if (!status)
        status = td_check_words(l->bound, &l->words, plan, l->word_regions, l->word_region_count);
    if (!status && request->dense)
        status = td_places_keep(l->bound, &l->words, plan);
    if (!status)
        status = make_lane_mask(l);
    plan->repeats = l->bound->repeats;
    plan->slides = l->bound->slides;
    for (int a = 0; a < l->bound->axis_count && !l->lanes.by_strides; a++) /* copies among pieces are no node either */
        plan->slides |=
            l->bound->axis[a].role == TD_ROLE_LANE && l->bound->axis[a].dim < 0 && l->bound->axis[a].size > 1;
    plan->truncates = request->truncate && !l->lanes.by_strides;
    plan->elems = 1;
    for (size_t d = 0; d < l->bound->rank; d++)
        plan->elems *= l->bound->dim[d].length;
    return status ? status : td_moves_create(plan);
}

td_status td_plan_create(const td_plan_request *request, td_plan **out)
{
    lowering *l = calloc(1, sizeof *l);
    td_bound *bound = malloc(sizeof *bound);
    td_plan *plan = calloc(1, sizeof *plan);
    if (!l || !bound || !plan) {
        free(l);
        free(bound);
        free(plan);
        return td_fail_alloc(sizeof *l + sizeof *bound + sizeof *plan);
    }
    l->bound = bound;
    l->request = request;
    l->plan = plan;
    td_status status = lower(l);
    for (size_t d = 0; d < TD_MAX_RANK; d++)
        free(l->dims[d].cut);
    free(l->word_regions);
    free(l);
    free(bound);
    if (status) {
        td_plan_release(&plan);
        return status;
    }
    *out = plan;
    return TD_OK;
}
