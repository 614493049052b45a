/* Finds where the lanes of a vector lie in its words: slot, lsb, direction and beats. Called by compile.c and
 * show/view.c. Usually every lane axis has a constant stride; where beats or the word's end cut an element, the lane
 * is a list of pieces. Refuses slots, beats and lanes that do not fit the word. */
#include "plan/passes.h"

#include <inttypes.h>
#include <stdlib.h>

static td_status fail_slot(uint64_t slot, uint64_t elem_bits)
{
    return td_fail(TD_OPTION,
                   "slot=%" PRIu64 " is narrower than the element of %" PRIu64 " bits; pass slot=%" PRIu64 " or more",
                   slot, elem_bits, elem_bits);
}

/* Beats as strides: the lanes of one beat must end where an axis ends, or divide one. */
static bool split_for_beats(td_bound *bound, uint64_t lanes_per_beat)
{
    uint64_t below = 1;
    for (int i = bound->role_count[TD_ROLE_LANE] - 1; i >= 0 && below < lanes_per_beat; i--) {
        const int axis = bound->role_axis[TD_ROLE_LANE][i];
        const uint64_t size = bound->axis[axis].size;
        if (lanes_per_beat % below)
            return false;
        const uint64_t inner = lanes_per_beat / below;
        if (inner < size) {
            if (size % inner)
                return false;
            td_bind_split(bound, axis, inner);
            return true;
        }
        below *= size;
    }
    return below == lanes_per_beat;
}

static td_status check_inside(const td_bound *bound, const td_plan_request *request, uint64_t end_bit)
{
    const uint64_t width = request->geometry.width_bits;
    if (end_bit <= width || request->truncate)
        return TD_OK;
    const uint64_t lanes = bound->count[TD_ROLE_LANE], beats = bound->layout->beats;
    td_fail(TD_RANGE,
            "the lanes of \"%s\" end at bit %" PRIu64 " (%" PRIu64 " lanes of %d bits%s), the word has %" PRIu64
            " bits; use fewer lanes, a wider memory, or beats=%" PRIu64,
            bound->layout->pattern.text, end_bit, lanes, request->memory_dtype.bits, beats > 1 ? ", in beats" : "",
            width, beats * ((end_bit + width - 1) / width));
    td_pattern_caret(&bound->layout->pattern, &bound->layout->pattern.right[bound->layout->pattern.right_count - 1]);
    td_bind_describe(bound->layout, &bound->shape);
    return TD_RANGE;
}

/* The bits that elements use of any part. The unused bits of a part's last slot may lie past the word. */
static uint64_t used_part_bits(const td_lanes *lanes, uint64_t count, uint64_t elem_bits)
{
    const uint64_t part = lanes->part_bits, slot = lanes->slot_bits;
    if (part % slot == 0)
        return part - slot + elem_bits;
    uint64_t reach = 0;
    for (uint64_t lane = 0; lane < count && reach < part; lane++) {
        const uint64_t first = lane * slot % part;
        const uint64_t end = first + elem_bits < part ? first + elem_bits : part;
        reach = end > reach ? end : reach;
    }
    return reach;
}

/* A lane owns its slot up to the end of the word; the only lane of a word owns the whole word. */
static uint64_t find_cell(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes)
{
    const uint64_t bits = request->memory_dtype.bits, word_bits = 8 * request->geometry.word_bytes,
                   lsb = bound->layout->lsb_bits;
    const uint64_t slot = lanes->slot_bits, slots = lanes->part_bits / slot,
                   last = lsb + (slots ? slots - 1 : 0) * slot;
    if (bound->layout->keep || last + bits > word_bits)
        return bits;
    if (bound->count[TD_ROLE_LANE] == 1)
        return word_bits - lsb;
    return slot < word_bits - last ? slot : word_bits - last;
}

#define MOST_LOOSE 512 /* lanes of a vector of loose slots: each is one or two pieces */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A flat layout is a stream of slots through the bits of the words. Where words are stored without a gap between them
 * every axis has a stride; elsewhere the stream is cut into the shortest vectors that fill whole words. So are slots
 * that are wider than their elements and begin within bytes, where they can be: vectors of them are packed at once. */
static td_status place_flat(td_bound *bound, const td_plan_request *request, td_lanes *out)
{
    const td_layout *layout = bound->layout;
    const uint64_t width = request->geometry.width_bits, word_bits = request->geometry.word_bytes * 8;
    const uint64_t slot = out->slot_bits;
    out->part_bits = width;
    out->cell_bits = request->memory_dtype.bits;
    out->by_strides = true;
    td_status status = td_flat_first_bit(bound, width, &out->first_bit);
    if (status)
        return status;
    out->base = (int64_t)out->first_bit;
    const bool gaps = width != word_bits, loose = slot != request->memory_dtype.bits && slot % 8;
    const uint64_t divisor = common_divisor(slot, width), lanes = width / divisor, words = slot / divisor;
    const bool merged = (gaps || (loose && lanes <= MOST_LOOSE)) && td_bind_merge(bound, lanes, words);
    if (gaps || merged) {
        if (!merged)
            return td_fail(TD_SHAPE,
                           "flat pattern \"%s\" in words of %" PRIu64
                           " bits, which are stored apart: there its axes have "
                           "to stand in the tensor's order, without padding, repeats and sliding groups; write "
                           "\"... -> (...)\", or word axes and lane axes",
                           layout->pattern.text, width);
        out->by_strides = words == 1 && out->first_bit % width == 0;
        out->base = (int64_t)(out->first_bit / width * word_bits);
        out->stride[bound->role_axis[TD_ROLE_WORD][0]] = (int64_t)(lanes * slot);
    }
    for (int i = 0; i < bound->role_count[TD_ROLE_LANE]; i++) {
        const int axis = bound->role_axis[TD_ROLE_LANE][i];
        out->stride[axis] = (int64_t)(bound->axis[axis].role_stride * slot);
    }
    return TD_OK;
}

