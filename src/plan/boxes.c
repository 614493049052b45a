/* From a bound layout to the boxes of a plan: see plan.h for what a box is. Each ragged dimension is cut into regions
 * that are all data or all padding; a box is one region of every dimension. The words that a load writes are boxes
 * too, of their own. Called by compile.c; the one refusal is a tensor in too many boxes. Addresses are checked only
 * after this pass, so places are computed modulo 2^64: those that do not fit belong to plans that will be refused. */
#include "plan/cuts.h"
#include "plan/passes.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct builder {
    const td_bound *bound;
    const td_plan_request *request;
    const td_lanes *lanes;
    const td_words *words;
    td_plan *plan;
    td_regions *regions;
    td_regions filled; /* the regions of plan->fill */
    size_t dim_count;
    td_dim_cuts dims[TD_MAX_RANK]; /* set as far as dim_count */
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

/* A node of an axis or of a digit; the box's place moves to where the region begins on it. */
static td_status add_steps(builder *b, td_box *box, td_node node)
{
    const int64_t start = (int64_t)node.start;
    box->tensor = td_wrap_add(box->tensor, td_wrap_mul(node.tensor, start));
    box->memory = td_wrap_add(box->memory, td_wrap_mul(node.memory, start));
    box->select = td_wrap_add(box->select, td_wrap_mul(node.select, start));
    return add_node(b->plan, box, node);
}

/* The nodes of one axis that has digits; the region is one that td_digits_part cuts. */
static td_status add_digits(builder *b, td_box *box, const td_region *region, int a, td_node axis)
{
    const int64_t word_bits = (int64_t)b->request->geometry.word_bytes * 8;
    const uint64_t start = region->start[a], extent = region->extent[a];
    td_status status = TD_OK;
    for (int i = 0; i < b->words->digits[a] && !status; i++) {
        const td_digit *d = &b->words->digit[b->words->first_digit[a] + i];
        const uint64_t steps = extent / d->unit < d->size ? extent / d->unit : d->size;
        td_node node = {.extent = steps ? steps : 1,
                        .start = steps < d->size ? start / d->unit % d->size : 0,
                        .tensor = td_wrap_mul(axis.tensor, (int64_t)d->unit),
                        .memory = td_wrap_mul(axis.memory, (int64_t)d->unit)};
        node.memory = td_wrap_add(node.memory, td_wrap_mul(d->address, word_bits));
        node.select = b->plan->table.entry ? d->entry : d->bank;
        status = add_steps(b, box, node);
    }
    return status;
}

/* The node of one axis. */
static td_status add_axis(builder *b, td_box *box, const td_region *region, int a, bool words_only)
{
    const td_bound_axis *axis = &b->bound->axis[a];
    const int64_t word_bits = (int64_t)b->request->geometry.word_bytes * 8;
    td_node node = {
        .extent = region->extent[a], .tensor = words_only ? 0 : axis->tensor_stride, .start = region->start[a]};
    if (axis->role == TD_ROLE_LANE && !words_only)
        node.memory = b->lanes->stride[a];
    if (axis->placed && b->words->by_digits)
        return add_digits(b, box, region, a, node);
    if (axis->placed && b->words->by_strides) {
        node.memory = td_wrap_add(node.memory, td_wrap_mul(b->words->address_stride[a], word_bits));
        node.select = b->words->bank_stride[a];
    } else if (axis->placed)
        node.select = (int64_t)b->words->number_stride[a];
    return add_steps(b, box, node);
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
            tensor = td_wrap_add(tensor, td_wrap_mul((int64_t)at, bound->axis[a].tensor_stride));
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
    if (b->words->by_strides || b->words->by_digits) {
        box.memory = td_wrap_mul(b->words->address, (int64_t)b->request->geometry.word_bytes * 8);
        box.select = b->plan->table.entry ? 0 : b->words->bank;
    }
    if (words_only)
        return box;
    if (b->lanes->by_strides)
        box.memory = td_wrap_add(box.memory, b->lanes->base);
    for (size_t d = 0; d < bound->rank; d++)
        box.tensor =
            td_wrap_add(box.tensor, td_wrap_mul(-(int64_t)bound->dim[d].pad_before, bound->dim[d].tensor_stride));
    return box;
}

static td_status add_box(td_box box, td_box **list, size_t *count)
{
    APPEND(*list, *count, box);
    return TD_OK;
}

/* What a part of a region becomes. */
typedef struct part_use {
    bool words, pad;      /* a box of words, of padding, or of data */
    uint64_t beat, beats; /* of words */
} part_use;

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

/* The words [beat, beat + beats) of the region's vectors. */
static td_status make_word_box(builder *b, const td_region *region, uint64_t beat, uint64_t beats, td_box *out)
{
    td_box box = origin(b, true);
    box.memory = td_wrap_add(box.memory, (int64_t)(beat * b->request->geometry.word_bytes * 8));
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
    *out = box;
    return TD_OK;
}

