/* What a comparison costs, as ratios taken in one run: to memcmp of the tensor's bytes on one thread, and to the dump
 * through the same layout on as many threads as the comparison. The best of some rounds each.
 *
 *     compare-bench [ROUNDS [THREADS]]      9 rounds, one thread
 */
#include "tensordoor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where a policy has a tolerance and nothing is converted, the golden tensor differs in the lowest bit of every element. */
static void stir(td_tensor *golden)
{
    unsigned char *data = td_tensor_data(golden);
    const size_t bytes = td_tensor_elem_bytes(golden);
    for (uint64_t i = 0; i < td_tensor_elems(golden); i++)
        data[i * bytes] ^= 1;
}

typedef struct bench {
    const char *dtype, *shape, *pattern, *options;
    uint64_t width;
    const char *as, *policy;
} bench;

static const bench benches[] = {
    {"f32", "4096 2048", "r c -> r c", "", 65536, "", ""},
    {"f32", "4096 2048", "r c -> c r", "", 131072, "", ""},
    {"u8", "4096 4096", "r c -> c r", "", 32768, "", ""},
    {"i16", "64 56 56 64", "b h w (ct cs) -> (b ct h w) cs", "cs=16", 256, "", ""},
    {"i4", "4096 4096", "r (ct cs) -> (ct r) cs", "cs=16", 64, "", ""},
    {"f32", "4096 1024", "r (ct cs) -> (r ct) cs", "cs=16", 128, "i8 scale=0.05", "atol=0.03"},
    {"f32", "4096 1024", "r (ct cs) -> (r ct) cs", "cs=16", 256, "bf16", "rtol=0.01"},
    {"f16", "4096 1024", "r (ct cs) -> (r ct) cs", "cs=16", 128, "e4m3", "rtol=0.1 atol=0.1"},
    {"f32", "4096 2048", "r c -> r c", "", 65536, "", "atol=1e-3"},
    {"f32", "4096 2048", "r c -> c r", "", 131072, "", "ulp=1"},
    {"f16", "64 56 56 64", "b h w (ct cs) -> (b ct h w) cs", "cs=16", 256, "", "ulp=1"},
    {"i8", "4096 4096", "r c -> r c", "", 32768, "", "atol=1"},
    {"i32", "4096 2048", "r c -> r c", "", 65536, "", "atol=1"},
};

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, td_last_error());
    return 1;
}

static int run(const bench *b, int rounds)
{
    td_shape shape;
    td_tensor *golden = NULL, *dumped = NULL;
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    if (td_shape_parse(b->shape, &shape) || td_tensor_create(b->dtype, shape, &golden) ||
        td_tensor_create(b->dtype, shape, &dumped) ||
        td_tensor_fill_ramp(golden, -3, strchr(b->dtype, 'f') ? 1e-6 : 1) ||
        td_layout_create(b->pattern, b->options, NULL, &layout) ||
        td_layout_spans(layout, golden, b->as, b->width, NULL, &spans, &count) ||
        td_memory_create("bench", b->width, spans[count - 1].first + spans[count - 1].count, &memory) ||
        td_backdoor_load_tensor(memory, golden, layout, b->as) ||
        td_backdoor_dump_tensor(memory, dumped, layout, b->as))
        return fail(b->pattern);
    const size_t bytes = (size_t)td_tensor_elems(golden) * td_tensor_elem_bytes(golden);
    unsigned char *copy = malloc(bytes);
    if (!copy)
        return 1;
    if (*b->policy && !*b->as)
        stir(golden);
    memcpy(copy, td_tensor_data(golden), bytes);
    double best[3] = {1e18, 1e18, 1e18};
    for (int i = 0; i < rounds; i++) {
        td_report *report = NULL;
        const double a = now_ns();
        if (td_backdoor_compare_tensor(memory, golden, layout, b->policy, b->as, &report))
            return fail("compare");
        const double c = now_ns();
        if (td_backdoor_dump_tensor(memory, dumped, layout, b->as))
            return fail("dump");
        const double d = now_ns();
        if (memcmp(copy, td_tensor_data(golden), bytes) != 0)
            return 1;
        const double e = now_ns();
        if (!td_report_passed(report))
            fprintf(stderr, "%s\n", td_report_line(report));
        td_report_destroy(&report);
        const double took[3] = {c - a, d - c, e - d};
        for (int k = 0; k < 3; k++)
            best[k] = took[k] < best[k] ? took[k] : best[k];
    }
    printf("%-5s %-34s %-14s %-18s %8.2f %8.2f %8.2f\n", b->dtype, b->pattern, b->as, b->policy, best[0] * 1e-6,
           best[0] / best[2], best[0] / best[1]);
    free(copy);
    td_free(spans);
    td_tensor_destroy(&golden);
    td_tensor_destroy(&dumped);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    return 0;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 9;
    td_speed_threads(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    printf("%-5s %-34s %-14s %-18s %8s %8s %8s\n", "dtype", "pattern", "as", "policy", "ms", "/memcmp", "/dump");
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++)
        if (run(&benches[i], rounds))
            return 1;
    return 0;
}
