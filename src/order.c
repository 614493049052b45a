/* See order.h. The estimate: for each cache and each TLB, the innermost loops whose lines or pages it holds run at the cost of
 * touching each of those once; every step of the loops around them pays that again. All orders of the inner loops are
 * tried; which lines a set of loops touches does not depend on their order, so that is worked out once per set. */
#include "order.h"

#define TRIED 6 /* loops that are permuted; further ones stay outside in the order of the destination */
#define SMALL_BYTES ((uint64_t)32 << 10)

enum { DST, SRC, SIDES };

typedef struct store {
    double unit, holds, cost;
} store;

/* Bytes of a unit, how many of them stay, what one costs. */
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
    bool stream;
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

static double cost_of(const estimate *e, const int *order)
{
    double cost = 0;
    for (size_t s = 0; s < STORES; s++) {
        unsigned set = 0;
        int level = e->loops; /* loops from here on are held */
        double outside = 1;
        while (level > 0) {
            const unsigned next = set | 1u << order[level - 1];
            const double lines = e->touched[next][s][SRC] + (e->stream && stores[s].unit < 4096 ? 0 : e->touched[next][s][DST]);
            if (lines > stores[s].holds)
                break;
            set = next;
            level--;
        }
        for (int i = 0; i < level; i++)
            outside *= e->loop[order[i]].extent;
        cost += stores[s].cost * outside * (e->touched[set][s][SRC] + e->touched[set][s][DST]);
    }
    return cost;
}

/* Heap's algorithm; the first order is the destination's, and another has to be cheaper by more than rounding. */
static void try_all(const estimate *e, int n, int *order, int *best, double *least)
{
    if (n <= 1) {
        const double cost = cost_of(e, order);
        if (cost < *least * 0.999) {
            *least = cost;
            for (int i = 0; i < e->loops; i++)
                best[i] = order[i];
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        try_all(e, n - 1, order, best, least);
        const int a = n % 2 ? 0 : i, swap = order[a];
        order[a] = order[n - 1];
        order[n - 1] = swap;
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

void td_order_loops(td_move *m)
{
    sort_by_dst(m);
    if (m->loops < 2 || m->bytes < SMALL_BYTES)
        return;
    estimate e = {.stream = m->stream};
    const double elem = (double)m->elem_bytes, high = inside(m, TD_LOOP_HIGH, m->high), wide = inside(m, TD_LOOP_WIDE, m->wide);
    e.elem[DST] = e.elem[SRC] = elem;
    if (m->kind == TD_MOVE_RUNS)
        e.elem[DST] = e.elem[SRC] = wide;
    else {
        e.inside[0] = (step){high, {[DST] = elem, [SRC] = magnitude(m->src_stride)}};
        e.inside[1] = (step){wide, {[DST] = magnitude(m->dst_stride), [SRC] = elem}};
    }
    const size_t first = m->loops > TRIED ? (size_t)m->loops - TRIED : 0;
    td_loop loop[TRIED];
    for (size_t i = first; i < m->loops; i++) {
        loop[e.loops] = m->loop[i];
        e.loop[e.loops++] = step_of(&m->loop[i]);
    }
    for (unsigned set = 0; set < 1u << e.loops; set++)
        for (size_t s = 0; s < STORES; s++)
            for (int side = 0; side < SIDES; side++)
                e.touched[set][s][side] = touched(&e, set, stores[s].unit, side);
    int order[TRIED] = {0}, best[TRIED] = {0};
    for (int i = 0; i < e.loops; i++)
        order[i] = best[i] = i;
    double least = cost_of(&e, order);
    try_all(&e, e.loops, order, best, &least);
    for (int i = 0; i < e.loops; i++)
        m->loop[first + (size_t)i] = loop[best[i]];
}
