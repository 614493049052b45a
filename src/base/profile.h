/* The profile of section 17 of the manual, as the rooms above see it: a call of the library is an operation, and what
 * it does is steps inside it, which may be nested. Whoever adds a room puts one line at the head of the function whose
 * time a user would want to see:
 *
 *     TD_STEP(step, "address table");             // ends with its scope, by whatever return
 *     td_profile_step_bytes(step, bytes);                 // where it moves any
 *
 * While the profile is off a step is one branch on td_profile_on. Each thread has its own counters, in a tree of the
 * names that were entered inside each other; profile.c adds them up when it is asked. Counts and bytes are exact. Time
 * is not: reading the clock takes as long as a small load, so operations under 100 us are timed in samples (profile.c).
 * Names are literals, or live as long as the library. Nothing here fails: a step too deep, or one name too many, is
 * counted in the step around it. */
#ifndef TD_PROFILE_H
#define TD_PROFILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum td_profile_step_kind {
    TD_KIND_OPERATION, /* may stand alone; the others exist only inside one */
    TD_KIND_STEP,      /* of a microsecond or more: always timed */
    TD_KIND_LIGHT      /* of nanoseconds, as finding a plan: timed when its operation is */
} td_profile_step_kind;

typedef struct td_profile_step td_profile_step;

extern atomic_int td_profile_on; /* 0: off, 1: steps, 2: every call is timed and becomes an event of the trace */

/* A name in one place of a thread's tree, as far as the lines below need it. */
typedef struct td_profile_node {
    const char *name;
    struct td_profile_node *parent;
    struct td_profile_node *recent, *next; /* the child that was entered last; the sibling that came after this one */
    struct td_profile_node **counting;     /* where its thread keeps the step that it is in, if that is only counted */
    _Atomic uint64_t calls, bytes;
} td_profile_node;

/* Through the macros below. NULL: not counted. Steps that are only counted are their node with the lowest bit set:
 * leaving one is going back to its parent. */
td_profile_step *td_profile_step_enter(const char *name, td_profile_step_kind kind);
void td_profile_step_leave(td_profile_step *step);
void td_profile_step_add_bytes(td_profile_step *step, uint64_t bytes);

static inline td_profile_node *td_profile_counted(td_profile_step *step)
{
    return (uintptr_t)step & 1 ? (td_profile_node *)((uintptr_t)step - 1) : NULL;
}

static inline void td_profile_grow(_Atomic uint64_t *count, uint64_t by)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by, memory_order_relaxed);
}

static inline bool td_profile_runs(void)
{
    return __builtin_expect(atomic_load_explicit(&td_profile_on, memory_order_relaxed) != 0, 0);
}

static inline td_profile_step *td_profile_step_begin(const char *name, td_profile_step_kind kind)
{
    return td_profile_runs() ? td_profile_step_enter(name, kind) : NULL;
}

static inline void td_profile_step_end(td_profile_step *const *step)
{
    td_profile_node *counted = td_profile_counted(*step);
    if (__builtin_expect(counted != NULL, 0))
        *counted->counting = counted->parent->parent ? counted->parent : NULL; /* the root is no operation */
    else if (__builtin_expect(*step != NULL, 0))
        td_profile_step_leave(*step);
}

static inline void td_profile_step_bytes(td_profile_step *step, uint64_t bytes)
{
    td_profile_node *counted = td_profile_counted(step);
    if (__builtin_expect(counted != NULL, 0))
        td_profile_grow(&counted->bytes, bytes);
    else if (__builtin_expect(step != NULL, 0))
        td_profile_step_add_bytes(step, bytes);
}

#define TD_SCOPED_STEP(variable, name, kind)                                                                           \
    td_profile_step *const variable __attribute__((cleanup(td_profile_step_end), unused)) =                            \
        td_profile_step_begin(name, kind)
#define TD_OPERATION(variable, name) TD_SCOPED_STEP(variable, name, TD_KIND_OPERATION)
#define TD_STEP(variable, name) TD_SCOPED_STEP(variable, name, TD_KIND_STEP)
#define TD_LIGHT_STEP(variable, name) TD_SCOPED_STEP(variable, name, TD_KIND_LIGHT)

/* An operation that took place outside of the library, as the time between two chunks that cross: it ends now, and
 * began at `start`, which td_profile_ticks gave. 0 where the profile is off. */
uint64_t td_profile_ticks(void);
void td_profile_outside(const char *name, uint64_t start, uint64_t bytes);

/* -- for src/profile/ ---------------------------------------------------------------------------------------------- */

/* One name in one place of the tree, over all threads. Parents stand before their children; the first is the root. */
typedef struct td_profile_line {
    const char *name;
    size_t parent;
    td_profile_step_kind kind;
    uint64_t calls, bytes;
    uint64_t timed; /* calls that were timed themselves */
    double self_ns, total_ns;
} td_profile_line;

typedef struct td_profile_lines {
    td_profile_line *line; /* free it */
    size_t count;
    size_t threads;
    uint64_t lost;     /* steps that were not counted by themselves */
    double elapsed_ns; /* from start to now or to stop, without what reset dropped */
} td_profile_lines;

/* One call of an operation or step. */
typedef struct td_profile_event {
    const char *name;
    size_t thread; /* from 1 on */
    double start_ns, length_ns;
    uint64_t bytes;
} td_profile_event;

typedef struct td_profile_events {
    td_profile_event *event; /* free it; in the order in which they ended, thread by thread */
    size_t count;
    uint64_t dropped; /* calls for which there was no place */
} td_profile_events;

void td_profile_switch(int on);
void td_profile_clear(void);

/* False where memory is refused. */
bool td_profile_read(td_profile_lines *out);
bool td_profile_read_events(td_profile_events *out);

#endif
