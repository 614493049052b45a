/* Plans that were compiled before, found by layout, shape, dtypes and geometry. Bounded: the least recently used
 * plan is dropped. Shared by all threads. backdoor/ and show/ get their plans here; it refuses only what compile.c
 * refuses. */
#ifndef TD_CACHE_H
#define TD_CACHE_H

#include "plan/plan.h"

/* A plan for the request, compiled when it is not there yet. The caller releases it. */
td_status td_cache_plan(const td_plan_request *request, td_plan **out);

/* The same without a reference of its own: valid until this thread gets another plan. */
td_status td_cache_borrow(const td_plan_request *request, const td_plan **out);

typedef struct td_cache_counts {
    uint64_t hits, misses;
    size_t plans;
} td_cache_counts;

td_cache_counts td_cache_count(void);
void td_cache_clear(void);

#endif
