/* Counts the mismatches of a comparison into a report (report.h), for compare.c and padding.c: totals, steps of axes,
 * banks and lanes, the first ones and a sample. Its arrays are made at the first mismatch. It judges no pair. */
#include "report/report.h"

#include "layout/bind.h"
#include "report/macros.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- the first mismatch -------------------------------------------------------------------------------------------- */

static void add_tally(td_report *r, const char *name, int dim, uint64_t stride, uint64_t size, uint64_t offset)
{
    td_tally t = {.dim = dim, .offset = offset, .stride = stride, .size = size};
    t.name = strdup(name);
    t.bucket = (size + TD_REPORT_BUCKETS - 1) / TD_REPORT_BUCKETS;
    t.count = (size_t)((size + t.bucket - 1) / t.bucket);
    t.mismatches = calloc(t.count, sizeof *t.mismatches);
    r->failed |= !t.name || !t.mismatches;
    r->tally[r->tally_count++] = t;
}

void td_report_add_tally(td_report *r, const char *name, int dim, uint64_t size)
{
    add_tally(r, name, dim, 1, size, 0);
}

static void add_dim(td_report *r, size_t dim)
{
    char name[32];
    snprintf(name, sizeof name, "axis %zu", dim);
    add_tally(r, name, (int)dim, 1, r->shape.dim[dim], 0);
}

static const td_bound_axis *slowest_below(const td_bound *bound, int dim, uint64_t above)
{
    const td_bound_axis *best = NULL;
    for (int a = 0; a < bound->axis_count; a++) {
        const td_bound_axis *axis = &bound->axis[a];
        if (axis->dim == dim && axis->dim_stride < above &&
            (!best || axis->dim_stride > best->dim_stride ||
             (axis->dim_stride == best->dim_stride && axis->size > best->size)))
            best = axis;
    }
    return best;
}

/* The axes that a pattern gives a dimension; one for the whole dimension where its windows overlap. */
static void add_pattern_axes(td_report *r, const td_layout *layout)
{
    td_bound *bound = malloc(sizeof *bound);
    if (!bound || td_bind(layout, &r->shape, bound)) {
        r->failed = true;
        free(bound);
        return;
    }
    for (size_t d = 0; d < bound->rank; d++) {
        if (bound->dim[d].sliding)
            add_dim(r, d);
        for (uint64_t above = UINT64_MAX;
             above && !bound->dim[d].sliding;) { /* slowest first; an axis of the same stride adds no count */
            const td_bound_axis *axis = slowest_below(bound, (int)d, above);
            char name[32];
            above = axis ? axis->dim_stride : 0;
            if (!axis)
                break;
            snprintf(name, sizeof name, "axis %zu", d);
            add_tally(r, axis->pattern_axis >= 0 ? layout->pattern.axis[axis->pattern_axis].name : name, (int)d,
                      axis->dim_stride, axis->size, bound->dim[d].pad_before);
        }
    }
    r->lanes = bound->count[TD_ROLE_LANE];
    free(bound);
}

/* The grid has the axes of more than one step; the longest is made coarser until the grid is small. */
static void make_grid(td_report *r)
{
    uint64_t cells = 1;
    for (size_t i = 0; i < r->tally_count; i++) {
        td_tally *t = &r->tally[i];
        if (t->dim < 0 || t->size < 2)
            continue;
        t->grid_bucket = t->bucket;
        t->grid_count = t->count;
    }
    for (;;) {
        td_tally *longest = NULL;
        cells = 1;
        for (size_t i = 0; i < r->tally_count; i++) {
            td_tally *t = &r->tally[i];
            if (!t->grid_bucket)
                continue;
            cells = cells > TD_REPORT_CELLS ? cells : cells * t->grid_count;
            if (!longest || t->grid_count > longest->grid_count)
                longest = t;
        }
        if (cells <= TD_REPORT_CELLS || !longest)
            break;
        longest->grid_bucket *= 2;
        longest->grid_count = (size_t)((longest->size + longest->grid_bucket - 1) / longest->grid_bucket);
    }
    size_t stride = 1;
    for (size_t i = r->tally_count; i-- > 0;) {
        r->tally[i].grid_stride = stride;
        stride *= r->tally[i].grid_bucket ? r->tally[i].grid_count : 1;
    }
    for (size_t i = 0; i < r->tally_count; i++) {
        td_tally *t = &r->tally[i];
        t->by_stride = td_divisor_of(t->stride);
        t->by_size = td_divisor_of(t->size);
        t->by_bucket = td_divisor_of(t->bucket);
        t->by_grid_bucket = td_divisor_of(t->grid_bucket);
    }
    r->grid_cells = (size_t)cells;
    r->grid = calloc(r->grid_cells, sizeof *r->grid);
}

static void make_ready(td_report *r, const td_report_source *source)
{
    r->ready = true;
    memset(&r->last_at, 0, sizeof r->last_at);
    r->tally = calloc(TD_MAX_BOUND + 5, sizeof *r->tally);
    r->first = calloc(r->judge.policy.max + 1, sizeof *r->first);
    r->sample = calloc(TD_REPORT_SAMPLES, sizeof *r->sample);
    if (!r->tally || !r->first || !r->sample) {
        r->failed = true;
        return;
    }
    if (source->layout)
        add_pattern_axes(r, source->layout);
    else
        for (size_t d = 0; d < r->shape.rank; d++)
            add_dim(r, d);
    if (r->memory) {
        if (r->geometry.banks > 1)
            add_tally(r, "bank", -1, 1, r->geometry.banks, 0);
        const uint64_t in_word =
            r->slot_bits ? (r->geometry.width_bits - r->lsb_bits + r->slot_bits - 1) / r->slot_bits : 1;
        if (r->lanes > in_word || !r->lanes)
            r->lanes = in_word;
        add_tally(r, "lane", -2, 1, r->lanes, 0);
        td_macros_open(r, source);
    }
    make_grid(r);
    r->failed |= !r->grid;
    r->sample_every = 1;
    r->same_actual = true;
}

