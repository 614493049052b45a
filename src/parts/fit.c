/* Which packing fits: the words that would have made given parts of a tensor. A design that followed another rule than
 * the one that was asked for has parts that differ everywhere by a little; here every rule is tried, one word at a
 * time, and then the orders of elements and the zero points that libraries are known to differ by. Called by users
 * when a comparison of parts fails. It compares codes only, and refuses what parts.c refuses. */
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

static bool is_better(const fit *a, const fit *b)
{
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

/* What was found in words; `word` is NULL where the packing itself fits best. */
static void describe(td_text *t, const td_parts *best, const td_parts *found, const fit *f, const char *word)
{
    const td_tensor *elems = found->tensor[TD_PART_ELEMS], *scales = found->tensor[TD_PART_SCALES];
    const bool all_zeros = !found->tensor[TD_PART_ZEROS] || f->zeros == scales->elems;
    if (f->scales == scales->elems && f->elems == elems->elems && all_zeros && !word)
        td_text_add(t, "every part is that of \"%s\"", found->text);
    else
        td_text_add(t, "%" PRIu64 " of %" PRIu64 " scales and %" PRIu64 " of %" PRIu64 " elements are those of %s",
                    f->scales, scales->elems, f->elems, elems->elems, word ? word : "the packing");
    const char *asked = word ? td_fit_find_word(found->text, word) : NULL;
    if (asked)
        td_text_add(t, "; the packing says %.*s", (int)strcspn(asked, " "), asked);
    if (found->packing.zeros && f->zeros_less > f->zeros)
        td_text_add(t, "; zero points are one less: GPTQ v1 stores them so");
    for (size_t i = 0; i < sizeof orders / sizeof orders[0] && f->elems < elems->elems; i++)
        if (count_ordered(best, found, orders[i].fn) == elems->elems) {
            td_text_add(t, "; %s", orders[i].text);
            break;
        }
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
    td_parts *best = NULL;
    td_text t = {0};
    const char *best_word = NULL;
    td_status status = check(found, golden);
    if (!status && found->is_sparse)
        return td_fit_sparse(found, golden, text);
    if (!status)
        status = td_parts_pack(golden, found->text, &best);
    fit best_fit = {0};
    if (!status)
        best_fit = fit_of(best, found);
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !status; i++) {
        char packing[TD_PACKING_TEXT_BYTES];
        td_parts *tried = NULL;
        td_fit_replace_word(found->text, words[i], packing);
        if (strcmp(packing, found->text) == 0)
            continue;
        const td_status refused = td_parts_pack(golden, packing, &tried);
        if (refused == TD_NO_MEMORY)
            status = refused;
        if (refused)
            continue; /* most often a word that does not go with this packing */
        const fit f = fit_of(tried, found);
        if (is_better(&f, &best_fit)) {
            best_fit = f;
            best_word = words[i];
            td_parts_destroy(&best);
            best = tried;
        } else
            td_parts_destroy(&tried);
    }
    if (!status)
        describe(&t, best, found, &best_fit, best_word);
    td_parts_destroy(&best);
    if (!status && t.failed)
        status = td_fail_alloc(t.room);
    if (status)
        free(t.text);
    else
        *text = t.text;
    return status;
}
