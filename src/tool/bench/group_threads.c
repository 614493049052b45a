/* The pool of threads: how long it takes to wake the others and to have them back, and from which size on two threads
 * are faster than one. On a machine whose other processor is busy both say so. */
#include "base/clock.h"
#include "base/pool.h"
#include "tool/bench/simple.h"
#include "tool/bench/stats.h"

#include <stdlib.h>
#include <string.h>

#define SPIN_NS 300000 /* of a part: long against waking up, so that the pool shares it */
#define ROUNDS 9
#define SMALLEST ((uint64_t)16 << 10)
#define LARGEST ((uint64_t)16 << 20)

static const bench_simple_case cases[] = {
    {"wake_up", NULL, "wake", 0, 2},
    {"copy_16MiB", NULL, "a b -> a b", LARGEST, 2},
    {"transpose_16MiB", NULL, "a b -> b a", LARGEST, 2},
    {"convert_16MiB", NULL, "i8 scale=0.05", LARGEST, 2},
};

static void spin(void *context, unsigned begin, unsigned end)
{
    (void)context;
    for (unsigned part = begin; part < end; part++) {
        const uint64_t until = td_now_ns() + SPIN_NS;
        while (td_now_ns() < until)
            continue;
    }
}

/* Two parts on two threads. */
static double run_shared(void *state, uint64_t repetitions)
{
    (void)state;
    td_speed_threads(2);
    BENCH_REPEAT(repetitions, (td_pool_run(2, spin, NULL), false));
}

/* One of them, alone. */
static double run_part(void *state, uint64_t repetitions)
{
    (void)state;
    BENCH_REPEAT(repetitions, (spin(NULL, 0, 1), false));
}

static void say_wake_up(void *state, bench_figure *figure)
{
    (void)state;
    bench_figure_extra(figure, "wake_up_ns", figure->ns.median - figure->peer[0].ns.median);
    figure->hits = -1;
}

static double load_on(bench_simple *s, unsigned threads, uint64_t repetitions)
{
    const char *as = s->of->text[0] == 'i' ? s->of->text : NULL;
    td_speed_threads(threads);
    BENCH_REPEAT(repetitions, td_backdoor_load_tensor(s->memory, s->tensor, s->layout, as));
}

static double run_two(void *state, uint64_t repetitions)
{
    return load_on(state, 2, repetitions);
}

static double run_one(void *state, uint64_t repetitions)
{
    return load_on(state, 1, repetitions);
}

static bool make_sides(bench_simple *s, uint64_t bytes)
{
    uint64_t cols = 16;
    while (cols * cols < bytes / 4)
        cols *= 2;
    const td_shape shape = TD_SHAPE(bytes / 4 / cols, cols);
    const bool transposed = strcmp(s->of->text, "a b -> b a") == 0, converts = s->of->text[0] == 'i';
    const uint64_t lanes = transposed ? shape.dim[0] : cols;
    td_tensor_destroy(&s->tensor);
    td_memory_destroy(&s->memory);
    td_layout_destroy(&s->layout);
    return !td_tensor_create("f32", shape, &s->tensor) && !td_tensor_fill_ramp(s->tensor, -6, 12 / (double)bytes) &&
           !td_memory_create("m", lanes * (converts ? 8 : 32), bytes / 4 / lanes, &s->memory) &&
           !td_layout_create(transposed ? s->of->text : "a b -> a b", "", "", &s->layout);
}

/* One thread's time by that of two, the median of rounds in turns. */
static double gain_of(bench_simple *s, uint64_t bytes)
{
    double ratio[ROUNDS];
    bench_stat stat;
    const uint64_t repetitions = 1 + (1 << 20) / bytes;
    if (!make_sides(s, bytes) || run_one(s, 1) < 0 || run_two(s, 1) < 0)
        return 0;
    for (int i = 0; i < ROUNDS; i++) {
        const double one = run_one(s, repetitions), two = run_two(s, repetitions);
        ratio[i] = two > 0 ? one / two : 0;
    }
    bench_stat_of(ratio, ROUNDS, &stat);
    return stat.median;
}

/* The smallest size from which on two threads gain at least 5 % at every size; 0: at none. */
static void find_threshold(void *state, bench_figure *figure)
{
    double found = 0;
    for (uint64_t bytes = LARGEST; bytes >= SMALLEST && gain_of(state, bytes) > 1.05; bytes /= 2)
        found = (double)bytes;
    bench_figure_extra(figure, "threshold_bytes", found);
}

/* One thread and two leave the same words. */
static bool check_threads(void *state, char *why, size_t size)
{
    bench_simple *s = state;
    const size_t bytes = td_memory_word_bytes(s->memory) * td_memory_depth_words(s->memory);
    void *kept = malloc(bytes);
    bool good = kept && run_one(s, 1) >= 0;
    if (good) {
        memcpy(kept, td_memory_data(s->memory), bytes);
        memset(td_memory_data(s->memory), 0, bytes);
        good = run_two(s, 1) >= 0 && memcmp(kept, td_memory_data(s->memory), bytes) == 0;
    }
    free(kept);
    if (!good)
        snprintf(why, size, "wrong result, so no time: two threads leave other words than one");
    return good;
}

/* The type of a table of cases. NOLINTNEXTLINE(readability-non-const-parameter) */
static bench_opened open_case(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    (void)why;
    (void)size;
    if (s->of->text[0] == 'w') {
        out->finish = say_wake_up;
        bench_add_runner(out, "tensordoor", run_shared, s);
        bench_add_runner(out, "one part", run_part, s);
        return BENCH_OPENED;
    }
    if (!make_sides(s, s->of->size))
        return BENCH_BROKEN;
    out->elems = (double)s->of->size / 4;
    out->bytes = (double)s->of->size;
    out->check = check_threads;
    out->finish = find_threshold;
    bench_add_runner(out, "tensordoor", run_two, s);
    bench_add_runner(out, "one thread", run_one, s);
    return BENCH_OPENED;
}

static const bench_simple_table table = {cases, sizeof cases / sizeof cases[0], open_case};
BENCH_SIMPLE_GROUP(bench_group_threads, "threads",
                   "the pool: waking up, and two threads against one with the size "
                   "from which they gain",
                   table);
