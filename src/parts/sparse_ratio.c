/* Sparse packings N:M (sparse.h): of every M neighbours N are kept, and a group's code says which. 2:4 goes by kernels
 * (kernels/pairs.h), others group by group; threads share the rows. Groups with more values than N are refused or
 * pruned, and metadata whose places do not ascend is refused. */
#include "base/cpu.h"
#include "base/pool.h"
#include "kernels/pairs.h"
#include "parts/sparse_elems.h"
#include "parts/sparse_kinds.h"

#include <inttypes.h>

#define STRIP 2048          /* elements that are worked on at once: whole groups, since every M divides it */
#define JOINED (16 * STRIP) /* elements of rows that are worked on as one */

/* The places of the values of a group, ascending; `bits` is a set of the elements that are not zero. */
static void choose_places(const td_sparse *s, unsigned bits, unsigned *place)
{
    static const unsigned char torch[] = {0xe, 0x8, 0x9, 0,  0xe,
                                          0,   0,   0,   0xe}; /* of a group of four with 0 or 1 values */
    const unsigned have = (unsigned)__builtin_popcount(bits);
    if (s->spare == TD_SPARE_TORCH && s->m == 4 && s->n == 2 && have < 2) {
        place[0] = torch[bits] & 3U;
        place[1] = torch[bits] >> 2;
        return;
    }
    unsigned spare = s->n - have;
    for (unsigned i = 0; i < s->m && spare; i++) {
        const unsigned at = s->spare == TD_SPARE_FIRST ? i : s->m - 1U - i;
        if (!(bits >> at & 1)) {
            bits |= 1U << at;
            spare--;
        }
    }
    for (unsigned i = 0, k = 0; i < s->m; i++)
        if (bits >> i & 1)
            place[k++] = i;
}

/* The elements that a group keeps; false where it has more than N and nothing is pruned. */
static bool choose_kept(const td_sparse *s, const td_tensor *t, uint64_t first, unsigned *bits)
{
    unsigned count = 0;
    *bits = 0;
    for (unsigned i = 0; i < s->m; i++)
        if (td_elem_is_kept(t, first + i)) {
            *bits |= 1U << i;
            count++;
        }
    if (count > 2 && s->prune == TD_PRUNE_TORCH) {
        *bits = *bits == 0xe ? 0xa : *bits == 0xd ? 0x9 : 0x3;
        return true;
    }
    for (; count > s->n && s->prune == TD_PRUNE_MAGNITUDE; count--) { /* the least goes, of equal ones the last */
        unsigned least = s->m;
        for (unsigned i = 0; i < s->m; i++)
            if (*bits >> i & 1 && (least == s->m || td_elem_magnitude(t->dtype, td_elem_get(t, first + i)) <=
                                                        td_elem_magnitude(t->dtype, td_elem_get(t, first + least))))
                least = i;
        *bits &= ~(1U << least);
    }
    return count <= s->n;
}

/* Of a place in meta. */
static unsigned place_bits(const td_sparse *s)
{
    unsigned bits = 1;
    while (1U << bits < s->m)
        bits++;
    return bits;
}

static uint64_t group_code(const td_sparse *s, const unsigned *place)
{
    const unsigned width = place_bits(s);
    uint64_t code = 0;
    if (s->n == 1 && s->m == 2)
        return place[0] ? 0xe : 0x4;
    for (unsigned k = 0; k < s->n; k++)
        code |= (uint64_t)place[k] << (k * width);
    return code;
}

static bool group_places(const td_sparse *s, uint64_t code, unsigned *place)
{
    const unsigned width = place_bits(s);
    if (s->n == 1 && s->m == 2) {
        place[0] = code == 0xe;
        return code == 0xe || code == 0x4;
    }
    for (unsigned k = 0; k < s->n; k++) {
        place[k] = (unsigned)(code >> (k * width)) & (s->m - 1U);
        if (k && place[k] <= place[k - 1])
            return false;
    }
    return true;
}

/* What a tensor's threads share. */
typedef struct ratio {
    const td_sparse *s;
    const td_tensor *tensor;
    td_tensor *const *parts;
    td_tensor *unpacked;
    td_meta meta;
    td_keep_kernels kernels;
    td_pairs_kernels pairs;
    td_pairs_table table; /* 2:4 */
    bool is_2_of_4;
    bool own_words; /* 2:4: a word of meta is nothing but codes */
    int refused;    /* 2:4: a group has more than two values, or a code whose places do not ascend */
    unsigned pieces;
} ratio;

