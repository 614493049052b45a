/* Presets over whole and ragged shapes, load and dump: the time of each as a ratio to a memcpy of the tensor's bytes in
 * the same run (the least of a few interleaved rounds), the slowest last. Beside them small padded calls in
 * nanoseconds. A program of its own: the search of random layouts is broader, this one takes seconds and names the
 * layout. Arguments: only cases whose line has the first; "plan" as the second prints the plan's line. */
#include "tensordoor.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct subject {
    const char *pattern, *options;
    const char *shapes[3]; /* the first is whole */
} subject;

static const subject subjects[] = {
    {"preset:row_major cs=16", "", {"512 8192", "1996 2050", NULL}},
    {"preset:nvdla_feature", "", {"19 64 55 57", "19 70 55 57", NULL}},
    {"preset:vta_activation", "", {"19 64 55 57", "19 70 55 57", NULL}},
    {"preset:vta_activation n0=4", "", {"20 64 55 57", "19 70 55 57", NULL}},
    {"preset:vta_weight", "", {"512 512 4 4", "510 500 3 5", NULL}},
    {"preset:nhcwb16", "", {"19 55 57 64", "19 55 57 70", "19 70 55 57"}},
    {"preset:nc1hwc0", "", {"19 64 55 57", "19 70 55 57", NULL}},
    {"preset:fractal_nz", "", {"2048 2048", "1996 1500", "2050 2049"}},
    {"preset:fractal_z", "", {"512 512 4 4", "510 500 3 5", NULL}},
    {"preset:nchw16c", "", {"19 64 55 57", "19 70 55 57", NULL}},
    {"preset:oihw4i16o4i", "", {"512 512 4 4", "510 500 3 5", NULL}},
    {"preset:vnni", "", {"2048 2048", "1997 1501", NULL}},
    {"preset:amx_b", "", {"2048 2048", "1997 1501", NULL}},
    {"preset:tpu", "", {"2048 2048", "1997 1501", NULL}},
    {"preset:tenstorrent", "", {"2048 2048", "1996 1500", NULL}},
    {"preset:hexagon", "", {"19 56 56 64", "19 55 57 70", "19 70 55 57"}},
    {"preset:scale_128x4", "", {"4096 1024", "4100 1001", "1330 3135"}},
    {"preset:sparse24_values", "", {"2048 2048", "2047 2047", NULL}},
    {"preset:sparse24_index", "", {"2048 2048", "2047 2047", NULL}},
    {"preset:int4_onnx", "", {"2048 2048", "2047 2047", NULL}},
    {"preset:int4_ggml", "", {"2048 2048", "2047 2047", NULL}},
    {"preset:bank_rows", "", {"4194304", "4194303", NULL}},
    {"h w (c1 c0) -> (h w c1) c0", "c0=16 pad=0", {"512 512 16", "512 512 3", "512 512 17"}},
    {"(c1 c0) h w -> (h w c1) c0", "c0=16 pad=0", {"16 512 512", "3 512 512", "17 512 512"}},
    {"(c1 c0) h w -> (h w c1) c0", "c0=4 pad=0", {"4 512 512", "3 512 512", "5 512 512"}},
    {"r (c k) -> (c r) k", "k=16 tail=clip", {"2048 2048", "2047 2041", NULL}},
    {"r (c k) -> (c r) k", "k=16 pad=7", {"2048 2048", "2047 2041", NULL}},
    {"r (c k) -> (r c) k", "k=16 pad=0 slot=10", {"2048 2048", "2047 2041", NULL}},
    {"r (c k) -> (r c) k", "k=16 pad=0 lsb=24", {"2048 2048", "2047 2041", NULL}},
    {"r c -> r c", "lsb=8 fill=keep", {"65536 16", "65536 19", NULL}},
    {"r c -> r c", "lsb=8", {"65536 16", "65536 19", NULL}},
    {"r c -> c r", "lsb=5", {"16 65536", "19 65536", NULL}},
};

static const char *const dtypes[] = {"i8", "i4", "i16", "f32"};

/* Of this thread, which does all the work, so that a busy machine does not count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(td_status status)
{
    if (status) {
        fprintf(stderr, "%s\n", td_last_error());
        exit(1);
    }
}

typedef struct result {
    double load, dump;
    char name[160];
    char *plan;
} result;

static int by_worst(const void *a, const void *b)
{
    const result *x = a, *y = b;
    const double p = x->load < x->dump ? x->load : x->dump, q = y->load < y->dump ? y->load : y->dump;
    return (p < q) - (p > q);
}

static double least(const double *v, int n)
{
    double best = v[0];
    for (int i = 1; i < n; i++)
        best = v[i] < best ? v[i] : best;
    return best;
}

/* The memory that the layout needs, from its explanation: "WIDTH bits" is found by asking with none. */
static uint64_t width_of(const td_layout *layout, const char *dtype, td_shape shape, char **text)
{
    td_scene scene = {.dtype = dtype, .shape = shape};
    if (td_layout_explain(layout, &scene, text))
        return 0;
    const char *at = strstr(*text, "words of ");
    return at ? strtoull(at + 9, NULL, 10) : 0;
}

enum { ROUNDS = 9, BANKS = 4 };

