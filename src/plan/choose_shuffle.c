/* Which loops of a box a list of shuffles takes (kernels/shuffle.h): those that are closest in the destination, as far
 * as a few hundred bytes go, the next as its units, and one whose steps are neighbours in the source, as when lanes are
 * taken apart. Called by choose.c for boxes whose short axes the other kernels are slow on. */
#include "plan/nest.h"

#define UNIT_BYTES 256 /* a longer unit would fill the list alone */
#define NEAR_BYTES 64  /* neighbours in the source: one window has several of them */
#define FEW_STEPS 16

typedef struct chosen {
    size_t at[TD_SHUFFLE_LOOPS]; /* loops of the nest, in the order of the destination */
    size_t count, unit;
    uint64_t span, bytes; /* in the destination, of all but the units' steps */
} chosen;

static uint64_t size_of(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* The loop with the shortest step in the destination that is not chosen yet; count when there is none. */
static size_t find_next(const td_nest *n, const bool *taken)
{
    size_t best = n->count;
    for (size_t i = 0; i < n->count; i++)
        if (!taken[i] && (best == n->count || size_of(n->loop[i].dst) < size_of(n->loop[best].dst)))
            best = i;
    return best;
}

/* Neighbours in the source that lie far apart in the destination: their windows are the same. */
static void add_near(const td_nest *n, const bool *taken, uint64_t span, chosen *c)
{
    for (size_t i = 0; i < n->count && c->count < TD_SHUFFLE_LOOPS; i++) {
        const td_loop *loop = &n->loop[i];
        if (!taken[i] && loop->src && size_of(loop->src) < NEAR_BYTES && loop->extent <= FEW_STEPS &&
            size_of(loop->dst) >= span && c->bytes * loop->extent <= UNIT_BYTES) {
            c->at[c->count++] = i;
            return;
        }
    }
}

/* False where steps in the destination do not nest. */
static bool choose_loops(const td_nest *n, chosen *c)
{
    bool taken[TD_MOVE_LOOPS + 2] = {false};
    *c = (chosen){.span = n->elem, .bytes = n->elem, .unit = TD_SHUFFLE_LOOPS};
    while (c->count < TD_SHUFFLE_LOOPS && c->unit == TD_SHUFFLE_LOOPS) {
        const size_t i = find_next(n, taken);
        if (i == n->count || size_of(n->loop[i].dst) < c->span)
            return false;
        taken[i] = true;
        c->at[c->count] = i;
        const size_t after = find_next(n, taken);
        const uint64_t steps = n->loop[i].extent, step = size_of(n->loop[i].dst);
        if (after == n->count || steps > UNIT_BYTES || c->bytes * steps > UNIT_BYTES) {
            c->unit = c->count++;
            add_near(n, taken, step * (steps - 1) + c->span, c);
            return true;
        }
        c->count++;
        c->bytes *= steps;
        c->span += step * (steps - 1);
    }
    return false;
}

/* Forward in the destination; a loop that goes backward begins at its other end. */
static void take_loop(const td_loop *loop, td_shuffle *s)
{
    td_shuffle_loop *out = &s->loop[s->loops++];
    *out = (td_shuffle_loop){.extent = loop->extent, .dst = loop->dst, .src = loop->src};
    if (loop->dst >= 0)
        return;
    s->dst_first += out->dst * (ptrdiff_t)(loop->extent - 1);
    s->src_first += out->src * (ptrdiff_t)(loop->extent - 1);
    out->dst = -out->dst;
    out->src = -out->src;
}

/* Whether the loops around the list step over all that it writes. */
static bool steps_over(const td_nest *n, const chosen *c)
{
    const td_loop *unit = &n->loop[c->at[c->unit]];
    const uint64_t whole = c->span + size_of(unit->dst) * (unit->extent - 1);
    for (size_t i = 0; i < n->count; i++) {
        bool in = false;
        for (size_t j = 0; j < c->count; j++)
            in |= c->at[j] == i;
        if (!in && size_of(n->loop[i].dst) < whole)
            return false;
    }
    return true;
}

/* What a list is to move. */
static void describe(const td_nest *n, const chosen *c, td_shuffle *s)
{
    s->size = (uint8_t)n->elem;
    s->loops = 0;
    s->unit = (uint8_t)c->unit;
    s->may_fill = steps_over(n, c);
    s->dst_first = s->src_first = 0;
    for (size_t i = 0; i < c->count; i++)
        take_loop(&n->loop[c->at[i]], s);
}

/* Gives the list to the move, and its loops are gone from the nest. */
static bool take(td_nest *n, const chosen *c, td_shuffle *s, td_move *m)
{
    m->shuffle = td_shuffle_copy(s);
    if (!m->shuffle) {
        td_shuffle_drop(s);
        return false; /* costs speed only */
    }
    m->kind = TD_MOVE_SHUFFLE;
    m->elem_bytes = 1;
    m->high = 1;
    m->wide = s->loop[s->unit].extent;
    m->dst_stride = s->loop[s->unit].dst;
    m->src_stride = s->loop[s->unit].src;
    for (size_t i = n->count; i-- > 0;)
        for (size_t j = 0; j < c->count; j++)
            if (c->at[j] == i) {
                td_nest_drop(n, i);
                break;
            }
    return true;
}

bool td_nest_shuffle(td_nest *n, bool transposes, unsigned cpu_flags, td_move *m)
{
    chosen c;
    if (n->elem >= 32 || n->count == 0 || !choose_loops(n, &c))
        return false;
    td_shuffle s;
    describe(n, &c, &s);
    s.transposes = transposes;
    return td_shuffle_prepare(&s, cpu_flags) && take(n, &c, &s, m);
}

bool td_nest_places(td_nest *n, td_move *m)
{
    chosen c;
    if (n->elem >= 32 || n->count < 2 || !choose_loops(n, &c))
        return false;
    for (size_t i = 0; i < c.count; i++)
        if (n->loop[c.at[i]].extent > n->loop[c.at[c.unit]].extent)
            c.unit = i;
    td_shuffle s;
    describe(n, &c, &s);
    return td_shuffle_by_places(&s) && take(n, &c, &s, m);
}
