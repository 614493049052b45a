/* The words that a load fills before it writes data into them: which they are, with what, and which moves do it
 * themselves, block by block, so that a line is still in the first-level cache when its data comes. Called by
 * compile.c. Refuses nothing: a plan whose words cannot be filled (boxes.c says when) has its padding written lane by
 * lane. */
#include "kernels/bits.h"
#include "plan/passes.h"
#include "plan/walk.h"

#include <stdlib.h>

/* What a move fills at once: half of a small first-level cache, as the source needs the rest. */
#define FILL_BYTES ((uint64_t)16 << 10)

/* -- which words, and with what ------------------------------------------------------------------------------------ */

/* The padding in every lane of `value`; the bits of lanes are taken out of `keep`. */
static void fill_lanes(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes, uint64_t pad_bits,
                       unsigned char *value, unsigned char *keep)
{
    for (uint64_t lane = 0; lane < bound->count[TD_ROLE_LANE]; lane++) {
        td_piece piece[64];
        const size_t pieces = td_lanes_pieces(bound, request, lanes, lane, piece);
        for (size_t i = 0; i < pieces; i++) {
            td_put_bits(value, piece[i].memory, piece[i].bits, pad_bits >> piece[i].elem_bit);
            if (keep)
                td_put_bits(keep, piece[i].memory, piece[i].bits, 0);
        }
    }
}

td_status td_fills_find(const td_bound *bound, const td_plan_request *request, const td_lanes *lanes, td_plan *plan)
{
    const uint64_t bytes = plan->beats * plan->geometry.word_bytes;
    const bool leaves = td_lanes_leave_bits(bound, request), clip = bound->clip;
    /* Lanes past the tensor's end stay as they are; a word of one lane is written if that is not. */
    const unsigned char *clipped = clip && bound->ragged && bound->count[TD_ROLE_LANE] > 1 ? plan->lane_mask : NULL;
    const bool keeps = clip ? clipped != NULL : leaves && bound->layout->keep;
    size_t kept = 0;
    for (size_t i = 0; i < plan->fill_count; i++)
        if (plan->fill[i].pads || plan->lane_mask)
            plan->fill[kept++] = plan->fill[i];
    plan->fill_count = kept;
    if (!kept)
        return TD_OK;
    plan->fill_value = calloc(1, bytes);
    plan->fill_keep = keeps ? malloc(bytes) : NULL;
    if (!plan->fill_value || (keeps && !plan->fill_keep))
        return td_fail_alloc(2 * bytes);
    if (clipped)
        memcpy(plan->fill_keep, clipped, bytes);
    else if (keeps)
        memset(plan->fill_keep, 0xff, bytes);
    if (!clip)
        fill_lanes(bound, request, lanes, plan->pad_bits, plan->fill_value, plan->fill_keep);
    return TD_OK;
}

/* -- moves that fill their words ----------------------------------------------------------------------------------- */

/* The axes of a kernel's block, in the destination. */
typedef struct axis {
    uint64_t extent;
    int64_t dst;
    uint8_t of; /* td_loop_of: whose blocks it comes in */
} axis;

typedef struct block {
    axis axis[TD_FOLD_LOOPS];
    size_t axes;
    uint64_t run_bytes; /* without a gap */
} block;

