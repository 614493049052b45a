/* Random numbers for the property tests: splitmix64, the same on every machine for the same seed. */
#ifndef TD_TEST_RANDOM_H
#define TD_TEST_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct random_state {
    uint64_t state;
} random_state;

static inline uint64_t random_next(random_state *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0 .. n - 1 */
static inline uint64_t random_below(random_state *r, uint64_t n)
{
    return random_next(r) % n;
}

static inline bool random_chance(random_state *r, unsigned percent)
{
    return random_below(r, 100) < percent;
}

#endif
