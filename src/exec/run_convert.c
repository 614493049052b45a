/* Moves that convert: a block of a move goes through a buffer of the narrower type, which stays in the first cache.
 * Where the source is the wider side it is converted into the buffer and moved from there; else it is moved there and
 * converted into the destination. Contiguous runs need no buffer. run_move.c calls it inside its loops; see
 * plan/move.h. */
#include "plan/move.h"

#define SCRATCH_BYTES 16384 /* 64 rows off the lines */
#define LINE 64
#define FEW_ELEMS 12
#define SHORT_ROW 128 /* elements; what a call for a row costs is small beside longer ones */

/* Elements are converted before they are moved; of two types of one size, on the tensor's side. */
static bool converts_first(const td_move *m)
{
    return m->src_scale > m->dst_scale || (m->src_scale == m->dst_scale && m->tensor_first);
}

bool td_move_converts(const td_move *m, const td_convert *convert)
{
    if (m->kind == TD_MOVE_SHUFFLE || m->kind == TD_MOVE_FOLD)
        return false;
    return !convert->numbers || m->kind == TD_MOVE_RUNS || converts_first(m) == m->tensor_first;
}

/* Elements in so many bytes of the kernel's narrower type. All sizes are powers of two: a small call would feel a
 * division. */
static size_t elems_in(const td_move *m, const td_convert *c, size_t bytes)
{
    return bytes >> (__builtin_ctz(c->src.bytes) - __builtin_ctz(m->src_scale));
}

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
    td_convert_block b = {.src = src,
                          .dst_stride = m->dst_stride,
                          .src_stride = m->src_stride,
                          .rows = high,
                          .n = elems_in(m, v->convert, wide),
                          .stream = stream,
                          .far = stream};
    b.dst = dst;
    convert(m, v, &b);
}

/* From row to row in elements, where short rows of the source lie so close that all between the first and the last is
 * sooner converted in one run than row by row; or 0. */
static size_t close_rows(const td_move *m, const td_convert *c, uint64_t high, size_t n)
{
    const size_t pitch = m->src_stride > 0 ? (size_t)m->src_stride / c->src.bytes : 0;
    const bool whole = m->src_stride % c->src.bytes == 0;
    return whole && n < SHORT_ROW && pitch > n && pitch <= 2 * n && !c->numbers && !c->chain &&
                   m->kind != TD_MOVE_PICKS && high * pitch * narrow_bytes(m, c) <= SCRATCH_BYTES
               ? pitch
               : 0;
}

/* Rows apart that are so short that a copy of them, converted in one run, takes less than the calls for each: one, or
 * several where a conversion has steps. */
static bool copies_rows(const td_move_values *v, uint64_t rows, ptrdiff_t stride, size_t n, size_t bytes)
{
    const td_convert *c = v->convert;
    const bool steps = c->widen || c->scale_narrow || c->take || c->scale_wide || c->odd || c->hands_back;
    return rows > 1 && stride != (ptrdiff_t)(n * bytes) && n < (steps ? SHORT_ROW : FEW_ELEMS) && !c->decode &&
           !c->encode && !c->numbers && !c->chain && rows * n * bytes <= SCRATCH_BYTES;
}

/* The source of a block is `high` rows, contiguous but for the blocks of picks, whose order the kernel knows. Rows that
 * are one, as those of a copy that is read into each of its elements, are converted once. */
static void convert_then_move(const td_move *m, const td_move_values *v, unsigned char *dst, const unsigned char *src,
                              uint64_t high, uint64_t wide, bool stream)
{
    _Alignas(LINE) unsigned char scratch[SCRATCH_BYTES], rows[SCRATCH_BYTES];
    const size_t row_bytes = m->kind == TD_MOVE_PICKS ? m->picks->bytes : wide * m->elem_bytes;
    const bool one_row = m->kind != TD_MOVE_PICKS && m->src_stride == 0;
    const size_t n = elems_in(m, v->convert, row_bytes), pitch = close_rows(m, v->convert, high, n);
    const ptrdiff_t scratch_row = (ptrdiff_t)(pitch ? pitch * narrow_bytes(m, v->convert) : row_bytes);
    td_convert_block b = {.dst = scratch,
                          .src = src,
                          .dst_stride = scratch_row,
                          .src_stride = m->src_stride,
                          .rows = one_row ? 1 : high,
                          .n = n,
                          .far = stream};
    if (pitch) { /* nothing lies behind the last row */
        b.rows = 1;
        b.n = (high - 1) * pitch + n;
    } else if (copies_rows(v, b.rows, b.src_stride, n, v->convert->src.bytes)) {
        const size_t bytes = n * v->convert->src.bytes;
        td_short_rows(rows, (ptrdiff_t)bytes, src, b.src_stride, b.rows, bytes);
        b.src = rows;
        b.src_stride = (ptrdiff_t)bytes;
    }
    convert(m, v, &b);
    td_move_block(m, dst, m->dst_stride, m->part_stride, scratch, one_row ? 0 : scratch_row, high, wide, stream);
}

