/* Moves the words of a transfer in chunks, 32 bits at a time, because every simulator passes those unchanged.
 * transfer.c lists the words; tensordoor_bridge.h has the format. Called by a bridge (ours is dpi/transfer.c). Bits
 * that are x or z cross as masks of the same form, and are kept in a second memory, the plane, which is made when
 * the first of them arrives. */
#include "design/transfer.h"

#include "base/profile.h"

#include <string.h>

#define HEAD TD_TRANSFER_HEAD
#define LIST_BELOW 4 /* shorter runs cross as a list of addresses, which takes less than their heads */

typedef enum action {
    HAND_RUNS,  /* only the runs */
    HAND_WORDS, /* the runs, with words from the storage */
    TAKE_WORDS, /* words into the storage */
    CLEAR,      /* zeros into the storage */
    FIND        /* stops at a word that is not zero */
} action;

/* The loops are inlined once per usual word size, because a memcpy of unknown size is a call, which costs more than
 * the word. */
#define INLINE static inline __attribute__((always_inline))

INLINE void hand(uint32_t *chunk, const unsigned char *at, int64_t step_bytes, uint64_t count, size_t bytes)
{
    const size_t per = (bytes + 3) / 4;
    for (uint64_t i = 0; i < count; i++, at += step_bytes) {
        if (bytes < 4)
            chunk[i * per] = 0; /* words of 8 and 16 bits fill only a part of it */
        memcpy(chunk + i * per, at, bytes);
    }
}

INLINE void take(const uint32_t *chunk, unsigned char *at, int64_t step_bytes, uint64_t count, size_t bytes)
{
    const size_t per = (bytes + 3) / 4;
    for (uint64_t i = 0; i < count; i++, at += step_bytes)
        memcpy(at, chunk + i * per, bytes);
}

#define BY_SIZE(move)                                                                                                  \
    switch (bytes) {                                                                                                   \
    case 1:                                                                                                            \
        move(chunk, at, step_bytes, count, 1);                                                                         \
        break;                                                                                                         \
    case 2:                                                                                                            \
        move(chunk, at, step_bytes, count, 2);                                                                         \
        break;                                                                                                         \
    case 4:                                                                                                            \
        move(chunk, at, step_bytes, count, 4);                                                                         \
        break;                                                                                                         \
    case 8:                                                                                                            \
        move(chunk, at, step_bytes, count, 8);                                                                         \
        break;                                                                                                         \
    case 16:                                                                                                           \
        move(chunk, at, step_bytes, count, 16);                                                                        \
        break;                                                                                                         \
    default:                                                                                                           \
        move(chunk, at, step_bytes, count, bytes);                                                                     \
    }

static void hand_words(uint32_t *chunk, const unsigned char *at, int64_t step_bytes, uint64_t count, size_t bytes)
{
    if (bytes >= 4 && step_bytes == (int64_t)bytes)
        memcpy(chunk, at, count * bytes);
    else
        BY_SIZE(hand)
}

static void take_words(const uint32_t *chunk, unsigned char *at, int64_t step_bytes, uint64_t count, size_t bytes)
{
    if (bytes >= 4 && step_bytes == (int64_t)bytes)
        memcpy(at, chunk, count * bytes);
    else
        BY_SIZE(take)
}

static bool any_bit(const unsigned char *at, int64_t step_bytes, uint64_t count, size_t bytes)
{
    for (uint64_t i = 0; i < count; i++, at += step_bytes)
        for (size_t b = 0; b < bytes; b++)
            if (at[b])
                return true;
    return false;
}

/* True when FIND has found something. */
static inline bool act(action what, uint32_t *chunk, unsigned char *at, int64_t step_bytes, uint64_t count,
                       size_t bytes)
{
    if (what == HAND_WORDS)
        hand_words(chunk, at, step_bytes, count, bytes);
    else if (what == TAKE_WORDS)
        take_words(chunk, at, step_bytes, count, bytes);
    else if (what == CLEAR)
        for (uint64_t i = 0; i < count; i++, at += step_bytes)
            memset(at, 0, bytes);
    return what == FIND && any_bit(at, step_bytes, count, bytes);
}

