/* What stands around a move: making a layout and its plan, finding the plan again, asking for the processor, comparing,
 * packing into parts. Each case is one public call, with the reference that it replaces or a copy of its bytes. */
#include "base/clock.h"
#include "base/cpu.h"
#include "tool/bench/simple.h"

#include <stdlib.h>
#include <string.h>

static const bench_simple_case plan_cases[] = {
    {"layout_create", NULL, "layout", 0, 0}, {"plan_create", NULL, "plan", 0, 0}, {"plan_cached", NULL, "cached", 0, 0},
    {"processor_query", NULL, "isa", 0, 0},  {"capabilities", NULL, "all", 0, 0},
};

static double run_layout(void *state, uint64_t repetitions)
{
    (void)state;
    td_layout *l = NULL;
    BENCH_REPEAT(repetitions,
                 td_layout_create("c h (wt ws) -> (h wt c) ws", "ws=8", "", &l) || (td_layout_destroy(&l), 0));
}

static bool load(bench_simple *s)
{
    return td_backdoor_load_tensor(s->memory, s->tensor, s->layout, NULL) != TD_OK;
}

/* The plan is made anew for every load; the load itself, of 192 bytes, is what `plan_cached` costs. */
static double run_plan(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, (td_plan_cache_clear(), load(s)));
}

static double run_cached(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, load(s));
}

static double run_isa(void *state, uint64_t repetitions)
{
    (void)state;
    BENCH_REPEAT(repetitions, td_speed_isa() == NULL);
}

/* Every flag of the processor and every path that a move may take. */
static bool ask_all(void)
{
    bool bad = td_speed_isa() == NULL;
    for (unsigned flag = 1; flag < TD_CPU_ALL; flag *= 2)
        bad |= (td_cpu_flags() & flag) > TD_CPU_ALL;
    const td_path_stats paths = td_speed_paths();
    __asm__ volatile("" ::"r"(&paths) : "memory");
    return bad;
}

static double run_all(void *state, uint64_t repetitions)
{
    (void)state;
    BENCH_REPEAT(repetitions, ask_all());
}

static void forget_hits(void *state, bench_figure *figure)
{
    (void)state;
    figure->hits = -1; /* the case itself empties the cache */
}

static bench_opened open_plan(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    why[0] = '\0';
    (void)size;
    static const struct {
        const char *text;
        bench_run *run;
    } runs[] = {{"layout", run_layout}, {"plan", run_plan}, {"cached", run_cached}, {"isa", run_isa}, {"all", run_all}};
    if (td_tensor_create("u8", TD_SHAPE(3, 8, 8), &s->tensor) || td_tensor_fill_random(s->tensor, 2) ||
        td_tensor_create("u8", TD_SHAPE(3, 8, 8), &s->other) || td_memory_create("m", 64, 24, &s->memory) ||
        td_layout_create("c h (wt ws) -> (h wt c) ws", "ws=8", "", &s->layout) || !bench_simple_buffers(s, 192))
        return BENCH_BROKEN;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++)
        if (strcmp(runs[i].text, s->of->text) == 0)
            bench_add_runner(out, "tensordoor", runs[i].run, s);
    bench_add_runner(out, "memcpy", bench_simple_memcpy, s); /* of the 192 bytes: a call that always costs the same */
    out->check = bench_simple_check_load;
    out->finish = strcmp(s->of->text, "plan") == 0 ? forget_hits : NULL;
    return BENCH_OPENED;
}

static const bench_simple_table plan_table = {plan_cases, sizeof plan_cases / sizeof plan_cases[0], open_plan};
BENCH_SIMPLE_GROUP(bench_group_plan, "plan", "layouts, plans and the processor: what comes before the first byte",
                   plan_table);

static const bench_simple_case compare_cases[] = {
    {"f32_1k", "f32", "a b -> a b", 1024, 0},
    {"f32_32k", "f32", "a b -> a b", 32768, 0},
    {"f32_1M", "f32", "a b -> a b", 1048576, 0},
    {"f32_16M", "f32", "a b -> a b", 16777216, 0},
    {"transposed_1k", "transposed", "a b -> b a", 1024, 0},
    {"transposed_32k", "transposed", "a b -> b a", 32768, 0},
    {"transposed_1M", "transposed", "a b -> b a", 1048576, 0},
    {"transposed_16M", "transposed", "a b -> b a", 16777216, 0},
};

static double run_compare(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    td_report *report = NULL;
    BENCH_REPEAT(repetitions, td_backdoor_compare_tensor(s->memory, s->tensor, s->layout, "exact", NULL, &report) ||
                                  !td_report_passed(report) || (td_report_destroy(&report), 0));
}

static double run_dump(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_backdoor_dump_tensor(s->memory, s->other, s->layout, NULL));
}

/* Equal passes; one element that differs is found, and it alone. */
static bool check_compare(void *state, char *why, size_t size)
{
    bench_simple *s = state;
    td_report *report = NULL;
    unsigned char *byte = (unsigned char *)td_memory_data(s->memory) + (s->of->size / 3 * 4);
    *byte ^= 1;
    const bool found = !td_backdoor_compare_tensor(s->memory, s->tensor, s->layout, "exact", NULL, &report) &&
                       !td_report_passed(report) && td_report_mismatches(report) == 1;
    td_report_destroy(&report);
    *byte ^= 1;
    if (found && run_compare(s, 1) >= 0)
        return true;
    snprintf(why, size, "wrong result, so no time: one element that differs is not found");
    return false;
}

