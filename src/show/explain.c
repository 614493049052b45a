/* Explains a layout in text, behind td_layout_explain: the place of every axis and element, how much of the memory
 * is used, and how the plan moves it. The lists are bounded, so that any tensor gives one page. Pictures are in
 * picture.c. */
#include "show/view.h"

#include "base/profile.h"
#include "base/text.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_WORDS = 8, LAST_WORDS = 2, FIRST_LANES = 12, LAST_LANES = 2 };

static void add_head(const td_view *s, td_text *out)
{
    const td_layout *layout = s->request.layout;
    const td_geometry *g = &s->request.geometry;
    char shape[TD_SHAPE_TEXT_BYTES];
    td_text_add(out, "pattern   %s\n", td_layout_pattern(layout));
    td_text_add(out, "options   %s\n", *td_layout_options(layout) ? td_layout_options(layout) : "none");
    if (*td_layout_address(layout))
        td_text_add(out, "address   %s\n", td_layout_address(layout));
    else if (layout->flat)
        td_text_add(out, "address   0\n");
    else if (layout->beats > 1)
        td_text_add(out, "address   %" PRIu64 "*index\n", layout->beats);
    else
        td_text_add(out, "address   index\n");
    td_text_add(out, "tensor    %s %s\n", s->dtype_name[0], td_shape_print(&s->shape, shape));
    td_text_add(out, "memory    %s in words of %" PRIu64 " bit%s, addresses 0x%" PRIx64 " to 0x%" PRIx64,
                s->dtype_name[1], g->width_bits, td_text_s(g->width_bits), s->low, s->high);
    if (s->bank_count > 1)
        td_text_add(out, ", %" PRIu64 " banks", s->bank_count);
    td_text_add(out, "\n");
}

/* One line per axis: what a step of it is worth on both sides. */
static void add_axes(const td_view *s, td_text *out)
{
    const td_bound *b = &s->bound;
    char name[TD_AXIS_NAME_BYTES];
    td_text_add(out, "\n%-10s%10s  %-24s  %s\n", "axis", "size", "a step in the tensor", "a step in memory");
    for (int role = 0; role < TD_ROLES; role++)
        for (int i = 0; i < b->role_count[role]; i++) {
            const int a = b->role_axis[role][i];
            const td_bound_axis *axis = &b->axis[a];
            char tensor[64];
            if (axis->dim < 0)
                snprintf(tensor, sizeof tensor, "repeat");
            else
                snprintf(tensor, sizeof tensor, "%" PRId64 " element%s, dim %d", axis->tensor_stride,
                         axis->tensor_stride == 1 ? "" : "s", axis->dim);
            td_text_add(out, "%-10s%10" PRIu64 "  %-24s  ", td_view_axis_name(s, a, name), axis->size, tensor);
            const uint64_t bits = axis->role_stride * s->lanes.slot_bits;
            if (role == TD_ROLE_LANE && axis->placed && !s->words.by_strides)
                td_text_add(out, "lane: %" PRIu64 " bit%s, and words from a table\n", bits, td_text_s(bits));
            else if (role == TD_ROLE_LANE && axis->placed)
                td_text_add(out, "lane: %" PRIu64 " bit%s and %" PRId64 " word%s\n", bits, td_text_s(bits),
                            s->words.address_stride[a], td_text_s((uint64_t)s->words.address_stride[a]));
            else if (role == TD_ROLE_LANE && (b->layout->flat || bits < s->lanes.part_bits))
                td_text_add(out, "%s: %s%" PRIu64 " bit%s\n", b->layout->flat ? "flat" : "lane",
                            b->layout->lanes_msb ? "-" : "", bits, td_text_s(bits));
            else if (role == TD_ROLE_LANE)
                td_text_add(out, "lane: over %" PRIu64 " beats\n", b->layout->beats);
            else if (!s->words.by_strides)
                td_text_add(out, "%s: from a table\n", role == TD_ROLE_WORD ? "word" : "bank");
            else if (s->words.bank_stride[a] && s->words.address_stride[a])
                td_text_add(out, "%s: %" PRId64 " bank%s and %" PRId64 " word%s\n",
                            role == TD_ROLE_WORD ? "word" : "bank", s->words.bank_stride[a],
                            s->words.bank_stride[a] == 1 ? "" : "s", s->words.address_stride[a],
                            s->words.address_stride[a] == 1 ? "" : "s");
            else if (s->words.bank_stride[a])
                td_text_add(out, "%s: %" PRId64 " bank%s\n", role == TD_ROLE_WORD ? "word" : "bank",
                            s->words.bank_stride[a], s->words.bank_stride[a] == 1 ? "" : "s");
            else
                td_text_add(out, "%s: %" PRId64 " word%s\n", role == TD_ROLE_WORD ? "word" : "bank",
                            s->words.address_stride[a], s->words.address_stride[a] == 1 ? "" : "s");
        }
}

static void add_lane(const td_view *s, uint64_t number, uint64_t lane, td_text *out)
{
    uint64_t at[TD_MAX_BOUND];
    td_shape coordinate;
    switch (td_view_lane(s, number, lane, at, &coordinate)) {
    case TD_CELL_DATA:
        td_text_add(out, " (");
        for (size_t d = 0; d < coordinate.rank; d++)
            td_text_add(out, "%s%" PRIu64, d ? "," : "", coordinate.dim[d]);
        td_text_add(out, ")");
        break;
    case TD_CELL_PAD:
        td_text_add(out, " pad");
        break;
    case TD_CELL_CLIPPED:
        td_text_add(out, " -");
        break;
    case TD_CELL_ELSEWHERE:
        break;
    }
}

