/* Words of a memory that lies over copies of arrays of a design, where each of them is whole in one word of a copy, as
 * in tiles, with a code or without: chunk by chunk they are checked and decoded into the memory's own words, and coded
 * out of them, while the first cache has them, and nothing is written to the copies. Where a word has an error, or a
 * bit that is x, it is as if no word had passed: those that have are put into the copies after all, from where the
 * layers bring them in and say what is wrong. Called by staging.c and chunks.c. */
#include "design/transfer.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#define LINE 64

uint64_t td_passing_least = 64; /* words of a run: fewer are not worth a list of their own */

/* -- finding where they lie ---------------------------------------------------------------------------------------- */

/* The memory whose words are those of the copies. */
static const td_memory *stored_words(const td_memory *memory)
{
    return memory->backing->code ? memory->backing->coded : memory;
}

typedef struct found {
    td_passing_run run;
    size_t runs;
} found;

static void find_run(void *context, td_memory *array, uint64_t first, uint64_t count)
{
    found *f = context;
    f->run.array = array;
    f->run.first = first;
    f->run.count = count;
    f->runs++;
}

/* A copy whose words cross, and none of whose bits was x when they last did. */
static bool is_known(const td_memory *array)
{
    return array->transfer && array->transfer->crosses && !array->unknown_any && array->word_bytes >= 4;
}

/* The words from `first` on, at most `most`, that lie in one run of an array as they stand; false: too few do. */
static bool find(const td_memory *stored, uint64_t first, uint64_t most, td_passing_run *out)
{
    found f = {{(td_memory *)(uintptr_t)stored, first, most, first}, 1};
    if (stored->backing) {
        uint64_t count = most;
        const unsigned char *place = stored->backing->find_words(stored, first, &count);
        f.runs = 0;
        if (place && count >= td_passing_least)
            stored->backing->reach(stored, first, count, find_run, &f);
        if (f.runs != 1 || f.run.count != count || place != f.run.array->data + f.run.first * f.run.array->word_bytes)
            return false;
    }
    *out = f.run;
    return f.run.count >= td_passing_least && is_known(f.run.array);
}

static bool add_run(struct td_passing *p, const td_passing_run *run)
{
    td_passing_run *const runs = td_grow(p->run, p->count, &p->room, sizeof *runs, 16);
    if (!runs)
        return false;
    p->run = runs;
    p->run[p->count++] = *run;
    return true;
}

static bool find_runs(td_memory *memory)
{
    struct td_transfer *t = memory->transfer;
    const td_memory *stored = stored_words(memory);
    for (size_t r = 0; r < t->count; r++) {
        td_passing_run run = {0};
        if (t->run[r].step != 1)
            return false;
        for (uint64_t done = 0; done < t->run[r].count; done += run.count)
            if (!find(stored, t->run[r].first + done, t->run[r].count - done, &run) || !add_run(&t->passing, &run))
                return false;
    }
    return true;
}

/* The arrays' lists anew, with the words of the memory that lie there. */
static td_status list_runs(td_memory *memory)
{
    const struct td_passing *p = &memory->transfer->passing;
    td_status status = TD_OK;
    for (size_t i = 0; i < p->count; i++) {
        struct td_transfer *t = p->run[i].array->transfer;
        if (!t->passing.top)
            t->count = t->words = 0;
        t->passing.top = memory;
        t->passing.taken = 0;
        td_transfer_add_passing(t, &p->run[i]);
    }
    for (size_t i = 0; i < p->count && !status; i++)
        status = td_transfer_end_list(p->run[i].array->transfer);
    return status;
}

td_status td_passing_begin(td_memory *memory)
{
    struct td_transfer *t = memory->transfer;
    const td_memory *stored = stored_words(memory);
    const bool may = !t->shared && t->words >= td_passing_least && !memory->backing->refuses &&
                     (!stored->backing || (stored->backing->find_words && td_memory_passes(stored, true)));
    if (!may || !find_runs(memory)) {
        t->passing.count = 0;
        return TD_OK;
    }
    t->passing.refused = false;
    t->passing.words = memory->data;
    t->passing.saved = NULL;
    t->passing.first = 0;
    memory->unknown_any = false; /* no bit below is x, as far as is known */
    return list_runs(memory);
}