/* The code of every set of flags: of three and four those that torch.sparse keeps; by the other rules there are none
 * left. */
static void make_table(const td_sparse *s, td_pairs_table *table)
{
    for (unsigned bits = 0; bits < 16; bits++) {
        unsigned place[16] = {0};
        choose_places(s, __builtin_popcount(bits) <= 2 ? bits : bits == 0xe ? 0xa : bits == 0xd ? 0x9 : 0x3, place);
        table->code[bits] = (unsigned char)group_code(s, place);
    }
    td_pairs_table_make(table);
}

/* Groups of more than N lose what choose_kept says. */
static void prune(const td_sparse *s, const td_tensor *t, uint64_t first, unsigned char *flags, size_t n)
{
    for (size_t g = 0; g < n; g += s->m) {
        unsigned bits = 0, count = 0;
        for (unsigned i = 0; i < s->m; i++)
            count += flags[g + i];
        if (count <= s->n)
            continue;
        (void)choose_kept(s, t, first + g, &bits); /* td_ratio_check has refused what is not pruned */
        for (unsigned i = 0; i < s->m; i++)
            flags[g + i] = bits >> i & 1;
    }
}

/* M of N:M, which is 2 at least. */
static unsigned group_size(const td_sparse *s)
{
    return s->m < 2 ? 2 : s->m;
}

/* Groups one by one: their values and their codes. */
static void pack_groups(const ratio *r, uint64_t first, const unsigned char *flags, size_t n, uint32_t *codes)
{
    const td_sparse *s = r->s;
    uint64_t value = first / group_size(s) * s->n;
    for (size_t g = 0; g < n / group_size(s); g++) {
        unsigned bits = 0, place[16] = {0};
        for (unsigned i = 0; i < s->m; i++)
            bits |= (unsigned)flags[g * s->m + i] << i;
        choose_places(s, bits, place);
        for (unsigned k = 0; k < s->n; k++, value++)
            if (bits >> place[k] & 1)
                td_elem_put(r->parts[0], value, td_elem_get(r->tensor, first + g * s->m + place[k]));
        codes[g] = (uint32_t)group_code(s, place);
    }
}

/* 2:4: which elements of a strip are kept, as bits. */
static void find_pairs(ratio *r, uint64_t first, size_t n, unsigned char *bits)
{
    const td_tensor *t = r->tensor;
    const unsigned bytes = t->dtype.bytes;
    const bool by_magnitude = r->s->prune == TD_PRUNE_MAGNITUDE;
    if (td_elem_has_no_zero(t->dtype) ||
        (by_magnitude && t->dtype.kind == TD_KIND_INT)) { /* no bits that are compared */
        unsigned char flags[STRIP];
        td_sparse_flags(&r->kernels, t, first, n, flags);
        if (by_magnitude)
            prune(r->s, t, first, flags, n);
        r->pairs.flags(bits, flags, n, 1, 1);
    } else
        (by_magnitude ? r->pairs.largest : r->pairs.flags)(bits, t->data + first * bytes, n, bytes,
                                                           td_elem_own_bits(t->dtype));
    if (r->s->prune == TD_PRUNE_NONE && r->pairs.crowded(bits, n))
        __atomic_store_n(&r->refused, 1, __ATOMIC_RELAXED);
}

/* 2:4: codes of a strip into the words of meta that hold nothing else, and back. What is behind a row's last group in
 * its last word is 0. */
static void put_words(const ratio *r, uint64_t row, uint64_t at, size_t n, const unsigned char *codes)
{
    const td_tensor *meta = r->parts[1];
    const size_t bytes = meta->dtype.bytes, used = (n + 7) / 8;
    const uint64_t word = at / 4 / r->meta.per_word, words = (used + bytes - 1) / bytes;
    if (r->s->order == TD_META_PLAIN)
        memcpy(meta->data + (row * r->meta.words + word) * bytes, codes, words * bytes);
    else
        for (uint64_t i = 0; i < words; i++)
            memcpy(meta->data + td_meta_place(r->s, &r->meta, row, word + i) * bytes, codes + i * bytes, bytes);
}

static void get_words(const ratio *r, uint64_t row, uint64_t at, size_t n, unsigned char *codes)
{
    const td_tensor *meta = r->parts[1];
    const size_t bytes = meta->dtype.bytes, used = (n + 7) / 8;
    const uint64_t word = at / 4 / r->meta.per_word, words = (used + bytes - 1) / bytes;
    if (r->s->order == TD_META_PLAIN)
        memcpy(codes, meta->data + (row * r->meta.words + word) * bytes, words * bytes);
    else
        for (uint64_t i = 0; i < words; i++)
            memcpy(codes + i * bytes, meta->data + td_meta_place(r->s, &r->meta, row, word + i) * bytes, bytes);
}

