/* The word operations: backdoor_read, backdoor_write and the byte-masked write. They take lists of addresses and words
 * in the memory's own form; the DPI layer and the public header call them. Every address, word and mask is checked
 * before the first word is written. */
#include "base/profile.h"
#include "base/record.h"
#include "memory/memory.h"
#include "memory/x_state.h"

#include <inttypes.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* The loops below are inlined once per word size, so that a word of up to 8 bytes moves in one instruction. */
#define FOR_EACH_WORD_SIZE(bytes, call)                                                                                \
    switch (bytes) {                                                                                                   \
    case 1:                                                                                                            \
        call(1);                                                                                                       \
        break;                                                                                                         \
    case 2:                                                                                                            \
        call(2);                                                                                                       \
        break;                                                                                                         \
    case 4:                                                                                                            \
        call(4);                                                                                                       \
        break;                                                                                                         \
    case 8:                                                                                                            \
        call(8);                                                                                                       \
        break;                                                                                                         \
    case 16:                                                                                                           \
        call(16);                                                                                                      \
        break;                                                                                                         \
    default:                                                                                                           \
        call(bytes);                                                                                                   \
    }

uint64_t td_word_excess(const void *word, size_t word_bytes, uint64_t width_bits)
{
    if (word_bytes <= 8) {
        uint64_t value = 0;
        memcpy(&value, word, word_bytes);
        return width_bits < 64 ? value >> width_bits : 0;
    }
    uint32_t top = 0; /* only the last 32 bits of a wide word can pass the width */
    memcpy(&top, (const unsigned char *)word + word_bytes - 4, 4);
    unsigned used = (unsigned)(width_bits - (word_bytes - 4) * 8);
    return used < 32 ? top >> used : 0;
}

/* -- checks -- */

static td_status check_list(const td_memory *m, const uint64_t *addresses, size_t count, const void *words)
{
    if (!m)
        return td_fail(TD_ARGUMENT, "memory is NULL; pass one from td_memory_create");
    if (!addresses || !words)
        return td_fail(TD_ARGUMENT, "%s is NULL; pass a list of count entries", addresses ? "words" : "addresses");
    if (count == 0)
        return td_fail(TD_ARGUMENT, "a count of 0 words; pass at least one address");
    uint64_t highest = 0;
    for (size_t i = 0; i < count; i++)
        highest = addresses[i] > highest ? addresses[i] : highest;
    if (highest < m->depth_words)
        return TD_OK;
    size_t i = 0;
    while (addresses[i] < m->depth_words)
        i++;
    return td_fail(TD_RANGE,
                   "address 0x%" PRIx64 " (entry %zu) is past the memory of %" PRIu64
                   " words; the last address is 0x%" PRIx64,
                   addresses[i], i, m->depth_words, m->depth_words - 1);
}

static td_status check_width(const char *what, const td_memory *m, size_t count, const void *words)
{
    if (m->width_bits == 8 * m->word_bytes)
        return TD_OK;
    const unsigned char *word = words;
    for (size_t i = 0; i < count; i++, word += m->word_bytes) {
        uint64_t excess = td_word_excess(word, m->word_bytes, m->width_bits);
        if (excess)
            return td_fail(TD_RANGE,
                           "%s %zu has 0x%" PRIx64 " above the width of %" PRIu64 " bits; clear the bits from %" PRIu64
                           " up",
                           what, i, excess, m->width_bits, m->width_bits);
    }
    return TD_OK;
}

static td_status check_byte_masks(const td_memory *m, size_t count, const unsigned char *masks)
{
    if (!masks)
        return td_fail(TD_ARGUMENT, "byte_mask is NULL; pass masks, or call td_backdoor_write");
    const size_t used_bytes = (size_t)(m->width_bits + 7) / 8, mask_bytes = (used_bytes + 7) / 8;
    for (size_t i = 0; used_bytes % 8 && i < count; i++) {
        const unsigned excess = (unsigned)masks[(i + 1) * mask_bytes - 1] >> (used_bytes % 8);
        if (excess)
            return td_fail(TD_RANGE,
                           "mask %zu has 0x%x above the %zu bytes of a word of %" PRIu64
                           " bits; clear the bits from %zu up",
                           i, excess, used_bytes, m->width_bits, used_bytes);
    }
    return TD_OK;
}

