/* The oracle's walk over a layout: every vector, every lane, every bit, one at a time. See oracle.h. */
#include "oracle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORACLE_LIMIT ((uint64_t)1 << 24)

static oracle_verdict verdict(oracle *o, oracle_verdict what, const char *why, uint64_t number)
{
    snprintf(o->why, sizeof o->why, "%s (%llu)", why, (unsigned long long)number);
    return what;
}

static uint64_t product(const oracle *o, const oracle_group *group)
{
    uint64_t total = 1;
    for (size_t i = 0; i < group->count; i++) {
        total *= o->axes[group->axis[i]].size;
        if (total > ORACLE_LIMIT)
            return ORACLE_LIMIT + 1;
    }
    return total;
}

/* A sliding group's last place must be the dimension's last element; with tail=clip it may come before it. */
static bool bind_sliding(oracle *o, oracle_group *group, uint64_t dim)
{
    size_t unknown = group->count;
    uint64_t reach = 0;
    for (size_t i = 0; i < group->count; i++) {
        oracle_axis *axis = &o->axes[group->axis[i]];
        if (group->step[i] == 0)
            group->step[i] = 1;
        if (axis->size)
            reach += group->step[i] * (axis->size - 1);
        else if (unknown < group->count)
            return false;
        else
            unknown = i;
    }
    if (unknown < group->count && reach < dim)
        for (uint64_t size = 1; reach + group->step[unknown] * (size - 1) < dim; size++)
            o->axes[group->axis[unknown]].size = size;
    if (unknown < group->count && reach < dim)
        reach += group->step[unknown] * (o->axes[group->axis[unknown]].size - 1);
    group->total = dim;
    return reach == dim - 1 || (o->clip && reach < dim);
}

/* Sizes of one left group against its dimension; the one unknown is inferred. */
static bool bind_group(oracle *o, oracle_group *group, uint64_t dim)
{
    oracle_axis *unknown = NULL;
    uint64_t known = 1;
    if (group->sliding)
        return bind_sliding(o, group, dim);
    for (size_t i = 0; i < group->count; i++) {
        oracle_axis *axis = &o->axes[group->axis[i]];
        if (axis->size)
            known *= axis->size;
        else if (unknown)
            return false;
        else
            unknown = axis;
    }
    bool may_grow = o->pad || o->clip;
    if (unknown) {
        if (dim % known != 0 && !may_grow)
            return false;
        unknown->size = (dim + known - 1) / known;
    } else if (known < dim || (known > dim && !may_grow)) {
        return false;
    }
    group->total = product(o, group);
    return true;
}

/* The next tuple of a group's axes, the last the fastest; false after the last one. */
static bool step(oracle *o, const oracle_group *group)
{
    for (size_t i = group->count; i-- > 0;) {
        oracle_axis *axis = &o->axes[group->axis[i]];
        if (++axis->value < axis->size)
            return true;
        axis->value = 0;
    }
    return false;
}

/* The element at the axes' present values, or ORACLE_PAD or ORACLE_CLIP. */
static int64_t element(const oracle *o)
{
    uint64_t number = 0;
    for (size_t g = 0; g < o->left_count; g++) {
        const oracle_group *group = &o->left[g];
        uint64_t place = 0;
        for (size_t i = 0; i < group->count; i++)
            place = group->sliding ? place + group->step[i] * o->axes[group->axis[i]].value
                                   : place * o->axes[group->axis[i]].size + o->axes[group->axis[i]].value;
        uint64_t before = o->pad_begin ? group->total - o->in.dim[g] : 0;
        if (place < before || place - before >= o->in.dim[g])
            return o->clip ? ORACLE_CLIP : ORACLE_PAD;
        number = number * o->in.dim[g] + (place - before);
    }
    return (int64_t)number;
}

/* Where bit k of a lane lies: which word of the vector, which bit of the word. */
void oracle_place(const oracle *o, uint64_t lane, uint64_t k, uint64_t *beat, uint64_t *bit)
{
    uint64_t at = (o->msb ? o->lanes - 1 - lane : lane) * o->slot + k;
    if (o->flat) {
        *beat = (o->lsb + at) / o->in.width;
        *bit = (o->lsb + at) % o->in.width;
        return;
    }
    *beat = at / o->part_bits;
    *bit = o->lsb + at % o->part_bits;
}

