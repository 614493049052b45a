/* Loads and dumps of words that are scattered over a memory which lies elsewhere. Its copy would be as scattered, and every word of
 * it a cache line from memory, three times over. So these words are staged one behind the other, in time order: the
 * operation runs with the same layout without its address, and the addresses are in the list of runs alone. Where that
 * does not serve, the copy does. */
#include "transfer.h"

#include "lower.h"
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_WORDS 128 /* below, the second plan costs more than the copy */

/* Runs in time order, from strides. */
static void list_strides(struct td_transfer *t, const td_bound *bound, const td_words *words, uint64_t beats, int level,
                         int64_t address)
{
    const int last = bound->role_count[TD_ROLE_TIME] - 1;
    if (level > last) {
        td_transfer_add(t, (uint64_t)address, beats, 1);
        return;
    }
    const int axis = bound->role_axis[TD_ROLE_TIME][level];
    const uint64_t size = bound->axis[axis].size;
    const int64_t stride = words->address_stride[axis];
    if (level == last && beats == 1) {
        td_transfer_add(t, (uint64_t)address, size, stride);
        return;
    }
    for (uint64_t i = 0; i < size; i++)
        list_strides(t, bound, words, beats, level + 1, address + stride * (int64_t)i);
}

static td_status list_in_time_order(td_memory *memory, const td_plan *plan, const td_tensor *tensor,
                                    const td_layout *layout)
{
    struct td_transfer *t = memory->transfer;
    td_status status = TD_OK;
    t->count = 0;
    if (plan->table) {
        for (uint64_t i = 0; i < plan->table_count; i++)
            td_transfer_add(t, TD_TABLE_WORD(plan->table[i]), plan->beats, 1);
        return td_transfer_end(memory);
    }
    td_bound *bound = malloc(sizeof *bound);
    td_words *words = malloc(sizeof *words);
    if (!bound || !words)
        status = td_fail_alloc(sizeof *bound + sizeof *words);
    if (!status)
        status = td_bind(layout, &tensor->shape, bound);
    if (!status)
        status = td_places_find(bound, words);
    if (!status)
        list_strides(t, bound, words, layout->beats, 0, words->address);
    free(bound);
    free(words);
    return status ? status : td_transfer_end(memory);
}

static uint64_t count_words(const struct td_transfer *t)
{
    uint64_t words = 0;
    for (size_t i = 0; i < t->count; i++)
        words += t->run[i].count;
    return words;
}

static td_status make_stage(td_memory *memory, uint64_t words)
{
    struct td_transfer *t = memory->transfer;
    if (t->stage && t->stage->depth_words >= words)
        return TD_OK;
    td_memory_destroy(&t->stage);
    return td_memory_create(memory->name, memory->width_bits, words, &t->stage);
}

static td_status drop_address(struct td_transfer *t, const td_layout *layout)
{
    const td_layout *kept = t->dense_layout;
    if (kept && strcmp(kept->pattern.text, layout->pattern.text) == 0 &&
        strcmp(kept->options_text, layout->options_text) == 0)
        return TD_OK;
    td_layout_destroy(&t->dense_layout);
    return td_layout_make(layout->pattern.text, layout->options_text, "", &t->dense_layout);
}

td_status td_transfer_tensor(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                             int *partial)
{
    td_status status = td_transfer_layout(&memory, memory ? 1 : 0, tensor, layout, as, partial);
    struct td_transfer *t = status ? NULL : memory->transfer;
    if (!t || !t->count || !layout || layout->clip || layout->alias_last || layout->bank || !layout->address)
        return status;
    const uint64_t words = count_words(t);
    if (words < LEAST_WORDS || (t->count == 1 && t->run[0].step == 1))
        return TD_OK;
    td_plan *plan = NULL;
    if (!td_transfer_plan(&memory, 1, tensor, layout, as, &plan))
        return TD_OK;
    status = list_in_time_order(memory, plan, tensor, layout);
    td_plan_release(&plan);
    if (!status)
        status = make_stage(memory, words);
    if (!status)
        status = drop_address(t, layout);
    t->dense = !status && count_words(t) == words;
    return status;
}

/* The words to where they lie in the copy, which then serves. */
static void settle(td_memory *memory)
{
    struct td_transfer *t = memory->transfer;
    const unsigned char *from = t->stage->data;
    for (size_t i = 0; i < t->count; i++)
        for (uint64_t w = 0; w < t->run[i].count; w++, from += memory->word_bytes)
            memcpy(memory->data + (t->run[i].first + w * (uint64_t)t->run[i].step) * memory->word_bytes, from,
                   memory->word_bytes);
    t->dense = false;
}

/* A memory that is as deep as the words need. */
static bool view_stage(td_memory *memory, td_memory *view)
{
    struct td_transfer *t = memory ? memory->transfer : NULL;
    if (!t || !t->dense)
        return false;
    if (memory->unknown_any) {
        settle(memory);
        return false;
    }
    *view = *t->stage;
    view->depth_words = count_words(t);
    return true;
}

static const char *stored_as(const td_layout *layout, const char *as)
{
    return as && *as ? as : td_layout_as(layout);
}

td_status td_transfer_load(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as)
{
    td_memory view;
    if (!view_stage(memory, &view))
        return td_backdoor_load_tensor(memory, tensor, layout, as);
    return td_backdoor_load_tensor(&view, tensor, memory->transfer->dense_layout, stored_as(layout, as));
}

td_status td_transfer_dump(td_memory *memory, td_tensor *tensor, const td_layout *layout, const char *as)
{
    td_memory view;
    if (!view_stage(memory, &view))
        return td_backdoor_dump_tensor(memory, tensor, layout, as);
    return td_backdoor_dump_tensor(&view, tensor, memory->transfer->dense_layout, stored_as(layout, as));
}
