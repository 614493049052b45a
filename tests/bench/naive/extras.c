/* The figures that are no ratio to memcpy: small calls with padding beside those without, and plans: affine ones by
 * their time, tables by words a second and by the bytes that the process grew by while they were made. */
#include "naive.h"

#include "base/clock.h"
#include "memory/memory.h"
#include "plan/cache.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *verdict(bool good)
{
    return good ? "met" : "missed";
}

/* -- small calls -- */

typedef struct small_row {
    const char *name;
    subject_text padded, whole;
} small_row;

#define TILES "r (ct cs) -> (r ct) cs"
static const small_row small_rows[] = {
    {"small i8 16x6 beside 16x4",
     {"i8", "16 6", TILES, "cs=4 pad=0", .width_bits = 32},
     {"i8", "16 4", TILES, "cs=4 pad=0", .width_bits = 32}},
    {"small f32 16x6 beside 16x4",
     {"f32", "16 6", TILES, "cs=4 pad=0", .width_bits = 128},
     {"f32", "16 4", TILES, "cs=4 pad=0", .width_bits = 128}},
    {"small i4 16x6 beside 16x4",
     {"i4", "16 6", TILES, "cs=4 pad=0", .width_bits = 16},
     {"i4", "16 4", TILES, "cs=4 pad=0", .width_bits = 16}},
    {"small i8 3x5x7 into 16 beside 3x5x16",
     {"i8", "3 5 7", "h w (ct cs) -> (h w ct) cs", "cs=16 pad=0", .width_bits = 128},
     {"i8", "3 5 16", "h w (ct cs) -> (h w ct) cs", "cs=16 pad=0", .width_bits = 128}},
};

int naive_small_calls(const char *filter, bool quick)
{
    int code = 0;
    for (size_t i = 0; i < sizeof small_rows / sizeof small_rows[0]; i++) {
        const small_row *row = &small_rows[i];
        subject padded, whole;
        if (filter && !strstr(row->name, filter))
            continue;
        if (!subject_open(&row->padded, &padded) || !subject_open(&row->whole, &whole)) {
            printf("%s: %s\n", row->name, td_last_error());
            code = 1;
        } else {
            runner pairs[2][2] = {{{subject_load, &padded, 0, 0}, {subject_load, &whole, 0, 0}},
                                  {{subject_dump, &padded, 0, 0}, {subject_dump, &whole, 0, 0}}};
            subject_load(&padded);
            subject_load(&whole);
            for (int d = 0; d < 2; d++) {
                const double ratio = measure_ratio(pairs[d], quick ? 1 : 101, quick ? 0 : 1e5);
                printf("%-40s %s %9.1f ns %9.1f ns %8.2f x   most 2.00 %s\n", row->name, d ? "dump" : "load",
                       pairs[d][0].ns, pairs[d][1].ns, ratio, verdict(ratio <= 2));
            }
            code |= padded.failed || whole.failed;
        }
        subject_close(&padded);
        subject_close(&whole);
    }
    return code;
}

/* -- plans -- */

typedef struct plan_row {
    const char *name, *pattern, *options, *address, *dtype;
    td_shape shape;
    uint64_t width_bits;
    bool table;
} plan_row;

