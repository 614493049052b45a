/* Fills words with a pattern (fill.h). Plain C: the library's memset and memcpy have the vectors, and words of usual
 * sizes are a move or two each. */
#include "exec/fill.h"

#include <stdbool.h>
#include <string.h>

#define SOURCE_BYTES 4096 /* of a pattern that is copied again and again: stays in the first-level cache */

static bool is_uniform(const unsigned char *value, size_t bytes)
{
    return bytes == 1 || memcmp(value, value + 1, bytes - 1) == 0;
}

/* The pattern over and over, without a gap. */
static void fill_run(unsigned char *dst, uint64_t count, const unsigned char *value, size_t bytes)
{
    const uint64_t all = count * bytes;
    if (is_uniform(value, bytes)) {
        memset(dst, value[0], all);
        return;
    }
    const uint64_t most = bytes < SOURCE_BYTES ? SOURCE_BYTES / bytes * bytes : bytes;
    memcpy(dst, value, bytes);
    for (uint64_t done = bytes, n = 0; done < all; done += n) {
        n = done < most ? done : most;
        n = n < all - done ? n : all - done;
        memcpy(dst + done, dst, n);
    }
}

#define WORDS(size)                                                                                                    \
    case size: {                                                                                                       \
        unsigned char word[size];                                                                                      \
        memcpy(word, value, size);                                                                                     \
        for (; count; count--, dst += stride)                                                                          \
            memcpy(dst, word, size);                                                                                   \
        break;                                                                                                         \
    }

static void fill_apart(unsigned char *dst, ptrdiff_t stride, uint64_t count, const unsigned char *value, size_t bytes)
{
    switch (bytes) {
        WORDS(1)
        WORDS(2)
        WORDS(4)
        WORDS(8)
        WORDS(16)
        WORDS(32)
        WORDS(64)
    default: {
        const bool uniform = is_uniform(value, bytes);
        for (; count; count--, dst += stride)
            if (uniform)
                memset(dst, value[0], bytes);
            else
                memcpy(dst, value, bytes);
    }
    }
}

#define KEPT(type)                                                                                                     \
    case sizeof(type): {                                                                                               \
        type word, kept, put;                                                                                          \
        memcpy(&kept, keep, sizeof kept);                                                                              \
        memcpy(&put, value, sizeof put);                                                                               \
        for (; count; count--, dst += stride) {                                                                        \
            memcpy(&word, dst, sizeof word);                                                                           \
            word = (type)((word & kept) | put);                                                                        \
            memcpy(dst, &word, sizeof word);                                                                           \
        }                                                                                                              \
        return;                                                                                                        \
    }

/* Short words, which are often side by side: a constant step makes vectors of them. */
static inline __attribute__((always_inline)) void fill_short(unsigned char *dst, ptrdiff_t stride, uint64_t count,
                                                             const unsigned char *value, const unsigned char *keep,
                                                             size_t bytes)
{
    switch (bytes) {
        KEPT(uint8_t)
        KEPT(uint16_t)
        KEPT(uint32_t)
    default:
        KEPT(uint64_t)
    }
}

static void fill_kept(unsigned char *dst, ptrdiff_t stride, uint64_t count, const unsigned char *value,
                      const unsigned char *keep, size_t bytes)
{
    for (; count; count--, dst += stride) {
        size_t k = 0;
        for (; k + 8 <= bytes; k += 8) {
            uint64_t word, kept, put;
            memcpy(&word, dst + k, 8);
            memcpy(&kept, keep + k, 8);
            memcpy(&put, value + k, 8);
            word = (word & kept) | put;
            memcpy(dst + k, &word, 8);
        }
        for (; k < bytes; k++)
            dst[k] = (unsigned char)((dst[k] & keep[k]) | value[k]);
    }
}

void td_fill_words(unsigned char *dst, ptrdiff_t stride, uint64_t count, const unsigned char *value,
                   const unsigned char *keep, size_t bytes)
{
    const bool is_short = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    if (keep && is_short && stride == (ptrdiff_t)bytes)
        fill_short(dst, (ptrdiff_t)bytes, count, value, keep, bytes);
    else if (keep && is_short)
        fill_short(dst, stride, count, value, keep, bytes);
    else if (keep)
        fill_kept(dst, stride, count, value, keep, bytes);
    else if (stride == (ptrdiff_t)bytes && count > 1)
        fill_run(dst, count, value, bytes);
    else
        fill_apart(dst, stride, count, value, bytes);
}
