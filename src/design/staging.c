/* Loads and dumps of one tensor and a memory that lies elsewhere, without the detour over its copy. Where the words in time order
 * are the tensor's own bytes, they cross from there or to there. Where they are scattered, the copy would be as
 * scattered, and every word of it a cache line from memory, three times over: these words are staged one behind the
 * other, the operation runs with the same layout without its address, and the addresses are in the list of runs alone.
 * Where neither serves, the copy does. */
#include "design/transfer.h"

#include "plan/passes.h"
#include "tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_WORDS 128 /* below, the second plan costs more than the copy */

/* Runs in time order, from strides. */
static void list_strides(struct td_transfer *t, const td_bound *bound, const td_words *words, uint64_t beats, int level,
                         int64_t address)
{
    const int last = bound->role_count[TD_ROLE_WORD] - 1;
    if (level > last) {
        td_transfer_add(t, (uint64_t)address, beats, 1);
        return;
    }
    const int axis = bound->role_axis[TD_ROLE_WORD][level];
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

/* The words that a plan's boxes reach. */
static uint64_t count_words(const td_plan *plan)
{
    uint64_t words = 0;
    for (size_t b = 0; b < plan->words_count; b++) {
        const td_box *box = &plan->words[b];
        uint64_t count = box->beats;
        for (const td_node *node = &plan->node[box->first_node]; node < &plan->node[box->first_node + box->node_count];
             node++)
            count *= node->memory || node->select ? node->extent : 1;
        words += count;
    }
    return words;
}

/* The tensor's bytes are the words, one behind the other from word `first` of the plan's memory on. */
static bool is_straight(const td_plan *plan, const td_tensor *tensor, uint64_t first, uint64_t words)
{
    if (plan->data_count != 1 || plan->pads_count || plan->lane_mask || plan->in_order || plan->table)
        return false;
    const td_box *box = plan->data;
    const td_node *node = &plan->node[box->first_node];
    const unsigned bits = 8u * tensor->dtype.bytes;
    return tensor->dtype.bits == bits && box->node_count == 1 && !box->selectors && !box->piece_count &&
           box->tensor == 0 && (uint64_t)box->memory == first * plan->geometry.word_bytes * 8 &&
           node->extent == tensor->elems && node->tensor == 1 && node->memory == bits &&
           tensor->elems * tensor->dtype.bytes == words * plan->geometry.word_bytes;
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

static const char *stored_as(const td_layout *layout, const char *as)
{
    return td_layout_choose_as(layout, as);
}

/* The operation could only copy: nothing to convert, to look at or to refuse is left. */
static bool may_borrow(const td_tensor *tensor, const td_layout *layout, const char *as, td_transfer_use use)
{
    return !*stored_as(layout, as) && !layout->dtype_text && !layout->keep && !layout->clip &&
           (use == TD_TRANSFER_LOAD || (use == TD_TRANSFER_DUMP_KNOWN && !tensor->read_only));
}

static bool may_stage(const td_layout *layout)
{
    return layout->address && !layout->clip && !layout->alias_last && !layout->bank;
}

static void borrow(struct td_transfer *t, const td_tensor *tensor)
{
    t->ordered = tensor->data;
    t->borrowed = true;
}

/* Scattered words, which are listed in time order. */
static td_status gather(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                        bool may_borrow_here)
{
    struct td_transfer *t = memory->transfer;
    td_memory view = {.width_bits = memory->width_bits, .depth_words = t->words, .word_bytes = memory->word_bytes};
    td_memory *const only = &view;
    td_plan *plan = NULL;
    td_status status = drop_address(t, layout);
    if (!status && may_borrow_here && td_transfer_plan(&only, 1, tensor, t->dense_layout, as, &plan) &&
        is_straight(plan, tensor, 0, t->words))
        borrow(t, tensor);
    td_plan_release(&plan);
    if (status || t->ordered)
        return status;
    status = make_stage(memory, t->words);
    t->ordered = status ? NULL : t->stage->data;
    return status;
}

static td_status find_words(td_memory *memory, const td_plan *plan, const td_tensor *tensor, const td_layout *layout,
                            const char *as, td_transfer_use use)
{
    struct td_transfer *t = memory->transfer;
    const uint64_t words = count_words(plan);
    const bool borrows = may_borrow(tensor, layout, as, use);
    td_status status = TD_OK;
    if (words >= LEAST_WORDS && may_stage(layout)) {
        status = list_in_time_order(memory, plan, tensor, layout);
        if (!status && t->words == words && (t->count > 1 || t->run[0].step != 1))
            return gather(memory, tensor, layout, as, borrows);
        t->count = 0;
        t->words = 0;
    }
    if (status)
        return status;
    td_transfer_list(&memory, plan);
    if (borrows && t->count == 1 && t->run[0].step == 1 && is_straight(plan, tensor, t->run[0].first, t->words))
        borrow(t, tensor);
    return td_transfer_end(memory);
}

td_status td_transfer_tensor(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                             td_transfer_use use, int *partial, int *borrowed)
{
    if (!memory || !partial || !borrowed)
        return td_fail(TD_ARGUMENT, "transfer_tensor: no %s; pass one", memory ? "place for an output" : "memory");
    *partial = layout && (layout->keep || layout->clip);
    *borrowed = 0;
    td_plan *plan = NULL;
    td_status status = td_transfer_begin(memory);
    if (status || !layout || !td_transfer_plan(&memory, 1, tensor, layout, as, &plan))
        return status;
    status = find_words(memory, plan, tensor, layout, as, use);
    td_plan_release(&plan);
    *borrowed = memory->transfer->borrowed;
    return status;
}

/* The words to where they lie in the copy, which then serves. */
static void settle(td_memory *memory)
{
    struct td_transfer *t = memory->transfer;
    const unsigned char *from = t->ordered;
    for (size_t i = 0; i < t->count; i++)
        for (uint64_t w = 0; w < t->run[i].count; w++, from += memory->word_bytes)
            memcpy(memory->data + (t->run[i].first + w * (uint64_t)t->run[i].step) * memory->word_bytes, from,
                   memory->word_bytes);
    t->ordered = NULL;
}

/* A memory that is as deep as the words need. */
static bool view_stage(td_memory *memory, td_memory *view)
{
    struct td_transfer *t = memory ? memory->transfer : NULL;
    if (!t || !t->ordered)
        return false;
    if (memory->unknown_any) {
        settle(memory);
        return false;
    }
    *view = *t->stage;
    view->depth_words = t->words;
    return true;
}

static bool is_borrowed(const td_memory *memory)
{
    return memory && memory->transfer && memory->transfer->borrowed;
}

td_status td_transfer_load(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as)
{
    td_memory view;
    if (is_borrowed(memory))
        return TD_OK;
    if (!view_stage(memory, &view))
        return td_backdoor_load_tensor(memory, tensor, layout, as);
    return td_backdoor_load_tensor(&view, tensor, memory->transfer->dense_layout, stored_as(layout, as));
}

td_status td_transfer_dump(td_memory *memory, td_tensor *tensor, const td_layout *layout, const char *as)
{
    td_memory view;
    if (is_borrowed(memory))
        return TD_OK;
    if (!view_stage(memory, &view))
        return td_backdoor_dump_tensor(memory, tensor, layout, as);
    return td_backdoor_dump_tensor(&view, tensor, memory->transfer->dense_layout, stored_as(layout, as));
}