/* -- moves -- */

INLINE void read_words(const unsigned char *data, const uint64_t *addresses, size_t count, unsigned char *words,
                       size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        memcpy(words + i * bytes, data + (size_t)addresses[i] * bytes, bytes);
}

INLINE void write_words(unsigned char *data, const uint64_t *addresses, size_t count, const unsigned char *words,
                        size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        memcpy(data + (size_t)addresses[i] * bytes, words + i * bytes, bytes);
}

INLINE void merge(unsigned char *at, const unsigned char *word, const unsigned char *mask, size_t bytes)
{
    uint64_t old_bits = 0;
    uint64_t new_bits = 0;
    uint64_t mask_bits = 0;
    memcpy(&old_bits, at, bytes);
    memcpy(&new_bits, word, bytes);
    memcpy(&mask_bits, mask, bytes);
    old_bits = (old_bits & ~mask_bits) | (new_bits & mask_bits);
    memcpy(at, &old_bits, bytes);
}

INLINE void write_masked(unsigned char *data, const uint64_t *addresses, size_t count, const unsigned char *words,
                         const unsigned char *masks, size_t bytes)
{
    size_t step = bytes < 8 ? bytes : bytes % 8 == 0 ? 8 : 4;
    for (size_t i = 0; i < count; i++) {
        unsigned char *at = data + (size_t)addresses[i] * bytes;
        for (size_t b = 0; b < bytes; b += step)
            merge(at + b, words + i * bytes + b, masks + i * bytes + b, step);
    }
}

