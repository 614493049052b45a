/* Finds single elements and single bits in the boxes of a plan (locate.h). A box is a nest of loops whose steps add up
 * to a place. The loop of the longest stride is taken first, and only those of its steps are looked at from which the
 * loops inside can still reach what is wanted: of regular layouts one step of every loop. Words that a table places
 * are looked at one by one when a bit is searched. */
#include "plan/locate.h"

#include "plan/walk.h"

#include <stdlib.h>

/* The least and the greatest that the loops from one on, and the pieces of an element, add. */
typedef struct range {
    int64_t low, high;
} range;

typedef struct search {
    const td_plan *plan;
    const td_box *box;
    td_located_fn *fn;
    void *context;
    bool by_bit; /* a bit is searched, not an element */
    bool done;   /* fn has seen enough */

    td_node node[TD_WALK_NODES]; /* longest stride first */
    size_t count, selectors;     /* a search of bits has those that choose the ground first */
    range tensor[TD_WALK_NODES + 1], memory[TD_WALK_NODES + 1], select[TD_WALK_NODES + 1];

    int64_t elem;
    uint64_t bank, word, bit;
    int64_t target; /* the bit above the ground */
} search;

/* -- an element's bits --------------------------------------------------------------------------------------------- */

/* Gives what lies in one word after the other: of a flat layout elements lie across their ends. */
static void give(search *s, int64_t elem, td_at at, unsigned elem_bit, unsigned bits)
{
    const uint64_t word_bits = 8 * s->plan->geometry.word_bytes;
    const td_ground ground = td_ground_of(s->plan, at.select);
    for (unsigned done = 0; done < bits && !s->done;) {
        const uint64_t bit = (uint64_t)at.memory + done, room = word_bits - bit % word_bits;
        td_located place = {.elem = (uint64_t)elem,
                            .bank = ground.bank,
                            .word = ground.word + bit / word_bits,
                            .bit = bit % word_bits,
                            .elem_bit = elem_bit + done,
                            .bits = bits - done < room ? bits - done : (unsigned)room};
        if (!s->by_bit || place.word == s->word)
            s->done = !s->fn(s->context, &place);
        done += place.bits;
    }
}

static const td_piece *pieces_of(const search *s)
{
    return s->plan->piece + s->box->first_piece;
}

/* -- elements ------------------------------------------------------------------------------------------------------ */

static void give_elem(search *s, td_at at)
{
    const td_piece *piece = pieces_of(s);
    if (!s->box->piece_count && at.tensor == s->elem)
        give(s, s->elem, at, 0, s->plan->memory_dtype.bits);
    for (size_t i = 0; i < s->box->piece_count && !s->done; i++)
        if (at.tensor + piece[i].tensor == s->elem)
            give(s, s->elem, (td_at){at.tensor, at.memory + piece[i].memory, at.select}, piece[i].elem_bit,
                 piece[i].bits);
}

