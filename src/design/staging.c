/* Loads and dumps of one tensor in a memory inside a design, without going through its copy. Where the words in word
 * order are the tensor's own bytes, they cross directly from the tensor or into it; so do the words between the first
 * and the last of a flat tensor that begins inside a word. Otherwise they are staged: the
 * operation runs on a buffer that holds the words consecutively, and only the list of runs has their addresses;
 * scattering them into the copy would cost a cache line per word, three times. Where neither works, the copy is
 * used. Called by a bridge (tensordoor_bridge.h). */
#include "backdoor/call.h"
#include "base/pages.h"
#include "base/record.h"
#include "design/transfer.h"

#include <stdlib.h>
#include <string.h>

/* The tensor's bytes are bytes of the plan's memory, one after another from bit `box->memory` on. */
static bool is_one_copy(const td_plan *plan, const td_tensor *tensor)
{
    if (plan->data_count != 1 || plan->pads_count || plan->lane_mask || plan->in_order || plan->table.entry)
        return false;
    const td_box *box = plan->data;
    const td_node *node = &plan->node[box->first_node];
    const unsigned bits = 8u * tensor->dtype.bytes;
    return tensor->dtype.bits == bits && box->node_count == 1 && !box->selectors && !box->piece_count &&
           box->tensor == 0 && box->memory % 8 == 0 && node->extent == tensor->elems && node->tensor == 1 &&
           node->memory == bits;
}

/* They are whole words, from word `first` on. */
static bool is_contiguous(const td_plan *plan, const td_tensor *tensor, uint64_t first, uint64_t words)
{
    return is_one_copy(plan, tensor) && (uint64_t)plan->data->memory == first * plan->geometry.word_bytes * 8 &&
           tensor->elems * tensor->dtype.bytes == words * plan->geometry.word_bytes;
}

/* True when the operation would only copy bytes: nothing to convert or to check. */
static bool only_copies(const td_layout *layout, const char *as)
{
    return !*as && !layout->dtype_text && (layout->flat || !layout->keep) && !layout->clip;
}

/* And nothing to refuse. */
static bool may_borrow(const td_tensor *tensor, const td_layout *layout, const char *as, td_transfer_use use)
{
    return only_copies(layout, as) &&
           (use == TD_TRANSFER_LOAD || (use == TD_TRANSFER_DUMP_KNOWN && !tensor->read_only));
}

/* The conditions of td_plan_request.dense. Without an address the copy is as dense as the buffer. */
static bool may_stage(const td_layout *layout)
{
    return layout->address && !layout->flat && !layout->skews && !layout->clip && !layout->alias_last && !layout->bank;
}

static td_status make_buffer(struct td_transfer *t, size_t bytes)
{
    if (t->buffer_bytes >= bytes)
        return TD_OK;
    td_pages_unmap(t->buffer, t->buffer_bytes);
    t->buffer = td_pages_map(&bytes, false);
    t->buffer_bytes = t->buffer ? bytes : 0;
    return t->buffer ? TD_OK : td_fail_alloc(bytes);
}

/* Lists the words, and finds where they cross from or to. */
static td_status place_words(td_memory *memory, td_plan *plan, const td_tensor *tensor, bool dense, bool borrows)
{
    struct td_transfer *t = memory->transfer;
    td_status status = dense ? td_transfer_list_dense(memory, plan) : td_transfer_list(&memory, 1, plan);
    if (status)
        return status;
    const bool together = dense || (t->count == 1 && t->run[0].step == 1);
    if (borrows && together && is_contiguous(plan, tensor, dense ? 0 : t->run[0].first, t->words)) {
        t->staged = tensor->data;
        t->borrowed = true;
    } else if (dense) {
        status = make_buffer(t, t->words * memory->word_bytes);
        t->staged = t->buffer;
    }
    return status;
}

/* A flat layout writes every bit from its first to its last, so only the first and the last word have to be read
 * from the design. */
static bool list_edges(struct td_transfer *t, const td_plan *plan, const td_layout *layout)
{
    const uint64_t width = plan->geometry.width_bits, bits = plan->memory_dtype.bits, lsb = layout->lsb_bits % width;
    const bool gaps = layout->clip || (layout->slot_bits && layout->slot_bits != bits);
    if (!layout->flat || gaps || t->count != 1 || t->run[0].step != 1)
        return layout->keep || layout->clip;
    const bool plain = !plan->pads_count && !plan->repeats && !plan->windows && !layout->byte_addresses;
    const bool first = lsb != 0 || layout->byte_addresses, last = !plain || (lsb + plan->elems * bits) % width != 0;
    if (!first && !last)
        return false;
    t->whole = t->run[0];
    t->count = t->words = 0;
    if (first)
        t->run[t->count++] = (td_word_run){.first = t->whole.first, .count = 1, .step = 1};
    if (last && (!first || t->whole.count > 1))
        t->run[t->count++] = (td_word_run){.first = t->whole.first + t->whole.count - 1, .count = 1, .step = 1};
    t->words = t->count;
    return true;
}

