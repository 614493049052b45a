/* Compiles the parts of a unit into lists of byte shuffles (kernels/pack_words.h: td_word_list), for units that are no
 * even lanes of up to 8 bits in one chunk: wider elements, in two parts, in words of several chunks. Both directions
 * are the same: fields of bits that are somewhere in the source and somewhere in the destination. Called by stage.c.
 * Fails only for want of memory. */
#include "base/cpu.h"
#include "plan/stage.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW 128 /* bytes that an output reads */
#define VECTOR 64
#define FULL_BYTES 48 /* of a single output that is worth a vector */
#define FEW_TERMS 4   /* of it: as in kernels/pack_words_vbmi.c */
#define AT_ONCE 256   /* bytes of the destination: the last output of them is seldom full */
#define MOST_UNITS 128
#define MOST_TERMS 8 /* of one output */
#define MOST_OUTPUTS 16
#define LIST_TERMS 64 /* of all: they stay in the first-level cache */
#define TERM_COST 3   /* a shuffle, a shift of bits, and, or */
#define OUTPUT_COST 6 /* loads and a store */
#define STEP_COST 7   /* pext and pdep with a load and a store */

/* `bits` of the source, from src on, are those of the destination from dst on. */
typedef struct field {
    uint64_t src, dst;
    unsigned bits;
} field;

typedef struct draft {
    field *field; /* by dst */
    size_t count;
    uint64_t src_bytes, dst_bytes; /* of all units */
    unsigned align;                /* outputs end between containers */
    td_word_output output[MOST_OUTPUTS];
    size_t outputs, terms;
    td_word_term term[LIST_TERMS];
} draft;

/* What the terms of an output have so far. */
typedef struct filling {
    int64_t first, last; /* the lowest byte of the source, from which `from` counts, and the highest; -1: none yet */
    uint32_t terms;
    uint8_t held[MOST_TERMS][8];  /* of every eight bytes, how many a term takes */
    int64_t byte[MOST_TERMS][64]; /* of the source */
    uint8_t bit[MOST_TERMS][64], mask[MOST_TERMS][64];
} filling;

/* Where bytes a and, with `two`, a + 1 are, or can be, among the eight of a term; 8 where they cannot. */
static unsigned find_room(filling *f, uint32_t t, unsigned eight, int64_t a, bool two)
{
    int64_t *byte = &f->byte[t][8 * (size_t)eight];
    const unsigned held = f->held[t][eight], needed = two ? 2 : 1;
    for (unsigned q = 0; q < held; q++) {
        if (byte[q] != a)
            continue;
        if (!two || (q + 1 < held && byte[q + 1] == a + 1))
            return q;
        if (q + 1 == held && held < 8) {
            byte[held] = a + 1;
            f->held[t][eight]++;
            return q;
        }
    }
    if (held + needed > 8)
        return 8;
    byte[held] = a;
    if (two)
        byte[held + 1] = a + 1;
    f->held[t][eight] = (uint8_t)(held + needed);
    return held;
}

/* Bits [low, high) of byte `at` of an output, which are those of the source from `src` on. */
static bool add_bits(filling *f, unsigned at, unsigned low, unsigned high, uint64_t src)
{
    const int64_t a = (int64_t)(src / 8), last = (int64_t)((src + high - low - 1) / 8);
    for (uint32_t t = 0; t < MOST_TERMS; t++) {
        if (t == f->terms) {
            f->terms++;
            memset(f->held[t], 0, sizeof f->held[t]);
            memset(f->mask[t], 0, sizeof f->mask[t]);
        }
        if (f->mask[t][at])
            continue;
        const unsigned q = find_room(f, t, at / 8, a, last > a);
        if (q == 8)
            continue;
        f->bit[t][at] = (uint8_t)((8 * q + src % 8 + 64 - low) % 64);
        f->mask[t][at] = (uint8_t)((1u << high) - (1u << low));
        return true;
    }
    return false;
}

/* Byte `number` of the destination as byte `at` of an output; false where it has no room. *next is the first field that
 * may reach into it. */
