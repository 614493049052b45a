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

/* Parts, and the number of the element at index 0 of each; none where values are only counted. */
typedef struct list_out {
    td_tensor *const *parts;
    uint64_t first[TD_MOST_PARTS];
} list_out;

/* One value into the parts, where there are some. */
static void put_value(const td_sparse *s, const list_out *out, uint64_t value, uint64_t o, uint64_t i, uint64_t bits)
{
    const bool starts = s->kind != TD_SPARSE_COO;
    if (!out)
        return;
    td_elem_put(out->parts[0], value - out->first[0], bits);
    td_elem_put(out->parts[1], value - out->first[1], (starts ? i : o) + s->base);
    if (!starts)
        td_elem_put(out->parts[2], value - out->first[2], i + s->base);
}

/* One row: its values, its zeros and its padding into the parts from `value` on, or, without parts, only counted.
 * Padding is a zero in the column of the value before it, so that columns do not descend. */
static uint64_t walk_row(const td_sparse *s, const td_tensor *t, const grid *g, uint64_t o, uint64_t value,
                         const list_out *out)
{
    const uint64_t first = value;
    uint64_t last = 0;
    for (uint64_t i = 0; i < g->inner; i++) {
        const uint64_t e = o * g->outer_stride + i * g->inner_stride;
        if (!is_kept(s, t, e))
            continue;
        last = i;
        put_value(s, out, value++, o, i, td_elem_get(t, e));
    }
    if (value == first && s->zeros == TD_ZEROS_ROW)
        put_value(s, out, value++, o, 0, 0);
    while ((value - first) % s->pad)
        put_value(s, out, value++, o, last, 0);
    return value;
}

/* What a start counts: values, or their bytes. */
static uint64_t unit_of(const td_sparse *s, const td_tensor *values)
{
    return s->in_bytes ? values->dtype.bits / 8U : 1;
}

/* Rows of a matrix in pieces, which threads share. */
typedef struct list_work {
    const td_sparse *s;
    const td_tensor *tensor;
    td_tensor *const *parts;
    grid grid;
    unsigned pieces;
    uint64_t before[TD_POOL_PARTS]; /* values, of each piece; while they are counted, those of the piece */
} list_work;

static void count_pieces(void *context, unsigned begin, unsigned end)
{
    list_work *w = context;
    for (unsigned piece = begin; piece < end; piece++) {
        uint64_t value = 0;
        for (uint64_t o = w->grid.outer * piece / w->pieces; o < w->grid.outer * (piece + 1) / w->pieces; o++)
            value = walk_row(w->s, w->tensor, &w->grid, o, value, NULL);
        w->before[piece] = value;
    }
}

uint64_t td_lists_count(td_sparse *s, const td_tensor *tensor)
{
    list_work w = {.s = s, .tensor = tensor, .grid = grid_of(s, &tensor->shape)};
    uint64_t sum = 0;
    w.pieces = td_pool_parts(tensor->elems * tensor->dtype.bytes, w.grid.outer);
    td_pool_run(w.pieces, count_pieces, &w);
    s->pieces.count = w.pieces;
    for (unsigned i = 0; i < w.pieces; i++) {
        s->pieces.before[i] = sum;
        sum += w.before[i];
    }
    return sum;
}

static void pack_pieces(void *context, unsigned begin, unsigned end)
{
    const list_work *w = context;
    const td_sparse *s = w->s;
    const uint64_t unit = unit_of(s, w->tensor);
    const list_out out = {.parts = w->parts};
    uint64_t value = w->before[begin];
    for (uint64_t o = w->grid.outer * begin / w->pieces; o < w->grid.outer * end / w->pieces; o++) {
        if (s->kind != TD_SPARSE_COO)
            td_elem_put(w->parts[2], o, value * unit + s->base);
        value = walk_row(s, w->tensor, &w->grid, o, value, &out);
    }
}

td_status td_lists_check(const td_sparse *s, const td_tensor *t, uint64_t count)
{
    const grid g = grid_of(s, &t->shape);
    const td_status status = td_sparse_check_number(s, g.inner - 1 + s->base, "numbers");
    if (status)
        return status;
    return td_sparse_check_number(s, (s->kind == TD_SPARSE_COO ? g.outer - 1 : count * unit_of(s, t)) + s->base,
                                  "numbers");
}

td_status td_lists_pack(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    const uint64_t values = parts[0]->elems;
    list_work w = {.s = s, .tensor = t, .parts = parts, .grid = grid_of(s, &t->shape), .pieces = s->pieces.count};
    const td_status status = td_lists_check(s, t, values);
    if (status)
        return status;
    memcpy(w.before, s->pieces.before, sizeof w.before);
    td_pool_run(w.pieces, pack_pieces, &w);
    if (s->kind != TD_SPARSE_COO)
        td_elem_put(parts[2], w.grid.outer, values * unit_of(s, t) + s->base);
    return TD_OK;
}

/* A row; behind the last one also the end of all starts. */
void td_lists_step(const td_sparse *s, const td_tensor *t, uint64_t number, td_steps *steps, td_tensor *const *parts)
{
    const grid g = grid_of(s, &t->shape);
    const uint64_t unit = unit_of(s, t);
    uint64_t *const made = steps->made;
    list_out out = {.parts = parts};
    memcpy(out.first, steps->first, sizeof out.first);
    const uint64_t value = walk_row(s, t, &g, number, made[0], &out);
    if (s->kind != TD_SPARSE_COO) {
        td_elem_put(parts[2], made[2]++ - out.first[2], made[0] * unit + s->base);
        if (number + 1 == g.outer)
            td_elem_put(parts[2], made[2]++ - out.first[2], value * unit + s->base);
    } else
        made[2] = value;
    made[0] = made[1] = value;
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
