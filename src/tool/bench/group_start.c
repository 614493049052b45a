/* Cold start: the first call of a process against the thousandth. Each sample is of new processes that run this program
 * once more: a child that goes on with our memory would copy pages that the cases before this one have made, and take
 * half as long again behind many of them. */
#include "base/clock.h"
#include "tool/bench/again.h"
#include "tool/bench/simple.h"

#include <sys/wait.h>
#include <unistd.h>

static const bench_simple_case cases[] = {{"first_load", NULL, "first", 0, 0}};

/* What a new process does: a load of 3x8x8 with what it needs, a thousand times, and the first and last time in ns. */
int bench_start_cold(void)
{
    double answer[2] = {-1, -1};
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    bool good = true;
    for (int i = 0; good && i < 1000; i++) {
        const uint64_t start_ns = td_now_ns();
        good = (i || (!td_tensor_create("u8", TD_SHAPE(3, 8, 8), &tensor) && !td_memory_create("m", 64, 24, &memory) &&
                      !td_layout_create("c h (wt ws) -> (h wt c) ws", "ws=8", "", &layout))) &&
               !td_backdoor_load_tensor(memory, tensor, layout, NULL);
        answer[i ? 1 : 0] = (double)(td_now_ns() - start_ns);
    }
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    return !good || write(1, answer, sizeof answer) != (ssize_t)sizeof answer;
}

static bool time_process(double *first, double *later)
{
    int from[2];
    double answer[2] = {-1, -1};
    if (pipe(from))
        return false;
    const pid_t child = fork();
    if (child == 0) {
        if (dup2(from[1], 1) == 1)
            bench_again_cold();
        _exit(127);
    }
    close(from[1]);
    const bool good = child > 0 && read(from[0], answer, sizeof answer) == (ssize_t)sizeof answer;
    close(from[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    *first = answer[0];
    *later = answer[1];
    return good && answer[1] > 0;
}

/* A repetition costs a process, however little of its time counts: a sample is of a few. */
#define MOST_PROCESSES 2

static double run_processes(bench_simple *s, uint64_t repetitions, int which)
{
    const uint64_t processes = repetitions < MOST_PROCESSES ? repetitions : MOST_PROCESSES;
    double sum = 0;
    for (uint64_t i = 0; i < processes; i++) {
        if (!time_process(&s->number[0], &s->number[1]))
            return -1;
        sum += s->number[which];
    }
    return sum / (double)processes;
}

static double run_first(void *state, uint64_t repetitions)
{
    return run_processes(state, repetitions, 0);
}

static double run_later(void *state, uint64_t repetitions)
{
    return run_processes(state, repetitions, 1);
}

static void forget(void *state, bench_figure *figure)
{
    (void)state;
    figure->allocations = figure->peak_bytes = figure->hits = -1; /* of this process */
}

static bench_opened open_case(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    double first = 0, later = 0;
    if (!time_process(&first, &later)) {
        snprintf(why, size, "no new process of this program can be started");
        return BENCH_SKIPPED;
    }
    out->elems = 192;
    out->finish = forget;
    bench_add_runner(out, "tensordoor", run_first, s);
    bench_add_runner(out, "thousandth", run_later, s);
    return BENCH_OPENED;
}

static const bench_simple_table table = {cases, 1, open_case};
BENCH_SIMPLE_GROUP(bench_group_start, "start",
                   "the first load of a process with its tensor, memory and layout, against the thousandth", table);
