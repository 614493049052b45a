/* The chunks in which the words of a transfer cross, 32 bits at a time, because that is what every simulator hands over as it
 * is. transfer.c says which words; the format is in the public header. Bits that are x or z cross as masks of the same form,
 * and are kept in a second memory, the plane, which is made when the first of them comes. */
#include "transfer.h"

#include <string.h>

#define HEAD TD_TRANSFER_HEAD

typedef enum action {
    HAND_RUNS,  /* the runs alone */
    HAND_WORDS, /* the runs, with words from the storage */
    TAKE_WORDS, /* words into the storage */
    CLEAR,      /* zeros into the storage */
    FIND        /* stops at a word that is not zero */
} action;

static void hand_words(uint32_t *chunk, const unsigned char *at, int64_t step_bytes, uint64_t count, size_t bytes)
{
    const size_t per = (bytes + 3) / 4;
    if (bytes >= 4 && step_bytes == (int64_t)bytes)
        memcpy(chunk, at, count * bytes);
    else if (bytes == 4)
        for (uint64_t i = 0; i < count; i++, at += step_bytes)
            memcpy(chunk + i, at, 4);
    else if (bytes == 16)
        for (uint64_t i = 0; i < count; i++, at += step_bytes)
            memcpy(chunk + i * 4, at, 16);
    else
        for (uint64_t i = 0; i < count; i++, at += step_bytes) {
            chunk[i * per] = 0; /* words of 8 and 16 bits fill it in part */
            memcpy(chunk + i * per, at, bytes);
        }
}

static void take_words(const uint32_t *chunk, unsigned char *at, int64_t step_bytes, uint64_t count, size_t bytes)
{
    const size_t per = (bytes + 3) / 4;
    if (bytes >= 4 && step_bytes == (int64_t)bytes)
        memcpy(at, chunk, count * bytes);
    else if (bytes == 4)
        for (uint64_t i = 0; i < count; i++, at += step_bytes)
            memcpy(at, chunk + i, 4);
    else if (bytes == 16)
        for (uint64_t i = 0; i < count; i++, at += step_bytes)
            memcpy(at, chunk + i * 4, 16);
    else
        for (uint64_t i = 0; i < count; i++, at += step_bytes)
            memcpy(at, chunk + i * per, bytes);
}

static bool any_bit(const unsigned char *at, int64_t step_bytes, uint64_t count, size_t bytes)
{
    for (uint64_t i = 0; i < count; i++, at += step_bytes)
        for (size_t b = 0; b < bytes; b++)
            if (at[b])
                return true;
    return false;
}

/* One chunk of runs from `place` on, which is moved behind them; gives their number. FIND stops early, with 0 when all is zero. */
static size_t cross(const td_memory *memory, const td_memory *storage, td_crossing *place, uint32_t *chunk,
                    size_t chunk_words, action what)
{
    const struct td_transfer *t = memory->transfer;
    const bool dense = t->dense && storage == t->stage;
    const size_t bytes = memory->word_bytes, per = (bytes + 3) / 4;
    size_t runs = 0, used = 0;
    for (; place->run < t->count && chunk_words - used >= HEAD + per; runs++) {
        const td_word_run *run = &t->run[place->run];
        const uint64_t left = run->count - place->done, most = (chunk_words - used - HEAD) / per;
        const uint64_t count = left < most ? left : most;
        const uint64_t first = run->first + place->done * (uint64_t)run->step;
        const int64_t step_bytes = dense ? (int64_t)bytes : run->step * (int64_t)bytes;
        unsigned char *at = storage->data + (dense ? place->words : first) * bytes;
        if (what == HAND_RUNS || what == HAND_WORDS) {
            chunk[used] = (uint32_t)first;
            chunk[used + 1] = (uint32_t)count;
            chunk[used + 2] = (uint32_t)run->step;
        }
        if (what == HAND_WORDS)
            hand_words(chunk + used + HEAD, at, step_bytes, count, bytes);
        else if (what == TAKE_WORDS)
            take_words(chunk + used + HEAD, at, step_bytes, count, bytes);
        else if (what == CLEAR)
            for (uint64_t i = 0; i < count; i++, at += step_bytes)
                memset(at, 0, bytes);
        else if (what == FIND && any_bit(at, step_bytes, count, bytes))
            return 1;
        used += HEAD + count * per;
        place->done += count;
        place->words += count;
        if (place->done == run->count)
            *place = (td_crossing){.run = place->run + 1, .words = place->words};
    }
    return what == FIND ? 0 : runs;
}

/* Behind the last chunk the transfer begins again: what was brought in is taken out next. */
static size_t done(struct td_transfer *t, size_t runs)
{
    if (!runs)
        t->next = (td_crossing){0};
    return runs;
}

static td_memory *storage_of(td_memory *memory)
{
    return memory->transfer->dense ? memory->transfer->stage : memory;
}

size_t td_transfer_out(td_memory *memory, uint32_t *chunk, size_t chunk_words, int *unknown)
{
    struct td_transfer *t = memory ? memory->transfer : NULL;
    *unknown = 0;
    if (!t)
        return 0;
    t->crossing = t->next;
    t->expected = false;
    td_crossing seek = t->next;
    if (memory->unknown_any)
        *unknown = (int)cross(memory, memory->unknown, &seek, chunk, chunk_words, FIND);
    return done(t, cross(memory, storage_of(memory), &t->next, chunk, chunk_words, HAND_WORDS));
}

size_t td_transfer_in(td_memory *memory, uint32_t *chunk, size_t chunk_words)
{
    struct td_transfer *t = memory ? memory->transfer : NULL;
    if (!t)
        return 0;
    td_crossing place = t->crossing;
    if (t->expected)
        cross(memory, storage_of(memory), &place, chunk, chunk_words, TAKE_WORDS);
    t->crossing = t->next;
    place = t->next;
    if (memory->unknown)
        cross(memory, memory->unknown, &place, chunk, chunk_words, CLEAR);
    const size_t runs = cross(memory, storage_of(memory), &t->next, chunk, chunk_words, HAND_RUNS);
    t->expected = runs > 0;
    return done(t, runs);
}

td_status td_transfer_unknown_in(td_memory *memory, const uint32_t *chunk, size_t chunk_words)
{
    if (!memory || !memory->transfer || !memory->transfer->expected)
        return td_fail(TD_ARGUMENT,
                       "transfer_unknown_in: no words are expected; call it between two of td_transfer_in");
    if (!memory->unknown) {
        td_status status = td_memory_create(memory->name, memory->width_bits, memory->depth_words, &memory->unknown);
        if (status)
            return status;
    }
    td_crossing place = memory->transfer->crossing;
    cross(memory, memory->unknown, &place, (uint32_t *)(uintptr_t)chunk, chunk_words, TAKE_WORDS);
    memory->unknown_any = true;
    return TD_OK;
}

void td_transfer_unknown_out(td_memory *memory, uint32_t *chunk, size_t chunk_words)
{
    if (!memory || !memory->transfer || !memory->unknown_any)
        return;
    td_crossing place = memory->transfer->crossing;
    cross(memory, memory->unknown, &place, chunk, chunk_words, HAND_WORDS);
}
