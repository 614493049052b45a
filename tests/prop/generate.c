/* See generate.h. A layout is made from the inside out: axes with sizes, their groups on the left, their places on the
 * right, options, an address, and last the memory, whose depth the oracle's own answer decides. */
#include "generate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_AXES 40
#define MOST_ELEMS 6000

typedef struct draft {
    random_state *r;
    generated *g;
    size_t axes;
    char name[MOST_AXES][8];
    uint64_t size[MOST_AXES];
    bool known[MOST_AXES]; /* its size stands in the options */
    size_t order[MOST_AXES];
    size_t banks, words, lanes; /* how many of `order` stand in each right group */
    size_t repeats;             /* the last `repeats` axes stand only on the right */
    bool bank_group;
    bool flat;
    bool ellipsis;
    size_t ellipsis_first, ellipsis_count; /* the axes that `...` stands for */
    uint64_t bits;
} draft;

static void add(char *text, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t room, const char *fmt, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + used, room - used, fmt, args);
    va_end(args);
}

#define ADD(field, ...) add(d->g->field, sizeof d->g->field, __VA_ARGS__)

static void choose_dtype(draft *d)
{
    static const char *const floats[] = {"f16", "bf16", "f32", "f64"};
    static const unsigned common[] = {1, 2, 4, 8, 16, 32, 64};
    random_state *r = d->r;
    if (random_chance(r, 25)) {
        snprintf(d->g->dtype, sizeof d->g->dtype, "%s", floats[random_below(r, 4)]);
    } else {
        unsigned bits = random_chance(r, 50) ? common[random_below(r, 7)] : 1 + (unsigned)random_below(r, 64);
        snprintf(d->g->dtype, sizeof d->g->dtype, "%c%u", random_chance(r, 50) ? 'u' : 'i', bits);
    }
    d->bits = strtoull(d->g->dtype + (d->g->dtype[0] == 'b' ? 2 : 1), NULL, 10);
}

static void choose_axes(draft *d)
{
    static const uint64_t sizes[] = {1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 9, 16, 17, 32, 64};
    uint64_t total = 1;
    size_t wanted = random_chance(d->r, 5) ? 8 + random_below(d->r, 25) : 1 + random_below(d->r, 6);
    for (size_t i = 0; i < wanted; i++) {
        uint64_t size = sizes[random_below(d->r, sizeof sizes / sizeof sizes[0])];
        if (total * size > MOST_ELEMS)
            size = 1;
        total *= size;
        d->size[i] = size;
        snprintf(d->name[i], sizeof d->name[i], "%c%s%u", (char)('a' + i % 26), random_chance(d->r, 20) ? "_" : "",
                 (unsigned)i);
        if (i < 26 && random_chance(d->r, 60))
            d->name[i][1] = '\0';
    }
    d->axes = wanted;
}

/* How far the dimension may fall short of its group, and by how much this time. */
static uint64_t choose_dim(draft *d, uint64_t total, uint64_t known, bool all_known, bool may_grow)
{
    if (random_chance(d->r, 1))
        return total + 1 + random_below(d->r, 3);
    if (!may_grow && !random_chance(d->r, 2))
        return total;
    uint64_t most = all_known ? total : known;
    return total - random_below(d->r, most);
}

static void unit_group(draft *d, size_t *rank)
{
    if (*rank < 30 && random_chance(d->r, 6)) {
        ADD(pattern, "%s ", random_chance(d->r, 50) ? "1" : "()");
        d->g->in.dim[(*rank)++] = 1;
    }
}

/* "(2*h + kh)": axes i and i + 1 overlap in one dimension. */
static void write_sliding(draft *d, size_t i, size_t *rank)
{
    const uint64_t slow = 1 + random_below(d->r, 4), fast = 1 + random_below(d->r, 3);
    d->known[i] = random_chance(d->r, 50);
    d->known[i + 1] = !d->known[i] || random_chance(d->r, 30);
    ADD(pattern, "(%llu*%s + ", (unsigned long long)slow, d->name[i]);
    if (fast > 1)
        ADD(pattern, "%llu*", (unsigned long long)fast);
    ADD(pattern, "%s) ", d->name[i + 1]);
    d->g->in.dim[(*rank)++] = 1 + slow * (d->size[i] - 1) + fast * (d->size[i + 1] - 1) + random_chance(d->r, 2);
}

