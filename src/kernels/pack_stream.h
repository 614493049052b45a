/* A stream of bits, written and read 64 at a time; what the packing kernels share. Only bytes that hold bits of the
 * stream are touched. */
#ifndef TD_PACK_STREAM_H
#define TD_PACK_STREAM_H

#include "kernels/bits.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct bit_writer {
    unsigned char *p;
    uint64_t held;
    unsigned fill; /* bits held: 0 .. 63 */
} bit_writer;

static inline bit_writer bits_begin(unsigned char *p, unsigned at)
{
    return (bit_writer){.p = p, .held = at ? *p & td_low_bits(at) : 0, .fill = at};
}

/* `value` has no bits above `bits`, which is 1 .. 64. */
static inline void bits_push(bit_writer *w, uint64_t value, unsigned bits)
{
    w->held |= value << w->fill;
    w->fill += bits;
    if (w->fill >= 64) {
        memcpy(w->p, &w->held, 8);
        w->p += 8;
        w->fill -= 64;
        w->held = w->fill ? value >> (bits - w->fill) : 0;
    }
}

static inline void bits_end(const bit_writer *w)
{
    const unsigned bytes = w->fill / 8, rest = w->fill % 8;
    memcpy(w->p, &w->held, bytes);
    if (rest) {
        const unsigned char low = (unsigned char)td_low_bits(rest);
        w->p[bytes] = (unsigned char)((w->p[bytes] & ~low) | (w->held >> (8 * bytes) & low));
    }
}

/* `bits` from bit `at` of p, where all 9 bytes may be read. */
static inline uint64_t bits_peek(const unsigned char *p, uint64_t at, unsigned bits)
{
    uint64_t low = 0;
    const unsigned shift = (unsigned)(at & 7);
    p += at >> 3;
    memcpy(&low, p, 8);
    low >>= shift;
    if (shift + bits > 64)
        low |= (uint64_t)p[8] << (64 - shift);
    return low & td_low_bits(bits);
}

static inline uint64_t bits_extend(uint64_t value, unsigned bits, bool sign)
{
    const uint64_t top = sign ? (uint64_t)1 << (bits - 1) : 0;
    return (value ^ top) - top;
}

/* How many of n elements can be read 9 bytes at a time without passing their end. */
static inline size_t bits_safe(unsigned at, size_t n, unsigned bits)
{
    const uint64_t end = (at + (uint64_t)n * bits + 7) / 8; /* bytes */
    if (end < 9)
        return 0;
    const uint64_t last = (end - 9) * 8; /* the last bit that a read may begin at, and 7 more */
    const uint64_t count = last < at ? 0 : (last - at) / bits + 1;
    return count < n ? (size_t)count : n;
}

#endif