/* The codes of a strip's groups into the words of meta, beside those that are there. */
static void put_codes(const ratio *r, uint64_t row, uint64_t group, size_t groups, const uint32_t *codes)
{
    const td_meta *m = &r->meta;
    for (uint64_t g = group; g < group + groups;) {
        const uint64_t word = g / m->per_word, place = td_meta_place(r->s, m, row, word);
        uint64_t bits = td_elem_get(r->parts[1], place);
        for (; g < group + groups && g / m->per_word == word; g++)
            bits |= (uint64_t)codes[g - group] << (g % m->per_word * m->bits);
        td_elem_put(r->parts[1], place, bits);
    }
}

/* `n` elements of a row from element `at` of it on. */
static void pack_pairs(ratio *r, uint64_t row, uint64_t at, size_t n)
{
    const unsigned bytes = r->tensor->dtype.bytes;
    const uint64_t first = row * r->meta.groups * 4 + at;
    unsigned char bits[STRIP / 8], codes[STRIP / 8 + 8];
    find_pairs(r, first, n, bits);
    memset(codes + n / 8, 0, 8);
    r->pairs.close(r->parts[0]->data + first / 2 * bytes, codes, r->tensor->data + first * bytes, bits, &r->table, n,
                   bytes);
    if (r->own_words) {
        put_words(r, row, at, n, codes);
        return;
    }
    uint32_t one_by_one[STRIP / 4];
    for (size_t g = 0; g < n / 4; g++)
        one_by_one[g] = codes[g / 2] >> (g % 2 * 4) & 15;
    put_codes(r, row, at / 4, n / 4, one_by_one);
}

static void pack_strip(const ratio *r, uint64_t row, uint64_t at, size_t n)
{
    const td_sparse *s = r->s;
    const uint64_t first = row * r->meta.groups * s->m + at;
    unsigned char flags[STRIP];
    uint32_t codes[STRIP / 2] = {0};
    td_sparse_flags(&r->kernels, r->tensor, first, n, flags);
    if (s->prune)
        prune(s, r->tensor, first, flags, n);
    pack_groups(r, first, flags, n, codes);
    put_codes(r, row, at / group_size(s), n / group_size(s), codes);
}

static void pack_rows(void *context, unsigned begin, unsigned end)
{
    ratio *r = context;
    const uint64_t elems = r->meta.groups * r->s->m;
    for (uint64_t row = r->meta.rows * begin / r->pieces; row < r->meta.rows * end / r->pieces; row++)
        for (uint64_t at = 0; at < elems; at += STRIP) {
            const size_t n = elems - at < STRIP ? (size_t)(elems - at) : STRIP;
            if (r->is_2_of_4)
                pack_pairs(r, row, at, n);
            else
                pack_strip(r, row, at, n);
        }
}

/* Where rows have whole words, which follow each other, several are one: a strip then is full. */
static void join_rows(const td_sparse *s, td_meta *m)
{
    if (s->order != TD_META_PLAIN || m->groups % m->per_word)
        return;
    for (; m->rows % 2 == 0 && m->groups * s->m < JOINED; m->rows /= 2) {
        m->groups *= 2;
        m->words *= 2;
    }
}

static void make_ratio(const td_sparse *s, const td_tensor *whole, td_tensor *const *parts, ratio *r)
{
    *r = (ratio){.s = s, .parts = parts, .meta = td_meta_of(s, &whole->shape), .is_2_of_4 = s->n == 2 && s->m == 4};
    r->own_words = r->is_2_of_4 && s->index.bits == 8 * s->index.bytes;
    td_keep_init(&r->kernels, td_cpu_flags());
    td_pairs_init(&r->pairs, td_cpu_flags());
    if (r->is_2_of_4)
        make_table(s, &r->table);
    join_rows(s, &r->meta);
    r->pieces = td_pool_parts(whole->elems * whole->dtype.bytes, r->meta.rows);
}

/* A group with more than N values, where none is pruned: the first of its elements, or `elems`. */
static uint64_t find_full(const td_sparse *s, const td_keep_kernels *k, const td_tensor *t)
{
    unsigned char flags[STRIP];
    for (uint64_t at = 0; at < t->elems; at += STRIP) {
        const size_t n = t->elems - at < STRIP ? (size_t)(t->elems - at) : STRIP;
        td_sparse_flags(k, t, at, n, flags);
        if (s->m == 4 && k->most(flags, n) <= s->n)
            continue;
        for (size_t g = 0; g < n; g += s->m)
            if (k->count(flags + g, s->m) > s->n)
                return at + g;
    }
    return t->elems;
}

