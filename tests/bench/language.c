/* What the layout language costs before a word is moved: creating a layout, compiling its plan, checking it, and
 * finding the plan again. A program of its own: it looks at rooms that the public header hides. Prints the fastest of
 * many rounds. */
#include "memory/memory.h"
#include "plan/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct subject {
    const char *name, *pattern, *options, *address, *dtype;
    td_shape shape;
    uint64_t width_bits;
    int rounds;
} subject;

static const subject subjects[] = {
    {"3x64x64, rows", "c h w -> (c h) w", "", "", "i8", {3, {3, 64, 64}}, 512, 20000},
    {"3x64x64, channels last",
     "c h (wt ws) -> (h wt) (ws c)",
     "ws=8",
     "0x100 + 8*h + wt",
     "i8",
     {3, {3, 64, 64}},
     192,
     20000},
    {"8-axis tiling",
     "(o2 o1 o0) (i2 i1 i0) h w -> (o2 i2 h w o1 i1) (o0 i0)",
     "o1=2 o0=8 i1=2 i0=8",
     "64*o2 + 16*i2 + 4*h + w + 4096*o1 + 8192*i1",
     "i8",
     {4, {64, 64, 3, 3}},
     512,
     20000},
    {"8-axis tiling, padded",
     "(o2 o1 o0) (i2 i1 i0) h w -> (o2 i2 h w o1 i1) (o0 i0)",
     "o1=2 o0=8 i1=2 i0=8 pad=0",
     "",
     "i8",
     {4, {60, 61, 3, 3}},
     512,
     20000},
    {"2^30 elements, affine",
     "b h w (ct cs) -> (b h w ct) cs",
     "cs=64",
     "0x40 + 524288*b + 2048*h + 4*w + ct",
     "i8",
     {4, {32, 256, 512, 256}},
     512,
     2000},
    {"2^24 words, XOR",
     "n (ct cs) -> (n ct) cs",
     "cs=16",
     "index ^ (index & 448) >> 3",
     "i8",
     {2, {1 << 16, 1 << 12}},
     128,
     3},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(td_status status)
{
    if (status) {
        fprintf(stderr, "%s\n", td_last_error());
        exit(1);
    }
}

/* The fastest of the rounds, in seconds. */
static double best(double seconds, double least)
{
    return seconds < least ? seconds : least;
}

static void measure(const subject *s)
{
    double create = 1e9, compile = 1e9, hit = 1e9;
    td_layout *layout = NULL;
    td_plan *plan = NULL;
    for (int i = 0; i < s->rounds; i++) {
        td_layout_destroy(&layout);
        const double start = now();
        must(td_layout_create(s->pattern, s->options, s->address, &layout));
        create = best(now() - start, create);
    }
    td_plan_request request = {.layout = layout,
                               .shape = &s->shape,
                               .geometry = {.width_bits = s->width_bits,
                                            .depth_words = (uint64_t)1 << 25,
                                            .banks = 1,
                                            .word_bytes = td_word_bytes(s->width_bits)}};
    must(td_dtype_parse(s->dtype, &request.tensor_dtype));
    request.memory_dtype = request.tensor_dtype;
    for (int i = 0; i < s->rounds; i++) {
        const double start = now();
        must(td_plan_create(&request, &plan));
        compile = best(now() - start, compile);
        td_plan_release(&plan);
    }
    must(td_cache_plan(&request, &plan));
    td_plan_release(&plan);
    enum { HITS = 1000 };
    for (int i = 0; i < 200; i++) {
        const double start = now();
        for (int k = 0; k < HITS; k++) {
            must(td_cache_plan(&request, &plan));
            td_plan_release(&plan);
        }
        hit = best((now() - start) / HITS, hit);
    }
    printf("%-26s create %8.2f us   compile and check %12.2f us   cache hit %6.0f ns\n", s->name, create * 1e6,
           compile * 1e6, hit * 1e9);
    td_layout_destroy(&layout);
}

int main(void)
{
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        measure(&subjects[i]);
    td_cache_clear();
    return 0;
}
