/* Orders the loops of a move by estimate, for compile.c. For each cache and each TLB, the innermost loops whose
 * lines or pages it holds cost one touch of each; every step of the loops around them pays that again. All orders of
 * the inner loops are tried, except those that are already too expensive; which lines a set of loops touches does
 * not depend on their order, so it is computed once per set. A streamed transpose brings its destination into no
 * cache, so only the source counts: walking the source in order was 1.4 to 2 times faster. Contiguous runs are best
 * written in order. */
#include "plan/passes.h"

#include <float.h>

#define TRIED 6 /* loops that are permuted; further ones stay outside in the order of the destination */
#define SMALL_BYTES ((uint64_t)32 << 10)

enum { DST, SRC, SIDES };

typedef struct store {
    double unit, holds, cost;
} store;

/* Bytes of a unit, how many units the store holds, what one costs. */
static const store stores[] = {
    {64, 512, 1},     /* first-level cache */
    {64, 20000, 4},   /* second level */
    {4096, 64, 1},    /* first TLB */
    {4096, 1024, 12}, /* second TLB */
};
#define STORES (sizeof stores / sizeof stores[0])

typedef struct step {
    double extent, stride[SIDES];
} step;

typedef struct estimate {
    step inside[2], loop[TRIED];
    int loops;
    double elem[SIDES];
    bool stream;         /* the destination counts in no cache */
    bool follows[SIDES]; /* sides that the innermost loop should walk in order */
    double touched[1 << TRIED][STORES][SIDES];
} estimate;

static double magnitude(int64_t stride)
{
    return stride < 0 ? -(double)stride : (double)stride;
}

