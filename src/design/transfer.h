/* The state of one operation on a memory that is the copy of an array inside a design: which words it needs
 * (transfer.c lists them), where they are while they cross (staging.c), and how far they have crossed (chunks.c). */
#ifndef TD_TRANSFER_H
#define TD_TRANSFER_H

#include "memory/memory.h"
#include "plan/plan.h"
#include "tensordoor_bridge.h"

/* Words first, first + step, ..., `count` of them. */
typedef struct td_word_run {
    uint64_t first;
    uint64_t count;
    int64_t step;
    unsigned char *data; /* where they lie, consecutively; NULL: with the others */
    uint64_t above;      /* where words pass (passing.c): the number of the first in the memory on top */
} td_word_run;

/* A tensor whose bytes are bytes of the memory from `first` on: all of its words but the two at the ends, which it may
 * share with others, cross directly. */
typedef struct td_lent_bytes {
    unsigned char *data; /* NULL: there is none */
    uint64_t first, count;
} td_lent_bytes;

/* A place in the list: `done` words of a run have crossed, `words` in all. */
typedef struct td_crossing {
    size_t run;
    uint64_t done;
    uint64_t words;
} td_crossing;

/* Words of a memory on top that lie in one run of an array. */
typedef struct td_passing_run {
    td_memory *array;
    uint64_t first, count, above; /* in the array, and the number of the first in the memory on top */
} td_passing_run;

/* Words that pass (passing.c). An array has `top`, and how many words have come in that way: those of its list up to
 * there, the others are in its copy. The memory on top has all the rest. */
struct td_passing {
    td_memory *top; /* NULL: the words of the array go through its copy */
    uint64_t taken;

    td_passing_run *run;
    size_t count, room;
    bool refused;         /* words have come in that do not pass */
    unsigned char *words; /* those of the memory, from number `first` on: in its copy, or a tensor's */
    unsigned char *saved; /* what the tensor's were before words came in, as they may be refused; NULL: they are not */
    uint64_t first;
};

struct td_transfer {
    td_word_run *run;
    size_t count, room;
    uint64_t words;  /* of all runs */
    bool failed;     /* the list could not grow */
    bool shared;     /* of a memory that lies over others: the words below hold other bits too */
    td_plan *listed; /* the dense plan whose runs these are, held: the same plan again needs no new list; or NULL */
    size_t listed_count;

    td_lent_bytes lent;
    td_word_run whole; /* while only its first and last word come in: what goes out; count 0: the list itself */

    td_crossing next;     /* what crosses next */
    td_crossing crossing; /* what the last chunk began with */
    bool expected;        /* the words of the last chunk come back with the next call */
    uint64_t left_ticks;  /* when the last chunk left, for the profile; 0: none is under way, or it is off */
    bool crosses;         /* words have crossed: the memory is a copy, and what was x in it is known to be elsewhere */
    struct td_passing passing;

    unsigned char *staged; /* the words, in the order of the runs; NULL: they are in the copy */
    bool borrowed;         /* `staged` is the tensor's own data; otherwise it is the buffer */
    unsigned char *buffer; /* kept from call to call, grown where it has to be */
    size_t buffer_bytes;
};

/* Begins an operation on the memory, and on those that it lies over: no word has crossed, and in a copy no bit is x or
 * z. The second also empties the list. */
td_status td_transfer_begin(td_memory *memory);
td_status td_transfer_begin_list(td_memory *memory);

/* The same where words have crossed before and others follow, as those that go out: what is x stays known. */
td_status td_transfer_list_again(td_memory *memory);

/* Adds words with no step between them; td_transfer_end_list says whether all could be added. */
void td_transfer_add_span(struct td_transfer *t, uint64_t first, uint64_t count);
td_status td_transfer_end_list(struct td_transfer *t);

/* Of a list of such words: sorted, and every word once. */
void td_transfer_merge(struct td_transfer *t);

/* Lists the words that a plan writes, for every bank, in the order of its boxes. */
td_status td_transfer_list(td_memory *const *banks, size_t count, const td_plan *plan);

/* Lists the words of a dense plan, in the order of its staging buffer. */
td_status td_transfer_list_dense(td_memory *memory, td_plan *plan);

/* The plan of a load with the `as` that td_layout_choose_as gave, which the caller releases; false where it is refused.
 */
bool td_transfer_plan(td_memory *const *banks, size_t count, const td_tensor *tensor, const td_layout *layout,
                      const char *as, bool dense, td_plan **plan);

/* passing.c: once the words of a memory over copies are listed, finds out whether they pass. td_passing_lend: they are
 * one run, and those of a tensor; `saves`: words that come in may be refused, and the tensor is then as it was. */
extern uint64_t td_passing_least; /* words of a run, at least; for tests */
td_status td_passing_begin(td_memory *memory);
void td_passing_lend(td_memory *memory, unsigned char *words, bool saves);
bool td_passing_is_on(const td_memory *memory);
void td_passing_stop(struct td_transfer *t);

/* Some words of a run of an array, between the chunk and the memory on top. False: they do not pass. */
bool td_passing_take(const td_memory *array, const td_word_run *run, uint64_t done, uint64_t count,
                     const uint32_t *chunk);
void td_passing_hand(const td_memory *array, const td_word_run *run, uint64_t done, uint64_t count, uint32_t *chunk);

/* A word that has come in, or one that is about to, is none to pass: all that have passed are in the copies, as if none
 * had. */
void td_passing_refuse(const td_memory *array);

/* After step 2: true where the memory has its words, and gives those that go out. */
bool td_passing_end(td_memory *memory);

/* Adds words as a run of their own. */
void td_transfer_add_passing(struct td_transfer *t, const td_passing_run *run);

/* layers.c: begins the transfers of the memories that one lies over; lists in them the words that the listed words of
 * the banks lie in. Banks that lie over nothing are left out. */
td_status td_layers_begin(td_memory *memory);
td_status td_layers_spread(td_memory *const *banks, size_t count);

#endif
