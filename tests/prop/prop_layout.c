/* Random layouts of the whole language against the oracle. For each: a dump of garbage equals the oracle's, a load into
 * garbage equals the oracle's in every byte of every memory, a dump after it gives the tensor back, copies that differ
 * are noticed, the layout prints as itself, the spans are the words written; and what is refused changes nothing.
 *
 *     prop_layout [--words N] [--seed S]      random cases until N words were written (default 1000000)
 *     prop_layout --case S                    one case, as the failure line says */
#include "generate.h"
#include "plan/stage.h"
#include "tensordoor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct tally {
    uint64_t cases, accepted, refused, grey, words, elems, skipped;
} tally;

typedef struct trial {
    const generated *g;
    const oracle *o;
    random_state *r;
    bool verbose;
    td_layout *layout;
    td_tensor *tensor;
    td_memory **memory;       /* one per bank */
    unsigned char **expected; /* what the oracle makes of each */
    size_t word_bytes, memory_bytes, tensor_bytes;
} trial;

static bool complain(const trial *t, const char *what)
{
    const oracle_case *in = &t->g->in;
    printf("%s\n  pattern \"%s\"\n  options \"%s\"\n  address \"%s\"\n  dtype %s, shape (", what, in->pattern,
           in->options, in->address, in->dtype);
    for (size_t i = 0; i < in->rank; i++)
        printf("%s%llu", i ? ", " : "", (unsigned long long)in->dim[i]);
    printf("), %llu bank(s) of %llu words of %llu bits\n  oracle: %s\n  library: %s\n", (unsigned long long)in->banks,
           (unsigned long long)in->depth, (unsigned long long)in->width, t->o->why, td_last_error());
    return false;
}

static void fill_garbage(trial *t)
{
    const uint64_t width = t->g->in.width;
    for (uint64_t b = 0; b < t->g->in.banks; b++) {
        unsigned char *bytes = td_memory_data(t->memory[b]);
        for (size_t i = 0; i < t->memory_bytes; i++)
            bytes[i] = (unsigned char)random_next(t->r);
        for (uint64_t w = 0; w < t->g->in.depth; w++)
            for (uint64_t bit = width; bit < t->word_bytes * 8; bit++)
                bytes[w * t->word_bytes + bit / 8] &= (unsigned char)~(1u << (bit % 8));
        memcpy(t->expected[b], bytes, t->memory_bytes);
    }
}

static bool memories_equal(const trial *t)
{
    for (uint64_t b = 0; b < t->g->in.banks; b++)
        if (memcmp(td_memory_data(t->memory[b]), t->expected[b], t->memory_bytes) != 0)
            return false;
    return true;
}

static td_status load(const trial *t)
{
    if (t->g->in.banks == 1)
        return td_backdoor_load_tensor(t->memory[0], t->tensor, t->layout, NULL);
    return td_backdoor_load_tensor_banks(t->memory, (size_t)t->g->in.banks, t->tensor, t->layout, NULL);
}

static td_status dump(const trial *t, td_tensor *tensor)
{
    if (t->g->in.banks == 1)
        return td_backdoor_dump_tensor(t->memory[0], tensor, t->layout, NULL);
    return td_backdoor_dump_tensor_banks(t->memory, (size_t)t->g->in.banks, tensor, t->layout, NULL);
}

/* Dumps into a tensor of garbage and holds it against the oracle's dump of the same memories. */
static bool check_dump(const trial *t, const unsigned char *must_be)
{
    bool good = true;
    unsigned char *before = malloc(t->tensor_bytes), *oracle_data = malloc(t->tensor_bytes);
    td_tensor *out = NULL;
    if (td_tensor_create(t->g->dtype, td_tensor_shape(t->tensor), &out))
        good = complain(t, "cannot make a tensor");
    for (size_t i = 0; good && i < t->tensor_bytes; i++)
        before[i] = (unsigned char)random_next(t->r);
    if (good) {
        memcpy(td_tensor_data(out), before, t->tensor_bytes);
        memcpy(oracle_data, before, t->tensor_bytes); /* elements that a sliding group steps over stay as they were */
        bool agree = oracle_dump(t->o, oracle_data, t->expected, t->word_bytes);
        td_status status = dump(t, out);
        if (!agree && status != TD_DISAGREE)
            good = complain(t, "copies differ, and the dump did not notice");
        else if (agree && status)
            good = complain(t, "the dump was refused");
        else if (memcmp(td_tensor_data(out), agree ? oracle_data : before, t->tensor_bytes) != 0)
            good = complain(t, agree ? "the dump differs from the oracle" : "a refused dump changed the tensor");
        else if (must_be && memcmp(td_tensor_data(out), must_be, t->tensor_bytes) != 0)
            good = complain(t, "the dump after a load is not the tensor");
        else if (!memories_equal(t))
            good = complain(t, "a dump changed the memory");
    }
    td_tensor_destroy(&out);
    free(oracle_data);
    free(before);
    return good;
}

