/* See cpu.h. */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define UNKNOWN (~0U)

static atomic_uint found = UNKNOWN;
static atomic_uint mask = TD_CPU_ALL;

#if defined(__x86_64__)
/* The one feature that clang's __builtin_cpu_supports does not know. Its caller tests AVX2 too, which says that the
 * system saves the registers. */
static int has_f16c(void)
{
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) && (c >> 29 & 1);
}
#endif

static unsigned detect(void)
{
    unsigned flags = TD_CPU_C;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c() &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        flags |= TD_CPU_AVX2;
    if (flags && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd")) {
        flags |= TD_CPU_AVX512;
        if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2"))
            flags |= TD_CPU_VBMI | (__builtin_cpu_supports("gfni") ? TD_CPU_GFNI : 0);
    }
#endif
#if defined(__aarch64__)
    flags |= TD_CPU_NEON;
#endif
    const char *wish = getenv("TD_CPU");
    if (wish && strcmp(wish, "c") == 0)
        flags &= TD_CPU_C;
    if (wish && strcmp(wish, "avx2") == 0)
        flags &= TD_CPU_AVX2;
    return flags;
}

unsigned td_cpu_flags(void)
{
    unsigned flags = atomic_load_explicit(&found, memory_order_relaxed);
    if (flags == UNKNOWN) {
        flags = detect(); /* two threads may both detect; they find the same */
        atomic_store_explicit(&found, flags, memory_order_relaxed);
    }
    return flags & atomic_load_explicit(&mask, memory_order_relaxed);
}

void td_cpu_mask(unsigned wanted)
{
    atomic_store_explicit(&mask, wanted, memory_order_relaxed);
}
