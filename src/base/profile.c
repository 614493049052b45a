/* Collects the profile (profile.h). A thread gets a tree at its first operation and gives it back when it ends; the
 * next new thread goes on with it, so that a program of many short threads needs as many trees as run at a time. Only
 * its own thread writes a tree; readers take relaxed loads of it at any time. Clearing raises a generation, and each
 * thread empties its own tree at its next operation.
 *
 * Time is kept as self time, in ticks, and totals are sums of it: so nested steps cannot count twice. Operations of
 * less than SHORT_TICKS are timed in samples after their first FULLY_TIMED calls: one call of about SHORT_TICKS / its
 * time, at random distances, which counts for those that were left out before it. In a call that is left out a step
 * costs a few instructions: what came after the last one the last time mostly comes again, and no stack is kept. Steps that take
 * long by themselves (TD_KIND_STEP) are timed in every call and count once, or a plan that was made in a sampled call
 * would count as often as the sample. */
#include "base/profile.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#define MAX_DEPTH 32
#define MAX_NODES 256
#define FULLY_TIMED 32
#define MOST_SKIPPED 511
#define BLOCK_EVENTS 4096
#define MOST_EVENTS ((size_t)1 << 20)
#define CALIBRATION_NS 2000000 /* between two readings of both clocks: their error is then below 0.01 % */

atomic_int td_profile_on;

typedef struct node {
    td_profile_node seen; /* first: a pointer to it is one to the node */
    td_profile_step_kind kind;
    unsigned depth;
    struct node *first_child, *next_sibling;
    _Atomic uint64_t timed, self_ticks;
    unsigned skip, weight; /* of operations at the root: calls until the next sample, and what it counts for */
} node;

typedef struct tree tree;

struct td_profile_step {
    tree *of;
    node *at;
    uint64_t start, inside, bytes;
    unsigned weight;        /* what its time counts for */
    td_profile_node *outer; /* the one around it, where that is only counted */
};

typedef struct event {
    const char *name;
    uint64_t start, length, bytes;
} event;

typedef struct event_block {
    struct event_block *next;
    _Atomic size_t count;
    event event[BLOCK_EVENTS];
} event_block;

struct tree {
    tree *next;
    bool used; /* by a thread that lives; under the lock */
    size_t number;
    atomic_uint generation;
    _Atomic unsigned count; /* of nodes; 0: none was entered */
    _Atomic uint64_t lost;
    unsigned depth;
    uint64_t random;
    event_block *events; /* the newest first; changes under the lock */
    td_profile_step step[MAX_DEPTH];
    node node[MAX_NODES];
};

static struct {
    pthread_mutex_t lock;
    pthread_key_t key;
    bool has_key;
    tree *first;
    size_t trees;
    uint64_t start_ns, start_ticks, stop_ns; /* of both clocks; stop_ns is 0 while it runs */
    uint64_t past_ns;                        /* of earlier runs */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_uint generation = 1;
static _Atomic size_t events_left = MOST_EVENTS;
static _Atomic uint64_t events_dropped;
static _Thread_local tree *mine __attribute__((tls_model("initial-exec")));
_Thread_local td_profile_node *td_profile_counting;

/* -- the clock ----------------------------------------------------------------------------------------------------- */

/* The processor's counter where it runs at one speed, else the system's clock. */
static bool has_counter(void)
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

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
    if (has_counter())
        return __rdtsc();
#endif
    return td_now_ns();
}

/* 100 us of a counter of 3 GHz; it need not be exact. A call of three steps that is timed pays about 0.2 us. */
static uint64_t short_ticks(void)
{
    return has_counter() ? 300000 : 100000;
}

static double ns_per_tick(void)
{
    if (!has_counter())
        return 1;
    uint64_t ns = td_now_ns(), at = ticks();
    while (ns - all.start_ns < CALIBRATION_NS) {
        ns = td_now_ns();
        at = ticks();
    }
    return (double)(ns - all.start_ns) / (double)(at - all.start_ticks);
}

/* -- trees --------------------------------------------------------------------------------------------------------- */

static void end_thread(void *ended)
{
    pthread_mutex_lock(&all.lock);
    ((tree *)ended)->used = false;
    pthread_mutex_unlock(&all.lock);
}

