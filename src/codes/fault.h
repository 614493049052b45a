/* Wrong bits on purpose: what a text of td_memory_inject says, which bits that comes to, and their record. fault.c is
 * for words of a memory; backdoor/inject.c finds the bits of an element and uses the same functions. */
#ifndef TD_CODES_FAULT_H
#define TD_CODES_FAULT_H

#include "codes/code.h"

#define TD_FAULT_WORDS 65536 /* of one injection, at most */

typedef enum td_fault_in { TD_FAULT_ANY, TD_FAULT_DATA, TD_FAULT_CHECK } td_fault_in;

typedef struct td_fault_spec {
    uint64_t bits;  /* to flip in each word */
    uint64_t word;  /* UINT64_MAX: random words */
    uint64_t words; /* so many random words, */
    uint64_t first; /* of those from here on, */
    uint64_t count; /* so many; 0: to the end */
    uint64_t seed;
    uint64_t bit[64]; /* these bits instead of random ones */
    size_t bit_count;
    td_fault_in in;
    bool spread;      /* subword=any: over all subwords */
    uint64_t subword; /* UINT64_MAX: a random one */
    unsigned seen;    /* which words the text had */
} td_fault_spec;

/* Of `seen`: what says which words of the memory, and which subword, for callers that know them. */
#define TD_FAULT_WHERE (1u << 2 | 1u << 3 | 1u << 4 | 1u << 5 | 1u << 7)

#define TD_FAULT_CODED (1u << 6)   /* in=, */
#define TD_FAULT_SUBWORD (1u << 7) /* and subword=, which take a code */

/* The memory that holds the bits, and its code: of one with a code of its own (td_memory_coded), that below it.
 * TD_ARGUMENT where the caller has passed another code. */
td_status td_fault_target(td_memory **memory, const td_code **code);

td_status td_fault_spec_read(const char *text, td_fault_spec *out);

/* `wanted` of the bits, in random order first; number n of a seed. */
void td_fault_pick(uint64_t *bits, size_t count, size_t wanted, uint64_t seed, uint64_t n);

/* Flips the bits, below the codes that lie under the memory, and gives their record; takes the list, which malloc made,
 * in every case. TD_X_STATE where one of the words is x or z and the memory's policy says error. */
td_status td_faults_apply(td_memory *memory, td_fault *list, size_t count, td_faults **out);

#endif
