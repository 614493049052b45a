/* What the generated loops of the search stand on: the helpers that a user would have beside such loops. loops.py
 * writes the loops; nothing else includes it. */
#ifndef TD_BENCH_PRELUDE_H
#define TD_BENCH_PRELUDE_H

#include "case.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Bits p .. p + n - 1 counted from a byte; the others stay. */
static inline void put_bits(unsigned char *w, long p, uint64_t v, int n)
{
    w += p >> 3;
    p &= 7;
    while (n > 0) {
        const int k = 8 - p < n ? 8 - (int)p : n;
        const unsigned mask = ((1u << k) - 1) << p;
        *w = (unsigned char)((*w & ~mask) | ((unsigned)(v << p) & mask));
        v >>= k;
        n -= k;
        p = 0;
        w++;
    }
}

static inline uint64_t get_bits(const unsigned char *w, long p, int n)
{
    uint64_t v = 0;
    int at = 0;
    w += p >> 3;
    p &= 7;
    while (at < n) {
        const int k = 8 - p < n - at ? 8 - (int)p : n - at;
        v |= (uint64_t)(*w >> p & ((1u << k) - 1)) << at;
        at += k;
        p = 0;
        w++;
    }
    return v;
}

/* An element that is cut at every `part` bits of its vector; part i lies in word i, from bit `lsb` on. */
static inline void put_parts(unsigned char *w, long at, uint64_t v, int n, long part, long word_bytes, long lsb)
{
    while (n > 0) {
        const long bit = at % part;
        const int k = part - bit < n ? (int)(part - bit) : n;
        put_bits(w + at / part * word_bytes, lsb + bit, v, k);
        v = k < 64 ? v >> k : 0;
        at += k;
        n -= k;
    }
}

static inline uint64_t get_parts(const unsigned char *w, long at, int n, long part, long word_bytes, long lsb)
{
    uint64_t v = 0;
    int have = 0;
    while (have < n) {
        const long bit = at % part;
        const int k = part - bit < n - have ? (int)(part - bit) : n - have;
        v |= get_bits(w + at / part * word_bytes, lsb + bit, k) << have;
        at += k;
        have += k;
    }
    return v;
}

/* -- the functions of address expressions -- */

static inline long at_least(long x, long y)
{
    return x > y ? x : y;
}

static inline long at_most(long x, long y)
{
    return x < y ? x : y;
}

static inline long reversed(long x, int bits)
{
    long y = 0;
    for (int i = 0; i < bits; i++)
        y |= (x >> i & 1) << (bits - 1 - i);
    return y;
}

static inline long interleaved(long x, long y)
{
    long z = 0;
    for (int i = 0; i < 31; i++)
        z |= (x >> i & 1) << (2 * i) | (y >> i & 1) << (2 * i + 1);
    return z;
}

/* -- conversions, for values inside the range and no NaN -- */

static inline int clipped(float x, int low, int high)
{
    return x < (float)low ? low : x > (float)high ? high : (int)x;
}

static inline uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static inline float bits_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static inline uint16_t to_bf16(float x)
{
    const uint32_t bits = float_bits(x);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float from_bf16(uint16_t x)
{
    return bits_float((uint32_t)x << 16);
}

__extension__ typedef _Float16 half_float;

static inline uint16_t to_f16(float x)
{
    const half_float half = (half_float)x;
    uint16_t bits;
    memcpy(&bits, &half, 2);
    return bits;
}

static inline float from_f16(uint16_t bits)
{
    half_float half;
    memcpy(&half, &bits, 2);
    return (float)half;
}

static inline uint8_t to_e4m3(float x)
{
    const uint32_t bits = float_bits(x), sign = bits >> 24 & 0x80, size = bits & 0x7fffffff;
    const float a = bits_float(size);
    if (a < 0.015625f)
        return (uint8_t)(sign | (uint32_t)(int)rintf(a * 512));
    const uint32_t rounded = (size + 0x7ffff + (size >> 20 & 1)) >> 20;
    return (uint8_t)(sign | (rounded - (120u << 3)));
}

static inline float from_e4m3(uint8_t x)
{
    const float a = (x & 0x78) == 0 ? (float)(x & 7) / 512 : bits_float(((uint32_t)(x & 0x7f) << 20) + (120u << 23));
    return x & 0x80 ? -a : a;
}

#endif