static void make_key(void)
{
    all.has_key = pthread_key_create(&all.key, end_thread) == 0;
}

static void free_events(tree *t)
{
    while (t->events) {
        event_block *block = t->events;
        t->events = block->next;
        atomic_fetch_add_explicit(&events_left, BLOCK_EVENTS, memory_order_relaxed);
        free(block);
    }
}

/* A library that is unloaded: no thread may come back to its code when it ends. By its number this runs behind the
 * destructors that have none: the threads of the pool are gone, and profile/profile.c has written its file. */
__attribute__((destructor(101))) static void unload(void)
{
    atomic_store(&td_profile_on, 0);
    if (all.has_key)
        (void)pthread_key_delete(all.key);
    while (all.first) {
        tree *t = all.first;
        all.first = t->next;
        free_events(t);
        free(t);
    }
}

static tree *begin_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    pthread_mutex_lock(&all.lock);
    tree *t = all.first;
    while (t && t->used)
        t = t->next;
    if (!t) {
        t = calloc(1, sizeof *t);
        if (t) {
            t->next = all.first;
            all.first = t;
            t->number = ++all.trees;
            t->random = t->number * 0x9e3779b97f4a7c15ULL;
        }
    }
    if (t) {
        t->used = true;
        t->depth = 0;
    }
    pthread_mutex_unlock(&all.lock);
    mine = t;
    if (t && all.has_key)
        (void)pthread_setspecific(all.key, t);
    return t;
}

static void empty_tree(tree *t, unsigned now)
{
    pthread_mutex_lock(&all.lock);
    free_events(t);
    memset(t->node, 0, sizeof t->node);
    atomic_store_explicit(&t->lost, 0, memory_order_relaxed);
    atomic_store_explicit(&t->count, 1, memory_order_relaxed);
    atomic_store_explicit(&t->generation, now, memory_order_relaxed);
    pthread_mutex_unlock(&all.lock);
}

static node *node_of(td_profile_node *seen)
{
    return (node *)seen;
}

static node *add_child(tree *t, node *parent, const char *name, td_profile_step_kind kind)
{
    const unsigned count = atomic_load_explicit(&t->count, memory_order_relaxed);
    if (count == MAX_NODES || parent->depth == MAX_DEPTH) {
        td_profile_grow(&t->lost, 1);
        return NULL;
    }
    node *n = &t->node[count];
    n->seen.name = name;
    n->seen.parent = &parent->seen;
    n->kind = kind;
    n->depth = parent->depth + 1;
    n->next_sibling = parent->first_child;
    parent->first_child = n;
    atomic_store_explicit(&t->count, count + 1, memory_order_release);
    return n;
}

