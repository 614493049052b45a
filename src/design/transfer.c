/* Lists the words of an operation on a memory that is the copy of an array inside a simulated design. A bridge
 * (tensordoor_bridge.h; ours is dpi/transfer.c) calls it before every operation on such a memory. The words are a
 * list of runs. It refuses nothing: words that the operation will refuse are left out, and the operation gives the
 * reason. */
#include "design/transfer.h"

#include "backdoor/parts.h"
#include "base/grow.h"

#include "backdoor/call.h"
#include "base/pages.h"
#include "layout/layout.h"
#include "plan/walk.h"
#include "values/as.h"

#include <inttypes.h>
#include <stdlib.h>

#define MAX_DEPTH ((uint64_t)1 << 32) /* words: the addresses of a chunk have 32 bits */

/* -- the list of runs ---------------------------------------------------------------------------------------------- */

static void free_transfer(struct td_transfer *t)
{
    td_plan_release(&t->listed);
    td_passing_stop(t);
    free(t->passing.run);
    td_pages_unmap(t->buffer, t->buffer_bytes);
    free(t->run);
    free(t);
}

static td_status begin(td_memory *memory)
{
    if (memory->depth_words > MAX_DEPTH)
        return td_fail(TD_ARGUMENT,
                       "transfer \"%s\": %" PRIu64 " words; a memory that lies elsewhere has at most %" PRIu64,
                       memory->name, memory->depth_words, MAX_DEPTH);
    if (!memory->transfer) {
        memory->transfer = calloc(1, sizeof *memory->transfer);
        if (!memory->transfer)
            return td_fail_alloc(sizeof *memory->transfer);
        memory->transfer_free = free_transfer;
    }
    struct td_transfer *t = memory->transfer;
    t->count = 0;
    t->words = 0;
    t->whole = (td_word_run){0};
    t->lent = (td_lent_bytes){0};
    t->next = (td_crossing){0};
    t->left_ticks = 0;
    t->expected = false;
    t->staged = NULL;
    t->borrowed = false;
    t->shared = false;
    td_passing_stop(t);
    return TD_OK;
}

td_status td_transfer_begin(td_memory *memory)
{
    const td_status status = begin(memory);
    if (status)
        return status;
    if (memory->transfer->crosses)
        memory->unknown_any = false;
    return memory->backing ? td_layers_begin(memory) : TD_OK;
}

/* Empties the list before words other than those of `listed` are added. */
static void empty_list(struct td_transfer *t)
{
    t->count = 0;
    t->words = 0;
    t->failed = false;
    if (t->listed)
        td_plan_release(&t->listed);
}

td_status td_transfer_begin_list(td_memory *memory)
{
    td_status status = td_transfer_begin(memory);
    if (!status)
        empty_list(memory->transfer);
    return status;
}

td_status td_transfer_list_again(td_memory *memory)
{
    size_t count = 0;
    td_memory *const *below = memory->backing ? memory->backing->below(memory, &count) : NULL;
    td_status status = begin(memory);
    if (!status)
        empty_list(memory->transfer);
    for (size_t i = 0; i < count && !status; i++)
        status = td_transfer_list_again(below[i]);
    return status;
}

static void append(struct td_transfer *t, uint64_t first, uint64_t count, int64_t step)
{
    td_word_run *const runs = t->failed ? NULL : td_grow(t->run, t->count, &t->room, sizeof *runs, 16);
    if (!runs) {
        t->failed = true;
        return;
    }
    t->run = runs;
    /* one word needs no step, but a step of 0 would mean a list where runs cross */
    t->run[t->count++] = (td_word_run){.first = first, .count = count, .step = step ? step : 1};
}

/* Extends the last run where possible, so that addresses which arrive one by one still cross as runs. */
static void add(struct td_transfer *t, uint64_t first, uint64_t count, int64_t step)
{
    td_word_run *last = t->count ? &t->run[t->count - 1] : NULL;
    if (last && last->count == 1 && count == 1 && first == last->first)
        return; /* the same word again */
    t->words += count;
    if (last && last->count == 1 && (count == 1 || first - last->first == (uint64_t)step))
        last->step = (int64_t)(first - last->first);
    if (last && first == last->first + last->count * (uint64_t)last->step && (count == 1 || step == last->step))
        last->count += count;
    else
        append(t, first, count, step);
}

void td_transfer_add_span(struct td_transfer *t, uint64_t first, uint64_t count)
{
    td_word_run *last = t->count ? &t->run[t->count - 1] : NULL;
    if (!last || first < last->first || first > last->first + last->count)
        append(t, first, count, 1);
    else if (first + count > last->first + last->count)
        last->count = first + count - last->first;
}

void td_transfer_add_passing(struct td_transfer *t, const td_passing_run *run)
{
    append(t, run->first, run->count, 1);
    if (!t->failed)
        t->run[t->count - 1].above = run->above;
    t->words += run->count;
}