static int64_t divide_down(int64_t a, int64_t b)
{
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* Of the steps [*from, *to] those from which `wanted` can be reached, where a step adds `stride` and the loops inside
 * add a number of `rest`. */
static void narrow(int64_t at, int64_t stride, range wanted, range rest, int64_t *from, int64_t *to)
{
    const int64_t low = wanted.low - rest.high - at, high = wanted.high - rest.low - at;
    int64_t first = 0, last = 0;
    if (stride == 0) {
        if (low > 0 || high < 0)
            *to = *from - 1;
        return;
    }
    if (stride > 0) {
        first = -divide_down(-low, stride);
        last = divide_down(high, stride);
    } else {
        first = -divide_down(high, -stride);
        last = divide_down(-low, -stride);
    }
    *from = first > *from ? first : *from;
    *to = last < *to ? last : *to;
}

static void search_elem(search *s, size_t level, td_at at)
{
    if (level == s->count) {
        give_elem(s, at);
        return;
    }
    const td_node *node = &s->node[level];
    int64_t from = 0, to = (int64_t)node->extent - 1;
    narrow(at.tensor, node->tensor, (range){s->elem, s->elem}, s->tensor[level + 1], &from, &to);
    for (int64_t i = from; i <= to && !s->done; i++)
        search_elem(s, level + 1, td_at_step(at, node, (uint64_t)i));
}

/* -- bits ---------------------------------------------------------------------------------------------------------- */

static void give_bit(search *s, td_at at)
{
    const td_piece *piece = pieces_of(s);
    const int64_t bits = s->plan->memory_dtype.bits;
    if (!s->box->piece_count && s->target - at.memory >= 0 && s->target - at.memory < bits)
        give(s, at.tensor, at, 0, (unsigned)bits);
    for (size_t i = 0; i < s->box->piece_count && !s->done; i++) {
        const int64_t first = at.memory + piece[i].memory;
        if (s->target >= first && s->target < first + piece[i].bits)
            give(s, at.tensor + piece[i].tensor, (td_at){at.tensor, first, at.select}, piece[i].elem_bit,
                 piece[i].bits);
    }
}

/* Once all selectors have made their steps: whether this is the bank, and what the place is above the ground. */
static bool reach_ground(search *s, td_at at)
{
    const td_ground ground = td_ground_of(s->plan, at.select);
    s->target =
        ((int64_t)s->word - (int64_t)ground.word) * (int64_t)(8 * s->plan->geometry.word_bytes) + (int64_t)s->bit;
    return ground.bank == s->bank;
}

static void search_bit(search *s, size_t level, td_at at)
{
    const bool by_table = s->plan->table.entry != NULL;
    if (level == s->selectors && !reach_ground(s, at))
        return;
    if (level == s->count) {
        give_bit(s, at);
        return;
    }
    const td_node *node = &s->node[level];
    int64_t from = 0, to = (int64_t)node->extent - 1;
    if (!by_table && level < s->selectors)
        narrow(at.select, node->select, (range){(int64_t)s->bank, (int64_t)s->bank}, s->select[level + 1], &from, &to);
    if (!by_table || level >= s->selectors)
        narrow(at.memory, node->memory, (range){s->target, s->target}, s->memory[level + 1], &from, &to);
    for (int64_t i = from; i <= to && !s->done; i++)
        search_bit(s, level + 1, td_at_step(at, node, (uint64_t)i));
}

/* -- boxes --------------------------------------------------------------------------------------------------------- */

static range add_steps(range rest, int64_t stride, uint64_t extent)
{
    const int64_t far = stride * (int64_t)(extent - 1);
    return (range){rest.low + (far < 0 ? far : 0), rest.high + (far > 0 ? far : 0)};
}

static int64_t size_of(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

static bool is_longer(const td_node *a, const td_node *b, bool by_bit)
{
    if (!by_bit)
        return size_of(a->tensor) > size_of(b->tensor);
    if (a->select || b->select)
        return size_of(a->select) > size_of(b->select);
    return size_of(a->memory) > size_of(b->memory);
}

static void open_box(search *s, const td_box *box)
{
    range tensor = {0, 0}, memory = {0, (int64_t)s->plan->memory_dtype.bits - 1};
    s->box = box;
    s->count = box->node_count;
    s->selectors = 0;
    for (size_t i = 0; i < box->node_count; i++) {
        const td_node node = s->plan->node[box->first_node + i];
        size_t j = i;
        for (; j > 0 && is_longer(&node, &s->node[j - 1], s->by_bit); j--)
            s->node[j] = s->node[j - 1];
        s->node[j] = node;
        s->selectors += node.select != 0;
    }
    for (size_t i = 0; i < box->piece_count; i++) {
        const td_piece *piece = &pieces_of(s)[i];
        const range bits = {piece->memory, piece->memory + piece->bits - 1};
        tensor.low = piece->tensor < tensor.low ? piece->tensor : tensor.low;
        tensor.high = piece->tensor > tensor.high ? piece->tensor : tensor.high;
        memory.low = i && memory.low < bits.low ? memory.low : bits.low;
        memory.high = i && memory.high > bits.high ? memory.high : bits.high;
    }
    s->tensor[s->count] = tensor;
    s->memory[s->count] = memory;
    s->select[s->count] = (range){0, 0};
    for (size_t i = s->count; i-- > 0;) {
        s->tensor[i] = add_steps(s->tensor[i + 1], s->node[i].tensor, s->node[i].extent);
        s->memory[i] = add_steps(s->memory[i + 1], s->node[i].memory, s->node[i].extent);
        s->select[i] = add_steps(s->select[i + 1], s->node[i].select, s->node[i].extent);
    }
}

void td_plan_places(const td_plan *plan, uint64_t elem, td_located_fn *fn, void *context)
{
    search s = {.plan = plan, .fn = fn, .context = context, .elem = (int64_t)elem};
    for (size_t b = 0; b < plan->data_count && !s.done; b++) {
        open_box(&s, &plan->data[b]);
        search_elem(&s, 0, td_box_at(&plan->data[b]));
    }
}

void td_plan_elems(const td_plan *plan, uint64_t bank, uint64_t word, uint64_t bit, td_located_fn *fn, void *context)
{
    search s = {.plan = plan, .fn = fn, .context = context, .by_bit = true, .bank = bank, .word = word, .bit = bit};
    for (size_t b = 0; b < plan->data_count && !s.done; b++) {
        open_box(&s, &plan->data[b]);
        s.target = (int64_t)(word * 8 * plan->geometry.word_bytes + bit);
        search_bit(&s, 0, td_box_at(&plan->data[b]));
    }
}
