/* Which packing fits: the words that would have made given parts of a tensor. A design that followed another rule than
 * the one that was asked for has parts that differ everywhere by a little; here every rule is tried, one word at a
 * time, then with a second one (of large tensors on their first rows), and then the orders of elements and the zero
 * points that libraries are known to differ by. Called by users when a comparison of parts fails. It compares codes
 * only, and refuses what parts.c refuses. */
#include "parts/blocks.h"

#include "base/text.h"
#include "parts/fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far parts agree with those that were found. */
typedef struct fit {
    uint64_t scales, elems, zeros, zeros_less; /* equal ones; zero points that are one less than expected */
    uint64_t chance;                           /* elements that may be equal by chance */
} fit;

static bool same(const td_tensor *a, uint64_t i, const td_tensor *b, uint64_t j)
{
    return memcmp(a->data + i * a->dtype.bytes, b->data + j * b->dtype.bytes, a->dtype.bytes) == 0;
}

static uint64_t count_same(const td_tensor *a, const td_tensor *b)
{
    uint64_t count = 0;
    for (uint64_t i = 0; a && i < a->elems; i++)
        count += same(a, i, b, i);
    return count;
}

static uint64_t count_less(const td_tensor *expected, const td_tensor *found)
{
    const uint64_t own = expected ? td_dtype_mask(expected->dtype) : 0;
    uint64_t count = 0;
    for (uint64_t i = 0; expected && i < expected->elems; i++) {
        uint64_t a = 0, b = 0;
        memcpy(&a, expected->data + i * expected->dtype.bytes, expected->dtype.bytes);
        memcpy(&b, found->data + i * found->dtype.bytes, found->dtype.bytes);
        count += ((a - 1) & own) == (b & own);
    }
    return count;
}

static fit fit_of(const td_parts *expected, const td_parts *found)
{
    return (fit){.chance = found->tensor[TD_PART_ELEMS]->elems / 8,
                 .scales = count_same(expected->tensor[TD_PART_SCALES], found->tensor[TD_PART_SCALES]),
                 .elems = count_same(expected->tensor[TD_PART_ELEMS], found->tensor[TD_PART_ELEMS]),
                 .zeros = count_same(expected->tensor[TD_PART_ZEROS], found->tensor[TD_PART_ZEROS]),
                 .zeros_less = count_less(expected->tensor[TD_PART_ZEROS], found->tensor[TD_PART_ZEROS])};
}

/* Every part is equal. */
static bool is_whole(const fit *f, const td_parts *found)
{
    const uint64_t scales = found->tensor[TD_PART_SCALES]->elems;
    return f->scales == scales && f->elems == found->tensor[TD_PART_ELEMS]->elems &&
           (!found->tensor[TD_PART_ZEROS] || f->zeros == scales);
}

static bool is_better(const fit *a, const fit *b, const td_parts *found)
{
    if (is_whole(a, found))
        return !is_whole(b, found);
    if (a->scales != b->scales)
        return a->scales > b->scales;
    const uint64_t a_zeros = a->zeros > a->zeros_less ? a->zeros : a->zeros_less,
                   b_zeros = b->zeros > b->zeros_less ? b->zeros : b->zeros_less;
    return a_zeros != b_zeros ? a_zeros > b_zeros : a->elems > b->elems + b->chance;
}

/* -- orders of the elements of a block -- */

/* The element of the expected order that lies at place `at` of a block of n. */
typedef uint64_t order_fn(uint64_t at, uint64_t n);

static uint64_t in_swapped_pairs(uint64_t at, uint64_t n)
{
    return (at ^ 1) < n ? at ^ 1 : at;
}

/* Low nibbles hold the first half, high ones the second: place 2i is element i, place 2i + 1 element i + n / 2. */
static uint64_t in_halves(uint64_t at, uint64_t n)
{
    return n % 2 ? at : at / 2 + at % 2 * (n / 2);
}

static uint64_t in_awq_order(uint64_t at, uint64_t n)
{
    static const uint64_t order[8] = {0, 2, 4, 6, 1, 3, 5, 7};
    return n % 8 ? at : at / 8 * 8 + order[at % 8];
}

static uint64_t in_reverse(uint64_t at, uint64_t n)
{
    return n - 1 - at;
}

