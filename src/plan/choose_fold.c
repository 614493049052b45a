/* Chooses folds (fold.h) for boxes whose axes are too short for a transpose alone: which loops are the rows of one
 * transpose, as they continue one another in the destination, and which are its columns, as they do in the source.
 * Called by choose.c. Refuses nothing: where no fold is worth it the nest and the move stay as they were. */
#include "plan/fold.h"

#include "plan/nest.h"
#include "plan/passes.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64
#define MOST_ROW 256      /* bytes of a row of the result that is done at once */
#define LEAST_UNITS 32    /* of longer ones */
#define ENOUGH_BYTES 2048 /* of a block: what a call costs is little beside it */

/* Loops that continue one another on one side, from an element on. */
typedef struct chain {
    size_t at[TD_FOLD_LOOPS], count;
} chain;

static uint64_t size_of(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

static chain find_chain(const td_nest *n, bool dst)
{
    chain c = {.count = 0};
    uint64_t span = n->elem;
    for (size_t i = 0; i < n->count && c.count < TD_FOLD_LOOPS; i++) {
        bool in = n->loop[i].extent < 2 || size_of(dst ? n->loop[i].dst : n->loop[i].src) != span;
        for (size_t k = 0; k < c.count; k++)
            in |= c.at[k] == i;
        if (in)
            continue;
        c.at[c.count++] = i;
        span *= n->loop[i].extent;
        i = SIZE_MAX; /* from the first again */
    }
    return c;
}

/* The loops of a block: rows innermost first, columns innermost first. The last of either has the units. */
typedef struct draft {
    size_t row[TD_FOLD_LOOPS], col[TD_FOLD_LOOPS], rows, cols;
    uint64_t row_elems, col_elems; /* steps of all of them */
    bool unit_rows;
} draft;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool share(const chain *d, size_t rows, const chain *s, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < cols; k++)
            if (d->at[i] == s->at[k])
                return true;
    return false;
}

/* What a scratch has room for: a row of the result is no longer than worth it, or rows have the units. */
static bool fits(const td_nest *n, const draft *d)
{
    const uint64_t row_units = n->loop[d->row[d->rows - 1]].extent, col_units = n->loop[d->col[d->cols - 1]].extent;
    return d->unit_rows ? d->row_elems / row_units * d->col_elems * n->elem <= TD_FOLD_BYTES / LEAST_UNITS
                        : d->row_elems * d->col_elems / col_units * n->elem <= TD_FOLD_BYTES / 2;
}

/* How far each chain is taken: so that the shorter of the two runs is as long as can be, up to a line. */
static bool choose_runs(const td_nest *n, draft *best)
{
    const chain dst = find_chain(n, true), src = find_chain(n, false);
    uint64_t most = 0;
    draft d = {.row_elems = 1};
    for (d.rows = 1; d.rows <= dst.count && !d.unit_rows; d.rows++) {
        d.row[d.rows - 1] = dst.at[d.rows - 1];
        d.row_elems *= n->loop[d.row[d.rows - 1]].extent;
        d.unit_rows = d.row_elems * n->elem > MOST_ROW;
        d.col_elems = 1;
        for (d.cols = 1; d.cols <= src.count && !share(&dst, d.rows, &src, d.cols); d.cols++) {
            d.col[d.cols - 1] = src.at[d.cols - 1];
            d.col_elems *= n->loop[d.col[d.cols - 1]].extent;
            if (!fits(n, &d))
                break;
            const uint64_t out = least(d.row_elems * n->elem, LINE), in = least(d.col_elems * n->elem, LINE);
            const uint64_t score = 2 * LINE * least(in, out) + in + out;
            if (score > most) {
                most = score;
                *best = d;
            }
        }
    }
    return most > 0;
}

static bool is_taken(const draft *f, size_t loop)
{
    bool taken = false;
    for (size_t i = 0; i < f->rows; i++)
        taken |= f->row[i] == loop;
    for (size_t i = 0; i < f->cols; i++)
        taken |= f->col[i] == loop;
    return taken;
}

/* Small blocks get more columns: neighbours in the destination. */
static void add_columns(const td_nest *n, draft *f)
{
    while (!f->unit_rows && f->row_elems * f->col_elems * n->elem < ENOUGH_BYTES && f->cols < TD_FOLD_LOOPS - 1) {
        size_t best = n->count;
        for (size_t i = 0; i < n->count; i++)
            if (!is_taken(f, i) && n->loop[i].extent > 1 &&
                (best == n->count || size_of(n->loop[i].dst) < size_of(n->loop[best].dst)))
                best = i;
        if (best == n->count)
            return;
        f->col[f->cols++] = best;
        f->col_elems *= n->loop[best].extent;
    }
}