static void write_left(draft *d, bool may_grow)
{
    random_state *r = d->r;
    size_t rank = 0;
    for (size_t i = 0; i < d->axes;) {
        unit_group(d, &rank);
        if (!d->ellipsis && i > 0 && random_chance(r, 8)) { /* the next axes are whole dimensions without a name */
            d->ellipsis = true;
            d->ellipsis_first = i;
            d->ellipsis_count = random_below(r, 3);
            if (d->ellipsis_count > d->axes - i)
                d->ellipsis_count = d->axes - i;
            for (size_t k = 0; k < d->ellipsis_count; k++)
                d->g->in.dim[rank++] = d->size[i++];
            ADD(pattern, "... ");
            continue;
        }
        size_t count = random_chance(r, 50) || rank > 20 ? 1 + random_below(r, 4) : 1;
        if (count > d->axes - i)
            count = d->axes - i;
        if (count == 2 && random_chance(r, 12)) {
            write_sliding(d, i, &rank);
            i += 2;
            continue;
        }
        size_t unknown = random_chance(r, 85) ? i + random_below(r, count) : d->axes;
        uint64_t total = 1, known = 1;
        bool parentheses = count > 1 || random_chance(r, 10);
        ADD(pattern, parentheses ? "(" : "");
        for (size_t k = i; k < i + count; k++) {
            total *= d->size[k];
            d->known[k] = k != unknown;
            if (d->known[k])
                known *= d->size[k];
            ADD(pattern, "%s%s", k > i ? " " : "", d->name[k]);
            if (parentheses && random_chance(r, 4))
                ADD(pattern, " 1");
        }
        ADD(pattern, parentheses ? ") " : " ");
        d->g->in.dim[rank++] = choose_dim(d, total, known, unknown == d->axes, may_grow);
        i += count;
    }
    unit_group(d, &rank);
    d->g->in.rank = rank;
}

static bool in_ellipsis(const draft *d, size_t axis)
{
    return d->ellipsis && axis >= d->ellipsis_first && axis < d->ellipsis_first + d->ellipsis_count;
}

static void write_right_group(draft *d, size_t from, size_t count, bool dots)
{
    bool any = false;
    char inner[1024] = "";
    size_t terms = 0;
    size_t dots_at = dots ? random_below(d->r, count + 1) : count + 1;
    for (size_t k = 0; k <= count; k++) {
        if (k == dots_at) {
            add(inner, sizeof inner, "%s...", any ? " " : "");
            any = true;
            terms++;
        }
        if (k == count)
            break;
        add(inner, sizeof inner, "%s%s", any ? " " : "", d->name[d->order[from + k]]);
        any = true;
        terms++;
        if (random_chance(d->r, 3)) {
            add(inner, sizeof inner, " 1");
            terms++;
        }
    }
    if (terms == 1 && random_chance(d->r, 80))
        ADD(pattern, " %s", inner);
    else if (terms == 0)
        ADD(pattern, random_chance(d->r, 50) ? " ()" : " 1");
    else
        ADD(pattern, "%s( %s)", random_chance(d->r, 50) ? " " : "", inner);
}

