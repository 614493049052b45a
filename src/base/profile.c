/* Collects the profile (profile.h). A thread gets a tree at its first operation and gives it back when it ends; the
 * next new thread goes on with it, so that a program of many short threads needs as many trees as run at a time. Only
 * its own thread writes a tree; readers take relaxed loads of it at any time. Clearing raises a generation, and each
 * thread empties its own tree at its next operation.
 *
 * Time is kept as self time, in ticks, and totals are sums of it: so nested steps cannot count twice. Operations of
 * less than SHORT_TICKS are timed in samples after their first FULLY_TIMED calls: one call of about SHORT_TICKS / its
 * time, at random distances, which counts for those that were left out before it. In a call that is left out a step
 * costs a few instructions: what came after the last one the last time mostly comes again, and no stack is kept. Steps
 * that take long by themselves (TD_KIND_STEP) are timed in every call and count once, or a plan that was made in a
 * sampled call would count as often as the sample. Switching and reading are in profile_read.c.
 *
 * Timing a step costs as much as a small load. That is measured once, and taken off: what an empty step seems to take
 * from its own time, and what it costs beside that from the step around it. */
#include "base/profile_tree.h"

#include <stdlib.h>
#include <string.h>

#define FULLY_TIMED 32
#define MOST_SKIPPED 511
#define MOST_EVENTS ((size_t)1 << 20)

atomic_int td_profile_on;
struct td_profile_shared td_profile_all = {.lock = PTHREAD_MUTEX_INITIALIZER};
atomic_uint td_profile_generation = 1;
_Atomic uint64_t td_profile_events_dropped;
static _Atomic size_t events_left = MOST_EVENTS;
/* The one variable of a thread, as finding it is a call in a library. It has no tls_model: exec/paths.c says what one
 * of the initial-exec model does to a library that is opened late. */
static _Thread_local profile_tree *mine;
/* Most programs have one thread that calls the library. Its register says that it is this one, without that call, which
 * is a third of what the profile costs. */
static _Atomic(void *) first_thread;
static profile_tree *_Atomic first_tree;
static _Atomic uint64_t own_ticks, around_ticks; /* of an empty step: in its own time, and in that of its parent */

/* 100 us of a counter of 3 GHz; it need not be exact. A call of three steps that is timed pays about 0.2 us. */
static uint64_t short_ticks(void)
{
    return td_profile_has_counter() ? 300000 : 100000;
}

/* -- trees --------------------------------------------------------------------------------------------------------- */

/* NULL where no register says it. */
static inline void *this_thread(void)
{
    void *thread = NULL;
#if defined(__x86_64__) && defined(__linux__)
    __asm__("mov %%fs:0, %0" : "=r"(thread));
#endif
    return thread;
}

static inline profile_tree *find_tree(void)
{
    void *const thread = this_thread();
    if (thread && atomic_load_explicit(&first_thread, memory_order_relaxed) == thread)
        return atomic_load_explicit(&first_tree, memory_order_relaxed);
    return mine;
}

/* Under the lock. A thread that ended must not be taken for a new one at the same place. */
static void set_first(void *thread, profile_tree *t)
{
    atomic_store_explicit(&first_tree, t, memory_order_relaxed);
    atomic_store_explicit(&first_thread, thread, memory_order_relaxed);
}

static void end_thread(void *ended)
{
    pthread_mutex_lock(&td_profile_all.lock);
    if (atomic_load_explicit(&first_tree, memory_order_relaxed) == ended)
        set_first(NULL, NULL);
    ((profile_tree *)ended)->used = false;
    pthread_mutex_unlock(&td_profile_all.lock);
}

static void make_key(void)
{
    td_profile_all.has_key = pthread_key_create(&td_profile_all.key, end_thread) == 0;
}

static void free_events(profile_tree *t)
{
    while (t->events) {
        profile_block *block = t->events;
        t->events = block->next;
        atomic_fetch_add_explicit(&events_left, PROFILE_BLOCK_EVENTS, memory_order_relaxed);
        free(block);
    }
}