/* NULL where there is no place for it. */
static node *find_child(tree *t, node *parent, const char *name, td_profile_step_kind kind)
{
    node *n = parent->first_child;
    while (n && n->seen.name != name)
        n = n->next_sibling;
    for (node *same = parent->first_child; !n && same; same = same->next_sibling)
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

static void keep_event(tree *t, event e)
{
    event_block *block = t->events;
    if (!block || atomic_load_explicit(&block->count, memory_order_relaxed) == BLOCK_EVENTS) {
        size_t left = atomic_load_explicit(&events_left, memory_order_relaxed);
        while (left >= BLOCK_EVENTS && !atomic_compare_exchange_weak(&events_left, &left, left - BLOCK_EVENTS))
            continue;
        block = left >= BLOCK_EVENTS ? calloc(1, sizeof *block) : NULL;
        if (!block) {
            atomic_fetch_add_explicit(&events_dropped, 1, memory_order_relaxed);
            return;
        }
        pthread_mutex_lock(&all.lock);
        block->next = t->events;
        t->events = block;
        pthread_mutex_unlock(&all.lock);
    }
    const size_t count = atomic_load_explicit(&block->count, memory_order_relaxed);
    block->event[count] = e;
    atomic_store_explicit(&block->count, count + 1, memory_order_release);
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

/* After a sample that took so long: how many calls are left out before the next one. */
static void plan_sample(tree *t, node *n, uint64_t taken)
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
static td_profile_step *begin_timed(tree *t, node *n, unsigned weight)
{
    td_profile_step *s = &t->step[t->depth++]; /* nodes are no deeper than MAX_DEPTH */
    s->of = t;
    s->at = n;
    s->inside = s->bytes = 0;
    s->weight = weight;
    s->outer = td_profile_counting;
    td_profile_counting = NULL;
    td_profile_grow(&n->seen.calls, 1);
    s->start = ticks();
    return s;
}

static inline td_profile_step *count_only(td_profile_node *n)
{
    td_profile_grow(&n->calls, 1);
    td_profile_counting = n;
    return (td_profile_step *)((uintptr_t)n | 1);
}

/* An operation that nothing is around. */
static td_profile_step *begin_operation(tree *t, const char *name, bool always)
{
    const unsigned now = atomic_load_explicit(&generation, memory_order_relaxed);
    if (__builtin_expect(atomic_load_explicit(&t->generation, memory_order_relaxed) != now, 0))
        empty_tree(t, now);
    node *n = find_child(t, t->node, name, TD_KIND_OPERATION);
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
    tree *t = mine ? mine : begin_thread();
    if (!t)
        return NULL;
    td_profile_node *outer = td_profile_counting;
    if (!outer && !t->depth)
        return kind == TD_KIND_OPERATION ? begin_operation(t, name, always) : NULL;
    node *n = find_child(t, outer ? node_of(outer) : t->step[t->depth - 1].at, name, kind);
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
    td_profile_node *outer = td_profile_counting, *n = NULL;
    tree *t = mine;
    const bool always = atomic_load_explicit(&td_profile_on, memory_order_relaxed) > 1;
    if (always || kind == TD_KIND_STEP)
        return enter(name, kind, always);
    if (outer)
        n = expected_child(outer, name);
    else if (kind == TD_KIND_OPERATION && t && !t->depth &&
             atomic_load_explicit(&t->generation, memory_order_relaxed) ==
                 atomic_load_explicit(&generation, memory_order_relaxed) &&
             (n = expected_child(&t->node->seen, name)) != NULL) {
        if (!node_of(n)->skip)
            return enter(name, kind, false);
        node_of(n)->skip--;
    }
    return n ? count_only(n) : enter(name, kind, false);
}

void td_profile_step_leave(td_profile_step *s)
{
    tree *t = s->of;
    node *n = s->at;
    const bool traced = atomic_load_explicit(&td_profile_on, memory_order_relaxed) > 1;
    const uint64_t taken = ticks() - s->start;
    td_profile_grow(&n->self_ticks, (taken > s->inside ? taken - s->inside : 0) * s->weight);
    td_profile_grow(&n->timed, 1);
    if (!s->outer && s != t->step)
        s[-1].inside += taken;
    else if (!s->outer && !traced)
        plan_sample(t, n, taken);
    if (traced)
        keep_event(t, (event){n->seen.name, s->start, taken, s->bytes});
    td_profile_counting = s->outer;
    t->depth = (unsigned)(s - t->step);
}

void td_profile_step_add_bytes(td_profile_step *step, uint64_t bytes)
{
    step->bytes += bytes;
    td_profile_grow(&step->at->seen.bytes, bytes);
}

uint64_t td_profile_ticks(void)
{
    return atomic_load_explicit(&td_profile_on, memory_order_relaxed) ? ticks() : 0;
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

/* -- on, off, out -------------------------------------------------------------------------------------------------- */

static uint64_t elapsed_ns(void)
{
    return all.past_ns + (all.start_ns ? (all.stop_ns ? all.stop_ns : td_now_ns()) - all.start_ns : 0);
}

void td_profile_switch(int on)
{
    pthread_mutex_lock(&all.lock);
    const int was = atomic_load(&td_profile_on);
    if (on && !was) {
        if (!all.start_ns) { /* once: every tick is counted from here */
            all.start_ns = td_now_ns();
            all.start_ticks = ticks();
        } else
            all.past_ns -= td_now_ns() - all.stop_ns; /* modulo 2^64; elapsed_ns adds it */
        all.stop_ns = 0;
    }
    if (!on && was)
        all.stop_ns = td_now_ns();
    atomic_store(&td_profile_on, on);
    pthread_mutex_unlock(&all.lock);
}

void td_profile_clear(void)
{
    pthread_mutex_lock(&all.lock);
    all.past_ns -= elapsed_ns();
    atomic_store(&events_dropped, 0);
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&all.lock);
}

/* The place of a name below `parent` in `out`; the array has room. */
static size_t line_of(td_profile_lines *out, size_t parent, const node *n)
{
    for (size_t i = 1; i < out->count; i++)
        if (out->line[i].parent == parent && out->line[i].name && strcmp(out->line[i].name, n->seen.name) == 0)
            return i;
    out->line[out->count] = (td_profile_line){.name = n->seen.name, .parent = parent, .kind = n->kind};
    return out->count++;
}

static bool is_current(const tree *t)
{
    return atomic_load_explicit(&t->generation, memory_order_relaxed) ==
               atomic_load_explicit(&generation, memory_order_relaxed) &&
           atomic_load_explicit(&t->count, memory_order_relaxed) > 1;
}

static void add_tree(td_profile_lines *out, tree *t, double scale)
{
    size_t at[MAX_NODES] = {0};
    const unsigned count = atomic_load_explicit(&t->count, memory_order_acquire);
    out->threads++;
    out->lost += atomic_load_explicit(&t->lost, memory_order_relaxed);
    for (unsigned i = 1; i < count; i++) {
        node *n = &t->node[i];
        at[i] = line_of(out, at[node_of(n->seen.parent) - t->node], n);
        td_profile_line *line = &out->line[at[i]];
        line->calls += atomic_load_explicit(&n->seen.calls, memory_order_relaxed);
        line->bytes += atomic_load_explicit(&n->seen.bytes, memory_order_relaxed);
        line->timed += atomic_load_explicit(&n->timed, memory_order_relaxed);
        line->self_ns += scale * (double)atomic_load_explicit(&n->self_ticks, memory_order_relaxed);
    }
}

bool td_profile_read(td_profile_lines *out)
{
    size_t room = 1;
    pthread_mutex_lock(&all.lock);
    *out = (td_profile_lines){.count = 1, .elapsed_ns = (double)elapsed_ns()};
    for (tree *t = all.first; t; t = t->next)
        room += MAX_NODES;
    out->line = calloc(room, sizeof *out->line);
    if (out->line) {
        const double scale = all.start_ns ? ns_per_tick() : 1;
        out->line[0].name = "";
        for (tree *t = all.first; t; t = t->next)
            if (is_current(t))
                add_tree(out, t, scale);
        for (size_t i = out->count; i-- > 1;) { /* children come behind their parents */
            out->line[i].total_ns += out->line[i].self_ns;
            out->line[out->line[i].parent].total_ns += out->line[i].total_ns;
        }
    }
    pthread_mutex_unlock(&all.lock);
    return out->line != NULL;
}

static size_t count_events(void)
{
    size_t count = 0;
    for (tree *t = all.first; t; t = t->next)
        for (event_block *b = is_current(t) ? t->events : NULL; b; b = b->next)
            count += atomic_load_explicit(&b->count, memory_order_acquire);
    return count;
}

bool td_profile_read_events(td_profile_events *out)
{
    pthread_mutex_lock(&all.lock);
    const size_t room = count_events();
    *out = (td_profile_events){.dropped = atomic_load(&events_dropped)};
    out->event = calloc(room ? room : 1, sizeof *out->event);
    const double scale = all.start_ns ? ns_per_tick() : 1;
    for (tree *t = all.first; t && out->event; t = t->next)
        for (event_block *b = is_current(t) ? t->events : NULL; b; b = b->next) {
            const size_t count = atomic_load_explicit(&b->count, memory_order_acquire);
            for (size_t i = 0; i < count && out->count < room; i++) {
                const event *e = &b->event[i];
                out->event[out->count++] = (td_profile_event){.name = e->name,
                                                              .thread = t->number,
                                                              .start_ns = scale * (double)(e->start - all.start_ticks),
                                                              .length_ns = scale * (double)e->length,
                                                              .bytes = e->bytes};
            }
        }
    pthread_mutex_unlock(&all.lock);
    return out->event != NULL;
}