/* The group that N:M cannot hold, in words; TD_OK where there is none. */
td_status td_ratio_check(const td_sparse *s, const td_tensor *tensor)
{
    td_keep_kernels kernels;
    unsigned bits = 0;
    td_keep_init(&kernels, td_cpu_flags());
    const uint64_t first = find_full(s, &kernels, tensor);
    if (first == tensor->elems || choose_kept(s, tensor, first, &bits))
        return TD_OK;
    return td_fail(TD_RANGE,
                   "elements %" PRIu64 " to %" PRIu64 " have %d values that are not zero, and %u:%u keeps %u; pass "
                   "prune=magnitude",
                   first, first + s->m - 1, __builtin_popcount(bits), s->n, s->m, s->n);
}

td_status td_ratio_pack(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    ratio r;
    make_ratio(s, t, parts, &r);
    r.tensor = t;
    td_pool_run(r.pieces, pack_rows, &r);
    return r.refused ? td_ratio_check(s, t) : TD_OK;
}

/* The values of a group into their places. */
static void put_group(const td_sparse *s, td_tensor *t, const td_tensor *values, uint64_t group, const unsigned *place)
{
    const unsigned bytes = t->dtype.bytes;
    unsigned char *dst = t->data + group * s->m * bytes;
    const unsigned char *src = values->data + group * s->n * bytes;
    for (unsigned k = 0; k < s->n; k++)
        switch (bytes) {
        case 1:
            dst[place[k]] = src[k];
            break;
        case 2:
            memcpy(dst + 2 * (size_t)place[k], src + 2 * (size_t)k, 2);
            break;
        case 4:
            memcpy(dst + 4 * (size_t)place[k], src + 4 * (size_t)k, 4);
            break;
        default:
            memcpy(dst + 8 * (size_t)place[k], src + 8 * (size_t)k, 8);
        }
}

/* Group by group, up to the first whose places do not ascend. */
static td_status unpack_groups(const td_sparse *s, td_tensor *const *parts, td_tensor *t)
{
    const td_meta r = td_meta_of(s, &t->shape);
    for (uint64_t row = 0; row < r.rows; row++)
        for (uint64_t g = 0; g < r.groups;) {
            const uint64_t at = td_meta_place(s, &r, row, g / r.per_word), word = td_elem_get(parts[1], at),
                           end = (g / r.per_word + 1) * r.per_word, last = end < r.groups ? end : r.groups;
            for (; g < last; g++) {
                unsigned place[16] = {0};
                const uint64_t code = word >> (g % r.per_word * r.bits) & (((uint64_t)1 << r.bits) - 1);
                if (!group_places(s, code, place))
                    return td_fail(TD_RANGE,
                                   "meta %" PRIu64 " has %#" PRIx64
                                   " for a group of %u:%u, whose places do not ascend; it is "
                                   "no metadata of this order",
                                   at, code, s->n, s->m);
                put_group(s, t, parts[0], row * r.groups + g, place);
            }
        }
    return TD_OK;
}

static void unpack_rows(void *context, unsigned begin, unsigned end)
{
    ratio *r = context;
    const uint64_t elems = r->meta.groups * 4;
    const unsigned bytes = r->unpacked->dtype.bytes;
    unsigned char codes[STRIP / 8 + 8];
    for (uint64_t row = r->meta.rows * begin / r->pieces; row < r->meta.rows * end / r->pieces; row++)
        for (uint64_t at = 0; at < elems; at += STRIP) {
            const size_t n = elems - at < STRIP ? (size_t)(elems - at) : STRIP;
            const uint64_t first = row * elems + at;
            get_words(r, row, at, n, codes);
            if (!r->pairs.open(r->unpacked->data + first * bytes, r->parts[0]->data + first / 2 * bytes, codes, n,
                               bytes))
                __atomic_store_n(&r->refused, 1, __ATOMIC_RELAXED);
        }
}

td_status td_ratio_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *t)
{
    ratio r;
    make_ratio(s, t, parts, &r);
    if (!r.own_words)
        return unpack_groups(s, parts, t);
    r.unpacked = t;
    td_pool_run(r.pieces, unpack_rows, &r);
    return r.refused ? unpack_groups(s, parts, t) : TD_OK; /* it says where */
}
