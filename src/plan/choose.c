/* From boxes to moves, once per plan: the kernel of every data box in each direction, the blocks that it gets, and,
 * once the order of the loops is known (loop_order.c, loop_tune.c), what depends on that. Called by compile.c. A box
 * that none of the kernels fits keeps TD_MOVE_NONE. */
#include "base/cpu.h"
#include "base/thresholds.h"
#include "plan/nest.h"
#include "plan/passes.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64

/* Bytes of the elements that are moved: those of the narrower dtype, where the two differ and values are converted. */
static uint8_t narrow_bytes(const td_plan *plan)
{
    return plan->memory_dtype.bytes < plan->tensor_dtype.bytes ? plan->memory_dtype.bytes : plan->tensor_dtype.bytes;
}

/* Memory bits per byte that is moved. */
static int64_t memory_unit_bits(const td_plan *plan)
{
    return 8 * (int64_t)(plan->memory_dtype.bytes / narrow_bytes(plan));
}

/* True when the element fills whole bytes in memory, every place is at a byte, and every step is a whole number of
 * elements. */
static bool is_bytes(const td_plan *plan, const td_box *box)
{
    if (box->piece_count || plan->memory_dtype.bits != 8 * plan->memory_dtype.bytes || box->memory % 8)
        return false;
    for (size_t i = 0; i < box->node_count; i++)
        if (plan->node[box->first_node + i].memory % (i < box->selectors ? 8 : memory_unit_bits(plan)))
            return false;
    return box->node_count - box->selectors <= TD_MOVE_LOOPS;
}

/* The inner nodes in bytes of the narrower type. A dump reads one copy of each element. */
static void collect(const td_plan *plan, const td_box *box, bool dump, td_nest *out)
{
    const int64_t bytes = narrow_bytes(plan);
    *out = (td_nest){.elem = (uint64_t)bytes};
    for (size_t i = box->selectors; i < box->node_count; i++) {
        const td_node *n = &plan->node[box->first_node + i];
        const int64_t memory = n->memory / memory_unit_bits(plan), tensor = n->tensor * bytes;
        if (dump && n->tensor == 0)
            continue;
        out->loop[out->count++] =
            (td_loop){.extent = n->extent, .dst = dump ? tensor : memory, .src = dump ? memory : tensor};
    }
}

/* A loop that goes backward on both sides, or backward through neighbours on one, begins at its other end: so that
 * every kernel for neighbours serves it. */
static void flip_loops(td_nest *n, td_move *m)
{
    const int64_t elem = (int64_t)n->elem;
    for (size_t i = 0; i < n->count; i++) {
        td_loop *loop = &n->loop[i];
        const bool both = loop->dst < 0 && loop->src < 0, dst = loop->dst == -elem && loop->src != elem,
                   src = loop->src == -elem && loop->dst != elem;
        if (!both && !dst && !src)
            continue;
        m->dst_first += loop->dst * (int64_t)(loop->extent - 1);
        m->src_first += loop->src * (int64_t)(loop->extent - 1);
        loop->dst = -loop->dst;
        loop->src = -loop->src;
    }
}

/* Elements that are neighbours on both sides are one longer element. */
static void widen(td_nest *n)
{
    for (size_t i = 0; i < n->count;) {
        const int64_t elem = (int64_t)n->elem;
        if (n->loop[i].dst == elem && n->loop[i].src == elem) {
            n->elem *= n->loop[i].extent;
            td_nest_drop(n, i);
            i = 0;
        } else
            i++;
    }
}

/* The longest loop whose step on one side is one element; count when there is none. */
size_t td_nest_unit(const td_nest *n, bool dst)
{
    size_t best = n->count;
    for (size_t i = 0; i < n->count; i++)
        if ((dst ? n->loop[i].dst : n->loop[i].src) == (int64_t)n->elem &&
            (best == n->count || n->loop[i].extent > n->loop[best].extent))
            best = i;
    return best;
}

td_move_fn td_transpose_of(const td_move_kernels *k, uint64_t elem)
{
    switch (elem) {
#define X(name, size, rule)                                                                                            \
    case size:                                                                                                         \
        return k->name;
        X(transpose_x8, 1, transpose)
        X(transpose_x16, 2, transpose)
        X(transpose_x32, 4, transpose)
        X(transpose_x64, 8, transpose)
        X(transpose_x128, 16, transpose)
        X(transpose_x256, 32, transpose)
        TD_MOVE_ODD_KERNELS(X)
#undef X
    default:
        return NULL;
    }
}