/* A loop that goes backward where its steps are to be neighbours begins at its other end. */
static void flip(td_loop *loop, td_move *m)
{
    m->dst_first += loop->dst * (int64_t)(loop->extent - 1);
    m->src_first += loop->src * (int64_t)(loop->extent - 1);
    loop->dst = -loop->dst;
    loop->src = -loop->src;
}

static void add_loop(td_fold_copy *c, const td_fold_loop *loop)
{
    size_t at = c->loops++;
    for (; at > 0 && c->loop[at - 1].extent > loop->extent; at--)
        c->loop[at] = c->loop[at - 1];
    c->loop[at] = *loop;
}

/* Whether `count` loops are one, with the stride of the first. */
static bool is_one(const td_nest *n, const size_t *at, size_t count, bool dst)
{
    const td_loop *first = &n->loop[at[0]];
    const int64_t step = dst ? first->dst : first->src;
    int64_t span = step;
    for (size_t i = 0; i < count; i++) {
        if ((dst ? n->loop[at[i]].dst : n->loop[at[i]].src) != span)
            return false;
        span *= (int64_t)n->loop[at[i]].extent;
    }
    return true;
}

static void add_loops(const td_nest *n, const size_t *at, size_t count, uint64_t near, bool dst, bool rows, bool units,
                      td_fold_copy *c)
{
    for (size_t i = 0; i < count; near *= n->loop[at[i++]].extent)
        add_loop(c, &(td_fold_loop){.extent = n->loop[at[i]].extent,
                                    .far = dst ? n->loop[at[i]].dst : n->loop[at[i]].src,
                                    .near = near,
                                    .row = rows,
                                    .unit = units && i + 1 == count});
}

/* The scratch has a row for every step of the rows, all columns in it; those that are neighbours in the source are a
 * run. */
static void make_in(const td_nest *n, const draft *d, td_fold *f)
{
    td_fold_copy *c = &f->in;
    size_t k = 0;
    c->run = n->elem;
    for (; k < d->cols && !c->units_run && n->loop[d->col[k]].src == (int64_t)c->run; k++)
        if (k + 1 == d->cols && !d->unit_rows)
            c->units_run = true;
        else
            c->run *= n->loop[d->col[k]].extent;
    c->needed = k < d->cols || !is_one(n, d->row, d->rows, false);
    f->src_stride = (ptrdiff_t)n->loop[d->row[0]].src;
    add_loops(n, d->col + k, d->cols - k, c->run, false, false, !d->unit_rows, c);
    add_loops(n, d->row, d->rows, 1, false, true, d->unit_rows, c);
}

/* The result has a row for every column, which is a run of the destination as it stands, or together with others. */
static void make_out(const td_nest *n, const draft *d, td_fold *f)
{
    td_fold_copy *c = &f->out;
    const uint64_t row = d->row_elems * n->elem;
    uint64_t near = 1;
    size_t k = 0;
    c->needed = !is_one(n, d->col, d->cols, true);
    f->dst_stride = (ptrdiff_t)n->loop[d->col[0]].dst;
    c->run = d->unit_rows ? row / n->loop[d->row[d->rows - 1]].extent : row;
    c->units_run = d->unit_rows;
    for (; k < d->cols && !c->units_run && n->loop[d->col[k]].dst == (int64_t)(row * near);
         near *= n->loop[d->col[k++]].extent)
        if (k + 1 == d->cols)
            c->units_run = true;
        else
            c->run *= n->loop[d->col[k]].extent;
    add_loops(n, d->col + k, d->cols - k, near, true, true, !d->unit_rows, c);
}

static void add_axes(const td_nest *n, const draft *d, td_fold *f)
{
    for (size_t i = 0; i < d->rows + d->cols; i++) {
        const td_loop *l = &n->loop[i < d->rows ? d->row[i] : d->col[i - d->rows]];
        f->axis[f->axes].extent = l->extent;
        f->axis[f->axes].dst = l->dst;
        f->axis[f->axes++].unit = i + 1 == (d->unit_rows ? d->rows : d->rows + d->cols);
    }
}

static const td_loop *unit_of(const td_nest *n, const draft *d)
{
    return &n->loop[d->unit_rows ? d->row[d->rows - 1] : d->col[d->cols - 1]];
}