static block block_of(const td_move *m)
{
    const uint64_t elem = (uint64_t)m->elem_bytes * m->dst_scale;
    block b = {.axes = 2, .run_bytes = elem};
    if (m->kind == TD_MOVE_RUNS) {
        b.axes = 1;
        b.axis[0] = (axis){m->high, m->dst_stride, TD_LOOP_HIGH};
        b.run_bytes = m->wide * m->dst_scale;
        return b;
    }
    if (m->kind == TD_MOVE_SHUFFLE) {
        b.run_bytes = m->shuffle->size;
        for (b.axes = 0; b.axes < m->shuffle->loops; b.axes++)
            b.axis[b.axes] = (axis){m->shuffle->loop[b.axes].extent, m->shuffle->loop[b.axes].dst,
                                    b.axes == m->shuffle->unit ? TD_LOOP_WIDE : TD_LOOP_PLAIN};
        return b;
    }
    if (m->kind == TD_MOVE_FOLD) {
        b.run_bytes = m->fold->elem;
        for (b.axes = 0; b.axes < m->fold->axes; b.axes++)
            b.axis[b.axes] = (axis){m->fold->axis[b.axes].extent, m->fold->axis[b.axes].dst,
                                    m->fold->axis[b.axes].unit ? TD_LOOP_WIDE : TD_LOOP_PLAIN};
        return b;
    }
    b.axis[0] = (axis){m->wide, m->dst_stride, TD_LOOP_WIDE};
    b.axis[1] = (axis){m->high, (int64_t)elem, TD_LOOP_HIGH};
    if (m->kind == TD_MOVE_PICKS)
        b.axis[b.axes++] = (axis){m->picks->parts, m->part_stride, TD_LOOP_PLAIN};
    return b;
}

/* True for steps inside a vector's words. */
static bool is_inside(int64_t dst, uint64_t bytes)
{
    return dst < (int64_t)bytes;
}

/* The axis that a loop over blocks belongs to, or NULL. */
static const axis *axis_of(const block *b, const td_loop *loop)
{
    for (size_t i = 0; i < b->axes; i++)
        if (loop->of != TD_LOOP_PLAIN && b->axis[i].of == loop->of)
            return &b->axis[i];
    return NULL;
}

static bool loop_is_inside(const block *b, const td_loop *loop, uint64_t bytes)
{
    const axis *a = axis_of(b, loop);
    return is_inside(a ? a->dst : loop->dst, bytes);
}

/* No step is both inside a vector and past its end, or backward. */
static bool stays_inside(const td_move *m, const block *b, const td_move_fill *f)
{
    uint64_t reach = (uint64_t)f->offset + b->run_bytes;
    for (size_t i = 0; i < b->axes; i++) {
        if (b->axis[i].extent > 1 && b->axis[i].dst <= 0)
            return false;
        if (b->axis[i].extent > 1 && is_inside(b->axis[i].dst, f->bytes))
            reach += (b->axis[i].extent - 1) * (uint64_t)b->axis[i].dst;
    }
    for (size_t i = 0; i < m->loops; i++) {
        if (m->loop[i].extent > 1 && m->loop[i].dst <= 0)
            return false;
        if (m->loop[i].of == TD_LOOP_PLAIN && is_inside(m->loop[i].dst, f->bytes))
            reach += (m->loop[i].extent - 1) * (uint64_t)m->loop[i].dst;
    }
    return reach <= f->bytes && !(m->kind == TD_MOVE_RUNS && m->loops && m->loop[m->loops - 1].of == TD_LOOP_WIDE);
}

/* Neighbours in memory are the innermost loop, so that they are filled as one run. */
static void sort_loops(td_move_fill *f)
{
    for (size_t i = 1; i < f->loops; i++)
        for (size_t k = i; k > 0 && f->loop[k].dst > f->loop[k - 1].dst; k--) {
            const td_loop swap = f->loop[k];
            f->loop[k] = f->loop[k - 1];
            f->loop[k - 1] = swap;
        }
}

/* Fills inside the loops that go from vector to vector, as deep as they go; gives the bytes filled at once. */
static uint64_t choose_level(const td_move *m, const block *b, td_move_fill *f)
{
    uint64_t at_once = f->bytes;
    f->level = 0;
    f->loops = 0;
    while (f->level < m->loops && !loop_is_inside(b, &m->loop[f->level], f->bytes))
        f->level++;
    for (size_t i = f->level; i < m->loops; i++) {
        const td_loop *loop = &m->loop[i];
        if (loop->of != TD_LOOP_PLAIN || is_inside(loop->dst, f->bytes))
            continue;
        if (f->loops == TD_FILL_LOOPS)
            return UINT64_MAX;
        f->loop[f->loops++] = *loop;
        at_once *= loop->extent;
    }
    for (size_t i = 0; i < b->axes; i++) {
        const axis *a = &b->axis[i];
        uint64_t extent = a->extent;
        if (extent == 1 || is_inside(a->dst, f->bytes))
            continue;
        for (size_t k = 0; k < f->level; k++)
            if (axis_of(b, &m->loop[k]) == a)
                extent = m->loop[k].block;
        if (f->loops == TD_FILL_LOOPS)
            return UINT64_MAX;
        f->loop[f->loops++] = (td_loop){.extent = extent, .dst = a->dst, .of = a->of};
        at_once *= extent;
    }
    sort_loops(f);
    return at_once;
}

