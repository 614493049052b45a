/* Instruction sets beside each other: the same move with all that the processor has, and with plain C alone. Between
 * the two the cache of plans is emptied, as a plan remembers its kernel. */
#include "base/cpu.h"
#include "tool/bench/moves.h"

#include <stdlib.h>
#include <string.h>

static const bench_case cases[] = {
    {"transpose_u8_512", "u8", "512 512", "10", 1, NULL, 0, NULL, NULL, 0, 0},
    {"transpose_f32_256", "f32", "256 256", "10", 1, NULL, 0, NULL, NULL, 0, 0},
    {"pack_i4_64k", "i4", "8192 8", "01", 1, NULL, 0, NULL, NULL, 0, 0},
    {"convert_f32_bf16_64k", "f32", "16384 4", "01", 1, "bf16", 0, NULL, NULL, 0, 0},
    {"convert_f32_i8_64k", "f32", "16384 4", "01", 1, "i8 scale=0.05", 0, NULL, NULL, 0, 0},
};

static size_t count(const bench_group *group)
{
    (void)group;
    return sizeof cases / sizeof cases[0];
}

static void spec(const bench_group *group, size_t number, bench_spec *out)
{
    (void)group;
    snprintf(out->name, sizeof out->name, "%s", cases[number].name);
    out->series[0] = '\0';
}

static double run_with(bench_job *job, unsigned flags, uint64_t repetitions)
{
    td_cpu_mask(flags);
    td_plan_cache_clear();
    const double ns = bench_job_call(job) == TD_OK ? bench_time_ours(job, repetitions) : -1;
    td_cpu_mask(TD_CPU_ALL);
    td_plan_cache_clear();
    return ns;
}

static double run_all(void *state, uint64_t repetitions)
{
    return run_with(state, TD_CPU_ALL, repetitions);
}

static double run_plain(void *state, uint64_t repetitions)
{
    return run_with(state, TD_CPU_C, repetitions);
}

static double run_memcpy(void *state, uint64_t repetitions)
{
    return bench_time_memcpy(state, repetitions);
}

static void forget_hits(void *state, bench_figure *figure)
{
    (void)state;
    figure->hits = figure->allocations = figure->peak_bytes = -1; /* the cases themselves empty the cache */
}

static bool check_isa(void *state, char *why, size_t size)
{
    if (bench_job_same_as_plain_c(state))
        return true;
    snprintf(why, size, "wrong result, so no time: plain C gives other bytes");
    return false;
}

static void close_job(void *state)
{
    bench_job_destroy(state);
    free(state);
}

static bench_opened open_case(const bench_group *group, size_t number, const bench_settings *settings,
                              bench_subject *out, char *why, size_t size)
{
    (void)group;
    (void)settings;
    bench_job *job = calloc(1, sizeof *job);
    if (!job)
        return BENCH_BROKEN;
    out->state = job;
    out->close = close_job;
    out->check = check_isa;
    out->finish = forget_hits;
    if (bench_job_create(&cases[number], NULL, job)) {
        snprintf(why, size, "%.*s", (int)strcspn(td_last_error(), "\n"), td_last_error());
        return BENCH_BROKEN;
    }
    out->bytes = (double)(job->src_bytes + job->dst_bytes) / 2;
    out->elems = (double)td_tensor_elems(job->tensor);
    bench_add_runner(out, td_speed_isa(), run_all, job);
    bench_add_runner(out, "plain C", run_plain, job);
    bench_add_runner(out, "memcpy", run_memcpy, job);
    return BENCH_OPENED;
}

const bench_group bench_group_isa = {
    "isa", "the processor's vectors beside plain C, same move, same library", false, NULL, count, spec, open_case,
};
