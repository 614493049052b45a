/* Who listens to the calls of this thread, or of all threads: a program that is recorded (program/record.c). The
 * facades tell it of every call that has succeeded; while nobody listens anywhere, that is one look at a number. */
#ifndef TD_RECORD_H
#define TD_RECORD_H

#include "tensordoor.h"

#include <stdatomic.h>
#include <stdbool.h>

typedef enum td_recorded_kind {
    TD_RECORDED_LOAD,
    TD_RECORDED_DUMP,
    TD_RECORDED_LOAD_MATRIX,
    TD_RECORDED_DUMP_MATRIX,
    TD_RECORDED_FILL,
    TD_RECORDED_WRITE,
    TD_RECORDED_COMPARE,
    TD_RECORDED_TENSOR,  /* a step that makes the tensor `out`: `text` begins it, the operands follow */
    TD_RECORDED_DESTROY, /* of a tensor, or of a memory */
    TD_RECORDED_OTHER    /* `text` is the name of a call that changes a memory, or compares, and that no line can say */
} td_recorded_kind;

/* A call; members that it does not have are zero. */
typedef struct td_recorded {
    td_recorded_kind kind;
    td_memory *const *banks;
    size_t bank_count;
    const td_tensor *tensor; /* that is moved, golden or destroyed */
    const td_layout *layout;
    const char *as, *text, *behind; /* of a step: its word, and what stands behind the operands */
    const td_tensor *const *operand;
    size_t operands;
    const td_tensor *out;
    const td_comparison *comparison;
    uint64_t first, count;
    const uint64_t *addresses;
    const void *words, *mask;
} td_recorded;

typedef struct td_listener {
    void (*hear)(void *context, const td_recorded *call);
    void *context;
} td_listener;

extern atomic_int td_listeners; /* on all threads */

void td_record_tell(const td_recorded *call);

/* Tells the listener of this thread. */
static inline void td_record(const td_recorded *call)
{
    if (atomic_load_explicit(&td_listeners, memory_order_relaxed))
        td_record_tell(call);
}

static inline int td_record_heard(void)
{
    return atomic_load_explicit(&td_listeners, memory_order_relaxed) != 0;
}

/* Tells of a call of TD_RECORDED_OTHER, if it has succeeded; gives its status. */
static inline td_status td_record_other(const char *call, td_status status)
{
    if (!status)
        td_record(&(td_recorded){.kind = TD_RECORDED_OTHER, .text = call});
    return status;
}

/* The listener of this thread, or else that of all threads; NULL: none. */
const td_listener *td_record_listener(void);

/* Sets it, or with NULL ends it. With `all` it hears the calls of every thread, one at a time. */
void td_record_listen(const td_listener *listener, bool all);

/* Calls of this thread are not told between pause and resume, which may be nested. */
void td_record_pause(void);
void td_record_resume(void);

#endif
