/* Picks: the kernel for elements that are neighbours in the destination and lie apart within a short block of the
 * source, as the channels of a pixel or the rows of a small tile. choose.c asks for it where no transpose fits; what is
 * found here is the block, the order of its bytes, and the loop along which it repeats. */
#include "plan/nest.h"
#include "plan/passes.h"

#include <stdlib.h>

/* A few elements are neighbours in the destination and lie apart within a short block of the source: picked together
 * they become one wider element. `block` are the loops of that block. */
typedef struct short_block {
    bool in[TD_MOVE_LOOPS + 2];
    uint64_t bytes;
} short_block;

/* The loops that together are contiguous in the source, up to the size that picks take. */
static short_block find_block(const td_nest *n)
{
    short_block block = {.bytes = n->elem};
    for (size_t i = 0; i < n->count;) {
        if (!block.in[i] && n->loop[i].src == (int64_t)block.bytes &&
            block.bytes * n->loop[i].extent <= TD_PICK_BYTES) {
            block.in[i] = true;
            block.bytes *= n->loop[i].extent;
            i = 0;
        } else
            i++;
    }
    return block;
}

/* Lists the bytes of the block in their new order: the loops in `order` outermost first, then the element. */
static void list_bytes(const td_nest *n, const size_t *order, size_t count, uint64_t src, uint8_t *index, size_t *at)
{
    if (count == 0) {
        for (uint64_t b = 0; b < n->elem; b++)
            index[(*at)++] = (uint8_t)(src + b);
        return;
    }
    const td_loop *loop = &n->loop[order[0]];
    for (uint64_t i = 0; i < loop->extent; i++)
        list_bytes(n, order + 1, count - 1, src + i * (uint64_t)loop->src, index, at);
}

/* Folds the loops from order[*count - 1] outwards that are one loop in the destination, and returns their steps;
 * *count loops are left. */
static uint64_t fold_columns(const td_nest *n, const size_t *order, size_t *count)
{
    const td_loop *inner = &n->loop[order[*count - 1]];
    uint64_t steps = 1;
    for (; *count && n->loop[order[*count - 1]].dst == inner->dst * (int64_t)steps; (*count)--)
        steps *= n->loop[order[*count - 1]].extent;
    return steps;
}

/* The other loops of a block, outermost first in the source, so that what is picked at once lies close together. */
static size_t order_block(const td_nest *n, const short_block *block, size_t together, size_t *order)
{
    size_t count = 0;
    for (size_t i = 0; i < n->count; i++) {
        if (!block->in[i] || i == together)
            continue;
        size_t at = count++;
        for (; at > 0 && n->loop[order[at - 1]].src < n->loop[i].src; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

/* NULL: no kernel is worth it, or there is no memory; either costs speed only. */
static td_picks *make_picks(const td_kernels *k, const td_nest *n, const size_t *order, size_t count,
                            const td_picks *like)
{
    td_picks *p = calloc(1, sizeof *p);
    size_t at = 0;
    if (!p)
        return NULL;
    *p = *like;
    list_bytes(n, order, count, 0, p->index, &at);
    if (td_picks_prepare(p, k->cpu_flags))
        return p;
    free(p);
    return NULL;
}

bool td_nest_picks(td_nest *n, const td_kernels *k, td_move *m)
{
    const size_t together = td_nest_unit(n, true);
    if (together == n->count)
        return false;
    const uint64_t elem = n->loop[together].extent * n->elem;
    const short_block block = find_block(n);
    size_t high = n->count;
    for (size_t i = 0; i < n->count; i++)
        if (!block.in[i] && n->loop[i].dst == (int64_t)elem)
            high = i;
    size_t order[TD_MOVE_LOOPS + 2], count = order_block(n, &block, together, order), left = count;
    if (!block.in[together] || (elem != 2 && elem != 4 && elem != 8) || high == n->count || n->loop[high].extent < 4 ||
        count == 0)
        return false;
    const int64_t column = n->loop[order[left - 1]].dst;
    const uint64_t wide = fold_columns(n, order, &left);
    const int64_t part = left ? n->loop[order[left - 1]].dst : 0;
    const uint64_t parts = left ? fold_columns(n, order, &left) : 1;
    if (left)
        return false;
    order[count++] = together;
    m->picks = make_picks(
        k, n, order, count,
        &(td_picks){
            .bytes = (uint16_t)block.bytes, .parts = (uint16_t)parts, .cols = (uint16_t)wide, .size = (uint8_t)elem});
    if (!m->picks)
        return false;
    m->kind = TD_MOVE_PICKS;
    m->elem_bytes = (uint8_t)elem;
    m->high = n->loop[high].extent;
    m->wide = wide;
    m->dst_stride = column;
    m->part_stride = part;
    m->src_stride = n->loop[high].src;
    for (size_t i = n->count; i-- > 0;)
        if (block.in[i] || i == high)
            td_nest_drop(n, i);
    return true;
}