static const struct order {
    const char *text;
    order_fn *fn;
} orders[] = {
    {"elements are swapped in pairs: the other nibble first", in_swapped_pairs},
    {"elements are in ggml order: the first half of a block in low nibbles, the second in high ones", in_halves},
    {"elements are in AWQ order: 0 2 4 6 1 3 5 7", in_awq_order},
    {"elements of a block are in reverse order", in_reverse}};

/* Blocks along the last dimension alone have elements that follow each other. */
static uint64_t count_ordered(const td_parts *expected, const td_parts *found, order_fn *order)
{
    const td_tensor *a = expected->tensor[TD_PART_ELEMS], *b = found->tensor[TD_PART_ELEMS];
    const uint64_t row = a->shape.rank ? expected->shape.dim[expected->shape.rank - 1] : 1,
                   block = expected->shape.rank ? expected->block.dim[expected->shape.rank - 1] : 1;
    uint64_t count = 0;
    for (uint64_t first = 0; first < a->elems; first += row)
        for (uint64_t at = 0; at < row; at++) {
            const uint64_t start = at / block * block, n = row - start < block ? row - start : block;
            count += same(a, first + start + order(at - start, n), b, first + at);
        }
    return count;
}

/* -- packings that differ in one word -- */

static const char *const words[] = {
    "rule=floor",    "rule=even",   "rule=ceil",    "rule=rceil", "rule=nearest", "rule=te",     "rule=torchao",
    "rule=absmax",   "rule=gptq",   "rule=awq",     "rule=ggml",  "inf=nan",      "inf=max",     "round=even",
    "round=away",    "round=zero",  "round=floor",  "round=ceil", "codes=stored", "codes=exact", "low=full",
    "low=symmetric", "global=amax", "global=none",  "map=six",    "map=mae",      "map=mse",     "scale_max=256",
    "scale_max=448", "empty=zero",  "empty=normal", "void=nan",   "void=zero"};

const char *td_fit_find_word(const char *packing, const char *word)
{
    const size_t key = strcspn(word, "=") + 1;
    for (const char *at = packing; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, word, key) == 0)
            return at;
    return NULL;
}

void td_fit_replace_word(const char *packing, const char *word, char *out)
{
    const char *at = td_fit_find_word(packing, word), *rest = at ? at + strcspn(at, " ") : "";
    const int before = (int)(at ? at - packing : (ptrdiff_t)strlen(packing));
    snprintf(out, TD_PACKING_TEXT_BYTES, "%.*s%s%s%s", before, packing, at ? "" : " ", word, rest);
}

/* The order that makes the elements of `best` those that were found, or NULL. */
static const struct order *find_order(const td_parts *best, const td_parts *found)
{
    const uint64_t elems = found->tensor[TD_PART_ELEMS]->elems;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        if (count_ordered(best, found, orders[i].fn) == elems)
            return &orders[i];
    return NULL;
}

/* What words are tried on: parts, and the tensor that they were made of, or the first rows of both. */
typedef struct subject {
    const td_parts *found;
    const td_tensor *golden;
    const uint32_t *amax; /* of rows: that of the whole tensor, which its scale is made of */
} subject;

/* The packing with other words that fits best so far; no word where it is the packing itself. */
typedef struct candidate {
    td_parts *parts;
    fit fit;
    const char *word[2];
} candidate;

static td_status pack_subject(const subject *s, const char *packing, td_parts **out)
{
    td_parts *p = NULL;
    td_status status = td_parts_of(packing, &s->golden->shape, s->golden, &p);
    if (!status) {
        p->unset = true;
        status = td_parts_make_tensors(p, "");
    }
    if (!status && s->amax && p->packing.global == TD_GLOBAL_AMAX) {
        const td_block_parts rows = {.elems = p->tensor[TD_PART_ELEMS],
                                     .scales = p->tensor[TD_PART_SCALES],
                                     .global = p->tensor[TD_PART_GLOBAL],
                                     .amax = s->amax};
        td_blocks_pack(&p->packing, &p->block, s->golden, &rows);
    } else if (!status)
        status = td_parts_pack_into(p, s->golden);
    if (status)
        td_parts_destroy(&p);
    else
        *out = p;
    return status;
}

