/* Cold start: the first call of a process, with the thousandth beside it. Each sample is of a new process that runs
 * this program once more: a child that goes on with our memory would copy pages that the cases before this one have
 * made, and take half as long again behind many of them. Most of a first call is pages that the system hands out,
 * which takes as long as others make it; so the reference is new pages too. */
#include "base/clock.h"
#include "tool/bench/again.h"
#include "tool/bench/child.h"
#include "tool/bench/simple.h"

#include <sys/mman.h>
#include <unistd.h>

static const bench_simple_case cases[] = {{"first_load", NULL, "first", 0, 0}};

enum { FIRST, PAGES, LATER, TIMES };
#define NEW_PAGES 256
#define PAGE_BYTES 4096

static double time_pages(void)
{
    const uint64_t start_ns = td_now_ns();
    volatile char *page =
        mmap(NULL, (size_t)NEW_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -1;
    for (size_t i = 0; i < NEW_PAGES; i++)
        page[i * PAGE_BYTES] = 1;
    munmap((void *)page, (size_t)NEW_PAGES * PAGE_BYTES);
    return (double)(td_now_ns() - start_ns);
}

/* What a new process does: a load of 3x8x8 with what it needs, a thousand times. Its answer are times in ns. */
int bench_start_cold(void)
{
    double answer[TIMES] = {[PAGES] = time_pages()};
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    td_layout *layout = NULL;
    bool good = true;
    for (int i = 0; good && i < 1000; i++) {
        const uint64_t start_ns = td_now_ns();
        good = (i || (!td_tensor_create("u8", TD_SHAPE(3, 8, 8), &tensor) && !td_memory_create("m", 64, 24, &memory) &&
                      !td_layout_create("c h (wt ws) -> (h wt c) ws", "ws=8", "", &layout))) &&
               !td_backdoor_load_tensor(memory, tensor, layout, NULL);
        answer[i ? LATER : FIRST] = (double)(td_now_ns() - start_ns);
    }
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    td_tensor_destroy(&tensor);
    return !good || write(1, answer, sizeof answer) != (ssize_t)sizeof answer;
}

static void become_cold(void *unused)
{
    (void)unused;
    bench_again_cold();
}

static bool time_process(double *answer)
{
    bench_child child;
    answer[LATER] = -1;
    return bench_child_start(&child, &(bench_child_work){.run = become_cold}) &&
           bench_child_bytes(&child, answer, TIMES * sizeof *answer) && bench_child_stop(&child) && answer[PAGES] > 0 &&
           answer[LATER] > 0;
}

/* A repetition costs a process, however little of its time counts: a sample is of one. */
static double run_process(bench_simple *s, int which)
{
    double answer[TIMES];
    if (!time_process(answer))
        return -1;
    s->number[0] = s->number[0] > 0 && s->number[0] < answer[LATER] ? s->number[0] : answer[LATER];
    return answer[which];
}

static double run_first(void *state, uint64_t repetitions)
{
    (void)repetitions;
    return run_process(state, FIRST);
}

static double run_pages(void *state, uint64_t repetitions)
{
    (void)repetitions;
    return run_process(state, PAGES);
}

static void finish(void *state, bench_figure *figure)
{
    bench_figure_extra(figure, "thousandth_ns", ((bench_simple *)state)->number[0]);
    figure->allocations = figure->peak_bytes = figure->hits = -1; /* of this process */
}

static bench_opened open_case(bench_simple *s, bench_subject *out, char *why, size_t size)
{
    double answer[TIMES];
    if (!time_process(answer)) {
        snprintf(why, size, "no new process of this program can be started");
        return BENCH_SKIPPED;
    }
    out->elems = 192;
    out->finish = finish;
    bench_add_runner(out, "tensordoor", run_first, s);
    bench_add_runner(out, "new pages", run_pages, s);
    return BENCH_OPENED;
}

static const bench_simple_table table = {cases, 1, open_case};
BENCH_SIMPLE_GROUP(
    bench_group_start, "start",
    "the first load of a process with its tensor, memory and layout, against new pages; the thousandth beside", table);