/* A library that is unloaded: no thread may come back to its code when it ends. By its number this runs behind the
 * destructors that have none: the threads of the pool are gone, and profile/profile.c has written its file. */
__attribute__((destructor(101))) static void unload(void)
{
    atomic_store(&td_profile_on, 0);
    if (td_profile_all.has_key)
        (void)pthread_key_delete(td_profile_all.key);
    while (td_profile_all.first) {
        profile_tree *t = td_profile_all.first;
        td_profile_all.first = t->next;
        free_events(t);
        free(t);
    }
}

static profile_tree *begin_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    pthread_mutex_lock(&td_profile_all.lock);
    profile_tree *t = td_profile_all.first;
    while (t && t->used)
        t = t->next;
    if (!t) {
        t = calloc(1, sizeof *t);
        if (t) {
            t->next = td_profile_all.first;
            td_profile_all.first = t;
            t->number = ++td_profile_all.trees;
            t->random = t->number * 0x9e3779b97f4a7c15ULL;
        }
    }
    if (t) {
        t->used = true;
        t->counting = NULL;
        t->depth = 0;
        if (td_profile_all.has_key && !atomic_load_explicit(&first_tree, memory_order_relaxed))
            set_first(this_thread(), t);
    }
    pthread_mutex_unlock(&td_profile_all.lock);
    mine = t;
    if (t && td_profile_all.has_key)
        (void)pthread_setspecific(td_profile_all.key, t);
    return t;
}

static void empty_tree(profile_tree *t, unsigned now)
{
    pthread_mutex_lock(&td_profile_all.lock);
    free_events(t);
    memset(t->node, 0, sizeof t->node);
    atomic_store_explicit(&t->lost, 0, memory_order_relaxed);
    atomic_store_explicit(&t->count, 1, memory_order_relaxed);
    atomic_store_explicit(&t->generation, now, memory_order_relaxed);
    pthread_mutex_unlock(&td_profile_all.lock);
}

static profile_node *add_child(profile_tree *t, profile_node *parent, const char *name, td_profile_step_kind kind)
{
    const unsigned count = atomic_load_explicit(&t->count, memory_order_relaxed);
    if (count == PROFILE_MOST_NODES || parent->depth == PROFILE_MOST_DEEP) {
        td_profile_grow(&t->lost, 1);
        return NULL;
    }
    profile_node *n = &t->node[count];
    n->seen.name = name;
    n->seen.parent = &parent->seen;
    n->seen.counting = &t->counting;
    n->kind = kind;
    n->depth = parent->depth + 1;
    n->next_sibling = parent->first_child;
    parent->first_child = n;
    atomic_store_explicit(&t->count, count + 1, memory_order_release);
    return n;
}

/* NULL where there is no place for it. */
static profile_node *find_child(profile_tree *t, profile_node *parent, const char *name, td_profile_step_kind kind)
{
    profile_node *n = parent->first_child;
    while (n && n->seen.name != name)
        n = n->next_sibling;
    for (profile_node *same = parent->first_child; !n && same; same = same->next_sibling)
        n = strcmp(same->seen.name, name) == 0 ? same : NULL; /* another literal with the same letters */
    n = n ? n : add_child(t, parent, name, kind);
    if (!n)
        return NULL;
    if (parent->seen.recent)
        parent->seen.recent->next = &n->seen;
    parent->seen.recent = &n->seen;
    return n;
}

/* The child of that name, if it is the one that came next the last time; else NULL. */
static inline td_profile_node *expected_child(td_profile_node *parent, const char *name)
{
    td_profile_node *recent = parent->recent, *n = recent ? recent->next : NULL;
    if (!n || n->name != name)
        return NULL;
    parent->recent = n;
    return n;
}

/* -- events -------------------------------------------------------------------------------------------------------- */

