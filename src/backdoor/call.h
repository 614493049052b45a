/* A call on a tensor: td_call_begin and td_call_end are the one prologue and the one cleanup of load, dump and
 * comparison. tensors.c, compare/ and design/ use it. The prologue checks the arguments, then finds the conversion, the
 * bits that are x or z, the plan and the storage of the banks; a call that it refuses has changed nothing. */
#ifndef TD_CALL_H
#define TD_CALL_H

#include "backdoor/x_elems.h"
#include "exec/exec.h"
#include "memory/memory.h"
#include "plan/layers.h"
#include "plan/walk.h"
#include "tensor/tensor.h"

/* What td_call_begin looks up, where the caller has found it before and holds it, as a program does. */
typedef struct td_call_ready {
    const td_plan *plan;
    const td_convert *convert; /* NULL: bits move unchanged */
    td_dtype memory_dtype;
} td_call_ready;

/* One call: the operation's name, its memories and the rest. */
typedef struct td_call {
    const char *operation;
    const td_memory *const *bank;
    size_t banks;
    const td_tensor *tensor;
    const td_layout *layout;
    const char *as;
    bool writes_tensor;
    bool compares; /* memory values are converted as in a dump, and nothing is written */
    bool truncate;
    uint64_t
        staged_words; /* of the staging buffer that the memory's data is (td_plan_request.dense); 0: it is its own */
    const td_call_ready *ready; /* of this layout, `as`, tensor and geometry; NULL: to be looked up */
} td_call;

#define TD_CALL_FEW_BANKS 64

/* Words that the tensor has as they stand: runs of whole words, which follow each other on both sides (word_runs.c). */
typedef struct td_word_runs {
    uint64_t words;              /* of a run; 0: the call is none of them */
    uint64_t count;              /* of runs */
    td_at at;                    /* the first: bytes of the tensor, and words */
    td_node node[TD_WALK_NODES]; /* from run to run, in the same units */
    size_t node_count;
} td_word_runs;

/* A large call on a memory that lies over others: runs of words that need no scratch, one plan for both layouts, or
 * blocks of words that are put together in a scratch (blocks.c). */
typedef struct td_blocks {
    bool found; /* the call is one of the three */
    td_word_runs runs;
    struct td_joined *joined;          /* one plan down to the arrays, or NULL (td_backing.join) */
    td_layers cut;                     /* without a plan: no blocks */
    uint64_t first, words, last_words; /* of the first block; how many words a block and the last one have */
} td_blocks;

/* What td_call_begin found, until td_call_end. */
typedef struct td_call_state {
    td_run run;
    td_dtype memory_dtype;
    td_convert *made; /* made for this call only, or NULL */
    td_plan *held;    /* the plan of a comparison, or NULL: a load or dump borrows it from the cache */
    bool has_x;
    td_x_elems x;
    td_span *spans; /* of memories that lie over others: the plan's words; or NULL */
    size_t span_count;
    td_blocks blocks;     /* or those words, block by block */
    unsigned char *saved; /* words of the memories of the library, while another may refuse; or NULL */
    unsigned char **data, *few[TD_CALL_FEW_BANKS]; /* the storage of each bank */
} td_call_state;

/* Whatever it returns, the caller ends with td_call_end, which frees the state and puts the call's name in front of
 * a failure. Between the two the thread must not look up another plan, unless the call compares. */
td_status td_call_begin(const td_call *c, td_call_state *state);
td_status td_call_begin_blocks(const td_call *c, td_call_state *state); /* may find state->blocks, not the words */
td_status td_call_end(const td_call *c, td_call_state *state, td_status status);

/* The checks of td_call_begin, for callers that have to look at the arguments before it. */
td_status td_call_check_banks(const td_call *c);
td_status td_call_check(const td_call *c);

/* After a load: the words of memories that lie over others go back to where they lie, unless one of them refuses; then
 * nothing has changed. */
td_status td_call_put_back(const td_call *c, td_call_state *state);

/* TD_DTYPE where the layout says dtype= and the memory would hold another. */
td_status td_call_check_dtype(const td_call *c, td_dtype memory_dtype);

/* bad_elem.c: puts an element that lies in these bits of a word in front of this thread's message, where there is one.
 */
void td_call_name_element(const td_call *c, const td_plan *plan, uint64_t bank, const td_word_bits *bits);

/* blocks.c: finds blocks where the words of a call can pass, and moves them: what td_exec_load and td_call_put_back do,
 * or a bring-in and td_exec_dump. `plan` is that of the whole call. */
void td_blocks_find(const td_call *c, const td_plan_request *request, const td_plan *plan, td_call_state *state);
void td_blocks_run(const td_call *c, const td_call_state *state);
void td_blocks_end(const td_call *c, td_blocks *blocks);

/* word_runs.c: the same for words that the tensor has as they stand. td_blocks_find and td_blocks_run call them.
 * td_words_plain: the data of every word are elements of whole bytes, as they are, and a load writes nothing else. */
bool td_words_plain(const td_call *c, const td_plan *plan);
bool td_word_runs_find(const td_call *c, const td_plan *plan, td_word_runs *out);
void td_word_runs_run(const td_call *c, const td_word_runs *runs);

/* blocks.c: these words lie in one run of words of each array, in which no other words have bits, so that threads can
 * write them beside others: between the first and the last bit of a run, kernels write bytes again as they were
 * (kernels/weave.h). */
bool td_words_alone(const td_memory *memory, uint64_t first, uint64_t count);

/* Bytes of the tensor in a block. Tests make it small, so that small calls have blocks. */
extern uint64_t td_blocks_bytes;

/* The caller releases the plan. */
td_status td_call_plan(const td_call *c, td_dtype memory_dtype, td_plan **out);

/* Puts "operation "memory": " in front of this thread's message; returns `status`. */
td_status td_call_fail(const td_call *c, td_status status);

/* tensors.c: the whole load or dump. */
td_status td_call_run(const td_call *c);

#endif
