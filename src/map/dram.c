/* Presets of interleaving: the order of the fields of an address as memory controllers and DRAM simulators write it,
 * "dram:RoBaRaCoCh", the highest bits first. interleave.c asks for the pattern, options and address that it stands for;
 * what they come to is checked there as any other. It refuses orders and sizes that do not give every unit a place. */
#include "map/map.h"

#include "base/suggest.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* In the order that a memory has them in, the slowest first. */
typedef enum field { CHANNEL, RANK, GROUP, BANK, ROW, COLUMN, FIELDS } field;
static const char *const field_name[FIELDS] = {"ch", "ra", "bg", "ba", "ro", "co"};

typedef struct dram {
    const char *text; /* all of it, for messages */
    field order[FIELDS];
    size_t count;
    bool in_order[FIELDS];
    uint64_t size[FIELDS]; /* 0: not given */
    bool is_hashed[FIELDS];
    field hash[FIELDS]; /* what a hashed field is XORed with */
} dram;

static int field_at(const char *at)
{
    for (int f = 0; f < FIELDS; f++)
        if (strncasecmp(at, field_name[f], 2) == 0)
            return f;
    return -1;
}

static td_status read_order(dram *d, const char *at, const char *end)
{
    for (; at < end; at += 2) {
        const int f = end - at >= 2 ? field_at(at) : -1;
        if (f < 0)
            return td_fail(
                TD_FORMAT,
                "\"%.*s\" in \"%s\" is no field of an address; write the highest first, of Ch Ra Bg Ba Ro Co, "
                "as dram:RoBaRaCoCh",
                (int)(end - at < 2 ? end - at : 2), at, d->text);
        if (d->in_order[f])
            return td_fail(TD_FORMAT, "%s stands twice in \"%s\"; give every field once", field_name[f], d->text);
        d->in_order[f] = true;
        d->order[d->count++] = (field)f;
    }
    if (!d->count)
        return td_fail(TD_FORMAT, "\"%s\" has no fields; write the highest first, as dram:RoBaRaCoCh", d->text);
    return TD_OK;
}

/* "xor=ba^ro": bank number ba has the low bits of ro added to it, without carry. */
static td_status read_hash(dram *d, const char *at, size_t length)
{
    const int to = length == 5 ? field_at(at) : -1, from = length == 5 && at[2] == '^' ? field_at(at + 3) : -1;
    if (to < 0 || from < 0 || to == from)
        return td_fail(TD_FORMAT, "\"xor=%.*s\" in \"%s\" has no two fields; write xor=ba^ro, the hashed one first",
                       (int)length, at, d->text);
    d->is_hashed[to] = true;
    d->hash[to] = (field)from;
    return TD_OK;
}

static td_status read_word(dram *d, const char *word, size_t length)
{
    const char *at = memchr(word, '=', length);
    if (at && at - word == 3 && memcmp(word, "xor", 3) == 0)
        return read_hash(d, at + 1, length - 4);
    const int f = at && at - word == 2 ? field_at(word) : -1;
    uint64_t size = 0;
    if (f < 0)
        return td_fail(TD_FORMAT,
                       "\"%.*s\" in \"%s\" is no size of a field; write ch= ra= bg= ba= ro= co= or xor=", (int)length,
                       word, d->text);
    at++;
    if (!td_text_number(&at, &size) || at != word + length || size == 0)
        return td_fail(TD_FORMAT, "\"%.*s\" in \"%s\" is no size; write a whole number from 1 on", (int)length, word,
                       d->text);
    if (!d->in_order[f] && size > 1)
        return td_fail(TD_FORMAT, "%s=%" PRIu64 " in \"%s\", whose order has no %s; put it into the order",
                       field_name[f], size, d->text, field_name[f]);
    d->size[f] = size;
    return TD_OK;
}

static td_status read_words(dram *d)
{
    const char *at = d->text + strlen(TD_DRAM_PREFIX);
    size_t length = strcspn(at, " ");
    td_status status = read_order(d, at, at + length);
    for (at += length; !status && *(at += strspn(at, " ,")); at += length) {
        length = strcspn(at, " ,");
        status = read_word(d, at, length);
    }
    return status;
}

