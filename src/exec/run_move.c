/* Runs moves (plan/move.h): the loops around the kernel, split over threads where that pays. Called by exec.c, and
 * by plan/loop_tune.c to time them. Nothing here fails. */
#include "plan/move.h"

#include "base/pool.h"
#include "exec/fill.h"

#include <string.h>

/* A part of a move: steps [begin, end) of the loop that threads share. */
typedef struct part {
    const td_move *move;
    const td_move_values *values;
    uint64_t begin, end;
    bool stream;
    uint64_t shift; /* so many elements along `high` are missing in the first block, so that the next begin on lines */
    unsigned char *scratch; /* of td_move_fill.rows_fn */
} part;

void td_move_block(const td_move *m, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                   const unsigned char *src, ptrdiff_t src_stride, uint64_t high, uint64_t wide, bool stream)
{
    if (m->kind == TD_MOVE_PICKS)
        m->picks->fn(m->picks, dst, dst_stride, part_stride, src, src_stride, high, stream);
    else if (m->kind == TD_MOVE_SHUFFLE)
        m->shuffle->fn(m->shuffle, dst, src, wide, stream);
    else if (m->kind == TD_MOVE_FOLD)
        td_fold_run(m->fold, dst, src, wide);
    else
        m->fn(dst, dst_stride, src, src_stride, high, wide, stream);
}

/* The words of a block, before its data; the last loop is their row. */
static void fill_words(const td_move_fill *f, unsigned char *dst, uint64_t high, uint64_t wide)
{
    uint64_t extent[TD_FILL_LOOPS] = {0}, done[TD_FILL_LOOPS] = {0};
    const size_t last = f->loops > 1 && f->loops <= TD_FILL_LOOPS ? f->loops - 1u : 0;
    for (size_t i = 0; i <= last; i++)
        extent[i] = f->loop[i].of == TD_LOOP_HIGH ? high : f->loop[i].of == TD_LOOP_WIDE ? wide : f->loop[i].extent;
    for (;;) {
        td_fill_words(dst, f->loop[last].dst, extent[last], f->value, f->keep, f->bytes);
        size_t i = last;
        for (; i > 0 && ++done[i - 1] == extent[i - 1]; i--) {
            done[i - 1] = 0;
            dst -= f->loop[i - 1].dst * (int64_t)(extent[i - 1] - 1);
        }
        if (i == 0)
            return;
        dst += f->loop[i - 1].dst;
    }
}

/* Blocks of the axis that is contiguous in the destination; all but the first begin `shift` elements sooner. */
static uint64_t steps_of(const part *p, const td_loop *loop)
{
    return loop->of == TD_LOOP_HIGH && p->shift ? (p->move->high + p->shift + loop->block - 1) / loop->block
                                                : loop->extent;
}

static uint64_t high_of(const part *p, const td_loop *loop, uint64_t step, uint64_t shift)
{
    const uint64_t first = step * loop->block - shift, end = (step + 1) * loop->block - p->shift;
    return (end < p->move->high ? end : p->move->high) - first;
}

/* The rows of padding, once; they stay as they are. */
static void fill_rows(const td_move *m, unsigned char *scratch)
{
    const td_move_fill *f = m->fill;
    const size_t elem = m->elem_bytes;
    for (uint64_t r = 0; r < f->rows; r++)
        td_fill_words(scratch + r * f->cols * elem, (ptrdiff_t)elem, f->cols, f->value + r * elem, NULL, elem);
}

/* All rows of a block; those with data are copied beside the padding first. */
static void transpose_padded(const td_move *m, unsigned char *scratch, unsigned char *dst, const unsigned char *src,
                             uint64_t wide)
{
    const td_move_fill *f = m->fill;
    const size_t elem = m->elem_bytes, row_bytes = f->cols * elem;
    dst -= f->offset;
    for (uint64_t w = 0; w < wide; w += f->cols, dst += (int64_t)f->cols * m->dst_stride, src += row_bytes) {
        const uint64_t cols = wide - w < f->cols ? wide - w : f->cols;
        for (uint64_t r = 0; r < m->high; r++)
            memcpy(scratch + (f->first_row + r) * row_bytes, src + (int64_t)r * m->src_stride, cols * elem);
        f->rows_fn(dst, m->dst_stride, scratch, (ptrdiff_t)row_bytes, f->rows, cols, false);
    }
}

/* A block whose words are filled, where that and the data are one step; false: they are two. */
static bool run_padded(const part *p, unsigned char *dst, const unsigned char *src, uint64_t high, uint64_t wide)
{
    const td_move *m = p->move;
    const td_move_fill *f = m->fill;
    if (p->values || (!f->pad_runs && !f->rows_fn))
        return false;
    if (f->pad_runs)
        f->pad_runs(&f->word, dst - f->offset, f->dst_stride, src, f->src_stride,
                    m->kind == TD_MOVE_RUNS ? high : wide);
    else
        transpose_padded(m, p->scratch, dst, src, wide);
    return true;
}

/* Few short runs inside a loop: both levels here, because a kernel would be called for a handful of bytes. */
#define FEW_RUNS 16

#define GRID(size)                                                                                                     \
    case size:                                                                                                         \
        for (; steps; steps--, dst += loop->dst, src += loop->src) {                                                   \
            unsigned char *to = dst;                                                                                   \
            const unsigned char *from = src;                                                                           \
            for (uint64_t r = rows; r; r--, to += dst_stride, from += src_stride)                                      \
                memcpy(to, from, size);                                                                                \
        }                                                                                                              \
        return true;