/* The units that a set of steps touches on one side. */
static double touched(const estimate *e, unsigned set, double unit, int side)
{
    step sorted[TRIED + 2];
    int n = 0;
    for (int i = 0; i < 2 + e->loops; i++) {
        const step *s = i < 2 ? &e->inside[i] : &e->loop[i - 2];
        if ((i >= 2 && !(set >> (i - 2) & 1)) || s->extent <= 1 || s->stride[side] == 0)
            continue;
        int at = n++;
        for (; at > 0 && sorted[at - 1].stride[side] > s->stride[side]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = *s;
    }
    double run = e->elem[side], count = 1;
    for (int i = 0; i < n; i++) {
        const double stride = sorted[i].stride[side], reach = stride * (sorted[i].extent - 1);
        if (count == 1 && (stride <= run || stride < unit))
            run += reach;
        else
            count *= sorted[i].extent;
    }
    const double whole = run / unit;
    return count * (whole < 1 ? 1 : whole);
}

/* Orders are built from the innermost loop outward. A store is open while it holds all that the loops so far touch;
 * the loop that it does not hold closes it, and what it then costs is known. Once no store is open the rest of the
 * order is free. */
typedef struct search {
    const estimate *e;
    double total;        /* steps of all loops */
    double once[STORES]; /* what each store costs at least: everything is brought in once */
    int order[TRIED], best[TRIED];
    double least;
} search;

/* Lines or pages that a set of loops brings in. */
static double units(const estimate *e, size_t which, unsigned set)
{
    return e->touched[set][which][SRC] + (e->stream ? 0 : e->touched[set][which][DST]);
}

static double cost_at(const search *s, size_t which, unsigned set, double steps_inside)
{
    return stores[which].cost * (s->total / steps_inside) * units(s->e, which, set);
}

static bool holds(const estimate *e, size_t which, unsigned set)
{
    return units(e, which, set) <= stores[which].holds;
}

/* Blocks that follow each other in memory are prefetched by the processor; each that does not waits for its lines. */
#define JUMP_COST 3

static double cost_of_jumps(const search *s, int innermost)
{
    const estimate *e = s->e;
    double lines = 0;
    for (int side = 0; side < SIDES; side++)
        if (e->follows[side] && e->loop[innermost].stride[side] >= 4096)
            lines += e->touched[0][0][side];
    return JUMP_COST * s->total * lines;
}

/* The loops outside the set keep the order of the destination. */
static void keep_best(search *s, unsigned set, double cost)
{
    s->least = cost;
    int at = 0;
    for (int i = 0; i < s->e->loops; i++)
        if (!(set >> i & 1))
            s->best[at++] = i;
    for (; at < s->e->loops; at++)
        s->best[at] = s->order[at];
}

/* The first order tried is the destination's; another has to be cheaper by more than rounding. */
static void try_orders(search *s, unsigned set, int depth, double steps, unsigned open, double cost)
{
    const estimate *e = s->e;
    double least = cost;
    for (size_t k = 0; k < STORES; k++)
        least += open >> k & 1 ? s->once[k] : 0;
    if (least >= s->least * 0.999)
        return;
    if (!open || depth == e->loops) {
        for (size_t k = 0; k < STORES; k++)
            cost += open >> k & 1 ? cost_at(s, k, set, steps) : 0;
        if (cost < s->least * 0.999)
            keep_best(s, set, cost);
        return;
    }
    for (int i = e->loops - 1; i >= 0; i--) {
        const unsigned next = set | 1u << i;
        unsigned still = open;
        if (next == set)
            continue;
        double more = cost + (depth == 0 ? cost_of_jumps(s, i) : 0);
        for (size_t k = 0; k < STORES; k++)
            if ((open >> k & 1) && !holds(e, k, next)) {
                still &= ~(1u << k);
                more += cost_at(s, k, set, steps);
            }
        s->order[e->loops - 1 - depth] = i;
        try_orders(s, next, depth + 1, steps * e->loop[i].extent, still, more);
    }
}

static void sort_by_dst(td_move *m)
{
    for (size_t i = 1; i < m->loops; i++)
        for (size_t j = i; j > 0 && magnitude(m->loop[j].dst) > magnitude(m->loop[j - 1].dst); j--) {
            const td_loop swap = m->loop[j];
            m->loop[j] = m->loop[j - 1];
            m->loop[j - 1] = swap;
        }
}

static step step_of(const td_loop *loop)
{
    return (step){(double)loop->extent, {[DST] = magnitude(loop->dst), [SRC] = magnitude(loop->src)}};
}

/* What is left of an axis inside its blocks. */
static double inside(const td_move *m, td_loop_of of, uint64_t total)
{
    for (size_t i = 0; i < m->loops; i++)
        if (m->loop[i].of == of)
            return (double)m->loop[i].block;
    return (double)total;
}

static void order_move(td_move *m)
{
    sort_by_dst(m);
    if (m->loops < 2 || m->bytes < SMALL_BYTES)
        return;
    const bool runs = m->kind == TD_MOVE_RUNS;
    estimate e = {.stream = m->stream && !runs, .follows = {[DST] = runs || !m->stream, [SRC] = !runs}};
    const double elem = (double)m->elem_bytes, high = inside(m, TD_LOOP_HIGH, m->high),
                 wide = inside(m, TD_LOOP_WIDE, m->wide);
    e.elem[DST] = e.elem[SRC] = elem;
    if (m->kind == TD_MOVE_RUNS)
        e.elem[DST] = e.elem[SRC] = wide;
    else if (m->kind == TD_MOVE_SHUFFLE) {
        e.elem[DST] = e.elem[SRC] = (double)m->shuffle->elems * m->shuffle->size;
        e.inside[0] = (step){wide, {[DST] = magnitude(m->dst_stride), [SRC] = magnitude(m->src_stride)}};
    } else if (m->kind == TD_MOVE_FOLD) {
        e.elem[DST] = e.elem[SRC] = (double)(m->fold->rows * m->fold->cols * m->fold->elem);
        e.inside[0] = (step){wide, {[DST] = magnitude(m->dst_stride), [SRC] = magnitude(m->src_stride)}};
    } else {
        e.inside[0] = (step){high, {[DST] = elem, [SRC] = magnitude(m->src_stride)}};
        e.inside[1] = (step){wide, {[DST] = magnitude(m->dst_stride), [SRC] = elem}};
    }
    const size_t first = m->loops > TRIED ? (size_t)m->loops - TRIED : 0;
    td_loop loop[TRIED] = {{0}};
    for (size_t i = first; i < m->loops; i++) {
        loop[e.loops] = m->loop[i];
        e.loop[e.loops++] = step_of(&m->loop[i]);
    }
    for (unsigned set = 0; set < 1u << e.loops; set++)
        for (size_t s = 0; s < STORES; s++)
            for (int side = 0; side < SIDES; side++)
                e.touched[set][s][side] = touched(&e, set, stores[s].unit, side);
    search s = {.e = &e, .total = 1, .least = DBL_MAX};
    for (int i = 0; i < e.loops; i++)
        s.total *= e.loop[i].extent;
    for (size_t k = 0; k < STORES; k++)
        s.once[k] = cost_at(&s, k, (1u << e.loops) - 1, s.total);
    try_orders(&s, 0, 0, 1, (1u << STORES) - 1, 0);
    for (int i = 0; i < e.loops; i++)
        m->loop[first + (size_t)i] = loop[s.best[i]];
}

void td_loops_order(td_plan *plan)
{
    for (size_t i = 0; i < 2 * plan->data_count; i++)
        if (plan->move[i].kind != TD_MOVE_NONE)
            order_move(&plan->move[i]);
}
