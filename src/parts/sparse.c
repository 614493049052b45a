/* Sparse packings at work (sparse.h): which elements are kept, and where they go. Elements move as bits; nothing is
 * converted. Numbers that do not fit their dtype are refused before anything is kept. */
#include "parts/sparse.h"

#include <inttypes.h>
#include <string.h>

/* -- elements -- */

static uint64_t get(const td_tensor *t, uint64_t elem)
{
    uint64_t bits = 0;
    memcpy(&bits, t->data + elem * t->dtype.bytes, t->dtype.bytes);
    return bits & td_dtype_mask(t->dtype);
}

static void put(td_tensor *t, uint64_t elem, uint64_t bits)
{
    bits = td_dtype_extend(t->dtype, bits);
    memcpy(t->data + elem * t->dtype.bytes, &bits, t->dtype.bytes);
}

/* 0 for a zero, more for more: the bits of a float without its sign, which put NaN on top; an integer's absolute. */
static uint64_t magnitude(td_dtype t, uint64_t bits)
{
    const uint64_t sign = (uint64_t)1 << (t.bits - 1);
    if (t.kind == TD_KIND_FLOAT)
        return t.flavor == TD_FLAVOR_SCALE ? bits + 1 : bits & (sign - 1);
    return t.kind == TD_KIND_INT && bits & sign ? (~bits + 1) & td_dtype_mask(t) : bits;
}

static bool is_kept(const td_tensor *t, uint64_t elem)
{
    return magnitude(t->dtype, get(t, elem)) != 0;
}

static td_status check_number(const td_sparse *s, uint64_t largest, const char *what)
{
    char name[TD_DTYPE_NAME_BYTES];
    if (largest <= td_dtype_mask(s->index))
        return TD_OK;
    td_dtype_print(s->index, name);
    return td_fail(TD_RANGE, "%s up to %" PRIu64 " do not fit index=%s; pass a wider one", what, largest, name);
}