static td_status add_word_box(builder *b, const td_region *region, uint64_t beat, uint64_t beats)
{
    td_box box;
    const td_status status = make_word_box(b, region, beat, beats, &box);
    return status ? status : add_box(box, &b->plan->words, &b->plan->words_count);
}

static td_status add_fill(builder *b, const td_region *region, bool pad);

static td_status add_part(builder *b, const td_region *region, const part_use *use)
{
    if (use->words)
        return add_word_box(b, region, use->beat, use->beats);
    const td_status status = add_elements(b, region, use->pad);
    return status ? status : add_fill(b, region, use->pad);
}

/* The parts of a region that are rectangles of the digits of its axes, from axis `a` on; the whole region where no axis
 * has several. */
static td_status add_parts(builder *b, td_region *region, int a, const part_use *use)
{
    while (a < b->bound->axis_count && b->words->digits[a] < 2)
        a++;
    if (a == b->bound->axis_count)
        return add_part(b, region, use);
    const uint64_t start = region->start[a], extent = region->extent[a], end = start + extent;
    td_status status = TD_OK;
    for (uint64_t at = start; at < end && !status; at += region->extent[a]) {
        region->start[a] = at;
        region->extent[a] = td_digits_part(b->words, a, at, end - at);
        status = add_parts(b, region, a + 1, use);
    }
    region->start[a] = start;
    region->extent[a] = extent;
    return status;
}

/* The parts of a region in every piece, with its strides. */
static td_status add_pieces_of_words(builder *b, const td_region *region, const part_use *use)
{
    const td_words *words = b->words;
    td_status status = TD_OK;
    for (size_t i = 0; i < words->piece_count && !status; i++) {
        td_region part = *region;
        if (!td_region_cut(b->bound, &words->piece[i].at, &part))
            continue;
        const td_words own = td_words_of_piece(words, &words->piece[i]);
        b->words = &own;
        status = add_part(b, &part, use);
        b->words = words;
    }
    return status;
}

static td_status add_part_boxes(builder *b, const td_region *region, const part_use *use)
{
    td_region part = *region;
    if (b->words->piece)
        return add_pieces_of_words(b, region, use);
    return add_parts(b, &part, b->words->by_digits ? 0 : b->bound->axis_count, use);
}

/* The first beat from `from` on that the slot of a lane of the region reaches into; UINT64_MAX where there is none. */
static uint64_t next_beat(const builder *b, const td_region *region, uint64_t from)
{
    const td_bound *bound = b->bound;
    const int n = bound->role_count[TD_ROLE_LANE];
    const uint64_t slot = b->lanes->slot_bits, part = b->lanes->part_bits;
    uint64_t lanes = 1, next = UINT64_MAX;
    for (int i = 0; i < n; i++)
        lanes *= region->extent[bound->role_axis[TD_ROLE_LANE][i]];
    for (uint64_t number = 0; number < lanes && next != from; number++) {
        uint64_t rest = number, lane = 0;
        for (int i = n - 1; i >= 0; i--) {
            const int a = bound->role_axis[TD_ROLE_LANE][i];
            lane += (region->start[a] + rest % region->extent[a]) * bound->axis[a].role_stride;
            rest /= region->extent[a];
        }
        const uint64_t first = (bound->layout->lanes_msb ? bound->count[TD_ROLE_LANE] - 1 - lane : lane) * slot;
        const uint64_t low = first / part < from ? from : first / part;
        if (low <= (first + slot - 1) / part && low < next)
            next = low;
    }
    return next;
}

/* The region of words that differs from this one only in lanes, or NULL. */
static td_region *same_words(const td_bound *bound, const td_regions *in, const td_region *region)
{
    for (size_t r = 0; r < in->count; r++) {
        bool same = true;
        for (int a = 0; a < bound->axis_count && same; a++)
            same = !bound->axis[a].placed ||
                   (in->region[r].start[a] == region->start[a] && in->region[r].extent[a] == region->extent[a]);
        if (same)
            return &in->region[r];
    }
    return NULL;
}

/* Some word belongs to both regions. */
static bool share_words(const td_bound *bound, const td_region *x, const td_region *y)
{
    for (int a = 0; a < bound->axis_count; a++)
        if (bound->axis[a].placed &&
            (x->start[a] + x->extent[a] <= y->start[a] || y->start[a] + y->extent[a] <= x->start[a]))
            return false;
    return true;
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
    box.memory = td_wrap_add(box.memory, (int64_t)(low / width * b->request->geometry.word_bytes * 8));
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
    td_region *words = same_words(b->bound, b->regions, region);
    if (words && beats == 1)
        return TD_OK;
    if (!words) {
        APPEND(b->regions->region, b->regions->count, *region);
        words = &b->regions->region[b->regions->count - 1];
    }
    if (beats == 1 || !b->bound->clip || !b->bound->ragged) {
        words->beats = beats;
        return add_part_boxes(b, region, &(part_use){.words = true, .beats = beats});
    }
    td_status status = TD_OK;
    for (uint64_t beat = next_beat(b, region, 0); beat < beats && !status; beat = next_beat(b, region, beat + 1)) {
        words->beats = beat + 1 > words->beats ? beat + 1 : words->beats;
        status = add_part_boxes(b, region, &(part_use){.words = true, .beat = beat, .beats = 1});
    }
    return status;
}

