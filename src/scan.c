/* See scan.h. Bytes that must be equal are compared where they lie. Anything else passes in chunks through buffers that stay
 * in the first cache: rows are gathered, converted, and held against each other. */
#include "scan.h"

#include "cpu.h"
#include "kernels/bits.h"
#include "mode.h"
#include "pool.h"

#include <string.h>

/* Rows from this length on are chunks by themselves. */
#define LONG_ROW 128

bool td_is_masked(const td_tensor *mask, uint64_t elem)
{
    return mask &&
           !(td_get_elem(mask->data + elem * mask->dtype.bytes, mask->dtype.bytes) & td_dtype_mask(mask->dtype));
}

void td_scan_init(const td_judge *judge, const td_tensor *golden, const td_tensor *mask, const td_convert *convert,
                  td_scan *out)
{
    const bool tolerant = judge->policy.tolerant;
    out->golden = golden;
    out->mask = mask;
    out->convert = convert;
    out->judge = judge;
    out->never = false;
    out->finite_alone = !judge->bits_decide;
    out->in_chunks = tolerant || mask || convert || out->finite_alone;
    out->row_by_row = mask || (convert && (convert->axis.extent || convert->rounding.round == TD_ROUND_STOCHASTIC));
    out->row_elems = out->in_chunks ? LONG_ROW : 8U / golden->dtype.bytes;
    td_move_kernels moves;
    td_move_init(&moves, td_cpu_flags());
    out->copy = moves.copy;
    out->equal = td_equal_choose(td_cpu_flags());
    td_close_init(judge, &out->close);
}

/* -- chunks -------------------------------------------------------------------------------------------------------- */

typedef struct stage {
    _Alignas(64) unsigned char slab[TD_SLAB_BYTES];
    _Alignas(64) unsigned char golden[TD_CLOSE_ELEMS * 8], stored[TD_CLOSE_ELEMS * 8], actual[TD_CLOSE_ELEMS * 8];
    td_close_room room;
    size_t gathered; /* elements in golden, and in stored or actual */
    uint64_t masked;
    td_worst worst;
} stage;

#define LARGEST(type)                                                                                                  \
    for (size_t i = 0; i < count; i++) {                                                                               \
        type x;                                                                                                        \
        memcpy(&x, elems + i * sizeof x, sizeof x);                                                                    \
        x &= (type)judge->magnitude;                                                                                   \
        largest = x > largest ? x : largest;                                                                           \
    }                                                                                                                  \
    break

static bool all_finite(const td_judge *judge, const unsigned char *elems, size_t count)
{
    uint64_t largest = 0;
    switch (judge->dtype.bytes) {
    case 1:
        LARGEST(uint8_t);
    case 2:
        LARGEST(uint16_t);
    case 4:
        LARGEST(uint32_t);
    default:
        LARGEST(uint64_t);
    }
    return largest < judge->first_inf;
}

static bool accepts(const td_scan *s, stage *g, const unsigned char *expected, const unsigned char *actual,
                    size_t count)
{
    if (memcmp(expected, actual, count * s->golden->dtype.bytes) == 0 &&
        (!s->finite_alone || all_finite(s->judge, expected, count)))
        return true;
    return td_close_row(&s->close, &g->room, expected, actual, count, &g->worst);
}

/* A chunk whose elements follow each other on both sides; `stored` as the memory has them. */
static bool accepts_stored(const td_scan *s, stage *g, const unsigned char *expected, const unsigned char *stored,
                           uint64_t elem, size_t count)
{
    if (!s->convert)
        return accepts(s, g, expected, stored, count);
    td_convert_run(s->convert, g->actual, stored, count, elem, 1);
    return accepts(s, g, expected, g->actual, count);
}

static bool flush(const td_scan *s, stage *g)
{
    const size_t count = g->gathered;
    g->gathered = 0;
    return s->row_by_row && s->convert ? accepts(s, g, g->golden, g->actual, count)
                                       : accepts_stored(s, g, g->golden, g->stored, 0, count);
}

