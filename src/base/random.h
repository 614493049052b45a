/* Random bits: splitmix64 (Steele, Lea, Flood, OOPSLA 2014). Number i of a seed depends on the two alone, so that no
 * order of work and no number of threads changes what is filled or rounded with them. */
#ifndef TD_RANDOM_H
#define TD_RANDOM_H

#include <stdint.h>

#define TD_RANDOM_STEP 0x9e3779b97f4a7c15u

static inline uint64_t td_random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t td_random_at(uint64_t seed, uint64_t i)
{
    return td_random_mix(seed + (i + 1) * TD_RANDOM_STEP);
}

#endif
