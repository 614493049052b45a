/* Poison in the padding: what a design must not look at. Padding is a matter of layouts, so this takes a tensor and a
 * layout as a load does, and writes into the places of padding alone. Called by users and dpi/. It refuses what a load
 * refuses, and layouts whose padding may lie under elements. */
#include "backdoor/call.h"
#include "base/random.h"
#include "kernels/bits.h"
#include "layout/layout.h"
#include "plan/walk.h"

#include <stdlib.h>

/* Never the pad value, so that every padding element changes from what a load wrote. */
static uint64_t poison(const td_plan *plan, uint64_t seed, uint64_t number)
{
    const uint64_t own = td_low_bits(plan->memory_dtype.bits),
                   bits = (seed ? td_random_at(seed, number) : UINT64_MAX) & own;
    return bits == (plan->pad_bits & own) ? ~bits & own : bits;
}

/* Bits of one element, in one word; they are known from here on. */
static void put_piece(const td_call *c, const td_run *run, td_at at, unsigned bits, uint64_t value)
{
    const td_place place = td_place_of(run->plan, at, bits);
    const td_memory *memory = c->bank[place.bank];
    td_put_bits(run->bank[place.bank] + place.address * memory->word_bytes, (int64_t)place.lsb, bits, value);
    if (memory->unknown)
        td_put_bits(memory->unknown->data + place.address * memory->word_bytes, (int64_t)place.lsb, bits, 0);
}

static uint64_t dirty_box(const td_call *c, const td_run *run, const td_box *box, uint64_t seed, uint64_t number)
{
    const td_plan *plan = run->plan;
    const td_piece whole = {.bits = plan->memory_dtype.bits},
                   *piece = box->piece_count ? plan->piece + box->first_piece : &whole;
    td_walk w;
    for (td_walk_begin(&w, plan->node + box->first_node, box->node_count, td_box_at(box)); w.more; td_walk_next(&w)) {
        const uint64_t value = poison(plan, seed, number++);
        for (size_t k = 0; k < (box->piece_count ? box->piece_count : 1); k++)
            if (piece[k].bits)
                put_piece(c, run, (td_at){w.at.tensor, w.at.memory + piece[k].memory, w.at.select}, piece[k].bits,
                          value >> piece[k].elem_bit);
    }
    return number;
}

/* The call sees banks without bits that are x or z: those of elements stay as they are. */
static td_status dirty_banks(const td_call *c, uint64_t seed, uint64_t *count, td_memory *known, const td_memory **bank)
{
    td_call_state s;
    td_call call = *c;
    uint64_t number = 0;
    for (size_t i = 0; i < c->banks; i++) {
        known[i] = *c->bank[i];
        known[i].unknown = NULL;
        known[i].unknown_any = false;
        bank[i] = &known[i];
    }
    call.bank = bank;
    call.compares = true; /* words that lie elsewhere come in whole: most of their bits stay */
    td_status status = td_call_begin(&call, &s);
    if (!status && c->layout->alias_last)
        status =
            td_fail(TD_OPTION, "alias=last lets elements lie over padding, and they would be overwritten; use a layout "
                               "without it");
    for (size_t b = 0; !status && b < s.run.plan->pads_count; b++)
        number = dirty_box(c, &s.run, &s.run.plan->pads[b], seed, number);
    if (!status)
        status = td_call_put_back(&call, &s);
    if (!status && count)
        *count = number;
    return td_call_end(&call, &s, status);
}

static td_status dirty(const td_call *c, uint64_t seed, uint64_t *count)
{
    td_status status = td_call_check_banks(c);
    if (status)
        return td_call_fail(c, status);
    td_memory *known = calloc(c->banks, sizeof *known);
    const td_memory **bank = calloc(c->banks, sizeof(const td_memory *));
    if (known && bank)
        status = dirty_banks(c, seed, count, known, bank);
    else
        status = td_call_fail(c, td_fail_alloc(c->banks * sizeof *known));
    free(bank);
    free(known);
    return status;
}

td_status td_backdoor_dirty_padding(td_memory *memory, const td_tensor *tensor, const td_layout *layout, const char *as,
                                    uint64_t seed, uint64_t *count)
{
    const td_memory *const bank = memory;
    return dirty(&(td_call){.operation = "backdoor_dirty_padding",
                            .bank = &bank,
                            .banks = 1,
                            .tensor = tensor,
                            .layout = layout,
                            .as = as},
                 seed, count);
}

td_status td_backdoor_dirty_padding_banks(td_memory *const *banks, size_t bank_count, const td_tensor *tensor,
                                          const td_layout *layout, const char *as, uint64_t seed, uint64_t *count)
{
    return dirty(&(td_call){.operation = "backdoor_dirty_padding",
                            .bank = (const td_memory *const *)banks,
                            .banks = bank_count,
                            .tensor = tensor,
                            .layout = layout,
                            .as = as},
                 seed, count);
}
