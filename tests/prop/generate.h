/* Random layouts of the whole language, as the strings a user would write, with a tensor and memories to go with them.
 * Most are legal; some are a little wrong on purpose. Whether one is legal is for the oracle to say. */
#ifndef TD_TEST_GENERATE_H
#define TD_TEST_GENERATE_H

#include "oracle.h"
#include "random.h"

typedef struct generated {
    char pattern[1024];
    char options[1024];
    char address[512];
    char dtype[8];
    oracle_case in; /* points at the strings above */
} generated;

void generate(random_state *r, generated *g);

/* One of them in thirty: elements with copies. Leaves the depth and the banks to generate(). */
void generate_copies(random_state *r, generated *g);

#endif
