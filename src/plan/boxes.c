/* From a bound layout to the boxes of a plan: see plan.h for what a box is. Each ragged dimension is cut into regions
 * that are all data or all padding; a box is one region of every dimension. The words that a load writes are boxes
 * too, of their own. Called by compile.c; the one refusal is a tensor in too many boxes. */
#include "plan/passes.h"

#include <inttypes.h>
#include <stdlib.h>

/* What a region covers of one dimension: the ranges of its axes, slowest first. */
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

/* Adds the region where axes before `level` stand still at `fixed`, axis `level` runs over [from, to) and the later
 * ones run whole. With the padding in front everything is mirrored. */
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
        if (bound->pad_begin)
            c->start[i] = size - c->start[i] - c->extent[i];
    }
}

/* Cuts [0, length) out of the product of the axes, digit by digit. */
static td_status cut_dim(const td_bound *bound, int dim, dim_cuts *out)
{
    const td_bound_dim *info = &bound->dim[dim];
    *out = (dim_cuts){0};
    find_axes(bound, dim, out);
    const bool whole = out->axis_count == 0 || info->padded == info->length || info->sliding;
    const size_t most = whole ? 1 : 2 * (size_t)out->axis_count + 1;
    out->cut = calloc(most, sizeof *out->cut);
    if (!out->cut) {
        td_fail_alloc(most * sizeof *out->cut);
        return TD_NO_MEMORY;
    }
    uint64_t fixed[MAX_DIM_AXES] = {0};
    if (whole) {
        cut *c = &out->cut[out->count++];
        c->count = out->axis_count;
        for (int i = 0; i < out->axis_count; i++)
            c->extent[i] = bound->axis[out->axis[i]].size;
        return TD_OK;
    }
    uint64_t rest = info->length;
    for (int i = 0; i < out->axis_count && rest; i++) {
        const td_bound_axis *axis = &bound->axis[out->axis[i]];
        const uint64_t step = axis->dim_stride, steps = rest / step;
        rest -= steps * step;
        add_cut(bound, out, fixed, i, 0, steps, false);
        add_cut(bound, out, fixed, i, steps + (rest != 0), axis->size, true);
        fixed[i] = steps;
    }
    return TD_OK;
}

typedef struct builder {
    const td_bound *bound;
    const td_plan_request *request;
    const td_lanes *lanes;
    const td_words *words;
    td_plan *plan;
    td_regions *regions;
    size_t dim_count;
    dim_cuts dims[TD_MAX_RANK]; /* set as far as dim_count */
} builder;

/* Room for one more element of `size` bytes in an array of `count`; the array doubles. */
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
static td_status add_axis(builder *b, td_box *box, const td_region *region, int a, bool words_only)
{
    const td_bound_axis *axis = &b->bound->axis[a];
    const int64_t word_bits = (int64_t)b->request->geometry.word_bytes * 8, start = (int64_t)region->start[a];
    td_node node = {
        .extent = region->extent[a], .tensor = words_only ? 0 : axis->tensor_stride, .start = region->start[a]};
    if (axis->role == TD_ROLE_LANE && !words_only)
        node.memory = b->lanes->stride[a];
    if (axis->placed && b->words->by_strides) {
        node.memory += b->words->address_stride[a] * word_bits;
        node.select = b->words->bank_stride[a];
    } else if (axis->placed)
        node.select = (int64_t)b->words->number_stride[a];
    box->tensor += node.tensor * start;
    box->memory += node.memory * start;
    box->select += node.select * start;
    return add_node(b->plan, box, node);
}

/* The lanes of a region one by one, where they have no constant stride. */
static td_status add_pieces(builder *b, td_box *box, const td_region *region)
{
    const td_bound *bound = b->bound;
    uint64_t lanes = 1;
    const int n = bound->role_count[TD_ROLE_LANE];
    for (int i = 0; i < n; i++)
        lanes *= region->extent[bound->role_axis[TD_ROLE_LANE][i]];
    box->first_piece = b->plan->piece_count;
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
        const size_t count = td_lanes_pieces(bound, b->request, b->lanes, lane, piece);
        for (size_t i = 0; i < count; i++) {
            piece[i].tensor = tensor;
            APPEND(b->plan->piece, b->plan->piece_count, piece[i]);
        }
        if (count == 0) { /* wholly past the word: a dump still has to zero the element */
            const td_piece none = {.tensor = tensor};
            APPEND(b->plan->piece, b->plan->piece_count, none);
        }
    }
    box->piece_count = b->plan->piece_count - box->first_piece;
    return TD_OK;
}

