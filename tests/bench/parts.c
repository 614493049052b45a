/* Packings beside memcpy: the time of td_parts_pack and td_parts_unpack, one thread, as a ratio to the time of a memcpy
 * of (bytes read + bytes written) / 2 in the same run; 1 is as fast. The pages of the parts are new in every turn, as
 * they are for who calls it.
 * Arguments: only rows whose packing has the first; the second is the number of rounds. */
#include "tensordoor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct row {
    const char *dtype, *fill, *packing;
    double goal, back; /* of the issue; 0: none */
} rows[] = {
    {"f32", "normal seed=1", "mxfp8 rule=floor", .7, .7},
    {"f32", "normal seed=1", "mxfp8 rule=rceil", .7, .7},
    {"f32", "normal seed=1", "mxfp4 rule=floor", .7, .7},
    {"f32", "normal seed=1", "mxfp4 rule=rceil", .7, .7},
    {"f32", "normal seed=1", "nvfp4", .5, .7},
    {"f32", "normal seed=1", "int4 block=32", .6, .7},
    {"f32", "normal seed=1", "int4", .6, .7},
    {"f32", "normal seed=1", "uint4", .6, .7},
    {"bf16", "sparse zeros=0.5 seed=1", "2:4 prune=magnitude", .4, 0},
    {"bf16", "pruned", "2:4", .4, 0},
    {"f32", "sparse zeros=0.5 seed=1", "mask", .3, 0},
    {"bf16", "sparse zeros=0.5 seed=1", "mask word=u8", .3, 0},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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

static void fill(td_tensor *t, const struct row *row)
{
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

static void measure(const struct row *row, uint64_t side, int rounds)
{
    td_tensor *t = NULL;
    must(td_tensor_create(row->dtype, TD_SHAPE(side, side), &t));
    fill(t, row);
    size_t written = 0;
    double pack = 1e18, unpack = 1e18, copy = 1e18;
    unsigned char *a = NULL, *b = NULL;
    size_t half = 0;
    for (int r = -1; r < rounds; r++) {
        td_parts *parts = NULL;
        td_tensor *back = NULL;
        const double t0 = now();
        must(td_parts_pack(t, row->packing, &parts));
        const double t1 = now();
        must(td_parts_unpack(parts, NULL, &back));
        const double t2 = now();
        if (!a) {
            for (size_t i = 0; i < td_parts_count(parts); i++) {
                td_tensor *part = NULL;
                must(td_parts_part(parts, td_parts_name(parts, i), &part));
                written += bytes_of(part);
            }
            half = (bytes_of(t) + written) / 2;
            a = malloc(half);
            b = malloc(half);
            memset(a, 1, half);
            memset(b, 1, half);
        }
        td_parts_destroy(&parts);
        td_tensor_destroy(&back);
        const double t3 = now();
        memcpy(b, a, half);
        __asm__ volatile("" ::"r"(b) : "memory");
        const double t4 = now();
        if (r < 0)
            continue;
        pack = t1 - t0 < pack ? t1 - t0 : pack;
        unpack = t2 - t1 < unpack ? t2 - t1 : unpack;
        copy = t4 - t3 < copy ? t4 - t3 : copy;
    }
    printf("%-5s %4u^2  %-22s pack %8.0f us %5.2f", row->dtype, (unsigned)side, row->packing, pack / 1e3, copy / pack);
    if (row->goal > 0)
        printf(" (goal %.1f)", row->goal);
    printf("   back %8.0f us %5.2f", unpack / 1e3, copy / unpack);
    if (row->back > 0)
        printf(" (goal %.1f)", row->back);
    printf("   memcpy %.1f GB/s\n", (double)half / copy);
    free(a);
    free(b);
    td_tensor_destroy(&t);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 2 ? atoi(argv[2]) : 7;
    td_speed_threads(1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint64_t side = 1024; side <= 4096; side *= 4)
            if (argc < 2 || strstr(rows[i].packing, argv[1]))
                measure(&rows[i], side, side == 1024 ? 3 * rounds : rounds);
    return 0;
}
