/* Bits that are x or z in a memory: its policy (td_memory_set_x), and the refusal of lists of words that hold some,
 * for words.c. backdoor/x_elems.c does the same for tensors. */
#include "memory/x_state.h"

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