/* Shuffles the axes and deals them out to banks, words and lanes. The axes of `...` travel together and in order. */
static void write_right(draft *d)
{
    random_state *r = d->r;
    size_t free_axes = 0;
    if (random_chance(r, 12) && d->axes < MOST_AXES - 1) {
        d->repeats = 1;
        snprintf(d->name[d->axes], sizeof d->name[d->axes], "rep");
        d->size[d->axes] = 1 + random_below(r, 4);
        d->known[d->axes++] = true;
    }
    for (size_t i = 0; i < d->axes; i++)
        if (!in_ellipsis(d, i))
            d->order[free_axes++] = i;
    if (random_chance(r, 80))
        for (size_t i = free_axes; i > 1; i--) {
            size_t j = random_below(r, i), swap = d->order[j];
            d->order[j] = d->order[i - 1];
            d->order[i - 1] = swap;
        }

    d->flat = random_chance(r, 12);
    if (d->flat) { /* most of these in the tensor's order, as C has it */
        for (size_t i = 0; i < free_axes && random_chance(r, 90); i++)
            d->order[i] = i + (d->ellipsis && i >= d->ellipsis_first ? d->ellipsis_count : 0);
        d->lanes = free_axes;
        ADD(pattern, "-> (");
        for (size_t i = 0; i <= free_axes; i++) {
            if (d->ellipsis && i == d->ellipsis_first)
                ADD(pattern, " ...");
            if (i < free_axes)
                ADD(pattern, " %s", d->name[d->order[i]]);
        }
        ADD(pattern, ")");
        return;
    }
    size_t lanes = random_below(r, free_axes + 1);
    uint64_t lane_bits = d->bits;
    for (d->lanes = 0; d->lanes < lanes; d->lanes++) {
        uint64_t more = lane_bits * d->size[d->order[free_axes - 1 - d->lanes]];
        if (more > 3000)
            break;
        lane_bits = more;
    }
    size_t rest = free_axes - d->lanes;
    d->bank_group = random_chance(r, 10);
    d->banks = d->bank_group && rest ? random_below(r, rest < 2 ? rest + 1 : 3) : 0;
    d->words = rest - d->banks;

    ADD(pattern, "->");
    if (d->bank_group)
        write_right_group(d, 0, d->banks, false);
    write_right_group(d, d->banks, d->words, d->ellipsis);
    write_right_group(d, d->banks + d->words, d->lanes, false);
}

static uint64_t lane_total(const draft *d)
{
    uint64_t lanes = 1;
    for (size_t i = 0; i < d->lanes; i++)
        lanes *= d->size[d->order[d->banks + d->words + i]];
    return lanes;
}

static void write_pad(draft *d)
{
    random_state *r = d->r;
    static const char *const reals[] = {"0", "1", "-1", "0.5", "-2", "6", "1.5", "-0.25"};
    const char kind = d->g->dtype[0];
    if (kind == 'f' || kind == 'b') {
        ADD(options, " pad=%s", reals[random_below(r, 8)]);
    } else {
        uint64_t value = random_next(r) >> (64 - d->bits) >> (kind == 'i');
        bool negative = kind == 'i' && d->bits > 1 && random_chance(r, 50);
        if (random_chance(r, 30))
            value = 0;
        if (random_chance(r, 1) && d->bits < 60)
            value = (uint64_t)1 << d->bits; /* too large for the type */
        ADD(options, random_chance(r, 30) ? " pad=%s0x%llx" : " pad=%s%llu", negative && value ? "-" : "",
            (unsigned long long)value);
    }
    if (random_chance(r, 40))
        ADD(options, " pad_at=%s", random_chance(r, 75) ? "begin" : "end");
}