/* For a list that is not the one whose words came in. */
static void start_over(struct td_transfer *t)
{
    t->whole.count = 0;
    t->next = (td_crossing){0};
    t->expected = false;
}

#define LENT_WORDS 16 /* fewer are not worth three runs */

static void lend(struct td_transfer *t, const td_plan *plan, const td_tensor *tensor)
{
    if (t->count == 1 && t->run[0].step == 1 && t->words >= LENT_WORDS && is_one_copy(plan, tensor))
        t->lent = (td_lent_bytes){.data = tensor->data,
                                  .first = (uint64_t)plan->data->memory / 8,
                                  .count = tensor->elems * tensor->dtype.bytes};
}

/* The words of a lent tensor: those at its ends in the copy, the others in the tensor. */
static bool list_lent(struct td_transfer *t, size_t word_bytes)
{
    const td_lent_bytes *l = &t->lent;
    const uint64_t end = l->first + l->count, low = (l->first + word_bytes - 1) / word_bytes, high = end / word_bytes;
    td_word_run *run = t->room < 3 ? realloc(t->run, 3 * sizeof *run) : t->run;
    if (!run)
        return false;
    t->room = t->room < 3 ? 3 : t->room;
    t->run = run;
    t->count = 0;
    if (l->first % word_bytes)
        t->run[t->count++] = (td_word_run){.first = low - 1, .count = 1, .step = 1};
    t->run[t->count++] =
        (td_word_run){.first = low, .count = high - low, .step = 1, .data = l->data + (low * word_bytes - l->first)};
    if (end % word_bytes)
        t->run[t->count++] = (td_word_run){.first = high, .count = 1, .step = 1};
    t->words = high - low + t->count - 1;
    start_over(t);
    return true;
}

/* The bytes of a lent tensor that lie in words which are not all its own: to the copy, or from it. */
static void move_ends(td_memory *memory, bool to_tensor)
{
    const td_lent_bytes *l = &memory->transfer->lent;
    const uint64_t word_bytes = memory->word_bytes, head = (word_bytes - l->first % word_bytes) % word_bytes,
                   tail = (l->first + l->count) % word_bytes;
    const struct {
        uint64_t at, bytes;
    } end[] = {{0, head}, {l->count - tail, tail}};
    for (int i = 0; i < 2; i++) {
        unsigned char *in_tensor = l->data + end[i].at, *in_copy = memory->data + l->first + end[i].at;
        memcpy(to_tensor ? in_tensor : in_copy, to_tensor ? in_copy : in_tensor, end[i].bytes);
    }
}

/* After the two edge words have come in and the operation has run: all its words go out. */
static void list_whole(struct td_transfer *t)
{
    if (!t->whole.count)
        return;
    t->run[0] = t->whole;
    t->count = 1;
    t->words = t->whole.count;
    start_over(t);
}

/* Of a memory that lies over others: its words do without the copies below where they can, and without its own where
 * they are those of the tensor. */
static td_status pass_words(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                            td_transfer_use use, int partial, int *borrowed)
{
    struct td_transfer *t = memory->transfer;
    td_plan *plan = NULL;
    const td_status status = td_passing_begin(memory);
    if (status || !tensor || !layout || !td_passing_is_on(memory) || partial || t->count != 1)
        return status;
    as = td_layout_choose_as(layout, as);
    if (!only_copies(layout, as) || (use != TD_TRANSFER_LOAD && tensor->read_only) ||
        !td_transfer_plan(&memory, 1, tensor, layout, as, false, &plan))
        return TD_OK;
    if (is_contiguous(plan, tensor, t->run[0].first, t->words)) {
        const bool known = use == TD_TRANSFER_LOAD || (use == TD_TRANSFER_DUMP_KNOWN && td_memory_passes(memory, true));
        td_passing_lend(memory, tensor->data, !known);
        t->borrowed = true;
    }
    td_plan_release(&plan);
    *borrowed = t->borrowed;
    return TD_OK;
}

