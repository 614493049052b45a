/* Fixed work that grows: from nothing to a quantised tensor in a memory, 512, 1024 and 2048 squared, with the split of
 * its time into allocation, conversion and move beside it. And the shapes that testbenches load, by layout. */
#include "base/clock.h"
#include "base/cpu.h"
#include "tool/bench/simple.h"
#include "tool/bench/stats.h"

#include <string.h>

static const bench_simple_case scaling_cases[] = {
    {"quantise_512x512", "quantise", "", 512, 0},
    {"quantise_1024x1024", "quantise", "", 1024, 0},
    {"quantise_2048x2048", "quantise", "", 2048, 0},
};

static bool whole_work(bench_simple *s)
{
    td_memory *memory = NULL;
    const bool bad = td_memory_create("m", 8 * s->of->size, s->of->size, &memory) ||
                     td_backdoor_load_tensor(memory, s->tensor, s->layout, "i8 scale=0.05");
    td_memory_destroy(&memory);
    return bad;
}

static double run_whole(void *state, uint64_t repetitions)
{
    BENCH_REPEAT(repetitions, whole_work(state));
}

static bool only_allocate(const bench_simple *s)
{
    td_memory *memory = NULL;
    const bool bad = td_memory_create("m", 8 * s->of->size, s->of->size, &memory) != TD_OK;
    if (!bad)
        memset(td_memory_data(memory), 0, s->of->size * s->of->size); /* its pages come now */
    td_memory_destroy(&memory);
    return bad;
}

static double run_allocation(void *state, uint64_t repetitions)
{
    BENCH_REPEAT(repetitions, only_allocate(state));
}

static double run_conversion(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_backdoor_load_tensor(s->memory, s->tensor, s->layout, "i8 scale=0.05"));
}

static double run_move(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_backdoor_load_tensor(s->memory, s->other, s->layout, NULL));
}

/* Medians of a few; what the conversion costs is what it adds to the move. */
static double median_of(bench_run *run, void *state)
{
    double sample[9];
    bench_stat stat;
    for (int i = 0; i < 9; i++)
        sample[i] = run(state, 3);
    bench_stat_of(sample, 9, &stat);
    return stat.median;
}

static void finish_scaling(void *state, bench_figure *figure)
{
    const double move = median_of(run_move, state), both = median_of(run_conversion, state);
    bench_figure_extra(figure, "allocation_ns", median_of(run_allocation, state));
    bench_figure_extra(figure, "conversion_ns", both > move ? both - move : 0);
    bench_figure_extra(figure, "move_ns", move);
}

/* The words of the load with its conversion against the elements of td_tensor_convert in plain C. */
static bool check_scaling(void *state, char *why, size_t size)
{
    bench_simple *s = state;
    td_tensor *plain = NULL;
    const unsigned all = td_cpu_flags();
    td_cpu_mask(TD_CPU_C);
    bool good = !td_tensor_convert(s->tensor, "i8 scale=0.05", &plain);
    td_cpu_mask(all);
    good = good && run_conversion(s, 1) >= 0 &&
           memcmp(td_memory_data(s->memory), td_tensor_data(plain), s->of->size * s->of->size) == 0;
    td_tensor_destroy(&plain);
    if (!good)
        snprintf(why, size, "wrong result, so no time: plain C gives other bytes");
    return good;
}

static bench_opened open_scaling(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    const uint64_t n = s->of->size;
    why[0] = '\0';
    (void)size;
    if (td_tensor_create("f32", TD_SHAPE(n, n), &s->tensor) || td_tensor_create("i8", TD_SHAPE(n, n), &s->other) ||
        td_tensor_fill_ramp(s->tensor, -6, 12 / (double)(n * n)) || td_memory_create("m", 8 * n, n, &s->memory) ||
        td_layout_create("a b -> a b", "", "", &s->layout) || !bench_simple_buffers(s, n * n * 5 / 2))
        return BENCH_BROKEN;
    out->elems = (double)(n * n);
    out->bytes = 2.5 * out->elems;
    out->check = check_scaling;
    out->finish = finish_scaling;
    bench_add_runner(out, "tensordoor", run_whole, s);
    bench_add_runner(out, "memcpy", bench_simple_memcpy, s);
    return BENCH_OPENED;
}

static const bench_simple_table scaling_table = {scaling_cases, sizeof scaling_cases / sizeof scaling_cases[0],
                                                 open_scaling};
BENCH_SIMPLE_GROUP(bench_group_scaling, "scaling", "fixed work, split into allocation, conversion and move",
                   scaling_table);

#define LAYOUT(name, text)                                                                                             \
    {name "_3x8x8", name, text, 8, 0}, {name "_3x16x16", name, text, 16, 0}, {name "_3x32x32", name, text, 32, 0},     \
        {name "_3x64x64", name, text, 64, 0}, {name "_3x512x512", name, text, 512, 0},                                 \
    {                                                                                                                  \
        name "_3x1024x1024", name, text, 1024, 0                                                                       \
    }

static const bench_simple_case tensor_cases[] = {
    LAYOUT("chw", "c h (wt ws) -> (c h wt) ws"),
    LAYOUT("rows_of_channels", "c h (wt ws) -> (h wt c) ws"),
    LAYOUT("pixels", "c h (wt ws) -> (h wt) (ws c)"),
};

static double run_load(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_backdoor_load_tensor(s->memory, s->tensor, s->layout, NULL));
}

static bench_opened open_tensor(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    const uint64_t n = s->of->size;
    const uint64_t lanes = strstr(s->of->text, "(ws c)") ? 24 : 8;
    why[0] = '\0';
    (void)size;
    if (td_tensor_create("u8", TD_SHAPE(3, n, n), &s->tensor) || td_tensor_create("u8", TD_SHAPE(3, n, n), &s->other) ||
        td_tensor_fill_random(s->tensor, 9) || td_memory_create("m", 8 * lanes, 3 * n * n / lanes, &s->memory) ||
        td_layout_create(s->of->text, "ws=8", "", &s->layout) || !bench_simple_buffers(s, 3 * n * n))
        return BENCH_BROKEN;
    out->elems = out->bytes = (double)(3 * n * n);
    out->check = bench_simple_check_load;
    bench_add_runner(out, "tensordoor", run_load, s);
    bench_add_runner(out, "memcpy", bench_simple_memcpy, s);
    return BENCH_OPENED;
}

static const bench_simple_table tensor_table = {tensor_cases, sizeof tensor_cases / sizeof tensor_cases[0],
                                                open_tensor};
BENCH_SIMPLE_GROUP(bench_group_tensor, "tensor", "3x8x8 to 3x1024x1024 of u8, by layout", tensor_table);
