/* Where elements and bits of random layouts lie, against the oracle's bits. For each layout that the oracle accepts:
 * of words all over the memories, which bit of which element every bit is; of elements, every place of each bit.
 *
 *     prop_where [--cases N] [--seed S]
 *     prop_where --case S                  one case, as the failure line says */
#include "generate.h"
#include "tensordoor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ASKED 40 /* words, and elements, of a case */

typedef struct trial {
    const generated *g;
    const oracle *o;
    random_state *r;
    td_layout *layout;
    td_tensor *tensor;
    td_memory **memory;
    uint64_t *held; /* of every bit of every bank: 0, or 1 + 64 * element + bit of it */
    uint64_t words; /* that were looked at */
} trial;

static bool complain(const trial *t, const char *what)
{
    const oracle_case *in = &t->g->in;
    printf("%s\n  pattern \"%s\"\n  options \"%s\"\n  address \"%s\"\n  dtype %s, shape (", what, in->pattern,
           in->options, in->address, in->dtype);
    for (size_t i = 0; i < in->rank; i++)
        printf("%s%llu", i ? ", " : "", (unsigned long long)in->dim[i]);
    printf("), %llu bank(s) of %llu words of %llu bits\n  library: %s\n", (unsigned long long)in->banks,
           (unsigned long long)in->depth, (unsigned long long)in->width, td_last_error());
    return false;
}

static uint64_t bit_number(const trial *t, uint64_t bank, uint64_t word, uint64_t bit)
{
    return (bank * t->g->in.depth + word) * t->g->in.width + bit;
}

static void note_all(trial *t)
{
    const oracle *o = t->o;
    for (uint64_t v = 0; v < o->vector_count; v++)
        for (uint64_t l = 0; l < o->lanes; l++)
            for (uint64_t k = 0; k < o->elem_bits && o->elems[v * o->lanes + l] >= 0; k++) {
                const oracle_vector *at = &o->vectors[v * o->lanes + l];
                uint64_t beat = 0, bit = 0;
                oracle_place(o, l, k, &beat, &bit);
                t->held[bit_number(t, at->bank, at->address + beat, bit)] =
                    1 + 64 * (uint64_t)o->elems[v * o->lanes + l] + k;
            }
}

static uint64_t number_of(const trial *t, const td_shape *at)
{
    uint64_t n = 0;
    for (size_t d = 0; d < t->g->in.rank; d++)
        n = n * t->g->in.dim[d] + at->dim[d];
    return n;
}

/* Every bit of a run is what the oracle has there. */
static bool is_right(const trial *t, const td_where_run *run)
{
    bool good = run->kind == TD_WHERE_DATA && run->memory == t->memory[run->bank] && run->macro == run->memory &&
                run->row == run->word && run->column == run->bit && run->step == 1 && !run->number && !run->copy &&
                (!run->has_elem || (run->at.rank == t->g->in.rank && number_of(t, &run->at) == run->elem));
    for (uint64_t i = 0; i < run->bits && good; i++)
        good = t->held[bit_number(t, run->bank, run->word, run->bit + i)] ==
               (run->has_elem ? 1 + 64 * run->elem + run->elem_bit + i : 0);
    return good;
}

static td_where_question question_of(const trial *t)
{
    return (td_where_question){
        .banks = t->memory, .bank_count = (size_t)t->g->in.banks, .tensor = t->tensor, .layout = t->layout};
}

/* All bits of a word, or of a row of its macro, which is the memory itself. */
static bool ask_word(trial *t, uint64_t bank, uint64_t word)
{
    td_where_question q = question_of(t);
    td_where *where = NULL;
    td_where_run run;
    uint64_t next = 0;
    q.bank = bank;
    q.word = word;
    q.in_macro = random_chance(t->r, 30);
    if (td_where_find(&q, &where))
        return complain(t, "a word was refused");
    bool good = true;
    for (size_t i = 0; i < td_where_count(where) && good; i++) {
        good = !td_where_at(where, i, &run) && run.bank == bank && run.word == word && run.bit == next &&
               is_right(t, &run);
        next += run.bits;
    }
    td_where_destroy(&where);
    t->words++;
    return (good && next == t->g->in.width) || complain(t, "a word holds something else");
}

