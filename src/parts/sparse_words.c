/* The words of sparse packings, and what parts they have (sparse.h). It refuses words that it does not know or that
 * stand twice, and shapes that do not go with a packing. */
#include "base/suggest.h"
#include "base/text.h"
#include "parts/sparse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[] = {"N:M", "mask", "csr", "csc", "coo", "runs"}; /* td_sparse_kind */
static const char *const spares[] = {"torch", "first", "last"};                  /* td_spare */

enum { INDEX, BASE, PRUNE, SPARE, ORDER, CHUNK, ELEM, VALUES };
static const char *const keys[] = {"index", "base", "prune", "spare", "order", "chunk", "elem", "count"};
#define ALL_KEYS "index=, base=, prune=, spare=, order=, chunk=, elem=, count="

/* Of every kind the words that go with it, as 1 << key. */
static const unsigned allowed[] = {
    [TD_SPARSE_N_OF_M] = 1 << INDEX | 1 << PRUNE | 1 << SPARE | 1 << ORDER | 1 << ELEM,
    [TD_SPARSE_MASK] = 1 << INDEX | 1 << CHUNK | 1 << ELEM | 1 << VALUES,
    [TD_SPARSE_CSR] = 1 << INDEX | 1 << BASE | 1 << ELEM | 1 << VALUES,
    [TD_SPARSE_CSC] = 1 << INDEX | 1 << BASE | 1 << ELEM | 1 << VALUES,
    [TD_SPARSE_COO] = 1 << INDEX | 1 << BASE | 1 << ELEM | 1 << VALUES,
    [TD_SPARSE_RUNS] = 1 << INDEX | 1 << ELEM | 1 << VALUES,
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

static td_status read_value(const char *text, int key, const char *value, td_sparse *s)
{
    const char *at = value;
    switch (key) {
    case INDEX:
        return td_dtype_parse(value, &s->index);
    case ELEM:
        s->has_elem = true;
        return td_dtype_parse(value, &s->elem);
    case BASE:
        s->base = value[0] == '1';
        return (value[0] == '0' || value[0] == '1') && !value[1] ? TD_OK : fail_value(text, "base", value, "0 or 1");
    case PRUNE:
        s->prune = strcmp(value, "magnitude") == 0;
        return s->prune || strcmp(value, "none") == 0 ? TD_OK : fail_value(text, "prune", value, "none or magnitude");
    case ORDER:
        s->ampere = strcmp(value, "ampere") == 0;
        return s->ampere || strcmp(value, "plain") == 0 ? TD_OK : fail_value(text, "order", value, "plain or ampere");
    case SPARE:
        for (size_t i = 0; i < COUNT(spares); i++)
            if (strcmp(value, spares[i]) == 0) {
                s->spare = (uint8_t)i;
                return TD_OK;
            }
        return fail_value(text, "spare", value, "torch, first or last");
    case CHUNK:
        return td_text_number(&at, &s->chunk) && !*at && s->chunk
                   ? TD_OK
                   : fail_value(text, "chunk", value, "a number from 1 on");
    default:
        s->has_count = true;
        return td_text_number(&at, &s->count) && !*at ? TD_OK : fail_value(text, "count", value, "a number");
    }
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

static td_status check(const char *text, const td_sparse *s)
{
    char index[TD_DTYPE_NAME_BYTES];
    td_dtype_print(s->index, index);
    if (s->index.kind != TD_KIND_UINT || s->index.fixed || s->index.bits > 32)
        return td_fail(TD_OPTION, "index=%s in packing \"%s\": numbers are unsigned, of up to 32 bits; pass index=u16",
                       index, text);
    if (s->kind != TD_SPARSE_N_OF_M)
        return TD_OK;
    if (s->n == 0 || s->n >= s->m || s->m > 16 || (s->m & (s->m - 1)))
        return td_fail(TD_OPTION, "packing \"%s\": of N:M, M is 2, 4, 8 or 16, and N is less; pass something like 2:4",
                       text);
    if (s->index.bits % td_sparse_group_bits(s))
        return td_fail(TD_OPTION,
                       "index=%s in packing \"%s\": a word holds whole groups of %u bits; pass index=u16 or u32", index,
                       text, td_sparse_group_bits(s));
    if (s->spare == TD_SPARE_TORCH && !is_torch(s))
        return td_fail(TD_OPTION,
                       "spare=torch in packing \"%s\" is known for 2:4 and 1:2; pass spare=first or spare=last", text);
    if (s->ampere && !td_dtype_equal(s->index, u16) && !td_dtype_equal(s->index, u32))
        return td_fail(TD_OPTION,
                       "order=ampere in packing \"%s\" has words of 16 or 32 bits; pass index=u16 or index=u32", text);
    return TD_OK;
}

td_status td_sparse_parse(const char *text, td_sparse *out)
{
    td_sparse s = {.index = u32};
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
    if (!status)
        status = check(text, &s);
    if (!status)
        *out = s;
    return status;
}

void td_sparse_print(const td_sparse *s, char *text)
{
    char index[TD_DTYPE_NAME_BYTES], elem[TD_DTYPE_NAME_BYTES];
    size_t used = 0;
    td_dtype_print(s->index, index);
    td_dtype_print(s->elem, elem);
#define ADD(...) (used += (size_t)td_text_print(text + used, TD_SPARSE_TEXT_BYTES - used, __VA_ARGS__))
    if (s->kind == TD_SPARSE_N_OF_M)
        ADD("%u:%u index=%s spare=%s order=%s prune=%s", s->n, s->m, index, spares[s->spare],
            s->ampere ? "ampere" : "plain", s->prune ? "magnitude" : "none");
    else
        ADD("%s index=%s", names[s->kind], index);
    if (s->chunk)
        ADD(" chunk=%" PRIu64, s->chunk);
    if (allowed[s->kind] >> BASE & 1)
        ADD(" base=%" PRIu64, s->base);
    if (s->has_elem)
        ADD(" elem=%s", elem);
    if (s->has_count)
        ADD(" count=%" PRIu64, s->count);
#undef ADD
}

/* -- parts -- */

static td_shape list_of(uint64_t count)
{
    return (td_shape){.rank = 1, .dim = {count}};
}

/* Values and meta of N:M. */
static td_status ratio_forms(const td_sparse *s, const td_shape *shape, td_part_form *forms)
{
    char text[TD_SHAPE_TEXT_BYTES];
    const uint64_t row = shape->dim[shape->rank - 1], groups = row / s->m,
                   per_word = s->index.bits / td_sparse_group_bits(s), words = (groups + per_word - 1) / per_word;
    uint64_t rows = 1;
    for (size_t d = 0; d + 1 < shape->rank; d++)
        rows *= shape->dim[d];
    if (row % s->m)
        return td_fail(TD_SHAPE,
                       "%u:%u of shape %s: a row of %" PRIu64 " does not divide into groups of %u; pad the tensor",
                       s->n, s->m, td_shape_print(shape, text), row, s->m);
    const uint64_t tile = s->index.bits == 16 ? 32 : 16;
    if (s->ampere && (rows % tile || words % 2))
        return td_fail(TD_SHAPE,
                       "order=ampere of shape %s: %" PRIu64 " rows of %" PRIu64 " words of meta; rows come in %" PRIu64
                       " and words in pairs, so pad the tensor",
                       td_shape_print(shape, text), rows, words, tile);
    forms[0].shape = forms[1].shape = *shape;
    forms[0].shape.dim[shape->rank - 1] = groups * s->n;
    forms[1].shape.dim[shape->rank - 1] = words;
    if (s->ampere)
        forms[1].shape = list_of(rows * words);
    forms[1].name = "meta";
    forms[1].dtype = s->index;
    return TD_OK;
}

td_status td_sparse_forms(const td_sparse *s, const td_shape *shape, td_dtype elem, uint64_t count, td_part_form *forms)
{
    char text[TD_SHAPE_TEXT_BYTES];
    const bool matrix = s->kind == TD_SPARSE_CSR || s->kind == TD_SPARSE_CSC || s->kind == TD_SPARSE_COO;
    memset(forms, 0, TD_MOST_PARTS * sizeof *forms);
    forms[0] = (td_part_form){.name = "values", .dtype = elem, .shape = list_of(count)};
    if (shape->rank == 0 || (matrix && shape->rank != 2))
        return td_fail(TD_SHAPE, "%s of a tensor of shape %s; it needs %s, so reshape it", names[s->kind],
                       td_shape_print(shape, text), matrix ? "two dimensions" : "a dimension");
    if (s->kind == TD_SPARSE_N_OF_M)
        return ratio_forms(s, shape, forms);
    if (count == 0)
        return td_fail(TD_SHAPE, "%s of a tensor without a value that is not zero; it has no parts", names[s->kind]);
    uint64_t elems = 1;
    for (size_t d = 0; d < shape->rank; d++)
        elems *= shape->dim[d];
    if (count > elems)
        return td_fail(TD_SHAPE,
                       "%" PRIu64 " values for a tensor of shape %s, which has %" PRIu64 " elements; pass fewer", count,
                       td_shape_print(shape, text), elems);
    switch (s->kind) {
    case TD_SPARSE_MASK:
        forms[1] = (td_part_form){.name = "mask", .dtype = u1, .shape = *shape};
        if (s->chunk)
            forms[2] = (td_part_form){
                .name = "pointers", .dtype = s->index, .shape = list_of((elems + s->chunk - 1) / s->chunk)};
        break;
    case TD_SPARSE_CSR:
        forms[1] = (td_part_form){.name = "columns", .dtype = s->index, .shape = list_of(count)};
        forms[2] = (td_part_form){.name = "rows", .dtype = s->index, .shape = list_of(shape->dim[0] + 1)};
        break;
    case TD_SPARSE_CSC:
        forms[1] = (td_part_form){.name = "rows", .dtype = s->index, .shape = list_of(count)};
        forms[2] = (td_part_form){.name = "columns", .dtype = s->index, .shape = list_of(shape->dim[1] + 1)};
        break;
    case TD_SPARSE_COO:
        forms[1] = (td_part_form){.name = "rows", .dtype = s->index, .shape = list_of(count)};
        forms[2] = (td_part_form){.name = "columns", .dtype = s->index, .shape = list_of(count)};
        break;
    default:
        forms[1] = (td_part_form){.name = "runs", .dtype = s->index, .shape = list_of(count)};
    }
    return TD_OK;
}