/* The words that the oracle's load writes, against td_layout_spans. */
static bool check_spans(const trial *t)
{
    const oracle *o = t->o;
    td_span *spans = NULL;
    size_t count = 0;
    if (td_layout_spans(t->layout, t->tensor, NULL, t->g->in.width, t->memory[0], &spans, &count))
        return complain(t, "spans refused");
    const uint64_t words = t->g->in.depth * t->g->in.banks;
    unsigned char *written = calloc((size_t)words, 1);
    for (uint64_t v = 0; v < o->vector_count; v++)
        for (uint64_t beat = 0; beat < o->beats; beat++)
            for (uint64_t l = 0; l < (o->skewed ? o->lanes : 1); l++) {
                const oracle_vector *in = &o->vectors[v * o->lanes + l];
                if (o->skewed ? o->elems[v * o->lanes + l] != ORACLE_CLIP : oracle_writes(o, v, beat))
                    written[in->bank * t->g->in.depth + in->address + beat] = 1;
            }
    if (o->flat) { /* whole words from the first to the last, those between clipped elements too */
        uint64_t first = 0, last = words;
        while (!written[first])
            first++;
        while (!written[last - 1])
            last--;
        bool covered = count > 0 && spans[0].first == first && spans[count - 1].first + spans[count - 1].count == last;
        for (size_t s = 0; s < count; s++)
            memset(written + spans[s].first, 0, (size_t)spans[s].count);
        covered = covered && !memchr(written, 1, (size_t)words);
        td_free(spans);
        free(written);
        return covered || complain(t, "the spans do not cover the words written");
    }
    bool good = true;
    uint64_t at = 0;
    for (size_t s = 0; good && s < count; s++) {
        const uint64_t first = spans[s].bank * t->g->in.depth + spans[s].first;
        good = spans[s].count > 0 && first >= at && first + spans[s].count <= words;
        for (; good && at < first; at++)
            good = !written[at];
        for (; good && at < first + spans[s].count; at++)
            good = written[at];
    }
    for (; good && at < words; at++)
        good = !written[at];
    td_free(spans);
    free(written);
    return good || complain(t, "the spans are not the words written");
}

static bool check_printing(const trial *t)
{
    td_layout *again = NULL;
    if (td_layout_create(td_layout_pattern(t->layout), td_layout_options(t->layout), td_layout_address(t->layout),
                         &again))
        return complain(t, "the layout's own strings are refused");
    bool same = strcmp(td_layout_pattern(again), td_layout_pattern(t->layout)) == 0 &&
                strcmp(td_layout_options(again), td_layout_options(t->layout)) == 0 &&
                strcmp(td_layout_address(again), td_layout_address(t->layout)) == 0;
    td_layout_destroy(&again);
    return same || complain(t, "the layout's own strings print otherwise");
}

static bool check_refused(trial *t)
{
    fill_garbage(t);
    unsigned char *before = malloc(t->tensor_bytes);
    memcpy(before, td_tensor_data(t->tensor), t->tensor_bytes);
    bool good = true;
    if (load(t) == TD_OK)
        good = complain(t, "the oracle refuses this load, the library does not");
    else if (td_last_error()[0] == '\0')
        good = complain(t, "refused without a message");
    else if (!memories_equal(t))
        good = complain(t, "a refused load changed the memory");
    else if (dump(t, t->tensor) == TD_OK)
        good = complain(t, "the oracle refuses this dump, the library does not");
    else if (memcmp(before, td_tensor_data(t->tensor), t->tensor_bytes) != 0)
        good = complain(t, "a refused dump changed the tensor");
    free(before);
    return good;
}

/* Elements with rubbish above their own bits, which a load must not read. Returns the bytes a dump must give. */
static unsigned char *fill_tensor(const trial *t)
{
    const unsigned bits = t->o->elem_bits, bytes = t->o->elem_bytes;
    unsigned char *data = td_tensor_data(t->tensor), *clean = malloc(t->tensor_bytes);
    for (size_t at = 0; at < t->tensor_bytes; at += bytes) {
        const uint64_t own = random_next(t->r) & ~(uint64_t)0 >> (64 - bits);
        const uint64_t above = bits < 64 ? ~(uint64_t)0 << bits : 0;
        const uint64_t extended = t->o->elem_signed && own >> (bits - 1) ? own | above : own;
        const uint64_t dirty = random_chance(t->r, 50) ? own | (random_next(t->r) & above) : extended;
        for (unsigned i = 0; i < bytes; i++) {
            clean[at + i] = (unsigned char)(extended >> (8 * i));
            data[at + i] = (unsigned char)(dirty >> (8 * i));
        }
    }
    return clean;
}

static bool slides(const oracle *o)
{
    for (size_t g = 0; g < o->left_count; g++)
        if (o->left[g].sliding)
            return true;
    return false;
}

