/* Words on their way between a memory and the one that it is a copy of, which lies elsewhere: an array in a simulated design.
 * The DPI layer calls it around every operation on such a memory. A transfer is a list of runs; it never judges an operation:
 * what the operation will refuse moves no word here, and the operation says why. */
#include "design/transfer.h"

#include "layout/layout.h"
#include "plan/cache.h"
#include "plan/walk.h"
#include "tensor/tensor.h"
#include "values/as.h"

#include <stdlib.h>

/* -- the list of runs -------------------------------------------------------------------------------------------------- */

td_status td_transfer_begin(td_memory *memory)
{
    if (!memory->transfer) {
        memory->transfer = calloc(1, sizeof *memory->transfer);
        if (!memory->transfer)
            return td_fail_alloc(sizeof *memory->transfer);
    }
    struct td_transfer *t = memory->transfer;
    t->count = 0;
    t->words = 0;
    t->failed = false;
    t->next = (td_crossing){0};
    t->expected = false;
    t->ordered = NULL;
    t->borrowed = false;
    memory->unknown_any = false;
    return TD_OK;
}

static void append(struct td_transfer *t, uint64_t first, uint64_t count, int64_t step)
{
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 16;
        td_word_run *grown = t->failed ? NULL : realloc(t->run, room * sizeof *grown);
        if (!grown) {
            t->failed = true;
            return;
        }
        t->run = grown;
        t->room = room;
    }
    /* a step of 0 means a list where runs cross, and one word has none */
    t->run[t->count++] = (td_word_run){.first = first, .count = count, .step = step ? step : 1};
}

/* Grows the last run where that says the same, so that addresses which come one by one still cross as runs. */
void td_transfer_add(struct td_transfer *t, uint64_t first, uint64_t count, int64_t step)
{
    td_word_run *last = t->count ? &t->run[t->count - 1] : NULL;
    if (last && last->count == 1 && count == 1 && first == last->first)
        return; /* the same word once more */
    t->words += count;
    if (last && last->count == 1 && (count == 1 || first - last->first == (uint64_t)step))
        last->step = (int64_t)(first - last->first);
    if (last && first == last->first + last->count * (uint64_t)last->step && (count == 1 || step == last->step))
        last->count += count;
    else
        append(t, first, count, step);
}

td_status td_transfer_end(td_memory *memory)
{
    struct td_transfer *t = memory->transfer;
    if (!t->failed)
        return TD_OK;
    t->count = 0;
    return td_fail_alloc(2 * t->room * sizeof *t->run);
}

/* -- the words of a layout --------------------------------------------------------------------------------------------- */

void td_transfer_list(td_memory *const *banks, const td_plan *plan)
{
    td_word_walk w;
    for (td_walk_words(&w, plan); w.more; td_walk_next_words(&w))
        td_transfer_add(banks[w.bank]->transfer, w.first, w.count, w.step);
}

bool td_transfer_plan(td_memory *const *banks, size_t count, const td_tensor *tensor, const td_layout *layout,
                      const char *as, td_plan **plan)
{
    td_as parsed = {0};
    if (!tensor || !layout || td_as_parse(td_layout_choose_as(layout, as), tensor->dtype, &parsed))
        return false;
    const td_plan_request request = {.layout = layout,
                                     .shape = &tensor->shape,
                                     .tensor_dtype = tensor->dtype,
                                     .memory_dtype = parsed.dtype,
                                     .geometry = {.width_bits = banks[0]->width_bits,
                                                  .depth_words = banks[0]->depth_words,
                                                  .banks = count,
                                                  .word_bytes = banks[0]->word_bytes}};
    return td_cache_plan(&request, plan) == TD_OK;
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
        td_status status = td_transfer_begin(banks[i]);
        if (status)
            return status;
        if (banks[i]->width_bits != banks[0]->width_bits || banks[i]->depth_words != banks[0]->depth_words)
            return TD_OK;
    }
    td_plan *plan = NULL;
    if (!td_transfer_plan(banks, count, tensor, layout, as, &plan))
        return TD_OK;
    td_transfer_list(banks, plan);
    td_plan_release(&plan);
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = td_transfer_end(banks[i]);
    return status;
}

/* -- the words of the other operations --------------------------------------------------------------------------------- */

td_status td_transfer_span(td_memory *memory, uint64_t first, uint64_t count)
{
    if (!memory)
        return td_fail(TD_ARGUMENT, "transfer_span: the memory is NULL; create it first");
    td_status status = td_transfer_begin(memory);
    if (status)
        return status;
    if (count && first < memory->depth_words && count <= memory->depth_words - first)
        td_transfer_add(memory->transfer, first, count, 1);
    return td_transfer_end(memory);
}

td_status td_transfer_words(td_memory *memory, const uint64_t *addresses, size_t count)
{
    if (!memory || (!addresses && count))
        return td_fail(TD_ARGUMENT, "transfer_words: the %s NULL; pass one",
                       memory ? "list of addresses is" : "memory is");
    td_status status = td_transfer_begin(memory);
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        if (addresses[i] < memory->depth_words)
            td_transfer_add(memory->transfer, addresses[i], 1, 1);
    return td_transfer_end(memory);
}

td_status td_transfer_file(td_memory *memory, const char *path)
{
    if (!memory || !path)
        return td_fail(TD_ARGUMENT, "transfer_file: the %s is NULL; pass one", memory ? "path" : "memory");
    td_status status = td_transfer_begin(memory);
    if (status)
        return status;
    td_span *spans = NULL;
    size_t count = 0;
    if (td_image_spans(path, memory->width_bits, &spans, &count))
        return TD_OK;
    for (size_t i = 0; i < count; i++)
        if (spans[i].first < memory->depth_words && spans[i].count <= memory->depth_words - spans[i].first)
            td_transfer_add(memory->transfer, spans[i].first, spans[i].count, 1);
    free(spans);
    return td_transfer_end(memory);
}

void td_transfer_free(td_memory *memory)
{
    if (memory->transfer) {
        td_memory_destroy(&memory->transfer->stage);
        td_layout_destroy(&memory->transfer->dense_layout);
        free(memory->transfer->run);
    }
    free(memory->transfer);
}