/* The packing with these words, `two` NULL for one of them alone, in the place of the best where it is better. */
static td_status try_words(const subject *s, const char *one, const char *two, candidate *best)
{
    char with_one[TD_PACKING_TEXT_BYTES], packing[TD_PACKING_TEXT_BYTES];
    td_parts *tried = NULL;
    td_fit_replace_word(s->found->text, one, with_one);
    if (two)
        td_fit_replace_word(with_one, two, packing);
    else
        memcpy(packing, with_one, sizeof packing);
    if (strcmp(packing, s->found->text) == 0 || (two && strcmp(packing, with_one) == 0))
        return TD_OK;
    const td_status refused = pack_subject(s, packing, &tried);
    if (refused) /* most often a word that does not go with this packing */
        return refused == TD_NO_MEMORY ? refused : TD_OK;
    const fit f = fit_of(tried, s->found);
    if (is_better(&f, &best->fit, s->found)) {
        td_parts_destroy(&best->parts);
        *best = (candidate){tried, f, {one, two}};
    } else
        td_parts_destroy(&tried);
    return TD_OK;
}

/* -- pairs of words -- */

#define PAIRS_MOST_ELEMS ((uint64_t)1 << 16) /* of a tensor that every pair of words is tried on; else of its rows */

static bool are_one_key(const char *a, const char *b)
{
    const size_t key = strcspn(a, "=") + 1;
    return strncmp(a, b, key) == 0;
}

static td_tensor first_elems(const td_tensor *t, uint64_t elems)
{
    td_tensor part = *t;
    part.elems = elems;
    return part;
}

/* Rows of the first dimension of a tensor and its parts. */
typedef struct first_rows {
    td_parts found;
    td_tensor golden, part[TD_PART_ZEROS + 1];
    uint32_t amax;
} first_rows;

/* Whole blocks; false where a row of them has too many elements. */
static bool take_rows(const subject *s, first_rows *out)
{
    const uint64_t all = s->golden->shape.rank ? s->golden->shape.dim[0] : 1, row = s->golden->elems / all,
                   block = s->golden->shape.rank ? s->found->block.dim[0] : 1,
                   rows = PAIRS_MOST_ELEMS / row / block * block, blocks = (all - 1) / block + 1;
    if (rows == 0 || rows >= all || s->found->packing.supers)
        return false;
    out->found = *s->found;
    out->golden = first_elems(s->golden, rows * row);
    out->golden.shape.dim[0] = out->found.shape.dim[0] = rows;
    for (int kind = TD_PART_ELEMS; kind <= TD_PART_ZEROS; kind++) {
        const td_tensor *t = s->found->tensor[kind];
        if (!t)
            continue;
        out->part[kind] = first_elems(t, kind == TD_PART_ELEMS ? rows * row : t->elems / blocks * (rows / block));
        out->found.tensor[kind] = &out->part[kind];
    }
    out->amax = td_blocks_amax(s->golden);
    return true;
}

/* All pairs of words on `on`, which is the whole or rows of it; on the whole then those that explain every code, or
 * else the best of them. */
static td_status try_all_pairs(const subject *on, const subject *whole, candidate *best)
{
    const size_t count = sizeof words / sizeof words[0];
    candidate most = {0};
    td_status status = TD_OK;
    for (size_t i = 0; i < count && !status; i++)
        for (size_t k = i + 1; k < count && !status && !is_whole(&best->fit, whole->found); k++) {
            candidate pair = {0};
            if (are_one_key(words[i], words[k]))
                continue;
            status = try_words(on, words[i], words[k], &pair);
            if (pair.parts && is_whole(&pair.fit, on->found))
                status = try_words(whole, words[i], words[k], best);
            else if (pair.parts && is_better(&pair.fit, &most.fit, on->found))
                most = (candidate){.fit = pair.fit, .word = {words[i], words[k]}};
            td_parts_destroy(&pair.parts);
        }
    if (!status && most.word[0] && !is_whole(&best->fit, whole->found))
        status = try_words(whole, most.word[0], most.word[1], best);
    return status;
}

