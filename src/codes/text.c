/* The language of codes: a name, and words behind it. Behind td_code_create, which adds the call to messages. It
 * refuses names and words that it does not know, words that stand twice, and words that do not go with the name. */
#include "base/text.h"
#include "base/pages.h"
#include "base/suggest.h"
#include "codes/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef struct named {
    const char *name;
    uint32_t bits; /* of data */
    const char *masks;
} named;

/* The masks of OpenTitan's prim_secded_pkg, check bit 0 first. */
static const named codes[] = {
    {"22_16", 16, "496e,f20b,8ed8,7714,aca5,11f3"},
    {"28_22", 22, "3003ff,10fc0f,271c71,3b6592,3daaa4,3ed348"},
    {"39_32", 32, "2606bd25,deba8050,413d89aa,31234ed1,c2c1323b,2dcc624c,98505586"},
    {"64_57", 57,
     "103fff800007fff,17c1ff801ff801f,1bde1f87e0781e1,1deee3b8e388e22,1ef76cdb2c93244,1f7bb56d5525488,1fbdda769a46910"},
    {"72_64", 64,
     "b9000000001fffff,5e00000fffe0003f,67003ff003e007c1,cd0fc0f03c207842,b671c711c4438884,b5b65926488c9108,"
     "cbdaaa4a91152210,7aed348d221a4420"},
    {"hamming_22_16", 16, "ad5b,366d,c78e,7f0,f800,1fffff"},
    {"hamming_39_32", 32, "56aaad5b,9b33366d,e3c3c78e,3fc07f0,3fff800,fc000000,3fffffffff"},
    {"hamming_72_64", 64,
     "ab55555556aaad5b,cd9999999b33366d,f1e1e1e1e3c3c78e,1fe01fe03fc07f0,1fffe0003fff800,1fffffffc000000,"
     "fe00000000000000,7fffffffffffffffff"},
    {"hamming_76_68", 68,
     "aab55555556aaad5b,ccd9999999b33366d,f1e1e1e1e3c3c78e,f01fe01fe03fc07f0,1fffe0003fff800,1fffffffc000000,"
     "ffe00000000000000,7ffffffffffffffffff"},
};

#define NAMES                                                                                                          \
    "22_16, 28_22, 39_32, 64_57, 72_64, hamming_22_16, hamming_39_32, hamming_72_64, hamming_76_68, each also with "   \
    "inv_ in front, parity, hsiao, hamming or masks="

enum { EVEN, ODD, WIDTH, SUBWORD, ADDRESS, XOR, PLACE, CORRECT };
static const char *const keys[] = {"even", "odd", "width=", "subword=", "address=", "xor=", "place=", "correct="};
#define KEYS_TEXT "subword=, address=, xor=, place=, correct=, and of parity even, odd and width="

static const char *const places[] = {"above", "below", "interleaved"}; /* the order of td_code_place */

/* -- numbers -- */

static unsigned digit_of(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 16;
}

/* Hex digits with _ between them, 0x in front or not, up to `end`; false when it is no number or too long. */
static bool read_hex(const char *at, const char *end, td_code_mask *out)
{
    size_t bit = 0;
    *out = (td_code_mask){{0}};
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    for (const char *p = end; p > at; p--) {
        if (p[-1] == '_' && p - 1 > at)
            continue;
        const unsigned digit = digit_of(p[-1]);
        if (digit > 15 || (digit && bit + 4 > 64 * (size_t)TD_CODE_MASK_WORDS))
            return false;
        if (digit)
            out->bits[bit / 64] |= (uint64_t)digit << bit % 64;
        bit += 4;
    }
    return bit > 0;
}

static td_status add_mask(td_code_spec *spec, const char *at, const char *end)
{
    if (spec->mask_count == TD_CODE_CHECKS)
        return td_fail(TD_OPTION, "more than %d masks; a subword has up to %d check bits", TD_CODE_CHECKS,
                       TD_CODE_CHECKS);
    if (!read_hex(at, end, &spec->mask[spec->mask_count]))
        return td_fail(TD_OPTION, "mask %u is \"%.*s\"; pass hex digits, check bit 0 first, as masks=f0,cc,aa",
                       spec->mask_count, (int)(end - at < 40 ? end - at : 40), at);
    spec->mask_count++;
    return TD_OK;
}

static td_status read_masks(td_code_spec *spec, const char *list)
{
    td_status status = TD_OK;
    for (const char *at = list; !status; at++) {
        const char *end = at + strcspn(at, ",");
        status = add_mask(spec, at, end);
        at = end;
        if (!*at)
            break;
    }
    return status;
}

