/* The check for bits that are x or z in lists of words, which words.c makes before it reads. A memory without such
 * bits costs one test. */
#ifndef TD_X_STATE_H
#define TD_X_STATE_H

#include "memory/memory.h"

/* TD_X_STATE when one of the words has such a bit and the memory's policy is x=error. */
td_status td_x_check_words(const td_memory *memory, const uint64_t *addresses, size_t count);

#endif