static bench_opened open_compare(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    why[0] = '\0';
    (void)size;
    uint64_t side = 32;
    while (side * side < s->of->size)
        side *= 2;
    const td_shape shape = TD_SHAPE(s->of->size / side, side);
    const uint64_t lanes = s->of->name[0] == 't' ? shape.dim[0] : side;
    if (td_tensor_create("f32", shape, &s->tensor) || td_tensor_create("f32", shape, &s->other) ||
        td_tensor_fill_random(s->tensor, 3) || td_memory_create("m", 32 * lanes, s->of->size / lanes, &s->memory) ||
        td_layout_create(s->of->text, "", "", &s->layout) ||
        td_backdoor_load_tensor(s->memory, s->tensor, s->layout, NULL))
        return BENCH_BROKEN;
    out->elems = (double)s->of->size;
    out->bytes = 4 * out->elems;
    out->check = check_compare;
    bench_add_runner(out, "tensordoor", run_compare, s);
    bench_add_runner(out, "dump", run_dump, s);
    return BENCH_OPENED;
}

static const bench_simple_table compare_table = {compare_cases, sizeof compare_cases / sizeof compare_cases[0],
                                                 open_compare};
BENCH_SIMPLE_GROUP(bench_group_compare, "compare", "comparisons, against the dump that they replace", compare_table);

#define PACKING(name, text)                                                                                            \
    {name "_64k", name, text, 65536, 0}, {name "_1M", name, text, 1048576, 0},                                         \
    {                                                                                                                  \
        name "_4M", name, text, 4194304, 0                                                                             \
    }

static const bench_simple_case parts_cases[] = {
    PACKING("mxfp4", "mxfp4"), PACKING("mxfp8", "mxfp8"),     PACKING("nvfp4", "nvfp4"), PACKING("int4", "int4"),
    PACKING("q4_0", "q4_0"),   PACKING("sparse_2of4", "2:4"), PACKING("mask", "mask"),   PACKING("csr", "csr"),
};

static double run_pack(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    td_parts *parts = NULL;
    BENCH_REPEAT(repetitions, td_parts_pack(s->tensor, s->of->text, &parts) || (td_parts_destroy(&parts), 0));
}

/* Three of four elements are zero, two of them in every four, so that every packing can hold it. */
static void thin_out(td_tensor *tensor)
{
    float *value = td_tensor_data(tensor);
    for (uint64_t i = 0; i < td_tensor_elems(tensor); i++)
        if (i % 4 > 1 || i % 8 == 5)
            value[i] = 0;
}

/* The parts of plain C against those of all instructions, byte by byte. */
static bool check_parts(void *state, char *why, size_t size)
{
    bench_simple *s = state;
    td_parts *plain = NULL;
    const unsigned all = td_cpu_flags();
    td_cpu_mask(TD_CPU_C);
    bool good = !td_parts_pack(s->tensor, s->of->text, &plain);
    td_cpu_mask(all);
    for (size_t i = 0; good && i < td_parts_count(plain); i++) {
        td_tensor *a = NULL, *b = NULL;
        good = !td_parts_part(plain, td_parts_name(plain, i), &a) &&
               !td_parts_part(s->parts, td_parts_name(plain, i), &b) && td_tensor_elems(a) == td_tensor_elems(b) &&
               memcmp(td_tensor_data_const(a), td_tensor_data_const(b),
                      (size_t)td_tensor_elems(a) * td_tensor_elem_bytes(a)) == 0;
    }
    td_parts_destroy(&plain);
    if (!good)
        snprintf(why, size, "wrong result, so no time: plain C gives other bytes");
    return good;
}

static bench_opened open_parts(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    if (td_tensor_create("f32", TD_SHAPE(s->of->size / 256, 256), &s->tensor) ||
        td_tensor_fill_ramp(s->tensor, -6, 12 / (double)s->of->size) || !bench_simple_buffers(s, s->of->size * 4))
        return BENCH_BROKEN;
    if (strstr("2:4 csr mask", s->of->text))
        thin_out(s->tensor);
    if (td_parts_pack(s->tensor, s->of->text, &s->parts)) {
        snprintf(why, size, "%.*s", (int)strcspn(td_last_error(), "\n"), td_last_error());
        return BENCH_BROKEN;
    }
    out->elems = (double)s->of->size;
    out->bytes = 4 * out->elems;
    out->check = check_parts;
    bench_add_runner(out, "tensordoor", run_pack, s);
    bench_add_runner(out, "memcpy", bench_simple_memcpy, s);
    return BENCH_OPENED;
}

static const bench_simple_table parts_table = {parts_cases, sizeof parts_cases / sizeof parts_cases[0], open_parts};
BENCH_SIMPLE_GROUP(bench_group_parts, "parts", "block-scaled and sparse packing, beside a copy of the tensor",
                   parts_table);
