/* Moves that convert: a block of a move goes through a buffer of the narrower type, which stays in the first cache. Where
 * the source is the wider side it is converted into the buffer and moved from there; else it is moved there and
 * converted into the destination. Straight runs need no buffer. Called by move.c inside its loops; see move.h. */
#include "move.h"

#define STAGE_BYTES 16384
#define LINE 64

/* Elements are converted before they are moved; of two types of one size, on the tensor's side. */
static bool converts_first(const td_move *m)
{
    return m->src_scale > m->dst_scale || (m->src_scale == m->dst_scale && m->tensor_first);
}

bool td_move_converts(const td_move *m, const td_convert *convert)
{
    return !convert->numbers || m->kind == TD_MOVE_RUNS || converts_first(m) == m->tensor_first;
}

/* Bytes of an element in the kernel. */
static size_t narrow_bytes(const td_move *m, const td_convert *c)
{
    return c->src.bytes / m->src_scale;
}

static void convert(const td_move *m, const td_move_values *v, td_convert_block *b)
{
    const td_convert *c = v->convert;
    const ptrdiff_t bytes = m->tensor_first ? c->src.bytes : c->dst.bytes;
    const unsigned char *at = m->tensor_first ? b->src : b->dst;
    if (c->numbers) {
        b->first = (uint64_t)((at - v->tensor) / bytes);
        b->row_step = (m->tensor_first ? b->src_stride : b->dst_stride) / bytes;
        b->step = 1;
    }
    td_convert_rows(c, b);
}

static void convert_runs(const td_move *m, const td_move_values *v, unsigned char *dst, const unsigned char *src,
                         uint64_t high, uint64_t wide, bool stream)
{
    td_convert_block b = {.dst = dst,
                          .src = src,
                          .dst_stride = m->dst_stride,
                          .src_stride = m->src_stride,
                          .rows = high,
                          .n = wide / narrow_bytes(m, v->convert),
                          .stream = stream};
    convert(m, v, &b);
}

/* The source of a block is `high` rows, straight but for two steps' blocks of which the kernel knows the order. */
static void convert_then_move(const td_move *m, const td_move_values *v, unsigned char *dst, const unsigned char *src,
                              uint64_t high, uint64_t wide, bool stream)
{
    _Alignas(LINE) unsigned char stage[STAGE_BYTES];
    const size_t row_bytes = m->kind == TD_MOVE_TWO_STEPS ? m->block_bytes : wide * m->elem_bytes;
    td_convert_block b = {.dst = stage,
                          .src = src,
                          .dst_stride = (ptrdiff_t)row_bytes,
                          .src_stride = m->src_stride,
                          .rows = high,
                          .n = row_bytes / narrow_bytes(m, v->convert)};
    convert(m, v, &b);
    td_move_block(m, dst, m->dst_stride, stage, (ptrdiff_t)row_bytes, high, wide, stream);
}

/* The destination of a block is `wide` rows. */
static void move_then_convert(const td_move *m, const td_move_values *v, unsigned char *dst, const unsigned char *src,
                              uint64_t high, uint64_t wide, bool stream)
{
    _Alignas(LINE) unsigned char stage[STAGE_BYTES];
    const size_t row_bytes = high * m->elem_bytes;
    td_move_block(m, stage, (ptrdiff_t)row_bytes, src, m->src_stride, high, wide, false);
    td_convert_block b = {.dst = dst,
                          .src = stage,
                          .dst_stride = m->dst_stride,
                          .src_stride = (ptrdiff_t)row_bytes,
                          .rows = wide,
                          .n = row_bytes / narrow_bytes(m, v->convert),
                          .stream = stream};
    convert(m, v, &b);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* As many steps of the long axis as the buffer holds, in whole lines. */
static uint64_t steps_of(uint64_t short_bytes)
{
    return STAGE_BYTES / short_bytes < LINE ? STAGE_BYTES / short_bytes : STAGE_BYTES / short_bytes / LINE * LINE;
}

void td_move_convert_block(const td_move *m, const td_move_values *v, unsigned char *dst, const unsigned char *src,
                           uint64_t high, uint64_t wide, bool stream)
{
    if (m->kind == TD_MOVE_RUNS) {
        convert_runs(m, v, dst, src, high, wide, stream);
        return;
    }
    /* prepare.c has cut one of the axes to a few hundred bytes; the other one is cut here. */
    const ptrdiff_t dst_elem = m->elem_bytes * m->dst_scale, src_elem = m->elem_bytes * m->src_scale;
    const bool long_high = m->kind == TD_MOVE_DEINTERLEAVE;
    uint64_t count = m->kind == TD_MOVE_TWO_STEPS ? 1 : long_high ? high : wide;
    const uint64_t step = count == 1 ? 1 : steps_of((long_high ? wide : high) * m->elem_bytes);
    for (; count; count -= least(count, step)) {
        const uint64_t now = least(count, step), rows = long_high ? now : high,
                       columns = long_high || m->kind == TD_MOVE_TWO_STEPS ? wide : now;
        if (converts_first(m))
            convert_then_move(m, v, dst, src, rows, columns, stream);
        else
            move_then_convert(m, v, dst, src, rows, columns, stream);
        dst += (ptrdiff_t)now * (long_high ? dst_elem : m->dst_stride);
        src += (ptrdiff_t)now * (long_high ? m->src_stride : src_elem);
    }
}