static void write_options(draft *d, bool pad, bool clip)
{
    random_state *r = d->r;
    for (size_t i = 0; i < d->axes; i++)
        if (d->known[i] && !in_ellipsis(d, i))
            ADD(options, "%s%s=%llu", i ? " " : "", d->name[i], (unsigned long long)d->size[i]);
    if (pad)
        write_pad(d);
    if (clip)
        ADD(options, " tail=clip");

    uint64_t slot = d->bits, lsb = 0, lanes = lane_total(d), beats = 1;
    if (random_chance(r, 15)) {
        slot = d->bits + random_below(r, 9);
        if (random_chance(r, 2) && slot > 1)
            slot = d->bits - 1 ? d->bits - 1 : 1;
        ADD(options, " slot=%llu", (unsigned long long)slot);
    }
    if (random_chance(r, 15)) {
        lsb = random_below(r, 70);
        ADD(options, " lsb=%llu", (unsigned long long)lsb);
    }
    if (random_chance(r, d->flat ? 1 : 15)) {
        beats = 1 + random_below(r, 6);
        for (int tries = 0; lanes * slot % beats != 0 && tries < 8; tries++)
            beats = 1 + random_below(r, 6);
        ADD(options, " beats=%llu", (unsigned long long)beats);
    }
    if (random_chance(r, d->flat ? 1 : 15))
        ADD(options, " lanes=msb");
    if (random_chance(r, d->flat ? 2 : 25))
        ADD(options, " fill=%s", random_chance(r, 80) ? "keep" : "zero");
    if (random_chance(r, d->flat ? 1 : 8))
        ADD(options, " alias=last");
    if (random_chance(r, 5))
        ADD(options, " dtype=%s", d->g->dtype);

    if (d->flat) {
        static const uint64_t widths[] = {8, 16, 32, 64, 96, 128, 512};
        d->g->in.width = random_chance(r, 70) ? widths[random_below(r, 7)] : 1 + random_below(r, 200);
        return;
    }
    uint64_t part = lanes * slot / beats + (lanes * slot % beats != 0);
    d->g->in.width = lsb + part + (random_chance(r, 50) ? 0 : random_below(r, 70));
    if (random_chance(r, 3) && d->g->in.width > 1)
        d->g->in.width -= 1 + random_below(r, d->g->in.width - 1);
}

static void write_number(draft *d, uint64_t value)
{
    ADD(address, random_chance(d->r, 25) ? "0x%llx" : "%llu", (unsigned long long)value);
}

/* Now and then a number whose products do not fit in 64 bits, in place of this one. */
static uint64_t or_huge(draft *d, uint64_t value)
{
    const uint64_t huge = ((uint64_t)INT64_MAX >> random_below(d->r, 24)) - random_below(d->r, 3);
    return random_chance(d->r, 2) ? huge : value;
}

static const char *word_axis_name(draft *d, size_t i)
{
    return d->name[d->order[d->banks + i]];
}

static uint64_t word_axis_size(draft *d, size_t i)
{
    return d->size[d->order[d->banks + i]];
}

/* A sum that gives every word its own place: strides grow with the sizes of a shuffled order; some run backwards. */
static void write_strides(draft *d, bool careless)
{
    random_state *r = d->r;
    uint64_t stride = 1 + (random_chance(r, 30) ? random_below(r, 6) : 0), base = random_below(r, 50);
    uint64_t strides[MOST_AXES];
    bool down[MOST_AXES];
    size_t rank[MOST_AXES];
    for (size_t i = 0; i < d->words; i++)
        rank[i] = i;
    for (size_t i = d->words; i > 1; i--) {
        size_t j = random_below(r, i), swap = rank[j];
        rank[j] = rank[i - 1];
        rank[i - 1] = swap;
    }
    for (size_t i = 0; i < d->words; i++) {
        size_t axis = rank[i];
        strides[axis] = careless ? or_huge(d, random_below(r, 12)) : stride;
        stride = stride * word_axis_size(d, axis) + (random_chance(r, 20) ? random_below(r, 4) : 0);
        down[axis] = random_chance(r, 15);
        if (down[axis])
            base += strides[axis] * (word_axis_size(d, axis) - 1);
    }
    write_number(d, or_huge(d, base & INT64_MAX));
    for (size_t i = 0; i < d->words; i++) {
        ADD(address, down[i] ? " - " : " + ");
        if (random_chance(r, 50)) {
            write_number(d, strides[i]);
            ADD(address, "*%s", word_axis_name(d, i));
        } else {
            ADD(address, "%s * ", word_axis_name(d, i));
            write_number(d, strides[i]);
        }
    }
}

