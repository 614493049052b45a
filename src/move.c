/* See move.h. */
#include "move.h"

#include <inttypes.h>

/* A part of a move: steps [begin, end) of the loop that threads share. */
typedef struct part {
    const td_move *move;
    uint64_t begin, end;
    bool stream;
} part;

static void run_nest(const part *p, size_t level, unsigned char *dst, const unsigned char *src, uint64_t high, uint64_t wide)
{
    const td_move *m = p->move;
    if (level == m->loops) {
        m->fn(dst, m->dst_stride, src, m->src_stride, high, wide, p->stream);
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

void td_move_run(const td_move *m, unsigned char *dst, const unsigned char *src)
{
    if (m->loops == 0) {
        m->fn(dst, m->dst_stride, src, m->src_stride, m->high, m->wide, m->stream && (uintptr_t)dst % 64 == 0);
        return;
    }
    const part whole = {.move = m, .end = m->loop[m->split].extent, .stream = m->stream && (uintptr_t)dst % 64 == 0};
    run_nest(&whole, 0, dst, src, m->high, m->wide);
    if (whole.stream)
        td_move_fence();
}

void td_move_describe(const td_move *m, td_text *out)
{
    static const char *const name[] = {"walk", "runs", "transpose", "interleave", "deinterleave"};
    td_text_add(out, "%s", name[m->kind]);
    if (m->kind == TD_MOVE_NONE)
        return;
    td_text_add(out, " x%u %" PRIu64 "x%" PRIu64 "%s", 8u * m->elem_bytes, m->high, m->wide, m->stream ? " streamed" : "");
    for (size_t i = 0; i < m->loops; i++)
        td_text_add(out, "%s%" PRIu64 "%s", i ? " " : " around ", m->loop[i].extent,
                    m->loop[i].of == TD_LOOP_HIGH ? "h" : m->loop[i].of == TD_LOOP_WIDE ? "w" : "");
}