static const plan_row plan_rows[] = {
    {"plan affine rows", "c h w -> (c h) w", "", "", "i8", {3, {3, 64, 64}}, 512, false},
    {"plan affine tiles",
     "(o1 o0) (i1 i0) h w -> (o1 i1 h w) (o0 i0)",
     "o0=16 i0=16 pad=0",
     "",
     "i8",
     {4, {250, 250, 3, 3}},
     2048,
     false},
    {"plan nvdla_weight, 4 M elements", "preset:nvdla_weight", "", "", "i8", {4, {512, 512, 4, 4}}, 8, true},
    {"plan nvdla_weight, ragged", "preset:nvdla_weight", "", "", "i8", {4, {500, 900, 3, 3}}, 8, true},
    {"plan XOR of 4 M words", "w l -> w l", "", "w ^ (w >> 4 & 7)", "i8", {2, {1 << 22, 4}}, 32, true},
    {"plan XOR of 4 M bytes", "w l -> w l", "", "w ^ (w >> 4 & 7)", "u8", {2, {1 << 22, 1}}, 8, true},
    {"plan bank = index % 8",
     "w l -> w l",
     "",
     "bank = index % 8; addr = index / 8",
     "i8",
     {2, {1 << 22, 4}},
     32,
     true},
    {"plan scattered, 4 M words", "w l -> w l", "", "w*(w + 1)/2 % 4194304", "i8", {2, {1 << 22, 4}}, 32, true},
    {"plan fft_bitrev of 2^20", "preset:fft_bitrev bits=20", "", "", "f32", {1, {1 << 20}}, 32, true},
    {"plan morton 2048^2", "preset:morton", "", "", "u8", {2, {2048, 2048}}, 8, true},
};

/* What Linux says of this process, in bytes. */
static double proc_status(const char *key)
{
    char line[256];
    double kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            kib = strtod(line + strlen(key) + 1, NULL);
    if (file)
        fclose(file);
    return kib * 1024;
}

static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
}

static uint64_t word_count(const plan_row *row)
{
    uint64_t words = 1;
    for (size_t i = 0; i < row->shape.rank; i++)
        words *= row->shape.dim[i];
    if (strcmp(row->pattern, "w l -> w l") == 0)
        words /= row->shape.dim[1];
    return words;
}

static int time_plan(const plan_row *row, bool quick)
{
    td_layout *layout = NULL;
    td_plan *plan = NULL;
    if (td_layout_create(row->pattern, row->options, row->address, &layout)) {
        printf("%s: %s\n", row->name, td_last_error());
        return 1;
    }
    td_plan_request request = {.layout = layout,
                               .shape = &row->shape,
                               .geometry = {.width_bits = row->width_bits,
                                            .depth_words = (uint64_t)1 << 25,
                                            .banks = 8,
                                            .word_bytes = td_word_bytes(row->width_bits)}};
    int code = td_dtype_parse(row->dtype, &request.tensor_dtype) != TD_OK;
    request.memory_dtype = request.tensor_dtype;
    malloc_trim(0);
    reset_peak();
    const double before = proc_status("VmRSS:");
    code = code || td_plan_create(&request, &plan) != TD_OK;
    const double grown = proc_status("VmHWM:") - before;
    uint64_t best = UINT64_MAX;
    for (int i = 0; !code && i < (quick ? 1 : row->table ? 5 : 2000); i++) {
        td_plan_release(&plan);
        const uint64_t start = td_now_ns();
        code = td_plan_create(&request, &plan) != TD_OK;
        const uint64_t ns = td_now_ns() - start;
        best = ns < best ? ns : best;
    }
    td_plan_release(&plan);
    td_layout_destroy(&layout);
    if (code) {
        printf("%s: %s\n", row->name, td_last_error());
    } else if (!row->table) {
        printf("%-40s %9.2f us   most 20.00 %s\n", row->name, (double)best / 1e3, verdict(best < 20000));
    } else {
        const double words = (double)word_count(row), rate = words / (double)best * 1e3, each = grown / words;
        const double most = (double)td_word_bytes(row->width_bits) / 4;
        printf("%-40s %9.2f ms %8.1f M words/s  least 200 %s   %6.3f bytes a word at most, of %.2f %s\n", row->name,
               (double)best / 1e6, rate, verdict(rate >= 200), each, most, verdict(each <= most));
    }
    return code;
}

int naive_plans(const char *filter, bool quick)
{
    int code = 0;
    for (size_t i = 0; i < sizeof plan_rows / sizeof plan_rows[0]; i++)
        if (!filter || strstr(plan_rows[i].name, filter))
            code |= time_plan(&plan_rows[i], quick);
    return code;
}
