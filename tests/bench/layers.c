/* How fast memories in layers are: a load and a dump of bytes into memories over macros, with and without a code, on
 * one thread, beside memcpy of the same bytes in the same run; and what `where` takes. layers [TEXT [KIB]] takes the
 * cases whose name has TEXT in it, on that many bytes (16 MiB); --quick only sees that they run. The ratio is memcpy's
 * time by ours; goals are those of the project, for 16 MiB. */
#include "tensordoor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MACROS 8

typedef struct bench_case {
    const char *name, *pattern, *options;
    uint64_t width, macros, macro_width; /* macro_width 0: as many bits as the others leave */
    const char *code;
    double goal;
} bench_case;

/* Words of `width` bits; with a code the organisation is that of the coded words. */
static const bench_case cases[] = {
    {"plain", NULL, "", 128, 0, 0, NULL, 0},
    {"tiles by depth", "(t r) k -> t r k", "t=8", 128, 8, 128, NULL, .8},
    {"slices at bytes", "w (s k) -> s w k", "s=8", 128, 8, 16, NULL, .7},
    {"slices at 4 bytes", "w (s k) -> s w k", "s=4", 128, 4, 32, NULL, .7},
    {"columns 2", "(r p) k -> 1 r (k p)", "p=2", 128, 1, 256, NULL, .25},
    {"columns 4", "(r p) k -> 1 r (k p)", "p=4", 128, 1, 512, NULL, .25},
    {"columns 8", "(r p) k -> 1 r (k p)", "p=8", 128, 1, 1024, NULL, .25},
    {"odd cuts", "w (s k) -> s w k", "s=8", 72, 8, 9, NULL, .2},
    {"39_32 alone", NULL, "", 128, 0, 0, "39_32", 0},
    {"72_64 and tiles", "(t r) k -> t r k", "t=8", 128, 8, 144, "72_64", 0},
    {"39_32 tiles, slices, columns", "(t r p) (s k) -> (t s) r (k p)", "t=2 s=4 p=2", 128, 8, 78, "39_32", .15},
};

typedef struct stack {
    td_memory *macro[MACROS], *organised, *top;
    td_code *code;
    td_layout *organisation, *rows;
    td_tensor *tensor, *back;
    unsigned char *copy;
    uint64_t depth;
    size_t bytes;
} stack;

static td_status make(stack *s, const bench_case *c, size_t bytes)
{
    const uint64_t word = c->width / 8;
    s->depth = bytes / word / 16 * 16;
    s->bytes = (size_t)(s->depth * word);
    td_status status = c->code ? td_code_create(c->code, c->width, &s->code) : TD_OK;
    const uint64_t width = s->code ? td_code_coded_bits(s->code) : c->width;
    for (uint64_t m = 0; m < c->macros && !status; m++)
        status = td_memory_create("macro", c->macro_width, s->depth * width / c->macro_width / c->macros, &s->macro[m]);
    if (!status && c->macros)
        status = td_layout_create(c->pattern, c->options, NULL, &s->organisation);
    if (!status)
        status = c->macros ? td_memory_over("organised", width, s->depth, s->organisation, s->macro, (size_t)c->macros,
                                            &s->organised)
                           : td_memory_create("organised", width, s->depth, &s->organised);
    if (!status && s->code)
        status = td_memory_coded("top", s->code, s->organised, NULL, &s->top);
    if (!status)
        status = td_layout_create("r c -> r c", NULL, NULL, &s->rows);
    if (!status)
        status = td_tensor_create("u8", TD_SHAPE(s->depth, word), &s->tensor);
    if (!status)
        status = td_tensor_create("u8", TD_SHAPE(s->depth, word), &s->back);
    if (!status)
        status = td_tensor_fill_random(s->tensor, 1);
    s->copy = malloc(s->bytes);
    return status;
}

static void unmake(stack *s)
{
    td_memory_destroy(&s->top);
    td_memory_destroy(&s->organised);
    for (int m = 0; m < MACROS; m++)
        td_memory_destroy(&s->macro[m]);
    td_code_destroy(&s->code);
    td_layout_destroy(&s->organisation);
    td_layout_destroy(&s->rows);
    td_tensor_destroy(&s->tensor);
    td_tensor_destroy(&s->back);
    free(s->copy);
}

typedef td_status (*operation)(stack *s);

static td_status load(stack *s)
{
    return td_backdoor_load_tensor(s->top ? s->top : s->organised, s->tensor, s->rows, NULL);
}