/* The place of every axis at 0, before the region moves it. */
static td_box origin(const builder *b, bool words_only)
{
    const td_bound *bound = b->bound;
    td_box box = {.first_node = b->plan->node_count};
    if (b->words->by_strides) {
        box.memory = b->words->address * (int64_t)b->request->geometry.word_bytes * 8;
        box.select = b->words->bank;
    }
    if (words_only)
        return box;
    if (b->lanes->by_strides)
        box.memory += b->lanes->base;
    for (size_t d = 0; d < bound->rank; d++)
        box.tensor -= (int64_t)bound->dim[d].pad_before * bound->dim[d].tensor_stride;
    return box;
}

static td_status add_box(td_box box, td_box **list, size_t *count)
{
    APPEND(*list, *count, box);
    return TD_OK;
}

static td_status add_elements(builder *b, const td_region *region, bool pad)
{
    td_box box = origin(b, false);
    td_status status = TD_OK;
    for (int role = TD_ROLE_BANK; role <= TD_ROLE_LANE && !status; role++)
        for (int i = 0; i < b->bound->role_count[role] && !status; i++)
            if (role != TD_ROLE_LANE || b->lanes->by_strides)
                status = add_axis(b, &box, region, b->bound->role_axis[role][i], false);
    if (!status && !b->lanes->by_strides)
        status = add_pieces(b, &box, region);
    if (status)
        return status;
    return pad ? add_box(box, &b->plan->pads, &b->plan->pads_count)
               : add_box(box, &b->plan->data, &b->plan->data_count);
}

static td_status add_word_box(builder *b, const td_region *region, uint64_t beat, uint64_t beats)
{
    td_box box = origin(b, true);
    box.memory += (int64_t)(beat * b->request->geometry.word_bytes * 8);
    box.beat = beat;
    box.beats = beats;
    for (int role = TD_ROLE_BANK; role <= TD_ROLE_LANE; role++)
        for (int i = 0; i < b->bound->role_count[role]; i++) {
            if (!b->bound->axis[b->bound->role_axis[role][i]].placed)
                continue;
            td_status status = add_axis(b, &box, region, b->bound->role_axis[role][i], true);
            if (status)
                return status;
        }
    return add_box(box, &b->plan->words, &b->plan->words_count);
}