/* The one field without a size has what is left of the units. */
static td_status find_sizes(dram *d, uint64_t units)
{
    uint64_t known = 1;
    int open = -1;
    for (int f = 0; f < FIELDS; f++) {
        if (!d->in_order[f])
            d->size[f] = 1;
        if (d->size[f] && !td_mul_fits(known, d->size[f], &known))
            return td_fail(TD_FORMAT, "the sizes in \"%s\" do not fit in 63 bits; use smaller ones", d->text);
        if (!d->size[f] && open >= 0)
            return td_fail(TD_FORMAT, "%s and %s in \"%s\" have no size; give all but one, as %s=4", field_name[open],
                           field_name[f], d->text, field_name[open]);
        open = d->size[f] ? open : f;
    }
    if (open >= 0 && units % known == 0)
        d->size[open] = units / known;
    else if (open >= 0 || known != units)
        return td_fail(TD_FORMAT,
                       "the sizes in \"%s\" come to %" PRIu64 " units, the region has %" PRIu64
                       "; change a size, or size and unit of the region",
                       d->text, known, units);
    for (int f = 0; f < FIELDS; f++)
        if (d->is_hashed[f] && !(d->in_order[f] && d->in_order[d->hash[f]]))
            return td_fail(TD_FORMAT, "xor=%s^%s in \"%s\", whose order has no %s; put it into the order",
                           field_name[f], field_name[d->hash[f]], d->text,
                           field_name[d->in_order[f] ? (int)d->hash[f] : f]);
    for (int f = 0; f < FIELDS; f++)
        if (d->is_hashed[f] && (d->size[f] & (d->size[f] - 1)))
            return td_fail(TD_FORMAT, "%s=%" PRIu64 " in \"%s\" is hashed with xor and no power of two; use one",
                           field_name[f], d->size[f], d->text);
    return TD_OK;
}

/* How many of the fields choose the memory: those of its channels, ranks or banks. */
static td_status find_level(const dram *d, size_t memories, int *fields)
{
    const uint64_t channels = d->size[CHANNEL], ranks = channels * d->size[RANK],
                   banks = ranks * d->size[GROUP] * d->size[BANK];
    *fields = memories == 1          ? 0
              : memories == channels ? RANK
              : memories == ranks    ? GROUP
              : memories == banks    ? ROW
                                     : -1;
    if (*fields >= 0)
        return TD_OK;
    return td_fail(TD_FORMAT,
                   "%zu memories for \"%s\"; name 1, or one for every channel (%" PRIu64 "), rank (%" PRIu64
                   ") or bank (%" PRIu64 ")",
                   memories, d->text, channels, ranks, banks);
}

/* The number that the fields [first, last) make, the first the slowest. */
static void add_number(const dram *d, int first, int last, td_text *out)
{
    uint64_t stride = 1;
    bool any = false;
    for (int f = first; f < last; f++)
        stride *= d->size[f];
    for (int f = first; f < last; f++) {
        stride /= d->size[f];
        if (!d->in_order[f] || d->size[f] == 1)
            continue;
        td_text_add(out, "%s%" PRIu64 "*", any ? " + " : "", stride);
        if (d->is_hashed[f])
            td_text_add(out, "(%s ^ (%s & %" PRIu64 "))", field_name[f], field_name[d->hash[f]], d->size[f] - 1);
        else
            td_text_add(out, "%s", field_name[f]);
        any = true;
    }
    if (!any)
        td_text_add(out, "0");
}

td_status td_dram_expand(const char *text, size_t memories, uint64_t units, td_dram_text *out)
{
    dram d = {.text = text};
    int level = 0;
    td_status status = read_words(&d);
    if (!status)
        status = find_sizes(&d, units);
    if (!status)
        status = find_level(&d, memories, &level);
    if (status)
        return status;
    td_text fields = {0}, pattern = {0}, sizes = {0}, address = {0};
    td_text_add(&sizes, "%s", "");
    for (size_t i = 0; i < d.count; i++) {
        td_text_add(&fields, "%s%s", i ? " " : "", field_name[d.order[i]]);
        td_text_add(&sizes, "%s%s=%" PRIu64, i ? " " : "", field_name[d.order[i]], d.size[d.order[i]]);
    }
    td_text_add(&pattern, "(%s) -> (%s)", fields.text, fields.text);
    td_text_add(&address, "bank = ");
    add_number(&d, 0, level, &address);
    td_text_add(&address, "; addr = ");
    add_number(&d, level, FIELDS, &address);
    const bool failed = fields.failed || pattern.failed || sizes.failed || address.failed;
    free(fields.text);
    *out = (td_dram_text){pattern.text, sizes.text, address.text};
    if (!failed)
        return TD_OK;
    td_dram_text_free(out);
    return td_fail_alloc(pattern.used + sizes.used + address.used);
}

void td_dram_text_free(td_dram_text *text)
{
    free(text->pattern);
    free(text->options);
    free(text->address);
    *text = (td_dram_text){0};
}