/* -- one mismatch -------------------------------------------------------------------------------------------------- */

/* The coordinates of this mismatch, from the last one where they are neighbours. */
static const td_shape *find_next(td_report *r, uint64_t elem)
{
    td_shape *at = &r->last_at;
    size_t d = at->rank;
    if (elem != r->last_elem + 1 || !d)
        td_shape_at(&r->shape, elem, at);
    else
        while (d-- > 0 && ++at->dim[d] == r->shape.dim[d])
            at->dim[d] = 0;
    r->last_elem = elem;
    return at;
}

/* Copies of one element are in the order of their places. */
static bool is_before(const td_entry *a, const td_entry *b)
{
    if (a->elem != b->elem)
        return a->elem < b->elem;
    if (a->place.bank != b->place.bank)
        return a->place.bank < b->place.bank;
    return a->place.address != b->place.address ? a->place.address < b->place.address : a->place.lsb < b->place.lsb;
}

/* The first N are a heap with the last of them on top, because pairs arrive in the order of slabs, not of the
 * tensor. */
static void keep_first(td_report *r, const td_entry *e)
{
    const size_t max = r->judge.policy.max;
    td_entry *heap = r->first;
    size_t at = 0;
    if (r->first_count < max) {
        for (at = r->first_count++; at > 0 && is_before(&heap[(at - 1) / 2], e); at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
        heap[at] = *e;
        return;
    }
    if (!max || !is_before(e, &heap[0]))
        return;
    for (size_t child = 1; child < max; child = 2 * at + 1) {
        if (child + 1 < max && is_before(&heap[child], &heap[child + 1]))
            child++;
        if (!is_before(e, &heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = *e;
}

/* Every mismatch at first, every second one when there are too many, and so on: a sample over all of the tensor. */
static void keep_sample(td_report *r, const td_entry *e)
{
    if ((r->mismatches - 1) % r->sample_every)
        return;
    if (r->sample_count == TD_REPORT_SAMPLES) {
        r->sample_count /= 2;
        for (size_t i = 0; i < r->sample_count; i++)
            r->sample[i] = r->sample[2 * i];
        r->sample_every *= 2;
        if ((r->mismatches - 1) % r->sample_every)
            return;
    }
    r->sample[r->sample_count++] = *e;
}

static uint64_t lane_of(const td_report *r, const td_place *place)
{
    if (!r->slot_bits || place->lsb < r->lsb_bits)
        return 0;
    const uint64_t lane = (place->lsb - r->lsb_bits) / r->slot_bits;
    const uint64_t inside = lane < r->lanes ? lane : r->lanes - 1;
    return r->lanes_msb ? r->lanes - 1 - inside : inside;
}

static size_t bin_of(td_verdict v)
{
    return v.apart ? TD_REPORT_BINS - 1 : v.ulp ? 64 - (size_t)__builtin_clzll(v.ulp) : 0;
}

/* The step along an axis at a coordinate of its dimension. */
static uint64_t step_of(const td_tally *t, uint64_t coordinate)
{
    return td_remainder(td_quotient(coordinate + t->offset, &t->by_stride), &t->by_size);
}

void td_report_mismatch(td_report *r, const td_report_source *source, uint64_t elem, uint64_t expected, uint64_t actual,
                        td_verdict verdict, const td_place *place)
{
    r->mismatches++;
    r->nans += verdict.apart;
    if (!r->ready)
        make_ready(r, source);
    if (r->failed)
        return;
    td_entry e = {.elem = elem, .expected = expected, .actual = actual, .verdict = verdict};
    if (place) {
        e.place = *place;
        e.lane = lane_of(r, place);
    }
    r->changed |= expected ^ actual;
    r->same_actual &= r->sample_count == 0 || actual == r->sample[0].actual;
    r->bins[bin_of(verdict)]++;
    keep_first(r, &e);
    keep_sample(r, &e);
    const td_shape *at = find_next(r, elem);
    size_t cell = 0;
    for (size_t i = 0; i < r->tally_count; i++) {
        td_tally *t = &r->tally[i];
        if (t->dim < -2)
            break; /* wrong bits, which are counted below */
        const uint64_t step = t->dim == -1 ? e.place.bank : t->dim == -2 ? e.lane : step_of(t, at->dim[t->dim]);
        t->mismatches[td_quotient(step, &t->by_bucket)]++;
        if (t->grid_bucket)
            cell += td_quotient(step, &t->by_grid_bucket) * t->grid_stride;
    }
    td_grid_cell *c = &r->grid[cell];
    const float error = verdict.apart ? INFINITY : (float)verdict.error;
    c->mismatches++;
    if (error > c->error)
        c->error = error;
    if (r->macros)
        td_macros_count(r, &e);
}

uint64_t td_report_step(const td_report *r, const td_tally *t, uint64_t elem)
{
    td_shape at;
    td_shape_at(&r->shape, elem, &at);
    return t->dim < 0 ? 0 : step_of(t, at.dim[t->dim]);
}

static int compare_entries(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : is_before(b, a);
}

void td_report_sort(td_report *r)
{
    if (r->first_count)
        qsort(r->first, r->first_count, sizeof *r->first, compare_entries);
    td_macros_close(r);
}
