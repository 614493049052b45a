/* See checkpoint.h. Reads the tensors of a weight by their names and puts their codes into parts. GPTQ's words have
 * consecutive rows of K from their lowest bit on, 3 bits across words; AWQ's have columns in an order of their own. */
#include "files/parts/checkpoint.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct weight {
    const td_part_names *names;
    bool is_awq;
    unsigned bits;
    unsigned version;                         /* of gptq: 1 stores zero points less 1 */
    td_tensor *words, *zeros, *scales, *rows; /* rows: g_idx, or NULL */
    uint64_t k, n, groups;
} weight;

/* -- the tensors -- */

static td_status fail_shape(const td_tensor *t, const char *what, const char *needed)
{
    char shape[TD_SHAPE_TEXT_BYTES];
    return td_fail(TD_SHAPE, "%s is a tensor of %s, shape %s; it has to be %s", what, t->dtype_name,
                   td_shape_print(&t->shape, shape), needed);
}

static void close_weight(weight *w)
{
    td_tensor_destroy(&w->words);
    td_tensor_destroy(&w->zeros);
    td_tensor_destroy(&w->scales);
    td_tensor_destroy(&w->rows);
}

static bool is_words(const td_tensor *t)
{
    return t->dtype.kind != TD_KIND_FLOAT && t->dtype.bits == 32 && t->shape.rank == 2;
}

static uint64_t words_of(uint64_t values, unsigned bits)
{
    return (values * bits + 31) / 32;
}

/* K and N follow from the scales' columns and the words' other side. */
static td_status find_sizes(weight *w)
{
    if (!is_words(w->words))
        return fail_shape(w->words, "qweight", "a matrix of i32");
    if (!is_words(w->zeros))
        return fail_shape(w->zeros, "qzeros", "a matrix of i32");
    if (w->scales->dtype.kind != TD_KIND_FLOAT || w->scales->shape.rank != 2 || w->scales->dtype.bits > 32)
        return fail_shape(w->scales, "scales", "a matrix of f16, bf16 or f32");
    char needed[128];
    w->groups = w->scales->shape.dim[0];
    w->n = w->scales->shape.dim[1];
    w->k = w->is_awq ? w->words->shape.dim[0] : w->words->shape.dim[0] * 32 / w->bits;
    const uint64_t columns = w->is_awq ? words_of(w->n, 4) : w->n;
    if (w->words->shape.dim[1] != columns ||
        w->words->shape.dim[0] * (w->is_awq ? 1 : 32) % (w->is_awq ? 1 : w->bits)) {
        snprintf(needed, sizeof needed, "of %" PRIu64 " columns, as the scales have %" PRIu64 ", and of whole words",
                 columns, w->n);
        return fail_shape(w->words, "qweight", needed);
    }
    if (w->zeros->shape.dim[0] != w->groups || w->zeros->shape.dim[1] != words_of(w->n, w->bits) ||
        w->n * w->bits % 32) {
        snprintf(needed, sizeof needed, "of shape (%" PRIu64 ", %" PRIu64 "), as the scales say", w->groups,
                 words_of(w->n, w->bits));
        return fail_shape(w->zeros, "qzeros", needed);
    }
    if (!w->rows && w->k % w->groups) {
        snprintf(needed, sizeof needed, "of so many rows that they divide the %" PRIu64 " of the weight", w->k);
        return fail_shape(w->scales, "scales", needed);
    }
    return TD_OK;
}

/* The group of row k. */
static uint64_t group_of(const weight *w, uint64_t k)
{
    int32_t group = 0;
    if (!w->rows)
        return k / (w->k / w->groups);
    memcpy(&group, w->rows->data + 4 * k, 4);
    return group < 0 ? UINT64_MAX : (uint64_t)group;
}

