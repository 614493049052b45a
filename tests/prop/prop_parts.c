/* Parts through random packings and layouts: td_backdoor_load_parts gives the memories that td_parts_pack and one load
 * for each part give, bit for bit, and td_backdoor_dump_parts the values that td_parts_unpack gives; on every
 * instruction set, whether the elements went layer by layer or not. The rules themselves are held against exact
 * arithmetic by parts_oracle.py, and layouts against their oracle by prop_layout.
 *
 *     prop_parts [--cases N] [--seed S]
 *     prop_parts --case S                  one case, as the failure line says */
#include "random.h"

#include "base/cpu.h"
#include "tensordoor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 4

typedef struct trial {
    random_state *r;
    char packing[160], named[160], pattern[96], options[96], address[64], dtype[8];
    td_shape shape;
    td_tensor *tensor, *values, *dumped;
    td_parts *parts;
    td_parts_layout *layout;
    td_layout *part_layout[MOST];
    td_memory *memory[MOST], *expected[MOST];
    size_t count;
} trial;

static bool complain(const trial *t, const char *what)
{
    printf("%s\n  %s shape (", what, t->dtype);
    for (size_t i = 0; i < t->shape.rank; i++)
        printf("%s%llu", i ? ", " : "", (unsigned long long)t->shape.dim[i]);
    printf(") as \"%s\"\n  pattern \"%s\"\n  options \"%s\"\n  address \"%s\"\n  library: %s\n", t->named, t->pattern,
           t->options, t->address, td_last_error());
    return false;
}

static uint64_t between(random_state *r, uint64_t low, uint64_t high)
{
    return low + random_below(r, high - low + 1);
}

static void choose_packing(trial *t)
{
    static const char *const names[] = {"mxfp4",
                                        "mxfp8",
                                        "mxfp6",
                                        "mxint8",
                                        "nvfp4",
                                        "nvfp4_2d",
                                        "bfp8",
                                        "int4 block=16",
                                        "uint4 block=32",
                                        "int8 block=24",
                                        "mxfp8_e5m2",
                                        "bfp4",
                                        "uint8 rule=awq",
                                        "int3 block=8",
                                        "blocks block=5",
                                        "mxfp6_e2m3",
                                        "int2",
                                        "uint2 block=all",
                                        "nvfp4 rule=torchao"};
    const char *name = names[random_below(t->r, sizeof names / sizeof names[0])];
    const bool two = strstr(name, "2d") != NULL;
    const uint64_t dim = random_below(t->r, t->shape.rank);
    if (two && t->shape.rank < 2)
        name = "nvfp4";
    snprintf(t->packing, sizeof t->packing, "%s", name);
    snprintf(t->named, sizeof t->named, "%s", name);
    if (!two && random_chance(t->r, 50)) {
        snprintf(t->packing, sizeof t->packing, "%s axis=%d", name, (int)dim);
        snprintf(t->named, sizeof t->named, "%s axis=%c", name, "abc"[dim]);
    }
    if (strncmp(name, "mxfp", 4) == 0 && random_chance(t->r, 50)) {
        strcat(t->packing, " rule=rceil");
        strcat(t->named, " rule=rceil");
    }
}