static bool run_grid(const part *p, const td_loop *loop, uint64_t steps, unsigned char *dst, const unsigned char *src)
{
    const td_move *m = p->move;
    const uint64_t rows = m->high;
    const ptrdiff_t dst_stride = m->dst_stride, src_stride = m->src_stride;
    if (m->kind != TD_MOVE_RUNS || rows > FEW_RUNS || p->values || m->fill || p->stream || loop->of != TD_LOOP_PLAIN)
        return false;
    switch (m->wide) {
        GRID(1)
        GRID(2)
        GRID(4)
        GRID(8)
        GRID(16)
    default:
        return false;
    }
}

static void run_nest(const part *p, size_t level, unsigned char *dst, const unsigned char *src, uint64_t high,
                     uint64_t wide)
{
    const td_move *m = p->move;
    if (m->fill && level == m->fill->level) {
        if (run_padded(p, dst, src, high, wide))
            return;
        fill_words(m->fill, dst - m->fill->offset, high, wide);
    }
    if (level == m->loops) {
        if (p->values)
            td_move_convert_block(m, p->values, dst, src, high, wide, p->stream);
        else
            td_move_block(m, dst, m->dst_stride, m->part_stride, src, m->src_stride, high, wide, p->stream);
        return;
    }
    const td_loop *loop = &m->loop[level];
    const bool shared = level == m->split;
    const uint64_t begin = shared ? p->begin : 0, end = shared ? p->end : steps_of(p, loop);
    dst += (int64_t)begin * loop->dst;
    src += (int64_t)begin * loop->src;
    if (level + 1 == m->loops && run_grid(p, loop, end - begin, dst, src))
        return;
    for (uint64_t i = begin; i < end; i++, dst += loop->dst, src += loop->src) {
        const ptrdiff_t shift = loop->of == TD_LOOP_HIGH && i ? (ptrdiff_t)p->shift : 0;
        if (loop->of == TD_LOOP_HIGH)
            high = high_of(p, loop, i, (uint64_t)shift);
        else if (loop->of == TD_LOOP_WIDE)
            wide = m->wide - i * loop->block < loop->block ? m->wide - i * loop->block : loop->block;
        run_nest(p, level + 1, dst - shift * m->elem_bytes * m->dst_scale, src - shift * m->src_stride, high, wide);
    }
}

/* A move that threads share. */
typedef struct shared_move {
    const td_move *move;
    const td_move_values *values;
    unsigned char *dst;
    const unsigned char *src;
    unsigned parts;
    bool stream;
    uint64_t shift;
} shared_move;

static void run_parts(void *context, unsigned begin, unsigned end)
{
    const shared_move *s = context;
    part p = {.move = s->move, .values = s->values, .stream = s->stream, .shift = s->shift};
    const uint64_t steps = s->move->loops ? steps_of(&p, &s->move->loop[s->move->split]) : 1;
    p.begin = steps * begin / s->parts;
    p.end = steps * end / s->parts;
    _Alignas(64) unsigned char scratch[TD_FILL_SCRATCH];
    if (s->move->fill && s->move->fill->rows_fn && !s->values) {
        p.scratch = scratch;
        fill_rows(s->move, scratch);
    }
    run_nest(&p, 0, s->dst, s->src, s->move->high, s->move->wide);
    if (s->stream)
        td_move_fence();
}

/* A destination that begins between lines, as that of a file mapped from an odd place: the first block of a transpose
 * ends where a line does, so that the others are whole lines again. 0: none does. */
static uint64_t shift_of(const td_move *m, const unsigned char *dst)
{
    const uint64_t past = (uintptr_t)dst % 64, elem = (uint64_t)m->elem_bytes * m->dst_scale;
    if (!m->stream || !m->lines || m->fill || !past || past % elem ||
        (m->kind != TD_MOVE_TRANSPOSE && m->kind != TD_MOVE_PICKS))
        return 0;
    for (size_t i = 0; i < m->loops; i++)
        if (m->loop[i].of == TD_LOOP_HIGH)
            return m->loop[i].block - (64 - past) / elem;
    return 0;
}

/* Runs find the lines inside them by themselves. */
#define LONG_RUN_BYTES 512

static bool may_stream(const td_move *m, const unsigned char *dst, uint64_t shift)
{
    return m->stream &&
           (!m->lines || shift || (uintptr_t)dst % 64 == 0 || (m->kind == TD_MOVE_RUNS && m->wide >= LONG_RUN_BYTES));
}

void td_move_run(const td_move *m, const td_move_values *values, bool one_thread, unsigned char *dst,
                 const unsigned char *src)
{
    dst += m->dst_first;
    src += m->src_first;
    const uint64_t shift = shift_of(m, dst);
    const bool stream = may_stream(m, dst, shift);
    if (m->loops == 0 && !values && m->fill && m->fill->pad_runs) {
        run_padded(&(part){.move = m}, dst, src, m->high, m->wide);
        return;
    }
    if (m->loops == 0 && !values && !(m->fill && m->fill->rows_fn)) {
        if (m->fill)
            fill_words(m->fill, dst - m->fill->offset, m->high, m->wide);
        td_move_block(m, dst, m->dst_stride, m->part_stride, src, m->src_stride, m->high, m->wide, stream);
        if (stream)
            td_move_fence();
        return;
    }
    if (m->loops == 0 && values && !m->fill) {
        td_move_convert_block(m, values, dst, src, m->high, m->wide, stream);
        if (stream)
            td_move_fence();
        return;
    }
    shared_move s = {.move = m, .values = values, .dst = dst, .src = src, .stream = stream, .shift = shift, .parts = 1};
    if (m->splits && !one_thread)
        s.parts = td_pool_parts(m->bytes, m->loop[m->split].extent);
    if (s.parts > 1)
        td_pool_run(s.parts, run_parts, &s);
    else
        run_parts(&s, 0, 1);
}
