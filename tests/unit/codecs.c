/* Codecs of a user, in a shared library of their own: what test_through.c and tests/sim/tb_layers.sv open by name. */
#include "tensordoor.h"

static int flip(void *context, const td_codec_run *run, const void *from, void *to)
{
    (void)context;
    const uint32_t *src = from;
    uint32_t *dst = to;
    for (uint64_t i = 0; i < run->count; i++)
        dst[i] = ~src[i] ^ (uint32_t)(run->first + i);
    return 0;
}

/* Words of any width: a byte of the word's address on every byte, and neighbours change places. */
static int scramble(void *context, const td_codec_run *run, const void *from, void *to)
{
    (void)context;
    const unsigned char *src = from;
    unsigned char *dst = to;
    const uint64_t top = run->word_bits % 8 ? (1u << run->word_bits % 8) - 1 : 0xff;
    for (uint64_t i = 0; i < run->count; i++)
        for (uint64_t b = 0; b < run->word_bytes; b++, src++, dst++) {
            const uint64_t key = 7 * (run->first + i) + 29 * b;
            *dst = (unsigned char)(*src ^ (8 * b + 8 <= run->word_bits ? key : 8 * b < run->word_bits ? key & top : 0));
        }
    return 0;
}

static uint64_t swap_neighbours(void *context, uint64_t word, uint64_t depth)
{
    (void)context;
    (void)depth;
    return word ^ 1;
}

TD_API extern const td_codec flipped, mixed, outdated;
const td_codec mixed = {
    .version = TD_CODEC_VERSION, .name = "mixed", .encode = scramble, .decode = scramble, .place = swap_neighbours};
const td_codec flipped = {.version = TD_CODEC_VERSION, .name = "flipped", .encode = flip, .decode = flip};
const td_codec outdated = {.version = 77, .name = "outdated", .encode = flip, .decode = flip};
