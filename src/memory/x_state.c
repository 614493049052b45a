/* Bits that are x or z in a memory: its policy (td_memory_set_x), its plane of such bits, words that become x
 * (td_memory_invalidate), and the refusal of lists of words that hold some, for words.c. backdoor/x_elems.c does the
 * same for tensors. */
#include "memory/x_state.h"
#include "base/record.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

td_status td_x_check_words(const td_memory *memory, const uint64_t *addresses, size_t count)
{
    if (!memory->unknown_any || memory->x != TD_X_ERROR)
        return TD_OK;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *word = memory->unknown->data + addresses[i] * memory->word_bytes;
        for (uint64_t bit = 0; bit < memory->width_bits; bit++)
            if (word[bit / 8] >> bit % 8 & 1)
                return td_fail(TD_X_STATE,
                               "the word at address 0x%" PRIx64 " (entry %zu) is x or z in bit %" PRIu64
                               "; let the design drive it first, or set the memory's policy to x=zero",
                               addresses[i], i, bit);
    }
    return TD_OK;
}

td_status td_x_open(td_memory *memory)
{
    return memory->unknown ? TD_OK
                           : td_memory_create(memory->name, memory->width_bits, memory->depth_words, &memory->unknown);
}

td_status td_x_follow(td_memory *memory, bool any)
{
    const td_status status = any ? td_x_open(memory) : TD_OK;
    if (!status)
        memory->unknown_any = any;
    return status;
}

void td_x_set_words(const td_memory *memory, uint64_t first, uint64_t count, bool x)
{
    const size_t bytes = memory->word_bytes;
    unsigned char *plane = memory->unknown->data + first * bytes;
    memset(plane, x ? 0xff : 0, (size_t)count * bytes);
    for (uint64_t w = 0; x && w < count; w++)
        for (size_t b = (size_t)(memory->width_bits / 8); b < bytes; b++)
            plane[w * bytes + b] =
                (unsigned char)(b == memory->width_bits / 8 ? (1u << memory->width_bits % 8) - 1 : 0);
}

bool td_x_has(const td_memory *memory, uint64_t word)
{
    const unsigned char *plane = memory->unknown->data + word * memory->word_bytes;
    return plane[0] || memcmp(plane, plane + 1, memory->word_bytes - 1) != 0;
}

/* Planes for a memory and for all below it. They are in use from now on. */
static td_status open_all(td_memory *memory)
{
    size_t count = 0;
    td_memory *const *below = memory->backing ? memory->backing->below(memory, &count) : NULL;
    td_status status = td_x_open(memory);
    for (size_t i = 0; i < count && !status; i++)
        status = open_all(below[i]);
    return status;
}

static void use_all(td_memory *memory)
{
    size_t count = 0;
    td_memory *const *below = memory->backing ? memory->backing->below(memory, &count) : NULL;
    memory->unknown_any = true;
    for (size_t i = 0; i < count; i++)
        use_all(below[i]);
}

/* One whose storage somebody has, under this memory or itself; or NULL. */
static const td_memory *find_lent(const td_memory *memory)
{
    size_t count = 0;
    td_memory *const *below = memory->backing ? memory->backing->below(memory, &count) : NULL;
    const td_memory *lent = memory->lent ? memory : NULL;
    for (size_t i = 0; i < count && !lent; i++)
        lent = find_lent(below[i]);
    return lent;
}

static td_status invalidate(td_memory *memory, uint64_t first, uint64_t count)
{
    if (count == 0 || first >= memory->depth_words || count > memory->depth_words - first)
        return td_fail(TD_RANGE,
                       "%" PRIu64 " word%s from 0x%" PRIx64 " in a memory of %" PRIu64
                       " words; pass words inside it, at least one",
                       count, td_text_s(count), first, memory->depth_words);
    const td_memory *lent = find_lent(memory);
    if (lent)
        return td_fail(TD_ARGUMENT,
                       "the storage of \"%s\", which has two states, was given out by td_memory_data, so that what is "
                       "written there could not be told from x; fill the memory with random words instead",
                       lent->name);
    td_status status = open_all(memory);
    if (!status)
        use_all(memory);
    if (!status)
        status = td_memory_bring_for_write(memory, false, first, count);
    if (status)
        return status;
    memset(memory->data + first * memory->word_bytes, 0, (size_t)count * memory->word_bytes);
    td_x_set_words(memory, first, count, true);
    return td_memory_finish_write(memory, first, count);
}

td_status td_memory_invalidate(td_memory *memory, uint64_t first, uint64_t count)
{
    if (!memory)
        return td_fail(TD_ARGUMENT, "memory_invalidate: the memory is NULL; pass one");
    const td_status status = invalidate(memory, first, count);
    if (status)
        td_fail_prefix("memory_invalidate \"%s\": ", memory->name);
    return td_record_other("memory_invalidate", status);
}

td_status td_memory_set_x(td_memory *memory, const char *policy)
{
    static const char *const words[] = {"error", "zero", "keep"};
    if (!memory || !policy)
        return td_fail(TD_ARGUMENT, "memory_set_x: the %s is NULL; pass one", memory ? "policy" : "memory");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(policy, words[i]) == 0) {
            memory->x = (td_x_policy)i;
            return TD_OK;
        }
    return td_fail(TD_OPTION, "memory_set_x \"%s\": a policy \"%s\"; pass error, zero or keep", memory->name, policy);
}
