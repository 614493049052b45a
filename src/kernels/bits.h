/* One field of 1 to 64 bits at any bit of a little-endian store. Only the bytes that hold the field are touched. */
#ifndef TD_BITS_H
#define TD_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t td_low_bits(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static inline uint64_t td_get_bits(const unsigned char *base, int64_t bit, unsigned bits)
{
    const unsigned char *p = base + (bit >> 3);
    const unsigned shift = (unsigned)(bit & 7), bytes = (shift + bits + 7) / 8;
    uint64_t low = 0;
    if (bytes <= 2) { /* short elements are most of those that come one by one */
        low = bytes == 2 ? p[0] | (unsigned)p[1] << 8 : p[0];
        return low >> shift & td_low_bits(bits);
    }
    for (unsigned i = 0; i < bytes && i < 8; i++)
        low |= (uint64_t)p[i] << (8 * i);
    low >>= shift;
    if (bytes == 9)
        low |= (uint64_t)p[8] << (64 - shift);
    return low & td_low_bits(bits);
}

static inline void td_put_bits(unsigned char *base, int64_t bit, unsigned bits, uint64_t value)
{
    unsigned char *p = base + (bit >> 3);
    const unsigned shift = (unsigned)(bit & 7), bytes = (shift + bits + 7) / 8;
    const uint64_t mask = td_low_bits(bits);
    value &= mask;
    const uint64_t low_mask = mask << shift, low = value << shift;
    if (bytes <= 2) {
        p[0] = (unsigned char)((p[0] & ~low_mask) | low);
        if (bytes == 2)
            p[1] = (unsigned char)((p[1] & ~(low_mask >> 8)) | low >> 8);
        return;
    }
    for (unsigned i = 0; i < bytes && i < 8; i++)
        p[i] = (unsigned char)((p[i] & ~(low_mask >> (8 * i))) | (low >> (8 * i)));
    if (bytes == 9)
        p[8] = (unsigned char)((p[8] & ~(mask >> (64 - shift))) | (value >> (64 - shift)));
}

/* An element in its tensor bytes: 1, 2, 4 or 8 of them. */
static inline uint64_t td_get_elem(const unsigned char *p, unsigned bytes)
{
    uint64_t value = 0;
    switch (bytes) { /* a copy of a size that is known is no call */
    case 1:
        return *p;
    case 2:
        memcpy(&value, p, 2);
        return value;
    case 4:
        memcpy(&value, p, 4);
        return value;
    default:
        memcpy(&value, p, 8);
        return value;
    }
}

static inline void td_put_elem(unsigned char *p, unsigned bytes, uint64_t value)
{
    switch (bytes) {
    case 1:
        *p = (unsigned char)value;
        break;
    case 2:
        memcpy(p, &value, 2);
        break;
    case 4:
        memcpy(p, &value, 4);
        break;
    default:
        memcpy(p, &value, 8);
    }
}

#endif