static td_status dump(stack *s)
{
    return td_backdoor_dump_tensor(s->top ? s->top : s->organised, s->back, s->rows, NULL);
}

static td_status copy(stack *s)
{
    memcpy(s->copy, td_tensor_data(s->tensor), s->bytes);
    return TD_OK;
}

/* Of this thread alone, so that others on the machine do not count. */
static uint64_t processor_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t time_once(stack *s, operation run, uint64_t best)
{
    const uint64_t start = processor_ns();
    if (run(s))
        fprintf(stderr, "%s\n", td_last_error());
    const uint64_t took = processor_ns() - start;
    return took < best ? took : best;
}

static int bench(const bench_case *c, size_t bytes, int rounds)
{
    stack s = {0};
    uint64_t best[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    int right = make(&s, c, bytes) == TD_OK && s.copy;
    if (!right)
        fprintf(stderr, "%s: %s\n", c->name, td_last_error());
    for (int round = 0; round < rounds && right; round++) {
        best[0] = time_once(&s, load, best[0]);
        best[1] = time_once(&s, copy, best[1]);
        best[2] = time_once(&s, dump, best[2]);
    }
    right = right && memcmp(td_tensor_data(s.tensor), td_tensor_data(s.back), s.bytes) == 0;
    const double of_load = (double)best[1] / (double)best[0], of_dump = (double)best[1] / (double)best[2];
    printf("%-30s %6zu KiB  load %5.2f  dump %5.2f of memcpy (%5.2f GB/s)", c->name, bytes >> 10, of_load, of_dump,
           (double)s.bytes / (double)best[1]);
    if (c->goal > 0)
        printf("  goal %.2f %s", c->goal, of_load >= c->goal && of_dump >= c->goal ? "met" : "missed");
    printf("%s\n", right ? "" : "  WRONG");
    unmake(&s);
    return right;
}

/* -- where: a coordinate of an affine layout, and the bits of a word; one call finds and frees -- */

#define ASKED 500

static uint64_t time_question(const td_where_question *question)
{
    const uint64_t start = processor_ns();
    for (int i = 0; i < ASKED; i++) {
        td_where *where = NULL;
        if (td_where_find(question, &where))
            fprintf(stderr, "%s\n", td_last_error());
        td_where_destroy(&where);
    }
    return (processor_ns() - start) / ASKED;
}

static int bench_where(int rounds)
{
    const uint64_t at[] = {5, 7, 3};
    td_tensor *tensor = NULL;
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    uint64_t best[2] = {UINT64_MAX, UINT64_MAX};
    const int right = td_tensor_create("u8", TD_SHAPE(64, 32, 16), &tensor) == TD_OK &&
                      td_layout_create("a b c -> (a b) c", NULL, "0x10 + 32*a + b", &layout) == TD_OK &&
                      td_memory_create("m", 128, 4096, &memory) == TD_OK;
    if (!right)
        fprintf(stderr, "where: %s\n", td_last_error());
    td_where_question question = {.banks = &memory, .bank_count = 1, .tensor = tensor, .layout = layout};
    for (int round = 0; round < rounds && right; round++)
        for (int bits = 0; bits < 2; bits++) {
            question.coordinate = bits ? NULL : at;
            question.word = 300;
            question.lsb = 24;
            question.bits = bits ? 8 : 0;
            const uint64_t took = time_question(&question);
            best[bits] = took < best[bits] ? took : best[bits];
        }
    if (right)
        printf("where, affine: an element %.2f us, bits %.2f us  goal 1.00 %s\n", (double)best[0] / 1000,
               (double)best[1] / 1000, best[0] < 1000 && best[1] < 1000 ? "met" : "missed");
    td_tensor_destroy(&tensor);
    td_layout_destroy(&layout);
    td_memory_destroy(&memory);
    return right;
}

int main(int argc, char **argv)
{
    const int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const char *wanted = argc > 1 && !quick ? argv[1] : "";
    const size_t bytes = quick ? (size_t)1 << 16 : argc > 2 ? strtoul(argv[2], NULL, 10) << 10 : (size_t)1 << 24;
    int right = 1;
    td_speed_threads(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strstr(cases[i].name, wanted))
            right &= bench(&cases[i], bytes, quick ? 1 : 7);
    if (strstr("where", wanted))
        right &= bench_where(quick ? 1 : 60);
    return right ? 0 : 1;
}
