/* Comparisons through random layouts against the oracle: after a load some bits of the memories are flipped, and the
 * report must have exactly the elements that the oracle finds wrong, each with its place; the padding that changed; and
 * the bits outside the layout that differ from a snapshot.
 *
 *     prop_compare [--cases N] [--seed S]
 *     prop_compare --case S                   one case, as the failure line says */
#include "generate.h"
#include "tensordoor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct wrong {
    uint64_t elem, bank, address, lsb, expected, actual;
} wrong;

typedef struct truth {
    uint64_t compared, mismatches, pads_wrong, outside_bits;
    wrong *list;
} truth;

typedef struct trial {
    const generated *g;
    const oracle *o;
    td_layout *layout;
    td_tensor *tensor;
    td_memory **memory, **snapshot, **owned;
} trial;

static bool complain(const trial *t, const char *what)
{
    printf("%s: pattern \"%s\" options \"%s\" address \"%s\" dtype %s, shape (", what, t->g->pattern, t->g->options,
           t->g->address, t->g->dtype);
    for (size_t d = 0; d < t->g->in.rank; d++)
        printf("%s%llu", d ? ", " : "", (unsigned long long)t->g->in.dim[d]);
    printf("), %llu words of %llu bits, %llu banks; last error: %s\n", (unsigned long long)t->g->in.depth,
           (unsigned long long)t->g->in.width, (unsigned long long)t->g->in.banks, td_last_error());
    return false;
}

static unsigned char *bit_at(td_memory *memory, uint64_t address, uint64_t bit)
{
    return (unsigned char *)td_memory_data(memory) + address * td_memory_word_bytes(memory) + bit / 8;
}

/* The bits of one lane as the memory holds them, one by one; *lsb and *address are those of the lowest. */
static uint64_t lane_bits(const trial *t, uint64_t vector, uint64_t lane, wrong *place)
{
    const oracle *o = t->o;
    uint64_t value = 0;
    place->bank = o->vectors[vector * o->lanes + lane].bank;
    for (unsigned k = 0; k < o->elem_bits; k++) {
        uint64_t beat = 0, in_word = 0;
        oracle_place(o, lane, k, &beat, &in_word);
        const uint64_t word = o->vectors[vector * o->lanes + lane].address + beat;
        if (k == 0) {
            place->address = word;
            place->lsb = in_word;
        }
        value |= (uint64_t)(*bit_at(t->memory[place->bank], word, in_word) >> (in_word % 8) & 1) << k;
        *bit_at(t->owned[place->bank], word, in_word) |= (unsigned char)(1u << (in_word % 8));
    }
    return value;
}

