/* Sparse packings at work (sparse.h): which elements are kept, and where they go. Elements move as bits; nothing is
 * converted. Numbers that do not fit their dtype are refused before anything is kept. */
#include "parts/sparse_elems.h"
#include "parts/sparse_kinds.h"

#include <inttypes.h>

td_status td_sparse_check_number(const td_sparse *s, uint64_t largest, const char *what)
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

static void pack_ratio(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    const td_meta r = td_meta_of(s, &t->shape);
    for (uint64_t row = 0, group = 0, value = 0; row < r.rows; row++)
        for (uint64_t g = 0; g < r.groups; g++, group++) {
            unsigned bits = 0, place[16] = {0};
            (void)choose_kept(s, t, group * s->m, &bits); /* td_sparse_count looked at all of them */
            choose_places(s, bits, place);
            for (unsigned k = 0; k < s->n; k++, value++)
                td_elem_put(parts[0], value, bits >> place[k] & 1 ? td_elem_get(t, group * s->m + place[k]) : 0);
            const uint64_t at = td_meta_place(s, &r, row, g / r.per_word);
            td_elem_put(parts[1], at, td_elem_get(parts[1], at) | group_code(s, place) << (g % r.per_word * r.bits));
        }
}

static td_status unpack_ratio(const td_sparse *s, td_tensor *const *parts, td_tensor *t)
{
    const td_meta r = td_meta_of(s, &t->shape);
    for (uint64_t row = 0, group = 0, value = 0; row < r.rows; row++)
        for (uint64_t g = 0; g < r.groups; g++, group++) {
            unsigned place[16] = {0};
            const uint64_t at = td_meta_place(s, &r, row, g / r.per_word),
                           code =
                               td_elem_get(parts[1], at) >> (g % r.per_word * r.bits) & (((uint64_t)1 << r.bits) - 1);
            if (!group_places(s, code, place))
                return td_fail(TD_RANGE,
                               "meta %" PRIu64 " has %#" PRIx64
                               " for a group of %u:%u, whose places do not ascend; it is "
                               "no metadata of this order",
                               at, code, s->n, s->m);
            for (unsigned k = 0; k < s->n; k++, value++)
                td_elem_put(t, group * s->m + place[k], td_elem_get(parts[0], value));
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
        if (!td_elem_is_kept(t, e) && run < most && e + 1 < t->elems) {
            run++;
            continue;
        }
        if (parts) {
            td_elem_put(parts[0], value, td_elem_is_kept(t, e) ? td_elem_get(t, e) : 0);
            td_elem_put(parts[1], value, run);
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
        e += td_elem_get(parts[1], v);
        if (e >= t->elems)
            return td_fail(TD_RANGE,
                           "value %" PRIu64 " would be element %" PRIu64 " of a tensor of %" PRIu64 " elements", v, e,
                           t->elems);
        td_elem_put(t, e, td_elem_get(parts[0], v));
    }
    return TD_OK;
}

/* -- any -- */

static bool is_list(const td_sparse *s)
{
    return s->kind == TD_SPARSE_CSR || s->kind == TD_SPARSE_CSC || s->kind == TD_SPARSE_COO;
}

td_status td_sparse_count(const td_sparse *s, const td_tensor *tensor, uint64_t *count)
{
    *count = 0;
    if (s->kind == TD_SPARSE_RUNS)
        *count = walk_runs(s, tensor, NULL);
    else if (is_list(s))
        *count = tensor->shape.rank == 2 ? td_lists_count(s, tensor) : 1; /* td_sparse_forms refuses other ranks */
    else if (s->kind != TD_SPARSE_N_OF_M)
        for (uint64_t e = 0; e < tensor->elems; e++)
            *count += td_elem_is_kept(tensor, e);
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
    case TD_SPARSE_NVDLA:
        return td_mask_pack(s, tensor, parts);
    case TD_SPARSE_RUNS:
        (void)walk_runs(s, tensor, parts);
        return TD_OK;
    default:
        return td_lists_pack(s, tensor, parts);
    }
}

td_status td_sparse_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *tensor)
{
    switch (s->kind) {
    case TD_SPARSE_N_OF_M:
        return unpack_ratio(s, parts, tensor);
    case TD_SPARSE_MASK:
    case TD_SPARSE_NVDLA:
        return td_mask_unpack(s, parts, tensor);
    case TD_SPARSE_RUNS:
        return unpack_runs(parts, tensor);
    default:
        return td_lists_unpack(s, parts, tensor);
    }
}