void td_passing_lend(td_memory *memory, unsigned char *words, bool saves)
{
    struct td_passing *p = &memory->transfer->passing;
    p->words = words;
    p->first = memory->transfer->run[0].first;
    p->saved = saves ? memory->data + p->first * memory->word_bytes : NULL;
}

bool td_passing_is_on(const td_memory *memory)
{
    return memory->transfer && memory->transfer->passing.count > 0;
}

/* Of a memory on top, and of an array: those that pass to each other forget it. */
void td_passing_stop(struct td_transfer *t)
{
    struct td_passing *p = &t->passing;
    if (p->top)
        td_passing_stop(p->top->transfer);
    for (size_t i = 0; i < p->count; i++)
        p->run[i].array->transfer->passing.top = NULL;
    p->count = 0;
}

/* -- chunks -------------------------------------------------------------------------------------------------------- */

static unsigned char *words_at(const td_memory *top, uint64_t word)
{
    const struct td_passing *p = &top->transfer->passing;
    return p->words + (word - p->first) * top->word_bytes;
}

static void hand(const td_memory *top, uint64_t word, uint64_t count, void *stored)
{
    if (top->backing->hand_words)
        top->backing->hand_words(top, word, count, stored, words_at(top, word));
    else
        memcpy(stored, words_at(top, word), count * top->word_bytes);
}

/* What the tensor had where words have come in. */
static void restore(const td_memory *top, uint64_t word, uint64_t count)
{
    const struct td_passing *p = &top->transfer->passing;
    if (p->saved)
        memcpy(words_at(top, word), p->saved + (word - p->first) * top->word_bytes, count * top->word_bytes);
}

void td_passing_refuse(const td_memory *array)
{
    const td_memory *top = array->transfer->passing.top;
    struct td_passing *p = top ? &top->transfer->passing : NULL;
    if (!p || p->refused)
        return;
    for (size_t i = 0; i < p->count; i++) {
        const td_passing_run *run = &p->run[i];
        uint64_t *taken = &run->array->transfer->passing.taken;
        const uint64_t count = *taken < run->count ? *taken : run->count;
        hand(top, run->above, count, run->array->data + run->first * run->array->word_bytes);
        restore(top, run->above, count);
        *taken -= count;
    }
    p->refused = true;
}

/* What the next chunk writes, while the simulator fills it. */
static void prefetch(const unsigned char *bytes, uint64_t count)
{
    for (uint64_t at = 0; at < count; at += LINE)
        __builtin_prefetch(bytes + at, 1);
}

bool td_passing_take(const td_memory *array, const td_word_run *run, uint64_t done, uint64_t count,
                     const uint32_t *chunk)
{
    const td_memory *top = array->transfer->passing.top;
    const struct td_passing *p = &top->transfer->passing;
    const uint64_t word = run->above + done, bytes = count * top->word_bytes;
    unsigned char *words = words_at(top, word);
    if (array->unknown_any)
        td_passing_refuse(array);
    if (p->refused)
        return false;
    if (p->saved)
        memcpy(p->saved + (word - p->first) * top->word_bytes, words, bytes);
    if (!top->backing->take_words)
        memcpy(words, chunk, bytes);
    else if (!top->backing->take_words(top, word, count, chunk, words)) {
        restore(top, word, count);
        td_passing_refuse(array);
        return false;
    }
    array->transfer->passing.taken += count;
    prefetch(words + bytes, bytes);
    if (p->saved)
        prefetch(p->saved + (word - p->first) * top->word_bytes + bytes, bytes);
    return true;
}

void td_passing_hand(const td_memory *array, const td_word_run *run, uint64_t done, uint64_t count, uint32_t *chunk)
{
    hand(array->transfer->passing.top, run->above + done, count, chunk);
}

/* -- step 3 -------------------------------------------------------------------------------------------------------- */

bool td_passing_end(td_memory *memory)
{
    struct td_passing *p = &memory->transfer->passing;
    uint64_t taken = 0;
    if (p->refused) {
        td_passing_stop(memory->transfer);
        return false;
    }
    for (size_t i = 0; i < p->count; i++) {
        taken += p->run[i].array->transfer->passing.taken;
        p->run[i].array->transfer->passing.taken = 0;
    }
    if (memory->backing->count_words)
        memory->backing->count_words(memory, taken);
    return true;
}
