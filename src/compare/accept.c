/* Tests slabs for acceptance as a whole (accept.h). Bytes that must be equal are compared where they lie. Values
 * that have to be converted pass in blocks through buffers that stay in the first-level cache. While one slab is
 * compared, the lines of the next are prefetched. Called by judging.c. */
#include "compare/accept.h"

#include "base/cpu.h"
#include "base/fp_mode.h"
#include "base/pool.h"
#include "kernels/bits.h"

#include <string.h>

/* Less than this is in a cache already, or the processor prefetches it by itself. */
#define FAR_BYTES ((uint64_t)512 << 10)
/* Rows from this length on are compared in memory's order. */
#define ROW_BYTES 16u
#define VALUES_ROW_BYTES 32u
#define PLAIN_VALUES_ROW_BYTES 256u /* without AVX-512, whose kernels take shorter ones */

bool td_is_masked(const td_tensor *mask, uint64_t elem)
{
    return mask &&
           !(td_get_elem(mask->data + elem * mask->dtype.bytes, mask->dtype.bytes) & td_dtype_mask(mask->dtype));
}

static unsigned row_bytes(bool by_value)
{
    return !by_value ? ROW_BYTES : td_cpu_flags() & TD_CPU_AVX512 ? VALUES_ROW_BYTES : PLAIN_VALUES_ROW_BYTES;
}

static td_equal_fn transposed_of(const td_equal_kernels *k, unsigned bytes)
{
    return bytes == 1   ? k->transposed_x8
           : bytes == 2 ? k->transposed_x16
           : bytes == 4 ? k->transposed_x32
                        : k->transposed_x64;
}

typedef struct kernels {
    unsigned cpu_flags;
    td_equal_kernels equal;
    td_move_kernels move;
} kernels;

/* A thread fills the tables again only when the instruction sets have changed. */
static const kernels *find_kernels(void)
{
    static _Thread_local kernels last;
    const unsigned flags = td_cpu_flags();
    if (!last.equal.rows || last.cpu_flags != flags) {
        td_equal_init(&last.equal, flags);
        td_move_init(&last.move, flags);
        last.cpu_flags = flags;
    }
    return &last;
}

void td_accept_init(const td_judge *judge, const td_tensor *golden, const td_tensor *mask, const td_convert *convert,
                    td_accept *out)
{
    const unsigned bytes = golden->dtype.bytes;
    const kernels *k = find_kernels();
    out->golden = golden;
    out->mask = mask;
    out->convert = convert;
    out->judge = judge;
    out->never = false;
    out->only_finite = !judge->bits_decide;
    out->by_value = judge->policy.tolerant || mask || convert || out->only_finite;
    out->wish = (td_slab_wish){
        .tensor_bytes = bytes, .row_elems = row_bytes(out->by_value) / bytes, .transposed = !out->by_value};
    out->equal = k->equal.rows;
    out->equal_transposed = transposed_of(&k->equal, bytes);
    out->copy = k->move.copy;
    td_tolerance_prepare(judge, &out->tolerance);
    if (out->tolerance.quick_transposed && !mask && !convert)
        out->wish.transposed = true;
}

/* -- blocks of values ---------------------------------------------------------------------------------------------- */

typedef struct scratch {
    _Alignas(64) unsigned char slab[TD_SLAB_BYTES];
    _Alignas(64) unsigned char golden[TD_TOLERANCE_ELEMS * 8], stored[TD_TOLERANCE_ELEMS * 8],
        actual[TD_TOLERANCE_ELEMS * 8];
    td_tolerance_scratch tolerance;
    td_ahead ahead;  /* from this slab to the next: of the tensor, and of what is stored where it is seen in place */
    bool far;        /* large enough that prefetching pays */
    unsigned skips;  /* transposed slabs that are taken out at once, as in tolerance.h */
    size_t gathered; /* elements in golden, and in stored or actual */
    uint64_t masked;
    td_worst worst;
} scratch;

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

static bool rows_are_finite(const td_judge *judge, const td_tolerance_rows *b)
{
    for (size_t r = 0; r < b->rows; r++)
        if (!all_finite(judge, b->expected + (ptrdiff_t)r * b->expected_stride, b->count))
            return false;
    return true;
}

static bool accepts(const td_accept *s, scratch *g, const td_tolerance_rows *b)
{
    if (s->equal(b->expected, b->expected_stride, b->actual, b->actual_stride, b->rows,
                 b->count * s->golden->dtype.bytes, (td_ahead){0, 0}) &&
        (!s->only_finite || rows_are_finite(s->judge, b)))
        return true;
    return td_tolerance_accepts(&s->tolerance, &g->tolerance, b, &g->worst);
}

/* Rows of contiguous elements: `step` elements from one to the next in the tensor, `stride` bytes where they are
 * stored. */
