/* Answers the questions of view.h with the passes that compile plans (bind.c, lanes.c, addresses.c), so that a
 * picture cannot disagree with a load. Called by explain.c and picture.c. */
#include "show/view.h"

#include "memory/memory.h"
#include "plan/cache.h"
#include "plan/walk.h"
#include "tensor/tensor.h"
#include "values/as.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the scene into a request; the width is still 0 where the scene leaves it open. */
static td_status read_scene(td_view *s, const td_layout *layout, const td_scene *scene)
{
    td_plan_request *r = &s->request;
    td_as as;
    uint64_t elems = 0, bytes = 0;
    td_status status = td_dtype_parse(scene->dtype ? scene->dtype : "", &r->tensor_dtype);
    if (!status)
        status = td_shape_check(&scene->shape, r->tensor_dtype, &elems, &bytes);
    if (!status)
        status = td_as_parse(td_layout_choose_as(layout, scene->as), r->tensor_dtype, &as);
    if (status)
        return status;
    s->shape = scene->shape;
    r->layout = layout;
    r->shape = &s->shape;
    r->memory_dtype = as.dtype;
    if (layout->dtype_text && !td_dtype_equal(as.dtype, layout->dtype))
        return td_fail(TD_DTYPE, "the layout moves %s; pass it as the dtype, or drop dtype=%s from the layout",
                       layout->dtype_text, layout->dtype_text);
    td_dtype_print(r->tensor_dtype, s->dtype_name[0]);
    td_dtype_print(r->memory_dtype, s->dtype_name[1]);
    if (scene->width_bits > TD_MAX_WIDTH_BITS)
        return td_fail(TD_ARGUMENT, "a width of %" PRIu64 " bits; a width is 1 to %" PRIu64 " bits", scene->width_bits,
                       TD_MAX_WIDTH_BITS);
    if (scene->depth_words > TD_MAX_DEPTH_WORDS)
        return td_fail(TD_ARGUMENT, "a depth of %" PRIu64 " words; a depth is 1 to %" PRIu64 " words",
                       scene->depth_words, TD_MAX_DEPTH_WORDS);
    if (scene->banks > TD_MAX_BANKS)
        return td_fail(TD_ARGUMENT, "%" PRIu64 " banks; pass at most %" PRIu64, scene->banks, TD_MAX_BANKS);
    r->geometry = (td_geometry){.width_bits = scene->width_bits,
                                .depth_words = scene->depth_words ? scene->depth_words : TD_MAX_DEPTH_WORDS,
                                .banks = scene->banks ? scene->banks : TD_MAX_BANKS};
    return TD_OK;
}

/* Lanes in the given width; without one, in the narrowest word that holds them. */
static td_status place_lanes(td_view *s)
{
    td_geometry *g = &s->request.geometry;
    const bool open = g->width_bits == 0;
    if (open && s->request.layout->flat)
        return td_fail(TD_ARGUMENT, "flat pattern \"%s\" in words of no width; pass the width of the memory",
                       s->request.layout->pattern.text);
    if (open)
        g->width_bits = TD_MAX_WIDTH_BITS;
    g->word_bytes = td_word_bytes(g->width_bits);
    s->cut = s->bound;
    td_status status = td_lanes_place(&s->cut, &s->request, &s->lanes);
    if (status || !open)
        return status;
    const uint64_t rest = s->lanes.slot_bits - s->request.memory_dtype.bits;
    g->width_bits =
        s->request.layout->lsb_bits + s->lanes.part_bits - (s->lanes.part_bits % s->lanes.slot_bits ? 0 : rest);
    g->word_bytes = td_word_bytes(g->width_bits);
    s->cut = s->bound;
    return td_lanes_place(&s->cut, &s->request, &s->lanes);
}

static void widen(td_view *s, uint64_t bank, uint64_t first, uint64_t last)
{
    s->low = first < s->low ? first : s->low;
    s->high = last > s->high ? last : s->high;
    s->bank_count = bank + 1 > s->bank_count ? bank + 1 : s->bank_count;
}

/* Adds up the runs of words; where words are written twice or not at all, counts them apart. */
static td_status count_words(td_view *s)
{
    const td_layout *layout = s->request.layout;
    td_word_walk w;
    s->low = UINT64_MAX;
    for (td_walk_words(&w, s->plan); w.more; td_walk_next_words(&w)) {
        const uint64_t end = w.first + (w.count - 1) * (uint64_t)w.step;
        s->word_count += w.count;
        widen(s, w.bank, w.step > 0 ? w.first : end, w.step > 0 ? end : w.first);
    }
    if (!layout->alias_last && !layout->skews &&
        !(layout->clip && s->bound.ragged && (layout->beats > 1 || layout->flat)))
        return TD_OK;
    td_span *spans = NULL;
    size_t count = 0;
    td_status status = td_plan_spans(s->plan, &spans, &count);
    s->word_count = 0;
    for (size_t i = 0; i < count; i++)
        s->word_count += spans[i].count;
    free(spans);
    return status;
}