td_status td_lanes_place(td_bound *bound, const td_plan_request *request, td_lanes *out)
{
    const td_layout *layout = bound->layout;
    const uint64_t elem_bits = request->memory_dtype.bits, word_bits = request->geometry.word_bytes * 8;
    const uint64_t slot = layout->slot_bits ? layout->slot_bits : elem_bits, lanes = bound->count[TD_ROLE_LANE];
    if (slot < elem_bits)
        return fail_slot(slot, elem_bits);
    if (layout->lsb_bits > INT64_MAX || lanes > (INT64_MAX - layout->lsb_bits) / slot)
        return td_fail(TD_OVERFLOW, "%" PRIu64 " lanes of %" PRIu64 " bits are more than 2^63 bits; pass smaller sizes",
                       lanes, slot);
    *out = (td_lanes){.slot_bits = slot};
    if (layout->flat)
        return place_flat(bound, request, out);
    const uint64_t vector_bits = lanes * slot;
    if (vector_bits % layout->beats)
        return td_fail(TD_OPTION,
                       "beats=%" PRIu64 " does not divide the vector of %" PRIu64 " bits (%" PRIu64 " lanes of %" PRIu64
                       "); pass beats that divide it",
                       layout->beats, vector_bits, lanes, slot);
    out->part_bits = vector_bits / layout->beats;

    td_status status = check_inside(bound, request, layout->lsb_bits + used_part_bits(out, lanes, elem_bits));
    if (status)
        return status;

    out->cell_bits = find_cell(bound, request, out);
    const uint64_t lanes_per_beat = out->part_bits / slot;
    out->by_strides = layout->beats == 1 || (out->part_bits % slot == 0 && split_for_beats(bound, lanes_per_beat));
    if (request->truncate && layout->lsb_bits + vector_bits > request->geometry.width_bits)
        out->by_strides = false;
    out->base = (int64_t)layout->lsb_bits;
    for (int i = 0; i < bound->role_count[TD_ROLE_LANE] && out->by_strides; i++) {
        const int axis = bound->role_axis[TD_ROLE_LANE][i];
        const uint64_t step = bound->axis[axis].role_stride;
        int64_t stride = step >= lanes_per_beat && layout->beats > 1 ? (int64_t)(step / lanes_per_beat * word_bits)
                                                                     : (int64_t)(step * slot);
        if (layout->lanes_msb) {
            out->base = td_wrap_add(out->base, td_wrap_mul(stride, (int64_t)(bound->axis[axis].size - 1)));
            stride = td_wrap_mul(stride, -1);
        }
        out->stride[axis] = stride;
    }
    return TD_OK;
}

size_t td_lanes_pieces(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes, uint64_t lane,
                       td_piece *out)
{
    const td_layout *layout = bound->layout;
    const uint64_t word_bits = request->geometry.word_bytes * 8, width = request->geometry.width_bits;
    const uint64_t position = layout->lanes_msb ? bound->count[TD_ROLE_LANE] - 1 - lane : lane;
    const uint64_t first = layout->flat ? lanes->first_bit : 0, in_every = layout->flat ? 0 : layout->lsb_bits;
    size_t count = 0;
    for (uint64_t done = 0; done < request->memory_dtype.bits;) {
        const uint64_t bit = first + position * lanes->slot_bits + done, beat = bit / lanes->part_bits;
        const uint64_t in_word = in_every + bit % lanes->part_bits;
        uint64_t bits = lanes->part_bits - bit % lanes->part_bits;
        if (bits > request->memory_dtype.bits - done)
            bits = request->memory_dtype.bits - done;
        if (in_word >= width)
            return count; /* truncated: this bit and all above it */
        const uint64_t fits = width - in_word < bits ? width - in_word : bits;
        out[count++] = (td_piece){
            .memory = (int64_t)(beat * word_bits + in_word), .elem_bit = (uint8_t)done, .bits = (uint8_t)fits};
        done += bits;
    }
    return count;
}

bool td_lanes_leave_bits(const td_bound *bound, const td_plan_request *request)
{
    const uint64_t owned = bound->count[TD_ROLE_LANE] * request->memory_dtype.bits;
    return owned < request->geometry.width_bits * request->layout->beats;
}

td_status td_lanes_mask(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes, td_plan *plan)
{
    const td_geometry *g = &request->geometry;
    const uint64_t count = bound->count[TD_ROLE_LANE];
    const bool skewed =
        bound->layout->skews !=
        0; /* lanes with addresses of their own: this pass does not know which a word holds, so all of it is cleared */
    if (bound->layout->keep || (!td_lanes_leave_bits(bound, request) && !skewed))
        return TD_OK;
    uint64_t bytes = 0;
    if (!td_mul_fits(plan->beats, g->word_bytes, &bytes) || !(plan->lane_mask = calloc(1, bytes)))
        return td_fail_alloc(bytes);
    for (uint64_t lane = 0; lane < count && !skewed; lane++) {
        td_piece piece[64];
        const size_t pieces = td_lanes_pieces(bound, request, lanes, lane, piece);
        for (size_t i = 0; i < pieces; i++)
            for (uint64_t bit = (uint64_t)piece[i].memory; bit < (uint64_t)piece[i].memory + piece[i].bits; bit++)
                plan->lane_mask[bit / 8] |= (unsigned char)(1u << (bit % 8));
    }
    return TD_OK;
}
