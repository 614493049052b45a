/* Conversion through random layouts: a load with `as` gives the memories that the oracle makes of the converted tensor,
 * and a dump with `as` gives the conversion of what the oracle dumps. Single conversions are held against the standards
 * in tests/unit/test_convert.c; here they meet every layout, with scales of one number and along a dimension.
 *
 *     prop_convert [--elems N] [--seed S]     2000 random cases, and more until N elements were loaded (default 300000)
 *     prop_convert --case S                   one case, as the failure line says */
#include "generate.h"

#include "base/cpu.h"
#include "tensordoor.h"
#include "values/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_SCALES 4096

typedef struct tally {
    uint64_t cases, loads, elems;
} tally;

typedef struct trial {
    const generated *g;
    const oracle *o;
    random_state *r;
    char as[160];
    const char *tensor_dtype;
    td_shape shape;
    double scale[MAX_SCALES];
    size_t scale_dim;
    bool per_axis;
    td_layout *layout;
    td_tensor *tensor, *converted;
    td_memory **memory;
    unsigned char **expected;
    size_t word_bytes, memory_bytes;
} trial;

static bool complain(const trial *t, const char *what)
{
    const oracle_case *in = &t->g->in;
    printf("%s\n  %s as \"%s\"\n  pattern \"%s\"\n  options \"%s\"\n  address \"%s\"\n  shape (", what, t->tensor_dtype,
           t->as, in->pattern, in->options, in->address);
    for (size_t i = 0; i < in->rank; i++)
        printf("%s%llu", i ? ", " : "", (unsigned long long)in->dim[i]);
    printf("), %llu bank(s) of %llu words of %llu bits\n  library: %s\n", (unsigned long long)in->banks,
           (unsigned long long)in->depth, (unsigned long long)in->width, td_last_error());
    return false;
}

static void choose_as(trial *t)
{
    static const char *const tensors[] = {"f32", "f32", "f32", "f16", "i8", "f64", "i32", "e4m3"};
    static const char *const scales[] = {"", " scale=0.05", " scale=0.5", " scale=3"};
    static const char *const words[] = {"", "", "", " round=floor", " round=stochastic seed=5", " sat"};
    random_state *r = t->r;
    t->tensor_dtype = tensors[random_below(r, 8)];
    const char *scale = scales[random_below(r, 4)];
    char named[40] = "";
    t->per_axis = t->shape.rank && random_chance(r, 40);
    if (t->per_axis) {
        t->scale_dim = random_below(r, t->shape.rank);
        t->per_axis = t->shape.dim[t->scale_dim] > 1 && t->shape.dim[t->scale_dim] <= MAX_SCALES;
    }
    if (t->per_axis) {
        snprintf(named, sizeof named, " scale=@prop axis=%zu", t->scale_dim);
        for (uint64_t i = 0; i < t->shape.dim[t->scale_dim]; i++)
            t->scale[i] = 0.01 * (double)(1 + random_below(r, 1000));
    }
    snprintf(t->as, sizeof t->as, "%s%s%s", t->g->dtype, t->per_axis ? named : scale, words[random_below(r, 6)]);
}

static bool make_tensors(trial *t)
{
    td_tensor *scales = NULL;
    if (t->per_axis) {
        if (td_tensor_create("f64", TD_SHAPE(t->shape.dim[t->scale_dim]), &scales))
            return complain(t, "cannot make the scales");
        memcpy(td_tensor_data(scales), t->scale, (size_t)t->shape.dim[t->scale_dim] * sizeof(double));
        const td_status status = td_scales_set("prop", scales);
        td_tensor_destroy(&scales);
        if (status)
            return complain(t, "cannot name the scales");
    }
    if (td_tensor_create(t->tensor_dtype, t->shape, &t->tensor) || td_tensor_fill_random(t->tensor, random_next(t->r)))
        return complain(t, "cannot make the tensor");
    if (t->tensor_dtype[0] == 'f') /* values that reach the middle of small types */
        for (uint64_t i = 0; i < td_tensor_elems(t->tensor); i += 2)
            if (td_tensor_set_real(t->tensor, i, (double)(int64_t)random_below(t->r, 4001) / 16 - 125))
                return complain(t, "cannot set an element");
    return !td_tensor_convert(t->tensor, t->as, &t->converted) || complain(t, "cannot convert the tensor");
}

static bool memories_equal(const trial *t)
{
    for (uint64_t b = 0; b < t->g->in.banks; b++)
        if (memcmp(td_memory_data(t->memory[b]), t->expected[b], t->memory_bytes) != 0)
            return false;
    return true;
}

static bool check_load(trial *t)
{
    const td_status status =
        td_backdoor_load_tensor_banks(t->memory, (size_t)t->g->in.banks, t->tensor, t->layout, t->as);
    if (status)
        return complain(t, "the load was refused");
    oracle_load(t->o, td_tensor_data(t->converted), t->expected, t->word_bytes);
    return memories_equal(t) || complain(t, "the memory is not what the oracle makes of the converted tensor");
}