/* What the mask leaves out is expected to be what it is. */
static void apply_mask(const td_scan *s, stage *g, unsigned char *golden, const unsigned char *actual, uint64_t elem,
                       size_t count)
{
    const unsigned bytes = s->golden->dtype.bytes;
    for (size_t i = 0; i < count; i++)
        if (td_is_masked(s->mask, elem + i)) {
            g->masked++;
            memcpy(golden + i * bytes, actual + i * bytes, bytes);
        }
}

/* Rows of straight elements: `step` elements from one to the next in the tensor, `stride` bytes where they are stored. */
typedef struct sheet {
    const unsigned char *stored;
    int64_t elem, step, stride;
    uint64_t high, wide;
    unsigned stored_bytes;
} sheet;

static bool accepts_long_rows(const td_scan *s, stage *g, const sheet *t)
{
    const unsigned bytes = s->golden->dtype.bytes;
    for (uint64_t r = 0; r < t->high; r++) {
        const uint64_t elem = (uint64_t)(t->elem + (int64_t)r * t->step);
        const unsigned char *stored = t->stored + (int64_t)r * t->stride;
        for (uint64_t done = 0; done < t->wide; done += TD_CLOSE_ELEMS) {
            const uint64_t left = t->wide - done;
            if (!accepts_stored(s, g, s->golden->data + (elem + done) * bytes, stored + done * t->stored_bytes,
                                elem + done, (size_t)(left < TD_CLOSE_ELEMS ? left : TD_CLOSE_ELEMS)))
                return false;
        }
    }
    return true;
}

/* Short rows, `high` of `wide` elements that there is room for. */
static void gather(const td_scan *s, stage *g, const sheet *t, uint64_t elem, const unsigned char *stored, size_t high,
                   size_t wide)
{
    const unsigned bytes = s->golden->dtype.bytes;
    unsigned char *golden = g->golden + g->gathered * bytes, *kept = g->stored + g->gathered * t->stored_bytes,
                  *actual = g->actual + g->gathered * bytes;
    const ptrdiff_t row_bytes = (ptrdiff_t)(wide * bytes), stored_row = (ptrdiff_t)(wide * t->stored_bytes);
    s->copy(golden, row_bytes, s->golden->data + elem * bytes, t->step * bytes, high, wide * bytes, false);
    s->copy(kept, stored_row, stored, t->stride, high, wide * t->stored_bytes, false);
    g->gathered += high * wide;
    for (size_t r = 0; r < high && s->row_by_row; r++, golden += row_bytes, kept += stored_row, actual += row_bytes) {
        const uint64_t first = elem + (uint64_t)((int64_t)r * t->step);
        if (s->convert)
            td_convert_run(s->convert, actual, kept, wide, first, 1);
        if (s->mask)
            apply_mask(s, g, golden, s->convert ? actual : kept, first, wide);
    }
}

static bool accepts_sheet(const td_scan *s, stage *g, const sheet *t)
{
    if (t->wide >= LONG_ROW && !s->mask)
        return accepts_long_rows(s, g, t);
    for (uint64_t r = 0, at = 0; r < t->high;) {
        const uint64_t room = TD_CLOSE_ELEMS - g->gathered, left = t->wide - at;
        const uint64_t elem = (uint64_t)(t->elem + (int64_t)r * t->step) + at;
        const unsigned char *stored = t->stored + (int64_t)r * t->stride + at * t->stored_bytes;
        if (at == 0 && t->wide <= room) {
            const uint64_t rows = room / t->wide < t->high - r ? room / t->wide : t->high - r;
            gather(s, g, t, elem, stored, (size_t)rows, (size_t)t->wide);
            r += rows;
        } else {
            const uint64_t count = left < room ? left : room;
            gather(s, g, t, elem, stored, 1, (size_t)count);
            at = count < left ? at + count : 0;
            r += count == left;
        }
        if (g->gathered == TD_CLOSE_ELEMS && !flush(s, g))
            return false;
    }
    return true;
}

/* -- slabs --------------------------------------------------------------------------------------------------------- */