static bool add_byte(const draft *d, filling *f, uint64_t number, unsigned at, size_t *next)
{
    while (*next < d->count && d->field[*next].dst + d->field[*next].bits <= 8 * number)
        ++*next;
    for (size_t i = *next; i < d->count && d->field[i].dst < 8 * number + 8; i++) {
        const field *x = &d->field[i];
        const uint64_t from = x->dst > 8 * number ? x->dst : 8 * number,
                       end = x->dst + x->bits < 8 * number + 8 ? x->dst + x->bits : 8 * number + 8;
        const uint64_t src = x->src + (from - x->dst);
        const int64_t low = (int64_t)(src / 8), last = (int64_t)((src + (end - from) - 1) / 8);
        const int64_t lowest = f->first < 0 || low < f->first ? low : f->first,
                      highest = last > f->last ? last : f->last;
        if (highest >= lowest + WINDOW)
            return false;
        f->first = lowest;
        f->last = highest;
        if (!add_bits(f, at, (unsigned)(from - 8 * number), (unsigned)(end - 8 * number), src))
            return false;
    }
    return true;
}

/* The terms of the first `bytes` of an output. */
static bool keep_output(draft *d, const filling *f, uint64_t dst, unsigned bytes)
{
    if (d->outputs == MOST_OUTPUTS || d->terms + f->terms > LIST_TERMS)
        return false;
    td_word_output *o = &d->output[d->outputs++];
    *o = (td_word_output){.src = (uint32_t)(f->first < 0 ? 0 : f->first),
                          .dst = (uint32_t)dst,
                          .bytes = (uint8_t)bytes,
                          .terms = f->terms};
    for (uint32_t t = 0; t < f->terms; t++) {
        td_word_term *term = &d->term[d->terms++];
        memset(term, 0, sizeof *term);
        for (unsigned i = 0; i < 64; i++) {
            if (i % 8 < f->held[t][i / 8]) {
                term->from[i] = (uint8_t)(f->byte[t][i] - f->first);
                o->wide |= term->from[i] >= 64;
            }
            if (i < bytes) {
                term->mask[i] = f->mask[t][i];
                term->bit[i] = f->mask[t][i] ? f->bit[t][i] : 0;
            }
        }
    }
    return true;
}

/* Outputs are as long as their terms and what they read allow. */
static bool make_outputs(draft *d)
{
    size_t next = 0;
    for (uint64_t dst = 0; dst < d->dst_bytes;) {
        filling f = {.first = -1, .last = -1};
        unsigned bytes = 0, whole = 0;
        for (; bytes < 64 && dst + bytes < d->dst_bytes; whole = bytes / d->align * d->align) {
            if (!add_byte(d, &f, dst + bytes, bytes, &next))
                break;
            bytes++;
        }
        if (!whole || !keep_output(d, &f, dst, whole))
            return false;
        dst += whole;
        next = 0; /* the fields of bytes that are left for the next output */
    }
    return true;
}

/* -- the fields of units -- */

static int by_dst(const void *a, const void *b)
{
    const field *x = a, *y = b;
    return (x->dst > y->dst) - (x->dst < y->dst);
}

static td_status list_fields(const td_word_code *code, bool dump, uint64_t units, draft *d)
{
    const uint64_t containers = (uint64_t)code->lanes * code->size;
    d->field = calloc(units * code->part_count + 1, sizeof *d->field);
    if (!d->field)
        return td_fail_alloc(units * code->part_count * sizeof *d->field);
    for (uint64_t u = 0; u < units; u++)
        for (uint32_t i = 0; i < code->part_count; i++) {
            const td_word_part *part = &code->part[i];
            const uint64_t at = code->reversed ? code->lanes - 1 - part->lane : part->lane;
            const uint64_t elem = 8 * (u * containers + at * code->size) + part->elem_bit,
                           word = 8 * u * code->bytes + 64 * (uint64_t)part->chunk + part->shift;
            d->field[d->count++] = (field){.src = dump ? word : elem, .dst = dump ? elem : word, .bits = part->bits};
        }
    qsort(d->field, d->count, sizeof *d->field, by_dst);
    d->src_bytes = units * (dump ? code->bytes : containers);
    d->dst_bytes = units * (dump ? containers : code->bytes);
    d->align = dump ? code->size : 1;
    return TD_OK;
}

