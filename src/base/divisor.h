/* Division by a number that is known long before: a multiplication where both fit in 32 bits. report/count.c divides
 * the place of every mismatch by the same few sizes. */
#ifndef TD_DIVIDE_H
#define TD_DIVIDE_H

#include <stdint.h>

typedef struct td_divisor {
    uint64_t by;
    uint64_t inverse; /* 2^64 / by, rounded up; 0 where `by` is 1 or more than 32 bits long */
} td_divisor;

static inline td_divisor td_divisor_of(uint64_t by)
{
    return (td_divisor){.by = by, .inverse = by > 1 && by <= UINT32_MAX ? UINT64_MAX / by + 1 : 0};
}

/* The inverse is off by less than by / 2^64, which n < 2^32 times is less than 1 / by: too little to reach the next
 * whole number (Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019). */
static inline uint64_t td_quotient(uint64_t n, const td_divisor *d)
{
    __extension__ typedef unsigned __int128 wide;
    if (d->by == 1)
        return n;
    return d->inverse && n <= UINT32_MAX ? (uint64_t)((wide)d->inverse * n >> 64) : n / d->by;
}

static inline uint64_t td_remainder(uint64_t n, const td_divisor *d)
{
    return n < d->by ? n : n - td_quotient(n, d) * d->by;
}

#endif