/* A word of a vector is written when a bit of the slot of an element or of padding lies in it. */
bool oracle_writes(const oracle *o, uint64_t vector, uint64_t beat)
{
    uint64_t first = 0, last = o->lanes;
    if (o->flat) { /* the others are bits away from this word */
        first = beat * o->in.width > o->lsb + o->slot ? (beat * o->in.width - o->lsb - o->slot) / o->slot : 0;
        last = (beat + 1) * o->in.width / o->slot + 1 < last ? (beat + 1) * o->in.width / o->slot + 1 : last;
    }
    for (uint64_t l = first; l < last; l++) {
        if (o->elems[vector * o->lanes + l] == ORACLE_CLIP)
            continue;
        for (uint64_t k = 0; k < (o->flat ? o->elem_bits : o->slot); k++) {
            uint64_t in_beat = 0, bit = 0;
            oracle_place(o, l, k, &in_beat, &bit);
            if (in_beat == beat)
                return true;
        }
    }
    return false;
}

/* A vector with an element keeps all its words to itself, also those that it does not write. */
static bool reserves(const oracle *o, uint64_t vector)
{
    for (uint64_t l = 0; l < o->lanes; l++)
        if (o->elems[vector * o->lanes + l] != ORACLE_CLIP)
            return true;
    return false;
}

/* With lanes in words of their own, the word of one lane; else that of all. */
typedef struct used_word {
    uint64_t bank, address, vector, beat, lane;
} used_word;

static int order_words(const void *a, const void *b)
{
    const used_word *x = a, *y = b;
    if (x->bank != y->bank)
        return x->bank < y->bank ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->vector != y->vector)
        return x->vector < y->vector ? -1 : 1;
    return 0;
}

/* Two vectors in one word: refused when a bit of an element meets another element or padding there. The same element
 * twice, padding on padding, and words shared without sharing a bit are left to the implementation. */
static oracle_verdict judge_shared_word(oracle *o, const used_word *a, const used_word *b)
{
    if (o->skewed && a->lane != b->lane)
        return ORACLE_OK;
    for (uint64_t la = 0; la < o->lanes; la++)
        for (uint64_t lb = 0; lb < o->lanes; lb++) {
            if (o->skewed && (la != a->lane || lb != b->lane))
                continue;
            int64_t ea = o->elems[a->vector * o->lanes + la];
            int64_t eb = o->elems[b->vector * o->lanes + lb];
            if (ea == ORACLE_CLIP || eb == ORACLE_CLIP || ea == eb)
                continue;
            for (uint64_t ka = 0; ka < o->elem_bits; ka++)
                for (uint64_t kb = 0; kb < o->elem_bits; kb++) {
                    uint64_t beat_a = 0, bit_a = 0, beat_b = 0, bit_b = 0;
                    oracle_place(o, la, ka, &beat_a, &bit_a);
                    oracle_place(o, lb, kb, &beat_b, &bit_b);
                    if (beat_a == a->beat && beat_b == b->beat && bit_a == bit_b)
                        return verdict(o, ORACLE_REFUSED, "two elements in one place", a->address);
                }
        }
    return verdict(o, ORACLE_GREY, "a word shared by two vectors", a->address);
}

static oracle_verdict check_aliases(oracle *o)
{
    if (o->alias_last)
        return ORACLE_OK;
    const uint64_t lanes = o->skewed ? o->lanes : 1;
    used_word *words = malloc((size_t)(o->vector_count * lanes * o->beats) * sizeof *words);
    size_t count = 0;
    for (uint64_t v = 0; v < o->vector_count; v++)
        for (uint64_t l = 0; l < lanes; l++)
            for (uint64_t beat = 0; beat < o->beats; beat++) {
                const oracle_vector *at = &o->vectors[v * o->lanes + l];
                if (o->skewed ? o->elems[v * o->lanes + l] != ORACLE_CLIP : reserves(o, v))
                    words[count++] = (used_word){at->bank, at->address + beat, v, beat, l};
            }
    qsort(words, count, sizeof *words, order_words);
    oracle_verdict result = ORACLE_OK;
    size_t pairs = 0;
    for (size_t i = 1; i < count && result != ORACLE_REFUSED && pairs < 4096; i++)
        for (size_t j = i; j-- > 0 && result != ORACLE_REFUSED && words[j].bank == words[i].bank &&
                           words[j].address == words[i].address && pairs < 4096;) {
            const oracle_verdict one = judge_shared_word(o, &words[j], &words[i]);
            result = one == ORACLE_OK ? result : one;
            pairs += one != ORACLE_OK;
        }
    free(words);
    return result;
}