/* g_idx names groups that are there; *ordered is set where it says what the rows would say without it. */
static td_status check_rows(const weight *w, bool *ordered)
{
    const td_tensor *rows = w->rows;
    *ordered = w->k % w->groups == 0;
    if (!rows)
        return TD_OK;
    if (rows->dtype.kind != TD_KIND_INT || rows->dtype.bits != 32 || rows->elems != w->k) {
        char needed[64];
        snprintf(needed, sizeof needed, "i32, a group for each of %" PRIu64 " rows", w->k);
        return fail_shape(rows, "g_idx", needed);
    }
    for (uint64_t k = 0; k < w->k; k++) {
        const uint64_t group = group_of(w, k);
        if (group >= w->groups)
            return td_fail(TD_RANGE,
                           "g_idx says group %" PRId64 " for row %" PRIu64 ", and there are %" PRIu64 " groups",
                           (int64_t)group, k, w->groups);
        *ordered &= group == k / (w->k % w->groups ? 1 : w->k / w->groups);
    }
    return TD_OK;
}

/* -- codes -- */

/* Value `number` of a string of values that begins at a word and goes on `stride` words later. */
static unsigned value_at(const td_tensor *words, uint64_t first, uint64_t stride, uint64_t number, unsigned bits)
{
    const uint64_t at = number * bits, word = first + at / 32 * stride;
    const unsigned shift = at % 32;
    uint32_t low = 0, high = 0;
    memcpy(&low, words->data + 4 * word, 4);
    if (shift + bits > 32)
        memcpy(&high, words->data + 4 * (word + stride), 4);
    return (unsigned)(((uint64_t)high << 32 | low) >> shift) & ((1U << bits) - 1);
}

/* Column n of a row of AWQ's words: nibble i of a word has column 0 2 4 6 1 3 5 7. */
static unsigned awq_at(const td_tensor *words, uint64_t row, uint64_t n)
{
    return value_at(words, row * words->shape.dim[1], 1, n / 8 * 8 + n % 2 * 4 + n % 8 / 2, 4);
}

static unsigned zero_at(const weight *w, uint64_t group, uint64_t n)
{
    if (w->is_awq)
        return awq_at(w->zeros, group, n);
    const unsigned stored = value_at(w->zeros, group * w->zeros->shape.dim[1], 1, n, w->bits);
    return (stored + (w->version == 1)) & ((1U << w->bits) - 1);
}

/* With groups in order a block is a group; otherwise every row has the scales and zero points of its own group. */
static void fill(const weight *w, bool ordered, td_parts *p)
{
    const uint64_t blocks = ordered ? w->groups : w->k, bytes = w->n * w->scales->dtype.bytes;
    for (uint64_t k = 0; k < w->k; k++)
        for (uint64_t n = 0; n < w->n; n++)
            p->tensor[TD_PART_ELEMS]->data[k * w->n + n] =
                (unsigned char)(w->is_awq ? awq_at(w->words, k, n) : value_at(w->words, n, w->n, k, w->bits));
    for (uint64_t b = 0; b < blocks; b++) {
        const uint64_t group = ordered ? b : group_of(w, b);
        memcpy(p->tensor[TD_PART_SCALES]->data + b * bytes, w->scales->data + group * bytes, bytes);
        for (uint64_t n = 0; n < w->n; n++)
            p->tensor[TD_PART_ZEROS]->data[b * w->n + n] = (unsigned char)zero_at(w, group, n);
    }
}

static td_status make_parts(const weight *w, td_parts **out)
{
    char packing[128];
    bool ordered = true;
    td_status status = check_rows(w, &ordered);
    if (status)
        return status;
    snprintf(packing, sizeof packing, "uint%u scale=%s axis=0 block=%" PRIu64 " rule=%s", w->bits,
             w->scales->dtype_name, ordered ? w->k / w->groups : 1, w->is_awq ? "awq" : "gptq");
    status = td_parts_create(packing, TD_SHAPE(w->k, w->n), out);
    if (!status)
        fill(w, ordered, *out);
    return status;
}

/* A checkpoint without g_idx has its groups in order; one that is named has to be there. */
static td_status open_rows(weight *w)
{
    size_t length = 0;
    const td_status status = td_part_names_open(w->names, "g_idx", ".g_idx", NULL, &w->rows);
    return status == TD_NO_MEMORY || td_part_names_find(w->names, "g_idx", &length) ? status : TD_OK;
}

