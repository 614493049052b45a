/* What transfer.c lists and chunk.c moves: the words of one operation on a memory that is a copy of another. */
#ifndef TD_TRANSFER_H
#define TD_TRANSFER_H

#include "memory/memory.h"
#include "plan/plan.h"

/* Words first, first + step, ..., `count` of them. */
typedef struct td_word_run {
    uint64_t first;
    uint64_t count;
    int64_t step;
} td_word_run;

/* Behind `done` words of a run, `words` in all. */
typedef struct td_crossing {
    size_t run;
    uint64_t done;
    uint64_t words;
} td_crossing;

struct td_transfer {
    td_word_run *run;
    size_t count, room;
    uint64_t words;       /* of all runs */
    bool failed;          /* the list could not grow */
    td_crossing next;     /* what crosses next */
    td_crossing crossing; /* what the last chunk began with */
    bool expected;        /* the words of the last chunk come back with the next call */

    /* dense.c: the words one behind the other, in the order of the runs; NULL while they are in the copy */
    unsigned char *ordered;
    bool borrowed;           /* they are the tensor's own */
    td_memory *stage;        /* or these: grown as needed, and kept */
    td_layout *dense_layout; /* the layout with no address, for which the stage is; kept for the next call */
};

/* The list of runs, for dense.c: emptied, grown by words first, first + step, ..., and TD_NO_MEMORY where it could not grow. */
td_status td_transfer_begin(td_memory *memory);
void td_transfer_add(struct td_transfer *t, uint64_t first, uint64_t count, int64_t step);
td_status td_transfer_end(td_memory *memory);

/* The words of a plan, for every bank, in the order of its boxes. */
void td_transfer_list(td_memory *const *banks, const td_plan *plan);

/* The plan of a load; false when it is refused. */
bool td_transfer_plan(td_memory *const *banks, size_t count, const td_tensor *tensor, const td_layout *layout,
                      const char *as, td_plan **plan);

/* For td_memory_destroy. */
void td_transfer_free(td_memory *memory);

#endif