/* Loops inside vectors become the innermost ones; the others keep their order. */
static void move_inside(td_move *m, const block *b, uint64_t bytes)
{
    td_loop sorted[TD_MOVE_LOOPS] = {{0}};
    uint8_t count = 0;
    for (int inside = 0; inside < 2; inside++)
        for (size_t i = 0; i < m->loops; i++)
            if (loop_is_inside(b, &m->loop[i], bytes) == inside)
                sorted[count++] = m->loop[i];
    memcpy(m->loop, sorted, count * sizeof *sorted);
}

/* Cuts the kernel's axis over vectors, or its blocks, so that about FILL_BYTES are filled at once. The columns of a
 * deinterleave stay together: its kernels take the distance of two rows from their number. */
static void cut_block(td_move *m, const block *b, const td_move_fill *f, uint64_t at_once)
{
    const axis *a = NULL;
    size_t at = 0;
    for (size_t i = 0; i < b->axes; i++)
        if (b->axis[i].of != TD_LOOP_PLAIN && b->axis[i].extent > 1 && !is_inside(b->axis[i].dst, f->bytes))
            a = &b->axis[i];
    if (!a || (m->kind == TD_MOVE_DEINTERLEAVE && a->of == TD_LOOP_WIDE))
        return;
    while (at < m->loops && axis_of(b, &m->loop[at]) != a)
        at++;
    const uint64_t total = a->extent, now = at < m->loops ? m->loop[at].block : total;
    uint64_t part = now / (at_once / FILL_BYTES + 1);
    part = part >= 64 ? part / 64 * 64 : part ? part : 1;
    if (part >= now || (at == m->loops && m->loops == TD_MOVE_LOOPS))
        return;
    if (at == m->loops) {
        for (at = m->loops++; at > f->level; at--)
            m->loop[at] = m->loop[at - 1];
    }
    const int64_t src = m->kind == TD_MOVE_RUNS      ? m->src_stride
                        : m->kind == TD_MOVE_SHUFFLE ? m->shuffle->loop[m->shuffle->unit].src
                        : m->kind == TD_MOVE_FOLD    ? m->src_stride
                                                     : (int64_t)m->elem_bytes * m->src_scale;
    m->loop[at] = (td_loop){.extent = (total + part - 1) / part,
                            .dst = (int64_t)part * a->dst,
                            .src = (int64_t)part * src,
                            .block = part,
                            .of = a->of};
}

/* One axis of the block, and nothing else, goes from vector to vector; no loop goes on inside of one. */
static const axis *only_axis(const td_move *m, const block *b, const td_move_fill *f)
{
    const axis *found = NULL;
    if (f->keep || f->level != m->loops || f->loops != 1 || m->dst_scale != m->src_scale)
        return NULL;
    for (size_t i = 0; i < b->axes; i++)
        if (b->axis[i].extent > 1 && !is_inside(b->axis[i].dst, f->bytes))
            found = &b->axis[i];
    return found;
}

#define FEW_COLS 32   /* are not worth a scratch, or a list of shuffles */
#define SHORT_WORD 16 /* a shuffle writes several of these at once */