static td_status open_groups(weight *w, td_parts **out)
{
    static const char *const roles[] = {"qweight", "qzeros", "scales", "g_idx"};
    const td_part_names *names = w->names;
    td_status status = td_part_names_check(names, roles, w->is_awq ? 3 : 4);
    if (!status)
        status = td_part_names_open(names, roles[0], ".qweight", NULL, &w->words);
    if (!status)
        status = td_part_names_open(names, roles[1], ".qzeros", NULL, &w->zeros);
    if (!status)
        status = td_part_names_open(names, roles[2], ".scales", NULL, &w->scales);
    if (!status && !w->is_awq)
        status = open_rows(w);
    if (!status)
        status = find_sizes(w);
    if (!status)
        status = make_parts(w, out);
    close_weight(w);
    return status;
}

/* -- MXFP4 -- */

static td_status open_mxfp4(const td_part_names *names, td_parts **out)
{
    static const char *const roles[] = {"blocks", "scales"};
    td_tensor *blocks = NULL, *scales = NULL;
    td_parts *p = NULL;
    td_status status = td_part_names_check(names, roles, 2);
    if (!status)
        status = td_part_names_open(names, roles[0], "_blocks", NULL, &blocks);
    if (!status)
        status = td_part_names_open(names, roles[1], "_scales", "e8m0", &scales);
    if (!status &&
        (blocks->shape.rank < 2 || blocks->dtype.bytes != 1 || blocks->shape.dim[blocks->shape.rank - 1] != 16))
        status = fail_shape(blocks, "_blocks", "u8 with 16 bytes in the last dimension, for 32 elements each");
    td_shape shape = {0};
    if (!status) {
        shape = blocks->shape;
        shape.rank--;
        if (scales->elems != blocks->elems / 16)
            status = fail_shape(scales, "_scales", "of one byte for every 16 of _blocks");
        shape.dim[shape.rank - 1] *= 32;
    }
    if (!status)
        status = td_parts_create("mxfp4", shape, &p);
    if (!status)
        status = td_parts_set_record(p, "mxfp4", blocks);
    if (!status) {
        memcpy(p->tensor[TD_PART_SCALES]->data, scales->data, (size_t)scales->elems);
        *out = p;
    } else
        td_parts_destroy(&p);
    td_tensor_destroy(&blocks);
    td_tensor_destroy(&scales);
    return status;
}

/* -- words -- */

bool td_checkpoint_knows(const char *how)
{
    static const char *const known[] = {"mxfp4", "gptq", "awq"};
    const size_t length = strcspn(how, " \t");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == length && memcmp(known[i], how, length) == 0)
            return true;
    return false;
}

td_status td_checkpoint_open(const td_part_names *names, td_parts **out)
{
    const char *how = names->how;
    weight w = {.names = names, .bits = 4, .version = 1};
    char name[16] = "";
    const size_t length = strcspn(how, " \t");
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), how);
    w.is_awq = strcmp(name, "awq") == 0;
    const bool mxfp4 = strcmp(name, "mxfp4") == 0;
    if (!td_checkpoint_knows(how))
        return td_fail(TD_OPTION,
                       "\"%s\" is no packing of a checkpoint; pass mxfp4, awq, or gptq version=1 (or 2) bits=4", how);
    for (const char *at = how + length; at += strspn(at, " \t"), *at;) {
        const bool bits = strncmp(at, "bits=", 5) == 0;
        const size_t key = bits ? 5 : strncmp(at, "version=", 8) == 0 ? 8 : 0;
        uint64_t number = 0;
        const char *value = at + key;
        const bool is_number = key && td_text_number(&value, &number) && (!*value || *value == ' ' || *value == '\t'),
                   fits = bits ? number == 2 || number == 3 || number == 4 || number == 8 : number == 1 || number == 2;
        if (w.is_awq || mxfp4 || !is_number || !fits)
            return td_fail(TD_OPTION, "\"%.*s\" behind \"%s\"; %s", (int)strcspn(at, " \t"), at, name,
                           w.is_awq || mxfp4 ? "it has no words behind it"
                                             : "pass version=1 or version=2, and bits=2, 3, 4 or 8");
        *(bits ? &w.bits : &w.version) = (unsigned)number;
        at = value;
    }
    return mxfp4 ? open_mxfp4(names, out) : open_groups(&w, out);
}
