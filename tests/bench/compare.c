/* What a comparison costs, as ratios taken in one run: to the dump through the same layout, to memcmp of the tensor's
 * bytes, and to reading every line of both sides once, which nothing that compares them can do without. From the
 * smallest call to what no cache holds. Medians of turns that are taken one after the other; memcmp and the reading are
 * on one thread.
 *
 *     compare-bench [THREADS [TURNS [TEXT]]]      one thread, 31 turns, all; or those with TEXT in their line
 */
#include "tensordoor.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_TURNS 1001

typedef struct bench {
    const char *dtype, *shape, *pattern, *options;
    uint64_t width;
    const char *as, *policy;
} bench;

static const bench benches[] = {
    {"f32", "3 64", "r c -> r c", "", 2048, "", ""},
    {"f32", "3 64", "r c -> c r", "", 96, "", ""},
    {"f32", "3 64", "r c -> r c", "", 2048, "", "atol=1e-3"},
    {"f32", "3 64", "r c -> r c", "", 512, "i8 scale=0.05", "atol=0.03"},

    {"f32", "256 256", "r c -> r c", "", 8192, "", ""},
    {"f32", "256 256", "r c -> c r", "", 8192, "", ""},
    {"u8", "512 512", "r c -> c r", "", 4096, "", ""},
    {"i16", "1 56 56 64", "b h w (ct cs) -> (b ct h w) cs", "cs=16", 256, "", ""},
    {"i4", "512 512", "r (ct cs) -> (ct r) cs", "cs=16", 64, "", ""},
    {"f32", "256 256", "r c -> r c", "", 8192, "", "atol=1e-3"},
    {"f32", "256 256", "r c -> c r", "", 8192, "", "ulp=1"},
    {"f16", "1 56 56 64", "b h w (ct cs) -> (b ct h w) cs", "cs=16", 256, "", "ulp=1"},
    {"f32", "256 256", "r (ct cs) -> (r ct) cs", "cs=16", 128, "i8 scale=0.05", "atol=0.03"},
    {"f32", "256 256", "r c -> c r", "", 2048, "i8 scale=0.05", "atol=0.03"},

    {"f32", "4096 2048", "r c -> r c", "", 65536, "", ""},
    {"f32", "1024 1024", "r c -> c r", "", 32768, "", ""},
    {"f32", "4096 2048", "r c -> c r", "", 131072, "", ""},
    {"f32", "2000 1999", "r c -> c r", "", 64000, "", ""},
    {"u8", "4096 4096", "r c -> c r", "", 32768, "", ""},
    {"f32", "8 256 56 56", "n c h w -> (n h w) c", "", 8192, "", ""},
    {"i8", "8 256 56 56", "n (ct cs) h w -> (n ct h w) cs", "cs=16", 128, "", ""},
    {"i16", "64 56 56 64", "b h w (ct cs) -> (b ct h w) cs", "cs=16", 256, "", ""},
    {"i8", "2048 2048", "(rt rs) (ct cs) -> (rt ct) (rs cs)", "rs=16 cs=16", 2048, "", ""},
    {"i4", "4096 4096", "r (ct cs) -> (ct r) cs", "cs=16", 64, "", ""},
    {"f32", "4096 1024", "r (ct cs) -> (r ct) cs", "cs=16", 128, "i8 scale=0.05", "atol=0.03"},
    {"f32", "2048 2048", "r c -> c r", "", 16384, "i8 scale=0.05", "atol=0.03"},
    {"f32", "4096 1024", "r (ct cs) -> (r ct) cs", "cs=16", 256, "bf16", "rtol=0.01"},
    {"f16", "4096 1024", "r (ct cs) -> (r ct) cs", "cs=16", 128, "e4m3", "rtol=0.1 atol=0.1"},
    {"f32", "4096 2048", "r c -> r c", "", 65536, "", "atol=1e-3"},
    {"f32", "4096 2048", "r c -> r c", "", 65536, "", "atol=1e-3 rtol=1e-3 ulp=2"},
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

/* -- what there is to compare -------------------------------------------------------------------------------------- */

typedef struct sides {
    td_tensor *golden, *dumped;
    td_memory *memory;
    td_layout *layout;
    unsigned char *copy;
    size_t bytes, stored_bytes;
} sides;

/* Where a policy has a tolerance and nothing is converted, the golden tensor differs in the lowest bit of every
 * element. */
static void stir(td_tensor *golden)
{
    unsigned char *data = td_tensor_data(golden);
    const size_t bytes = td_tensor_elem_bytes(golden);
    for (uint64_t i = 0; i < td_tensor_elems(golden); i++)
        data[i * bytes] ^= 1;
}

static int prepare(const bench *b, sides *s)
{
    td_shape shape;
    td_span *spans = NULL;
    size_t count = 0;
    if (td_shape_parse(b->shape, &shape) || td_tensor_create(b->dtype, shape, &s->golden) ||
        td_tensor_create(b->dtype, shape, &s->dumped) ||
        td_tensor_fill_ramp(s->golden, -3, strchr(b->dtype, 'f') ? 1e-6 : 1) ||
        td_layout_create(b->pattern, b->options, NULL, &s->layout) ||
        td_layout_spans(s->layout, s->golden, b->as, b->width, NULL, &spans, &count) ||
        td_memory_create("bench", b->width, spans[count - 1].first + spans[count - 1].count, &s->memory) ||
        td_backdoor_load_tensor(s->memory, s->golden, s->layout, b->as) ||
        td_backdoor_dump_tensor(s->memory, s->dumped, s->layout, b->as)) {
        fprintf(stderr, "%s: %s\n", b->pattern, td_last_error());
        return 1;
    }
    s->stored_bytes = (size_t)((spans[count - 1].first + spans[count - 1].count) * ((b->width + 7) / 8));
    td_free(spans);
    s->bytes = (size_t)td_tensor_elems(s->golden) * td_tensor_elem_bytes(s->golden);
    s->copy = malloc(s->bytes);
    if (!s->copy)
        return 1;
    if (*b->policy && !*b->as)
        stir(s->golden);
    memcpy(s->copy, td_tensor_data(s->golden), s->bytes);
    return 0;
}

static void clean(sides *s)
{
    free(s->copy);
    td_tensor_destroy(&s->golden);
    td_tensor_destroy(&s->dumped);
    td_layout_destroy(&s->layout);
    td_memory_destroy(&s->memory);
}

/* -- what is timed ------------------------------------------------------------------------------------------------- */

typedef uint64_t line __attribute__((vector_size(64), aligned(1)));

#if defined(__x86_64__)
__attribute__((target_clones("default", "avx2", "avx512f")))
#endif
static uint64_t
read_all(const unsigned char *data, size_t bytes)
{
    line a = {0}, b = {0};
    for (size_t i = 0; i + 128 <= bytes; i += 128) {
        a |= *(const line *)(const void *)(data + i);
        b |= *(const line *)(const void *)(data + i + 64);
    }
    return a[0] | b[7];
}

static volatile uint64_t seen;

static bool compare(const bench *b, sides *s)
{
    td_report *report = NULL;
    if (td_backdoor_compare_tensor(s->memory, s->golden, s->layout, b->policy, b->as, &report))
        return false;
    const bool passed = td_report_passed(report);
    td_report_destroy(&report);
    return passed;
}

static bool dump(const bench *b, sides *s)
{
    return !td_backdoor_dump_tensor(s->memory, s->dumped, s->layout, b->as);
}

static bool compare_bytes(const bench *b, sides *s)
{
    (void)b;
    return memcmp(s->copy, td_tensor_data(s->golden), s->bytes) == 0;
}

static bool read_sides(const bench *b, sides *s)
{
    (void)b;
    seen = read_all(td_tensor_data(s->golden), s->bytes) | read_all(td_memory_data(s->memory), s->stored_bytes);
    return true;
}

static bool (*const works[])(const bench *b, sides *s) = {compare, dump, compare_bytes, read_sides};
#define WORKS (sizeof works / sizeof works[0])

/* What the caches hold is timed several times in a row, so that each work finds what it left there. */
#define TOGETHER_BYTES ((size_t)2 << 20)

static double time_once(const bench *b, sides *s, size_t work, int calls, bool *good)
{
    const double begin = now_ns();
    for (int i = 0; i < calls; i++)
        *good = works[work](b, s) && *good;
    return (now_ns() - begin) / calls;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int run(const bench *b, int turns, const char *wanted)
{
    static double took[WORKS][MAX_TURNS];
    char text[160];
    sides s = {0};
    bool good = true;
    snprintf(text, sizeof text, "%-4s %-12s %-34s %-14s %-18s", b->dtype, b->shape, b->pattern, b->as, b->policy);
    if (!strstr(text, wanted))
        return 0;
    if (prepare(b, &s))
        return 1;
    const int calls = 1 + (int)(TOGETHER_BYTES / s.bytes);
    for (int i = -1; i < turns; i++)
        for (size_t w = 0; w < WORKS; w++)
            took[w][i < 0 ? 0 : i] = time_once(b, &s, w, calls, &good);
    for (size_t w = 0; w < WORKS; w++)
        qsort(took[w], (size_t)turns, sizeof took[w][0], ascending);
    const double ours = took[0][turns / 2];
    printf("%s %9.2f %6.2f %8.2f %6.2f\n", text, ours * 1e-3, ours / took[1][turns / 2], ours / took[2][turns / 2],
           ours / took[3][turns / 2]);
    clean(&s);
    if (!good)
        fprintf(stderr, "a call failed, or found a mismatch: %s\n", td_last_error());
    return !good;
}

/* What every element that differs costs beside: all of a megabyte of them. */
static int run_wrong(int turns)
{
    static const bench b = {"f32", "512 512", "r c -> c r", "", 16384, "", ""};
    static double took[MAX_TURNS];
    sides s = {0};
    if (prepare(&b, &s))
        return 1;
    stir(s.golden);
    for (int i = 0; i < turns; i++) {
        const double begin = now_ns();
        if (compare(&b, &s))
            return 1;
        took[i] = now_ns() - begin;
    }
    qsort(took, (size_t)turns, sizeof took[0], ascending);
    printf("an element that differs: %.0f ns\n", took[turns / 2] / (double)td_tensor_elems(s.golden));
    clean(&s);
    return 0;
}

int main(int argc, char **argv)
{
    td_speed_threads(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    const int wish = argc > 2 ? atoi(argv[2]) : 31, turns = wish < 1 ? 1 : wish > MAX_TURNS ? MAX_TURNS : wish;
    printf("%-4s %-12s %-34s %-14s %-18s %9s %6s %8s %6s\n", "", "", "pattern", "as", "policy", "us", "/dump",
           "/memcmp", "/reads");
    for (size_t i = 0; i < sizeof benches / sizeof benches[0]; i++)
        if (run(&benches[i], turns, argc > 3 ? argv[3] : ""))
            return 1;
    return argc > 3 ? 0 : run_wrong(turns);
}
