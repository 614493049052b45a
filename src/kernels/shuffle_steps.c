/* Shuffles in two steps. Where a unit takes few bytes out of a long stretch of the source, as three channels out of
 * words of sixteen, a window brings few of them, and every output of a list needs many windows. So a first list brings
 * the bytes of many units together, in a scratch that stays in the first-level cache, and a second one takes them from
 * there. td_shuffle_prepare (shuffle_c.c) asks here; both lists are those of shuffle.h. */
#include "kernels/shuffle.h"

#include <stdlib.h>
#include <string.h>

#define SCRATCH_BYTES 8192
#define SPARSE 2 /* more than so many times the bytes of a unit is its stretch of the source */

#define FROM_LISTS 4
#define COST_PER_VECTOR 12 /* of the output, where a transpose could move it as well */

/* The loops in the order of the source, the shortest step first. False where the units are not the last of them, or a
 * step goes backward or lies within what the steps below it cover. */
static bool order_by_source(const td_shuffle *s, size_t *order)
{
    ptrdiff_t span = s->size;
    for (size_t i = 0; i < s->loops; i++) {
        size_t at = i;
        for (; at > 0 && s->loop[order[at - 1]].src > s->loop[i].src; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t i = 0; i < s->loops; i++) {
        const td_shuffle_loop *loop = &s->loop[order[i]];
        if (loop->src < span)
            return false;
        span += loop->src * (ptrdiff_t)(loop->extent - 1);
    }
    return s->loops && order[s->loops - 1] == s->unit;
}

/* Both lists, not yet made: what the first packs is what the second reads. */
static void describe(const td_shuffle *s, const size_t *order, td_shuffle *dense, td_shuffle *spread)
{
    ptrdiff_t span = s->size;
    *dense = (td_shuffle){.size = s->size,
                          .loops = s->loops,
                          .unit = (uint8_t)(s->loops - 1),
                          .may_fill = true,
                          .src_first = s->src_first};
    *spread = (td_shuffle){
        .size = s->size, .loops = s->loops, .unit = s->unit, .may_fill = s->may_fill, .dst_first = s->dst_first};
    memcpy(spread->loop, s->loop, sizeof spread->loop);
    for (size_t i = 0; i < s->loops; i++) {
        dense->loop[i] = s->loop[order[i]];
        dense->loop[i].dst = span;
        spread->loop[order[i]].src = span;
        span *= (ptrdiff_t)dense->loop[i].extent;
    }
}

/* Windows and stores of so many units. */
static uint64_t cost_of(const td_shuffle *s, uint64_t units)
{
    uint64_t cost = s->outputs;
    for (size_t i = 0; i < s->outputs; i++)
        cost += s->output[i].windows;
    return cost * (units / s->at_once);
}

/* The list, or NULL where there is none or no memory. */
static td_shuffle *list_of(td_shuffle *s, td_shuffle_fn fn)
{
    s->fn = fn;
    return td_shuffle_list_unit(s) && td_shuffle_list(s, 64) ? td_shuffle_copy(s) : NULL;
}

TD_SHUFFLE_KERNEL(shuffle_in_two, c)
{
    _Alignas(64) unsigned char scratch[SCRATCH_BYTES];
    const td_shuffle *dense = s->dense, *spread = s->spread;
    const size_t bytes = (size_t)dense->loop[dense->unit].dst, at_once = s->at_once,
                 most = SCRATCH_BYTES / bytes / at_once * at_once;
    for (size_t u = 0; u < units; u += most) {
        const size_t part = units - u < most ? units - u : most;
        dense->fn(dense, scratch, src + (ptrdiff_t)u * s->loop[s->unit].src, part, false);
        spread->fn(spread, dst + (ptrdiff_t)u * s->loop[s->unit].dst, scratch, part, stream);
    }
}

static void make_both(td_shuffle *s, const size_t *order, td_shuffle_fn fn)
{
    td_shuffle *both = aligned_alloc(64, (2 * sizeof *both + 63) / 64 * 64);
    if (!both)
        return; /* costs speed only */
    describe(s, order, &both[0], &both[1]);
    s->dense = list_of(&both[0], fn);
    s->spread = s->dense ? list_of(&both[1], fn) : NULL;
    free(both);
}

/* Both numbers at once are powers of two, or one divides the other; if not, it is not worth it. Nor is it for so few
 * units that many of them would go one by one. */
static bool is_worth_it(const td_shuffle *s, bool listed)
{
    const uint64_t a = s->dense->at_once, b = s->spread->at_once, units = a > b ? a : b;
    const size_t bytes = (size_t)s->elems * s->size;
    if (units % a || units % b || units * bytes > SCRATCH_BYTES || s->loop[s->unit].extent < FROM_LISTS * units ||
        s->dense->outputs > TD_SHUFFLE_FEW || s->spread->outputs > TD_SHUFFLE_FEW)
        return false;
    const uint64_t cost = cost_of(s->dense, units) + cost_of(s->spread, units);
    if (listed)
        return units % s->at_once == 0 && 4 * cost < 3 * cost_of(s, units);
    return s->transposes && 64 * cost <= COST_PER_VECTOR * units * bytes;
}

bool td_shuffle_in_two(td_shuffle *s, td_shuffle_fn fn, bool listed)
{
    size_t order[TD_SHUFFLE_LOOPS];
    const ptrdiff_t bytes = (ptrdiff_t)s->elems * s->size;
    s->dense = s->spread = NULL;
    if (s->loop[s->unit].src <= SPARSE * bytes || !order_by_source(s, order))
        return false;
    make_both(s, order, fn);
    if (!s->spread || !is_worth_it(s, listed)) {
        td_shuffle_drop(s);
        return false;
    }
    s->fn = td_shuffle_in_two_c;
    s->at_once = s->dense->at_once > s->spread->at_once ? s->dense->at_once : s->spread->at_once;
    s->whole = false;
    s->lines = s->spread->lines;
    s->outputs = s->terms = 0;
    return true;
}

void td_shuffle_drop(td_shuffle *s)
{
    free(s->dense);
    free(s->spread);
    s->dense = s->spread = NULL;
}
