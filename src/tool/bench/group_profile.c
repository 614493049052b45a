/* What the profile costs (section 17 of the manual): the same load with it on, beside off. `ratio` is the time off by
 * the time on, so that .98 is 2 %; `more_ns` is what a call of three steps pays. */
#include "base/clock.h"
#include "tool/bench/simple.h"

static const bench_simple_case cases[] = {
    {"load_2x4", "load", NULL, 2, 0},         {"load_256x4", "load", NULL, 256, 0},
    {"load_2048x4", "load", NULL, 2048, 0},   {"load_4096x4", "load", NULL, 4096, 0},
    {"load_16384x4", "load", NULL, 16384, 0}, {"load_65536x4", "load", NULL, 65536, 0},
};

static double load(void *state, uint64_t repetitions)
{
    bench_simple *s = state;
    BENCH_REPEAT(repetitions, td_backdoor_load_tensor(s->memory, s->tensor, s->layout, NULL));
}

static double load_profiled(void *state, uint64_t repetitions)
{
    const int was = td_profile_running();
    if (!was && td_profile_start(NULL))
        return -1;
    const double ns = load(state, repetitions);
    if (!was)
        td_profile_stop();
    return ns;
}

static void say_more(void *state, bench_figure *figure)
{
    (void)state;
    if (figure->ratio.median > 0)
        bench_figure_extra(figure, "more_ns", figure->ns.median * (1 - figure->ratio.median));
}

static bench_opened open_case(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    if (td_memory_create("m", 64, s->of->size, &s->memory) ||
        td_tensor_create("i16", TD_SHAPE(s->of->size, 4), &s->tensor) ||
        td_tensor_create("i16", TD_SHAPE(s->of->size, 4), &s->other) || td_tensor_fill(s->tensor, "random seed=1") ||
        td_layout_create("r c -> r c", NULL, NULL, &s->layout)) {
        snprintf(why, size, "%s", td_last_error());
        return BENCH_BROKEN;
    }
    out->elems = 4 * (double)s->of->size;
    out->bytes = 8 * (double)s->of->size;
    out->check = bench_simple_check_load;
    out->finish = say_more;
    bench_add_runner(out, "tensordoor", load_profiled, s);
    bench_add_runner(out, "off", load, s);
    return BENCH_OPENED;
}

static const bench_simple_table table = {cases, sizeof cases / sizeof cases[0], open_case};
BENCH_SIMPLE_GROUP(bench_group_profile, "profile", "loads while the profile counts, beside the same without it", table);