typedef struct panel {
    const unsigned char *stored;
    int64_t elem, step, stride;
    uint64_t high, wide;
    unsigned stored_bytes;
} panel;

/* Rows [r, r + rows) of a panel, elements [at, at + count) of each. */
static bool accepts_block(const td_accept *s, scratch *g, const panel *t, uint64_t r, size_t rows, uint64_t at,
                          size_t count)
{
    const ptrdiff_t bytes = s->golden->dtype.bytes;
    const int64_t elem = t->elem + (int64_t)r * t->step + (int64_t)at;
    td_tolerance_rows b = {.expected = s->golden->data + elem * bytes,
                           .expected_stride = t->step * bytes,
                           .actual = t->stored + (int64_t)r * t->stride + at * t->stored_bytes,
                           .actual_stride = t->stride,
                           .rows = rows,
                           .count = count};
    if (g->ahead.a)
        td_prefetch_rows(b.expected, b.expected_stride, rows, count * (size_t)bytes, g->ahead.a);
    if (g->ahead.b)
        td_prefetch_rows(b.actual, b.actual_stride, rows, count * t->stored_bytes, g->ahead.b);
    if (s->convert) {
        td_convert_rows(s->convert, &(td_convert_block){.dst = g->actual,
                                                        .src = b.actual,
                                                        .dst_stride = (ptrdiff_t)count * bytes,
                                                        .src_stride = t->stride,
                                                        .rows = rows,
                                                        .n = count,
                                                        .first = (uint64_t)elem,
                                                        .row_step = t->step,
                                                        .step = 1,
                                                        .far = g->far});
        b.actual = g->actual;
        b.actual_stride = (ptrdiff_t)count * bytes;
    }
    return accepts(s, g, &b);
}

static bool accepts_values(const td_accept *s, scratch *g, const panel *t)
{
    const uint64_t most = t->wide < TD_TOLERANCE_ELEMS ? TD_TOLERANCE_ELEMS / t->wide : 1;
    for (uint64_t r = 0, rows = 0; r < t->high; r += rows) {
        rows = t->high - r < most ? t->high - r : most;
        for (uint64_t at = 0, count = 0; at < t->wide; at += count) {
            count = t->wide - at < TD_TOLERANCE_ELEMS ? t->wide - at : TD_TOLERANCE_ELEMS;
            if (!accepts_block(s, g, t, r, (size_t)rows, at, (size_t)count))
                return false;
        }
    }
    return true;
}

/* -- values behind a mask ------------------------------------------------------------------------------------------ */

static bool flush(const td_accept *s, scratch *g)
{
    const td_tolerance_rows b = {
        .expected = g->golden, .actual = s->convert ? g->actual : g->stored, .rows = 1, .count = g->gathered};
    g->gathered = 0;
    return accepts(s, g, &b);
}

/* Elements that the mask leaves out get the actual value as the expected one. */
static void apply_mask(const td_accept *s, scratch *g, unsigned char *golden, const unsigned char *actual,
                       uint64_t elem, size_t count)
{
    const unsigned bytes = s->golden->dtype.bytes;
    for (size_t i = 0; i < count; i++)
        if (td_is_masked(s->mask, elem + i)) {
            g->masked++;
            memcpy(golden + i * bytes, actual + i * bytes, bytes);
        }
}

/* Appends `high` rows of `wide` elements, which fit, to the gathered ones. */
static void gather(const td_accept *s, scratch *g, const panel *t, uint64_t elem, const unsigned char *stored,
                   size_t high, size_t wide)
{
    const unsigned bytes = s->golden->dtype.bytes;
    unsigned char *golden = g->golden + g->gathered * bytes, *kept = g->stored + g->gathered * t->stored_bytes,
                  *actual = g->actual + g->gathered * bytes;
    const ptrdiff_t row_bytes = (ptrdiff_t)(wide * bytes), stored_row = (ptrdiff_t)(wide * t->stored_bytes);
    s->copy(golden, row_bytes, s->golden->data + elem * bytes, t->step * bytes, high, wide * bytes, false);
    s->copy(kept, stored_row, stored, t->stride, high, wide * t->stored_bytes, false);
    g->gathered += high * wide;
    for (size_t r = 0; r < high; r++, golden += row_bytes, kept += stored_row, actual += row_bytes) {
        const uint64_t first = elem + (uint64_t)((int64_t)r * t->step);
        if (s->convert)
            td_convert_run(s->convert, actual, kept, wide, first, 1);
        apply_mask(s, g, golden, s->convert ? actual : kept, first, wide);
    }
}

