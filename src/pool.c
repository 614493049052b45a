/* See pool.h. A job is published under the lock by its number; workers claim pieces by a counter. Nothing spins between calls.
 * After a fork the child has no workers and starts its own when it needs them. */
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_WORKERS 15
#define ALWAYS_SMALL ((uint64_t)256 << 10) /* below this no machine that was measured gains */
#define TIMED_RUNS 12
#define TIMING_LIMIT_NS 500000

typedef struct job {
    td_pool_work *work;
    void *context;
    unsigned pieces;
} job;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work_there, work_done;
    pthread_t worker[MAX_WORKERS];
    unsigned workers;
    uint64_t number; /* of the job that is published */
    unsigned busy;   /* workers inside it */
    bool stop;
    bool open; /* the job may be entered */
    job published;
    atomic_uint next;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work_there = PTHREAD_COND_INITIALIZER, .work_done = PTHREAD_COND_INITIALIZER};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* whose call has the pool */
static atomic_uint limit;                                /* td_pool_limit */
static atomic_uint_least64_t threshold;                  /* bytes; 0: not known yet */

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

static void claim_pieces(const job *j)
{
    for (;;) {
        const unsigned piece = atomic_fetch_add_explicit(&pool.next, 1, memory_order_relaxed);
        if (piece >= j->pieces)
            return;
        j->work(j->context, piece);
    }
}

static void *worker_main(void *argument)
{
    uint64_t seen = (uint64_t)(uintptr_t)argument;
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
        claim_pieces(&mine);
        pthread_mutex_lock(&pool.lock);
        if (--pool.busy == 0)
            pthread_cond_signal(&pool.work_done);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* -- the life of the pool ----------------------------------------------------------------------------------------------- */

static void before_fork(void)
{
    pthread_mutex_lock(&turn);
    pthread_mutex_lock(&pool.lock);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&turn);
}

static void after_fork_child(void)
{
    pool.workers = 0;
    pool.busy = 0;
    pool.open = false;
    pthread_cond_init(&pool.work_there, NULL);
    pthread_cond_init(&pool.work_done, NULL);
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&turn);
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* The caller holds its turn. As many workers as the system gives; none is fine too. */
static void start_workers(unsigned wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&pool.lock);
    for (; pool.workers < wanted && pool.workers < MAX_WORKERS; pool.workers++)
        if (pthread_create(&pool.worker[pool.workers], NULL, worker_main, (void *)(uintptr_t)pool.number))
            break;
    pthread_mutex_unlock(&pool.lock);
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

/* -- a job -------------------------------------------------------------------------------------------------------------- */

static void run_here(unsigned pieces, td_pool_work *work, void *context)
{
    for (unsigned i = 0; i < pieces; i++)
        work(context, i);
}

/* The caller has its turn. Late workers find nothing left; those inside are waited for. */
static void run_shared(unsigned helpers, unsigned pieces, td_pool_work *work, void *context)
{
    const job mine = {.work = work, .context = context, .pieces = pieces};
    pthread_mutex_lock(&pool.lock);
    pool.published = mine;
    atomic_store_explicit(&pool.next, 0, memory_order_relaxed);
    pool.open = true;
    pool.number++;
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < helpers; i++)
        pthread_cond_signal(&pool.work_there);
    claim_pieces(&mine);
    pthread_mutex_lock(&pool.lock);
    pool.open = false; /* nobody enters any more */
    while (pool.busy)
        pthread_cond_wait(&pool.work_done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

void td_pool_run(unsigned pieces, td_pool_work *work, void *context)
{
    const unsigned threads = threads_allowed();
    if (pieces <= 1 || threads <= 1 || pthread_mutex_trylock(&turn) != 0) {
        run_here(pieces, work, context);
        return;
    }
    start_workers(threads - 1);
    if (pool.workers)
        run_shared(threads - 1 < pieces - 1 ? threads - 1 : pieces - 1, pieces, work, context);
    else
        run_here(pieces, work, context);
    pthread_mutex_unlock(&turn);
}

/* -- when it pays ------------------------------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

typedef struct meeting {
    atomic_uint_least64_t begun; /* when a worker took its piece */
    pthread_t caller;
} meeting;

static void note_begin(void *context, unsigned piece)
{
    meeting *m = context;
    (void)piece;
    if (!pthread_equal(pthread_self(), m->caller)) {
        atomic_store(&m->begun, now_ns());
        return;
    }
    for (const uint64_t start = now_ns(); !atomic_load(&m->begun) && now_ns() - start < TIMING_LIMIT_NS / 8;)
        sched_yield();
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* From publishing a job to a worker inside it: the median of a few. */
static uint64_t time_waking(void)
{
    uint64_t taken[TIMED_RUNS];
    size_t runs = 0;
    meeting warm = {.caller = pthread_self()};
    const uint64_t first = now_ns();
    td_pool_run(2, note_begin, &warm); /* starts the threads */
    while (runs < TIMED_RUNS && now_ns() - first < TIMING_LIMIT_NS) {
        meeting m = {.caller = pthread_self()};
        const uint64_t start = now_ns();
        td_pool_run(2, note_begin, &m);
        const uint64_t begun = atomic_load(&m.begun);
        taken[runs++] = begun ? begun - start : TIMING_LIMIT_NS;
    }
    if (!runs)
        return TIMING_LIMIT_NS;
    qsort(taken, runs, sizeof taken[0], compare);
    return taken[runs / 2];
}

/* Bytes per microsecond of a copy that the second-level cache holds. */
static uint64_t time_copying(void)
{
    const size_t bytes = (size_t)128 << 10;
    unsigned char *room = malloc(2 * bytes);
    uint64_t best = UINT64_MAX;
    if (!room)
        return 20000;
    memset(room, 1, 2 * bytes);
    for (int i = 0; i < 4; i++) {
        const uint64_t start = now_ns();
        memcpy(room + bytes, room, bytes);
        __asm__ volatile("" ::"r"(room) : "memory"); /* the copy is wanted, not its result */
        const uint64_t ns = now_ns() - start;
        best = ns < best ? ns : best;
    }
    free(room);
    return bytes * 1000 / (best ? best : 1);
}

/* Two threads halve the time and cost one waking: with twice that as the margin, work pays from four wakings' worth of copying
 * on. */
static uint64_t measure_threshold(void)
{
    const uint64_t bytes = 4 * time_waking() * time_copying() / 1000;
    return bytes < ALWAYS_SMALL ? ALWAYS_SMALL : bytes;
}

static uint64_t threshold_bytes(void)
{
    uint64_t known = atomic_load_explicit(&threshold, memory_order_relaxed);
    if (!known) {
        if (!environment_number("TD_PARALLEL_BYTES", UINT64_MAX, &known) || !known)
            known = measure_threshold();
        atomic_store_explicit(&threshold, known, memory_order_relaxed);
    }
    return known;
}

unsigned td_pool_pieces(uint64_t bytes, uint64_t steps)
{
    if (steps < 2 || threads_allowed() < 2)
        return 1;
    const uint64_t known = atomic_load_explicit(&threshold, memory_order_relaxed);
    if ((!known && bytes < ALWAYS_SMALL && !getenv("TD_PARALLEL_BYTES")) || bytes < threshold_bytes())
        return 1;
    const uint64_t pieces = 8u * threads_allowed();
    const uint64_t most = steps < TD_POOL_PIECES ? steps : TD_POOL_PIECES;
    return (unsigned)(pieces < most ? pieces : most);
}
