/* Runs moves (plan/move.h): the loops around the kernel, split over threads where that pays. Called by exec.c, and
 * by plan/loop_tune.c to time them. Nothing here fails. */
#include "plan/move.h"

#include "base/pool.h"

/* A part of a move: steps [begin, end) of the loop that threads share. */
typedef struct part {
    const td_move *move;
    const td_move_values *values;
    uint64_t begin, end;
    bool stream;
} part;

void td_move_block(const td_move *m, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                   const unsigned char *src, ptrdiff_t src_stride, uint64_t high, uint64_t wide, bool stream)
{
    if (m->kind == TD_MOVE_PICKS)
        m->picks->fn(m->picks, dst, dst_stride, part_stride, src, src_stride, high, stream);
    else
        m->fn(dst, dst_stride, src, src_stride, high, wide, stream);
}

static void run_nest(const part *p, size_t level, unsigned char *dst, const unsigned char *src, uint64_t high,
                     uint64_t wide)
{
    const td_move *m = p->move;
    if (level == m->loops) {
        if (p->values)
            td_move_convert_block(m, p->values, dst, src, high, wide, p->stream);
        else
            td_move_block(m, dst, m->dst_stride, m->part_stride, src, m->src_stride, high, wide, p->stream);
        return;
    }
    const td_loop *loop = &m->loop[level];
    const bool shared = level == m->split;
    const uint64_t begin = shared ? p->begin : 0, end = shared ? p->end : loop->extent;
    dst += (int64_t)begin * loop->dst;
    src += (int64_t)begin * loop->src;
    for (uint64_t i = begin; i < end; i++, dst += loop->dst, src += loop->src) {
        if (loop->of == TD_LOOP_HIGH)
            high = m->high - i * loop->block < loop->block ? m->high - i * loop->block : loop->block;
        else if (loop->of == TD_LOOP_WIDE)
            wide = m->wide - i * loop->block < loop->block ? m->wide - i * loop->block : loop->block;
        run_nest(p, level + 1, dst, src, high, wide);
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
} shared_move;

static void run_parts(void *context, unsigned begin, unsigned end)
{
    const shared_move *s = context;
    const uint64_t steps = s->move->loops ? s->move->loop[s->move->split].extent : 1;
    const part p = {.move = s->move,
                    .values = s->values,
                    .begin = steps * begin / s->parts,
                    .end = steps * end / s->parts,
                    .stream = s->stream};
    run_nest(&p, 0, s->dst, s->src, s->move->high, s->move->wide);
    if (s->stream)
        td_move_fence();
}

void td_move_run(const td_move *m, const td_move_values *values, bool one_thread, unsigned char *dst,
                 const unsigned char *src)
{
    const bool stream = m->stream && (!m->lines || (uintptr_t)dst % 64 == 0);
    if (m->loops == 0 && m->kind != TD_MOVE_PICKS && !values) {
        m->fn(dst, m->dst_stride, src, m->src_stride, m->high, m->wide, stream);
        if (stream)
            td_move_fence();
        return;
    }
    shared_move s = {.move = m, .values = values, .dst = dst, .src = src, .stream = stream, .parts = 1};
    if (m->splits && !one_thread)
        s.parts = td_pool_parts(m->bytes, m->loop[m->split].extent);
    if (s.parts > 1)
        td_pool_run(s.parts, run_parts, &s);
    else
        run_parts(&s, 0, 1);
}
