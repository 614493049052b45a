/* Links between copies (copies.h): the loops of a region with the innermost ones as a window of whole bytes or of bits
 * under a mask. Called by copies.c, which finds the regions. */
#include "plan/copy_links.h"

#include "kernels/bits.h"
#include "plan/passes.h"
#include "plan/walk.h"

#include <stdlib.h>
#include <string.h>

/* Masks are made when a plan is, so they are kept short; longer runs of whole bytes need none. */
#define MASK_BITS ((int64_t)8 * 1024)
#define RUN_BITS ((int64_t)8 * 64)

static td_link *new_link(td_copies *c)
{
    td_link *grown = realloc(c->link, (c->link_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    c->link = grown;
    c->link[c->link_count] = (td_link){0};
    return &c->link[c->link_count++];
}

/* The bits that one step of a box holds, from the first to one past the last. */
static void find_bits(const td_plan *plan, const td_box *box, int64_t *low, int64_t *high)
{
    *low = box->piece_count ? INT64_MAX : 0;
    *high = box->piece_count ? INT64_MIN : plan->memory_dtype.bits;
    for (size_t k = 0; k < box->piece_count; k++) {
        const td_piece *piece = &plan->piece[box->first_piece + k];
        if (!piece->bits)
            continue;
        *low = piece->memory < *low ? piece->memory : *low;
        *high = piece->memory + piece->bits > *high ? piece->memory + piece->bits : *high;
    }
}

/* A mask of every step of `count` nodes, of which bit 0 is `from` bits before the first. */
static void draw_mask(const td_plan *plan, const td_box *box, const td_node *node, size_t count, int64_t from,
                      unsigned char *mask)
{
    const td_piece whole = {.bits = plan->memory_dtype.bits};
    const td_piece *piece = box->piece_count ? plan->piece + box->first_piece : &whole;
    const size_t pieces = box->piece_count ? box->piece_count : 1;
    td_walk w;
    for (td_walk_begin(&w, node, count, (td_at){.memory = from}); w.more; td_walk_next(&w))
        for (size_t k = 0; k < pieces; k++)
            if (piece[k].bits)
                td_put_bits(mask, w.at.memory + piece[k].memory, piece[k].bits, UINT64_MAX);
}

/* Nodes that a link may come to have: those it is made of, and three that cut_blocks adds. */
#define SPACE(count) ((count) + 4)

/* The nodes before `count` become the loops of the link; the last of them its rows where it steps over whole bytes. */
static td_status take_loops(const td_node *node, size_t count, size_t selectors, td_link *link)
{
    link->rows = 1;
    if (count > selectors && node[count - 1].memory % 8 == 0) {
        link->rows = node[count - 1].extent;
        link->stride = node[count - 1].memory / 8;
        count--;
    }
    link->node_count = count;
    link->node = malloc(SPACE(count) * sizeof *link->node);
    if (!link->node)
        return td_fail_alloc(SPACE(count) * sizeof *link->node);
    memcpy(link->node, node, count * sizeof *node);
    return TD_OK;
}

static bool is_bytes(const td_node *node, size_t count, int64_t memory, int64_t delta)
{
    int64_t bits = memory | delta;
    for (size_t i = 0; i < count; i++)
        bits |= node[i].memory;
    return bits % 8 == 0;
}

/* Adds a loop inside the others; take_loops left space for it. */
static void add_loop(td_link *link, td_node node)
{
    if (node.extent != 1)
        link->node[link->node_count++] = node;
}

/* A link like one before. */
static td_status add_rest(td_copies *c, size_t of)
{
    td_link *link = new_link(c);
    const td_link *like = &c->link[of];
    if (!link)
        return td_fail_alloc(sizeof *link);
    *link = *like;
    link->mask = like->mask ? malloc(like->bytes) : NULL;
    link->node = malloc(SPACE(like->node_count) * sizeof *link->node);
    if (!link->node || (like->mask && !link->mask))
        return td_fail_alloc(like->bytes + SPACE(like->node_count) * sizeof *link->node);
    memcpy(link->node, like->node, like->node_count * sizeof *link->node);
    if (link->mask)
        memcpy(link->mask, like->mask, like->bytes);
    return TD_OK;
}

/* Cuts what is compared together into blocks, and goes from copy to copy inside them. */
static td_status cut_blocks(const td_linking *l)
{
    td_copies *c = l->copies;
    const size_t of = c->link_count - 1;
    td_link *link = &c->link[of];
    if (l->copy.extent == 1)
        return TD_OK;
    const bool cuts_run = !link->mask && link->bytes > TD_COPY_BLOCK_BYTES;
    uint64_t blocks = 1, rest = 0;
    int64_t step = 8 * (int64_t)TD_COPY_BLOCK_BYTES;
    if (cuts_run) {
        blocks = link->bytes / TD_COPY_BLOCK_BYTES;
        rest = link->bytes % TD_COPY_BLOCK_BYTES;
        add_loop(link, (td_node){.extent = link->rows, .memory = 8 * link->stride});
        link->rows = 1;
        link->bytes = TD_COPY_BLOCK_BYTES;
    } else if (link->rows * link->bytes > TD_COPY_BLOCK_BYTES) {
        const uint64_t high = link->bytes < TD_COPY_BLOCK_BYTES ? TD_COPY_BLOCK_BYTES / link->bytes : 1;
        blocks = link->rows / high;
        rest = link->rows % high;
        step = 8 * (int64_t)high * link->stride;
        link->rows = high;
    }
    td_status status = rest ? add_rest(c, of) : TD_OK;
    add_loop(&c->link[of], (td_node){.extent = blocks, .memory = step});
    if (rest && !status) {
        link = &c->link[of + 1];
        link->memory += (int64_t)blocks * step;
        link->rows = cuts_run ? 1 : rest;
        link->bytes = cuts_run ? (size_t)rest : link->bytes;
    }
    for (size_t i = of; i < c->link_count && !status; i++)
        add_loop(&c->link[i], l->copy);
    return status;
}

/* A link over nodes that are folded and sorted, and `delta` away. Where a node is too long for a mask, its rest is a
 * link of its own. */
td_status td_link_add(const td_linking *l, const td_copy_region *r, int64_t delta_memory, int64_t delta_select)
{
    td_copy_region in = *r;
    td_box *box = &in.box;
    int64_t low, high;
    td_status status = TD_OK;
    find_bits(l->plan, box, &low, &high);
    size_t count = box->node_count;
    int64_t span = high - low;
    if (span <= 0)
        return TD_OK; /* no lane of these reaches into the word */
    td_node *last = count > box->selectors ? &in.node[count - 1] : NULL;
    const bool runs = last && !box->piece_count && last->memory == span && span * (int64_t)last->extent >= RUN_BITS &&
                      span * (int64_t)last->extent % 8 == 0 && is_bytes(in.node, count - 1, box->memory, delta_memory);
    td_link *link = new_link(l->copies);
    if (!link)
        return td_fail_alloc(sizeof *link);
    link->memory = box->memory + low;
    link->select = box->select;
    link->delta_memory = delta_memory;
    link->delta_select = delta_select;
    if (runs) {
        link->bytes = (size_t)(span * (int64_t)last->extent / 8);
        status = take_loops(in.node, count - 1, box->selectors, link);
        return status ? status : cut_blocks(l);
    }
    td_node inside[TD_MAX_BOUND + 1];
    size_t inner = TD_MAX_BOUND + 1, rest_node = 0;
    uint64_t rest = 0;
    for (bool more = true; more && count > box->selectors && span < MASK_BITS;) {
        td_node *node = &in.node[count - 1], *taken = &inside[inner - 1];
        const uint64_t fit = node->memory ? (uint64_t)((MASK_BITS - span) / node->memory) + 1 : node->extent;
        if (fit < 2)
            break;
        *taken = *node;
        inner--;
        if (fit < node->extent) {
            taken->extent = fit;
            rest_node = count - 1;
            rest = node->extent % fit;
            node->extent /= fit;
            node->memory *= (int64_t)fit;
            more = false;
        } else
            count--;
        span += taken->memory * (int64_t)(taken->extent - 1);
    }
    link->shifts = !is_bytes(in.node, count, 0, delta_memory);
    const int64_t phase = link->shifts ? 0 : link->memory & 7;
    link->memory -= phase;
    link->bytes = (size_t)(span + phase + 7) / 8;
    link->mask = calloc(link->bytes, 1);
    if (!link->mask)
        return td_fail_alloc(link->bytes);
    draw_mask(l->plan, box, inside + inner, TD_MAX_BOUND + 1 - inner, phase - low, link->mask);
    status = take_loops(in.node, count, box->selectors, link);
    status = status ? status : cut_blocks(l);
    if (status || !rest)
        return status;
    td_copy_region left = *r;
    td_node *node = &left.node[rest_node];
    left.box.memory += (int64_t)(node->extent - rest) * node->memory;
    node->extent = rest;
    return td_link_add(l, &left, delta_memory, delta_select);
}