/* The rows of a slab, a sheet of them at a time. */
static bool accepts_nodes(const td_scan *s, stage *g, const td_slabs *of, size_t level, const unsigned char *stored,
                          int64_t elem)
{
    const unsigned bytes = s->golden->dtype.bytes;
    const size_t outer = of->node_count - of->row_nodes;
    if (level + 1 < outer) {
        for (uint64_t i = 0; i < of->extent[level]; i++, stored += of->stride[level], elem += of->node[level].tensor)
            if (!accepts_nodes(s, g, of, level + 1, stored, elem))
                return false;
        return true;
    }
    sheet t = {.stored = stored,
               .elem = elem,
               .high = 1,
               .wide = of->row_elems,
               .stored_bytes = of->plan ? of->plan->memory_dtype.bytes : bytes};
    if (level < outer) {
        t.high = of->extent[level];
        t.step = of->node[level].tensor;
        t.stride = of->stride[level];
    }
    return s->in_chunks ? accepts_sheet(s, g, &t)
                        : s->equal(stored, t.stride, s->golden->data + elem * bytes, t.step * bytes, (size_t)t.high,
                                   (size_t)t.wide * bytes);
}

/* Lanes in pieces have no rows: one element after the other. */
static bool accepts_lanes(const td_scan *s, stage *g, const td_slab *slab)
{
    const unsigned bytes = s->golden->dtype.bytes, stored_bytes = slab->of->plan->memory_dtype.bytes;
    for (uint64_t n = 0; n < slab->of->elems; n++) {
        const sheet t = {.stored = slab->stored + n * stored_bytes,
                         .elem = (int64_t)td_slab_elem(slab, n),
                         .high = 1,
                         .wide = 1,
                         .stored_bytes = stored_bytes};
        if (s->in_chunks ? !accepts_sheet(s, g, &t) : memcmp(t.stored, s->golden->data + t.elem * bytes, bytes) != 0)
            return false;
    }
    return true;
}

static bool accepts_slab(const td_scan *s, stage *g, const td_slab *slab)
{
    g->gathered = 0;
    g->masked = 0;
    const bool all =
        slab->of->piece ? accepts_lanes(s, g, slab) : accepts_nodes(s, g, slab->of, 0, slab->stored, slab->tensor);
    return all && (!g->gathered || flush(s, g));
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

typedef struct shared {
    const td_scan *scan;
    const td_slabs *slabs;
    uint64_t first;
    size_t count;
    unsigned pieces;
    bool *left;
    uint64_t masked[TD_POOL_PIECES]; /* each by the first piece of those that were done together */
    td_worst worst[TD_POOL_PIECES];
} shared;

static void scan_pieces(void *context, unsigned first, unsigned past)
{
    shared *c = context;
    const size_t begin = c->count * first / c->pieces, end = c->count * past / c->pieces;
    const unsigned mode = td_mode_enter();
    stage g;
    g.worst = c->worst[first];
    for (size_t i = begin; i < end; i++) {
        td_slab slab;
        td_slab_take(c->slabs, c->first + i, g.slab, &slab);
        c->left[i] = !accepts_slab(c->scan, &g, &slab);
        c->masked[first] += c->left[i] ? 0 : g.masked;
    }
    c->worst[first] = g.worst;
    td_mode_leave(mode);
}

void td_scan_slabs(const td_scan *scan, const td_slabs *slabs, uint64_t first, size_t count, bool *left,
                   uint64_t *masked, td_worst *worst)
{
    if (scan->never) {
        memset(left, true, count * sizeof *left);
        return;
    }
    shared c = {.scan = scan, .slabs = slabs, .first = first, .count = count, .left = left, .pieces = 1};
    if (!slabs->own_buffer)
        c.pieces = td_pool_pieces(count * slabs->elems * scan->golden->dtype.bytes, count);
    for (unsigned i = 0; i < c.pieces; i++)
        c.worst[i] = *worst;
    td_pool_run(c.pieces, scan_pieces, &c);
    for (unsigned i = 0; i < c.pieces; i++) {
        *masked += c.masked[i];
        worst->error = c.worst[i].error > worst->error ? c.worst[i].error : worst->error;
        worst->ulp = c.worst[i].ulp > worst->ulp ? c.worst[i].ulp : worst->ulp;
    }
}
