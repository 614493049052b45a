/* The words of sparse packings (sparse.h). It refuses words that it does not know, that stand twice, or that do not go
 * together; what depends on the tensor is checked in sparse_forms.c. */
#include "base/suggest.h"
#include "base/text.h"
#include "parts/sparse_kinds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[] = {"N:M", "mask", "csr", "csc", "coo", "runs", "nvdla"}; /* td_sparse_kind */

enum {
    INDEX,
    BASE,
    PRUNE,
    SPARE,
    ORDER,
    TILE,
    CHUNK,
    WORD,
    FIRST,
    POINTERS,
    PAD,
    ZEROS,
    GROUP,
    READING,
    ALIGN,
    ELEM,
    VALUES
};
static const char *const keys[] = {"index",    "base", "prune", "spare", "order",   "tile",  "chunk", "word", "first",
                                   "pointers", "pad",  "zeros", "group", "reading", "align", "elem",  "count"};
#define ALL_KEYS                                                                                                       \
    "index=, base=, prune=, spare=, order=, tile=, chunk=, word=, first=, pointers=, pad=, zeros=, group=, "           \
    "reading=, align=, elem=, count="

/* Words that choose: their values, in the order of the enumerations in sparse.h. */
static const char *const choices[][4] = {
    [PRUNE] = {"none", "magnitude", "torch"},
    [SPARE] = {"torch", "first", "last"},
    [ORDER] = {"plain", "ampere", "marlin", "hopper"},
    [FIRST] = {"lsb", "msb"},
    [POINTERS] = {"elements", "bytes"},
    [ZEROS] = {"none", "signed", "row"},
    [READING] = {"document", "tool"},
    [BASE] = {"0", "1"},
};

/* Of every kind the words that go with it, as 1 << key. */
#define LIST_KEYS (1 << INDEX | 1 << BASE | 1 << ZEROS | 1 << ELEM | 1 << VALUES)
static const unsigned allowed[] = {
    [TD_SPARSE_N_OF_M] = 1 << INDEX | 1 << PRUNE | 1 << SPARE | 1 << ORDER | 1 << TILE | 1 << ELEM,
    [TD_SPARSE_MASK] = 1 << INDEX | 1 << CHUNK | 1 << WORD | 1 << FIRST | 1 << POINTERS | 1 << ELEM | 1 << VALUES,
    [TD_SPARSE_CSR] = LIST_KEYS | 1 << PAD | 1 << POINTERS,
    [TD_SPARSE_CSC] = LIST_KEYS | 1 << PAD | 1 << POINTERS,
    [TD_SPARSE_COO] = LIST_KEYS,
    [TD_SPARSE_RUNS] = 1 << INDEX | 1 << ELEM | 1 << VALUES,
    [TD_SPARSE_NVDLA] = 1 << GROUP | 1 << READING | 1 << ALIGN | 1 << ELEM | 1 << VALUES,
};

static const td_dtype u1 = {TD_KIND_UINT, 1, 0, 1, 0, 0, 0, 0}, u8 = {TD_KIND_UINT, 8, 0, 1, 0, 0, 0, 0},
                      u16 = {TD_KIND_UINT, 16, 0, 2, 0, 0, 0, 0}, u32 = {TD_KIND_UINT, 32, 0, 4, 0, 0, 0, 0};

unsigned td_sparse_group_bits(const td_sparse *s)
{
    unsigned place = 1;
    while (1U << place < s->m)
        place++;
    return s->n == 1 && s->m == 2 ? 4 : s->n * place;
}

/* What torch.sparse knows. */
static bool is_torch(const td_sparse *s)
{
    return (s->n == 2 && s->m == 4) || (s->n == 1 && s->m == 2);
}

/* -- names -- */

const char *td_sparse_kind_name(const td_sparse *s)
{
    return names[s->kind];
}