td_status td_transfer_end_list(struct td_transfer *t)
{
    if (!t->failed)
        return TD_OK;
    t->count = 0;
    return td_fail_alloc(2 * t->room * sizeof *t->run);
}

/* -- the words of a layout ----------------------------------------------------------------------------------------- */

static td_status end_lists(td_memory *const *banks, size_t count)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = td_transfer_end_list(banks[i]->transfer);
    return status ? status : td_layers_spread(banks, count);
}

static bool any_layers(td_memory *const *banks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (banks[i]->backing)
            return true;
    return false;
}

/* Words that several vectors write cross once. */
static td_status list_spans(td_memory *const *banks, size_t count, const td_plan *plan)
{
    td_span *spans = NULL;
    size_t span_count = 0;
    td_status status = td_plan_spans(plan, &spans, &span_count);
    for (size_t i = 0; i < span_count && !status; i++)
        add(banks[spans[i].bank]->transfer, spans[i].first, spans[i].count, 1);
    free(spans);
    return status ? status : end_lists(banks, count);
}

td_status td_transfer_list(td_memory *const *banks, size_t count, const td_plan *plan)
{
    td_word_walk w;
    for (size_t i = 0; i < count; i++)
        empty_list(banks[i]->transfer);
    if (plan->skewed || any_layers(banks, count)) /* what lies below is looked for in spans */
        return list_spans(banks, count, plan);
    for (td_walk_words(&w, plan); w.more; td_walk_next_words(&w))
        add(banks[w.bank]->transfer, w.first, w.count, w.step);
    return end_lists(banks, count);
}

/* One run per row; the innermost node is part of the run where a vector is one word. */
static void list_places(struct td_transfer *t, const td_plan *plan)
{
    const int64_t word_bits = (int64_t)plan->geometry.word_bytes * 8;
    const bool inner = plan->beats == 1 && plan->place_count > 0;
    const size_t outer = plan->place_count - inner;
    const uint64_t run = inner ? plan->place[outer].extent : plan->beats;
    const int64_t step = inner ? plan->place[outer].memory / word_bits : 1;
    for (uint64_t row = 0; row < plan->dense_words / run; row++) {
        uint64_t rest = row, first = plan->first_place;
        for (size_t i = outer; i-- > 0; rest /= plan->place[i].extent)
            first += rest % plan->place[i].extent * (uint64_t)(plan->place[i].memory / word_bits);
        add(t, first, run, step);
    }
}

td_status td_transfer_list_dense(td_memory *memory, td_plan *plan)
{
    struct td_transfer *t = memory->transfer;
    if (t->listed == plan) {
        t->count = t->listed_count;
        t->words = plan->dense_words;
        return TD_OK;
    }
    empty_list(t);
    if (plan->place_table.entry)
        for (uint64_t i = 0; i < plan->place_table.count; i++)
            add(t, td_table_get(&plan->place_table, i), plan->beats, 1); /* of one bank */
    else
        list_places(t, plan);
    td_status status = td_transfer_end_list(t);
    if (!status) {
        td_plan_hold(plan);
        t->listed = plan;
        t->listed_count = t->count;
    }
    return status;
}

bool td_transfer_plan(td_memory *const *banks, size_t count, const td_tensor *tensor, const td_layout *layout,
                      const char *as, bool dense, td_plan **plan)
{
    td_as parsed = {.dtype = tensor->dtype};
    if (*as && td_as_parse(as, tensor->dtype, &parsed))
        return false;
    const td_call call = {.bank = (const td_memory *const *)banks,
                          .banks = count,
                          .tensor = tensor,
                          .layout = layout,
                          .staged_words = dense};
    return td_call_plan(&call, parsed.dtype, plan) == TD_OK;
}

td_status td_transfer_layout(td_memory *const *banks, size_t count, const td_tensor *tensor, const td_layout *layout,
                             const char *as, int *partial)
{
    if (!banks || !count || !partial)
        return td_fail(TD_ARGUMENT, "transfer_layout: no %s; pass one", partial ? "memory" : "place for `partial`");
    *partial = layout && (layout->keep || layout->clip);
    for (size_t i = 0; i < count; i++) {
        if (!banks[i])
            return td_fail(TD_ARGUMENT, "transfer_layout: bank %zu is NULL; create it first", i);
        td_status status = td_transfer_begin_list(banks[i]);
        if (status)
            return status;
        if (banks[i]->width_bits != banks[0]->width_bits || banks[i]->depth_words != banks[0]->depth_words)
            return TD_OK;
    }
    td_plan *plan = NULL;
    if (!tensor || !layout ||
        !td_transfer_plan(banks, count, tensor, layout, td_layout_choose_as(layout, as), false, &plan))
        return TD_OK;
    td_status status = td_transfer_list(banks, count, plan);
    td_plan_release(&plan);
    for (size_t i = 0; i < count; i++)
        *partial |= banks[i]->transfer->shared;
    return status;
}