static bool accepts_masked(const td_accept *s, scratch *g, const panel *t)
{
    for (uint64_t r = 0, at = 0; r < t->high;) {
        const uint64_t space = TD_TOLERANCE_ELEMS - g->gathered, left = t->wide - at;
        const uint64_t elem = (uint64_t)(t->elem + (int64_t)r * t->step) + at;
        const unsigned char *stored = t->stored + (int64_t)r * t->stride + at * t->stored_bytes;
        if (at == 0 && t->wide <= space) {
            const uint64_t rows = space / t->wide < t->high - r ? space / t->wide : t->high - r;
            gather(s, g, t, elem, stored, (size_t)rows, (size_t)t->wide);
            r += rows;
        } else {
            const uint64_t count = left < space ? left : space;
            gather(s, g, t, elem, stored, 1, (size_t)count);
            at = count < left ? at + count : 0;
            r += count == left;
        }
        if (g->gathered == TD_TOLERANCE_ELEMS && !flush(s, g))
            return false;
    }
    return true;
}

/* -- slabs --------------------------------------------------------------------------------------------------------- */

static bool accepts_panel(const td_accept *s, scratch *g, const panel *t)
{
    const ptrdiff_t bytes = s->golden->dtype.bytes;
    if (s->mask)
        return accepts_masked(s, g, t);
    return s->by_value ? accepts_values(s, g, t)
                       : s->equal(s->golden->data + t->elem * bytes, t->step * bytes, t->stored, t->stride,
                                  (size_t)t->high, (size_t)t->wide * (size_t)bytes, g->ahead);
}

/* The rows of a slab, a panel of them at a time. */
static bool accepts_rows(const td_accept *s, scratch *g, const td_slab *slab)
{
    const td_slabs *of = slab->of;
    panel t = {.high = 1,
               .wide = of->row_elems,
               .stored_bytes = of->plan ? of->plan->memory_dtype.bytes : s->golden->dtype.bytes};
    if (of->row_nodes < of->node_count) {
        t.high = of->extent[of->panel];
        t.step = of->node[of->panel].tensor;
        t.stride = of->stride[of->panel];
    }
    td_walk w;
    for (td_walk_begin(&w, of->panel_loop, of->panel_loops, (td_at){.tensor = slab->tensor + of->lane_tensor}); w.more;
         td_walk_next(&w)) {
        t.stored = slab->stored + w.at.memory;
        t.elem = w.at.tensor;
        if (!accepts_panel(s, g, &t))
            return false;
    }
    return true;
}

/* A slab that memory holds transposed, block by block. */
static bool accepts_transposed(const td_accept *s, scratch *g, const td_slab *slab)
{
    const td_slabs *of = slab->of;
    const int64_t bytes = s->golden->dtype.bytes;
    const td_node *last = &of->node[of->node_count - 1], *unit = &of->node[of->unit];
    td_tolerance_rows b = {.expected_stride = unit->tensor * bytes,
                           .actual_stride = last->memory / 8,
                           .rows = (size_t)of->extent[of->node_count - 1],
                           .count = (size_t)of->extent[of->unit]};
    td_walk w;
    for (td_walk_begin(&w, of->block_loop, of->block_loops, (td_at){.tensor = slab->tensor}); w.more;
         td_walk_next(&w)) {
        b.expected = s->golden->data + w.at.tensor * bytes;
        b.actual = slab->stored + w.at.memory;
        if (!(s->by_value ? td_tolerance_accepts_transposed(&s->tolerance, &b, g->ahead, &g->worst)
                          : s->equal_transposed(b.expected, b.expected_stride, b.actual, b.actual_stride, b.rows,
                                                b.count, g->ahead)))
            return false;
    }
    return true;
}

/* A slab that is not accepted in place may still be accepted once it is taken out. */
static bool accepts_in_place(const td_accept *s, scratch *g, const td_slab *slab)
{
    if (g->skips) {
        g->skips--;
        return false;
    }
    const bool all = accepts_transposed(s, g, slab);
    g->skips = all || !s->by_value ? 0 : TD_TOLERANCE_SKIPS;
    return all;
}

/* Lanes that the tensor has apart: their elements are brought together as the slab has them. */
static bool accepts_gathered(const td_accept *s, scratch *g, const td_slab *slab)
{
    const td_slabs *of = slab->of;
    const unsigned bytes = s->golden->dtype.bytes;
    td_tolerance_rows b = {.expected = g->golden, .actual = slab->stored, .rows = 1};
    td_node node[TD_SLAB_NODES];
    for (size_t i = 0; i < of->node_count; i++)
        node[i] = (td_node){.extent = of->extent[i], .tensor = of->node[i].tensor};
    td_walk w;
    for (td_walk_begin(&w, node, of->node_count, (td_at){.tensor = slab->tensor}); w.more; td_walk_next(&w))
        for (uint64_t lane = 0; lane < of->lanes; lane++) {
            const int64_t elem = w.at.tensor + of->piece[of->lane_piece[lane]].tensor;
            memcpy(g->golden + b.count * bytes, s->golden->data + elem * bytes, bytes);
            if (++b.count < TD_TOLERANCE_ELEMS)
                continue;
            if (!accepts(s, g, &b))
                return false;
            b.actual += b.count * bytes;
            b.count = 0;
        }
    return b.count == 0 || accepts(s, g, &b);
}

