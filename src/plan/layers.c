/* See layers.h. Layers lie alike where the slowest axis of the first dimension chooses the word, and where all strides
 * are the same with fewer steps of that axis: the binding and the addresses of both are held against each other. */
#include "plan/layers.h"

#include "plan/cache.h"
#include "plan/passes.h"

#include <stdlib.h>

/* A layout bound to a shape, with the places of its words. */
typedef struct bound_words {
    td_bound bound;
    td_words words;
} bound_words;

static bool find_words(const td_plan_request *request, const td_shape *shape, bound_words *out)
{
    return td_bind(request->layout, shape, &out->bound) == TD_OK &&
           td_words_find(&out->bound, request->geometry.width_bits, true, &out->words) == TD_OK &&
           out->words.by_strides;
}

/* The slowest axis of the first dimension, or -1. */
static int slowest_axis(const td_bound *bound)
{
    int slowest = -1;
    for (int a = 0; a < bound->axis_count; a++)
        if (bound->axis[a].dim == 0 && (slowest < 0 || bound->axis[a].dim_stride > bound->axis[slowest].dim_stride ||
                                        (bound->axis[a].dim_stride == bound->axis[slowest].dim_stride &&
                                         bound->axis[a].size > bound->axis[slowest].size)))
            slowest = a;
    return slowest;
}

/* Whether fewer steps of `axis` change nothing but its size. */
static bool same_strides(const bound_words *whole, const bound_words *part, int axis)
{
    if (whole->bound.axis_count != part->bound.axis_count || whole->words.address != part->words.address ||
        whole->words.bank != part->words.bank)
        return false;
    for (int a = 0; a < whole->bound.axis_count; a++) {
        const td_bound_axis *x = &whole->bound.axis[a], *y = &part->bound.axis[a];
        if (x->role != y->role || x->dim != y->dim || x->dim_stride != y->dim_stride)
            return false;
        if (a != axis && x->size != y->size)
            return false;
        if (y->size > 1 && (whole->words.address_stride[a] != part->words.address_stride[a] ||
                            whole->words.bank_stride[a] != part->words.bank_stride[a]))
            return false;
    }
    return true;
}

/* Whether nothing but the last step of the axis has padding of the first dimension, and that behind its rows. */
static bool is_padded_at_end(const td_bound *bound, int axis)
{
    const uint64_t step = bound->axis[axis].dim_stride;
    return bound->dim[0].pad_before == 0 && !bound->pad_begin &&
           bound->dim[0].padded == (bound->dim[0].length - 1) / step * step + step;
}

/* The plan of so many rows; NULL where they do not lie as the whole does. */
static td_plan *plan_of(const td_plan_request *request, const bound_words *whole, int axis, uint64_t rows)
{
    td_shape shape = *request->shape;
    td_plan_request layer = *request;
    bound_words *part = malloc(sizeof *part);
    td_plan *plan = NULL;
    shape.dim[0] = rows;
    layer.shape = &shape;
    if (part && find_words(request, &shape, part) && !part->bound.slides && is_padded_at_end(&part->bound, axis) &&
        same_strides(whole, part, axis) && td_cache_plan(&layer, &plan) != TD_OK)
        plan = NULL;
    free(part);
    return plan;
}

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    while (y) {
        const uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    uint64_t product = 0;
    return __builtin_mul_overflow(a / x, b, &product) ? UINT64_MAX : product;
}

/* Rows of a layer; all of them where it would be the whole tensor. */
static uint64_t choose_rows(const td_plan_request *request, uint64_t unit, uint64_t wanted_bytes)
{
    uint64_t row_bytes = request->tensor_dtype.bytes;
    for (size_t d = 1; d < request->shape->rank; d++)
        row_bytes *= request->shape->dim[d]; /* not more than the tensor's, which fit */
    if (unit >= request->shape->dim[0])
        return request->shape->dim[0];
    const uint64_t wanted = wanted_bytes / row_bytes / unit * unit;
    return wanted < unit ? unit : wanted < request->shape->dim[0] ? wanted : request->shape->dim[0];
}

/* The layers of a layout whose first dimension is cut along `axis`. */
static bool cut(const td_plan_request *request, const bound_words *whole, int axis, uint64_t multiple,
                uint64_t wanted_bytes, td_layers *out)
{
    const td_bound_axis *a = &whole->bound.axis[axis];
    const uint64_t unit = common_multiple(a->dim_stride, multiple), all = request->shape->dim[0],
                   rows = choose_rows(request, unit, wanted_bytes);
    if (rows == all || a->role != TD_ROLE_WORD || whole->words.bank_stride[axis])
        return false;
    out->rows = rows;
    out->count = (all - 1) / rows + 1;
    out->last_rows = all - (out->count - 1) * rows;
    out->step_bytes = whole->words.address_stride[axis] * (int64_t)(rows / a->dim_stride) *
                      (int64_t)request->geometry.word_bytes; /* inside the memory, so it fits */
    out->plan = plan_of(request, whole, axis, rows);
    if (out->plan)
        out->last = plan_of(request, whole, axis, out->last_rows);
    if (!out->last)
        td_layers_free(out);
    return out->last != NULL;
}

static bool find(const td_plan_request *request, uint64_t multiple, uint64_t wanted_bytes, bool padded, td_layers *out)
{
    const td_layout *layout = request->layout;
    *out = (td_layers){0};
    if (layout->flat || layout->alias_last || layout->skews || request->shape->rank == 0)
        return false;
    bound_words *whole = malloc(sizeof *whole);
    if (!whole)
        return false;
    bool found = find_words(request, request->shape, whole) && !whole->bound.slides &&
                 (padded || whole->bound.dim[0].padded == whole->bound.dim[0].length);
    const int axis = found ? slowest_axis(&whole->bound) : -1;
    found =
        axis >= 0 && is_padded_at_end(&whole->bound, axis) && cut(request, whole, axis, multiple, wanted_bytes, out);
    free(whole);
    return found;
}

bool td_layers_find(const td_plan_request *request, uint64_t multiple, uint64_t wanted_bytes, td_layers *out)
{
    return find(request, multiple, wanted_bytes, false, out);
}

bool td_layers_find_padded(const td_plan_request *request, uint64_t multiple, uint64_t wanted_bytes, td_layers *out)
{
    return find(request, multiple, wanted_bytes, true, out);
}

void td_layers_free(td_layers *layers)
{
    if (layers->plan)
        td_plan_release(&layers->plan);
    if (layers->last)
        td_plan_release(&layers->last);
    *layers = (td_layers){0};
}
