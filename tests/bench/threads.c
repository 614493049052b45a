/* Does a second thread ever cost time? Copies, transposes, conversions and packing from 1 KiB to 1 GiB in steps of
 * four: rounds of one thread, two threads, one thread again. The ratio is two's time by one's, the median of the
 * rounds; the spread is half the way from the 25th to the 75th percentile of one's second time by its first, which is
 * what the machine does by itself. A line ends in "slower" where two take more than 3 % longer beyond that spread. On a
 * machine that is busy the other processor is not free: the load stands in every line. It asserts nothing.
 *
 *     threads-bench [--quick] [--most BYTES] [TEXT]      the works with TEXT in their name */
#include "tensordoor.h"

#include "base/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ROUNDS 61

typedef struct work {
    const char *name, *dtype, *pattern, *options, *as;
    unsigned memory_bits;
} work;

static const work works[] = {
    {"copy u8", "u8", "a b -> a b", "", NULL, 8},
    {"transpose f32", "f32", "a b -> b a", "", NULL, 32},
    {"convert f32 -> i8", "f32", "a b -> a b", "", "i8 scale=0.05", 8},
    {"pack i4", "i4", "a (b l) -> (a b) l", "l=16", NULL, 4},
};

typedef struct sides {
    const work *of;
    td_tensor *tensor;
    td_memory *memory;
    td_layout *layout;
} sides;

/* Rows and columns of a tensor of about so many bytes, as square as powers of two are. */
static td_shape shape_of(size_t elems)
{
    size_t cols = 16;
    while (cols * cols < elems)
        cols *= 2;
    return (td_shape){2, {elems / cols, cols}};
}

static bool open_sides(const work *w, size_t bytes, sides *s)
{
    *s = (sides){.of = w};
    const size_t elem_bytes = strcmp(w->dtype, "f32") == 0 ? 4 : 1;
    const td_shape shape = shape_of(bytes / elem_bytes);
    const uint64_t lanes = strcmp(w->name, "pack i4") == 0         ? 16
                           : strncmp(w->name, "transpose", 9) == 0 ? shape.dim[0]
                                                                   : shape.dim[1];
    return td_tensor_create(w->dtype, shape, &s->tensor) == TD_OK &&
           td_tensor_fill_ramp(s->tensor, -6, elem_bytes == 4 ? 1e-9 : 1) == TD_OK &&
           td_layout_create(w->pattern, w->options, NULL, &s->layout) == TD_OK &&
           td_memory_create("m", lanes * w->memory_bits, td_tensor_elems(s->tensor) / lanes, &s->memory) == TD_OK &&
           td_backdoor_load_tensor(s->memory, s->tensor, s->layout, w->as) == TD_OK;
}

static void close_sides(sides *s)
{
    td_tensor_destroy(&s->tensor);
    td_memory_destroy(&s->memory);
    td_layout_destroy(&s->layout);
}

static double time_loads(const sides *s, unsigned threads, uint64_t calls)
{
    td_speed_threads(threads);
    td_backdoor_load_tensor(s->memory, s->tensor, s->layout, s->of->as);
    const uint64_t start = td_now_ns();
    for (uint64_t i = 0; i < calls; i++)
        td_backdoor_load_tensor(s->memory, s->tensor, s->layout, s->of->as);
    return (double)(td_now_ns() - start) / (double)calls;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double load_average(void)
{
    double load = 0;
    return getloadavg(&load, 1) == 1 ? load : -1;
}

static void sweep(const sides *s, size_t bytes, bool quick)
{
    static double two[MOST_ROUNDS], again[MOST_ROUNDS], ns[MOST_ROUNDS];
    uint64_t calls = 1;
    while (!quick && calls < 1 << 20 && time_loads(s, 1, calls) * (double)calls < 2e5)
        calls *= 2;
    const int rounds = quick ? 1 : bytes >= (size_t)64 << 20 ? 11 : MOST_ROUNDS;
    for (int i = 0; i < rounds; i++) {
        ns[i] = time_loads(s, 1, calls);
        two[i] = time_loads(s, 2, calls) / ns[i];
        again[i] = time_loads(s, 1, calls) / ns[i];
    }
    qsort(ns, (size_t)rounds, sizeof(double), compare);
    qsort(two, (size_t)rounds, sizeof(double), compare);
    qsort(again, (size_t)rounds, sizeof(double), compare);
    const double ratio = two[rounds / 2], spread = (again[rounds * 3 / 4] - again[rounds / 4]) / 2;
    printf("%-18s %10zu KiB %12.1f us  two by one %6.3f  spread %6.3f  load %5.1f  %s\n", s->of->name, bytes / 1024,
           ns[rounds / 2] / 1e3, ratio, spread, load_average(), ratio > 1.03 + spread ? "slower" : "");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    bool quick = false;
    const char *filter = "";
    size_t most = (size_t)1 << 30;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--most") == 0 && i + 1 < argc)
            most = strtoull(argv[++i], NULL, 0);
        else if (argv[i][0] != '-')
            filter = argv[i];
        else
            return fprintf(stderr, "usage: threads-bench [--quick] [--most BYTES] [TEXT]\n"), 2;
    }
    const size_t free_bytes = (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    int code = 0;
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        for (size_t bytes = 1024; bytes <= most && bytes < free_bytes / 4; bytes *= 4) {
            sides s;
            if (!strstr(works[i].name, filter))
                continue;
            if (open_sides(&works[i], bytes, &s))
                sweep(&s, bytes, quick);
            else
                code = fprintf(stderr, "%s: %s\n", works[i].name, td_last_error()) > 0;
            close_sides(&s);
            td_plan_cache_clear();
        }
    return code;
}