static bool check_accepted(trial *t, bool grey, tally *sum)
{
    unsigned char *clean = fill_tensor(t);
    fill_garbage(t);
    td_status status = load(t);
    bool good = true;
    if (status && grey)
        good = memories_equal(t) || complain(t, "a refused load changed the memory");
    else if (status)
        good = complain(t, "the load was refused");
    if (!status) {
        oracle_load(t->o, td_tensor_data(t->tensor), t->expected, t->word_bytes);
        good = memories_equal(t) || complain(t, "the memory differs from the oracle");
        good = good && check_dump(t, t->o->alias_last || grey || slides(t->o) ? NULL : clean) && check_spans(t);
        if (good) { /* one bit flipped anywhere: the same answer as the oracle's, also when copies now differ */
            fill_garbage(t);
            good = check_dump(t, NULL);
            oracle_load(t->o, td_tensor_data(t->tensor), t->expected, t->word_bytes);
            const uint64_t bank = random_below(t->r, t->g->in.banks);
            const uint64_t word = t->o->vectors[random_below(t->r, t->o->vector_count * t->o->lanes)].address;
            const uint64_t bit = random_below(t->r, t->g->in.width);
            t->expected[bank][word * t->word_bytes + bit / 8] ^= (unsigned char)(1u << (bit % 8));
            for (uint64_t b = 0; b < t->g->in.banks; b++)
                memcpy(td_memory_data(t->memory[b]), t->expected[b], t->memory_bytes);
            good = good && check_dump(t, NULL);
        }
        sum->words += t->o->vector_count * t->o->beats;
        sum->elems += td_tensor_elems(t->tensor);
    }
    free(clean);
    return good;
}

static bool run_case(uint64_t seed, bool verbose, tally *sum)
{
    random_state r = {seed};
    td_listed_elems = random_chance(&r, 50) ? 1 : TD_LISTED_ELEMS;
    generated *g = malloc(sizeof *g);
    oracle *o = malloc(sizeof *o);
    generate(&r, g);
    const oracle_verdict verdict = oracle_open(&g->in, o);
    trial t = {.g = g, .o = o, .r = &r};
    bool good = true;
    sum->cases++;
    if (verbose)
        complain(&t, "case");

    td_shape shape = {.rank = g->in.rank};
    memcpy(shape.dim, g->in.dim, sizeof shape.dim);
    if (verdict == ORACLE_GREY && !o->vectors) {
        sum->skipped++;
    } else if (td_layout_create(g->pattern, g->options, g->address, &t.layout)) {
        sum->refused++;
        good = verdict != ORACLE_OK || complain(&t, "the layout was refused");
    } else if (td_tensor_create(g->dtype, shape, &t.tensor)) {
        good = complain(&t, "cannot make the tensor");
    } else {
        t.memory = calloc((size_t)g->in.banks, sizeof(td_memory *));
        t.expected = calloc((size_t)g->in.banks, sizeof(unsigned char *));
        for (uint64_t b = 0; good && b < g->in.banks; b++) {
            good = !td_memory_create("m", g->in.width, g->in.depth, &t.memory[b]) ||
                   complain(&t, "cannot make the memory");
            t.word_bytes = good ? td_memory_word_bytes(t.memory[b]) : 1;
            t.memory_bytes = t.word_bytes * (size_t)g->in.depth;
            t.expected[b] = malloc(t.memory_bytes);
        }
        t.tensor_bytes = (size_t)td_tensor_elems(t.tensor) * td_tensor_elem_bytes(t.tensor);
        good = good && check_printing(&t);
        if (good && verdict == ORACLE_REFUSED) {
            sum->refused++;
            good = check_refused(&t);
        } else if (good) {
            sum->accepted += verdict == ORACLE_OK;
            sum->grey += verdict == ORACLE_GREY;
            good = check_accepted(&t, verdict == ORACLE_GREY, sum);
        }
        for (uint64_t b = 0; b < g->in.banks; b++) {
            td_memory_destroy(&t.memory[b]);
            free(t.expected[b]);
        }
        free(t.memory);
        free(t.expected);
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
    uint64_t words = 1000000, seed = (uint64_t)time(NULL) * 1000003u;
    tally sum = {0};
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t value = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--words") == 0)
            words = value;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = value;
        else if (strcmp(argv[i], "--case") == 0)
            return run_case(value, true, &sum) ? 0 : 1;
    }
    printf("seed %llu (replay: prop_layout --seed %llu)\n", (unsigned long long)seed, (unsigned long long)seed);
    random_state seeds = {seed};
    unsigned failures = 0;
    while (sum.words < words && failures < 5 && sum.cases < words) {
        const uint64_t one = random_next(&seeds);
        if (!run_case(one, false, &sum)) {
            printf("  replay: prop_layout --case %llu\n", (unsigned long long)one);
            failures++;
        }
    }
    printf("%llu cases: %llu accepted, %llu refused, %llu left open, %llu skipped; %llu words, %llu elements; %u "
           "failures\n",
           (unsigned long long)sum.cases, (unsigned long long)sum.accepted, (unsigned long long)sum.refused,
           (unsigned long long)sum.grey, (unsigned long long)sum.skipped, (unsigned long long)sum.words,
           (unsigned long long)sum.elems, failures);
    return failures ? 1 : 0;
}
