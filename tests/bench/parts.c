/* Packings beside memcpy, one thread, as ratios to the time of a memcpy of (bytes read + bytes written) / 2 in the same
 * run; 1 is as fast. `pack` is td_parts_pack and `back` td_parts_unpack, with the parts of the turn before destroyed:
 * their pages are there already, as the destination of the memcpy is. `tiles` is td_backdoor_load_parts, elements into
 * words of 16x16, scales by preset:scale_128x4. First the least processor times, and their ratio; in brackets the
 * median of the ratios of the turns.
 * Arguments: --quick sees that the rows run, once and small; else only rows whose packing has the first, and the number
 * of turns. --threads [TEXT] is another table: two threads beside one, in turns, 4096^2: how many times sooner the
 * busier thread is done, by processor time, since others on the machine take the second processor away now and then.
 * tests/bench/parts_numpy.py holds the same rules against NumPy. */
#include "tensordoor.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct row {
    const char *dtype, *fill, *packing;
    double goal, back; /* of the issue; 0: none */
    bool tiles;
} rows[] = {
    {"f32", "normal seed=1", "mxfp8 rule=floor", .7, .7, true},
    {"f32", "normal seed=1", "mxfp8 rule=rceil", .7, .7, true},
    {"f32", "normal seed=1", "mxfp4 rule=floor", .7, .7, true},
    {"f32", "normal seed=1", "mxfp4 rule=rceil", .7, .7, true},
    {"f32", "normal seed=1", "nvfp4", .5, .7, true},
    {"f32", "normal seed=1", "int4 block=32", .6, .7, false},
    {"f32", "normal seed=1", "int4", .6, .7, false},
    {"f32", "normal seed=1", "uint4", .6, .7, false},
    {"bf16", "sparse zeros=0.5 seed=1", "2:4 prune=magnitude", .4, 0, false},
    {"bf16", "pruned", "2:4", .4, 0, false},
    {"f32", "sparse zeros=0.5 seed=1", "mask", .3, 0, false},
    {"bf16", "sparse zeros=0.5 seed=1", "mask word=u8", .3, 0, false},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* without what others on the machine take */
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(td_status status)
{
    if (status) {
        fprintf(stderr, "%s\n", td_last_error());
        exit(1);
    }
}

static size_t bytes_of(const td_tensor *t)
{
    return (size_t)td_tensor_elems(t) * td_tensor_elem_bytes(t);
}

/* Random numbers take far longer than packing them: a part of them is made, and comes again and again. */
#define DRAWN ((size_t)1 << 18)

static void fill(td_tensor *t, const struct row *row)
{
    const size_t elems = (size_t)td_tensor_elems(t), bytes = td_tensor_elem_bytes(t);
    if (elems > DRAWN && elems % DRAWN == 0) {
        td_tensor *part = NULL;
        must(td_tensor_create(row->dtype, TD_SHAPE(DRAWN / 256, 256), &part));
        fill(part, row);
        for (size_t at = 0; at < elems; at += DRAWN)
            memcpy((char *)td_tensor_data(t) + at * bytes, td_tensor_data(part), DRAWN * bytes);
        td_tensor_destroy(&part);
        return;
    }
    if (strcmp(row->fill, "pruned") != 0) {
        must(td_tensor_fill(t, row->fill));
        return;
    }
    td_parts *parts = NULL; /* exactly as sparse as the packing says */
    td_tensor *kept = NULL;
    must(td_tensor_fill(t, "normal seed=1"));
    must(td_parts_pack(t, "2:4 prune=magnitude", &parts));
    must(td_parts_unpack(parts, NULL, &kept));
    memcpy(td_tensor_data(t), td_tensor_data(kept), bytes_of(t));
    td_tensor_destroy(&kept);
    td_parts_destroy(&parts);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times of turns, each with that of the memcpy beside it. */
typedef struct times {
    double least, least_copy, ratio[1000];
    int count;
} times;

static void add(times *t, double time, double copied)
{
    t->least = t->count && t->least < time ? t->least : time;
    t->least_copy = t->count && t->least_copy < copied ? t->least_copy : copied;
    t->ratio[t->count++] = copied / time;
}

static void print(const char *what, times *t, double goal)
{
    qsort(t->ratio, (size_t)t->count, sizeof t->ratio[0], by_size);
    printf("   %s %7.0f us %4.2f [%4.2f]", what, t->least / 1e3, t->least_copy / t->least, t->ratio[t->count / 2]);
    if (goal > 0)
        printf(" (goal %.1f)", goal);
}

/* The destination of tiles: memories for elements, scales and, of nvfp4, the
 * scale of the whole tensor. */
typedef struct tiles {
    td_memory *memory[3];
    td_parts_layout *layout;
} tiles;

static void open_tiles(tiles *t, const struct row *row, uint64_t side)
{
    td_parts *p = NULL;
    td_layout *l[3] = {NULL, NULL, NULL};
    td_tensor *part = NULL;
    const bool is_nvfp4 = strstr(row->packing, "nvfp4") != NULL;
    const unsigned bits = strstr(row->packing, "fp8") ? 8 : 4;
    must(td_parts_create(row->packing, TD_SHAPE(side, side), &p));
    must(td_parts_part(p, "scales", &part));
    must(td_memory_create("wbuf", 256 * bits, side * side / 256, &t->memory[0]));
    must(td_memory_create("sbuf", 128, td_tensor_elems(part) / 16, &t->memory[1]));
    must(td_memory_create("gbuf", 32, 1, &t->memory[2]));
    must(td_layout_create("(mt ms) (kt ks) -> (mt kt) (ms ks)", "ms=16 ks=16", NULL, &l[0]));
    must(td_layout_create("preset:scale_128x4", "", NULL, &l[1]));
    must(td_layout_create("-> 1 1", "", NULL, &l[2]));
    must(td_parts_layout_create(row->packing, &t->layout));
    must(td_parts_layout_add(t->layout, "elems", "wbuf", l[0]));
    must(td_parts_layout_add(t->layout, "scales", "sbuf", l[1]));
    if (is_nvfp4)
        must(td_parts_layout_add(t->layout, "global", "gbuf", l[2]));
    for (int i = 0; i < 3; i++)
        td_layout_destroy(&l[i]);
    td_parts_destroy(&p);
}

static void close_tiles(tiles *t)
{
    for (int i = 0; i < 3; i++)
        td_memory_destroy(&t->memory[i]);
    td_parts_layout_destroy(&t->layout);
}

/* What a turn reads and writes half of, to be copied beside it. */
typedef struct copy {
    unsigned char *a, *b;
    size_t bytes;
} copy;

static copy make_copy(size_t bytes)
{
    copy c = {malloc(bytes), malloc(bytes), bytes};
    if (!c.a || !c.b)
        exit(1);
    memset(c.a, 1, bytes);
    memset(c.b, 1, bytes);
    return c;
}

static double time_copy(const copy *c)
{
    const double begin = now();
    memcpy(c->b, c->a, c->bytes);
    __asm__ volatile("" ::"r"(c->b) : "memory");
    return now() - begin;
}

static void free_copy(copy *c)
{
    free(c->a);
    free(c->b);
}

static void measure_tiles(const struct row *row, uint64_t side, const td_tensor *t, int turns)
{
    static times load;
    tiles dst = {0};
    size_t written = 0;
    load.count = 0;
    open_tiles(&dst, row, side);
    for (int i = 0; i < 2; i++)
        written += (size_t)td_memory_depth_words(dst.memory[i]) * td_memory_word_bytes(dst.memory[i]);
    copy c = make_copy((bytes_of(t) + written) / 2);
    for (int r = -1; r < turns; r++) {
        const double begin = now();
        must(td_backdoor_load_parts(dst.memory, 3, t, dst.layout));
        const double time = now() - begin, copied = time_copy(&c);
        if (r >= 0)
            add(&load, time, copied);
    }
    print("tiles", &load, row->goal);
    free_copy(&c);
    close_tiles(&dst);
}

static void measure(const struct row *row, uint64_t side, int turns)
{
    static times pack, unpack;
    td_tensor *t = NULL;
    copy c = {NULL, NULL, 0};
    pack.count = unpack.count = 0;
    must(td_tensor_create(row->dtype, TD_SHAPE(side, side), &t));
    fill(t, row);
    for (int r = -2; r < turns; r++) {
        td_parts *parts = NULL;
        td_tensor *back = NULL;
        const double t0 = now();
        must(td_parts_pack(t, row->packing, &parts));
        const double t1 = now();
        must(td_parts_unpack(parts, NULL, &back));
        const double t2 = now();
        if (!c.a) {
            size_t written = 0;
            for (size_t i = 0; i < td_parts_count(parts); i++) {
                td_tensor *part = NULL;
                must(td_parts_part(parts, td_parts_name(parts, i), &part));
                written += bytes_of(part);
            }
            c = make_copy((bytes_of(t) + written) / 2);
        }
        td_tensor_destroy(&back);
        td_parts_destroy(&parts);
        const double copied = time_copy(&c);
        if (r < 0)
            continue;
        add(&pack, t1 - t0, copied);
        add(&unpack, t2 - t1, copied);
    }
    printf("%-4s %4u^2  %-19s", row->dtype, (unsigned)side, row->packing);
    print("pack", &pack, row->goal);
    print("back", &unpack, row->back);
    if (row->tiles)
        measure_tiles(row, side, t, turns);
    printf("   memcpy %.1f GB/s\n", (double)c.bytes / pack.least_copy);
    fflush(stdout);
    free_copy(&c);
    td_tensor_destroy(&t);
}

/* -- two threads beside one -- */

/* Processor time so far: of this thread, and of the others. */
typedef struct clocks {
    double own, others;
} clocks;

static clocks clocks_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    const double own = now(), all = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
    return (clocks){own, all - own};
}

/* Of the thread that had more to do since then. */
static double busier(clocks since)
{
    const clocks c = clocks_now();
    const double own = c.own - since.own, others = c.others - since.others;
    return own > others ? own : others;
}

static void measure_threads(const struct row *row, uint64_t side, int turns)
{
    static times pack, back, load;
    td_tensor *t = NULL;
    tiles dst = {0};
    pack.count = back.count = load.count = 0;
    must(td_tensor_create(row->dtype, TD_SHAPE(side, side), &t));
    fill(t, row);
    if (row->tiles)
        open_tiles(&dst, row, side);
    for (int r = -1; r < turns; r++) {
        double time[3][2] = {{0}};
        for (unsigned threads = 1; threads <= 2; threads++) {
            td_parts *parts = NULL;
            td_tensor *dense = NULL;
            td_speed_threads(threads);
            const clocks t0 = clocks_now();
            must(td_parts_pack(t, row->packing, &parts));
            time[0][threads - 1] = busier(t0);
            const clocks t1 = clocks_now();
            must(td_parts_unpack(parts, NULL, &dense));
            time[1][threads - 1] = busier(t1);
            td_tensor_destroy(&dense);
            td_parts_destroy(&parts);
            const clocks t2 = clocks_now();
            if (row->tiles)
                must(td_backdoor_load_parts(dst.memory, 3, t, dst.layout));
            time[2][threads - 1] = busier(t2);
        }
        if (r < 0)
            continue;
        add(&pack, time[0][1], time[0][0]);
        add(&back, time[1][1], time[1][0]);
        add(&load, time[2][1], time[2][0]);
    }
    printf("%-4s %4u^2  %-19s", row->dtype, (unsigned)side, row->packing);
    print("pack", &pack, 0);
    print("back", &back, 0);
    if (row->tiles)
        print("tiles", &load, 0);
    printf("\n");
    fflush(stdout);
    close_tiles(&dst);
    td_tensor_destroy(&t);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--threads") == 0) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (argc < 3 || strstr(rows[i].packing, argv[2]))
                measure_threads(&rows[i], 4096, 9);
        return 0;
    }
    const bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const int asked = argc > 2 ? atoi(argv[2]) : 15, turns = quick || asked < 1 ? 1 : asked < 100 ? asked : 100;
    td_speed_threads(1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint64_t side = quick ? 128 : 1024; side <= (quick ? 128 : 4096); side *= 4)
            if (quick || argc < 2 || strstr(rows[i].packing, argv[1]))
                measure(&rows[i], side, side == 1024 ? 10 * turns : turns);
    return 0;
}