/* The oracle's dump, converted element by element with nothing but the exact rule. */
static bool check_dump(trial *t)
{
    static td_convert convert;
    td_as as;
    td_dtype dtype;
    td_scale_axis axis = {t->scale, NULL, 1, t->per_axis ? t->shape.dim[t->scale_dim] : 0};
    const uint64_t elems = td_tensor_elems(t->tensor);
    const size_t stored = td_tensor_elem_bytes(t->converted), bytes = td_tensor_elem_bytes(t->tensor);
    unsigned char *bits = calloc((size_t)elems, stored);
    td_tensor *out = NULL;
    bool good = bits && !td_tensor_create(t->tensor_dtype, t->shape, &out) &&
                !td_dtype_parse(t->tensor_dtype, &dtype) && !td_as_parse(t->as, dtype, &as);
    for (size_t d = t->scale_dim + 1; t->per_axis && d < t->shape.rank; d++)
        axis.inner *= t->shape.dim[d];
    good = good && !td_convert_bind(&as, dtype, TD_TO_TENSOR, &axis, &convert);
    if (!good)
        complain(t, "cannot prepare the dump");
    const bool agree = good && oracle_dump(t->o, bits, t->expected, t->word_bytes);
    if (good && td_backdoor_dump_tensor_banks(t->memory, (size_t)t->g->in.banks, out, t->layout, t->as) !=
                    (agree ? TD_OK : TD_DISAGREE))
        good = complain(t, "the dump was refused, or not");
    for (uint64_t i = 0; good && agree && i < elems; i++) {
        uint64_t from = 0, expected = 0, found = 0;
        memcpy(&from, bits + i * stored, stored);
        memcpy(&found, (const unsigned char *)td_tensor_data(out) + i * bytes, bytes);
        expected = td_convert_one(&convert, from, i, NULL) & (~(uint64_t)0 >> (64 - 8 * bytes));
        if (convert.copy)
            expected = td_dtype_extend(dtype, from) & (~(uint64_t)0 >> (64 - 8 * bytes));
        if (found != expected) {
            printf("element %llu: 0x%llx, expected 0x%llx\n", (unsigned long long)i, (unsigned long long)found,
                   (unsigned long long)expected);
            good = complain(t, "the dump is not the conversion of the oracle's");
        }
    }
    td_tensor_destroy(&out);
    free(bits);
    return good;
}

static bool slides(const oracle *o)
{
    for (size_t g = 0; g < o->left_count; g++)
        if (o->left[g].sliding)
            return true;
    return false;
}

static bool make_memories(trial *t)
{
    const oracle_case *in = &t->g->in;
    t->memory = calloc((size_t)in->banks, sizeof(td_memory *));
    t->expected = calloc((size_t)in->banks, sizeof(unsigned char *));
    for (uint64_t b = 0; b < in->banks; b++) {
        if (td_memory_create("m", in->width, in->depth, &t->memory[b]))
            return complain(t, "cannot make the memory");
        t->word_bytes = td_memory_word_bytes(t->memory[b]);
        t->memory_bytes = t->word_bytes * (size_t)in->depth;
        t->expected[b] = calloc(1, t->memory_bytes);
        unsigned char *word = td_memory_data(t->memory[b]);
        for (uint64_t w = 0; w < in->depth; w++, word += t->word_bytes)
            for (uint64_t bit = 0; bit < in->width; bit++)
                word[bit / 8] |= (unsigned char)((random_next(t->r) & 1) << (bit % 8));
        memcpy(t->expected[b], td_memory_data(t->memory[b]), t->memory_bytes);
    }
    return true;
}

static bool run_case(uint64_t seed, bool verbose, tally *sum)
{
    static const unsigned masks[] = {TD_CPU_ALL, TD_CPU_ALL, TD_CPU_AVX2, TD_CPU_C};
    random_state r = {seed};
    generated *g = malloc(sizeof *g);
    oracle *o = malloc(sizeof *o);
    generate(&r, g);
    const oracle_verdict verdict = oracle_open(&g->in, o);
    trial *t = calloc(1, sizeof *t);
    bool good = true;
    t->g = g, t->o = o, t->r = &r;
    t->shape.rank = g->in.rank;
    memcpy(t->shape.dim, g->in.dim, sizeof t->shape.dim);
    sum->cases++;
    if (verdict == ORACLE_OK) {
        choose_as(t);
        td_cpu_mask(masks[random_below(&r, 4)]);
        if (verbose)
            complain(t, "case");
        good = (!td_layout_create(g->pattern, g->options, g->address, &t->layout) ||
                complain(t, "the layout was refused")) &&
               make_tensors(t) && make_memories(t) && check_load(t) && (slides(o) || o->alias_last || check_dump(t));
        sum->loads++;
        sum->elems += t->tensor ? td_tensor_elems(t->tensor) : 0;
    }
    for (uint64_t b = 0; t->memory && b < g->in.banks; b++) {
        td_memory_destroy(&t->memory[b]);
        free(t->expected[b]);
    }
    free(t->memory);
    free(t->expected);
    td_tensor_destroy(&t->tensor);
    td_tensor_destroy(&t->converted);
    td_layout_destroy(&t->layout);
    (void)td_scales_set("prop", NULL);
    oracle_close(o);
    free(t);
    free(o);
    free(g);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t elems = 300000, seed = (uint64_t)time(NULL) * 1000003u;
    tally sum = {0};
    for (int i = 1; i + 1 < argc; i += 2) {
        const uint64_t value = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--elems") == 0)
            elems = value;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = value;
        else if (strcmp(argv[i], "--case") == 0)
            return run_case(value, true, &sum) ? 0 : 1;
    }
    printf("seed %llu (replay: prop_convert --seed %llu)\n", (unsigned long long)seed, (unsigned long long)seed);
    random_state seeds = {seed};
    unsigned failures = 0;
    while ((sum.elems < elems || sum.cases < 2000) && failures < 5) {
        const uint64_t one = random_next(&seeds);
        if (!run_case(one, false, &sum)) {
            printf("  replay: prop_convert --case %llu\n", (unsigned long long)one);
            failures++;
        }
    }
    printf("%llu cases: %llu loaded and dumped, %llu elements; %u failures\n", (unsigned long long)sum.cases,
           (unsigned long long)sum.loads, (unsigned long long)sum.elems, failures);
    return failures ? 1 : 0;
}