td_move_fn td_interleave_of(const td_move_kernels *k, uint64_t elem)
{
    return elem == 1   ? k->interleave_x8
           : elem == 2 ? k->interleave_x16
           : elem == 4 ? k->interleave_x32
           : elem == 8 ? k->interleave_x64
                       : NULL;
}

static td_move_fn deinterleave_of(const td_move_kernels *k, uint64_t elem)
{
    return elem == 1   ? k->deinterleave_x8
           : elem == 2 ? k->deinterleave_x16
           : elem == 4 ? k->deinterleave_x32
           : elem == 8 ? k->deinterleave_x64
                       : NULL;
}

/* Few enough lanes for a kernel of their own: vectors of the contiguous side hold whole groups of them. */
bool td_few_lanes(uint64_t lanes, uint64_t bytes, uint64_t most)
{
    return bytes <= most && ((lanes & (lanes - 1)) == 0 || lanes == 3);
}

/* Two different contiguous axes: a transpose, or one of its short forms. */
static bool choose_transpose(const td_kernels *k, td_nest *n, td_move *m)
{
    const size_t h = td_nest_unit(n, true), w = td_nest_unit(n, false);
    if (!td_transpose_of(&k->move, n->elem) || h == n->count || w == n->count || h == w)
        return false;
    const td_loop high = n->loop[h], wide = n->loop[w];
    const uint64_t few_bytes = k->cpu_flags & TD_CPU_AVX512 && n->elem >= 4 ? 16 : 12;
    m->kind = TD_MOVE_TRANSPOSE;
    m->fn = td_transpose_of(&k->move, n->elem);
    if (wide.dst == (int64_t)(high.extent * n->elem) && td_few_lanes(high.extent, high.extent * n->elem, 32) &&
        td_interleave_of(&k->move, n->elem)) {
        m->kind = TD_MOVE_INTERLEAVE;
        m->fn = td_interleave_of(&k->move, n->elem);
    } else if (high.src == (int64_t)(wide.extent * n->elem) &&
               td_few_lanes(wide.extent, wide.extent * n->elem, few_bytes) && deinterleave_of(&k->move, n->elem)) {
        m->kind = TD_MOVE_DEINTERLEAVE;
        m->fn = deinterleave_of(&k->move, n->elem);
    }
    m->elem_bytes = (uint8_t)n->elem;
    m->high = high.extent;
    m->wide = wide.extent;
    m->dst_stride = wide.dst;
    m->src_stride = high.src;
    td_nest_drop(n, h > w ? h : w);
    td_nest_drop(n, h > w ? w : h);
    return true;
}

/* Anything else is runs: the last loop of the order is their rows. */
static void choose_runs(const td_kernels *k, const td_nest *n, td_move *m)
{
    m->kind = TD_MOVE_RUNS;
    m->fn = k->move.copy;
    m->elem_bytes = 1;
    m->high = 1;
    m->wide = n->elem;
}

/* Where a list of shuffles was faster than transposes and interleaves: small blocks inside other loops, and few lanes
 * that no kernel is made for; bytes of those that are taken apart. */
#define SHORT_BLOCK_BYTES 256
#define SHORT_LANES 8
#define SHORT_LANES_BYTES 28
#define APART_BYTES 6

static bool is_slow(const td_kernels *k, const td_move *m, size_t loops)
{
    const uint64_t lanes = m->high < m->wide ? m->high : m->wide, bytes = lanes * m->elem_bytes;
    if (loops && m->high * m->wide * m->elem_bytes < SHORT_BLOCK_BYTES)
        return true;
    if (m->kind != TD_MOVE_TRANSPOSE)
        return lanes == 3 && !(k->cpu_flags & TD_CPU_AVX512);
    const bool odd = m->elem_bytes & (m->elem_bytes - 1);
    return odd || m->high < m->wide ? lanes <= SHORT_LANES && bytes <= SHORT_LANES_BYTES : bytes <= APART_BYTES;
}

/* Blocks that take longer by vectors than their elements do one by one: a call for each is too much, or most of a
 * vector is empty. */
#define TINY_BLOCK_BYTES 128u
#define TINY_LANES_BYTES 8

static bool is_tiny(const td_kernels *k, const td_move *m, size_t loops)
{
    /* With masks, few columns of enough rows are whole vectors all the same. */
    const bool whole = k->cpu_flags & TD_CPU_AVX512 && m->high * m->elem_bytes >= LINE;
    const uint64_t lanes = whole || m->high < m->wide ? m->high : m->wide, block = m->high * m->wide * m->elem_bytes;
    return (loops && block < (whole ? TINY_BLOCK_BYTES : TINY_BLOCK_BYTES + 1)) ||
           (m->kind == TD_MOVE_TRANSPOSE && (lanes * m->elem_bytes < TINY_LANES_BYTES || lanes <= 2));
}

