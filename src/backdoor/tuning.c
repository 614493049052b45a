/* The tuning section of the public header: statistics of the plan cache, number of threads, instruction set.
 * td_speed_paths is in exec/paths.c. */
#include "base/cpu.h"
#include "base/pool.h"
#include "plan/cache.h"

td_plan_stats td_plan_cache_stats(void)
{
    const td_cache_counts counts = td_cache_count();
    return (td_plan_stats){.hits = counts.hits, .misses = counts.misses, .plans = counts.plans};
}

void td_plan_cache_clear(void)
{
    td_cache_clear();
}

void td_speed_threads(unsigned threads)
{
    td_pool_limit(threads);
}

const char *td_speed_isa(void)
{
    const unsigned flags = td_cpu_flags();
    return flags & TD_CPU_AVX512 ? "avx512" : flags & TD_CPU_AVX2 ? "avx2" : flags & TD_CPU_NEON ? "neon" : "c";
}
