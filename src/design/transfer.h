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

/* layers.c: begins the transfers of the memories that one lies over; lists in them the words that the listed words of
 * the banks lie in. Banks that lie over nothing are left out. */
td_status td_layers_begin(td_memory *memory);
td_status td_layers_spread(td_memory *const *banks, size_t count);

#endif