/* Cycles for each element, as measured: what a fold is held against. */
#define PLACE_COST 1.2
#define WHOLE_COST .15  /* for each byte of it, where most of a vector is elements */
#define MASKED_COST .25 /* few columns of many rows */
#define RAGGED_COST .7
#define CALL_COST 30 /* for each block */

static double transpose_cost(const td_kernels *k, const td_move *m)
{
    const uint64_t lanes = m->high < m->wide ? m->high : m->wide, most = m->high < m->wide ? m->wide : m->high;
    const bool whole = m->kind != TD_MOVE_TRANSPOSE || lanes * m->elem_bytes >= 16;
    const bool masked = k->cpu_flags & TD_CPU_AVX512 && lanes * m->elem_bytes >= 8 && most * m->elem_bytes >= 48;
    return (whole    ? WHOLE_COST * m->elem_bytes
            : masked ? MASKED_COST
                     : RAGGED_COST) +
           CALL_COST / (double)(m->high * m->wide);
}

static double shuffle_cost(const td_shuffle *s)
{
    const uint64_t units = s->loop[s->unit].extent;
    if (units < s->at_once) /* they go one by one */
        return PLACE_COST;
    const uint64_t lists = (units + s->at_once - 1) / s->at_once;
    return ((double)lists * (2.5 * s->outputs + 1.5 * s->terms) + CALL_COST) / (double)(units * s->elems);
}

/* Axes shorter than a vector's lane, where the other kernels would move element by element or leave most of a vector
 * empty. Values cannot be converted inside a list. */
static bool choose_short(const td_plan *plan, const td_box *box, const td_kernels *k, td_nest *n, td_move *m)
{
    td_nest rest = *n;
    td_move other = *m;
    if (!td_dtype_equal(plan->tensor_dtype, plan->memory_dtype))
        return false;
    const bool transposes = choose_transpose(k, &rest, &other);
    if (transposes && !is_slow(k, &other, rest.count))
        return td_nest_fold(n, k, transpose_cost(k, &other), m);
    rest = *n;
    td_move shuffle = *m;
    if (td_nest_shuffle(&rest, transposes, k->cpu_flags, &shuffle)) {
        if (td_nest_fold(n, k, shuffle_cost(shuffle.shuffle), m)) {
            td_shuffle_free(shuffle.shuffle);
            return true;
        }
        *n = rest;
        *m = shuffle;
        return true;
    }
    if (td_nest_fold(n, k, transposes ? transpose_cost(k, &other) : PLACE_COST, m))
        return true;
    if (box->selectors) /* one list per word: choose_gather.c and stage.c know better */
        return false;
    return (!transposes || is_tiny(k, &other, rest.count)) && td_nest_places(n, m);
}

/* Cuts an axis into steps of `block`. */
static void cut(td_move *m, td_loop_of of, uint64_t block)
{
    const uint64_t total = of == TD_LOOP_HIGH ? m->high : m->wide;
    if (block >= total || m->loops == TD_MOVE_LOOPS)
        return;
    const int64_t size = (int64_t)(block * m->elem_bytes);
    td_loop loop = {.extent = (total + block - 1) / block, .block = block, .of = (uint8_t)of};
    if (m->kind == TD_MOVE_RUNS)
        loop.dst = loop.src = (int64_t)block;
    else if (m->kind == TD_MOVE_SHUFFLE) {
        loop.dst = (int64_t)block * m->dst_stride;
        loop.src = (int64_t)block * m->src_stride;
    } else if (m->kind == TD_MOVE_FOLD) {
        loop.dst = (int64_t)block * m->dst_stride;
        loop.src = (int64_t)block * m->src_stride;
    } else if (of == TD_LOOP_HIGH) {
        loop.dst = size;
        loop.src = (int64_t)block * m->src_stride;
    } else {
        loop.dst = (int64_t)block * m->dst_stride;
        loop.src = size;
    }
    m->loop[m->loops++] = loop;
}

/* Block sizes per kernel call: output rows of whole lines, two where they are streamed, four of narrow elements, whose
 * rows are written in more pieces than wider ones; long contiguous runs in parts, so that threads can share them. */
