/* What a layout touches: the words that a load writes, ascending and merged. */
#include "exec/exec.h"
#include "memory/memory.h"
#include "plan/cache.h"
#include "tensor/tensor.h"
#include "values/as.h"

#include <stdlib.h>

typedef struct word_walk {
    td_word_visit *visit;
    void *context;
} word_walk;

static void visit_inner(const word_walk *w, const td_plan *plan, uint64_t beats, const td_node *node, size_t count,
                        uint64_t bank, int64_t memory)
{
    const int64_t word_bits = (int64_t)plan->geometry.word_bytes * 8;
    if (count == 0) {
        w->visit(w->context, bank, (uint64_t)(memory / word_bits), beats);
        return;
    }
    if (count == 1 && node->memory == word_bits * (int64_t)beats) {
        w->visit(w->context, bank, (uint64_t)(memory / word_bits), node->extent * beats);
        return;
    }
    for (uint64_t i = 0; i < node->extent; i++)
        visit_inner(w, plan, beats, node + 1, count - 1, bank, memory + node->memory * (int64_t)i);
}

static void visit_selectors(const word_walk *w, const td_plan *plan, const td_box *box, size_t level, int64_t select,
                            int64_t memory)
{
    const td_node *node = &plan->node[box->first_node + level];
    if (level < box->selectors) {
        for (uint64_t i = 0; i < node->extent; i++)
            visit_selectors(w, plan, box, level + 1, select + node->select * (int64_t)i,
                            memory + node->memory * (int64_t)i);
        return;
    }
    uint64_t bank = (uint64_t)select;
    if (plan->table) {
        const uint64_t entry = plan->table[select];
        bank = TD_TABLE_BANK(entry);
        memory += (int64_t)(TD_TABLE_WORD(entry) * plan->geometry.word_bytes * 8);
    }
    visit_inner(w, plan, box->beats, node, box->node_count - level, bank, memory);
}

void td_exec_words(const td_plan *plan, td_word_visit *visit, void *context)
{
    const word_walk w = {visit, context};
    for (size_t b = 0; b < plan->words_count; b++)
        visit_selectors(&w, plan, &plan->words[b], 0, plan->words[b].select, plan->words[b].memory);
}

typedef struct collected {
    td_span *span;
    size_t count, room;
    bool failed;
} collected;

static void collect(void *context, uint64_t bank, uint64_t first, uint64_t count)
{
    collected *c = context;
    if (c->count) {
        td_span *last = &c->span[c->count - 1];
        if (last->bank == bank && last->first + last->count == first) {
            last->count += count;
            return;
        }
    }
    if (c->count == c->room) {
        const size_t room = c->room ? c->room * 2 : 64;
        td_span *grown = c->failed ? NULL : realloc(c->span, room * sizeof *grown);
        if (!grown) {
            c->failed = true;
            return;
        }
        c->span = grown;
        c->room = room;
    }
    c->span[c->count++] = (td_span){.bank = bank, .first = first, .count = count};
}

static int compare(const void *a, const void *b)
{
    const td_span *x = a, *y = b;
    if (x->bank != y->bank)
        return x->bank < y->bank ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* A load writes at least one word, so there is at least one span. */
static void sort_and_merge(collected *c)
{
    if (!c->span)
        return;
    qsort(c->span, c->count, sizeof *c->span, compare);
    size_t kept = 0;
    for (size_t i = 1; i < c->count; i++) {
        td_span *last = &c->span[kept];
        const uint64_t end = last->first + last->count, next_end = c->span[i].first + c->span[i].count;
        if (last->bank != c->span[i].bank || c->span[i].first > end)
            c->span[++kept] = c->span[i];
        else if (next_end > end)
            last->count = next_end - last->first;
    }
    c->count = kept + 1;
}

td_status td_plan_spans(const td_plan *plan, td_span **spans, size_t *count)
{
    collected c = {0};
    td_exec_words(plan, collect, &c);
    if (c.failed) {
        free(c.span);
        return td_fail_alloc(c.room * 2 * sizeof *c.span);
    }
    sort_and_merge(&c);
    *spans = c.span;
    *count = c.count;
    return TD_OK;
}

td_status td_layout_spans(const td_layout *layout, const td_tensor *tensor, const char *as, uint64_t width_bits,
                          const td_memory *memory, td_span **spans, size_t *count)
{
    if (!layout || !tensor || !spans || !count)
        return td_fail(TD_ARGUMENT, "layout_spans: the %s is NULL; pass one",
                       !layout   ? "layout"
                       : !tensor ? "tensor"
                                 : "output");
    if (!memory && (width_bits == 0 || width_bits > TD_MAX_WIDTH_BITS))
        return td_fail(TD_ARGUMENT, "layout_spans: a width of %llu bits; pass 1 to %llu",
                       (unsigned long long)width_bits, (unsigned long long)TD_MAX_WIDTH_BITS);
    td_as parsed = {0};
    td_status status = td_as_parse(as && *as ? as : td_layout_as(layout), tensor->dtype, &parsed);
    const uint64_t width = memory ? memory->width_bits : width_bits;
    const td_plan_request request = {.layout = layout,
                                     .shape = &tensor->shape,
                                     .tensor_dtype = tensor->dtype,
                                     .memory_dtype = parsed.dtype,
                                     .geometry = {.width_bits = width,
                                                  .depth_words = memory ? memory->depth_words : TD_MAX_DEPTH_WORDS,
                                                  .banks = TD_MAX_BANKS,
                                                  .word_bytes = td_word_bytes(width)}};
    td_plan *plan = NULL;
    if (!status)
        status = td_cache_plan(&request, &plan);
    if (status) {
        td_fail_prefix("layout_spans: ");
        return status;
    }
    status = td_plan_spans(plan, spans, count);
    td_plan_release(&plan);
    return status;
}
