/* Bits that are x or z: the plane of a memory, which holds them in the form of words, and the check of lists of words,
 * which words.c makes before it reads. A memory without such bits costs one test. */
#ifndef TD_X_STATE_H
#define TD_X_STATE_H

#include "memory/memory.h"

/* TD_X_STATE when one of the words has such a bit and the memory's policy is x=error. */
td_status td_x_check_words(const td_memory *memory, const uint64_t *addresses, size_t count);

/* The plane of a memory, all known at first, unless it has one. Does not say that it is in use. */
td_status td_x_open(td_memory *memory);

/* For a memory that lies over others, when words come in or will be written: its plane is in use where `any` is, which
 * is whether one below is. */
td_status td_x_follow(td_memory *memory, bool any);

/* The words are known, or all of them is x. The plane is there. */
void td_x_set_words(const td_memory *memory, uint64_t first, uint64_t count, bool x);

/* A word has such a bit. */
bool td_x_has(const td_memory *memory, uint64_t word);

#endif
