/* See pool.h. The caller does the first part by itself and times it. Only where the rest would take several times the
 * wake-up latency of a worker is the job published, under the lock and by its number: so cheap bytes, as those of a
 * packing within the caches, never wake a thread, however many they are. Threads claim parts by their bits in one
 * word, each from a place of its own on, so that a job that is run again finds its data in the caches of the same
 * cores. Nothing spins between calls. After a fork the child has no workers and starts its own when it needs them. */
#include "base/pool.h"

#include "base/clock.h"
#include "base/profile.h"
#include "base/thresholds.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORKERS 15
#define TIMED_RUNS 12
#define TIMING_LIMIT_NS 500000
#define PATIENCE_NS 60000
#define LEAST_WAKE_NS 8000 /* a worker that was still awake comes sooner, but the next time it sleeps */
#define SLOW_WAKE_NS 40000 /* beyond this the machine was busy when it was timed: time it again later */
#define TIME_AGAIN_NS 100000000
#define WORTH_WAKES 4 /* two threads halve the time and cost one wake-up; as much again is the margin */

typedef struct job {
    td_pool_work *work;
    void *context;
    unsigned parts, threads;
} job;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work_there, work_done;
    pthread_t worker[MAX_WORKERS];
    unsigned workers;
    uint64_t number;  /* of the job that is published */
    atomic_uint busy; /* workers inside it; written under the lock */
    bool stop;
    bool open; /* the job may be entered */
    job published;
    int avoided_cpu;             /* the CPU that workers keep off; -1: none yet */
    atomic_uint_least64_t taken; /* parts, a bit each */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work_there = PTHREAD_COND_INITIALIZER,
          .work_done = PTHREAD_COND_INITIALIZER,
          .avoided_cpu = -1};

static pthread_mutex_t owner = PTHREAD_MUTEX_INITIALIZER; /* held by the call that has the pool */
static atomic_uint limit;                                 /* td_pool_limit */
static atomic_uint_least64_t wake_ns; /* the wake-up latency: what sharing a job costs; 0: not known yet */
static atomic_uint_least64_t timed_at_ns;

static unsigned environment_number(const char *name, uint64_t most, uint64_t *value)
{
    const char *text = getenv(name);
    char *end = NULL;
    if (!text || !*text)
        return 0;
    const unsigned long long number = strtoull(text, &end, 0);
    if (*end || number > most)
        return 0;
    *value = number;
    return 1;
}

static unsigned threads_of_machine(void)
{
    cpu_set_t set;
    uint64_t wish = 0;
    if (environment_number("TD_THREADS", 1 + MAX_WORKERS, &wish) && wish)
        return (unsigned)wish;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 1 + MAX_WORKERS ? 1 + MAX_WORKERS : (unsigned)count;
}

static unsigned threads_allowed(void)
{
    static atomic_uint machine;
    const unsigned wanted = atomic_load_explicit(&limit, memory_order_relaxed);
    if (wanted)
        return wanted;
    unsigned known = atomic_load_explicit(&machine, memory_order_relaxed);
    if (!known) {
        known = threads_of_machine();
        atomic_store_explicit(&machine, known, memory_order_relaxed);
    }
    return known;
}

void td_pool_limit(unsigned threads)
{
    atomic_store_explicit(&limit, threads > 1 + MAX_WORKERS ? 1 + MAX_WORKERS : threads, memory_order_relaxed);
}

static void run_part(const job *j, unsigned part)
{
    TD_LIGHT_STEP(step, "part");
    j->work(j->context, part, part + 1);
}

/* Thread `who` of the job begins at its own share and goes on round all parts. */
static void claim_parts(const job *j, unsigned who)
{
    const unsigned home = j->parts * who / j->threads;
    for (unsigned i = 0; i < j->parts; i++) {
        const unsigned part = (home + i) % j->parts;
        const uint64_t bit = (uint64_t)1 << part;
        if (!(atomic_load_explicit(&pool.taken, memory_order_relaxed) & bit) &&
            !(atomic_fetch_or_explicit(&pool.taken, bit, memory_order_relaxed) & bit))
            run_part(j, part);
    }
}

static void help(const job *j, unsigned who)
{
    TD_OPERATION(operation, "thread of the pool");
    claim_parts(j, who);
}

