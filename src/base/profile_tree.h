/* What the two files of the profile share: profile.c collects, profile_read.c switches and reads. */
#ifndef TD_PROFILE_TREE_H
#define TD_PROFILE_TREE_H

#include "base/clock.h"
#include "base/profile.h"

#include <pthread.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define PROFILE_MOST_DEEP 32
#define PROFILE_MOST_NODES 256
#define PROFILE_BLOCK_EVENTS 4096

typedef struct profile_node {
    td_profile_node seen; /* first: a pointer to it is one to the profile_node */
    td_profile_step_kind kind;
    unsigned depth;
    struct profile_node *first_child, *next_sibling;
    _Atomic uint64_t timed, self_ticks;
    unsigned skip, weight; /* of operations at the root: calls until the next sample, and what it counts for */
} profile_node;

typedef struct profile_tree profile_tree;

struct td_profile_step {
    profile_tree *of;
    profile_node *at;
    uint64_t start, inside, bytes;
    unsigned weight;        /* what its time counts for */
    td_profile_node *outer; /* the one around it, where that is only counted */
};

typedef struct profile_event {
    const char *name;
    uint64_t start, length, bytes;
} profile_event;

typedef struct profile_block {
    struct profile_block *next;
    _Atomic size_t count;
    profile_event event[PROFILE_BLOCK_EVENTS];
} profile_block;

struct profile_tree {
    profile_tree *next;
    bool used; /* by a thread that lives; under the lock */
    size_t number;
    atomic_uint generation;
    _Atomic unsigned count; /* of nodes; 0: none was entered */
    _Atomic uint64_t lost;
    td_profile_node *counting; /* where the thread is while it is in an operation that is only counted; else NULL */
    unsigned depth;
    uint64_t random;
    profile_block *events; /* the newest first; changes under the lock */
    td_profile_step step[PROFILE_MOST_DEEP];
    profile_node node[PROFILE_MOST_NODES];
};

static inline profile_node *td_profile_node_of(td_profile_node *seen)
{
    return (profile_node *)seen;
}

struct td_profile_shared {
    pthread_mutex_t lock;
    pthread_key_t key;
    bool has_key;
    profile_tree *first;
    size_t trees;
    uint64_t start_ns, start_ticks, stop_ns; /* of both clocks; stop_ns is 0 while it runs */
    uint64_t past_ns;                        /* of earlier runs */
};
extern struct td_profile_shared td_profile_all;

/* Once, before the profile is switched on: what timing a step costs. */
void td_profile_weigh(void);
extern atomic_uint td_profile_generation;
extern _Atomic uint64_t td_profile_events_dropped;

/* -- the clock ----------------------------------------------------------------------------------------------------- */

/* The processor's counter where it runs at one speed, else the system's clock. */
static inline bool td_profile_has_counter(void)
{
#if defined(__x86_64__)
    static atomic_int known = -1;
    int has = atomic_load_explicit(&known, memory_order_relaxed);
    if (has < 0) {
        unsigned a = 0, b = 0, c = 0, d = 0;
        has = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
        atomic_store_explicit(&known, has, memory_order_relaxed);
    }
    return has;
#else
    return false;
#endif
}

static inline uint64_t td_profile_clock(void)
{
#if defined(__x86_64__)
    if (td_profile_has_counter())
        return __rdtsc();
#endif
    return td_now_ns();
}

#endif