/* Any expression at all, of a few levels; legal by luck. */
static void write_tree(draft *d, int levels)
{
    static const char *const operators[] = {" + ", " - ", "*", " / ", " % ", " & ", " | ", " ^ ", " << ", " >> "};
    random_state *r = d->r;
    if (levels == 0 || random_chance(r, 25)) {
        if (d->words && random_chance(r, 60))
            ADD(address, "%s", word_axis_name(d, random_below(r, d->words)));
        else if (random_chance(r, 50))
            ADD(address, "index");
        else
            write_number(d, 1 + random_below(r, 12));
        return;
    }
    bool parentheses = random_chance(r, 50);
    ADD(address, parentheses ? "(" : "");
    write_tree(d, levels - 1);
    ADD(address, "%s", operators[random_below(r, 10)]);
    write_tree(d, levels - 1);
    ADD(address, parentheses ? ")" : "");
}

/* The rearrangements that designs really use, over `index` and the axes. */
static void write_swizzle(draft *d)
{
    random_state *r = d->r;
    uint64_t words = 1, k = 1 + random_below(r, 7);
    for (size_t i = 0; i < d->words; i++)
        words *= word_axis_size(d, i);
    for (size_t i = 0; i < d->ellipsis_count; i++)
        words *= d->size[d->ellipsis_first + i];
    unsigned bits = 1;
    while ((uint64_t)1 << bits < words)
        bits++;
    const unsigned long long n = words, step = k;
    switch (random_below(r, 9)) {
    case 0:
        ADD(address, "index ^ %llu", step);
        break;
    case 1:
        ADD(address, "%llu - index", n - 1 + step);
        break;
    case 2:
        ADD(address, "rev(index, %u) + %llu", bits, step);
        break;
    case 3:
        ADD(address, "index / %llu * %llu + (%llu - 1 - index %% %llu)", step, step, step, step);
        break;
    case 4: /* a ring buffer, from any word on; in a ring that may be longer than the words */
        ADD(address, "%llu + (index + %llu) %% %llu", step % 3,
            random_chance(r, 20) ? n - 1 : (unsigned long long)random_below(r, n),
            n + (random_chance(r, 30) ? step : 0));
        break;
    case 5:
        ADD(address, "index ^ (index >> %llu & 3)", 2 + step % 3);
        break;
    case 6:
        if (d->words >= 2)
            ADD(address, "interleave(%s, %s) + 0*index", word_axis_name(d, 0), word_axis_name(d, 1));
        break;
    case 7: /* one axis is a ring, rows of the others stay */
        if (d->words == 2)
            ADD(address, "%llu*%s + (%s + %llu) %% %llu", (unsigned long long)word_axis_size(d, 1),
                word_axis_name(d, 0), word_axis_name(d, 1), (unsigned long long)random_below(r, word_axis_size(d, 1)),
                (unsigned long long)word_axis_size(d, 1));
        break;
    default:
        if (d->words == 2)
            ADD(address, "%llu*%s + (%s + %s) %% %llu", (unsigned long long)word_axis_size(d, 1), word_axis_name(d, 0),
                word_axis_name(d, 1), word_axis_name(d, 0), (unsigned long long)word_axis_size(d, 1));
        break;
    }
}