static void *worker_main(void *argument)
{
    const unsigned who = 1 + (unsigned)(uintptr_t)argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool.lock);
    while (!pool.stop) {
        if (pool.number == seen || !pool.open) {
            pthread_cond_wait(&pool.work_there, &pool.lock);
            continue;
        }
        const job mine = pool.published;
        seen = pool.number;
        pool.busy++;
        pthread_mutex_unlock(&pool.lock);
        help(&mine, who % mine.threads);
        pthread_mutex_lock(&pool.lock);
        if (--pool.busy == 0)
            pthread_cond_signal(&pool.work_done);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* -- the life of the pool ------------------------------------------------------------------------------------------ */

static void before_fork(void)
{
    pthread_mutex_lock(&owner);
    pthread_mutex_lock(&pool.lock);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&owner);
}

static void after_fork_child(void)
{
    pool.workers = 0;
    pool.busy = 0;
    pool.open = false;
    pthread_cond_init(&pool.work_there, NULL);
    pthread_cond_init(&pool.work_done, NULL);
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&owner);
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* The caller holds `owner`. Starts as many workers as the system gives; false where it gives none. */
static bool start_workers(unsigned wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&pool.lock);
    for (; pool.workers < wanted && pool.workers < MAX_WORKERS; pool.workers++) {
        if (pthread_create(&pool.worker[pool.workers], NULL, worker_main, (void *)(uintptr_t)pool.workers))
            break;
        pool.avoided_cpu = -1; /* the new worker keeps off none yet */
    }
    const bool some = pool.workers > 0;
    pthread_mutex_unlock(&pool.lock);
    return some;
}

/* A library that is unloaded must not leave threads in its code. */
__attribute__((destructor)) static void stop_workers(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.stop = true;
    pthread_cond_broadcast(&pool.work_there);
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < pool.workers; i++)
        pthread_join(pool.worker[i], NULL);
    pool.workers = 0;
}

/* -- a job --------------------------------------------------------------------------------------------------------- */

/* Waits until no worker is inside the job. The last part ends soon, so the caller yields for a while first: if it
 * slept, it would be woken later than that, and perhaps on the worker's CPU. */