/* Runs, one in each vector: a kernel writes run and padding together. Plain C is no faster than fill and copy. */
static void choose_pad_runs(const td_kernels *k, const td_move *m, const block *b, td_move_fill *f)
{
    const axis *a = only_axis(m, b, f);
    const bool runs = m->kind == TD_MOVE_RUNS, units = m->kind == TD_MOVE_SHUFFLE && m->shuffle->loops == 1;
    if (!a || (!runs && !units) || f->bytes > TD_PAD_BYTES || k->pad.pad_runs == td_pad_runs_c ||
        (units && f->bytes < SHORT_WORD && a->extent > FEW_COLS))
        return;
    f->pad_runs = k->pad.pad_runs;
    f->word = (td_pad_word){.value = f->value, .bytes = f->bytes, .at = (size_t)f->offset, .run = (size_t)b->run_bytes};
    f->dst_stride = a->dst;
    f->src_stride = runs ? m->src_stride : m->shuffle->loop[0].src;
}

/* The transposing kernel for all rows of short vectors, with or without a gap between these. */
static td_move_fn rows_kernel(const td_move_kernels *k, uint64_t elem, uint64_t rows, bool gaps)
{
    const bool weaves = !gaps && rows * elem <= 32 && (rows & (rows - 1)) == 0 && elem <= 8;
    switch (elem) {
    case 1:
        return weaves ? k->interleave_x8 : k->transpose_x8;
    case 2:
        return weaves ? k->interleave_x16 : k->transpose_x16;
    case 4:
        return weaves ? k->interleave_x32 : k->transpose_x32;
    case 8:
        return weaves ? k->interleave_x64 : k->transpose_x64;
    default:
        return NULL;
    }
}

/* A few rows to transpose into short vectors. */
static void choose_pad_rows(const td_kernels *k, const td_move *m, const block *b, td_move_fill *f)
{
    const axis *a = only_axis(m, b, f);
    const uint64_t elem = m->elem_bytes;
    if (!a || a->of != TD_LOOP_WIDE || m->kind == TD_MOVE_RUNS || m->kind == TD_MOVE_SHUFFLE ||
        m->kind == TD_MOVE_PICKS || m->kind == TD_MOVE_FOLD || f->bytes > TD_PAD_BYTES || f->bytes % elem ||
        (uint64_t)f->offset % elem || m->wide < FEW_COLS)
        return;
    f->rows = f->bytes / elem;
    f->rows_fn = rows_kernel(&k->move, elem, f->rows, a->dst != (int64_t)f->bytes);
    f->first_row = (uint64_t)f->offset / elem;
    f->cols = TD_FILL_SCRATCH / f->bytes;
}

static bool attach(const td_plan *plan, const td_kernels *k, const td_fill *fill, td_move *m, td_move_fill *f)
{
    const td_box *data = &plan->data[fill->data];
    *f = (td_move_fill){.value = plan->fill_value,
                        .keep = plan->fill_keep,
                        .bytes = plan->beats * plan->geometry.word_bytes,
                        .offset = (data->memory - fill->box.memory) / 8};
    if (m->kind == TD_MOVE_NONE || data->memory < fill->box.memory || m->fill)
        return false;
    if (m->dst_first)
        return false;
    if (m->kind == TD_MOVE_SHUFFLE && (m->dst_scale != 1 || m->shuffle->dst_first))
        return false;
    if (plan->gather && plan->gather[2 * fill->data].bytes)
        return false; /* exec runs that instead of the move */
    const block b = block_of(m);
    if (!stays_inside(m, &b, f))
        return false;
    uint64_t at_once = choose_level(m, &b, f);
    if (at_once > FILL_BYTES) {
        move_inside(m, &b, f->bytes);
        at_once = choose_level(m, &b, f);
    }
    if (at_once > FILL_BYTES && at_once != UINT64_MAX) {
        cut_block(m, &b, f, at_once);
        at_once = choose_level(m, &b, f);
    }
    if (at_once == UINT64_MAX)
        return false;
    if (!f->loops)
        f->loop[f->loops++] = (td_loop){.extent = 1, .dst = (int64_t)f->bytes};
    m->stream = false;
    td_move_choose_split(m, f->level, m->splits);
    choose_pad_runs(k, m, &b, f);
    choose_pad_rows(k, m, &b, f);
    return true;
}