/* Every vector's address and the element in each of its lanes. What a vector does not write (tail=clip) may lie
 * anywhere. */
static oracle_verdict place_vectors(oracle *o)
{
    uint64_t n = 0;
    do {
        uint64_t bank_number = n / o->word.total;
        uint64_t index = n % o->word.total;
        int64_t bank = (int64_t)bank_number;
        int64_t address = (int64_t)(index * o->beats);
        uint64_t lane = 0;
        bool any = false;
        do
            o->elems[n * o->lanes + lane++] = element(o);
        while (step(o, &o->lane));
        uint64_t beats = 0;
        for (uint64_t beat = 0; beat < o->beats; beat++)
            beats = oracle_writes(o, n, beat) ? beat + 1 : beats;
        lane = 0;
        do {
            if (lane == 0 || o->skewed) {
                bank = (int64_t)bank_number;
                address = (int64_t)(index * o->beats);
                if (o->bank_text[0] && !oracle_evaluate(o, o->bank_text, index, &bank))
                    return ORACLE_REFUSED;
                if (o->address_text[0] && !oracle_evaluate(o, o->address_text, index, &address))
                    return ORACLE_REFUSED;
                if (o->byte_addresses && o->address_text[0]) {
                    const int64_t bytes = (int64_t)o->in.width / 8;
                    if (address % bytes != 0 && !o->flat)
                        return verdict(o, ORACLE_REFUSED, "a byte address inside a word", (uint64_t)address);
                    address = address < 0 ? -1 : address / bytes;
                }
            }
            any = o->skewed ? o->elems[n * o->lanes + lane] != ORACLE_CLIP : beats > 0;
            bool outside = bank < 0 || (uint64_t)bank >= o->in.banks || address < 0 ||
                           (uint64_t)address >= o->in.depth || o->in.depth - (uint64_t)address < beats;
            if (outside && any)
                return verdict(o, ORACLE_REFUSED, "address past the memory", (uint64_t)address);
            o->vectors[n * o->lanes + lane++] =
                outside ? (oracle_vector){0, 0} : (oracle_vector){(uint64_t)bank, (uint64_t)address};
        } while (step(o, &o->lane));
        n++;
    } while (step(o, &o->word) || step(o, &o->bank));
    return ORACLE_OK;
}

static bool split_address(oracle *o)
{
    const char *text = o->in.address ? o->in.address : "";
    const char *semicolon = strchr(text, ';');
    const char *equals = strchr(text, '=');
    if (!semicolon || !equals) {
        snprintf(o->address_text, sizeof o->address_text, "%s", text);
        return !equals;
    }
    const char *second = strchr(semicolon, '=');
    if (!second || equals > semicolon || o->has_bank_group)
        return false;
    snprintf(o->bank_text, sizeof o->bank_text, "%.*s", (int)(semicolon - equals - 1), equals + 1);
    snprintf(o->address_text, sizeof o->address_text, "%s", second + 1);
    return true;
}

/* What a flat layout refuses beyond the others. Words that are stored with a gap between them (20 bits in 32) take only
 * the elements in their own order. */
static oracle_verdict check_flat(oracle *o)
{
    const uint64_t width = o->in.width;
    if (o->words_given || strstr(o->address_text, "index"))
        return verdict(o, ORACLE_REFUSED, "an option or an address that flat layouts do not have", 0);
    o->keep = true;
    if (width == 8 || width == 16 || width % 32 == 0)
        return ORACLE_OK;
    for (size_t g = 0; g < o->left_count; g++)
        if (o->left[g].sliding)
            return verdict(o, ORACLE_GREY, "a flat sliding group in words with gaps", g);
    for (uint64_t i = 0; i < o->lanes; i++)
        if (o->elems[i] != (int64_t)i)
            return verdict(o, ORACLE_REFUSED, "flat elements out of order in words with gaps", i);
    return ORACLE_OK;
}

/* A word, a number (0x23 does not name x23), or a character. */
static size_t token_length(const char *p)
{
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || p[n] == '_')
        n++;
    return n ? n : 1;
}