static void wait_for_workers(void)
{
    if (!atomic_load_explicit(&pool.busy, memory_order_acquire))
        return;
    for (const uint64_t start = td_now_ns(); td_now_ns() - start < PATIENCE_NS;) {
        if (!atomic_load_explicit(&pool.busy, memory_order_acquire))
            return;
        sched_yield();
    }
    pthread_mutex_lock(&pool.lock);
    while (pool.busy)
        pthread_cond_wait(&pool.work_done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

/* A scheduler may wake a worker on the very CPU that the caller keeps busy, and leave it waiting there: Linux does so
 * where there are only two CPUs. The caller holds `owner`. */
static void keep_off_this_cpu(void)
{
    const int cpu = sched_getcpu();
    cpu_set_t others;
    if (cpu < 0 || cpu == pool.avoided_cpu || sched_getaffinity(0, sizeof others, &others) != 0)
        return;
    CPU_CLR((size_t)cpu, &others);
    if (CPU_COUNT(&others) == 0)
        return;
    for (unsigned i = 0; i < pool.workers; i++)
        (void)pthread_setaffinity_np(pool.worker[i], sizeof others, &others); /* refused: only slower */
    pool.avoided_cpu = cpu;
}

/* The caller holds `owner` and has done the parts in `done`. Late workers find nothing left; those inside are waited
 * for. */
static void run_shared(const job *j, uint64_t done)
{
    keep_off_this_cpu();
    pthread_mutex_lock(&pool.lock);
    pool.published = *j;
    atomic_store_explicit(&pool.taken, done, memory_order_relaxed);
    pool.open = true;
    pool.number++;
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 1; i < j->threads; i++)
        pthread_cond_signal(&pool.work_there);
    claim_parts(j, 0);
    pthread_mutex_lock(&pool.lock);
    pool.open = false; /* nobody enters any more */
    pthread_mutex_unlock(&pool.lock);
    wait_for_workers();
}

/* Shares the parts from `first` on, or does them here where there is no worker or another call has the pool. */
static void share(td_pool_work *work, void *context, unsigned first, unsigned parts)
{
    const unsigned allowed = threads_allowed(), threads = allowed < parts ? allowed : parts;
    const job j = {.work = work, .context = context, .parts = parts, .threads = threads};
    if (threads > 1 && pthread_mutex_trylock(&owner) == 0) {
        TD_STEP(step, "threads");
        const bool shared = start_workers(threads - 1);
        if (shared)
            run_shared(&j, ((uint64_t)1 << first) - 1);
        pthread_mutex_unlock(&owner);
        if (shared)
            return;
    }
    work(context, first, parts);
}

/* -- when it pays -------------------------------------------------------------------------------------------------- */

typedef struct wake_probe {
    atomic_bool awake; /* a worker took its part */
    pthread_t caller;
} wake_probe;

static void probe_wake(void *context, unsigned begin, unsigned end)
{
    wake_probe *m = context;
    (void)begin, (void)end;
    if (!pthread_equal(pthread_self(), m->caller)) {
        atomic_store(&m->awake, true);
        return;
    }
    for (const uint64_t start = td_now_ns(); !atomic_load(&m->awake) && td_now_ns() - start < PATIENCE_NS;)
        sched_yield();
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The time from publishing an empty job to its end, a worker having taken part: the median of a few, the first of which
 * waits for the worker to start. The caller holds `owner`. */
static uint64_t time_wake_up(void)
{
    TD_STEP(step, "measure wake-up");
    uint64_t taken[TIMED_RUNS + 1];
    size_t runs = 0;
    if (!start_workers(1))
        return TIMING_LIMIT_NS;
    for (const uint64_t first = td_now_ns(); runs <= TIMED_RUNS && td_now_ns() - first < TIMING_LIMIT_NS;) {
        wake_probe m = {.caller = pthread_self()};
        const uint64_t start = td_now_ns();
        run_shared(&(job){.work = probe_wake, .context = &m, .parts = 2, .threads = 2}, 0);
        taken[runs++] = atomic_load(&m.awake) ? td_now_ns() - start : TIMING_LIMIT_NS;
    }
    qsort(taken, runs, sizeof taken[0], compare);
    return taken[runs / 2] > LEAST_WAKE_NS ? taken[runs / 2] : LEAST_WAKE_NS;
}

static bool pays(uint64_t left_ns)
{
    const uint64_t tuned = td_threshold(TD_THRESHOLD_THREAD_NS);
    if (tuned)
        return left_ns >= tuned;
    if (left_ns < (uint64_t)WORTH_WAKES * LEAST_WAKE_NS)
        return false;
    uint64_t known = atomic_load_explicit(&wake_ns, memory_order_relaxed);
    const bool again = known > SLOW_WAKE_NS && left_ns >= (uint64_t)WORTH_WAKES * SLOW_WAKE_NS &&
                       td_now_ns() - atomic_load_explicit(&timed_at_ns, memory_order_relaxed) > TIME_AGAIN_NS;
    if ((!known || again) && pthread_mutex_trylock(&owner) == 0) {
        known = time_wake_up();
        atomic_store_explicit(&wake_ns, known, memory_order_relaxed);
        atomic_store_explicit(&timed_at_ns, td_now_ns(), memory_order_relaxed);
        pthread_mutex_unlock(&owner);
    }
    return known && left_ns >= WORTH_WAKES * known;
}

/* TD_PARALLEL_BYTES; 0: not set, and every job is timed. */
static uint64_t wished_bytes(void)
{
    static atomic_uint_least64_t wish = UINT64_MAX;
    uint64_t known = atomic_load_explicit(&wish, memory_order_relaxed);
    if (known == UINT64_MAX) {
        known = 0;
        (void)environment_number("TD_PARALLEL_BYTES", UINT64_MAX - 1, &known);
        atomic_store_explicit(&wish, known, memory_order_relaxed);
    }
    return known;
}

unsigned td_pool_parts(uint64_t bytes, uint64_t steps)
{
    const unsigned threads = threads_allowed();
    const uint64_t wish = wished_bytes();
    if (steps < 2 || threads < 2 || bytes < (wish ? wish : td_threshold(TD_THRESHOLD_THREAD_BYTES)))
        return 1;
    const uint64_t parts = bytes / td_threshold(TD_THRESHOLD_PART_BYTES);
    const uint64_t wanted = parts > 8u * threads ? parts : 8u * threads;
    const uint64_t most = steps < TD_POOL_PARTS ? steps : TD_POOL_PARTS;
    return (unsigned)(wanted < most ? wanted : most);
}

void td_pool_run(unsigned parts, td_pool_work *work, void *context)
{
    if (wished_bytes() || parts < 2) {
        share(work, context, 0, parts);
        return;
    }
    const uint64_t start = td_now_ns();
    work(context, 0, 1);
    if (pays((td_now_ns() - start) * (parts - 1)))
        share(work, context, 1, parts);
    else
        work(context, 1, parts);
}