/* The destination of a block is `wide` rows, or those of every part. */
static void move_then_convert(const td_move *m, const td_move_values *v, unsigned char *dst, const unsigned char *src,
                              uint64_t high, uint64_t wide, bool stream)
{
    _Alignas(LINE) unsigned char scratch[SCRATCH_BYTES], rows[SCRATCH_BYTES];
    const size_t row_bytes = high * m->elem_bytes, part_bytes = wide * row_bytes;
    const uint64_t parts = m->kind == TD_MOVE_PICKS ? m->picks->parts : 1;
    td_move_block(m, scratch, (ptrdiff_t)row_bytes, (ptrdiff_t)part_bytes, src, m->src_stride, high, wide, false);
    for (uint64_t i = 0; i < parts; i++, dst += m->part_stride) {
        td_convert_block b = {.src = scratch + i * part_bytes,
                              .dst_stride = m->dst_stride,
                              .src_stride = (ptrdiff_t)row_bytes,
                              .rows = wide,
                              .n = elems_in(m, v->convert, row_bytes),
                              .stream = stream};
        b.dst = dst;
        if (!copies_rows(v, wide, m->dst_stride, b.n, v->convert->dst.bytes)) {
            convert(m, v, &b);
            continue;
        }
        const size_t bytes = b.n * v->convert->dst.bytes;
        b.dst = rows;
        b.dst_stride = (ptrdiff_t)bytes;
        b.stream = false;
        convert(m, v, &b);
        td_short_rows(dst, m->dst_stride, rows, (ptrdiff_t)bytes, wide, bytes);
    }
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The size of a block: its buffer and what it reads fit in the first-level cache, and reading and writing alternate
 * often. */
typedef struct extent {
    uint64_t high, wide;
} extent;

static uint64_t whole_lines(uint64_t elems)
{
    return elems < LINE ? elems : elems / LINE * LINE;
}

static extent block_of(const td_move *m, uint64_t high, uint64_t wide)
{
    const uint64_t row_bytes = m->lines ? 2 * LINE : 4 * LINE; /* rows that do not begin on a line: fewer ends */
    extent b = {high, wide};
    if (m->kind == TD_MOVE_TRANSPOSE)
        b.high = least(high, row_bytes / m->elem_bytes);
    if (m->kind == TD_MOVE_TRANSPOSE || m->kind == TD_MOVE_INTERLEAVE)
        b.wide = least(wide, whole_lines(64 * row_bytes / (b.high * m->elem_bytes)));
    if (m->kind == TD_MOVE_DEINTERLEAVE)
        b.high = least(high, whole_lines(64 * row_bytes / (wide * m->elem_bytes)));
    return b; /* picks have been cut to less by choose.c */
}

void td_move_convert_block(const td_move *m, const td_move_values *v, unsigned char *dst, const unsigned char *src,
                           uint64_t high, uint64_t wide, bool stream)
{
    if (m->kind == TD_MOVE_RUNS) {
        convert_runs(m, v, dst, src, high, wide, stream);
        return;
    }
    const ptrdiff_t dst_elem = m->elem_bytes * m->dst_scale, src_elem = m->elem_bytes * m->src_scale;
    const extent b = block_of(m, high, wide);
    for (uint64_t h = 0; h < high; h += b.high)
        for (uint64_t w = 0; w < wide; w += b.wide) {
            unsigned char *to = dst + (ptrdiff_t)h * dst_elem + (ptrdiff_t)w * m->dst_stride;
            const unsigned char *from = src + (ptrdiff_t)h * m->src_stride + (ptrdiff_t)w * src_elem;
            const uint64_t rows = least(high - h, b.high), columns = least(wide - w, b.wide);
            if (converts_first(m))
                convert_then_move(m, v, to, from, rows, columns, stream);
            else
                move_then_convert(m, v, to, from, rows, columns, stream);
        }
}