/* An address that names a lane axis: its lanes lie in words of their own. */
static bool is_skewed(const oracle *o)
{
    for (size_t i = 0; i < o->lane.count; i++) {
        const char *name = o->axes[o->lane.axis[i]].name, *texts[] = {o->bank_text, o->address_text};
        const size_t length = strlen(name);
        for (size_t t = 0; t < 2; t++)
            for (const char *p = texts[t]; *p; p += token_length(p))
                if (oracle_word_length(p) == length && memcmp(p, name, length) == 0)
                    return true;
    }
    return false;
}

oracle_verdict oracle_open(const oracle_case *in, oracle *o)
{
    memset(o, 0, sizeof *o);
    o->in = *in;
    if (!oracle_parse_pattern(o) || !oracle_parse_options(o) || !oracle_parse_dtype(o))
        return ORACLE_REFUSED;
    if (!split_address(o))
        return verdict(o, ORACLE_REFUSED, "address form", 0);
    o->skewed = is_skewed(o);
    if (o->byte_addresses && in->width % 8 != 0)
        return verdict(o, ORACLE_REFUSED, "byte addresses in words of odd bits", in->width);
    int64_t first_byte = 0;
    if (o->byte_addresses && o->flat && o->address_text[0] && oracle_evaluate(o, o->address_text, 0, &first_byte) &&
        first_byte > 0)
        o->lsb += 8 * ((uint64_t)first_byte % (in->width / 8));
    if (o->skewed && (o->flat || o->beats > 1 || o->alias_last))
        return verdict(o, ORACLE_REFUSED, "a lane axis in the address of words in beats, in order, or flat", 0);
    for (size_t g = 0; g < o->left_count; g++)
        if (!bind_group(o, &o->left[g], in->dim[g]))
            return verdict(o, ORACLE_REFUSED, "a group does not fit its dimension", g);
    for (size_t i = 0; i < o->axis_count; i++)
        if (o->axes[i].size == 0)
            return verdict(o, ORACLE_REFUSED, "a repeat without a size", i);
    o->bank.total = product(o, &o->bank);
    o->word.total = product(o, &o->word);
    o->lane.total = product(o, &o->lane);
    o->vector_count = o->bank.total * o->word.total;
    o->lanes = o->lane.total;
    if (o->vector_count > ORACLE_LIMIT || o->lanes > ORACLE_LIMIT || o->vector_count * o->lanes > ORACLE_LIMIT)
        return verdict(o, ORACLE_GREY, "too large for the oracle", o->vector_count);

    if (o->slot == 0)
        o->slot = o->elem_bits;
    uint64_t vector_bits = o->lanes * o->slot;
    if (vector_bits % o->beats != 0)
        return verdict(o, ORACLE_REFUSED, "beats do not divide the vector", vector_bits);
    o->part_bits = vector_bits / o->beats;
    if (o->flat)
        o->beats = (o->lsb + (o->lanes - 1) * o->slot + o->elem_bits - 1) / in->width + 1;
    if (o->slot < o->elem_bits)
        return verdict(o, ORACLE_REFUSED, "a slot narrower than the element", o->slot);
    uint64_t highest = 0; /* bit past the last one that an element uses */
    for (uint64_t l = 0; l < o->lanes; l++)
        for (uint64_t k = 0; k < o->elem_bits; k++) {
            uint64_t beat = 0, bit = 0;
            oracle_place(o, l, k, &beat, &bit);
            if (bit + 1 > highest)
                highest = bit + 1;
        }
    if (highest > in->width)
        return verdict(o, ORACLE_REFUSED, "a lane past the word", highest);

    o->vectors = calloc((size_t)(o->vector_count * o->lanes), sizeof *o->vectors);
    o->elems = calloc((size_t)(o->vector_count * o->lanes), sizeof *o->elems);
    oracle_verdict result = place_vectors(o);
    if (result == ORACLE_OK)
        result = o->flat ? check_flat(o) : check_aliases(o);
    return result;
}

void oracle_close(oracle *o)
{
    free(o->vectors);
    free(o->elems);
    o->vectors = NULL;
    o->elems = NULL;
}

