/* Orders the loops of a move by timing, for layouts with tune=on. Called by compile.c. Hill climbing: starting from
 * the estimated order, every loop is tried in every other place, and the fastest of those orders is the next start,
 * until none is faster. The estimate is good, so a few rounds suffice; all orders of six loops would be 720. It
 * refuses nothing: without pages or time the estimate stays. */
#include "base/clock.h"
#include "base/pages.h"
#include "plan/passes.h"

#include <string.h>

#define TUNE_NS ((uint64_t)1000000000)            /* for all boxes in one direction */
#define SMALL_BYTES ((uint64_t)64 << 10)          /* below this the order hardly matters */
#define ROOM_BYTES ((uint64_t)1 << 30)            /* per side */
#define TIMED_NS 200000                           /* short moves are repeated for this long */
#define WORTH(ns) ((ns) - (ns) / 32)              /* another order has to win by more than noise */
#define CAN_WIN(ns, best) ((ns) < (best) / 4 * 5) /* else once is enough */

typedef struct side {
    unsigned char *pages, *first; /* first: where the move begins; negative steps go before it */
    size_t bytes;
} side;

typedef struct trial {
    side dst, src;
    uint64_t end_ns;
} trial;

/* -- room for both sides -- */

typedef struct reach {
    uint64_t before, behind; /* bytes that steps go down and up */
} reach;

/* False: more than there is room for. */
static bool add_steps(reach *r, uint64_t steps, int64_t stride)
{
    uint64_t *way = stride < 0 ? &r->before : &r->behind;
    const uint64_t bytes = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
    if (steps > 1 && bytes > ROOM_BYTES / (steps - 1))
        return false;
    *way += bytes * (steps - 1);
    return *way <= ROOM_BYTES;
}

/* The loops over blocks stay within their axes, and the kernel's own steps already count those whole. */
static bool make_side(const td_move *m, bool is_dst, side *s)
{
    reach r = {0};
    const bool runs = m->kind == TD_MOVE_RUNS;
    bool fits = true;
    for (size_t i = 0; i < m->loops && fits; i++)
        if (m->loop[i].of == TD_LOOP_PLAIN)
            fits = add_steps(&r, m->loop[i].extent, is_dst ? m->loop[i].dst : m->loop[i].src);
    if (fits && !runs)
        fits = add_steps(&r, is_dst ? m->wide : m->high, is_dst ? m->dst_stride : m->src_stride);
    if (fits && m->kind == TD_MOVE_PICKS && is_dst)
        fits = add_steps(&r, m->picks->parts, m->part_stride);
    const uint64_t row = runs                       ? m->wide
                         : is_dst                   ? m->high * m->elem_bytes
                         : m->kind == TD_MOVE_PICKS ? m->picks->bytes
                                                    : m->wide * m->elem_bytes;
    if (!fits || row > ROOM_BYTES)
        return false;
    s->bytes = (size_t)(r.before + r.behind + row);
    s->pages = td_pages_map(&s->bytes, false);
    if (!s->pages)
        return false;
    s->first = s->pages + r.before;
    memset(s->pages, 1, s->bytes); /* pages never written to are all one zero page */
    return true;
}

static void free_side(side *s)
{
    td_pages_unmap(s->pages, s->bytes);
}

/* -- the climb -- */

/* The faster of two runs, or the fastest of more when they are short. */
static uint64_t time_move(const td_move *m, const trial *t, uint64_t best)
{
    td_move ready = *m;
    uint64_t least = UINT64_MAX;
    td_move_take_rows(&ready);
    ready.dst_first = ready.src_first = 0; /* the sides begin at the lowest place */
    const uint64_t first = td_now_ns();
    for (unsigned runs = 0;; runs++) {
        const uint64_t start = td_now_ns();
        td_move_run(&ready, NULL, true, t->dst.first, t->src.first);
        const uint64_t end = td_now_ns();
        least = end - start < least ? end - start : least;
        if (!CAN_WIN(least, best) || (runs && end - first > TIMED_NS))
            return least;
    }
}

static void put_loop(td_move *m, size_t from, size_t to)
{
    const td_loop loop = m->loop[from];
    for (; from < to; from++)
        m->loop[from] = m->loop[from + 1];
    for (; from > to; from--)
        m->loop[from] = m->loop[from - 1];
    m->loop[to] = loop;
}

/* One round: true when some neighbour of *best is faster, which *best then is. */
static bool climb(const trial *t, td_move *best, uint64_t *best_ns)
{
    const td_move from = *best;
    bool better = false;
    for (size_t i = 0; i < from.loops; i++)
        for (size_t to = 0; to < from.loops && td_now_ns() < t->end_ns; to++) {
            td_move other = from;
            if (to == i || to + 1 == i) /* moving a loop one place down is moving the next one up */
                continue;
            put_loop(&other, i, to);
            const uint64_t ns = time_move(&other, t, *best_ns);
            if (ns >= WORTH(*best_ns))
                continue;
            *best = other;
            *best_ns = ns;
            better = true;
        }
    return better;
}

/* Subtracts the time it takes from `left_ns`, and stops when that is used up. */
static void tune_move(td_move *m, uint64_t *left_ns)
{
    const uint64_t start = td_now_ns();
    trial t = {.end_ns = start + *left_ns};
    if (m->kind == TD_MOVE_NONE || m->kind == TD_MOVE_SHUFFLE || m->kind == TD_MOVE_FOLD || m->loops == 0 ||
        m->bytes < SMALL_BYTES || !*left_ns)
        return;
    if (make_side(m, true, &t.dst) && make_side(m, false, &t.src)) {
        uint64_t best = time_move(m, &t, UINT64_MAX);
        while (climb(&t, m, &best) && td_now_ns() < t.end_ns)
            continue;
        td_move kept = *m;
        kept.stream = false;
        if (m->stream && td_now_ns() < t.end_ns && time_move(&kept, &t, best) < WORTH(best))
            *m = kept;
        m->tuned = true;
    }
    free_side(&t.dst);
    free_side(&t.src);
    const uint64_t taken = td_now_ns() - start;
    *left_ns -= taken < *left_ns ? taken : *left_ns;
}

/* Moves that convert keep their order, because only the move itself could be timed. */
void td_loops_tune(td_plan *plan)
{
    uint64_t left_ns[2] = {TUNE_NS, TUNE_NS};
    for (size_t i = 0; i < 2 * plan->data_count; i++)
        if (plan->move[i].dst_scale == plan->move[i].src_scale)
            tune_move(&plan->move[i], &left_ns[i % 2]);
}
