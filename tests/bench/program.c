/* Programs beside the same calls one by one, each in one run, as ratios: 60 small tensors, a chain of four elementwise
 * steps into a tiled load, 16 loops of one load, eight transposes that need nothing of each other, the time to compile
 * 60 steps, and what a step of a compiled program costs beside its move. Processor time of this thread alone would hide
 * the pool, so the clock is the wall's; the median of many counts.
 *
 *     program-bench [--quick | --apart] */
#include "program/program.h"
#include "exec/exec.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 401 };

static bool quick;

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void need(td_status status)
{
    if (status) {
        fprintf(stderr, "%s\n", td_last_error());
        exit(1);
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Two ways in turn, so that both see the same machine; the medians of each, and the fastest beside. */
static double fastest[2];

static void time_both(int runs, void (*one)(void *), void (*two)(void *), void *context, double *a, double *b)
{
    static double first[MOST_RUNS], second[MOST_RUNS];
    runs = quick ? 3 : runs;
    for (int i = -1; i < runs; i++) {
        const double t0 = now_ns();
        one(context);
        const double t1 = now_ns();
        two(context);
        const double t2 = now_ns();
        if (i >= 0) {
            first[i] = t1 - t0;
            second[i] = t2 - t1;
        }
    }
    qsort(first, (size_t)runs, sizeof *first, by_value);
    qsort(second, (size_t)runs, sizeof *second, by_value);
    fastest[0] = first[0];
    fastest[1] = second[0];
    *a = first[runs / 2];
    *b = second[runs / 2];
}

/* -- 60 small tensors ---------------------------------------------------------------------------------------------- */

enum { SMALL = 60 };

typedef struct small {
    td_memory *memory;
    td_tensor *tensor[SMALL];
    td_layout *layout[SMALL];
    td_program *program;
    char text[SMALL * 64];
} small;

static void load_each(void *context)
{
    small *s = context;
    for (int i = 0; i < SMALL; i++)
        need(td_backdoor_load_tensor(s->memory, s->tensor[i], s->layout[i], NULL));
}

static void load_program(void *context)
{
    small *s = context;
    need(td_program_run(s->program, NULL, NULL, NULL));
}

static void compile_program(void *context)
{
    small *s = context;
    need(td_program_compile(s->program, NULL));
}

static void do_nothing(void *context)
{
    (void)context;
}

static void bench_small(void)
{
    static small s;
    double each = 0, program = 0, compile = 0, none = 0;
    uint64_t at = 0;
    size_t used = 0;
    need(td_memory_create("m", 512, 1 << 16, &s.memory));
    for (int i = 0; i < SMALL; i++) {
        const uint64_t side = 8 + (uint64_t)i % 8 * 8;
        char address[32];
        need(td_tensor_create("i8", TD_SHAPE(3, side, side), &s.tensor[i]));
        need(td_tensor_fill_random(s.tensor[i], (uint64_t)i));
        snprintf(address, sizeof address, "%llu + index", (unsigned long long)at);
        need(td_layout_create("c h w -> (c h) w", NULL, address, &s.layout[i]));
        used += (size_t)snprintf(s.text + used, sizeof s.text - used, "load m t%d \"c h w -> (c h) w\" at %llu\n", i,
                                 (unsigned long long)at);
        at += 3 * side;
    }
    need(td_program_create(s.text, &s.program));
    need(td_program_bind_memory(s.program, "m", s.memory));
    for (int i = 0; i < SMALL; i++) {
        char name[8];
        snprintf(name, sizeof name, "t%d", i);
        need(td_program_bind_tensor(s.program, name, s.tensor[i]));
    }
    time_both(401, load_each, load_program, &s, &each, &program);
    time_both(101, compile_program, do_nothing, &s, &compile, &none);
    printf("60 small loads: one by one %.1f us, a program %.1f us, %.2f x\n", each / 1e3, program / 1e3,
           each / program);
    printf("compiling 60 steps: %.1f us, %.2f us a step\n", compile / 1e3, compile / 1e3 / SMALL);
    td_program_destroy(&s.program);
    for (int i = 0; i < SMALL; i++) {
        td_tensor_destroy(&s.tensor[i]);
        td_layout_destroy(&s.layout[i]);
    }
    td_memory_destroy(&s.memory);
}

/* -- what a step costs --------------------------------------------------------------------------------------------- */

enum { STEPS = 1000 };

/* The moves of the program's loads by exec alone: the same plans, banks and tensors. */
static void load_moves(void *context)
{
    small *s = context;
    const td_schedule *schedule = &s->program->graph->schedule[0];
    for (size_t i = schedule->pure; i < schedule->count; i++) {
        const td_quick *q = &schedule->quick[i];
        const td_run run = {.plan = q->plan, .bank = q->bank, .tensor = (*q->tensor)->data};
        td_exec_load(&run);
    }
}

/* Steps whose move is 16 bytes, each into a place of its own, against those moves alone. */
static void bench_overhead(void)
{
    static small s;
    double all = 0, moves = 0, one = 0, ignored = 0;
    td_tensor *t = NULL;
    char *text = malloc((size_t)STEPS * 40);
    size_t used = 0;
    need(td_tensor_create("i8", TD_SHAPE(16), &t));
    for (int i = 0; i < STEPS && text; i++)
        used += (size_t)snprintf(text + used, 40, "load m t \"c -> 1 c\" at %d\n", 2 * i);
    need(td_memory_create("m", 128, 4096, &s.memory));
    need(td_program_create(text, &s.program));
    need(td_program_bind_memory(s.program, "m", s.memory));
    need(td_program_bind_tensor(s.program, "t", t));
    need(td_program_run(s.program, NULL, NULL, NULL));
    time_both(401, load_program, load_moves, &s, &all, &moves);
    printf("a step of 16 bytes: %.1f ns, its move alone %.1f ns: %.1f ns more a step\n", all / STEPS, moves / STEPS,
           (all - moves) / STEPS);
    td_program_destroy(&s.program);
    need(td_program_create("load m t \"c -> 1 c\"", &s.program));
    need(td_program_bind_memory(s.program, "m", s.memory));
    need(td_program_bind_tensor(s.program, "t", t));
    need(td_program_run(s.program, NULL, NULL, NULL));
    time_both(401, load_program, do_nothing, &s, &one, &ignored);
    printf("a run of one such step: %.0f ns\n", one);
    td_program_destroy(&s.program);
    td_memory_destroy(&s.memory);
    td_tensor_destroy(&t);
    free(text);
}

/* -- a chain ------------------------------------------------------------------------------------------------------- */

typedef struct chain {
    td_memory *memory;
    td_tensor *x, *y;
    td_layout *tiles;
    td_program *program;
    void *copy;
    size_t bytes;
} chain;

static void chain_each(void *context)
{
    chain *c = context;
    td_tensor *a = NULL, *b = NULL, *d = NULL, *e = NULL;
    need(td_tensor_scale(c->x, 0.5, NULL, &a));
    need(td_tensor_add(a, c->y, NULL, &b));
    need(td_tensor_mul(b, c->y, NULL, &d));
    need(td_tensor_clamp(d, -1, 1, &e));
    need(td_backdoor_load_tensor(c->memory, e, c->tiles, NULL));
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
    td_tensor_destroy(&d);
    td_tensor_destroy(&e);
}

static void chain_program(void *context)
{
    chain *c = context;
    need(td_program_run(c->program, NULL, NULL, NULL));
}

static void chain_move(void *context)
{
    chain *c = context;
    need(td_backdoor_load_tensor(c->memory, c->x, c->tiles, NULL));
}

static void chain_copy(void *context)
{
    chain *c = context;
    memcpy(c->copy, td_tensor_data(c->x), c->bytes);
}

static void bench_chain(void)
{
    chain c = {0};
    double each = 0, program = 0, move = 0, again = 0, copy = 0;
    const uint64_t rows = quick ? 64 : 2048; /* 16 MiB of f32 */
    need(td_tensor_create("f32", TD_SHAPE(rows, 2048), &c.x));
    need(td_tensor_create("f32", TD_SHAPE(2048), &c.y));
    need(td_tensor_fill(c.x, "normal seed=1"));
    need(td_tensor_fill(c.y, "normal seed=2"));
    need(td_memory_create("m", 512, rows * 128, &c.memory));
    need(td_layout_create("(rt rs) (ct cs) -> (rt ct rs) cs", "rs=16 cs=16", NULL, &c.tiles));
    need(td_program_create("load m (clamp (mul (add (scale x 0.5) y) y) -1 1) tiles", &c.program));
    need(td_program_bind_memory(c.program, "m", c.memory));
    need(td_program_bind_tensor(c.program, "x", c.x));
    need(td_program_bind_tensor(c.program, "y", c.y));
    need(td_program_bind_layout(c.program, "tiles", c.tiles));
    c.bytes = (size_t)rows * 2048 * sizeof(float);
    c.copy = malloc(c.bytes);
    if (!c.copy)
        exit(1);
    memset(c.copy, 1, c.bytes);
    time_both(31, chain_each, chain_program, &c, &each, &program);
    const double best = fastest[0] / fastest[1];
    time_both(31, chain_move, chain_program, &c, &move, &again);
    time_both(31, chain_copy, chain_program, &c, &copy, &again);
    printf("four steps and a tiled load of 16 MiB: one by one %.2f ms, a program %.2f ms, %.2f x (the fastest of "
           "each: %.2f x); the load alone %.2f ms, memcpy %.2f ms\n",
           each / 1e6, program / 1e6, each / program, best, move / 1e6, copy / 1e6);
    free(c.copy);
    td_program_destroy(&c.program);
    td_layout_destroy(&c.tiles);
    td_memory_destroy(&c.memory);
    td_tensor_destroy(&c.x);
    td_tensor_destroy(&c.y);
}

/* -- loops --------------------------------------------------------------------------------------------------------- */

typedef struct loop {
    td_memory *memory;
    td_tensor *x;
    td_layout *whole;
    td_program *program;
} loop;

static void loop_program(void *context)
{
    loop *l = context;
    need(td_program_run(l->program, NULL, NULL, NULL));
}

static void loop_move(void *context)
{
    loop *l = context;
    need(td_backdoor_load_tensor(l->memory, l->x, l->whole, NULL));
}

/* `joins`: the parts follow each other, and the loop becomes one load; otherwise each is a load of its own. */
static void bench_loop(uint64_t rows, uint64_t columns, bool joins)
{
    loop l = {0};
    double move = 0, program = 0;
    char text[128], address[32];
    const uint64_t step = joins ? rows : rows + 1;
    snprintf(text, sizeof text, "for t in 0..16:\n  load m x[t] \"r c -> r c\" at %llu*t", (unsigned long long)step);
    snprintf(address, sizeof address, "%llu*t + r", (unsigned long long)step);
    need(td_tensor_create("i8", TD_SHAPE(16, rows, columns), &l.x));
    need(td_memory_create("m", 8 * columns, 16 * step, &l.memory));
    need(td_layout_create("t r c -> (t r) c", NULL, address, &l.whole));
    need(td_program_create(text, &l.program));
    need(td_program_bind_memory(l.program, "m", l.memory));
    need(td_program_bind_tensor(l.program, "x", l.x));
    time_both(201, loop_move, loop_program, &l, &move, &program);
    printf(
        "16 loops of %llu x %llu bytes%s: one load of all %.2f us, a program %.2f us; %.1f ns a step more, %.1f %%\n",
        (unsigned long long)rows, (unsigned long long)columns, joins ? "" : " with gaps", move / 1e3, program / 1e3,
        (program - move) / 16, 100 * (program - move) / move);
    td_program_destroy(&l.program);
    td_layout_destroy(&l.whole);
    td_memory_destroy(&l.memory);
    td_tensor_destroy(&l.x);
}

/* -- steps that need nothing of each other ------------------------------------------------------------------------- */

enum { APART = 8 };

typedef struct apart {
    td_tensor *x[APART];
    td_program *program;
} apart;

static void apart_each(void *context)
{
    const apart *a = context;
    for (int i = 0; i < APART; i++) {
        td_tensor *t = NULL;
        need(td_tensor_transpose(a->x[i], "1 0", &t));
        td_tensor_destroy(&t);
    }
}

static void apart_program(void *context)
{
    const apart *a = context;
    need(td_program_run(a->program, NULL, NULL, NULL));
}

/* Eight transposes of 128 KiB, of which a program reads one element each: the pool has them side by side. */
static void bench_apart(void)
{
    apart a = {0};
    double each = 0, program = 0;
    td_memory *m = NULL;
    char name[8], text[APART * 96];
    size_t used = 0;
    need(td_memory_create("m", 32, APART, &m));
    for (int i = 0; i < APART; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "tensor t%d = transpose x%d \"1 0\"\nload m t%d[0, 0:1] \"r -> r 1\" at %d\n", i, i, i, i);
    need(td_program_create(text, &a.program));
    need(td_program_bind_memory(a.program, "m", m));
    for (int i = 0; i < APART; i++) {
        need(td_tensor_create("f32", TD_SHAPE(128, 256), &a.x[i]));
        need(td_tensor_fill_random(a.x[i], (uint64_t)i));
        snprintf(name, sizeof name, "x%d", i);
        need(td_program_bind_tensor(a.program, name, a.x[i]));
    }
    time_both(101, apart_each, apart_program, &a, &each, &program);
    printf("8 transposes of 128 KiB: one by one %.1f us, a program %.1f us, %.2f x\n", each / 1e3, program / 1e3,
           each / program);
    td_program_destroy(&a.program);
    td_memory_destroy(&m);
    for (int i = 0; i < APART; i++)
        td_tensor_destroy(&a.x[i]);
}

int main(int argc, char **argv)
{
    quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (argc > 1 && strcmp(argv[1], "--apart") == 0) {
        bench_apart();
        return 0;
    }
    bench_small();
    bench_overhead();
    bench_chain();
    bench_loop(8, 16, true);
    bench_loop(8, 16, false);
    bench_loop(256, 256, true);
    bench_loop(256, 256, false);
    bench_apart();
    return 0;
}