static td_status open_view(td_view *s, const td_layout *layout, const td_scene *scene)
{
    td_status status = read_scene(s, layout, scene);
    if (!status)
        status = td_bind(layout, &s->shape, &s->bound);
    if (!status)
        status = place_lanes(s);
    if (!status)
        status = td_words_find(&s->bound, s->request.geometry.width_bits, !s->bound.layout->alias_last, &s->words);
    if (!status)
        status = td_cache_plan(&s->request, &s->plan);
    if (!status)
        status = count_words(s);
    s->vectors = s->words.count;
    s->beats = layout->flat ? s->high - s->low + 1 : layout->beats;
    return status;
}

td_status td_view_open(const td_layout *layout, const td_scene *scene, td_view **out)
{
    td_view *s = calloc(1, sizeof *s);
    if (!s)
        return td_fail_alloc(sizeof *s);
    td_status status = open_view(s, layout, scene);
    if (status)
        td_view_close(&s);
    else
        *out = s;
    return status;
}

void td_view_close(td_view **view)
{
    if (!*view)
        return;
    td_plan_release(&(*view)->plan);
    free(*view);
    *view = NULL;
}

td_status td_view_place(const td_view *view, uint64_t number, uint64_t *bank, uint64_t *address)
{
    int64_t at = 0, in = 0;
    td_status status = td_words_at(&view->bound, &view->words, number, &at, &in);
    *address = view->request.layout->flat ? view->low : (uint64_t)at;
    *bank = (uint64_t)in;
    return status;
}

td_cell td_view_lane(const td_view *view, uint64_t number, uint64_t lane, uint64_t *at, td_shape *coordinate)
{
    const td_bound *b = &view->bound;
    uint64_t index[TD_MAX_RANK] = {0};
    bool elsewhere = false;
    for (int a = 0; a < b->axis_count; a++) {
        const td_bound_axis *axis = &b->axis[a];
        const uint64_t stride = axis->role == TD_ROLE_LANE ? axis->role_stride : view->words.number_stride[a];
        at[a] = (axis->role == TD_ROLE_LANE ? lane : number) / stride % axis->size;
        if (axis->role == TD_ROLE_LANE && axis->placed)
            elsewhere |= at[a] != number / view->words.number_stride[a] % axis->size;
        if (axis->dim >= 0)
            index[axis->dim] += at[a] * axis->dim_stride;
    }
    coordinate->rank = b->rank;
    if (elsewhere)
        return TD_CELL_ELSEWHERE;
    bool outside = false;
    for (size_t d = 0; d < b->rank; d++) {
        coordinate->dim[d] = index[d] - b->dim[d].pad_before;
        outside |= index[d] < b->dim[d].pad_before || coordinate->dim[d] >= b->dim[d].length;
    }
    if (!outside)
        return TD_CELL_DATA;
    return b->layout->clip ? TD_CELL_CLIPPED : TD_CELL_PAD;
}

bool td_view_is_written(const td_view *view, uint64_t number)
{
    const td_bound *b = &view->bound;
    if (!b->layout->clip || !b->ragged)
        return true;
    /* The vector's first lane has the least step of every axis, so it is inside whenever any lane is: clipping is at
     * the end only. */
    uint64_t at[TD_MAX_BOUND], lane = 0;
    td_shape coordinate;
    for (int a = 0; a < b->axis_count; a++)
        if (b->axis[a].role == TD_ROLE_LANE && b->axis[a].placed)
            lane += number / view->words.number_stride[a] % b->axis[a].size * b->axis[a].role_stride;
    return td_view_lane(view, number, lane, at, &coordinate) == TD_CELL_DATA;
}

const char *td_view_axis_name(const td_view *view, int axis, char *text)
{
    const td_bound_axis *a = &view->bound.axis[axis];
    const td_pattern *pattern = &view->bound.layout->pattern;
    if (a->pattern_axis >= 0)
        return pattern->axis[a->pattern_axis].name;
    snprintf(text, TD_AXIS_NAME_BYTES, "...%d", a->dim - (pattern->ellipsis_left < 0 ? 0 : pattern->ellipsis_left));
    return text;
}