/* Blanks, commas and ends of lines stand between the masks of a file; # and // begin a comment. */
static td_status read_mask_file(td_code_spec *spec, const char *path)
{
    td_file_map file;
    td_status status = td_file_copy_open(path, &file);
    if (status)
        return status;
    const char *at = (const char *)file.bytes, *const end = at + file.size;
    while (at < end && !status) {
        const char *word = at;
        if (*at == '#' || (*at == '/' && end - at > 1 && at[1] == '/')) {
            while (at < end && *at != '\n')
                at++;
            continue;
        }
        while (at < end && !memchr(" \t\r\n,#/", *at, 8))
            at++;
        if (at > word)
            status = add_mask(spec, word, at);
        else if (*at == '/') /* not a comment: a mask that is no number */
            status = add_mask(spec, at, at + 1);
        else
            at++;
    }
    if (!status && spec->mask_count == 0)
        status = td_fail(TD_FORMAT, "the file \"%s\" has no mask; write hex digits, one mask per check bit", path);
    td_file_unmap(&file);
    return status;
}

static td_status read_count(const char *word, uint64_t least, uint64_t most, uint64_t *out)
{
    const char *at = strchr(word, '=') + 1;
    uint64_t value = 0;
    if (!td_text_number(&at, &value) || *at || value < least || value > most)
        return td_fail(TD_OPTION, "%s is no number of bits from %" PRIu64 " to %" PRIu64 "; pass one of them", word,
                       least, most);
    *out = value;
    return TD_OK;
}

/* -- words -- */

static td_status read_choice(const char *word, const char *const *names, size_t count, const char *list, uint32_t *out)
{
    const char *value = strchr(word, '=') + 1;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(value, names[i]) == 0) {
            *out = i;
            return TD_OK;
        }
    return td_fail(TD_OPTION, "%s; pass %s", word, list);
}

static td_status read_value(td_code_spec *spec, uint32_t key, const char *word)
{
    static const char *const on_off[] = {"on", "off"};
    uint32_t number = 0;
    td_status status = TD_OK;
    switch (key) {
    case EVEN:
    case ODD:
        spec->odd = key == ODD;
        return TD_OK;
    case WIDTH:
    case SUBWORD:
        spec->subword_given = true;
        return read_count(word, 1, TD_CODE_COVERED_BITS, &spec->subword_bits);
    case ADDRESS:
        return read_count(word, 0, 64, &spec->address_bits);
    case XOR:
        spec->xor_given = true;
        if (read_hex(word + 4, word + strlen(word), &spec->constant))
            return TD_OK;
        return td_fail(TD_OPTION, "%s is no number; pass hex digits, data bits low and check bits above them", word);
    case PLACE:
        status = read_choice(word, places, COUNT(places), "place=above, place=below or place=interleaved", &number);
        spec->place_given = true;
        spec->place = (td_code_place)number;
        return status;
    default:
        status = read_choice(word, on_off, COUNT(on_off), "correct=on or correct=off", &number);
        spec->detect_only = number == 1;
        return status;
    }
}

static td_status read_word(td_code_spec *spec, const char *word, unsigned *seen)
{
    const size_t stem = strcspn(word, "=") + (strchr(word, '=') != NULL);
    const bool parity = strcmp(spec->name, "parity") == 0;
    uint32_t key = 0;
    while (key < COUNT(keys) && (strlen(keys[key]) != stem || strncmp(word, keys[key], stem) != 0))
        key++;
    if (key == COUNT(keys)) {
        char first[32];
        snprintf(first, sizeof first, "%.*s", (int)(stem < 31 ? stem : 31), word);
        const char *near = td_suggest(first, keys, COUNT(keys));
        return td_fail(TD_OPTION, "unknown word \"%.40s\"; %s%s%sthe words are " KEYS_TEXT, word,
                       near ? "did you mean \"" : "", near ? near : "", near ? "\"? " : "");
    }
    if (key <= WIDTH && !parity)
        return td_fail(TD_OPTION, "\"%s\" is a word of parity, and the code is %s; %s", word, spec->name,
                       key == WIDTH ? "pass subword=" : "leave it out");
    const unsigned bits = key <= ODD       ? 1u << EVEN | 1u << ODD
                          : key <= SUBWORD ? 1u << WIDTH | 1u << SUBWORD
                                           : 1u << key;
    if (*seen & bits)
        return td_fail(TD_OPTION, "%.*s stands twice; keep one of them", (int)stem, word);
    *seen |= bits;
    return read_value(spec, key, word);
}