static void describe(const td_nest *n, const draft *d, const td_kernels *k, td_fold *f)
{
    const uint64_t units = unit_of(n, d)->extent;
    *f = (td_fold){.elem = (uint8_t)n->elem,
                   .rows = d->unit_rows ? d->row_elems / units : d->row_elems,
                   .cols = d->unit_rows ? d->col_elems : d->col_elems / units,
                   .unit_rows = d->unit_rows};
    make_in(n, d, f);
    make_out(n, d, f);
    add_axes(n, d, f);
    const bool dense = f->out.needed || f->dst_stride == (ptrdiff_t)(f->rows * f->elem);
    f->transpose = td_transpose_of(&k->move, f->elem);
    if (dense && !f->unit_rows && td_few_lanes(f->rows, f->rows * f->elem, 32) && td_interleave_of(&k->move, f->elem))
        f->transpose = td_interleave_of(&k->move, f->elem);
}

/* -- whether it pays ----------------------------------------------------------------------------------------------- */

/* In cycles, as measured: a run costs the step of its loop and its bytes; an element what the transpose takes, which is
 * more where its rows do not fill vectors; a block a few calls. */
#define RUN_COST 1.2
#define ODD_RUN_COST 2.2 /* of a length that the copies have no loop for */
#define RUN_BYTE_COST (1.0 / 24)
#define BYTE_COST .15
#define FEW_ROWS 8
#define RAGGED_COST .4
#define RAGGED_BYTE_COST .1
#define BLOCK_COST 60
#define GAIN .7 /* what it must be of the other way's: the estimates are rough */

static double run_cost(uint64_t bytes)
{
    switch (bytes) {
#define RUN(size) case size:
        TD_FOLD_RUNS(RUN)
#undef RUN
        return RUN_COST;
    default:
        return bytes > LINE ? RUN_COST : ODD_RUN_COST;
    }
}

static double copy_cost(const td_fold_copy *c, const draft *d, uint64_t elem)
{
    const uint64_t run = !c->units_run ? c->run : d->unit_rows ? MOST_ROW : d->col_elems * d->row_elems * elem;
    return c->needed ? (run_cost(run) / (double)run + RUN_BYTE_COST) * (double)elem : 0;
}

static double cost_of(const td_fold *f, const draft *d)
{
    const bool ragged = d->row_elems < FEW_ROWS && d->row_elems & (d->row_elems - 1);
    const double each = ragged ? RAGGED_COST + RAGGED_BYTE_COST * f->elem : BYTE_COST * f->elem;
    const uint64_t room = TD_FOLD_BYTES / f->elem;
    return copy_cost(&f->in, d, f->elem) + copy_cost(&f->out, d, f->elem) + each +
           BLOCK_COST / (double)least(d->row_elems * d->col_elems, room);
}

/* Plain C transposes element by element. */
static bool has_vectors(const td_kernels *k, uint64_t elem)
{
    return td_transpose_of(&k->move, elem) && k->move.transpose_x8 != td_transpose_x8_c;
}

bool td_nest_fold(td_nest *n, const td_kernels *k, double other, td_move *m)
{
    draft d;
    if (n->count < 3 || n->count > TD_FOLD_LOOPS || !has_vectors(k, n->elem) || !choose_runs(n, &d))
        return false;
    add_columns(n, &d);
    if (d.rows == 1 && d.cols == 1) /* a transpose as it is */
        return false;
    td_nest nest = *n;
    td_move flipped = *m;
    for (size_t i = 0; i < d.rows; i++)
        if (nest.loop[d.row[i]].dst < 0)
            flip(&nest.loop[d.row[i]], &flipped);
    for (size_t i = 0; i < d.cols; i++)
        if (nest.loop[d.col[i]].src < 0)
            flip(&nest.loop[d.col[i]], &flipped);
    td_fold fold;
    describe(&nest, &d, k, &fold);
    if (cost_of(&fold, &d) > GAIN * other)
        return false;
    flipped.fold = malloc(sizeof fold);
    if (!flipped.fold)
        return false; /* costs speed only */
    *flipped.fold = fold;
    const td_loop *unit = unit_of(&nest, &d);
    *m = flipped;
    m->kind = TD_MOVE_FOLD;
    m->elem_bytes = 1;
    m->high = 1;
    m->wide = unit->extent;
    m->dst_stride = unit->dst;
    m->src_stride = unit->src;
    n->count = 0;
    for (size_t i = 0; i < nest.count; i++)
        if (!is_taken(&d, i))
            n->loop[n->count++] = nest.loop[i];
    return true;
}