/* Where the words lie: each at its address, or consecutively in the order in which they cross. A run of words may have
 * its own place instead; a run of their masks has not. */
typedef struct storage {
    unsigned char *data;
    bool ordered;
    bool masks;
} storage;

static void advance(const struct td_transfer *t, td_crossing *place, uint64_t count)
{
    place->words += count;
    place->done += count;
    if (place->done == t->run[place->run].count) {
        place->run++;
        place->done = 0;
    }
}

static bool is_short(const struct td_transfer *t, size_t run)
{
    return run < t->count && t->run[run].count < LIST_BELOW;
}

/* Crosses at most `most` words of short runs, each preceded by its address; returns their number. */
static uint64_t cross_list(const struct td_transfer *t, storage from, td_crossing *place, uint32_t *chunk,
                           uint64_t most, size_t bytes, action what, bool *found)
{
    const size_t per = (bytes + 3) / 4;
    uint64_t count = 0;
    for (; count < most && is_short(t, place->run); count++, chunk += 1 + per) {
        const td_word_run *run = &t->run[place->run];
        const uint64_t address = run->first + place->done * (uint64_t)run->step;
        if (what == HAND_RUNS || what == HAND_WORDS)
            *chunk = (uint32_t)address;
        *found |= act(what, chunk + 1, from.data + (from.ordered ? place->words : address) * bytes, 0, 1, bytes);
        advance(t, place, 1);
    }
    return count;
}

/* Words that pass by the copy. */
static bool pass(const td_memory *memory, const td_word_run *run, uint64_t done, uint64_t count, uint32_t *chunk,
                 action what)
{
    if (what == HAND_WORDS)
        td_passing_hand(memory, run, done, count, chunk);
    return what == HAND_WORDS || (what == TAKE_WORDS && td_passing_take(memory, run, done, count, chunk));
}

static uint64_t cross_run(const td_memory *memory, storage from, td_crossing *place, uint32_t *chunk, uint64_t most,
                          action what, bool *found)
{
    const struct td_transfer *t = memory->transfer;
    const size_t bytes = memory->word_bytes;
    const td_word_run *run = &t->run[place->run];
    const uint64_t left = run->count - place->done, count = left < most ? left : most;
    if (t->passing.top && !from.masks && pass(memory, run, place->done, count, chunk, what)) {
        advance(t, place, count);
        return count;
    }
    const uint64_t address = run->first + place->done * (uint64_t)run->step;
    const bool own = run->data && !from.masks;
    const int64_t step_bytes = from.ordered || own ? (int64_t)bytes : run->step * (int64_t)bytes;
    unsigned char *at =
        own ? run->data + place->done * bytes : from.data + (from.ordered ? place->words : address) * bytes;
    *found |= act(what, chunk, at, step_bytes, count, bytes);
    advance(t, place, count);
    return count;
}

/* Crosses one chunk of runs and lists from `place` on, which moves past them; returns their number. FIND returns 0
 * when all words are zero. */
static size_t cross(const td_memory *memory, storage from, td_crossing *place, uint32_t *chunk, size_t chunk_words,
                    action what)
{
    const struct td_transfer *t = memory->transfer;
    const size_t bytes = memory->word_bytes, per = (bytes + 3) / 4;
    const bool heads = what == HAND_RUNS || what == HAND_WORDS;
    size_t parts = 0, used = 0;
    bool found = false;
    for (; place->run < t->count && chunk_words - used >= HEAD + per; parts++) {
        const td_word_run *run = &t->run[place->run];
        const size_t room = chunk_words - used - HEAD;
        const bool list = is_short(t, place->run) && is_short(t, place->run + 1) && room > per;
        uint32_t *head = chunk + used;
        if (heads) {
            head[0] = (uint32_t)(run->first + place->done * (uint64_t)run->step);
            head[2] = list ? 0 : (uint32_t)run->step;
        }
        const uint64_t count = list ? cross_list(t, from, place, head + HEAD, room / (1 + per), bytes, what, &found)
                                    : cross_run(memory, from, place, head + HEAD, room / per, what, &found);
        if (heads)
            head[1] = (uint32_t)count;
        used += HEAD + count * (list ? 1 + per : per);
    }
    return what == FIND ? found : parts;
}