static td_status read_named(td_code_spec *spec, const char *name)
{
    const bool inverted = strncmp(name, "inv_", 4) == 0;
    const char *known[COUNT(codes) + 3];
    for (size_t i = 0; i < COUNT(codes); i++) {
        known[i] = codes[i].name;
        if (strcmp(name + (inverted ? 4 : 0), codes[i].name) != 0)
            continue;
        spec->subword_bits = codes[i].bits; /* with the address; columns.c takes it off */
        spec->inverted = inverted;
        return read_masks(spec, codes[i].masks);
    }
    known[COUNT(codes)] = "parity";
    known[COUNT(codes) + 1] = "hsiao";
    known[COUNT(codes) + 2] = "hamming";
    const char *near = td_suggest(name + (inverted ? 4 : 0), known, COUNT(known));
    return td_fail(TD_OPTION, "\"%.40s\" is no code; %s%s%s%spass " NAMES, name, near ? "did you mean \"" : "",
                   near && inverted && near[0] != 'p' ? "inv_" : "", near ? near : "", near ? "\"? " : "");
}

static td_status read_name(td_code_spec *spec, const char *name)
{
    if (strncmp(name, "masks=", 6) == 0) {
        snprintf(spec->name, sizeof spec->name, "masks");
        return name[6] == '@' ? read_mask_file(spec, name + 7) : read_masks(spec, name + 6);
    }
    snprintf(spec->name, sizeof spec->name, "%s", name);
    if (strcmp(name, "parity") == 0) {
        spec->subword_bits = 8;
        return TD_OK;
    }
    return strcmp(name, "hsiao") == 0 || strcmp(name, "hamming") == 0 ? TD_OK : read_named(spec, name);
}

/* `words` is a copy of the text that is cut into its words. */
static td_status read_text(td_code_spec *spec, char *words)
{
    char *rest = NULL;
    unsigned seen = 0;
    char *word = strtok_r(words, " \t\n", &rest);
    if (!word)
        return td_fail(TD_OPTION, "the text is empty; pass a code, such as 39_32: " NAMES);
    td_status status = read_name(spec, word);
    const uint64_t named_bits = strcmp(spec->name, "masks") != 0 && spec->mask_count ? spec->subword_bits : 0;
    while (!status && (word = strtok_r(NULL, " \t\n", &rest)) != NULL)
        status = read_word(spec, word, &seen);
    if (status || !named_bits)
        return status;
    if (spec->address_bits >= named_bits)
        return td_fail(TD_OPTION,
                       "address=%" PRIu64 " leaves no data of the %" PRIu64 " bits that %s covers; pass less",
                       spec->address_bits, named_bits, spec->name);
    if (spec->subword_given && spec->subword_bits + spec->address_bits != named_bits)
        return td_fail(TD_OPTION,
                       "subword=%" PRIu64 " and address=%" PRIu64 " in %s, which covers %" PRIu64
                       " bits; leave subword= out, or pass hsiao or hamming, which cover any number",
                       spec->subword_bits, spec->address_bits, spec->name, named_bits);
    spec->subword_bits = named_bits - spec->address_bits;
    return TD_OK;
}

td_status td_code_spec_read(const char *text, td_code_spec *out)
{
    *out = (td_code_spec){.place = TD_PLACE_INTERLEAVED};
    char *words = strdup(text);
    if (!words)
        return td_fail_alloc(strlen(text) + 1);
    td_status status = TD_OK;
    out->mask = calloc(TD_CODE_CHECKS, sizeof *out->mask);
    status = out->mask ? read_text(out, words) : td_fail_alloc(TD_CODE_CHECKS * sizeof *out->mask);
    free(words);
    return status;
}

void td_code_spec_free(td_code_spec *spec)
{
    free(spec->mask);
    spec->mask = NULL;
}

static void print_hex(td_text *t, const td_code_mask *mask)
{
    size_t top = TD_CODE_MASK_WORDS - 1;
    while (top > 0 && mask->bits[top] == 0)
        top--;
    td_text_add(t, "%" PRIx64, mask->bits[top]);
    while (top-- > 0)
        td_text_add(t, "%016" PRIx64, mask->bits[top]);
}

char *td_code_spec_print(const td_code_spec *spec, const td_code *code)
{
    const bool parity = strcmp(spec->name, "parity") == 0;
    td_text t = {0};
    td_text_add(&t, "%s", spec->name);
    for (uint32_t j = 0; j < spec->mask_count && strcmp(spec->name, "masks") == 0; j++) {
        td_text_add(&t, j ? "," : "=");
        print_hex(&t, &spec->mask[j]);
    }
    if (parity)
        td_text_add(&t, " %s width=%" PRIu32, spec->odd ? "odd" : "even", code->subword_bits);
    else
        td_text_add(&t, " subword=%" PRIu32, code->subword_bits);
    if (code->address_bits)
        td_text_add(&t, " address=%" PRIu32, code->address_bits);
    if (spec->xor_given) {
        td_text_add(&t, " xor=0x");
        print_hex(&t, &spec->constant);
    }
    td_text_add(&t, " place=%s%s", places[code->place], spec->detect_only ? " correct=off" : "");
    if (t.failed) {
        free(t.text);
        return NULL;
    }
    return t.text;
}
