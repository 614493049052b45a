/* What transfer.c lists and chunk.c moves: the words of one operation on a memory that is a copy of another. */
#ifndef TD_TRANSFER_H
#define TD_TRANSFER_H

#include "memory.h"

/* Words first, first + step, ..., `count` of them. */
typedef struct td_word_run {
    uint64_t first;
    uint64_t count;
    int64_t step;
} td_word_run;

/* Behind `done` words of a run. */
typedef struct td_crossing {
    size_t run;
    uint64_t done;
} td_crossing;

struct td_transfer {
    td_word_run *run;
    size_t count, room;
    bool failed;          /* the list could not grow */
    td_crossing next;     /* what crosses next */
    td_crossing crossing; /* what the last chunk began with */
    bool expected;        /* the words of the last chunk come back with the next call */
};

/* For td_memory_destroy. */
void td_transfer_free(td_memory *memory);

#endif