/* Whether the slot of a lane of the region reaches into that beat. */
static bool beat_has_lanes(const builder *b, const td_region *region, uint64_t beat)
{
    const td_bound *bound = b->bound;
    const int n = bound->role_count[TD_ROLE_LANE];
    const uint64_t slot = b->lanes->slot_bits, part = b->lanes->part_bits;
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

/* The region of words that differs from this one only in lanes, or NULL. */
static td_region *same_words(const builder *b, const td_region *region)
{
    for (size_t r = 0; r < b->regions->count; r++) {
        bool same = true;
        for (int a = 0; a < b->bound->axis_count && same; a++)
            same = !b->bound->axis[a].placed || (b->regions->region[r].start[a] == region->start[a] &&
                                                 b->regions->region[r].extent[a] == region->extent[a]);
        if (same)
            return &b->regions->region[r];
    }
    return NULL;
}

/* A flat layout: the words from the region's first bit to its last. */
static td_status add_flat_words(builder *b, const td_region *region)
{
    const uint64_t width = b->request->geometry.width_bits, first_bit = b->lanes->first_bit;
    uint64_t low = first_bit, high = first_bit + b->request->memory_dtype.bits;
    for (int a = 0; a < b->bound->axis_count; a++) {
        const uint64_t stride = (uint64_t)b->lanes->stride[a];
        low += region->start[a] * stride;
        high += (region->start[a] + region->extent[a] - 1) * stride;
    }
    APPEND(b->regions->region, b->regions->count, *region);
    b->regions->region[b->regions->count - 1].beats = (high - 1) / width + 1;
    td_box box = origin(b, true);
    box.memory += (int64_t)(low / width * b->request->geometry.word_bytes * 8);
    box.beats = (high - 1) / width + 1 - low / width;
    return add_box(box, &b->plan->words, &b->plan->words_count);
}

/* The words of a region. A clipped vector writes only the beats in which it has lanes; regions that differ only in
 * lanes share their words where the vector is one word. */
static td_status add_words(builder *b, const td_region *region)
{
    if (b->bound->layout->flat)
        return add_flat_words(b, region);
    const uint64_t beats = b->plan->beats;
    td_region *words = same_words(b, region);
    if (words && beats == 1)
        return TD_OK;
    if (!words) {
        APPEND(b->regions->region, b->regions->count, *region);
        words = &b->regions->region[b->regions->count - 1];
    }
    if (beats == 1 || !b->bound->clip || !b->bound->ragged) {
        words->beats = beats;
        return add_word_box(b, region, 0, beats);
    }
    td_status status = TD_OK;
    for (uint64_t beat = 0; beat < beats && !status; beat++)
        if (beat_has_lanes(b, region, beat)) {
            words->beats = beat + 1 > words->beats ? beat + 1 : words->beats;
            status = add_word_box(b, region, beat, 1);
        }
    return status;
}

/* Each ragged dimension has a few cuts, and every combination of them is a box. A plan of more boxes than this would
 * be no help. */
#define MAX_BOXES ((uint64_t)1 << 16)

static td_status check_boxes(const builder *b)
{
    uint64_t boxes = 1;
    for (size_t d = 0; d < b->dim_count && boxes <= MAX_BOXES; d++)
        boxes *= (uint64_t)b->dims[d].count;
    if (boxes <= MAX_BOXES)
        return TD_OK;
    return td_fail(TD_SHAPE,
                   "too many dimensions of \"%s\" do not fill their groups: they cut the tensor into more than %" PRIu64
                   " boxes; pad the tensor first, or use sizes that divide",
                   b->bound->layout->pattern.text, MAX_BOXES);
}

/* Every combination of one cut per dimension, as regions of all axes. */
static td_status add_regions(builder *b)
{
    const td_bound *bound = b->bound;
    const bool clip = bound->clip;
    int pick[TD_MAX_RANK] = {0};
    td_region region = {0};
    for (int a = 0; a < bound->axis_count; a++)
        region.extent[a] = bound->axis[a].size;
    const td_region all = region;
    td_status status = clip ? TD_OK : add_words(b, &all);
    for (bool more = true; more && !status;) {
        bool pad = false;
        for (size_t d = 0; d < b->dim_count; d++) {
            const dim_cuts *dim = &b->dims[d];
            const cut *c = &dim->cut[pick[d]];
            pad |= c->pad;
            for (int i = 0; i < dim->axis_count; i++) {
                region.start[dim->axis[i]] = c->start[i];
                region.extent[dim->axis[i]] = c->extent[i];
            }
        }
        if (!pad || !clip)
            status = add_elements(b, &region, pad);
        if (!pad && clip && !status)
            status = add_words(b, &region);
        more = false;
        for (size_t d = b->dim_count; d-- > 0 && !more;) {
            more = ++pick[d] < b->dims[d].count;
            if (!more)
                pick[d] = 0;
        }
    }
    return status;
}

td_status td_boxes_make(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes,
                        const td_words *words, td_plan *plan, td_regions *regions)
{
    builder b;
    b.bound = bound;
    b.request = request;
    b.lanes = lanes;
    b.words = words;
    b.plan = plan;
    b.regions = regions;
    td_status status = TD_OK;
    for (b.dim_count = 0; b.dim_count < bound->rank && !status; b.dim_count++)
        status = cut_dim(bound, (int)b.dim_count, &b.dims[b.dim_count]);
    if (!status)
        status = check_boxes(&b);
    if (!status)
        status = add_regions(&b);
    for (size_t d = 0; d < b.dim_count; d++)
        free(b.dims[d].cut);
    return status;
}
