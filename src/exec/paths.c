/* Counts paths (paths.h). Each thread has its own counters, because an atomic addition costs a tenth of a small
 * load; td_speed_paths adds them up. Clearing remembers the sum and subtracts it later, so that no thread writes
 * another's counters. */
#include "exec/paths.h"

#include <pthread.h>

/* Only its own thread writes; relaxed atomics, so that others may read at any time. */
typedef struct counts {
    struct counts *next;
    _Atomic uint64_t calls[TD_PATHS], bytes[TD_PATHS];
} counts;

static _Thread_local counts own;

/* NULL at first. The initial-exec model would save 3 ns of a load of 45, but one variable of that model puts all
 * thread-local data of the library into the static block, where dlopen finds no room for it:
 * tests/fault/test_reload. */
static _Thread_local counts *mine;

static struct {
    pthread_mutex_t lock;
    pthread_key_t key;
    bool has_key;
    counts *first;
    td_path_stats ended; /* of threads that are gone */
    td_path_stats cleared;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add(td_path_stats *sum, counts *c)
{
    for (size_t i = 0; i < TD_PATHS; i++) {
        sum->calls[i] += atomic_load_explicit(&c->calls[i], memory_order_relaxed);
        sum->bytes[i] += atomic_load_explicit(&c->bytes[i], memory_order_relaxed);
    }
}

static void end_thread(void *ended)
{
    pthread_mutex_lock(&all.lock);
    counts **at = &all.first;
    while (*at != ended)
        at = &(*at)->next;
    *at = (*at)->next;
    add(&all.ended, ended);
    pthread_mutex_unlock(&all.lock);
}

static void make_key(void)
{
    all.has_key = pthread_key_create(&all.key, end_thread) == 0;
}

/* A library that is unloaded: no thread may come back to its code when it ends. */
__attribute__((destructor)) static void drop_key(void)
{
    if (all.has_key)
        (void)pthread_key_delete(all.key);
}

static counts *begin_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    mine = &own;
    pthread_mutex_lock(&all.lock);
    own.next = all.first;
    all.first = &own;
    pthread_mutex_unlock(&all.lock);
    (void)pthread_setspecific(all.key, &own);
    return mine;
}

static inline void grow(_Atomic uint64_t *count, uint64_t by)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + by, memory_order_relaxed);
}

void td_paths_count(const td_run *run, bool dump)
{
    counts *c = mine ? mine : begin_thread();
    const struct td_path_use *use = &run->plan->path_use[dump][run->convert != NULL];
    for (uint64_t left = use->set; left; left &= left - 1) {
        const int path = __builtin_ctzll(left);
        grow(&c->calls[path], 1);
        grow(&c->bytes[path], use->bytes[path]);
    }
}

static td_path_stats sum_all(void)
{
    td_path_stats sum = all.ended;
    for (counts *c = all.first; c; c = c->next)
        add(&sum, c);
    return sum;
}

td_path_stats td_speed_paths(void)
{
    pthread_mutex_lock(&all.lock);
    td_path_stats stats = sum_all();
    for (size_t i = 0; i < TD_PATHS; i++) {
        stats.calls[i] -= all.cleared.calls[i];
        stats.bytes[i] -= all.cleared.bytes[i];
    }
    pthread_mutex_unlock(&all.lock);
    return stats;
}

void td_speed_paths_clear(void)
{
    pthread_mutex_lock(&all.lock);
    all.cleared = sum_all();
    pthread_mutex_unlock(&all.lock);
}

const char *td_path_name(td_path path)
{
    static const char *const name[TD_PATHS] = {"contiguous", "transposed", "interleaved", "gathered",
                                               "packed",     "converted",  "plain",       "staged"};
    return (unsigned)path < TD_PATHS ? name[path] : "";
}