/* "2:4": N and M of one or two digits. */
static bool read_ratio(const char *text, size_t length, td_sparse *out)
{
    const char *at = text;
    uint64_t n = 0, m = 0;
    if (!td_text_number(&at, &n) || *at++ != ':' || !td_text_number(&at, &m) || (size_t)(at - text) != length)
        return false;
    out->kind = TD_SPARSE_N_OF_M;
    out->n = n > 64 ? 65 : (uint8_t)n;
    out->m = m > 64 ? 65 : (uint8_t)m;
    return true;
}

static bool read_name(const char *text, size_t length, td_sparse *out)
{
    for (size_t i = 1; i < COUNT(names); i++)
        if (strlen(names[i]) == length && memcmp(text, names[i], length) == 0) {
            out->kind = (uint8_t)i;
            return true;
        }
    return read_ratio(text, length, out);
}

bool td_sparse_is(const char *text)
{
    td_sparse ignored = {0};
    const char *at = text + strspn(text, " \t");
    return read_name(at, strcspn(at, " \t"), &ignored);
}

/* -- words -- */

static td_status fail_value(const char *text, const char *key, const char *value, const char *needed)
{
    return td_fail(TD_OPTION, "%s=%s in packing \"%s\": pass %s", key, value, text, needed);
}

static td_status read_choice(const char *text, int key, const char *value, uint8_t *out)
{
    td_text list = {0};
    uint8_t count = 0;
    for (; count < COUNT(choices[key]) && choices[key][count]; count++)
        if (strcmp(value, choices[key][count]) == 0) {
            *out = count;
            return TD_OK;
        }
    for (uint8_t i = 0; i < count; i++)
        td_text_add(&list, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", choices[key][i]);
    const td_status status = fail_value(text, keys[key], value, list.text ? list.text : "");
    td_free(list.text);
    return status;
}

static td_status read_number(const char *text, int key, const char *value, uint64_t *out)
{
    const char *at = value;
    return td_text_number(&at, out) && !*at && *out && *out <= UINT32_MAX
               ? TD_OK
               : fail_value(text, keys[key], value, "a number from 1 to 4294967295");
}

static td_status read_value(const char *text, int key, const char *value, td_sparse *s)
{
    const char *at = value;
    uint8_t choice = 0;
    td_status status = TD_OK;
    switch (key) {
    case INDEX:
        return td_dtype_parse(value, &s->index);
    case WORD:
        return td_dtype_parse(value, &s->word);
    case ELEM:
        s->has_elem = true;
        return td_dtype_parse(value, &s->elem);
    case TILE:
        return read_number(text, key, value, &s->tile);
    case CHUNK:
        return read_number(text, key, value, &s->chunk);
    case PAD:
        return read_number(text, key, value, &s->pad);
    case GROUP:
        return read_number(text, key, value, &s->group);
    case ALIGN:
        return read_number(text, key, value, &s->align);
    case VALUES:
        s->has_count = true;
        return td_text_number(&at, &s->count) && !*at ? TD_OK : fail_value(text, "count", value, "a number");
    default:
        status = read_choice(text, key, value, &choice);
    }
    switch (key) {
    case BASE:
        s->base = choice;
        break;
    case PRUNE:
        s->prune = choice;
        break;
    case SPARE:
        s->spare = choice;
        break;
    case ORDER:
        s->order = choice;
        break;
    case FIRST:
        s->msb_first = choice == 1;
        break;
    case POINTERS:
        s->in_bytes = choice == 1;
        break;
    case ZEROS:
        s->zeros = choice;
        break;
    default:
        s->tool = s->msb_first = choice == 1;
    }
    return status;
}

static td_status read_word(const char *text, char *word, unsigned *seen, td_sparse *s)
{
    char *equals = strchr(word, '=');
    int key = 0;
    if (equals)
        *equals = 0;
    while (key < (int)COUNT(keys) && strcmp(word, keys[key]) != 0)
        key++;
    if (!equals || key == (int)COUNT(keys)) {
        const char *near = td_suggest(word, keys, COUNT(keys));
        return td_fail(TD_OPTION, "unknown word \"%s%s\" in packing \"%s\"; %s%s%s" ALL_KEYS, word, equals ? "=" : "",
                       text, near ? "did you mean \"" : "the words are ", near ? near : "",
                       near ? "=\"? the words are " : "");
    }
    if (!(allowed[s->kind] >> key & 1))
        return td_fail(TD_OPTION, "%s= in packing \"%s\" has no meaning for %s; leave it out", word, text,
                       names[s->kind]);
    if (*seen >> key & 1)
        return td_fail(TD_OPTION, "packing \"%s\" says %s= twice; keep one of them", text, word);
    *seen |= 1U << key;
    return read_value(text, key, equals + 1, s);
}

static bool is_unsigned(td_dtype t, unsigned most)
{
    return t.kind == TD_KIND_UINT && !t.fixed && t.bits <= most;
}

#define INDEX_MOST_BITS 32

/* The bits of a word of meta, where nothing else is said: 16, as torch.sparse and CUTLASS have, or what groups that do
 * not fill those do. */
static unsigned whole_groups(unsigned group_bits)
{
    return group_bits > 16 ? group_bits : 16 / group_bits * group_bits;
}

static td_dtype index_of(unsigned group_bits)
{
    td_dtype index = u16;
    index.bits = (uint8_t)(group_bits > INDEX_MOST_BITS ? 16 : whole_groups(group_bits)); /* check_ratio refuses more */
    index.bytes = index.bits > 16 ? 4 : index.bits > 8 ? 2 : 1;
    return index;
}

static td_status check_ratio(const char *text, const td_sparse *s)
{
    char index[TD_DTYPE_NAME_BYTES];
    const char *order = choices[ORDER][s->order];
    td_dtype_print(s->index, index);
    if (s->n == 0 || s->n >= s->m || s->m > 16 || (s->m & (s->m - 1)))
        return td_fail(TD_OPTION, "packing \"%s\": of N:M, M is 2, 4, 8 or 16, and N is less; pass something like 2:4",
                       text);
    const unsigned bits = td_sparse_group_bits(s);
    if (bits > INDEX_MOST_BITS)
        return td_fail(TD_OPTION,
                       "packing \"%s\": the places of a group take %u bits, and a word of meta has at most %d; use a "
                       "mask",
                       text, bits, INDEX_MOST_BITS);
    if (s->index.bits % bits)
        return td_fail(TD_OPTION, "index=%s in packing \"%s\": a word holds whole groups of %u bits; pass index=u%u",
                       index, text, bits, whole_groups(bits));
    if (s->spare == TD_SPARE_TORCH && !is_torch(s))
        return td_fail(TD_OPTION,
                       "spare=torch in packing \"%s\" is known for 2:4 and 1:2; pass spare=first or spare=last", text);
    if (s->prune == TD_PRUNE_TORCH && (s->n != 2 || s->m != 4))
        return td_fail(TD_OPTION, "prune=torch in packing \"%s\" is known for 2:4; pass prune=magnitude", text);
    if (s->order == TD_META_HOPPER
            ? !td_dtype_equal(s->index, u16)
            : s->order != TD_META_PLAIN && !td_dtype_equal(s->index, u16) && !td_dtype_equal(s->index, u32))
        return td_fail(TD_OPTION, "order=%s in packing \"%s\" has words of %s; pass index=u16%s", order, text,
                       s->order == TD_META_HOPPER ? "16 bits" : "16 or 32 bits",
                       s->order == TD_META_HOPPER ? "" : " or index=u32");
    if (s->tile && s->order != TD_META_HOPPER)
        return td_fail(TD_OPTION, "tile= in packing \"%s\" goes with order=hopper, and it says order=%s; leave it out",
                       text, order);
    return TD_OK;
}

static td_status check(const char *text, const td_sparse *s)
{
    char index[TD_DTYPE_NAME_BYTES], word[TD_DTYPE_NAME_BYTES];
    td_dtype_print(s->index, index);
    td_dtype_print(s->word, word);
    if (!is_unsigned(s->index, INDEX_MOST_BITS))
        return td_fail(TD_OPTION, "index=%s in packing \"%s\": numbers are unsigned, of up to 32 bits; pass index=u16",
                       index, text);
    if (!is_unsigned(s->word, 64))
        return td_fail(TD_OPTION, "word=%s in packing \"%s\": bits of a mask are in unsigned words; pass word=u8", word,
                       text);
    if (s->kind == TD_SPARSE_MASK && s->msb_first && s->word.bits == 1)
        return td_fail(
            TD_OPTION,
            "first=msb in packing \"%s\" needs words of more than one bit, and it says word=u1; pass word=u8", text);
    return s->kind == TD_SPARSE_N_OF_M ? check_ratio(text, s) : TD_OK;
}

td_status td_sparse_parse(const char *text, td_sparse *out)
{
    td_sparse s = {.index = u32, .word = u1, .pad = 1, .align = 128};
    const char *at = text + strspn(text, " \t");
    size_t length = strcspn(at, " \t");
    unsigned seen = 0;
    td_status status = TD_OK;
    (void)read_name(at, length, &s); /* td_sparse_is said so */
    if (s.kind == TD_SPARSE_N_OF_M) {
        s.index = u16;
        s.spare = is_torch(&s) ? TD_SPARE_TORCH : TD_SPARE_LAST;
    } else if (s.kind == TD_SPARSE_RUNS)
        s.index = u8;
    else if (s.kind == TD_SPARSE_NVDLA)
        s.word = u8;
    while (!status) {
        char word[64];
        at += length;
        at += strspn(at, " \t");
        length = strcspn(at, " \t");
        if (length == 0)
            break;
        if (length >= sizeof word)
            return td_fail(TD_OPTION,
                           "a word of packing \"%.40s...\" has %zu letters, and a word has at most %zu; shorten it",
                           text, length, sizeof word - 1);
        memcpy(word, at, length);
        word[length] = 0;
        status = read_word(text, word, &seen, &s);
    }
    if (!status && s.kind == TD_SPARSE_N_OF_M && s.n && !(seen >> INDEX & 1))
        s.index = index_of(td_sparse_group_bits(&s));
    if (!status)
        status = check(text, &s);
    if (!status)
        *out = s;
    return status;
}

void td_sparse_print(const td_sparse *s, char *text)
{
    char index[TD_DTYPE_NAME_BYTES], word[TD_DTYPE_NAME_BYTES], elem[TD_DTYPE_NAME_BYTES];
    const unsigned own = allowed[s->kind];
    size_t used = 0;
    td_dtype_print(s->index, index);
    td_dtype_print(s->word, word);
    td_dtype_print(s->elem, elem);
#define ADD(...) (used += (size_t)td_text_print(text + used, TD_SPARSE_TEXT_BYTES - used, __VA_ARGS__))
    if (s->kind == TD_SPARSE_N_OF_M)
        ADD("%u:%u", s->n, s->m);
    else
        ADD("%s", names[s->kind]);
    if (own >> INDEX & 1)
        ADD(" index=%s", index);
    if (s->kind == TD_SPARSE_N_OF_M)
        ADD(" spare=%s order=%s prune=%s", choices[SPARE][s->spare], choices[ORDER][s->order],
            choices[PRUNE][s->prune]);
    if (s->tile)
        ADD(" tile=%" PRIu64, s->tile);
    if (own >> WORD & 1 && s->word.bits > 1)
        ADD(" word=%s first=%s", word, choices[FIRST][s->msb_first]);
    if (s->chunk)
        ADD(" chunk=%" PRIu64, s->chunk);
    if (own >> BASE & 1)
        ADD(" base=%" PRIu64, s->base);
    if (own >> ZEROS & 1 && s->zeros)
        ADD(" zeros=%s", choices[ZEROS][s->zeros]);
    if (s->pad != 1)
        ADD(" pad=%" PRIu64, s->pad);
    if (s->in_bytes)
        ADD(" pointers=bytes");
    if (s->group)
        ADD(" group=%" PRIu64, s->group);
    if (own >> READING & 1)
        ADD(" reading=%s align=%" PRIu64, choices[READING][s->tool], s->align);
    if (s->has_elem)
        ADD(" elem=%s", elem);
    if (s->has_count)
        ADD(" count=%" PRIu64, s->count);
#undef ADD
}
