/* Memories that lie over others (memory/memory.h) where some of the arrays at the bottom are copies of arrays inside a
 * design. Each of those has a transfer of its own; this file lists in it the words that the words of the memory on top
 * lie in. Called by transfer.c once the words of an operation on the memory on top are listed. */
#include "design/transfer.h"

#include <stdlib.h>

int td_transfer_reaches(const td_memory *memory, const td_memory *array)
{
    size_t count = 0;
    td_memory *const *below = memory && memory->backing ? memory->backing->below(memory, &count) : NULL;
    int found = memory && memory == array;
    for (size_t i = 0; i < count && !found; i++)
        found = td_transfer_reaches(below[i], array);
    return found;
}

td_status td_layers_begin(td_memory *memory)
{
    size_t count = 0;
    td_memory *const *below = memory->backing->below(memory, &count);
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = td_transfer_begin_list(below[i]);
    return status;
}

/* -- sorted lists -------------------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const td_word_run *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Words that several words of the memory on top lie in cross once. All runs of such a list have step 1. */
void td_transfer_merge(struct td_transfer *t)
{
    size_t kept = 0;
    bool sorted = true;
    for (size_t i = 1; i < t->count && sorted; i++)
        sorted = t->run[i].first >= t->run[i - 1].first;
    if (!sorted)
        qsort(t->run, t->count, sizeof *t->run, by_address);
    t->words = 0;
    for (size_t i = 0; i < t->count; i++) {
        const td_word_run run = t->run[i];
        td_word_run *last = kept ? &t->run[kept - 1] : NULL;
        if (!last || run.first > last->first + last->count)
            t->run[kept++] = run;
        else if (run.first + run.count > last->first + last->count)
            last->count = run.first + run.count - last->first;
    }
    t->count = kept;
    for (size_t i = 0; i < kept; i++)
        t->words += t->run[i].count;
}

static td_status end_below(td_memory *memory)
{
    size_t count = 0;
    td_memory *const *below = memory->backing->below(memory, &count);
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++)
        if (below[i]->backing)
            status = end_below(below[i]);
        else {
            status = td_transfer_end_list(below[i]->transfer);
            td_transfer_merge(below[i]->transfer);
        }
    return status;
}

/* -- spreading ----------------------------------------------------------------------------------------------------- */

/* Lists words of a memory below, or of those that it lies over; `context` is whether all were whole so far. */
static void spread(void *context, td_memory *memory, uint64_t first, uint64_t count)
{
    bool *whole = context;
    if (!memory->backing)
        td_transfer_add_span(memory->transfer, first, count);
    else if (!memory->backing->reach(memory, first, count, spread, context))
        *whole = false;
}

td_status td_layers_spread(td_memory *const *banks, size_t count)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < count; i++) {
        struct td_transfer *t = banks[i]->transfer;
        bool whole = true;
        for (size_t r = 0; banks[i]->backing && r < t->count; r++)
            if (t->run[r].step == 1)
                spread(&whole, banks[i], t->run[r].first, t->run[r].count);
            else
                for (uint64_t w = 0; w < t->run[r].count; w++)
                    spread(&whole, banks[i], t->run[r].first + w * (uint64_t)t->run[r].step, 1);
        t->shared = !whole;
    }
    for (size_t i = 0; i < count && !status; i++)
        if (banks[i]->backing)
            status = end_below(banks[i]);
    return status;
}