/* A pattern of the elements; *lanes is what a word has to hold. Axes a, b and c are in every one of them. */
static void choose_pattern(trial *t, uint64_t *lanes)
{
    random_state *r = t->r;
    const uint64_t s = (uint64_t)1 << random_below(r, 5), u = between(r, 1, 24), *dim = t->shape.dim;
    static const char *const pad[] = {"pad=0", "tail=clip", "pad=1 fill=keep"};
    char sizes[48];
    *lanes = s * u;
    snprintf(sizes, sizeof sizes, "s=%llu u=%llu", (unsigned long long)s, (unsigned long long)u);
    t->address[0] = 0;
    if (t->shape.rank == 1) {
        snprintf(t->pattern, sizeof t->pattern, "(a s u) -> a (s u)");
    } else if (t->shape.rank == 3) {
        static const char *const forms[] = {"a (b s) (c u) -> (a b c) (s u)", "a (b s) (c u) -> (b a c) (u s)",
                                            "(a s) b (c u) -> (a b c) (s u)"};
        snprintf(t->pattern, sizeof t->pattern, "%s", forms[random_below(r, 3)]);
        if (random_chance(r, 30))
            snprintf(t->address, sizeof t->address, "5 + %llu*a + %llu*b + c", (unsigned long long)(dim[1] * dim[2]),
                     (unsigned long long)dim[2]);
    } else {
        static const char *const forms[] = {"(a s) (b u) -> (a b) (s u)",  "(a s) (b u) -> (b a) (s u)",
                                            "(a s) (b u) -> (a b s) u",    "(a s) (b u) -> (b a s) u",
                                            "(a s) (b u) -> (a b u) s",    "(a s) (b u) -> (a s b) u",
                                            "(a s) (b u) -> (s u) (a b)",  "a b -> (a b)",
                                            "(a s) (b u) -> (a k b) (s u)"};
        const size_t form = random_below(r, 9);
        snprintf(t->pattern, sizeof t->pattern, "%s", forms[form]);
        *lanes = form < 2 || form == 8 ? s * u : form == 4 ? s : u;
        if (form == 6)
            *lanes = ((dim[0] - 1) / s + 1) * ((dim[1] - 1) / u + 1);
        if (form == 7) { /* flat, in words that are stored without gaps */
            *lanes = 0;
            t->options[0] = 0;
            return;
        }
        if (form == 8)
            strcat(sizes, " k=2");
        if (form == 1 && random_chance(r, 50)) /* layers lie alike with such an address, and not without */
            snprintf(t->address, sizeof t->address, "7 + %llu*a + b", (unsigned long long)(dim[1] + 3));
        else if (form < 6 && random_chance(r, 30))
            snprintf(t->address, sizeof t->address, "2 + 3*index");
        else if (form == 0 && random_chance(r, 30))
            snprintf(t->address, sizeof t->address, "index ^ 1");
    }
    snprintf(t->options, sizeof t->options, "%s %s%s", sizes, pad[random_below(r, 3)],
             random_chance(r, 30) ? " lanes=msb" : "");
}

static bool add_memory(trial *t, const char *part, const td_layout *layout, uint64_t width)
{
    td_tensor *tensor = NULL;
    td_span *spans = NULL;
    size_t count = 0;
    uint64_t depth = 4; /* room behind the last word */
    char name[32];
    if (td_parts_part(t->parts, part, &tensor) || td_layout_spans(layout, tensor, NULL, width, NULL, &spans, &count))
        return complain(t, "no words");
    for (size_t i = 0; i < count; i++)
        depth = spans[i].first + spans[i].count + 4 > depth ? spans[i].first + spans[i].count + 4 : depth;
    td_free(spans);
    snprintf(name, sizeof name, "m_%s", part);
    if (td_memory_create(name, width, depth, &t->memory[t->count]) ||
        td_memory_fill(t->memory[t->count], "random seed=3", 0, depth) ||
        td_memory_create(name, width, depth, &t->expected[t->count]) ||
        td_memory_fill(t->expected[t->count], "random seed=3", 0, depth) ||
        td_parts_layout_add(t->layout, part, name, layout))
        return complain(t, "a memory or a layout was refused");
    t->count++;
    return td_backdoor_load_tensor(t->expected[t->count - 1], tensor, layout, NULL) == TD_OK ||
           complain(t, "the part alone was refused");
}

static bool add_part(trial *t, const char *part, uint64_t lanes)
{
    td_tensor *tensor = NULL;
    td_layout **layout = &t->part_layout[t->count];
    if (td_parts_part(t->parts, part, &tensor))
        return complain(t, "no part");
    const uint64_t bits = td_tensor_elem_bits(tensor);
    if (strcmp(part, "elems") == 0)
        return (!td_layout_create(t->pattern, t->options, t->address, layout) || complain(t, "the layout")) &&
               add_memory(t, part, *layout, lanes ? lanes * bits + random_below(t->r, 9) : 64);
    const bool matrix = td_tensor_shape(tensor).rank == 2;
    static const char *const presets[] = {"preset:scale_128x4", "preset:scale_8x4", "preset:scale_32x8"};
    if (matrix && bits == 8 && random_chance(t->r, 50)) {
        const size_t which = random_below(t->r, 3);
        static const uint64_t width[] = {128, 256, 32};
        return (!td_layout_create(presets[which], "", "", layout) || complain(t, "a preset")) &&
               add_memory(t, part, *layout, width[which]);
    }
    return (!td_layout_create(td_tensor_shape(tensor).rank ? "... -> (...)" : " -> 1 1", "", "", layout) ||
            complain(t, "a flat layout")) &&
           add_memory(t, part, *layout, 32);
}

static bool same_memories(const trial *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const size_t bytes = (size_t)td_memory_depth_words(t->memory[i]) * td_memory_word_bytes(t->memory[i]);
        if (memcmp(td_memory_data(t->memory[i]), td_memory_data(t->expected[i]), bytes) != 0) {
            printf("part %s: ", td_parts_layout_part(t->layout, i));
            return complain(t, "the memory is not that of a load of the part");
        }
    }
    return true;
}

