/* Sparse packings as lists (sparse.h): csr, csc and coo. Of csc the columns come first; in what follows a row is what
 * comes first. Numbers that do not fit their dtype are refused before anything is kept. */
#include "parts/sparse_elems.h"
#include "parts/sparse_kinds.h"

#include <inttypes.h>

/* Rows and columns in the order of the lists. */
typedef struct grid {
    uint64_t outer, inner, outer_stride, inner_stride;
} grid;

static grid grid_of(const td_sparse *s, const td_shape *shape)
{
    const uint64_t rows = shape->dim[0], columns = shape->dim[1];
    if (s->kind == TD_SPARSE_CSC)
        return (grid){columns, rows, 1, columns};
    return (grid){rows, columns, columns, 1};
}

static bool is_kept(const td_sparse *s, const td_tensor *t, uint64_t elem)
{
    return td_elem_is_kept(t, elem) || (s->zeros == TD_ZEROS_SIGNED && td_elem_get(t, elem) != 0);
}

/* One value into the parts, where there are some. */
static void put_value(const td_sparse *s, td_tensor *const *parts, uint64_t value, uint64_t o, uint64_t i,
                      uint64_t bits)
{
    const bool starts = s->kind != TD_SPARSE_COO;
    if (!parts)
        return;
    td_elem_put(parts[0], value, bits);
    td_elem_put(parts[1], value, (starts ? i : o) + s->base);
    if (!starts)
        td_elem_put(parts[2], value, i + s->base);
}

/* One row: its values, its zeros and its padding into the parts from `value` on, or, without parts, only counted.
 * Padding is a zero in the column of the value before it, so that columns do not descend. */
static uint64_t walk_row(const td_sparse *s, const td_tensor *t, const grid *g, uint64_t o, uint64_t value,
                         td_tensor *const *parts)
{
    const uint64_t first = value;
    uint64_t last = 0;
    for (uint64_t i = 0; i < g->inner; i++) {
        const uint64_t e = o * g->outer_stride + i * g->inner_stride;
        if (!is_kept(s, t, e))
            continue;
        last = i;
        put_value(s, parts, value++, o, i, td_elem_get(t, e));
    }
    if (value == first && s->zeros == TD_ZEROS_ROW)
        put_value(s, parts, value++, o, 0, 0);
    while ((value - first) % s->pad)
        put_value(s, parts, value++, o, last, 0);
    return value;
}

uint64_t td_lists_count(const td_sparse *s, const td_tensor *tensor)
{
    const grid g = grid_of(s, &tensor->shape);
    uint64_t value = 0;
    for (uint64_t o = 0; o < g.outer; o++)
        value = walk_row(s, tensor, &g, o, value, NULL);
    return value;
}

/* What a start counts: values, or their bytes. */
static uint64_t unit_of(const td_sparse *s, const td_tensor *values)
{
    return s->in_bytes ? values->dtype.bits / 8U : 1;
}

td_status td_lists_pack(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    const grid g = grid_of(s, &t->shape);
    const bool starts = s->kind != TD_SPARSE_COO;
    const uint64_t unit = unit_of(s, t);
    td_status status = td_sparse_check_number(s, g.inner - 1 + s->base, "numbers");
    if (!status)
        status = td_sparse_check_number(s, (starts ? parts[0]->elems * unit : g.outer - 1) + s->base, "numbers");
    uint64_t value = 0;
    for (uint64_t o = 0; o < g.outer && !status; o++) {
        if (starts)
            td_elem_put(parts[2], o, value * unit + s->base);
        value = walk_row(s, t, &g, o, value, parts);
    }
    if (starts && !status)
        td_elem_put(parts[2], g.outer, value * unit + s->base);
    return status;
}

static td_status fail_place(const td_sparse *s, const char *what, uint64_t value, uint64_t found, uint64_t limit)
{
    return td_fail(TD_RANGE, "%s %" PRIu64 " is %" PRIu64 ", and it is %" PRIu64 " to %" PRIu64 "; another base=?",
                   what, value, found, s->base, limit - 1 + s->base);
}

/* Starts ascend from the first value to behind the last. */
static td_status check_starts(const td_sparse *s, const td_tensor *starts, uint64_t outer, uint64_t values,
                              uint64_t unit)
{
    for (uint64_t k = 0; k <= outer; k++) {
        const uint64_t at = td_elem_get(starts, k) - s->base, last = k ? td_elem_get(starts, k - 1) - s->base : 0;
        if (at > values * unit || at < last || (k == 0 && at) || (k == outer && at != values * unit))
            return td_fail(TD_RANGE,
                           "start %" PRIu64 " is %" PRIu64 "; starts ascend from %" PRIu64
                           " to the number of %s, %" PRIu64,
                           k, at + s->base, s->base, s->in_bytes ? "bytes" : "values", values * unit + s->base);
        if (at % unit)
            return td_fail(TD_RANGE,
                           "start %" PRIu64 " is %" PRIu64 ", in the middle of a value of %" PRIu64
                           " bytes; pointers=elements?",
                           k, at + s->base, unit);
    }
    return TD_OK;
}

/* Zeros are padding, or stand where the tensor has one already. */
td_status td_lists_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *t)
{
    const grid g = grid_of(s, &t->shape);
    const bool starts = s->kind != TD_SPARSE_COO;
    const uint64_t values = parts[0]->elems, unit = unit_of(s, parts[0]);
    td_status status = starts ? check_starts(s, parts[2], g.outer, values, unit) : TD_OK;
    uint64_t o = 0;
    for (uint64_t v = 0; v < values && !status; v++) {
        for (; starts && o + 1 < g.outer && td_elem_get(parts[2], o + 1) <= v * unit + s->base; o++) {
        }
        if (!starts)
            o = td_elem_get(parts[1], v) - s->base;
        const uint64_t i = td_elem_get(parts[starts ? 1 : 2], v) - s->base, bits = td_elem_get(parts[0], v);
        if (o >= g.outer)
            return fail_place(s, "row", v, o + s->base, g.outer);
        if (i >= g.inner)
            return fail_place(s, s->kind == TD_SPARSE_CSC ? "row" : "column", v, i + s->base, g.inner);
        if (bits)
            td_elem_put(t, o * g.outer_stride + i * g.inner_stride, bits);
    }
    return status;
}
