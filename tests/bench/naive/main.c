/* How far from the cliffs: every row of the two tables and its neighbours, timed in turns, with "met", "near"
 * (within 3 %) or "missed" beside its target. Where a row has a naive loop, both results are compared byte by byte
 * before a clock starts. It asserts no time: the exit code is 1 only for a wrong byte or a refused call.
 *
 *     naive [--quick] [--loops | --targets] [--threads N] [TEXT]      the rows with TEXT in their name; one thread
 *
 * With --quick the loops are only compared, and every other figure is one cold call: enough to see that all rows still
 * run. TD_CPU=c, avx2 or avx512 takes older instructions. */
#include "loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
    bool quick, loops, targets;
    const char *filter;
} options;

typedef struct naive_context {
    const naive_row *row;
    unsigned char **m; /* words of its own, one block per bank */
    const void *t;
    void *out;
} naive_context;

static void run_load(void *context)
{
    const naive_context *c = context;
    c->row->load(c->m, c->t);
    __asm__ volatile("" ::"r"(c->m) : "memory");
}

static void run_dump(void *context)
{
    const naive_context *c = context;
    c->row->dump(c->out, c->m);
    __asm__ volatile("" ::"r"(c->out) : "memory");
}

static const char *verdict(double value, double target, bool least)
{
    const double margin = least ? value / target : target / value;
    return margin >= 1 ? "met" : margin >= .97 ? "near" : "missed";
}

static int complain(const char *name, const char *what)
{
    printf("WRONG %s: %s (%s)\n", name, what, td_last_error());
    return 1;
}

/* -- against the loop -- */

static bool same_words(const subject *s, const naive_context *c)
{
    for (size_t b = 0; b < s->banks; b++)
        if (memcmp(td_memory_data(s->memory[b]), c->m[b], s->memory_bytes) != 0)
            return false;
    return true;
}

static int check_row(subject *s, naive_context *c)
{
    const char *name = c->row->name;
    subject_stir(s);
    for (size_t b = 0; b < s->banks; b++)
        memcpy(c->m[b], td_memory_data(s->memory[b]), s->memory_bytes);
    subject_load(s);
    run_load(c);
    if (s->failed)
        return complain(name, "the load was refused");
    if (!same_words(s, c))
        return complain(name, "the load and its loop differ");
    memset(c->out, 0x5a, s->tensor_bytes);
    subject_dump(s);
    run_dump(c);
    if (s->failed)
        return complain(name, "the dump was refused");
    if (memcmp(td_tensor_data(s->dumped), c->out, s->tensor_bytes) != 0)
        return complain(name, "the dump and its loop differ");
    return 0;
}

static int run_row(const options *o, const naive_row *row)
{
    subject s;
    naive_context c = {.row = row};
    int code = subject_open(&row->text, &s) ? 0 : complain(row->name, "cannot be made");
    if (!code) {
        c.m = calloc(s.banks, sizeof *c.m);
        c.t = td_tensor_data_const(s.tensor);
        c.out = aligned_alloc(64, (s.tensor_bytes + 127) / 64 * 64);
        for (size_t b = 0; c.m && b < s.banks; b++)
            c.m[b] = aligned_alloc(4096, (s.memory_bytes + 8191) / 4096 * 4096);
        code = check_row(&s, &c);
        if (!code && o->quick)
            printf("%-28s the same bytes\n", row->name);
    }
    for (int d = 0; !code && !o->quick && d < 2; d++) {
        runner pair[2] = {{d ? subject_dump : subject_load, &s, 0, 0}, {d ? run_dump : run_load, &c, 0, 0}};
        const double ratio = measure_ratio(pair, 21, 5e5);
        printf("%-28s %s %9.3f %9.3f %8.2f x %-6s  %.180s\n", row->name, d ? "dump" : "load", pair[0].ns / 1e6,
               pair[1].ns / 1e6, ratio, verdict(ratio, 1, false), (d ? s.plan_dump : s.plan_load) + 5);
        fflush(stdout);
    }
    for (size_t b = 0; c.m && b < s.banks; b++)
        free(c.m[b]);
    free(c.m);
    free(c.out);
    subject_close(&s);
    return code;
}