static bool is_faster(const td_word_code *code, uint64_t units, const draft *d)
{
    return TERM_COST * d->terms + OUTPUT_COST * d->outputs < STEP_COST * units * code->step_count;
}

static void add_kept(const td_word_code *code, td_word_output *o)
{
    for (unsigned i = 0; i < o->bytes; i++) {
        const uint32_t byte = (o->dst + i) % code->bytes;
        o->kept[i] = (uint8_t)(code->keep[byte / 8] >> (8 * (byte % 8)));
    }
}

/* The list and what it points to are one block. */
static td_status take_list(const td_word_code *code, bool dump, uint64_t units, const draft *d, td_word_list **out)
{
    const size_t outputs = d->outputs * sizeof *d->output, terms = d->terms * sizeof *d->term;
    td_word_list *l = malloc(sizeof *l + outputs + terms);
    if (!l)
        return td_fail_alloc(sizeof *l + outputs + terms);
    *l = (td_word_list){.units = (uint32_t)units, .outputs = (uint32_t)d->outputs};
    l->output = (td_word_output *)(l + 1);
    l->term = (td_word_term *)(l->output + d->outputs);
    memcpy(l->output, d->output, outputs);
    memcpy(l->term, d->term, terms);
    for (size_t i = 0; i < d->outputs && code->keep && !dump; i++)
        add_kept(code, &l->output[i]);
    *out = l;
    return TD_OK;
}

/* Whether the list of so many units was made. `single`: only if it is one output of a few terms, which the kernels keep
 * in registers. */
static td_status try_list(const td_word_code *code, bool dump, uint64_t units, bool single, td_word_list **out)
{
    draft *d = calloc(1, sizeof *d);
    if (!d)
        return td_fail_alloc(sizeof *d);
    td_status status = list_fields(code, dump, units, d);
    if (!status && make_outputs(d) && is_faster(code, units, d) &&
        (!single || (d->outputs == 1 && d->terms <= FEW_TERMS)))
        status = take_list(code, dump, units, d, out);
    free(d->field);
    free(d);
    return status;
}

static td_status make_list(const td_word_code *code, bool dump, td_word_list **out)
{
    const uint64_t containers = (uint64_t)code->lanes * code->size, bytes = dump ? containers : code->bytes;
    const uint64_t fit = bytes < AT_ONCE ? AT_ONCE / bytes : 1, units = fit < MOST_UNITS ? fit : MOST_UNITS;
    const uint64_t few = bytes <= VECTOR ? VECTOR / bytes : 0;
    if (bytes > 64 * (uint64_t)MOST_OUTPUTS)
        return TD_OK;
    td_status status = few * bytes >= FULL_BYTES ? try_list(code, dump, few, true, out) : TD_OK;
    if (!status && !*out)
        status = try_list(code, dump, units, false, out);
    return status;
}

/* Single elements in words of a usual size are a shift and a mask each, and rows of bytes without a gap have kernels of
 * their own (kernels/pack.h). */
static bool has_others(const td_word_code *code)
{
    const bool usual = code->bytes <= 8 && !(code->bytes & (code->bytes - 1));
    return (code->even && code->lanes == 1 && usual) ||
           (code->size == 1 && !code->reversed && (uint64_t)code->lanes * code->bits == 8 * (uint64_t)code->bytes);
}

td_status td_word_lists_make(td_word_code *code)
{
    const bool even = code->vectors && code->vectors->packs;
    /* Only the kernels of VBMI take lists. */
    if (!(td_cpu_flags() & TD_CPU_VBMI) || code->part_count == 0 || has_others(code))
        return TD_OK;
    td_status status = even ? TD_OK : make_list(code, false, &code->packs);
    if (!status && !code->vectors)
        status = make_list(code, true, &code->unpacks);
    return status;
}
