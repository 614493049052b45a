/* Making and destroying memories and tensors of 1 KiB to 1 GiB, beside calloc and free of the same size. Nothing is
 * touched: pages come from the system on first use, and a memory of a chip costs only what is written. */
#include "base/clock.h"
#include "tool/bench/simple.h"

#include <stdlib.h>
#include <string.h>

#define SIZES(what)                                                                                                    \
    {what "_1KiB", what, what, (uint64_t)1 << 10, 0}, {what "_32KiB", what, what, (uint64_t)1 << 15, 0},               \
        {what "_1MiB", what, what, (uint64_t)1 << 20, 0}, {what "_32MiB", what, what, (uint64_t)1 << 25, 0},           \
        {what "_1GiB", what, what, (uint64_t)1 << 30, 0},

static const bench_simple_case cases[] = {SIZES("memory") SIZES("tensor")};

static double make_memory(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions,
                 td_memory_create("m", 64, s->of->size / 8, &s->memory) || (td_memory_destroy(&s->memory), 0));
}

static double make_tensor(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions,
                 td_tensor_create("u8", TD_SHAPE(s->of->size), &s->tensor) || (td_tensor_destroy(&s->tensor), 0));
}

static bool make_plain(size_t bytes)
{
    void *p = calloc(1, bytes);
    __asm__ volatile("" ::"r"(p) : "memory");
    free(p);
    return p == NULL;
}

static double run_calloc(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, make_plain(s->of->size));
}

/* What was made has its size, can be written at both ends, and begins as zeros. */
static bool check_ends(void *state, char *why, size_t size)
{
    bench_simple *s = state;
    const bool memory = strcmp(s->of->text, "memory") == 0;
    bool good = memory ? !td_memory_create("m", 64, s->of->size / 8, &s->memory)
                       : !td_tensor_create("u8", TD_SHAPE(s->of->size), &s->tensor);
    unsigned char *data = !good ? NULL : memory ? td_memory_data(s->memory) : td_tensor_data(s->tensor);
    const uint64_t last = s->of->size - 1;
    good = data && data[0] == 0 && data[last] == 0;
    if (good) {
        data[0] = data[last] = 7;
        good = data[0] == 7 && data[last] == 7 && data[last / 2] == 0;
    }
    td_memory_destroy(&s->memory);
    td_tensor_destroy(&s->tensor);
    if (!good)
        snprintf(why, size, "wrong result, so no time: what is new is not zero from end to end");
    return good;
}

static bench_opened open_case(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    why[0] = '\0';
    (void)size;
    out->elems = (double)s->of->size;
    bench_add_runner(out, "tensordoor", strcmp(s->of->text, "memory") == 0 ? make_memory : make_tensor, s);
    out->check = check_ends;
    bench_add_runner(out, "calloc", run_calloc, s);
    return BENCH_OPENED;
}

static const bench_simple_table table = {cases, sizeof cases / sizeof cases[0], open_case};
BENCH_SIMPLE_GROUP(bench_group_allocation, "allocation", "memories and tensors made and destroyed, 1 KiB to 1 GiB",
                   table);
