/* Codecs of a user, in a shared library of their own: what test_through.c opens by name. */
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

TD_API extern const td_codec flipped, outdated;
const td_codec flipped = {.version = TD_CODEC_VERSION, .name = "flipped", .encode = flip, .decode = flip};
const td_codec outdated = {.version = 77, .name = "outdated", .encode = flip, .decode = flip};