static bool check(trial *t)
{
    uint64_t lanes = 0;
    choose_pattern(t, &lanes);
    choose_packing(t);
    if (td_tensor_create(t->dtype, t->shape, &t->tensor) ||
        td_tensor_fill(t->tensor, random_chance(t->r, 80) ? "normal sigma=3 zeros=0.2 seed=9" : "corners seed=4") ||
        td_tensor_create(t->dtype, t->shape, &t->dumped) || td_parts_pack(t->tensor, t->packing, &t->parts) ||
        td_parts_layout_create(t->named, &t->layout))
        return complain(t, "no tensor");
    for (size_t i = 0; i < td_parts_count(t->parts); i++)
        if (!add_part(t, td_parts_name(t->parts, i), lanes))
            return false;
    td_memory *shuffled[MOST];
    for (size_t i = 0; i < t->count; i++)
        shuffled[i] = t->memory[(i + 1) % t->count];
    if (td_backdoor_load_parts(shuffled, t->count, t->tensor, t->layout))
        return complain(t, "the load was refused");
    if (!same_memories(t))
        return false;
    if (td_backdoor_dump_parts(shuffled, t->count, t->dumped, t->layout))
        return complain(t, "the dump was refused");
    if (td_parts_unpack(t->parts, t->dtype, &t->values))
        return complain(t, "the parts do not unpack");
    const size_t elem_bytes = td_tensor_elem_bytes(t->values), elems = (size_t)td_tensor_elems(t->values);
    const unsigned char *values = td_tensor_data(t->values), *dumped = td_tensor_data(t->dumped);
    for (size_t i = 0; i < elems; i++)
        if (memcmp(values + i * elem_bytes, dumped + i * elem_bytes, elem_bytes) != 0) {
            printf("element %zu: ", i);
            return complain(t, "the value is not that of the parts");
        }
    return true;
}

static bool run_case(uint64_t seed, bool verbose)
{
    static const unsigned masks[] = {TD_CPU_ALL, TD_CPU_AVX2, TD_CPU_C};
    static const char *const dtypes[] = {"f32", "f32", "bf16", "f64"};
    random_state r = {seed};
    trial *t = calloc(1, sizeof *t);
    t->r = &r;
    td_cpu_mask(masks[random_below(&r, 3)]);
    snprintf(t->dtype, sizeof t->dtype, "%s", dtypes[random_below(&r, 4)]);
    const bool large = random_chance(&r, 40);
    t->shape.rank = 1 + random_below(&r, 3);
    for (size_t d = 0; d < t->shape.rank; d++)
        t->shape.dim[d] = between(&r, 1, large ? (t->shape.rank == 1 ? 300000 : t->shape.rank == 2 ? 600 : 70) : 40);
    if (large && random_chance(&r, 60)) /* so that tiles fit */
        for (size_t d = 0; d < t->shape.rank; d++)
            t->shape.dim[d] = (t->shape.dim[d] + 31) / 32 * 32;
    const bool good = check(t);
    if (verbose)
        complain(t, good ? "case, right" : "case");
    for (size_t i = 0; i < MOST; i++) {
        td_memory_destroy(&t->memory[i]);
        td_memory_destroy(&t->expected[i]);
        td_layout_destroy(&t->part_layout[i]);
    }
    td_tensor_destroy(&t->tensor);
    td_tensor_destroy(&t->values);
    td_tensor_destroy(&t->dumped);
    td_parts_destroy(&t->parts);
    td_parts_layout_destroy(&t->layout);
    free(t);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t cases = 300, seed = (uint64_t)time(NULL) * 1000003u;
    for (int i = 1; i + 1 < argc; i += 2) {
        const uint64_t value = strtoull(argv[i + 1], NULL, 0);
        if (strcmp(argv[i], "--cases") == 0)
            cases = value;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = value;
        else if (strcmp(argv[i], "--case") == 0)
            return run_case(value, true) ? 0 : 1;
    }
    printf("seed %llu (replay: prop_parts --seed %llu)\n", (unsigned long long)seed, (unsigned long long)seed);
    random_state seeds = {seed};
    unsigned failures = 0;
    for (uint64_t i = 0; i < cases && failures < 5; i++) {
        const uint64_t one = random_next(&seeds);
        if (!run_case(one, false)) {
            printf("  replay: prop_parts --case %llu\n", (unsigned long long)one);
            failures++;
        }
    }
    printf("%llu cases; %u failures\n", (unsigned long long)cases, failures);
    return failures ? 1 : 0;
}