#define PART_BYTES ((uint64_t)64 << 10)
#define COPIED_BYTES ((uint64_t)128 << 10) /* of a long run with copies: each finds it in the second-level cache */

#define NARROW_ELEM 2      /* bytes */
#define LONG_ROW_BYTES 512 /* from here on a row that begins within a line is worth streaming between its ends */
#define TILE_ELEM 4        /* bytes of the elements that the threshold is for */

/* So many lines of input rows as the caches hold until all of each is used up: the narrower the elements, the more rows
 * are in a line of output. */
static uint64_t tile_bytes(const td_move *m)
{
    const uint64_t most = td_threshold(TD_THRESHOLD_TILE_BYTES), bytes = most * m->elem_bytes / TILE_ELEM;
    const uint64_t bounded = bytes < most / 2 ? most / 2 : bytes > 2 * most ? 2 * most : bytes;
    return bounded < LINE ? LINE : bounded;
}

static uint64_t row_bytes(const td_kernels *k, const td_move *m)
{
    if (!m->stream)
        return td_transpose_gathers(m->src_stride, m->elem_bytes)
                   ? td_threshold(TD_THRESHOLD_TILE_FAR_BYTES) /* many rows in few sets: by a scratch of the kernel */
                   : tile_bytes(m);
    if (!m->lines) /* both ends share a line with the next block, so long rows: fewer ends */
        return td_threshold(TD_THRESHOLD_TILE_FAR_BYTES);
    /* A single line left at the end would be stored with vectors shorter than a line, which is slow beside streamed
     * lines. */
    const uint64_t lines = m->high * m->elem_bytes / LINE;
    uint64_t step = m->elem_bytes <= NARROW_ELEM ? 4 : 2;
    while (!(k->cpu_flags & TD_CPU_AVX512) && lines > 1 && lines % step == 1)
        step++;
    return step * LINE;
}

/* What its scratches have room for; rows of whole lines, where they are cut. */
static uint64_t fold_units(const td_fold *f)
{
    const uint64_t units = TD_FOLD_BYTES / (f->rows * f->cols * f->elem);
    return f->unit_rows && units > LINE ? units / LINE * LINE : units;
}

/* A run that is written several times goes in parts, each to all its places: its copies become the rows of a block. */
static bool cut_copies(td_move *m)
{
    size_t i = m->loops;
    while (i-- > 0)
        if (m->loop[i].src == 0 && m->loop[i].extent > 1)
            break;
    if (m->kind != TD_MOVE_RUNS || i >= m->loops || m->wide <= COPIED_BYTES || m->high != 1)
        return false;
    m->high = m->loop[i].extent;
    m->dst_stride = m->loop[i].dst;
    m->src_stride = 0;
    m->loops--;
    memmove(&m->loop[i], &m->loop[i + 1], (m->loops - i) * sizeof m->loop[0]);
    cut(m, TD_LOOP_WIDE, COPIED_BYTES);
    return true;
}

static void block(const td_kernels *k, td_move *m)
{
    switch (m->kind) {
    case TD_MOVE_TRANSPOSE:
        cut(m, TD_LOOP_HIGH, row_bytes(k, m) / m->elem_bytes);
        break;
    case TD_MOVE_PICKS:
        cut(m, TD_LOOP_HIGH, 128u / m->elem_bytes);
        break;
    case TD_MOVE_INTERLEAVE:
        cut(m, TD_LOOP_WIDE, PART_BYTES / (m->high * m->elem_bytes) / LINE * LINE);
        break;
    case TD_MOVE_DEINTERLEAVE:
        cut(m, TD_LOOP_HIGH, PART_BYTES / (m->wide * m->elem_bytes) / LINE * LINE);
        break;
    case TD_MOVE_SHUFFLE:
        cut(m, TD_LOOP_WIDE,
            (PART_BYTES / ((uint64_t)m->shuffle->elems * m->shuffle->size) / m->shuffle->at_once + 1) *
                m->shuffle->at_once);
        break;
    case TD_MOVE_FOLD:
        cut(m, TD_LOOP_WIDE, fold_units(m->fold));
        break;
    default:
        if (!cut_copies(m))
            cut(m, TD_LOOP_WIDE, m->dst_scale == m->src_scale ? 16 * PART_BYTES : PART_BYTES);
    }
}