/* The same where values are converted or left out: elements are compared one by one. */
static bool accepts_lanes(const td_accept *s, scratch *g, const td_slab *slab)
{
    if (!s->mask && !s->convert)
        return accepts_gathered(s, g, slab);
    const unsigned stored_bytes = slab->of->plan->memory_dtype.bytes;
    for (uint64_t n = 0; n < slab->of->elems; n++) {
        const panel t = {.stored = slab->stored + n * stored_bytes,
                         .elem = (int64_t)td_slab_elem(slab, n),
                         .high = 1,
                         .wide = 1,
                         .stored_bytes = stored_bytes};
        if (!accepts_panel(s, g, &t))
            return false;
    }
    return true;
}

static bool accepts_slab(const td_accept *s, scratch *g, td_slab_taker *taker, td_slab *slab)
{
    const td_slabs *of = slab->of;
    g->gathered = 0;
    g->masked = 0;
    if (of->way == TD_SLAB_TRANSPOSED) {
        if (accepts_in_place(s, g, slab))
            return true;
        if (!s->by_value)
            return false;
        g->ahead.b = 0; /* the buffer is in the cache */
    }
    td_slab_take(taker, g->slab, slab);
    const bool all = of->piece && !of->lane_rows ? accepts_lanes(s, g, slab) : accepts_rows(s, g, slab);
    return all && (!g->gathered || flush(s, g));
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

typedef struct shared {
    const td_accept *accept;
    const td_slabs *slabs;
    uint64_t first;
    size_t count;
    unsigned parts;
    bool *left;
    uint64_t masked[TD_POOL_PARTS]; /* per call of accept_parts, by its first part */
    td_worst worst[TD_POOL_PARTS];
} shared;

/* Prepares the prefetch of the next slab while this one is compared. */
static void look_ahead(const td_accept *s, scratch *g, const td_slab *slab, const td_slab *next)
{
    const int64_t elems = next->tensor - slab->tensor;
    g->ahead = (td_ahead){0, 0};
    if (!g->far || (slab->of->row_nodes == slab->of->node_count && elems == (int64_t)slab->of->elems))
        return; /* the processor prefetches a contiguous run by itself */
    g->ahead.a = (ptrdiff_t)elems * s->golden->dtype.bytes;
    if (next->of->way == TD_SLAB_TAKEN)
        td_slab_prefetch(next);
    else
        g->ahead.b = (ptrdiff_t)((uintptr_t)next->stored - (uintptr_t)slab->stored);
}

static void accept_parts(void *context, unsigned first, unsigned past)
{
    shared *c = context;
    const size_t begin = c->count * first / c->parts, end = c->count * past / c->parts;
    const unsigned mode = td_mode_enter();
    td_slab_taker taker;
    td_slab slab, next;
    scratch g;
    g.worst = c->worst[first];
    g.tolerance.skips = 0;
    g.skips = 0;
    g.far = c->slabs->count * c->slabs->elems * c->accept->golden->dtype.bytes >= FAR_BYTES;
    td_slab_taker_init(c->slabs, &taker);
    td_slab_find(c->slabs, c->first + begin, &next);
    for (size_t i = begin; i < end; i++) {
        slab = next;
        if (i + 1 < end)
            td_slab_find(c->slabs, c->first + i + 1, &next);
        look_ahead(c->accept, &g, &slab, &next);
        c->left[i] = !accepts_slab(c->accept, &g, &taker, &slab);
        c->masked[first] += c->left[i] ? 0 : g.masked;
    }
    c->worst[first] = g.worst;
    td_mode_leave(mode);
}

void td_accept_slabs(const td_accept *accept, const td_slabs *slabs, uint64_t first, size_t count, bool *left,
                     uint64_t *masked, td_worst *worst)
{
    if (accept->never) {
        memset(left, true, count * sizeof *left);
        return;
    }
    shared c = {.accept = accept, .slabs = slabs, .first = first, .count = count, .left = left, .parts = 1};
    if (!slabs->own_buffer)
        c.parts = td_pool_parts(count * slabs->elems * accept->golden->dtype.bytes, count);
    for (unsigned i = 0; i < c.parts; i++)
        c.worst[i] = *worst;
    td_pool_run(c.parts, accept_parts, &c);
    for (unsigned i = 0; i < c.parts; i++) {
        *masked += c.masked[i];
        worst->error = c.worst[i].error > worst->error ? c.worst[i].error : worst->error;
        worst->ulp = c.worst[i].ulp > worst->ulp ? c.worst[i].ulp : worst->ulp;
    }
}
