/* The walker over boxes (walk.h): where a walk begins, and the words of a plan as runs and as spans. Its steps are
 * inline in the header. Called by exec, backdoor, compare, design and show; fails only where spans need memory. */
#include "plan/walk.h"

#include "base/grow.h"

#include <stdlib.h>

void td_walk_grounds(td_walk *w, const td_plan *plan, const td_box *box)
{
    td_walk_begin(w, plan->node + box->first_node, box->selectors, td_box_at(box));
}

/* From node `from` on, all but the innermost. */
static void begin_rows(td_walk *w, const td_plan *plan, const td_box *box, size_t from, td_at at)
{
    static const td_node single = {.extent = 1};
    const td_node *node = plan->node + box->first_node;
    const bool has_row = box->node_count > box->selectors;
    td_walk_begin(w, node + from, box->node_count - from - has_row, at);
    w->row = has_row ? &node[box->node_count - 1] : &single;
}

void td_walk_rows(td_walk *w, const td_plan *plan, const td_box *box)
{
    begin_rows(w, plan, box, 0, td_box_at(box));
}

void td_walk_ground_rows(td_walk *w, const td_plan *plan, const td_box *box, td_at at)
{
    begin_rows(w, plan, box, box->selectors, at);
}

td_place td_place_of(const td_plan *plan, td_at at, unsigned bits)
{
    const uint64_t word_bits = plan->geometry.word_bytes * 8, bit = (uint64_t)at.memory % word_bits;
    const uint64_t end = bit + bits < plan->geometry.width_bits ? bit + bits : plan->geometry.width_bits;
    const td_ground ground = td_ground_of(plan, at.select);
    return (td_place){
        .bank = ground.bank, .address = ground.word + (uint64_t)at.memory / word_bits, .lsb = bit, .msb = end - 1};
}

uint64_t td_plan_count(const td_plan *plan)
{
    uint64_t all = 0;
    for (size_t b = 0; b < plan->data_count; b++) {
        const td_box *box = &plan->data[b];
        uint64_t elems = box->piece_count ? 0 : 1;
        for (size_t k = 0; k < box->piece_count; k++)
            elems += plan->piece[box->first_piece + k].elem_bit == 0;
        for (size_t i = 0; i < box->node_count; i++)
            elems *= plan->node[box->first_node + i].extent;
        all += elems;
    }
    return all;
}

/* -- words --------------------------------------------------------------------------------------------------------- */

static void set_run(td_word_walk *w)
{
    const td_place place = td_place_of(w->plan, w->walk.at, 1);
    w->bank = place.bank;
    w->first = place.address;
}

/* The innermost node becomes part of the run where its words are equally far apart. */
static void begin_box(td_word_walk *w)
{
    w->more = w->box < w->plan->words_count;
    if (!w->more)
        return;
    const td_box *box = &w->plan->words[w->box];
    const td_node *node = w->plan->node + box->first_node;
    const int64_t word_bits = (int64_t)w->plan->geometry.word_bytes * 8;
    size_t count = box->node_count;
    w->count = box->beats;
    w->step = 1;
    if (count > box->selectors) {
        const td_node *last = &node[count - 1];
        const bool stays = last->memory == 0, joins = last->memory == word_bits * (int64_t)box->beats;
        if (!stays && (joins || box->beats == 1)) {
            w->count *= last->extent;
            w->step = joins ? 1 : last->memory / word_bits;
        }
        count -= stays || joins || box->beats == 1;
    }
    td_walk_begin(&w->walk, node, count, td_box_at(box));
    set_run(w);
}

void td_walk_words(td_word_walk *w, const td_plan *plan)
{
    w->plan = plan;
    w->box = 0;
    begin_box(w);
}

void td_walk_next_words(td_word_walk *w)
{
    td_walk_next(&w->walk);
    if (w->walk.more) {
        set_run(w);
        return;
    }
    w->box++;
    begin_box(w);
}

/* -- spans --------------------------------------------------------------------------------------------------------- */

typedef struct spans {
    td_span *span;
    size_t count, size;
} spans;

static td_status add_span(spans *s, uint64_t bank, uint64_t first, uint64_t count)
{
    if (s->count) {
        td_span *last = &s->span[s->count - 1];
        if (last->bank == bank && last->first + last->count == first) {
            last->count += count;
            return TD_OK;
        }
    }
    td_span *const list = td_grow(s->span, s->count, &s->size, sizeof *list, 64);
    if (!list)
        return TD_NO_MEMORY;
    s->span = list;
    s->span[s->count++] = (td_span){.bank = bank, .first = first, .count = count};
    return TD_OK;
}

static int compare(const void *a, const void *b)
{
    const td_span *x = a, *y = b;
    if (x->bank != y->bank)
        return x->bank < y->bank ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void sort_and_merge(spans *s)
{
    qsort(s->span, s->count, sizeof *s->span, compare);
    size_t kept = 0;
    for (size_t i = 1; i < s->count; i++) {
        td_span *last = &s->span[kept];
        const uint64_t end = last->first + last->count, next_end = s->span[i].first + s->span[i].count;
        if (last->bank != s->span[i].bank || s->span[i].first > end)
            s->span[++kept] = s->span[i];
        else if (next_end > end)
            last->count = next_end - last->first;
    }
    s->count = kept + 1;
}

td_status td_plan_spans(const td_plan *plan, td_span **out, size_t *count)
{
    spans s = {0};
    td_status status = TD_OK;
    td_word_walk w;
    for (td_walk_words(&w, plan); w.more && !status; td_walk_next_words(&w)) {
        if (w.step == 1)
            status = add_span(&s, w.bank, w.first, w.count);
        else
            for (uint64_t i = 0; i < w.count && !status; i++)
                status = add_span(&s, w.bank, w.first + i * (uint64_t)w.step, 1);
    }
    if (status) {
        free(s.span);
        return status;
    }
    if (s.count) /* every load writes a word */
        sort_and_merge(&s);
    *out = s.span;
    *count = s.count;
    return TD_OK;
}
