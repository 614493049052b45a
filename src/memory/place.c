/* Follows bits down to the macros and up again, layer by layer (place.h), for report/ and backdoor/where.c; and the
 * public questions about macros. */
#include "memory/place.h"

#include <inttypes.h>

size_t td_memory_macros(const td_memory *memory)
{
    size_t count = 0;
    if (!memory || !memory->backing)
        return memory != NULL;
    if (memory->backing->macros)
        return memory->backing->macros;
    return td_memory_macros(memory->backing->below(memory, &count)[0]);
}

/* The memory below that macro `number` belongs to, and the number of its first macro. */
static size_t find_below(const td_memory *memory, size_t number, size_t *first)
{
    const size_t *first_macro = memory->backing->first_macro;
    size_t low = 0, high = 0;
    (void)memory->backing->below(memory, &high);
    if (!first_macro) {
        *first = high == 1 ? 0 : number;
        return *first;
    }
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (first_macro[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    *first = first_macro[low];
    return low;
}

const td_memory *td_memory_macro(const td_memory *memory, size_t number)
{
    if (number >= td_memory_macros(memory))
        return NULL;
    while (memory->backing) {
        size_t first = 0, count = 0;
        const size_t below = find_below(memory, number, &first);
        memory = memory->backing->below(memory, &count)[below];
        number -= first;
    }
    return memory;
}

static uint64_t own_copies(const td_backing *backing)
{
    return backing->copies ? backing->copies : 1;
}

uint64_t td_memory_copies(const td_memory *memory)
{
    uint64_t most = 1;
    size_t count = 0;
    if (!memory || !memory->backing)
        return memory != NULL;
    td_memory *const *below = memory->backing->below(memory, &count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t copies = td_memory_copies(below[i]);
        most = copies > most ? copies : most;
    }
    return own_copies(memory->backing) * most;
}

/* -- down ---------------------------------------------------------------------------------------------------------- */

typedef struct descent {
    const td_backing *backing;
    td_memory *const *below;
    size_t count;
    uint64_t copy; /* of the layers below */
    td_macro_bit *out;
} descent;

static void go_on_down(void *context, uint64_t number, size_t below, const td_word_bits *at)
{
    const descent *d = context;
    td_macro_bit *out = &d->out[number];
    td_macro_bits(d->below[below], at, d->copy, out);
    for (uint64_t i = 0; i < at->bits; i++) {
        out[i].number += d->backing->first_macro ? d->backing->first_macro[below] : d->count > 1 ? below : 0;
        out[i].mixed |= d->backing->mixes;
    }
}

void td_macro_bits(const td_memory *memory, const td_word_bits *bits, uint64_t copy, td_macro_bit *out)
{
    const td_backing *backing = memory->backing;
    for (uint64_t i = 0; i < bits->bits; i++) {
        out[i] = (td_macro_bit){0};
        if (!backing && !copy)
            out[i] = (td_macro_bit){.macro = memory, .row = bits->word, .column = bits->bit + i};
    }
    if (!backing)
        return;
    descent d = {.backing = backing, .copy = copy / own_copies(backing), .out = out};
    d.below = backing->below(memory, &d.count);
    if (backing->find_down)
        backing->find_down(memory, bits, copy % own_copies(backing), go_on_down, &d);
    else
        go_on_down(&d, 0, 0, bits);
}

td_status td_memory_macro_bit(const td_memory *memory, uint64_t word, uint64_t bit, uint64_t copy, td_macro_bit *out)
{
    td_status status = TD_OK;
    td_macro_bit found;
    if (!memory || !out)
        status = td_fail(TD_ARGUMENT, "the %s is NULL; pass one", memory ? "output" : "memory");
    else if (word >= memory->depth_words || bit >= memory->width_bits)
        status = td_fail(TD_RANGE,
                         "bit %" PRIu64 " of word 0x%" PRIx64 ", and there are 0x%" PRIx64 " words of %" PRIu64
                         " bits; pass a bit of one of them",
                         bit, word, memory->depth_words, memory->width_bits);
    if (!status) {
        td_macro_bits(memory, &(td_word_bits){word, bit, 1}, copy, &found);
        if (found.macro)
            *out = found;
        else
            status = td_fail(TD_RANGE,
                             "copy %" PRIu64 " of bit %" PRIu64 " of word 0x%" PRIx64
                             ", which has fewer; pass copies from 0 on until there are no more",
                             copy, bit, word);
    }
    if (status && memory)
        td_fail_prefix("memory_macro_bit \"%s\": ", memory->name);
    else if (status)
        td_fail_prefix("memory_macro_bit: ");
    return status;
}

/* -- up ------------------------------------------------------------------------------------------------------------ */

td_up td_macro_bit_up(const td_memory *memory, size_t macro, uint64_t row, uint64_t column, const td_memory **at,
                      td_word_bits *out)
{
    const td_backing *backing = memory->backing;
    size_t first = 0, count = 0;
    td_word_bits under;
    *at = memory;
    if (!backing) {
        *out = (td_word_bits){row, column, 1};
        return TD_UP_BIT;
    }
    const size_t below = find_below(memory, macro, &first);
    const td_up up = td_macro_bit_up(backing->below(memory, &count)[below], macro - first, row, column, at, &under);
    *out = under;
    if (up != TD_UP_BIT)
        return up;
    *at = memory;
    return backing->find_up ? backing->find_up(memory, below, under.word, under.bit, out) : TD_UP_BIT;
}

td_word_bits td_bad_above(const td_memory *memory, size_t below)
{
    size_t count = 0;
    const td_word_bits *bad = &memory->backing->below(memory, &count)[below]->backing->bad;
    td_word_bits found = {0};
    for (uint64_t i = 0; i < bad->bits; i++)
        if (memory->backing->find_up(memory, below, bad->word, bad->bit + i, &found) == TD_UP_BIT)
            return found;
    return (td_word_bits){0};
}
