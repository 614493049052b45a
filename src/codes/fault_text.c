/* What the text of an injection says: which words and bits to flip, and how many. Words that contradict each other are
 * refused here; fault.c knows the memory, and refuses what is not there. */
#include "base/suggest.h"
#include "base/text.h"
#include "codes/fault.h"

#include <inttypes.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { BITS, BIT, WORD, WORDS, FIRST, COUNT_KEY, IN, SUBWORD, SEED };
static const char *const keys[] = {"bits=", "bit=", "word=", "words=", "first=", "count=", "in=", "subword=", "seed="};
_Static_assert(TD_FAULT_WHERE == (1u << WORD | 1u << WORDS | 1u << FIRST | 1u << COUNT_KEY | 1u << SUBWORD),
               "fault.h numbers the words as they stand here");
_Static_assert(TD_FAULT_CODED == 1u << IN && TD_FAULT_SUBWORD == 1u << SUBWORD,
               "fault.h numbers the words as they stand here");
#define KEYS_TEXT "bits=, bit=, word=, words=, first=, count=, in=, subword=, seed="

static td_status refuse_number(const char *word)
{
    return td_fail(TD_OPTION, "%.60s is no number; pass one, decimal or 0x", word);
}

static td_status read_bits(td_fault_spec *spec, const char *word)
{
    for (const char *at = word + strlen(keys[BIT]);; at++) {
        if (spec->bit_count == COUNT(spec->bit))
            return td_fail(TD_OPTION, "bit= has more than %zu bits; pass fewer, or bits=N", COUNT(spec->bit));
        if (!td_text_number(&at, &spec->bit[spec->bit_count]) || (*at && *at != ','))
            return td_fail(TD_OPTION, "%.60s is no list of bits; pass numbers like bit=3 or bit=0,17", word);
        for (size_t i = 0; i < spec->bit_count; i++)
            if (spec->bit[i] == spec->bit[spec->bit_count])
                return td_fail(TD_OPTION, "bit %" PRIu64 " stands twice in %.60s; keep one of them", spec->bit[i],
                               word);
        spec->bit_count++;
        if (!*at)
            return TD_OK;
    }
}

static td_status read_in(td_fault_spec *spec, const char *value)
{
    static const char *const names[] = {"any", "data", "check"};
    for (unsigned i = 0; i < COUNT(names); i++)
        if (strcmp(value, names[i]) == 0) {
            spec->in = (td_fault_in)i;
            return TD_OK;
        }
    return td_fail(TD_OPTION, "in=%.40s; pass in=any, in=data or in=check", value);
}

static td_status read_value(td_fault_spec *spec, unsigned key, const char *word)
{
    uint64_t *const number[] = {
        [BITS] = &spec->bits,       [WORD] = &spec->word,       [WORDS] = &spec->words, [FIRST] = &spec->first,
        [COUNT_KEY] = &spec->count, [SUBWORD] = &spec->subword, [SEED] = &spec->seed};
    const char *value = word + strlen(keys[key]), *at = value;
    if (key == BIT)
        return read_bits(spec, word);
    if (key == IN)
        return read_in(spec, value);
    if (key == SUBWORD && strcmp(value, "any") == 0) {
        spec->spread = true;
        return TD_OK;
    }
    if (!td_text_number(&at, number[key]) || *at)
        return refuse_number(word);
    if ((key == BITS || key == WORDS || key == COUNT_KEY) && *number[key] == 0)
        return td_fail(TD_OPTION, "%s; pass at least 1", word);
    if (key == WORDS && spec->words > TD_FAULT_WORDS)
        return td_fail(TD_OPTION, "%s; pass up to %d words at once", word, TD_FAULT_WORDS);
    return TD_OK;
}

static td_status read_word(td_fault_spec *spec, const char *word)
{
    unsigned key = 0;
    while (key < COUNT(keys) && strncmp(word, keys[key], strlen(keys[key])) != 0)
        key++;
    if (key == COUNT(keys)) {
        const char *near = td_suggest(word, keys, COUNT(keys));
        return td_fail(TD_OPTION, "unknown word \"%.40s\"; %s%s%sthe words are " KEYS_TEXT, word,
                       near ? "did you mean \"" : "", near ? near : "", near ? "\"? " : "");
    }
    if (spec->seen >> key & 1)
        return td_fail(TD_OPTION, "%s stands twice; keep one of them", keys[key]);
    spec->seen |= 1u << key;
    return read_value(spec, key, word);
}

/* Pairs of words that say one thing twice. */
static td_status check_pairs(const td_fault_spec *spec)
{
    static const struct {
        unsigned a, b;
    } pairs[] = {{BIT, BITS}, {BIT, IN}, {BIT, SUBWORD}, {WORD, WORDS}, {WORD, FIRST}, {WORD, COUNT_KEY}};
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (spec->seen >> pairs[i].a & spec->seen >> pairs[i].b & 1)
            return td_fail(TD_OPTION, "%s and %s do not go together; leave one of them out", keys[pairs[i].a],
                           keys[pairs[i].b]);
    return TD_OK;
}

td_status td_fault_spec_read(const char *text, td_fault_spec *out)
{
    char word[512];
    td_status status = TD_OK;
    *out = (td_fault_spec){.bits = 1, .word = UINT64_MAX, .words = 1, .subword = UINT64_MAX};
    for (const char *at = text + strspn(text, " \t"); *at && !status; at += strspn(at, " \t")) {
        const size_t length = strcspn(at, " \t");
        if (length >= sizeof word)
            return td_fail(TD_OPTION, "a word of %zu letters; a word has at most %zu", length, sizeof word - 1);
        memcpy(word, at, length);
        word[length] = 0;
        at += length;
        status = read_word(out, word);
    }
    return status ? status : check_pairs(out);
}