/* -- N:M -- */

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
        if (is_kept(t, first + i)) {
            *bits |= 1U << i;
            count++;
        }
    for (; count > s->n && s->prune; count--) { /* the least goes, of equal ones the last */
        unsigned least = s->m;
        for (unsigned i = 0; i < s->m; i++)
            if (*bits >> i & 1 &&
                (least == s->m || magnitude(t->dtype, get(t, first + i)) <= magnitude(t->dtype, get(t, first + least))))
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

/* CUTLASS's order for the tensor cores of Ampere: rows interleaved within a tile, then words swapped in squares of
 * two. */
static uint64_t ampere_place(const td_sparse *s, uint64_t row, uint64_t word, uint64_t rows)
{
    uint64_t r =
        s->index.bits == 16 ? row / 32 * 32 + row % 8 * 4 + row % 32 / 8 : row / 16 * 16 + row % 8 * 2 + row % 16 / 8;
    uint64_t c = word;
    if (r % 2 == 0 && c % 2 == 1) {
        r++;
        c--;
    } else if (r % 2 == 1 && c % 2 == 0) {
        r--;
        c++;
    }
    return c / 2 * rows * 2 + r * 2 + c % 2;
}

typedef struct ratio {
    uint64_t rows, groups, words, per_word;
    unsigned bits;
} ratio;

static ratio ratio_of(const td_sparse *s, const td_shape *shape, uint64_t elems)
{
    ratio r = {.bits = td_sparse_group_bits(s)};
    const uint64_t row = shape->dim[shape->rank - 1];
    r.rows = elems / row;
    r.groups = row / s->m;
    r.per_word = s->index.bits / r.bits;
    r.words = (r.groups + r.per_word - 1) / r.per_word;
    return r;
}

static uint64_t meta_place(const td_sparse *s, const ratio *r, uint64_t row, uint64_t group)
{
    const uint64_t word = group / r->per_word;
    return s->ampere ? ampere_place(s, row, word, r->rows) : row * r->words + word;
}

static void pack_ratio(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    const ratio r = ratio_of(s, &t->shape, t->elems);
    for (uint64_t row = 0, group = 0, value = 0; row < r.rows; row++)
        for (uint64_t g = 0; g < r.groups; g++, group++) {
            unsigned bits = 0, place[16] = {0};
            (void)choose_kept(s, t, group * s->m, &bits); /* td_sparse_count looked at all of them */
            choose_places(s, bits, place);
            for (unsigned k = 0; k < s->n; k++, value++)
                put(parts[0], value, bits >> place[k] & 1 ? get(t, group * s->m + place[k]) : 0);
            const uint64_t at = meta_place(s, &r, row, g);
            put(parts[1], at, get(parts[1], at) | group_code(s, place) << (g % r.per_word * r.bits));
        }
}

static td_status unpack_ratio(const td_sparse *s, td_tensor *const *parts, td_tensor *t)
{
    const ratio r = ratio_of(s, &t->shape, t->elems);
    for (uint64_t row = 0, group = 0, value = 0; row < r.rows; row++)
        for (uint64_t g = 0; g < r.groups; g++, group++) {
            unsigned place[16] = {0};
            const uint64_t at = meta_place(s, &r, row, g),
                           code = get(parts[1], at) >> (g % r.per_word * r.bits) & (((uint64_t)1 << r.bits) - 1);
            if (!group_places(s, code, place))
                return td_fail(TD_RANGE,
                               "meta %" PRIu64 " has %#" PRIx64
                               " for a group of %u:%u, whose places do not ascend; it is "
                               "no metadata of this order",
                               at, code, s->n, s->m);
            for (unsigned k = 0; k < s->n; k++, value++)
                put(t, group * s->m + place[k], get(parts[0], value));
        }
    return TD_OK;
}

/* -- masks -- */

static td_status pack_mask(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    td_status status = s->chunk ? check_number(s, parts[0]->elems, "pointers") : TD_OK;
    for (uint64_t e = 0, value = 0; e < t->elems && !status; e++) {
        if (s->chunk && e % s->chunk == 0)
            put(parts[2], e / s->chunk, value);
        if (is_kept(t, e)) {
            put(parts[1], e, 1);
            put(parts[0], value++, get(t, e));
        }
    }
    return status;
}

static td_status unpack_mask(td_tensor *const *parts, td_tensor *t)
{
    uint64_t value = 0;
    for (uint64_t e = 0; e < t->elems; e++)
        value += get(parts[1], e);
    if (value != parts[0]->elems)
        return td_fail(TD_RANGE, "the mask has %" PRIu64 " bits that are 1, and there are %" PRIu64 " values", value,
                       parts[0]->elems);
    value = 0;
    for (uint64_t e = 0; e < t->elems; e++)
        if (get(parts[1], e))
            put(t, e, get(parts[0], value++));
    return TD_OK;
}

/* -- lists -- */

/* Rows and columns in the order of the lists: of csc the columns come first. */
typedef struct grid {
    uint64_t outer, inner, outer_stride, inner_stride;
} grid;

static grid grid_of(const td_sparse *s, const td_shape *shape)
{
    const uint64_t rows = shape->dim[0], columns = shape->dim[1];
    if (s->kind == TD_SPARSE_CSC)
        return (grid){columns, rows, 1, columns};
    return (grid){rows, columns, columns, 1};
}

static td_status pack_lists(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    const grid g = grid_of(s, &t->shape);
    const bool starts = s->kind != TD_SPARSE_COO;
    td_status status = check_number(s, g.inner - 1 + s->base, "numbers");
    if (!status)
        status = check_number(s, (starts ? parts[0]->elems : g.outer - 1) + s->base, "numbers");
    uint64_t value = 0;
    for (uint64_t o = 0; o < g.outer && !status; o++) {
        if (starts)
            put(parts[2], o, value + s->base);
        for (uint64_t i = 0; i < g.inner; i++) {
            const uint64_t e = o * g.outer_stride + i * g.inner_stride;
            if (!is_kept(t, e))
                continue;
            put(parts[0], value, get(t, e));
            put(parts[1], value, (starts ? i : o) + s->base);
            if (!starts)
                put(parts[2], value, i + s->base);
            value++;
        }
    }
    if (starts && !status)
        put(parts[2], g.outer, value + s->base);
    return status;
}

static td_status fail_place(const td_sparse *s, const char *what, uint64_t value, uint64_t found, uint64_t limit)
{
    return td_fail(TD_RANGE, "%s %" PRIu64 " is %" PRIu64 ", and it is %" PRIu64 " to %" PRIu64 "; another base=?",
                   what, value, found, s->base, limit - 1 + s->base);
}

static td_status unpack_lists(const td_sparse *s, td_tensor *const *parts, td_tensor *t)
{
    const grid g = grid_of(s, &t->shape);
    const bool starts = s->kind != TD_SPARSE_COO;
    const uint64_t values = parts[0]->elems;
    uint64_t o = 0;
    for (uint64_t v = 0; v < values; v++) {
        for (; starts && o + 1 < g.outer && get(parts[2], o + 1) <= v + s->base; o++) {
        }
        if (!starts)
            o = get(parts[1], v) - s->base;
        const uint64_t i = get(parts[starts ? 1 : 2], v) - s->base;
        if (o >= g.outer)
            return fail_place(s, "row", v, o + s->base, g.outer);
        if (i >= g.inner)
            return fail_place(s, s->kind == TD_SPARSE_CSC ? "row" : "column", v, i + s->base, g.inner);
        put(t, o * g.outer_stride + i * g.inner_stride, get(parts[0], v));
    }
    for (uint64_t k = 0; starts && k <= g.outer; k++) {
        const uint64_t at = get(parts[2], k) - s->base, last = k ? get(parts[2], k - 1) - s->base : 0;
        if (at > values || at < last || (k == 0 && at) || (k == g.outer && at != values))
            return td_fail(TD_RANGE,
                           "start %" PRIu64 " is %" PRIu64 "; starts ascend from %" PRIu64
                           " to the number of values, %" PRIu64,
                           k, at + s->base, s->base, values + s->base);
    }
    return TD_OK;
}

/* -- runs -- */

/* Calls for every value and the zeros before it. A run that its dtype does not hold ends with a value that is 0, and so
 * do zeros at the end. */
static uint64_t walk_runs(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    const uint64_t most = td_dtype_mask(s->index);
    uint64_t run = 0, value = 0;
    for (uint64_t e = 0; e < t->elems; e++) {
        if (!is_kept(t, e) && run < most && e + 1 < t->elems) {
            run++;
            continue;
        }
        if (parts) {
            put(parts[0], value, is_kept(t, e) ? get(t, e) : 0);
            put(parts[1], value, run);
        }
        value++;
        run = 0;
    }
    return value;
}

static td_status unpack_runs(td_tensor *const *parts, td_tensor *t)
{
    uint64_t e = 0;
    for (uint64_t v = 0; v < parts[0]->elems; v++, e++) {
        e += get(parts[1], v);
        if (e >= t->elems)
            return td_fail(TD_RANGE,
                           "value %" PRIu64 " would be element %" PRIu64 " of a tensor of %" PRIu64 " elements", v, e,
                           t->elems);
        put(t, e, get(parts[0], v));
    }
    return TD_OK;
}

/* -- any -- */

td_status td_sparse_count(const td_sparse *s, const td_tensor *tensor, uint64_t *count)
{
    *count = 0;
    if (s->kind == TD_SPARSE_RUNS)
        *count = walk_runs(s, tensor, NULL);
    for (uint64_t e = 0; e < tensor->elems && s->kind != TD_SPARSE_RUNS && s->kind != TD_SPARSE_N_OF_M; e++)
        *count += is_kept(tensor, e);
    const uint64_t row = tensor->shape.rank ? tensor->shape.dim[tensor->shape.rank - 1] : 1;
    if (s->kind != TD_SPARSE_N_OF_M || row % s->m)
        return TD_OK; /* td_sparse_forms refuses such a row */
    for (uint64_t first = 0; first < tensor->elems; first += s->m) {
        unsigned bits = 0;
        if (!choose_kept(s, tensor, first, &bits))
            return td_fail(TD_RANGE,
                           "elements %" PRIu64 " to %" PRIu64
                           " have %d values that are not zero, and %u:%u keeps %u; pass "
                           "prune=magnitude",
                           first, first + s->m - 1, __builtin_popcount(bits), s->n, s->m, s->n);
    }
    return TD_OK;
}

td_status td_sparse_pack(const td_sparse *s, const td_tensor *tensor, td_tensor *const *parts)
{
    switch (s->kind) {
    case TD_SPARSE_N_OF_M:
        pack_ratio(s, tensor, parts);
        return TD_OK;
    case TD_SPARSE_MASK:
        return pack_mask(s, tensor, parts);
    case TD_SPARSE_RUNS:
        (void)walk_runs(s, tensor, parts);
        return TD_OK;
    default:
        return pack_lists(s, tensor, parts);
    }
}

td_status td_sparse_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *tensor)
{
    switch (s->kind) {
    case TD_SPARSE_N_OF_M:
        return unpack_ratio(s, parts, tensor);
    case TD_SPARSE_MASK:
        return unpack_mask(parts, tensor);
    case TD_SPARSE_RUNS:
        return unpack_runs(parts, tensor);
    default:
        return unpack_lists(s, parts, tensor);
    }
}