static bool measure(const subject *s, const char *shape_text, const char *dtype, result *out)
{
    td_shape shape;
    td_layout *layout = NULL;
    td_tensor *tensor = NULL, *back = NULL;
    td_memory *bank[BANKS] = {0};
    char *text = NULL;
    must(td_shape_parse(shape_text, &shape));
    must(td_layout_create(s->pattern, s->options, NULL, &layout));
    const uint64_t width = width_of(layout, dtype, shape, &text);
    bool done = false;
    if (!width)
        goto done;
    const bool banks = strstr(s->pattern, "bank") != NULL;
    must(td_tensor_create(dtype, shape, &tensor));
    must(td_tensor_create(dtype, shape, &back));
    must(td_tensor_fill(tensor, "random"));
    for (int i = 0; i < (banks ? BANKS : 1); i++)
        must(td_memory_create("m", width, (uint64_t)1 << 26, &bank[i]));
    const size_t n = banks ? BANKS : 1;
    const size_t bytes = td_tensor_elems(tensor) * td_tensor_elem_bytes(tensor);
    unsigned char *a = malloc(bytes), *b = malloc(bytes);
    memset(a, 1, bytes);
    memset(b, 1, bytes);
    double copy[ROUNDS], load[ROUNDS], dump[ROUNDS];
    int rounds = 0;
    const double begin = now();
    for (int r = -1; r < ROUNDS && (r < 2 || now() - begin < 4e8); r++) {
        const double t0 = now();
        memcpy(b, a, bytes);
        __asm__ volatile("" ::"r"(b) : "memory");
        const double t1 = now();
        must(td_backdoor_load_tensor_banks(bank, n, tensor, layout, NULL));
        const double t2 = now();
        must(td_backdoor_dump_tensor_banks(bank, n, back, layout, NULL));
        const double t3 = now();
        if (r >= 0) {
            copy[r] = t1 - t0;
            load[r] = t2 - t1;
            dump[r] = t3 - t2;
            rounds = r + 1;
        }
    }
    if (memcmp(td_tensor_data_const(back), td_tensor_data_const(tensor), bytes) != 0)
        printf("WRONG ");
    const double c = least(copy, rounds);
    out->load = c / least(load, rounds);
    out->dump = c / least(dump, rounds);
    snprintf(out->name, sizeof out->name, "%s %s (%s) %s", s->pattern, s->options, shape_text, dtype);
    const char *plan = strstr(text, "move ");
    out->plan = strdup(plan ? plan : "");
    free(a);
    free(b);
    done = true;
done:
    td_free(text);
    for (int i = 0; i < BANKS; i++)
        td_memory_destroy(&bank[i]);
    td_tensor_destroy(&tensor);
    td_tensor_destroy(&back);
    td_layout_destroy(&layout);
    return done;
}

static void small(const char *pattern, const char *options, const char *dtype, td_shape shape, uint64_t width)
{
    td_layout *layout = NULL;
    td_tensor *tensor = NULL;
    td_memory *memory = NULL;
    double ns_of[2] = {1e9, 1e9};
    must(td_layout_create(pattern, options, NULL, &layout));
    must(td_tensor_create(dtype, shape, &tensor));
    must(td_memory_create("m", width, 4096, &memory));
    for (int r = 0; r < 50; r++)
        for (int dump = 0; dump < 2; dump++) {
            const double t0 = now();
            for (int i = 0; i < 1000; i++)
                must(dump ? td_backdoor_dump_tensor(memory, tensor, layout, NULL)
                          : td_backdoor_load_tensor(memory, tensor, layout, NULL));
            const double ns = (now() - t0) / 1000;
            ns_of[dump] = ns < ns_of[dump] ? ns : ns_of[dump];
        }
    printf("small %-28s %-18s %-4s", pattern, options, dtype);
    for (size_t i = 0; i < shape.rank; i++)
        printf("%s%llu", i ? "x" : " ", (unsigned long long)shape.dim[i]);
    printf("  load %.0f ns, dump %.0f ns\n", ns_of[0], ns_of[1]);
    td_layout_destroy(&layout);
    td_tensor_destroy(&tensor);
    td_memory_destroy(&memory);
}

int main(int argc, char **argv)
{
    static result results[1024];
    size_t count = 0;
    const bool plan = argc > 2;
    td_speed_threads(1);
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
            for (size_t k = 0; k < 3 && subjects[i].shapes[k]; k++) {
                char name[160];
                snprintf(name, sizeof name, "%s %s (%s) %s", subjects[i].pattern, subjects[i].options,
                         subjects[i].shapes[k], dtypes[d]);
                if (argc > 1 && !strstr(name, argv[1]))
                    continue;
                count += measure(&subjects[i], subjects[i].shapes[k], dtypes[d], &results[count]);
            }
    qsort(results, count, sizeof *results, by_worst);
    for (size_t i = 0; i < count; i++) {
        printf("load %.3f dump %.3f  %s\n", results[i].load, results[i].dump, results[i].name);
        if (plan)
            printf("    %s\n", results[i].plan);
        free(results[i].plan);
    }
    if (argc > 1)
        return 0;
    static const char *const small_dtypes[] = {"i8", "i4", "i16", "f32"};
    for (size_t d = 0; d < 4; d++)
        for (uint64_t c = 4; c < 9; c += 2)
            small("r (c k) -> (r c) k", "k=4 pad=0", small_dtypes[d], TD_SHAPE(16, c), 128);
    for (size_t d = 0; d < 4; d++)
        for (uint64_t c = 4; c < 9; c += 2)
            small("r (c k) -> (r c) k", "k=4 pad=0", small_dtypes[d], TD_SHAPE(16, c),
                  d == 0   ? 32
                  : d == 1 ? 16
                  : d == 2 ? 64
                           : 128);
    return 0;
}