/* Two words: the best one with every other, then all pairs. */
static td_status try_pairs(const subject *s, candidate *best)
{
    const size_t count = sizeof words / sizeof words[0];
    const char *const first = best->word[0];
    first_rows rows;
    td_status status = TD_OK;
    for (size_t i = 0; i < count && first && !status; i++)
        if (!are_one_key(first, words[i]))
            status = try_words(s, first, words[i], best);
    if (status || is_whole(&best->fit, s->found))
        return status;
    if (s->golden->elems <= PAIRS_MOST_ELEMS)
        return try_all_pairs(s, s, best);
    if (!take_rows(s, &rows))
        return TD_OK;
    const subject on = {&rows.found, &rows.golden, &rows.amax};
    return try_all_pairs(&on, s, best);
}

static td_status try_all(const subject *s, candidate *best)
{
    td_status status = TD_OK;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !status; i++)
        status = try_words(s, words[i], NULL, best);
    if (status || is_whole(&best->fit, s->found) || best->fit.zeros_less > best->fit.zeros ||
        find_order(best->parts, s->found))
        return status;
    return try_pairs(s, best);
}

/* The name of the packing that fits, where it has one of its own. */
static void add_name(td_text *t, const td_parts *found, const candidate *best)
{
    char name[TD_PACKING_NAME_BYTES];
    if (best->word[0] && td_packing_name(&best->parts->packing, name) && strcmp(name, found->name) != 0)
        td_text_add(t, ": %s", name);
}

/* What was found, in a sentence. */
static void describe(td_text *t, const td_parts *found, const candidate *best)
{
    const td_tensor *elems = found->tensor[TD_PART_ELEMS], *scales = found->tensor[TD_PART_SCALES];
    const fit *f = &best->fit;
    if (is_whole(f, found) && !best->word[0])
        td_text_add(t, "every part is that of \"%s\"", found->text);
    else
        td_text_add(t, "%" PRIu64 " of %" PRIu64 " scales and %" PRIu64 " of %" PRIu64 " elements are those of %s%s%s",
                    f->scales, scales->elems, f->elems, elems->elems, best->word[0] ? best->word[0] : "the packing",
                    best->word[1] ? " and " : "", best->word[1] ? best->word[1] : "");
    add_name(t, found, best);
    const char *before = "; the packing says ";
    for (int i = 0; i < 2 && best->word[i]; i++) {
        const char *asked = td_fit_find_word(found->text, best->word[i]);
        if (asked)
            td_text_add(t, "%s%.*s", before, (int)strcspn(asked, " "), asked);
        before = asked ? " and " : before;
    }
    if (found->packing.zeros && f->zeros_less > f->zeros)
        td_text_add(t, "; zero points are one less: GPTQ v1 stores them so");
    const struct order *order = f->elems < elems->elems ? find_order(best->parts, found) : NULL;
    if (order)
        td_text_add(t, "; %s", order->text);
}

static td_status check(const td_parts *found, const td_tensor *golden)
{
    char needed[TD_SHAPE_TEXT_BYTES], shape[TD_SHAPE_TEXT_BYTES];
    td_shape_print(&found->shape, needed);
    td_shape_print(&golden->shape, shape);
    if (strcmp(shape, needed) != 0)
        return td_fail(TD_SHAPE,
                       "parts_fit: the tensor has shape %s, and the parts are those of %s; pass the tensor that they "
                       "were made of",
                       shape, needed);
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        if (found->form[kind].name && !found->tensor[kind])
            return td_fail(TD_ARGUMENT, "parts_fit: parts of \"%s\" were taken; join them again", found->name);
    return TD_OK;
}

td_status td_parts_fit(const td_parts *found, const td_tensor *golden, char **text)
{
    if (!found || !golden || !text)
        return td_fail(TD_ARGUMENT, "parts_fit: %s is NULL; pass parts, the tensor that they were made of, and a text",
                       !found    ? "parts"
                       : !golden ? "the tensor"
                                 : "text");
    candidate best = {0};
    td_text t = {0};
    td_status status = check(found, golden);
    if (!status && found->is_sparse)
        return td_fit_sparse(found, golden, text);
    if (!status)
        status = td_parts_pack(golden, found->text, &best.parts);
    if (!status) {
        const subject whole = {found, golden, NULL};
        best.fit = fit_of(best.parts, found);
        status = try_all(&whole, &best);
    }
    if (!status)
        describe(&t, found, &best);
    td_parts_destroy(&best.parts);
    if (!status && t.failed)
        status = td_fail_alloc(t.room);
    if (status)
        free(t.text);
    else
        *text = t.text;
    return status;
}