/* -- the words that a load fills -- */

#define MAX_FILLS 512 /* comparing them all pairwise is no help in a plan of more */

/* Whether the bits of words that are no data can be written word by word: every vector has words of its own, which may
 * be written in any order. */
static bool can_fill(const builder *b)
{
    const td_layout *layout = b->bound->layout;
    return !layout->flat && !layout->skews && !layout->alias_last && !(b->bound->clip && b->plan->beats > 1);
}

/* The words of a region, of which the last box made is the data or the padding. */
static td_status add_fill(builder *b, const td_region *region, bool pad)
{
    td_plan *plan = b->plan;
    const td_region *same = same_words(b->bound, &b->filled, region);
    size_t at = same ? (size_t)(same - b->filled.region) : b->filled.count;
    if (!plan->fills_pads)
        return TD_OK;
    if (!same) {
        td_fill fill = {.data = TD_NO_BOX};
        plan->fills_pads = at < MAX_FILLS;
        const td_status status = make_word_box(b, region, 0, plan->beats, &fill.box);
        if (status)
            return status;
        APPEND(b->filled.region, b->filled.count, *region);
        APPEND(plan->fill, plan->fill_count, fill);
    }
    td_fill *fill = &plan->fill[at];
    fill->pads |= pad;
    fill->alone = !pad ? fill->data == TD_NO_BOX : fill->alone;
    if (!pad && fill->data == TD_NO_BOX)
        fill->data = plan->data_count - 1;
    return TD_OK;
}

/* Which fills have words that other data boxes do not write into, and whether no word is in two of them. */
static void compare_fills(builder *b)
{
    td_fill *fill = b->plan->fill;
    b->plan->fills_disjoint = true;
    for (size_t i = 0; i < b->plan->fill_count; i++)
        for (size_t k = 0; k < i && b->plan->fills_disjoint; k++)
            b->plan->fills_disjoint = !share_words(b->bound, &b->filled.region[i], &b->filled.region[k]);
    for (size_t i = 0; i < b->plan->fill_count; i++) {
        fill[i].apart = fill[i].data != TD_NO_BOX;
        for (size_t k = 0; k < b->plan->fill_count && fill[i].apart; k++)
            fill[i].apart = k == i || fill[k].data == TD_NO_BOX ||
                            !share_words(b->bound, &b->filled.region[i], &b->filled.region[k]);
    }
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

/* td_plan_request.last: of an axis whose steps all have one place, the last step, which overwrites the others; where
 * words are clipped, the last that this region has. False where the region has none. */
static bool keep_last(const builder *b, td_region *region)
{
    const td_words *words = b->words;
    for (int a = 0; a < b->bound->axis_count && b->request->last; a++) {
        const td_bound_axis *axis = &b->bound->axis[a];
        if (!axis->placed || axis->size == 1 || words->address_stride[a] || words->bank_stride[a])
            continue;
        const uint64_t end = region->start[a] + region->extent[a];
        if (end < axis->size && !b->bound->clip)
            return false;
        region->start[a] = end - 1;
        region->extent[a] = 1;
    }
    return true;
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
    td_region kept = region;
    td_status status = clip || !keep_last(b, &kept) ? TD_OK : add_words(b, &kept);
    for (bool more = true; more && !status;) {
        bool pad = false;
        for (size_t d = 0; d < b->dim_count; d++) {
            const td_dim_cuts *dim = &b->dims[d];
            const td_cut *c = &dim->cut[pick[d]];
            pad |= c->pad;
            for (int i = 0; i < dim->axis_count; i++) {
                region.start[dim->axis[i]] = c->start[i];
                region.extent[dim->axis[i]] = c->extent[i];
            }
        }
        kept = region;
        const bool any = keep_last(b, &kept);
        if (any && (!pad || !clip))
            status = add_part_boxes(b, &kept, &(part_use){.pad = pad});
        if (any && !pad && clip && !status)
            status = add_words(b, &kept);
        more = false;
        for (size_t d = b->dim_count; d-- > 0 && !more;) {
            more = ++pick[d] < b->dims[d].count;
            if (!more)
                pick[d] = 0;
        }
    }
    if (!status)
        compare_fills(b);
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
    b.filled = (td_regions){0};
    plan->fills_pads = can_fill(&b) && (bound->ragged || td_lanes_leave_bits(bound, request));
    td_status status = TD_OK;
    for (b.dim_count = 0; b.dim_count < bound->rank && !status; b.dim_count++)
        status = td_cut_dim(bound, (int)b.dim_count, &b.dims[b.dim_count]);
    if (!status)
        status = check_boxes(&b);
    if (!status)
        status = add_regions(&b);
    for (size_t d = 0; d < b.dim_count; d++)
        free(b.dims[d].cut);
    free(b.filled.region);
    return status;
}
