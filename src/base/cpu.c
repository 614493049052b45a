/* See cpu.h. */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
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

unsigned td_cpu_hardware(void)
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
    return flags;
}

/* -- its name ------------------------------------------------------------------------------------------------------ */

#if defined(__x86_64__)
/* The three registers that hold 12 letters, or all four of a part of the name. */
static void read_letters(unsigned leaf, char *out, bool maker)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid(leaf, &a, &b, &c, &d);
    const unsigned word[4] = {maker ? b : a, maker ? d : b, c, d};
    memcpy(out, word, maker ? 12 : 16);
}
#else
static void read_midr(char *out, int bytes)
{
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "re");
    if (!file || !fgets(out, bytes, file))
        *out = 0;
    if (file)
        fclose(file);
}
#endif

void td_cpu_name(char out[TD_CPU_NAME_BYTES])
{
    char maker[13] = "", name[49] = "";
    unsigned family = 0, model = 0, stepping = 0;
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        stepping = a & 15;
        family = (a >> 8 & 15) + ((a >> 8 & 15) == 15 ? a >> 20 & 255 : 0);
        model = (a >> 4 & 15) | (a >> 12 & 0xf0);
    }
    read_letters(0, maker, true);
    for (unsigned i = 0; i < 3; i++)
        read_letters(0x80000002 + i, name + 16 * i, false);
#else
    read_midr(name, sizeof name);
#endif
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        name[i] = (char)(name[i] >= ' ' && name[i] <= '~' ? name[i] : ' ');
    while (length && name[length - 1] == ' ')
        name[--length] = 0;
    snprintf(out, TD_CPU_NAME_BYTES, "%s %u.%u.%u \"%s\"", *maker ? maker : "unknown", family, model, stepping, name);
}

/* -- what is used of it -------------------------------------------------------------------------------------------- */

static unsigned detect(void)
{
    unsigned flags = td_cpu_hardware();
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