static void set_bit(unsigned char *word, uint64_t bit, bool value)
{
    unsigned char mask = (unsigned char)(1u << (bit % 8));
    word[bit / 8] = (unsigned char)(value ? word[bit / 8] | mask : word[bit / 8] & ~mask);
}

static bool get_bit(const unsigned char *word, uint64_t bit)
{
    return word[bit / 8] >> (bit % 8) & 1;
}

/* The bits of a vector's words that are no lane's; of lanes in words of their own, the whole words. */
static void clear(const oracle *o, uint64_t v, unsigned char *const *memories, size_t word_bytes)
{
    bool *in_lane = calloc((size_t)o->in.width, 1);
    for (uint64_t beat = 0; beat < o->beats; beat++) {
        if (!oracle_writes(o, v, beat))
            continue;
        memset(in_lane, 0, (size_t)o->in.width);
        for (uint64_t l = 0; l < o->lanes && !o->skewed; l++)
            for (uint64_t k = 0; k < o->elem_bits; k++) {
                uint64_t in_beat = 0, bit = 0;
                oracle_place(o, l, k, &in_beat, &bit);
                in_lane[bit] = in_lane[bit] || in_beat == beat;
            }
        for (uint64_t l = 0; l < (o->skewed ? o->lanes : 1); l++) {
            const oracle_vector *at = &o->vectors[v * o->lanes + l];
            if (o->skewed && o->elems[v * o->lanes + l] == ORACLE_CLIP)
                continue;
            for (uint64_t bit = 0; bit < o->in.width; bit++)
                if (!in_lane[bit])
                    set_bit(memories[at->bank] + (at->address + beat) * word_bytes, bit, false);
        }
    }
    free(in_lane);
}

void oracle_load(const oracle *o, const unsigned char *tensor, unsigned char *const *memories, size_t word_bytes)
{
    for (uint64_t v = 0; v < o->vector_count && o->skewed && !o->keep; v++)
        clear(o, v, memories, word_bytes);
    for (uint64_t v = 0; v < o->vector_count; v++) {
        if (!o->skewed && !o->keep)
            clear(o, v, memories, word_bytes);
        for (uint64_t l = 0; l < o->lanes; l++) {
            const oracle_vector *at = &o->vectors[v * o->lanes + l];
            int64_t e = o->elems[v * o->lanes + l];
            for (uint64_t k = 0; e != ORACLE_CLIP && k < o->elem_bits; k++) {
                uint64_t beat = 0, bit = 0;
                oracle_place(o, l, k, &beat, &bit);
                set_bit(memories[at->bank] + (at->address + beat) * word_bytes, bit,
                        e >= 0 ? get_bit(tensor + (uint64_t)e * o->elem_bytes, k) : o->pad_bits >> k & 1);
            }
        }
    }
}

bool oracle_dump(const oracle *o, unsigned char *tensor, unsigned char *const *memories, size_t word_bytes)
{
    uint64_t elems = 1;
    for (size_t g = 0; g < o->left_count; g++)
        elems *= o->in.dim[g];
    bool agree = true;
    bool *seen = calloc((size_t)elems, 1);
    for (uint64_t v = 0; v < o->vector_count; v++)
        for (uint64_t l = 0; l < o->lanes; l++) {
            int64_t e = o->elems[v * o->lanes + l];
            if (e < 0)
                continue;
            uint64_t value = 0;
            for (uint64_t k = 0; k < o->elem_bits; k++) {
                uint64_t beat = 0, bit = 0;
                oracle_place(o, l, k, &beat, &bit);
                const oracle_vector *in = &o->vectors[v * o->lanes + l];
                const unsigned char *word = memories[in->bank] + (in->address + beat) * word_bytes;
                value |= (uint64_t)get_bit(word, bit) << k;
            }
            if (o->elem_signed && o->elem_bits < 64 && value >> (o->elem_bits - 1) & 1)
                value |= ~(uint64_t)0 << o->elem_bits;
            unsigned char bytes[8];
            for (unsigned i = 0; i < 8; i++)
                bytes[i] = (unsigned char)(value >> (8 * i));
            unsigned char *at = tensor + (uint64_t)e * o->elem_bytes;
            if (seen[e] && memcmp(at, bytes, o->elem_bytes) != 0)
                agree = false;
            memcpy(at, bytes, o->elem_bytes);
            seen[e] = true;
        }
    free(seen);
    return agree;
}
