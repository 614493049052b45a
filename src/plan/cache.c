/* The cache of plans (cache.h): an array of 64 entries searched by hash, since 64 comparisons cost less than
 * compiling anything, and less than the lock around them. Layouts are compared by their canonical strings, so a
 * layout that is created again finds its plan. Called by backdoor/call.c and show/view.c; compile.c makes what is
 * not there. */
#include "plan/cache.h"

#include "base/profile.h"
#include "plan/copies.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLANS 64

typedef struct entry {
    td_plan *plan; /* NULL: free */
    uint64_t used; /* the clock of its last use */
    char *pattern, *options, *address;
    td_plan_request request; /* its pointers are not used */
    td_shape shape;
} entry;

static struct {
    pthread_mutex_t lock;
    uint64_t clock;
    td_cache_counts counts;
    uint64_t hash[MAX_PLANS]; /* apart from the entries: a search reads eight lines */
    entry entry[MAX_PLANS];
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

static uint64_t dtype_word(td_dtype d)
{
    uint32_t word = 0;
    memcpy(&word, &d, sizeof word < sizeof d ? sizeof word : sizeof d);
    return word;
}

static uint64_t hash_request(const td_plan_request *r)
{
    uint64_t hash = r->layout->hash;
    hash = mix(hash, r->shape->rank);
    for (size_t i = 0; i < r->shape->rank; i++)
        hash = mix(hash, r->shape->dim[i]);
    hash = mix(hash, dtype_word(r->tensor_dtype) << 32 | dtype_word(r->memory_dtype));
    hash = mix(hash, r->geometry.width_bits * 4 + r->truncate * 2u + r->dense);
    hash = mix(hash, r->geometry.depth_words);
    return mix(hash, r->geometry.banks);
}

static bool same(const entry *e, const td_plan_request *r)
{
    return td_dtype_equal(e->request.tensor_dtype, r->tensor_dtype) &&
           td_dtype_equal(e->request.memory_dtype, r->memory_dtype) &&
           e->request.geometry.width_bits == r->geometry.width_bits &&
           e->request.geometry.depth_words == r->geometry.depth_words &&
           e->request.geometry.banks == r->geometry.banks && e->request.truncate == r->truncate &&
           e->request.dense == r->dense && e->request.part_of_bytes == r->part_of_bytes &&
           e->request.load_of_bytes == r->load_of_bytes && e->shape.rank == r->shape->rank &&
           memcmp(e->shape.dim, r->shape->dim, r->shape->rank * sizeof e->shape.dim[0]) == 0 &&
           strcmp(e->pattern, r->layout->pattern.text) == 0 && strcmp(e->options, r->layout->options_text) == 0 &&
           strcmp(e->address, r->layout->address_text) == 0;
}

void td_plan_hold(td_plan *plan)
{
    atomic_fetch_add_explicit(&plan->users, 1, memory_order_relaxed);
}

void td_plan_release(td_plan **plan)
{
    td_plan *p = *plan;
    *plan = NULL;
    if (!p || atomic_fetch_sub_explicit(&p->users, 1, memory_order_acq_rel) > 1)
        return;
    free(p->node);
    free(p->piece);
    free(p->data);
    free(p->pads);
    free(p->words);
    td_moves_free(p);
    td_plan_release(&p->last);
    td_copies_free(p->copies);
    free(p->table.entry);
    free(p->table.lines);
    free(p->place);
    free(p->place_table.entry);
    free(p->lane_mask);
    free(p->fill);
    free(p->fill_value);
    free(p->fill_keep);
    free(p);
}

static void empty(entry *e)
{
    free(e->pattern);
    free(e->options);
    free(e->address);
    td_plan_release(&e->plan);
    *e = (entry){0};
}

static entry *find(const td_plan_request *request, uint64_t hash)
{
    for (size_t i = 0; i < MAX_PLANS; i++)
        if (cache.hash[i] == hash && cache.entry[i].plan && same(&cache.entry[i], request))
            return &cache.entry[i];
    return NULL;
}

/* Keeps a plan. Where memory for the key is refused it is simply not kept. */
static void keep(const td_plan_request *request, uint64_t hash, td_plan *plan)
{
    entry *oldest = &cache.entry[0];
    for (size_t i = 0; i < MAX_PLANS; i++)
        if (cache.entry[i].used < oldest->used)
            oldest = &cache.entry[i];
    empty(oldest);
    *oldest = (entry){.plan = plan,
                      .used = ++cache.clock,
                      .pattern = strdup(request->layout->pattern.text),
                      .options = strdup(request->layout->options_text),
                      .address = strdup(request->layout->address_text),
                      .request = *request,
                      .shape = *request->shape};
    cache.hash[oldest - cache.entry] = hash;
    td_plan_hold(plan);
    if (!oldest->pattern || !oldest->options || !oldest->address)
        empty(oldest);
}

/* -- the last plan of this thread -------------------------------------------------------------------------------------
 *
 * A testbench repeats itself: the same call again finds its plan here without a lock. A layout is known by its place
 * and the hash of its strings together. */

typedef struct memo {
    td_plan *plan; /* held; NULL: none */
    uint64_t hash; /* of the layout's strings */
    td_plan_request request;
    td_shape shape;
    uint64_t hits; /* not counted in the cache yet */
    unsigned age;
} memo;

static _Thread_local memo last;
static atomic_uint age; /* of the memos: clearing the cache makes them old */
static pthread_key_t last_key;

static void forget(void *m)
{
    td_plan_release(&((memo *)m)->plan);
}

static bool has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&last_key, forget) == 0;
}