/* -- against memcpy, or per element -- */

static int run_target(const options *o, const target_row *row)
{
    subject s;
    int code = subject_open(&row->text, &s) ? 0 : complain(row->name, "cannot be made");
    if (!code) {
        subject_load(&s);
        if (!o->quick)
            subject_dump(&s);
        code = s.failed ? complain(row->name, "refused") : 0;
    }
    const double elems = code ? 1 : (double)td_tensor_elems(s.tensor);
    for (int d = 0; !code && d < 2; d++) {
        if (!(row->which & (d ? TARGET_DUMP : TARGET_LOAD)) || (o->quick && !d && row->which == TARGET_BOTH))
            continue;
        const double target = d ? row->dump : row->load;
        runner pair[2] = {{subject_memcpy, &s, 0, 0}, {d ? subject_dump : subject_load, &s, 0, 0}};
        const double ratio = measure_ratio(pair, o->quick ? 1 : 31, o->quick ? 0 : 3e5);
        if (row->ns)
            printf("%-48s %s %8.3f ns/el   most  %.2f %-6s  %.160s\n", row->name, d ? "dump" : "load",
                   pair[1].ns / elems, target, verdict(pair[1].ns / elems, target, false),
                   (d ? s.plan_dump : s.plan_load) + 5);
        else
            printf("%-34s %s %9.3f ms %9.3f ms %7.3f least %.2f %-6s  %.160s\n", row->name, d ? "dump" : "load",
                   pair[1].ns / 1e6, pair[0].ns / 1e6, ratio, target, verdict(ratio, target, true),
                   (d ? s.plan_dump : s.plan_load) + 5);
        fflush(stdout);
    }
    subject_close(&s);
    return code;
}

static td_status set_scales(const char *name, float *scale, uint64_t count, float first)
{
    td_tensor *tensor = NULL;
    td_status status = td_tensor_create("f32", (td_shape){1, {count}}, &tensor);
    for (uint64_t i = 0; i < count && !status; i++)
        scale[i] = first + (float)i / 16384;
    if (!status) {
        memcpy(td_tensor_data(tensor), scale, count * sizeof *scale);
        status = td_scales_set(name, tensor);
    }
    td_tensor_destroy(&tensor);
    return status;
}

static int run_all(const options *o)
{
    int code = 0;
    if (!o->targets) {
        printf("-- against the naive loop (%s): ours ms, loop ms, ours by loop; most 1.0\n", td_speed_isa());
        for (size_t i = 0; i < naive_row_count; i++)
            if (!o->filter || strstr(naive_rows[i].name, o->filter))
                code |= run_row(o, &naive_rows[i]);
    }
    if (!o->loops) {
        printf("-- against memcpy (%s): ours ms, memcpy ms, memcpy by ours\n", td_speed_isa());
        for (size_t i = 0; i < target_row_count; i++)
            if (!o->filter || strstr(target_rows[i].name, o->filter))
                code |= run_target(o, &target_rows[i]);
        for (size_t i = 0; i < mode_row_count; i++)
            if (!o->filter || strstr(mode_rows[i].name, o->filter))
                code |= run_target(o, &mode_rows[i]);
        code |= naive_small_calls(o->filter, o->quick);
        code |= naive_plans(o->filter, o->quick);
    }
    return code;
}

int main(int argc, char **argv)
{
    options o = {0};
    unsigned threads = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            o.quick = true;
        else if (strcmp(argv[i], "--loops") == 0)
            o.loops = true;
        else if (strcmp(argv[i], "--targets") == 0)
            o.targets = true;
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            threads = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (argv[i][0] != '-' && !o.filter)
            o.filter = argv[i];
        else
            return fprintf(stderr, "usage: naive [--quick] [--loops | --targets] [--threads N] [TEXT]\n"), 2;
    }
    td_speed_threads(threads);
    measure_by_wall(threads != 1);
    if (set_scales("naive_columns", naive_column_scale, NAIVE_COLUMNS, .05f) ||
        set_scales("naive_rows", naive_row_scale, NAIVE_ROWS, .07f))
        return complain("scales", "cannot be set");
    return run_all(&o);
}