static bool ask_elem(trial *t, uint64_t elem)
{
    uint64_t at[TD_MAX_RANK], rest = elem, found = 0, there = 0;
    td_where_question q = question_of(t);
    td_where *where = NULL;
    td_where_run run;
    for (size_t d = t->g->in.rank; d-- > 0; rest /= t->g->in.dim[d])
        at[d] = rest % t->g->in.dim[d];
    for (uint64_t i = 0; i < t->g->in.banks * t->g->in.depth * t->g->in.width; i++)
        there += t->held[i] && (t->held[i] - 1) / 64 == elem;
    q.coordinate = at;
    const td_status status = td_where_find(&q, &where);
    if (status)
        return (status == TD_RANGE && !there) || complain(t, "an element was refused");
    bool good = true;
    for (size_t i = 0; i < td_where_count(where) && good; i++) {
        good = !td_where_at(where, i, &run) && run.has_elem && run.elem == elem && is_right(t, &run);
        for (size_t j = 0; j < i && good; j++) { /* no place twice */
            td_where_run other;
            good = !td_where_at(where, j, &other) &&
                   (other.bank != run.bank || other.word != run.word || other.bit + other.bits <= run.bit ||
                    other.bit >= run.bit + run.bits);
        }
        found += run.bits;
    }
    td_where_destroy(&where);
    return (good && found == there) || complain(t, "an element lies elsewhere");
}

static bool ask_all(trial *t)
{
    const oracle_case *in = &t->g->in;
    bool good = true;
    note_all(t);
    for (int i = 0; i < ASKED && good; i++) {
        const oracle_vector *at = &t->o->vectors[random_below(t->r, t->o->vector_count * t->o->lanes)];
        const bool any = random_chance(t->r, 20);
        good = ask_word(t, any ? random_below(t->r, in->banks) : at->bank,
                        any ? random_below(t->r, in->depth) : at->address) &&
               ask_elem(t, random_below(t->r, td_tensor_elems(t->tensor)));
    }
    return good;
}

static bool run_case(uint64_t seed, uint64_t *asked)
{
    random_state r = {seed};
    generated *g = malloc(sizeof *g);
    oracle *o = malloc(sizeof *o);
    generate(&r, g);
    const oracle_verdict verdict = oracle_open(&g->in, o);
    trial t = {.g = g, .o = o, .r = &r};
    td_shape shape = {.rank = g->in.rank};
    memcpy(shape.dim, g->in.dim, sizeof shape.dim);
    bool good = true;
    if (verdict == ORACLE_OK && !o->alias_last && g->in.banks * g->in.depth * g->in.width < 1u << 22) {
        t.memory = calloc((size_t)g->in.banks, sizeof(td_memory *));
        t.held = calloc((size_t)(g->in.banks * g->in.depth * g->in.width), sizeof *t.held);
        good = !td_layout_create(g->pattern, g->options, g->address, &t.layout) &&
               !td_tensor_create(g->dtype, shape, &t.tensor);
        for (uint64_t b = 0; good && b < g->in.banks; b++)
            good = !td_memory_create("m", g->in.width, g->in.depth, &t.memory[b]);
        good = good ? ask_all(&t) : complain(&t, "cannot make the case");
        for (uint64_t b = 0; b < g->in.banks; b++)
            td_memory_destroy(&t.memory[b]);
        free(t.memory);
        free(t.held);
        td_tensor_destroy(&t.tensor);
        td_layout_destroy(&t.layout);
    }
    *asked += t.words;
    oracle_close(o);
    free(o);
    free(g);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t cases = 600, seed = (uint64_t)time(NULL) * 1000003u, asked = 0;
    unsigned failures = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        const uint64_t value = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--cases") == 0)
            cases = value;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = value;
        else if (strcmp(argv[i], "--case") == 0)
            return !run_case(value, &asked);
    }
    printf("seed %llu (replay: prop_where --seed %llu)\n", (unsigned long long)seed, (unsigned long long)seed);
    random_state seeds = {seed};
    for (uint64_t i = 0; i < cases && failures < 5; i++) {
        const uint64_t one = random_next(&seeds);
        if (!run_case(one, &asked)) {
            printf("  replay: prop_where --case %llu\n", (unsigned long long)one);
            failures++;
        }
    }
    printf("%llu cases, %llu words asked for; %u failures\n", (unsigned long long)cases, (unsigned long long)asked,
           failures);
    return failures != 0;
}
