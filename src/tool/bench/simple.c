/* The frame of groups of simple cases. */
#include "tool/bench/simple.h"

#include "base/clock.h"
#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

size_t bench_simple_count(const bench_group *group)
{
    return ((const bench_simple_table *)group->of)->count;
}

void bench_simple_spec(const bench_group *group, size_t number, bench_spec *out)
{
    const bench_simple_case *c = &((const bench_simple_table *)group->of)->cases[number];
    snprintf(out->name, sizeof out->name, "%s", c->name);
    snprintf(out->series, sizeof out->series, "%s", c->series ? c->series : "");
    out->threads = c->threads ? c->threads : 1;
}

/* A processor holds a load against older stores by the place in the page first: with both buffers at the start of one,
 * a copy of a few bytes takes half as long in one process as in the next, and no ratio to it means anything. */
#define HALF_A_PAGE 2048

bool bench_simple_buffers(bench_simple *s, size_t bytes)
{
    const size_t huge = (size_t)2 << 20, room = (bytes + HALF_A_PAGE + huge) / huge * huge;
    s->bytes = bytes;
    s->src = aligned_alloc(huge, room);
    s->room = aligned_alloc(huge, room);
    if (!s->src || !s->room)
        return false;
    madvise(s->src, room, MADV_HUGEPAGE);
    madvise(s->room, room, MADV_HUGEPAGE);
    memset(s->src, 1, room);
    memset(s->room, 2, room);
    s->dst = s->room + HALF_A_PAGE;
    return true;
}

double bench_simple_memcpy(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    const uint64_t start_ns = td_now_ns();
    for (uint64_t i = 0; i < repetitions; i++) {
        memcpy(s->dst, s->src, s->bytes);
        __asm__ volatile("" ::"r"(s->dst), "r"(s->src) : "memory");
    }
    return (double)(td_now_ns() - start_ns) / (double)repetitions;
}

/* With plain C alone; what all instructions leave is in `words`. */
static bool plain_c_agrees(bench_simple *s, const void *words, size_t bytes)
{
    const unsigned all = td_cpu_flags();
    td_cpu_mask(TD_CPU_C);
    td_plan_cache_clear();
    memset(td_memory_data(s->memory), 0, bytes);
    const bool same = !td_backdoor_load_tensor(s->memory, s->tensor, s->layout, NULL) &&
                      memcmp(td_memory_data(s->memory), words, bytes) == 0;
    td_cpu_mask(all);
    td_plan_cache_clear();
    return same;
}

bool bench_simple_check_load(void *state, char *why, size_t size)
{
    bench_simple *s = state;
    const size_t elems = (size_t)td_tensor_elems(s->tensor) * td_tensor_elem_bytes(s->tensor);
    const size_t bytes = (size_t)td_memory_word_bytes(s->memory) * (size_t)td_memory_depth_words(s->memory);
    void *words = malloc(bytes);
    memset(td_memory_data(s->memory), 0, bytes);
    if (!words || td_backdoor_load_tensor(s->memory, s->tensor, s->layout, NULL) ||
        td_backdoor_dump_tensor(s->memory, s->other, s->layout, NULL)) {
        snprintf(why, size, "%.*s", (int)strcspn(td_last_error(), "\n"), td_last_error());
        free(words);
        return false;
    }
    bool good = memcmp(td_tensor_data(s->tensor), td_tensor_data(s->other), elems) == 0;
    if (!good)
        snprintf(why, size, "wrong result, so no time: a dump gives other elements");
    memcpy(words, td_memory_data(s->memory), bytes);
    if (good && !plain_c_agrees(s, words, bytes)) {
        good = false;
        snprintf(why, size, "wrong result, so no time: plain C gives other bytes");
    }
    free(words);
    return good;
}

static void close_simple(void *state)
{
    bench_simple *s = state;
    td_tensor_destroy(&s->tensor);
    td_tensor_destroy(&s->other);
    td_memory_destroy(&s->memory);
    td_layout_destroy(&s->layout);
    td_parts_destroy(&s->parts);
    free(s->addresses);
    free(s->src);
    free(s->room);
    free(s);
}

bench_opened bench_simple_open(const bench_group *group, size_t number, const bench_settings *settings,
                               bench_subject *out, char *why, size_t size)
{
    const bench_simple_table *table = group->of;
    bench_simple *s = calloc(1, sizeof *s);
    (void)settings;
    if (!s)
        return BENCH_BROKEN;
    s->of = &table->cases[number];
    out->state = s;
    out->close = close_simple;
    why[0] = '\0';
    const bench_opened opened = table->open(s, out, why, size);
    if (opened == BENCH_BROKEN && !why[0])
        snprintf(why, size, "%.*s", (int)strcspn(td_last_error(), "\n"), td_last_error());
    return opened;
}
