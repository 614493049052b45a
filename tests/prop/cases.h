/* The main of a property test whose cases are numbers: --cases N, --seed N, or --case N, which runs one again. */
#ifndef TD_PROP_CASES_H
#define TD_PROP_CASES_H

#include "backdoor/call.h"
#include "kernels/stream.h"
#include "over/joined.h"
#include "random.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline int run_cases(const char *name, uint64_t cases, bool (*run_case)(uint64_t), int argc, char **argv)
{
    uint64_t seed = (uint64_t)time(NULL) * 1000003u, failures = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        const uint64_t value = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--cases") == 0)
            cases = value;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = value;
        else if (strcmp(argv[i], "--case") == 0)
            return !run_case(value);
    }
    printf("seed %llu (replay: %s --seed %llu)\n", (unsigned long long)seed, name, (unsigned long long)seed);
    random_state seeds = {seed};
    for (uint64_t i = 0; i < cases && failures < 10; i++) {
        const uint64_t one = random_next(&seeds);
        if (!run_case(one)) {
            printf("  replay: %s --case %llu\n", name, (unsigned long long)one);
            failures++;
        }
    }
    printf("%llu cases; %llu failures\n", (unsigned long long)cases, (unsigned long long)failures);
    return failures != 0;
}

/* Some cases move tensors in blocks of a few bytes, as calls of many are moved otherwise, join plans that would be
 * faster in blocks, and cut words as if the caches could not hold them. */
static inline void draw_blocks(random_state *r)
{
    td_join_plans = random_chance(r, 60) ? TD_JOIN_ALWAYS : random_chance(r, 50) ? TD_JOIN_FAST : TD_JOIN_NEVER;
    td_blocks_bytes = random_chance(r, 50) ? (uint64_t)1 << random_below(r, 8) : TD_PASS_BYTES;
    td_stream_cuts_when = (td_stream_when)random_below(r, 3);
}

#endif