static void write_address(draft *d)
{
    random_state *r = d->r;
    uint64_t kind = random_below(r, 100);
    if (d->flat) {
        if (random_chance(r, 60))
            write_number(d, or_huge(d, random_below(r, 40)));
        if (random_chance(r, 2))
            ADD(address, "%sindex", d->g->address[0] ? " + " : "");
        if (random_chance(r, 20) && d->g->in.width % 8 == 0)
            ADD(options, " addr_unit=byte");
        return;
    }
    if (!d->bank_group && random_chance(r, 3)) { /* one bank after the other, from anywhere in the first */
        static const unsigned depths[] = {16, 24, 64, 96, 128, 256, 1000, 1024};
        const unsigned depth = depths[random_below(r, sizeof depths / sizeof depths[0])];
        const unsigned first = (unsigned)random_below(r, depth);
        ADD(address, "bank = (index + %u) / %u; addr = (index + %u) %% %u%s", first, depth, first, depth,
            random_chance(r, 30) ? " ^ 1" : "");
        return;
    }
    if (!d->bank_group && random_chance(r, 8)) {
        uint64_t banks = 1 + random_below(r, 5);
        if (d->words && random_chance(r, 60))
            ADD(address, "bank = %s %% %llu; addr = ", word_axis_name(d, random_below(r, d->words)),
                (unsigned long long)banks);
        else
            ADD(address, "bank = (index ^ index / 4) & %llu ; addr = ", (unsigned long long)(banks - 1));
        if (kind < 30)
            ADD(address, "index");
    }
    if (kind < 30)
        return;
    if (kind < 40) {
        write_number(d, or_huge(d, random_below(r, 40)));
        ADD(address, " + %llu*index", (unsigned long long)or_huge(d, 1 + random_below(r, 7)));
    } else if (kind < 72) {
        write_strides(d, kind < 45);
    } else if (kind < 88) {
        write_swizzle(d);
    } else {
        ADD(address, "(");
        write_tree(d, 3);
        ADD(address, ") & 1023");
    }
    if (strstr(d->g->address, "addr = ") && strstr(d->g->address, "addr = ")[7] == '\0')
        ADD(address, "index");
    if (d->g->address[0] && !strstr(d->g->address, "bank") && d->g->in.width % 8 == 0 && random_chance(r, 15)) {
        char words[sizeof d->g->address];
        snprintf(words, sizeof words, "%s", d->g->address);
        d->g->address[0] = '\0';
        ADD(address, "%llu*(%s)", (unsigned long long)(random_chance(r, 95) ? d->g->in.width / 8 : 3), words);
        ADD(options, " addr_unit=byte");
    }
    if (d->lanes && d->g->address[0] && random_chance(r, 10)) { /* every lane in a word of its own: a skewed operand */
        const char *lane = d->name[d->order[d->banks + d->words + random_below(r, d->lanes)]];
        ADD(address, random_chance(r, 70) ? " + %s" : random_chance(r, 50) ? " + 3*%s" : " ^ %s", lane);
    }
}

/* As deep as the oracle says it must be, give or take. */
static void choose_memory(draft *d)
{
    oracle_case *in = &d->g->in;
    oracle *o = malloc(sizeof *o);
    in->depth = 40000;
    in->banks = 64;
    oracle_verdict verdict = oracle_open(in, o);
    uint64_t top = 1, banks = 1;
    for (uint64_t v = 0; o->vectors && verdict != ORACLE_REFUSED && v < o->vector_count * o->lanes; v++) {
        if (o->vectors[v].address + o->beats > top)
            top = o->vectors[v].address + o->beats;
        if (o->vectors[v].bank + 1 > banks)
            banks = o->vectors[v].bank + 1;
    }
    if (verdict == ORACLE_REFUSED)
        top = 100 + random_below(d->r, 400);
    oracle_close(o);
    free(o);
    in->banks = banks;
    in->depth = top + (random_chance(d->r, 60) ? 0 : random_below(d->r, 20));
    if (random_chance(d->r, 3) && in->depth > 1)
        in->depth--;
}

void generate(random_state *r, generated *g)
{
    memset(g, 0, sizeof *g);
    draft d = {.r = r, .g = g};
    bool grow = random_chance(r, 35);
    bool clip = grow && random_chance(r, 40);
    if (random_chance(r, 3))
        generate_copies(r, g);
    else {
        choose_dtype(&d);
        choose_axes(&d);
        write_left(&d, grow);
        write_right(&d);
        write_options(&d, grow && !clip, clip);
        write_address(&d);
    }
    g->in.pattern = g->pattern;
    g->in.options = g->options;
    g->in.address = g->address;
    g->in.dtype = g->dtype;
    choose_memory(&d);
}