td_status td_fills_attach(td_plan *plan, const td_kernels *kernels)
{
    plan->fill_scatter = plan->table.entry && !plan->fill_keep ? kernels->gather.scatter : NULL;
    for (size_t i = 0; plan->fills_pads && i < plan->fill_count; i++) {
        td_fill *fill = &plan->fill[i];
        if (!fill->apart)
            continue;
        td_move_fill *f = malloc(sizeof *f);
        if (!f)
            return td_fail_alloc(sizeof *f);
        fill->moved = attach(plan, kernels, fill, &plan->move[2 * fill->data], f);
        if (fill->moved)
            plan->move[2 * fill->data].fill = f;
        else
            free(f);
    }
    return TD_OK;
}

/* -- fills that are one run ---------------------------------------------------------------------------------------- */

typedef struct extent {
    int64_t low, high; /* bits: of the first vector, and of the last */
    uint64_t vectors;
} extent;

static void add_extent(const td_plan *plan, const td_box *box, extent *e)
{
    const td_node *node = plan->node + box->first_node;
    const int64_t word_bits = (int64_t)(8 * plan->geometry.word_bytes);
    int64_t before = 0, behind = 0;
    uint64_t vectors = 1;
    for (size_t i = 0; i < box->node_count; i++) {
        const int64_t way = node[i].memory * (int64_t)(node[i].extent - 1);
        vectors *= node[i].extent;
        if (i >= box->selectors)
            *(way < 0 ? &before : &behind) += way;
    }
    td_walk w;
    for (td_walk_begin(&w, node, box->selectors, td_box_at(box)); w.more; td_walk_next(&w)) {
        const int64_t at = (int64_t)td_ground_of(plan, w.at.select).word * word_bits + w.at.memory;
        e->low = at + before < e->low ? at + before : e->low;
        e->high = at + behind > e->high ? at + behind : e->high;
    }
    e->vectors += vectors;
}

static bool is_done(const td_fill *fill)
{
    return fill->moved || fill->staged;
}

/* Vectors that are all different, and as many as there are places from the first to the last, are one run, in whatever
 * order a table has them. What some boxes fill themselves is then filled twice, so it must be less than the rest. */
void td_fills_join(td_plan *plan)
{
    const int64_t vector_bits = (int64_t)(plan->beats * plan->geometry.word_bytes * 8);
    extent all = {INT64_MAX, INT64_MIN, 0}, done = all;
    size_t first = plan->fill_count, kept = 0;
    if (!plan->fills_pads || !plan->fills_disjoint || !plan->table.entry || plan->geometry.banks != 1)
        return;
    for (size_t i = 0; i < plan->fill_count; i++) {
        add_extent(plan, &plan->fill[i].box, &all);
        if (is_done(&plan->fill[i]))
            add_extent(plan, &plan->fill[i].box, &done);
        else if (first == plan->fill_count && plan->fill[i].box.node_count)
            first = i;
    }
    if (first == plan->fill_count || 2 * done.vectors > all.vectors ||
        (uint64_t)(all.high - all.low) / (uint64_t)vector_bits + 1 != all.vectors || (all.high - all.low) % vector_bits)
        return;
    td_fill run = plan->fill[first];
    run.data = TD_NO_BOX;
    run.pads = run.apart = run.alone = false;
    for (size_t i = 0; i < plan->fill_count; i++) {
        run.pads |= plan->fill[i].pads;
        if (is_done(&plan->fill[i]))
            plan->fill[kept++] = plan->fill[i];
    }
    const int64_t ground = (int64_t)(td_ground_of(plan, 0).word * 8 * plan->geometry.word_bytes);
    plan->node[run.box.first_node] = (td_node){.extent = all.vectors, .memory = vector_bits};
    run.box.node_count = 1;
    run.box.selectors = 0;
    run.box.select = 0;
    run.box.memory = all.low - ground;
    plan->fill[kept++] = run;
    plan->fill_count = kept;
}