static bool is_last(const td_plan_request *r)
{
    const td_plan_request *known = &last.request;
    return last.plan && known->layout == r->layout && last.hash == r->layout->hash && known->truncate == r->truncate &&
           known->dense == r->dense && known->part_of_bytes == r->part_of_bytes &&
           known->load_of_bytes == r->load_of_bytes &&
           memcmp(&known->tensor_dtype, &r->tensor_dtype, sizeof r->tensor_dtype) == 0 &&
           memcmp(&known->memory_dtype, &r->memory_dtype, sizeof r->memory_dtype) == 0 &&
           known->geometry.width_bits == r->geometry.width_bits &&
           known->geometry.depth_words == r->geometry.depth_words && known->geometry.banks == r->geometry.banks &&
           last.shape.rank == r->shape->rank &&
           memcmp(last.shape.dim, r->shape->dim, r->shape->rank * sizeof last.shape.dim[0]) == 0 &&
           last.age == atomic_load_explicit(&age, memory_order_relaxed);
}

/* Takes over the caller's reference. */
static void remember(const td_plan_request *request, td_plan *plan)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    td_plan_release(&last.plan);
    last = (memo){.plan = plan,
                  .hash = request->layout->hash,
                  .request = *request,
                  .shape = *request->shape,
                  .age = atomic_load_explicit(&age, memory_order_relaxed)};
    (void)pthread_setspecific(last_key, &last);
}

static td_status find_or_create(const td_plan_request *request, td_plan **out)
{
    const uint64_t hash = hash_request(request);
    pthread_mutex_lock(&cache.lock);
    entry *e = find(request, hash);
    td_plan *plan = NULL;
    cache.counts.hits += last.hits;
    last.hits = 0;
    if (e) {
        e->used = ++cache.clock;
        cache.counts.hits++;
        plan = e->plan;
        td_plan_hold(plan);
    } else
        cache.counts.misses++;
    pthread_mutex_unlock(&cache.lock);

    if (!plan) {
        td_status status = td_plan_create(request, &plan);
        if (status)
            return status;
        pthread_mutex_lock(&cache.lock);
        if (!find(request, hash)) /* another thread may have been first */
            keep(request, hash, plan);
        pthread_mutex_unlock(&cache.lock);
    }
    *out = plan;
    return TD_OK;
}

td_status td_cache_borrow(const td_plan_request *request, const td_plan **out)
{
    TD_LIGHT_STEP(step, "cache");
    if (is_last(request))
        last.hits++;
    else {
        td_plan *plan = NULL;
        td_status status = find_or_create(request, &plan);
        if (status)
            return status;
        remember(request, plan);
    }
    *out = last.plan;
    return TD_OK;
}

td_status td_cache_plan(const td_plan_request *request, td_plan **out)
{
    const td_plan *borrowed = NULL;
    td_status status = td_cache_borrow(request, &borrowed);
    if (status)
        return status;
    td_plan_hold(last.plan);
    *out = last.plan;
    return TD_OK;
}

td_cache_counts td_cache_count(void)
{
    pthread_mutex_lock(&cache.lock);
    cache.counts.hits += last.hits;
    last.hits = 0;
    td_cache_counts counts = cache.counts;
    for (size_t i = 0; i < MAX_PLANS; i++)
        counts.plans += cache.entry[i].plan != NULL;
    pthread_mutex_unlock(&cache.lock);
    return counts;
}

void td_cache_clear(void)
{
    pthread_mutex_lock(&cache.lock);
    for (size_t i = 0; i < MAX_PLANS; i++)
        empty(&cache.entry[i]);
    cache.counts = (td_cache_counts){0};
    pthread_mutex_unlock(&cache.lock);
    td_plan_release(&last.plan);
    last.hits = 0;
    atomic_fetch_add_explicit(&age, 1, memory_order_relaxed);
}

/* A library that is unloaded leaves no plans behind, and no thread may come back to its code when it ends. */
__attribute__((destructor)) static void unload(void)
{
    td_cache_clear();
    if (has_key)
        (void)pthread_key_delete(last_key);
}