td_status td_transfer_tensor(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                             td_transfer_use use, int *partial, int *borrowed)
{
    if (!memory || !partial || !borrowed)
        return td_fail(TD_ARGUMENT, "transfer_tensor: no %s; pass one", memory ? "place for an output" : "memory");
    *partial = layout && (layout->keep || layout->clip);
    *borrowed = 0;
    if (memory->backing) {
        const td_status listed = td_transfer_layout(&memory, 1, tensor, layout, as, partial);
        return listed ? listed : pass_words(memory, tensor, layout, as, use, *partial, borrowed);
    }
    td_plan *plan = NULL;
    td_status status = td_transfer_begin(memory);
    if (status || !tensor || !layout)
        return status;
    const bool dense = may_stage(layout);
    as = td_layout_choose_as(layout, as);
    if (!td_transfer_plan(&memory, 1, tensor, layout, as, dense, &plan))
        return TD_OK;
    const bool borrows = may_borrow(tensor, layout, as, use);
    struct td_transfer *t = memory->transfer;
    status = place_words(memory, plan, tensor, dense, borrows);
    if (!status && borrows && layout->flat && !t->borrowed)
        lend(t, plan, tensor);
    if (!status && use == TD_TRANSFER_LOAD && !t->borrowed)
        *partial = list_edges(t, plan, layout);
    else if (!status && t->lent.data && !list_lent(t, memory->word_bytes))
        t->lent.data = NULL;
    else if (layout->flat && t->borrowed)
        *partial = 0;
    td_plan_release(&plan);
    *borrowed = t->borrowed || t->lent.data;
    return status;
}

/* Writes the staged words to their addresses in the copy, which is used from then on. */
static void settle(td_memory *memory)
{
    struct td_transfer *t = memory->transfer;
    const unsigned char *from = t->staged;
    for (size_t i = 0; i < t->count; i++)
        for (uint64_t w = 0; w < t->run[i].count; w++, from += memory->word_bytes)
            memcpy(memory->data + (t->run[i].first + w * (uint64_t)t->run[i].step) * memory->word_bytes, from,
                   memory->word_bytes);
    t->staged = NULL;
}

/* A lent tensor after all in the copy, where x and z are known. */
static void take_back(td_memory *memory, bool writes_tensor)
{
    struct td_transfer *t = memory->transfer;
    for (size_t i = 0; i < t->count && writes_tensor; i++)
        if (t->run[i].data)
            memcpy(memory->data + t->run[i].first * memory->word_bytes, t->run[i].data,
                   t->run[i].count * memory->word_bytes);
    for (size_t i = 0; i < t->count; i++)
        t->run[i].data = NULL;
    t->lent.data = NULL;
}

/* Runs the operation on the copy, or on the buffer as the same memory with other storage. Only the copy has x and z. */
static td_status run_call(td_memory *memory, const td_call *given)
{
    td_call call = *given;
    struct td_transfer *t = memory ? memory->transfer : NULL;
    const td_memory *bank = memory;
    td_memory view;
    bool passes = false;
    if (t && t->lent.data && (memory->unknown_any || (!call.writes_tensor && !list_lent(t, memory->word_bytes))))
        take_back(memory, call.writes_tensor);
    if (t && td_passing_is_on(memory)) {
        passes = td_passing_end(memory);
        t->borrowed = t->borrowed && passes;
    }
    if (t && (t->borrowed || t->lent.data)) {
        const td_tensor *tensor = call.tensor;
        const td_status status = tensor && tensor->origin ? td_file_check(tensor->origin) : TD_OK;
        if (!status && t->lent.data)
            move_ends(memory, call.writes_tensor);
        return status ? td_call_fail(&call, status) : TD_OK;
    }
    if (t && t->staged && memory->unknown_any)
        settle(memory);
    if (t && t->staged) {
        view = *memory;
        view.data = t->staged;
        bank = &view;
        call.staged_words = t->words;
    } else if (passes) {
        view = *memory;
        view.backing = NULL;
        bank = &view;
    }
    call.bank = &bank;
    call.banks = 1;
    td_status status = td_call_run(&call);
    if (t && !status)
        list_whole(t);
    return status;
}

/* The same, told to who records. */
static td_status run_staged(td_memory *memory, const td_call *given)
{
    const td_status status = run_call(memory, given);
    if (!status && td_record_heard())
        td_record(&(td_recorded){.kind = given->writes_tensor ? TD_RECORDED_DUMP : TD_RECORDED_LOAD,
                                 .banks = &memory,
                                 .bank_count = 1,
                                 .tensor = given->tensor,
                                 .layout = given->layout,
                                 .as = given->as});
    return status;
}

td_status td_transfer_load(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as)
{
    return run_staged(memory,
                      &(td_call){.operation = "backdoor_load_tensor", .tensor = tensor, .layout = layout, .as = as});
}

td_status td_transfer_dump(td_memory *memory, td_tensor *tensor, const td_layout *layout, const char *as)
{
    return run_staged(
        memory,
        &(td_call){
            .operation = "backdoor_dump_tensor", .tensor = tensor, .layout = layout, .as = as, .writes_tensor = true});
}