static void keep_event(profile_tree *t, profile_event e)
{
    profile_block *block = t->events;
    if (!block || atomic_load_explicit(&block->count, memory_order_relaxed) == PROFILE_BLOCK_EVENTS) {
        size_t left = atomic_load_explicit(&events_left, memory_order_relaxed);
        while (left >= PROFILE_BLOCK_EVENTS &&
               !atomic_compare_exchange_weak(&events_left, &left, left - PROFILE_BLOCK_EVENTS))
            continue;
        block = left >= PROFILE_BLOCK_EVENTS ? calloc(1, sizeof *block) : NULL;
        if (!block) {
            atomic_fetch_add_explicit(&td_profile_events_dropped, 1, memory_order_relaxed);
            return;
        }
        pthread_mutex_lock(&td_profile_all.lock);
        block->next = t->events;
        t->events = block;
        pthread_mutex_unlock(&td_profile_all.lock);
    }
    const size_t count = atomic_load_explicit(&block->count, memory_order_relaxed);
    block->event[count] = e;
    atomic_store_explicit(&block->count, count + 1, memory_order_release);
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

/* After a sample that took so long: how many calls are left out before the next one. */
static void plan_sample(profile_tree *t, profile_node *n, uint64_t taken)
{
    const uint64_t limit = short_ticks();
    const uint64_t wanted = taken >= limit ? 0 : taken * MOST_SKIPPED <= limit ? MOST_SKIPPED : limit / taken;
    n->skip = 0;
    if (wanted && atomic_load_explicit(&n->seen.calls, memory_order_relaxed) >= FULLY_TIMED) {
        t->random = t->random * 6364136223846793005ULL + 1442695040888963407ULL;
        n->skip = (unsigned)(wanted / 2 + (t->random >> 33) % (wanted + 1));
    }
    n->weight = n->skip + 1;
}

/* A step that is timed and counts for so many. */
static td_profile_step *begin_timed(profile_tree *t, profile_node *n, unsigned weight)
{
    td_profile_step *s = &t->step[t->depth++]; /* nodes are no deeper than PROFILE_MOST_DEEP */
    s->of = t;
    s->at = n;
    s->inside = s->bytes = 0;
    s->weight = weight;
    s->outer = t->counting;
    t->counting = NULL;
    td_profile_grow(&n->seen.calls, 1);
    s->start = td_profile_clock();
    return s;
}

static inline td_profile_step *count_only(td_profile_node *n)
{
    td_profile_grow(&n->calls, 1);
    *n->counting = n;
    return (td_profile_step *)((uintptr_t)n | 1);
}

/* An operation that nothing is around. */
static td_profile_step *begin_operation(profile_tree *t, const char *name, bool always)
{
    const unsigned now = atomic_load_explicit(&td_profile_generation, memory_order_relaxed);
    if (__builtin_expect(atomic_load_explicit(&t->generation, memory_order_relaxed) != now, 0))
        empty_tree(t, now);
    profile_node *n = find_child(t, t->node, name, TD_KIND_OPERATION);
    if (!n)
        return NULL;
    if (always)
        return begin_timed(t, n, 1);
    if (n->skip) {
        n->skip--;
        return count_only(&n->seen);
    }
    return begin_timed(t, n, n->weight ? n->weight : 1);
}

static __attribute__((noinline)) td_profile_step *enter(const char *name, td_profile_step_kind kind, bool always)
{
    profile_tree *t = mine ? mine : begin_thread();
    if (!t)
        return NULL;
    td_profile_node *outer = t->counting;
    if (!outer && !t->depth)
        return kind == TD_KIND_OPERATION ? begin_operation(t, name, always) : NULL;
    profile_node *n = find_child(t, outer ? td_profile_node_of(outer) : t->step[t->depth - 1].at, name, kind);
    if (!n)
        return NULL;
    if (outer && kind != TD_KIND_STEP && !always)
        return count_only(&n->seen);
    return begin_timed(t, n, always || kind == TD_KIND_STEP ? 1 : t->step[t->depth - 1].weight);
}

/* The ways that most calls take, without a frame of their own: a step of an operation that is only counted, and an
 * operation that is left out. */
td_profile_step *td_profile_step_enter(const char *name, td_profile_step_kind kind)
{
    profile_tree *t = find_tree();
    td_profile_node *outer = t ? t->counting : NULL, *n = NULL;
    const bool always = atomic_load_explicit(&td_profile_on, memory_order_relaxed) > 1;
    if (always || kind == TD_KIND_STEP)
        return enter(name, kind, always);
    if (outer)
        n = expected_child(outer, name);
    else if (kind == TD_KIND_OPERATION && t && !t->depth &&
             atomic_load_explicit(&t->generation, memory_order_relaxed) ==
                 atomic_load_explicit(&td_profile_generation, memory_order_relaxed) &&
             (n = expected_child(&t->node->seen, name)) != NULL) {
        if (!td_profile_node_of(n)->skip)
            return enter(name, kind, false);
        td_profile_node_of(n)->skip--;
    }
    return n ? count_only(n) : enter(name, kind, false);
}

void td_profile_step_leave(td_profile_step *s)
{
    profile_tree *t = s->of;
    profile_node *n = s->at;
    const bool traced = atomic_load_explicit(&td_profile_on, memory_order_relaxed) > 1;
    const uint64_t taken = td_profile_clock() - s->start;
    const uint64_t others = s->inside + atomic_load_explicit(&own_ticks, memory_order_relaxed);
    td_profile_grow(&n->self_ticks, (taken > others ? taken - others : 1) * s->weight);
    td_profile_grow(&n->timed, 1);
    if (!s->outer && s != t->step)
        s[-1].inside += taken + atomic_load_explicit(&around_ticks, memory_order_relaxed);
    else if (!s->outer && !traced)
        plan_sample(t, n, taken);
    if (traced)
        keep_event(t, (profile_event){n->seen.name, s->start, taken, s->bytes});
    t->counting = s->outer;
    t->depth = (unsigned)(s - t->step);
}

void td_profile_step_add_bytes(td_profile_step *step, uint64_t bytes)
{
    step->bytes += bytes;
    td_profile_grow(&step->at->seen.bytes, bytes);
}

/* In a tree that nobody reads. The least of several rounds: more than it costs must not be taken off. */
void td_profile_weigh(void)
{
    enum { ROUNDS = 64 };
    profile_tree *const kept = mine, *t = calloc(1, sizeof *t);
    uint64_t own = UINT64_MAX, both = UINT64_MAX;
    if (!t) /* then times have the clock's in them */
        return;
    atomic_store_explicit(&t->generation, atomic_load(&td_profile_generation), memory_order_relaxed);
    atomic_store_explicit(&t->count, 1, memory_order_relaxed);
    mine = t;
    for (int i = 0; i < ROUNDS; i++) {
        td_profile_step *outer = enter("outer", TD_KIND_OPERATION, true);
        td_profile_step_leave(enter("inner", TD_KIND_LIGHT, false));
        td_profile_step_leave(outer);
        const uint64_t of_inner = atomic_exchange(&t->node[2].self_ticks, 0);
        const uint64_t of_outer = atomic_exchange(&t->node[1].self_ticks, 0);
        own = of_inner < own ? of_inner : own;
        both = of_outer < both ? of_outer : both;
    }
    mine = kept;
    free(t);
    atomic_store(&own_ticks, own);
    atomic_store(&around_ticks, both > own ? both - own : 0);
}

uint64_t td_profile_ticks(void)
{
    return atomic_load_explicit(&td_profile_on, memory_order_relaxed) ? td_profile_clock() : 0;
}

void td_profile_outside(const char *name, uint64_t start, uint64_t bytes)
{
    td_profile_step *s = start && td_profile_runs() ? enter(name, TD_KIND_OPERATION, true) : NULL;
    if (!s)
        return;
    s->start = start;
    td_profile_step_add_bytes(s, bytes);
    td_profile_step_leave(s);
    s->at->skip = 0;
}