static td_status add_word(const td_view *s, uint64_t number, td_text *out)
{
    const uint64_t lanes = s->bound.count[TD_ROLE_LANE], beats = s->beats;
    uint64_t bank = 0, address = 0;
    if (!td_view_is_written(s, number)) {
        td_text_add(out, "  (word %" PRIu64 " is past the tensor's end)\n", number);
        return TD_OK;
    }
    td_status status = td_view_place(s, number, &bank, &address);
    if (status)
        return status;
    td_text_add(out, "  ");
    if (s->bank_count > 1)
        td_text_add(out, "bank %" PRIu64 " ", bank);
    td_text_add(out, "0x%04" PRIx64, address);
    if (beats > 1)
        td_text_add(out, "..0x%04" PRIx64, address + beats - 1);
    td_text_add(out, " ");
    for (uint64_t lane = 0; lane < lanes; lane++) {
        if (lanes > FIRST_LANES + LAST_LANES && lane == FIRST_LANES) {
            td_text_add(out, " ...");
            lane = lanes - LAST_LANES;
        }
        add_lane(s, number, lane, out);
    }
    td_text_add(out, "\n");
    return TD_OK;
}

static td_status add_words(const td_view *s, td_text *out)
{
    const uint64_t lanes = s->bound.count[TD_ROLE_LANE];
    const bool all = s->vectors <= FIRST_WORDS + LAST_WORDS;
    td_text_add(out, "\nwords     tensor coordinate in each lane, lane 0 first");
    if (!all)
        td_text_add(out, "; the first %d and the last %d of %" PRIu64, FIRST_WORDS, LAST_WORDS, s->vectors);
    if (lanes > FIRST_LANES + LAST_LANES)
        td_text_add(out, "; %" PRIu64 " lanes", lanes);
    td_text_add(out, "\n");
    td_status status = TD_OK;
    for (uint64_t number = 0; number < s->vectors && !status; number++) {
        if (!all && number == FIRST_WORDS) {
            td_text_add(out, "  ...\n");
            number = s->vectors - LAST_WORDS;
        }
        status = add_word(s, number, out);
    }
    return status;
}

static void add_share(td_text *out, const char *name, uint64_t bits, uint64_t all)
{
    const uint64_t tenths = all ? (uint64_t)((long double)bits * 1000 / (long double)all + 0.5L) : 0;
    td_text_add(out, "  %-9s %" PRIu64 " bit%s, %" PRIu64 ".%" PRIu64 " %%\n", name, bits, td_text_s(bits), tenths / 10,
                tenths % 10);
}

/* Lanes that hold elements; each copy counts. */
static uint64_t count_data(const td_view *s)
{
    const td_bound *b = &s->bound;
    uint64_t places = 1;
    for (size_t d = 0; d < b->rank; d++)
        if (!b->dim[d].sliding)
            places *= b->dim[d].length;
    for (int a = 0; a < b->axis_count; a++)
        if (b->axis[a].dim < 0 || b->dim[b->axis[a].dim].sliding)
            places *= b->axis[a].size;
    return places;
}

static void add_use(const td_view *s, td_text *out)
{
    const td_layout *layout = s->request.layout;
    const uint64_t bits = s->request.memory_dtype.bits, data = count_data(s);
    const uint64_t lanes = s->words.lane_words * s->bound.count[TD_ROLE_LANE];
    uint64_t all = 0;
    td_text_add(out, "\nuse       %" PRIu64 " word%s written, %" PRIu64 " element%s", s->word_count,
                s->word_count == 1 ? "" : "s", data, data == 1 ? "" : "s");
    if (s->bound.repeats || s->bound.slides)
        td_text_add(out, " with copies");
    td_text_add(out, "\n");
    if (layout->alias_last) {
        td_text_add(out, "  words may share a place: the last of the pattern wins\n");
        return;
    }
    if (!td_mul_fits(s->word_count, s->request.geometry.width_bits, &all))
        return;
    const uint64_t data_bits = data * bits, pad_bits = layout->pad ? (lanes - data) * bits : 0;
    add_share(out, "data", data_bits, all);
    if (pad_bits)
        add_share(out, "padding", pad_bits, all);
    if (all > data_bits + pad_bits)
        add_share(out, layout->keep || (layout->clip && s->bound.ragged) ? "unused" : "cleared",
                  all - data_bits - pad_bits, all);
}

static td_status add_plan(const td_view *s, td_text *out)
{
    char *line = NULL;
    td_status status = td_plan_describe(s->plan, &line);
    if (!status)
        td_text_add(out, "\nplan      %s\n", line);
    free(line);
    return status;
}

td_status td_layout_explain(const td_layout *layout, const td_scene *scene, char **text)
{
    TD_OPERATION(operation, "layout_explain");
    if (!layout || !scene || !text)
        return td_fail(TD_ARGUMENT, "layout_explain: the %s is NULL; pass one",
                       !layout  ? "layout"
                       : !scene ? "scene"
                                : "output");
    td_view *s = NULL;
    td_text out = {0};
    td_status status = td_view_open(layout, scene, &s);
    if (!status) {
        add_head(s, &out);
        add_axes(s, &out);
        status = add_words(s, &out);
    }
    if (!status) {
        add_use(s, &out);
        status = add_plan(s, &out);
    }
    if (!status && out.failed)
        status = td_fail_alloc(out.used);
    td_view_close(&s);
    if (status) {
        free(out.text);
        td_fail_prefix("layout_explain: ");
        return status;
    }
    *text = out.text;
    return TD_OK;
}
