/* See subject.h. */
#include "subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MOST_ROUNDS 1001
#define HUGE_BYTES ((size_t)2 << 20)

static unsigned char *touched_pages(size_t bytes)
{
    const size_t room = (bytes + 4096 + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    unsigned char *pages = aligned_alloc(HUGE_BYTES, room);
    if (pages) {
        madvise(pages, room, MADV_HUGEPAGE);
        memset(pages, 1, room);
    }
    return pages;
}

/* A tensor of the same elements that begins `offset` bytes into a mapped file. */
static bool map_tensor(const subject_text *text, td_tensor **tensor)
{
    char path[] = "/tmp/td-subject-XXXXXX", name[512];
    const int file = mkstemp(path);
    if (file < 0)
        return false;
    const td_shape shape = td_tensor_shape(*tensor);
    const size_t bytes = (size_t)td_tensor_elems(*tensor) * td_tensor_elem_bytes(*tensor);
    unsigned char gap[4096] = {0};
    bool good = write(file, gap, text->offset_bytes) == (ssize_t)text->offset_bytes;
    for (size_t at = 0; good && at < bytes;) {
        const ssize_t written = write(file, (const char *)td_tensor_data_const(*tensor) + at, bytes - at);
        good = written > 0;
        at += good ? (size_t)written : 0;
    }
    close(file);
    int used = snprintf(name, sizeof name, "raw,dtype=%s,offset=%zu,shape=", text->dtype, text->offset_bytes);
    for (size_t i = 0; i < shape.rank; i++)
        used +=
            snprintf(name + used, sizeof name - (size_t)used, "%s%llu", i ? "x" : "", (unsigned long long)shape.dim[i]);
    snprintf(name + used, sizeof name - (size_t)used, ":%s", path);
    td_tensor_destroy(tensor);
    good = good && td_tensor_open(name, NULL, tensor) == TD_OK;
    unlink(path);
    return good;
}

/* As deep, and as many banks, as the layout needs. */
static bool make_memories(subject *s)
{
    td_span *spans = NULL;
    size_t count = 0;
    uint64_t words = 0, banks = 1;
    if (td_layout_spans(s->layout, s->tensor, s->text.as, s->text.width_bits, NULL, &spans, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        words += spans[i].count;
        banks = spans[i].bank + 1 > banks ? spans[i].bank + 1 : banks;
        if (spans[i].first + spans[i].count > s->depth_words)
            s->depth_words = spans[i].first + spans[i].count;
    }
    td_free(spans);
    s->memory = calloc((size_t)banks, sizeof(td_memory *));
    if (!s->memory)
        return false;
    for (; s->banks < banks; s->banks++)
        if (td_memory_create("bench", s->text.width_bits, s->depth_words, &s->memory[s->banks]))
            return false;
    s->word_bytes = td_memory_word_bytes(s->memory[0]);
    s->memory_bytes = s->word_bytes * (size_t)s->depth_words;
    s->touched_bytes = s->word_bytes * (size_t)words;
    return true;
}

/* The last parts of the plan's line: "load ..." and "dump ...". */
static void take_plan(subject *s)
{
    const td_scene scene = {.dtype = s->text.dtype,
                            .shape = td_tensor_shape(s->tensor),
                            .as = s->text.as,
                            .width_bits = s->text.width_bits,
                            .depth_words = s->depth_words,
                            .banks = s->banks};
    char *text = NULL, *plan = NULL, *load = NULL, *dump = NULL;
    if (td_layout_explain(s->layout, &scene, &text) == TD_OK && (plan = strstr(text, "\nplan ")) != NULL) {
        load = strstr(plan, "; load ");
        dump = strstr(plan, "; dump ");
    }
    if (load && dump) {
        dump[strcspn(dump, "\n")] = '\0';
        s->plan_dump = strdup(dump + 2);
        *dump = '\0';
        s->plan_load = strdup(load + 2);
    }
    td_free(text);
}

bool subject_open(const subject_text *text, subject *s)
{
    td_shape shape;
    *s = (subject){.text = *text};
    if (td_shape_parse(text->shape, &shape) || td_tensor_create(text->dtype, shape, &s->tensor) ||
        td_tensor_create(text->dtype, shape, &s->dumped) ||
        td_tensor_fill(s->tensor, text->fill ? text->fill : "random seed=1") ||
        td_layout_create(text->pattern, text->options, text->address, &s->layout))
        return false;
    if (text->offset_bytes && !map_tensor(text, &s->tensor))
        return false;
    s->tensor_bytes = (size_t)td_tensor_elems(s->tensor) * td_tensor_elem_bytes(s->tensor);
    if (!make_memories(s))
        return false;
    const size_t larger = s->tensor_bytes > s->touched_bytes ? s->tensor_bytes : s->touched_bytes;
    s->from = touched_pages(larger);
    s->to = touched_pages(larger);
    memset(td_tensor_data(s->dumped), 0x5a, s->tensor_bytes);
    take_plan(s);
    return s->from && s->to;
}

void subject_close(subject *s)
{
    for (size_t b = 0; b < s->banks; b++)
        td_memory_destroy(&s->memory[b]);
    free(s->memory);
    td_tensor_destroy(&s->tensor);
    td_tensor_destroy(&s->dumped);
    td_layout_destroy(&s->layout);
    free(s->from);
    free(s->to);
    free(s->plan_load);
    free(s->plan_dump);
    *s = (subject){0};
}

void subject_stir(subject *s)
{
    for (size_t b = 0; b < s->banks; b++)
        td_memory_fill(s->memory[b], "random seed=5", 0, s->depth_words);
}

/* -- runners -- */

static void note(subject *s, td_status status)
{
    if (status && !s->failed)
        s->failed = status;
}

void subject_load(void *context)
{
    subject *s = context;
    note(s, s->banks == 1 ? td_backdoor_load_tensor(s->memory[0], s->tensor, s->layout, s->text.as)
                          : td_backdoor_load_tensor_banks(s->memory, s->banks, s->tensor, s->layout, s->text.as));
}

void subject_dump(void *context)
{
    subject *s = context;
    note(s, s->banks == 1 ? td_backdoor_dump_tensor(s->memory[0], s->dumped, s->layout, s->text.as)
                          : td_backdoor_dump_tensor_banks(s->memory, s->banks, s->dumped, s->layout, s->text.as));
}

void subject_compare(void *context)
{
    subject *s = context;
    td_report *report = NULL;
    note(s, td_backdoor_compare_tensor_banks(s->memory, s->banks, s->dumped, s->layout, NULL, s->text.as, &report));
    if (report && !td_report_passed(report))
        note(s, TD_DISAGREE);
    td_report_destroy(&report);
}

size_t subject_bytes(const subject *s)
{
    return (s->tensor_bytes + s->touched_bytes) / 2;
}

void subject_memcpy(void *context)
{
    subject *s = context;
    memcpy(s->to, s->from, subject_bytes(s));
    __asm__ volatile("" ::"r"(s->to), "r"(s->from) : "memory");
}

/* -- the clock -- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool by_wall;

void measure_by_wall(bool wall)
{
    by_wall = wall;
}

static double clock_ns(void)
{
    struct timespec t;
    clock_gettime(by_wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_calls(const runner *r, uint64_t calls, bool warm)
{
    if (warm)
        r->run(r->context);
    const double start = clock_ns();
    for (uint64_t i = 0; i < calls; i++)
        r->run(r->context);
    return (clock_ns() - start) / (double)calls;
}

static uint64_t calls_for(const runner *r, double sample_ns, bool *slow)
{
    uint64_t calls = 1;
    *slow = false;
    if (sample_ns <= 0)
        return calls;
    double ns = time_calls(r, 1, false);
    *slow = ns > 20e6;
    if (*slow)
        return calls;
    while (ns * (double)calls < sample_ns / 4 && calls < 1u << 22) {
        calls *= 4;
        ns = time_calls(r, calls, true);
    }
    return (uint64_t)(sample_ns / (ns + 1)) + 1;
}

#define MOST_RUNNERS 8

void measure(runner *runners, size_t count, unsigned rounds, double sample_ns)
{
    static double sample[MOST_RUNNERS][MOST_ROUNDS];
    uint64_t calls[MOST_RUNNERS];
    unsigned turns[MOST_RUNNERS];
    bool slow[MOST_RUNNERS];
    for (size_t i = 0; i < count; i++) {
        calls[i] = calls_for(&runners[i], sample_ns, &slow[i]);
        turns[i] = slow[i] ? (rounds + 8) / 9 : rounds;
    }
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++)
            if (round < turns[i])
                sample[i][round] = time_calls(&runners[i], calls[i], sample_ns > 0 && !slow[i]);
    for (size_t i = 0; i < count; i++) {
        const unsigned n = turns[i];
        qsort(sample[i], n, sizeof(double), compare);
        runners[i].ns = sample[i][n / 2];
        runners[i].spread = (sample[i][n * 9 / 10] - sample[i][n / 10]) / sample[i][n / 2];
    }
}

double measure_ratio(runner *pair, unsigned rounds, double sample_ns)
{
    static double sample[3][MOST_ROUNDS];
    bool slow[2];
    const uint64_t calls[2] = {calls_for(&pair[0], sample_ns, &slow[0]), calls_for(&pair[1], sample_ns, &slow[1])};
    if (slow[0] || slow[1])
        rounds = (rounds + 8) / 9;
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < 2; i++)
            sample[i][round] = time_calls(&pair[i], calls[i], sample_ns > 0 && !slow[i]);
        sample[2][round] = sample[0][round] / sample[1][round];
    }
    for (size_t i = 0; i < 3; i++)
        qsort(sample[i], rounds, sizeof(double), compare);
    for (size_t i = 0; i < 2; i++)
        pair[i].ns = sample[i][rounds / 2];
    return sample[2][rounds / 2];
}