/* Every store is a whole line of the destination, given that its base is on one. */
static bool is_lines(const td_move *m, const td_nest *n)
{
    const uint64_t line = LINE / m->dst_scale;
    for (size_t i = 0; i < n->count; i++)
        if (n->loop[i].dst % (int64_t)line)
            return false;
    switch (m->kind) {
    case TD_MOVE_TRANSPOSE:
    case TD_MOVE_DEINTERLEAVE:
    case TD_MOVE_PICKS:
        return m->dst_stride % (int64_t)line == 0 && m->part_stride % (int64_t)line == 0 &&
               m->high * m->elem_bytes % line == 0;
    case TD_MOVE_SHUFFLE:
        return m->shuffle->lines;
    case TD_MOVE_FOLD:
        return false;
    case TD_MOVE_INTERLEAVE:
        return m->high * m->wide * m->elem_bytes % line == 0;
    default:
        return m->wide % line == 0;
    }
}

/* Rows that do not begin on a line are streamed except for their ends, so only long rows gain. */
static bool has_long_rows(const td_move *m)
{
    return (m->kind == TD_MOVE_TRANSPOSE && m->high * m->elem_bytes >= LONG_ROW_BYTES) ||
           (m->kind == TD_MOVE_RUNS && m->wide >= LONG_ROW_BYTES);
}

/* Threads share the outermost loop that has a step for each, or the longest there is. */
void td_move_choose_split(td_move *m, uint8_t loops, bool splits)
{
    uint64_t best = 1;
    for (uint8_t i = 0; i < loops && best < 16; i++)
        if (m->loop[i].extent > best) {
            best = m->loop[i].extent;
            m->split = i;
        }
    m->splits = splits && best > 1;
}

/* The strides of the wider side are those of its own elements. */
static void scale_sides(td_move *m)
{
    m->dst_stride *= m->dst_scale;
    m->part_stride *= m->dst_scale;
    m->src_stride *= m->src_scale;
    m->dst_first *= m->dst_scale;
    m->src_first *= m->src_scale;
    for (size_t i = 0; i < m->loops; i++) {
        m->loop[i].dst *= m->dst_scale;
        m->loop[i].src *= m->src_scale;
    }
}

static void choose_move(const td_plan *plan, const td_box *box, const td_kernels *k, bool dump, td_move *m)
{
    td_nest n;
    if (plan->in_order || !is_bytes(plan, box))
        return;
    const uint8_t memory = (uint8_t)(plan->memory_dtype.bytes / narrow_bytes(plan)),
                  tensor = (uint8_t)(plan->tensor_dtype.bytes / narrow_bytes(plan));
    m->tensor_first = !dump;
    m->dst_scale = dump ? tensor : memory;
    m->src_scale = dump ? memory : tensor;
    collect(plan, box, dump, &n);
    m->bytes = n.elem;
    for (size_t i = 0; i < n.count; i++)
        m->bytes *= n.loop[i].extent;
    m->bytes = m->bytes * (uint64_t)(m->dst_scale + m->src_scale) / 2; /* counts as a copy of that many bytes */
    flip_loops(&n, m);
    widen(&n);
    if (!td_nest_picks(&n, k, m) && !choose_short(plan, box, k, &n, m) && !choose_transpose(k, &n, m))
        choose_runs(k, &n, m);
    m->lines = is_lines(m, &n);
    m->stream = (m->lines || has_long_rows(m)) && td_stream_move(m, dump ? plan->part_of_bytes : plan->load_of_bytes);
    for (size_t i = 0; i < n.count; i++)
        m->loop[m->loops++] = n.loop[i];
    block(k, m);
}

td_status td_moves_choose(td_plan *plan, const td_kernels *k)
{
    plan->move = calloc(2 * plan->data_count + 1, sizeof *plan->move);
    if (!plan->move)
        return td_fail_alloc(2 * plan->data_count * sizeof *plan->move);
    for (size_t i = 0; i < 2 * plan->data_count; i++)
        choose_move(plan, &plan->data[i / 2], k, i % 2, &plan->move[i]);
    return TD_OK;
}

void td_move_take_rows(td_move *m)
{
    if (m->kind != TD_MOVE_RUNS || m->loops == 0 || m->loop[m->loops - 1].of != TD_LOOP_PLAIN)
        return;
    const td_loop rows = m->loop[--m->loops];
    m->high = rows.extent;
    m->dst_stride = rows.dst;
    m->src_stride = rows.src;
}

void td_moves_finish(td_plan *plan)
{
    for (size_t i = 0; i < 2 * plan->data_count; i++) {
        td_move *m = &plan->move[i];
        if (m->kind == TD_MOVE_NONE)
            continue;
        td_move_take_rows(m);
        scale_sides(m);
        td_move_choose_split(m, m->loops, !(i % 2 && plan->slides));
    }
}