/* Eight mask bits to eight bytes of 0x00 or 0xff. */
INLINE uint64_t spread_mask(unsigned char bits)
{
    uint64_t picked = (bits * 0x0101010101010101u) & 0x8040201008040201u;
    return (((picked + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u) * 0xff;
}

INLINE void write_byte_masked(unsigned char *data, const uint64_t *addresses, size_t count, const unsigned char *words,
                              const unsigned char *masks, size_t mask_bytes, size_t bytes)
{
    for (size_t i = 0; i < count; i++, masks += mask_bytes, words += bytes) {
        unsigned char *at = data + (size_t)addresses[i] * bytes;
        for (size_t k = 0; k < mask_bytes; k++) {
            uint64_t mask = spread_mask(masks[k]);
            size_t left = bytes - 8 * k;
            merge(at + 8 * k, words + 8 * k, (const unsigned char *)&mask, left < 8 ? left : 8);
        }
    }
}

/* What is written is no longer x or z. */
static void make_known(const td_memory *memory, const uint64_t *addresses, size_t count, const unsigned char *masks)
{
    const size_t bytes = memory->word_bytes;
    for (size_t i = 0; i < count; i++)
        for (size_t b = 0; b < bytes; b++)
            memory->unknown->data[addresses[i] * bytes + b] &= (unsigned char)(masks ? ~masks[i * bytes + b] : 0);
}

static void make_known_bytes(const td_memory *memory, const uint64_t *addresses, size_t count,
                             const unsigned char *masks, size_t mask_bytes)
{
    const size_t bytes = memory->word_bytes;
    for (size_t i = 0; i < count; i++)
        for (size_t b = 0; b < 8 * mask_bytes && b < bytes; b++)
            if (masks[i * mask_bytes + b / 8] >> b % 8 & 1)
                memory->unknown->data[addresses[i] * bytes + b] = 0;
}

/* -- entries -- */

/* From entry i on, how many addresses follow each other. */
static size_t run_length(const uint64_t *addresses, size_t count, size_t i)
{
    size_t n = 1;
    while (i + n < count && addresses[i + n] == addresses[i] + n)
        n++;
    return n;
}

/* For memories whose words lie elsewhere: those of a list, to read them or to write a part of their bits; whole words
 * that are written need less. */
static td_status bring_in(const td_memory *memory, bool whole, const uint64_t *addresses, size_t count)
{
    td_status status = TD_OK;
    for (size_t i = 0, n; memory->backing && i < count && !status; i += n) {
        n = run_length(addresses, count, i);
        status = td_memory_bring_for_write(memory, !whole, addresses[i], n);
    }
    return status;
}

static td_status put_back(const td_memory *memory, const uint64_t *addresses, size_t count)
{
    td_status status = TD_OK;
    for (size_t i = 0, n; memory->backing && i < count && !status; i += n) {
        n = run_length(addresses, count, i);
        status = td_memory_seal(memory, addresses[i], n);
    }
    for (size_t i = 0, n; memory->backing && i < count && !status; i += n) {
        n = run_length(addresses, count, i);
        td_memory_put_back(memory, addresses[i], n);
    }
    return status;
}

static td_status fail_call(const char *call, const td_memory *memory, td_status status)
{
    if (memory)
        td_fail_prefix("%s \"%s\": ", call, memory->name);
    else
        td_fail_prefix("%s: ", call);
    return status;
}

td_status td_backdoor_read(const td_memory *memory, const uint64_t *addresses, size_t count, void *words)
{
    TD_OPERATION(operation, "backdoor_read");
    td_status status = check_list(memory, addresses, count, words);
    if (!status)
        status = bring_in(memory, false, addresses, count);
    if (!status)
        status = td_x_check_words(memory, addresses, count);
    if (status)
        return fail_call("backdoor_read", memory, status);
#define READ(bytes) read_words(memory->data, addresses, count, words, bytes)
    FOR_EACH_WORD_SIZE(memory->word_bytes, READ)
    td_profile_step_bytes(operation, count * memory->word_bytes);
    return TD_OK;
}

td_status td_backdoor_write(td_memory *memory, const uint64_t *addresses, size_t count, const void *words,
                            const void *bit_mask)
{
    TD_OPERATION(operation, "backdoor_write");
    td_status status = check_list(memory, addresses, count, words);
    if (!status)
        status = check_width("word", memory, count, words);
    if (!status && bit_mask)
        status = check_width("mask", memory, count, bit_mask);
    if (!status)
        status = bring_in(memory, !bit_mask, addresses, count);
    if (status)
        return fail_call("backdoor_write", memory, status);
#define WRITE(bytes) write_words(memory->data, addresses, count, words, bytes)
#define WRITE_MASKED(bytes) write_masked(memory->data, addresses, count, words, bit_mask, bytes)
    if (bit_mask)
        FOR_EACH_WORD_SIZE(memory->word_bytes, WRITE_MASKED)
    else
        FOR_EACH_WORD_SIZE(memory->word_bytes, WRITE)
    if (memory->unknown_any)
        make_known(memory, addresses, count, bit_mask);
    td_profile_step_bytes(operation, count * memory->word_bytes);
    status = put_back(memory, addresses, count);
    if (status)
        return fail_call("backdoor_write", memory, status);
    td_record(&(td_recorded){.kind = TD_RECORDED_WRITE,
                             .banks = &memory,
                             .bank_count = 1,
                             .addresses = addresses,
                             .count = count,
                             .words = words,
                             .mask = bit_mask});
    return TD_OK;
}

td_status td_backdoor_write_bytes(td_memory *memory, const uint64_t *addresses, size_t count, const void *words,
                                  const void *byte_mask)
{
    TD_OPERATION(operation, "backdoor_write_bytes");
    const unsigned char *masks = byte_mask;
    td_status status = check_list(memory, addresses, count, words);
    if (!status)
        status = check_width("word", memory, count, words);
    if (!status)
        status = check_byte_masks(memory, count, masks);
    if (!status)
        status = bring_in(memory, false, addresses, count);
    if (status)
        return fail_call("backdoor_write_bytes", memory, status);
    const size_t mask_bytes = ((size_t)(memory->width_bits + 7) / 8 + 7) / 8;
#define WRITE_BYTES(bytes) write_byte_masked(memory->data, addresses, count, words, masks, mask_bytes, bytes)
    FOR_EACH_WORD_SIZE(memory->word_bytes, WRITE_BYTES)
    if (memory->unknown_any)
        make_known_bytes(memory, addresses, count, masks, mask_bytes);
    td_profile_step_bytes(operation, count * memory->word_bytes);
    status = put_back(memory, addresses, count);
    if (status)
        return fail_call("backdoor_write_bytes", memory, status);
    td_record(&(td_recorded){.kind = TD_RECORDED_WRITE, .banks = &memory, .bank_count = 1, .mask = byte_mask});
    return TD_OK;
}