/* A word that two parts share crosses twice. */
static void list_part(const td_placed_part *part)
{
    td_span *spans = NULL;
    size_t count = 0;
    if (td_plan_spans(part->plan, &spans, &count) != TD_OK)
        part->bank[0]->transfer->failed = true;
    for (size_t i = 0; i < count; i++)
        add(part->bank[spans[i].bank]->transfer, spans[i].first, spans[i].count, 1);
    free(spans);
}

td_status td_transfer_parts(td_memory *const *memories, size_t count, const td_tensor *tensor,
                            const td_parts_layout *layout, td_transfer_use use, int *partial)
{
    td_placed placed;
    if (!memories || !count || !partial)
        return td_fail(TD_ARGUMENT, "transfer_parts: no %s; pass one", partial ? "memory" : "place for `partial`");
    *partial = 0;
    for (size_t i = 0; i < count; i++) {
        if (!memories[i])
            return td_fail(TD_ARGUMENT, "transfer_parts: memory %zu is NULL; create it first", i);
        const td_status status = td_transfer_begin_list(memories[i]);
        if (status)
            return status;
    }
    const td_parts_call call = {.operation = "transfer_parts",
                                .memories = memories,
                                .count = count,
                                .tensor = tensor,
                                .layout = layout,
                                .from_tensor = use == TD_TRANSFER_LOAD};
    const td_status opened = td_placed_open(&call, &placed);
    for (int kind = 0; kind < TD_MOST_PARTS && !opened; kind++)
        if (placed.part[kind].layout) {
            *partial |= placed.part[kind].layout->keep || placed.part[kind].layout->clip;
            list_part(&placed.part[kind]);
        }
    td_placed_close(&placed, opened);
    const td_status status = end_lists(memories, count);
    for (size_t i = 0; i < count; i++)
        *partial |= memories[i]->transfer->shared;
    return status;
}

/* -- the words of the other operations ----------------------------------------------------------------------------- */

td_status td_transfer_span(td_memory *memory, uint64_t first, uint64_t count)
{
    if (!memory)
        return td_fail(TD_ARGUMENT, "transfer_span: the memory is NULL; create it first");
    td_status status = td_transfer_begin_list(memory);
    if (status)
        return status;
    if (count && first < memory->depth_words && count <= memory->depth_words - first)
        add(memory->transfer, first, count, 1);
    return end_lists(&memory, 1);
}

td_status td_transfer_all(td_memory *const *banks, size_t count)
{
    td_status status = banks && count ? TD_OK : td_fail(TD_ARGUMENT, "transfer_all: no memory; pass one");
    for (size_t i = 0; i < count && !status; i++)
        status = banks[i] ? td_transfer_begin_list(banks[i])
                          : td_fail(TD_ARGUMENT, "transfer_all: bank %zu is NULL; create it first", i);
    for (size_t i = 0; i < count && !status; i++)
        add(banks[i]->transfer, 0, banks[i]->depth_words, 1);
    return status ? status : end_lists(banks, count);
}

int td_transfer_shared(const td_memory *memory)
{
    return memory && memory->transfer && memory->transfer->shared;
}

td_status td_transfer_words(td_memory *memory, const uint64_t *addresses, size_t count)
{
    if (!memory || (!addresses && count))
        return td_fail(TD_ARGUMENT, "transfer_words: the %s NULL; pass one",
                       memory ? "list of addresses is" : "memory is");
    td_status status = td_transfer_begin_list(memory);
    if (status)
        return status;
    bool again = false; /* a write begins a new run there, which may be a part of its rows only */
    for (size_t i = 0; i < count; i++) {
        again |= i && addresses[i] == addresses[i - 1];
        if (addresses[i] < memory->depth_words)
            add(memory->transfer, addresses[i], 1, 1);
    }
    status = end_lists(&memory, 1);
    memory->transfer->shared |= again && memory->backing;
    return status;
}

td_status td_transfer_file(td_memory *memory, const char *path)
{
    if (!memory || !path)
        return td_fail(TD_ARGUMENT, "transfer_file: the %s is NULL; pass one", memory ? "path" : "memory");
    td_status status = td_transfer_begin_list(memory);
    if (status)
        return status;
    td_span *spans = NULL;
    size_t count = 0;
    if (td_image_spans(path, memory->width_bits, &spans, &count))
        return TD_OK;
    /* What lies past the memory is skipped with outside=skip; without it the load refuses the file. */
    for (size_t i = 0; i < count; i++)
        if (spans[i].first < memory->depth_words) {
            const uint64_t left = memory->depth_words - spans[i].first;
            add(memory->transfer, spans[i].first, spans[i].count < left ? spans[i].count : left, 1);
        }
    free(spans);
    return end_lists(&memory, 1);
}
