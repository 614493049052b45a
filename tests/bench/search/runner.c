/* Runs the loops that loops.py wrote beside the library, one line per case: first their bytes against each other, then
 * both and memcpy in turns. search.py starts it and reads its lines.
 *
 *     search-runner BATCH.so [--from N] [--compare] [--quick] [--threads N]
 *
 * A line: the case's number, the verdict (ok, refused, WRONG), bytes, the ns of memcpy, load, its loop, dump, its loop
 * and comparison, and the ways of the plan, separated by tabs. */
#include "../subject.h"
#include "case.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct loops {
    const search_case *of;
    unsigned char **m;
    const void *t;
    void *out, *scratch;
    int differ;
} loops;

static void run_load(void *context)
{
    const loops *l = context;
    l->of->load(l->m, l->t);
    __asm__ volatile("" ::"r"(l->m) : "memory");
}

static void run_dump(void *context)
{
    loops *l = context;
    l->differ |= l->of->dump(l->out, l->m, l->scratch);
    __asm__ volatile("" ::"r"(l->out) : "memory");
}

static bool say(const search_case *c, const char *verdict, const char *why)
{
    printf("%s\t%s\t", c->id, verdict);
    for (; *why; why++)
        putchar(*why == '\n' || *why == '\t' ? ' ' : *why);
    printf("\n");
    fflush(stdout);
    return false;
}

static bool same_words(const subject *s, const loops *l)
{
    for (size_t b = 0; b < s->banks; b++)
        if (memcmp(td_memory_data(s->memory[b]), l->m[b], s->memory_bytes) != 0)
            return false;
    return true;
}

/* Where the first difference is. */
static bool say_words(const subject *s, const loops *l)
{
    for (size_t b = 0; b < s->banks; b++) {
        const unsigned char *ours = td_memory_data(s->memory[b]);
        for (size_t i = 0; i < s->memory_bytes; i++)
            if (ours[i] != l->m[b][i]) {
                char why[160];
                snprintf(why, sizeof why, "load: bank %zu word %zu byte %zu is %02x, by the loop %02x", b,
                         i / s->word_bytes, i % s->word_bytes, ours[i], l->m[b][i]);
                return say(l->of, "WRONG", why);
            }
    }
    return true;
}

static bool check(subject *s, loops *l)
{
    long depth = 0, banks = 0;
    l->of->extent(&depth, &banks);
    if ((uint64_t)depth > s->depth_words || (size_t)banks > s->banks)
        return say(l->of, "WRONG", "the loops reach farther than td_layout_spans says");
    subject_stir(s);
    for (size_t b = 0; b < s->banks; b++)
        memcpy(l->m[b], td_memory_data(s->memory[b]), s->memory_bytes);
    subject_load(s);
    if (s->failed)
        return say(l->of, "refused", td_last_error());
    run_load(l);
    if (!same_words(s, l))
        return say_words(s, l);
    memset(l->out, 0x5a, s->tensor_bytes);
    subject_dump(s);
    run_dump(l);
    if (s->failed)
        return say(l->of, l->differ ? "refused" : "WRONG", td_last_error());
    if (l->differ)
        return say(l->of, "WRONG", "dump: copies differ for the loop and not for the library");
    const unsigned char *ours = td_tensor_data(s->dumped), *theirs = l->out;
    for (size_t i = 0; i < s->tensor_bytes; i++)
        if (ours[i] != theirs[i]) {
            char why[160];
            snprintf(why, sizeof why, "dump: byte %zu is %02x, by the loop %02x", i, ours[i], theirs[i]);
            return say(l->of, "WRONG", why);
        }
    return true;
}

static bool take(const subject *s, loops *l)
{
    l->t = td_tensor_data_const(s->tensor);
    l->out = aligned_alloc(4096, (s->tensor_bytes + 8191) / 4096 * 4096);
    l->scratch = aligned_alloc(4096, (s->tensor_bytes + 8191) / 4096 * 4096);
    l->m = calloc(s->banks, sizeof *l->m);
    for (size_t b = 0; l->m && b < s->banks; b++) {
        l->m[b] = aligned_alloc(4096, (s->memory_bytes + 8191) / 4096 * 4096);
        if (!l->m[b])
            return false;
    }
    return l->out && l->scratch && l->m;
}

static void run_case(const search_case *c, bool compared, bool quick)
{
    const subject_text text = {
        c->dtype, c->shape, c->pattern, c->options, c->address, c->as, c->width_bits, *c->fill ? c->fill : NULL, 0};
    subject s;
    loops l = {.of = c};
    if (!subject_open(&text, &s)) {
        say(c, "refused", td_last_error());
    } else if (s.memory_bytes * s.banks > (size_t)256 << 20 || !take(&s, &l)) {
        say(c, "refused", "more memory than a search takes");
    } else if (check(&s, &l)) {
        enum { MEMCPY, LOAD, LOAD_LOOP, DUMP, DUMP_LOOP, COMPARE };
        runner r[] = {{subject_memcpy, &s, 0, 0}, {subject_load, &s, 0, 0}, {run_load, &l, 0, 0},
                      {subject_dump, &s, 0, 0},   {run_dump, &l, 0, 0},     {subject_compare, &s, 0, 0}};
        measure(r, compared ? 6 : 5, quick ? 1 : 9, quick ? 0 : 1.5e5);
        printf("%s\t%s\t%zu\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.200s\t%.200s\n", c->id, s.failed ? "WRONG" : "ok",
               subject_bytes(&s), r[MEMCPY].ns, r[LOAD].ns, r[LOAD_LOOP].ns, r[DUMP].ns, r[DUMP_LOOP].ns, r[COMPARE].ns,
               s.plan_load ? s.plan_load : "", s.plan_dump ? s.plan_dump : "");
        fflush(stdout);
    }
    for (size_t b = 0; l.m && b < s.banks; b++)
        free(l.m[b]);
    free(l.m);
    free(l.out);
    free(l.scratch);
    subject_close(&s);
    td_plan_cache_clear();
}

int main(int argc, char **argv)
{
    bool compared = false, quick = false;
    unsigned threads = 1;
    long first = 0;
    for (int i = 2; i < argc; i++) {
        compared = compared || strcmp(argv[i], "--compare") == 0;
        quick = quick || strcmp(argv[i], "--quick") == 0;
        if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            threads = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--from") == 0 && i + 1 < argc)
            first = strtol(argv[++i], NULL, 10);
    }
    void *batch = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    const search_case *cases = batch ? dlsym(batch, "search_cases") : NULL;
    const long *count = batch ? dlsym(batch, "search_case_count") : NULL;
    if (!cases || !count)
        return fprintf(stderr, "search-runner: %s\n", argc > 1 ? dlerror() : "a batch is missing"), 2;
    td_speed_threads(threads);
    measure_by_wall(threads != 1);
    for (long i = first; i < *count; i++)
        run_case(&cases[i], compared, quick);
    return 0;
}