/* After the last chunk the transfer starts over: what was brought in is taken out next. */
static size_t done(struct td_transfer *t, size_t parts)
{
    if (!parts)
        t->next = (td_crossing){0};
    t->left_ticks = parts ? td_profile_ticks() : 0;
    return parts;
}

/* From a chunk that left to the next one that comes back: the loop in the simulator, and its calls. */
static void count_crossing(const td_memory *memory)
{
    struct td_transfer *t = memory->transfer;
    td_profile_outside("DPI crossing", t->left_ticks, (t->next.words - t->crossing.words) * memory->word_bytes);
    t->left_ticks = 0;
}

static storage words_of(const td_memory *memory)
{
    const struct td_transfer *t = memory->transfer;
    return t->staged ? (storage){t->staged, true, false} : (storage){memory->data, false, false};
}

static storage plane_of(const td_memory *memory)
{
    return (storage){memory->unknown->data, false, true};
}

size_t td_transfer_out(td_memory *memory, uint32_t *chunk, size_t chunk_words, int *unknown)
{
    struct td_transfer *t = memory ? memory->transfer : NULL;
    *unknown = 0;
    if (!t)
        return 0;
    count_crossing(memory);
    TD_OPERATION(operation, "transfer_out");
    t->crosses = true;
    t->crossing = t->next;
    t->expected = false;
    td_crossing seek = t->next;
    if (memory->unknown_any)
        *unknown = (int)cross(memory, plane_of(memory), &seek, chunk, chunk_words, FIND);
    const uint64_t before = t->next.words;
    const size_t parts = cross(memory, words_of(memory), &t->next, chunk, chunk_words, HAND_WORDS);
    td_profile_step_bytes(operation, (t->next.words - before) * memory->word_bytes);
    return done(t, parts);
}

size_t td_transfer_in(td_memory *memory, uint32_t *chunk, size_t chunk_words)
{
    struct td_transfer *t = memory ? memory->transfer : NULL;
    if (!t)
        return 0;
    count_crossing(memory);
    TD_OPERATION(operation, "transfer_in");
    t->crosses = true;
    td_crossing place = t->crossing;
    if (t->expected)
        cross(memory, words_of(memory), &place, chunk, chunk_words, TAKE_WORDS);
    t->crossing = t->next;
    place = t->next;
    if (memory->unknown)
        cross(memory, plane_of(memory), &place, chunk, chunk_words, CLEAR);
    const uint64_t before = t->next.words;
    const size_t parts = cross(memory, words_of(memory), &t->next, chunk, chunk_words, HAND_RUNS);
    td_profile_step_bytes(operation, (t->next.words - before) * memory->word_bytes);
    t->expected = parts > 0;
    return done(t, parts);
}

td_status td_transfer_unknown_in(td_memory *memory, const uint32_t *chunk, size_t chunk_words)
{
    if (!memory || !memory->transfer || !memory->transfer->expected)
        return td_fail(TD_ARGUMENT,
                       "transfer_unknown_in: no words are expected; call it between two of td_transfer_in");
    if (!memory->unknown) {
        td_status status = td_memory_create(memory->name, memory->width_bits, memory->depth_words, &memory->unknown);
        if (status) {
            td_passing_refuse(memory);
            return status;
        }
    }
    td_crossing place = memory->transfer->crossing;
    cross(memory, plane_of(memory), &place, (uint32_t *)(uintptr_t)chunk, chunk_words, TAKE_WORDS);
    memory->unknown_any = true;
    return TD_OK;
}

void td_transfer_unknown_out(td_memory *memory, uint32_t *chunk, size_t chunk_words)
{
    if (!memory || !memory->transfer || !memory->unknown_any)
        return;
    td_crossing place = memory->transfer->crossing;
    cross(memory, plane_of(memory), &place, chunk, chunk_words, HAND_WORDS);
}