static int by_element(const void *a, const void *b)
{
    const wrong *x = a, *y = b;
    const uint64_t p[4] = {x->elem, x->bank, x->address, x->lsb}, q[4] = {y->elem, y->bank, y->address, y->lsb};
    for (int i = 0; i < 4; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static void find_truth(const trial *t, truth *out)
{
    const oracle *o = t->o;
    const uint64_t lanes = o->vector_count * o->lanes;
    out->list = calloc(lanes + 1, sizeof *out->list);
    for (uint64_t n = 0; n < lanes; n++) {
        wrong w = {0};
        if (o->elems[n] == ORACLE_CLIP)
            continue;
        w.actual = lane_bits(t, n / o->lanes, n % o->lanes, &w);
        if (o->elems[n] == ORACLE_PAD) {
            out->pads_wrong += w.actual != o->pad_bits;
            continue;
        }
        w.elem = (uint64_t)o->elems[n];
        td_tensor_get_bits(t->tensor, w.elem, &w.expected);
        out->compared++;
        if (w.actual != w.expected)
            out->list[out->mismatches++] = w;
    }
    qsort(out->list, out->mismatches, sizeof *out->list, by_element);
    for (uint64_t b = 0; b < t->g->in.banks; b++)
        for (uint64_t w = 0; w < t->g->in.depth; w++)
            for (uint64_t bit = 0; bit < t->g->in.width; bit++) {
                const unsigned now = *bit_at(t->memory[b], w, bit), before = *bit_at(t->snapshot[b], w, bit);
                const unsigned owned = *bit_at(t->owned[b], w, bit);
                out->outside_bits += ((now ^ before) & ~owned) >> (bit % 8) & 1;
            }
}

static bool check_report(const trial *t, const truth *must, const td_report *report)
{
    if (td_report_compared(report) != must->compared || td_report_mismatches(report) != must->mismatches)
        return complain(t, "the counts differ from the oracle's");
    if (td_report_pad_mismatches(report) != must->pads_wrong)
        return complain(t, "the padding differs from the oracle's");
    if (td_report_outside_bits(report) != must->outside_bits)
        return complain(t, "the bits outside differ from the oracle's");
    for (uint64_t i = 0; i < must->mismatches && i < 65536; i++) {
        td_mismatch m;
        const wrong *w = &must->list[i];
        if (td_report_first(report, i, &m) || m.elem != w->elem || m.bank != w->bank || m.address != w->address ||
            m.lsb != w->lsb || m.expected != w->expected || m.actual != w->actual)
            return complain(t, "a mismatch has another place than the oracle's");
    }
    for (size_t g = 0; g < td_report_group_count(report); g++) {
        uint64_t sum = 0;
        for (uint64_t step = 0; step < td_report_group_size(report, g); step++)
            sum += td_report_group_mismatches(report, g, step);
        if (td_report_group_size(report, g) <= 1024 && sum != must->mismatches)
            return complain(t, "the counts of a group are not all mismatches");
    }
    return true;
}

static bool check(trial *t, random_state *r, bool flip)
{
    const oracle_case *in = &t->g->in;
    truth must = {0};
    td_report *report = NULL;
    const uint64_t flips = flip ? random_below(r, 40) : 0;
    for (uint64_t i = 0; i < flips; i++) {
        const uint64_t bank = random_below(r, in->banks), word = random_below(r, in->depth);
        const uint64_t near = t->o->vectors[random_below(r, t->o->vector_count * t->o->lanes)].address;
        const uint64_t bit = random_below(r, in->width);
        *bit_at(t->memory[bank], random_chance(r, 70) ? near : word, bit) ^= (unsigned char)(1u << (bit % 8));
    }
    find_truth(t, &must);
    const td_comparison what = {.banks = t->memory,
                                .bank_count = (size_t)in->banks,
                                .golden = t->tensor,
                                .layout = t->layout,
                                .policy = "check_pad max=65536",
                                .snapshot = t->snapshot};
    bool good = !td_compare(&what, &report) || complain(t, "the comparison was refused");
    good = good && check_report(t, &must, report);
    char *text = NULL;
    good = good && (!td_report_text(report, &text) || complain(t, "no text"));
    td_free(text);
    td_report_destroy(&report);
    free(must.list);
    return good;
}

static bool run_accepted(trial *t, random_state *r)
{
    const oracle_case *in = &t->g->in;
    bool good = true;
    t->memory = calloc((size_t)in->banks, sizeof *t->memory);
    t->snapshot = calloc((size_t)in->banks, sizeof *t->snapshot);
    t->owned = calloc((size_t)in->banks, sizeof *t->owned);
    for (uint64_t b = 0; b < in->banks && good; b++) {
        good = !td_memory_create("m", in->width, in->depth, &t->memory[b]) &&
               !td_memory_create("owned", in->width, in->depth, &t->owned[b]);
        for (uint64_t i = 0; i < 64 && good; i++) {
            const uint64_t bit = random_below(r, in->width);
            *bit_at(t->memory[b], random_below(r, in->depth), bit) ^= (unsigned char)(1u << (bit % 8));
        }
    }
    good = good && !td_tensor_fill_random(t->tensor, random_next(r));
    if (good && td_backdoor_load_tensor_banks(t->memory, (size_t)in->banks, t->tensor, t->layout, NULL))
        good = complain(t, "the load was refused");
    for (uint64_t b = 0; b < in->banks && good; b++)
        good = !td_memory_snapshot(t->memory[b], &t->snapshot[b]) || complain(t, "no snapshot");
    good = good && check(t, r, false) && check(t, r, true);
    for (uint64_t b = 0; b < in->banks; b++) {
        td_memory_destroy(&t->memory[b]);
        td_memory_destroy(&t->snapshot[b]);
        td_memory_destroy(&t->owned[b]);
    }
    free(t->memory);
    free(t->snapshot);
    free(t->owned);
    return good;
}

static bool run_case(uint64_t seed, uint64_t *compared)
{
    random_state r = {seed};
    generated *g = malloc(sizeof *g);
    oracle *o = malloc(sizeof *o);
    generate(&r, g);
    const oracle_verdict verdict = oracle_open(&g->in, o);
    trial t = {.g = g, .o = o};
    td_shape shape = {.rank = g->in.rank};
    bool good = true;
    memcpy(shape.dim, g->in.dim, sizeof shape.dim);
    if (verdict == ORACLE_OK) {
        *compared += 1;
        good = (!td_layout_create(g->pattern, g->options, g->address, &t.layout) &&
                !td_tensor_create(g->dtype, shape, &t.tensor) && run_accepted(&t, &r)) ||
               complain(&t, "case");
    }
    td_tensor_destroy(&t.tensor);
    td_layout_destroy(&t.layout);
    oracle_close(o);
    free(o);
    free(g);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t cases = 1500, seed = (uint64_t)time(NULL) * 1000003u, compared = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t value = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--cases") == 0)
            cases = value;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = value;
        else if (strcmp(argv[i], "--case") == 0)
            return run_case(value, &compared) ? 0 : 1;
    }
    printf("seed %llu (replay: prop_compare --seed %llu)\n", (unsigned long long)seed, (unsigned long long)seed);
    random_state seeds = {seed};
    unsigned failures = 0;
    for (uint64_t i = 0; i < cases && failures < 5; i++) {
        const uint64_t one = random_next(&seeds);
        if (!run_case(one, &compared)) {
            printf("  replay: prop_compare --case %llu\n", (unsigned long long)one);
            failures++;
        }
    }
    printf("%llu cases, %llu compared; %u failures\n", (unsigned long long)cases, (unsigned long long)compared,
           failures);
    return failures ? 1 : 0;
}
