/* Sparse packings with masks (sparse.h): a mask of elements or of bits in words, and the surfaces of NVDLA, whose mask
 * is one of bytes. Parts whose mask and values do not go together are refused. */
#include "parts/sparse_elems.h"
#include "parts/sparse_kinds.h"

#include <inttypes.h>

/* Where the bit of an element is: a chunk begins with a word of its own. */
typedef struct bit_place {
    uint64_t word;
    unsigned bit;
} bit_place;

static bit_place place_of(const td_sparse *s, uint64_t elem)
{
    const uint64_t width = s->word.bits, chunk = s->chunk ? s->chunk : UINT64_MAX, per_chunk = (chunk - 1) / width + 1,
                   at = elem % chunk;
    const unsigned bit = (unsigned)(at % width);
    return (bit_place){elem / chunk * per_chunk + at / width, s->msb_first ? (unsigned)width - 1 - bit : bit};
}

static bool get_bit(const td_sparse *s, const td_tensor *mask, uint64_t elem)
{
    const bit_place p = place_of(s, elem);
    return td_elem_get(mask, p.word) >> p.bit & 1;
}

/* -- the sizes of NVDLA's kernel groups -- */

static uint64_t group_at(const td_sparse *s, uint64_t elem)
{
    return elem / s->group;
}

/* NVDLA's verification tool rounds the size of a group up and takes what it adds from the next, in 32 bits. */
static void borrow(const td_sparse *s, td_tensor *sizes)
{
    const uint32_t align = (uint32_t)s->align;
    uint64_t sum = 0;
    for (uint64_t g = 0; g < sizes->elems; g++) {
        const uint32_t size = (uint32_t)td_elem_get(sizes, g), more = (align - size % align) % align;
        if (g + 1 < sizes->elems) {
            td_elem_put(sizes, g, (uint32_t)(size + more));
            td_elem_put(sizes, g + 1, (uint32_t)(td_elem_get(sizes, g + 1) - more));
        }
        sum += td_elem_get(sizes, g);
    }
    const uint64_t last = sizes->elems - 1;
    td_elem_put(sizes, last, (uint32_t)(td_elem_get(sizes, last) + (align - sum % align) % align));
}

static void find_sizes(const td_sparse *s, const td_tensor *mask, uint64_t elems, td_tensor *sizes)
{
    for (uint64_t e = 0; e < elems; e++)
        if (get_bit(s, mask, e))
            td_elem_put(sizes, group_at(s, e), td_elem_get(sizes, group_at(s, e)) + s->elem.bits / 8U);
    if (s->tool)
        borrow(s, sizes);
}

static td_status check_sizes(const td_sparse *s, const td_tensor *mask, uint64_t elems, const td_tensor *found)
{
    td_tensor *sizes = NULL;
    td_status status = td_tensor_create("u32", found->shape, &sizes);
    if (!status)
        find_sizes(s, mask, elems, sizes);
    for (uint64_t g = 0; !status && g < found->elems; g++)
        if (td_elem_get(sizes, g) != td_elem_get(found, g))
            status = td_fail(TD_RANGE,
                             "size %" PRIu64 " is %" PRIu64 ", and by the mask it is %" PRIu64
                             " bytes; another reading=, or another group=?",
                             g, td_elem_get(found, g), td_elem_get(sizes, g));
    td_tensor_destroy(&sizes);
    return status;
}

/* -- any mask -- */

td_status td_mask_pack(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    const uint64_t unit = s->in_bytes ? t->dtype.bits / 8U : 1, chunk = s->kind == TD_SPARSE_MASK ? s->chunk : 0;
    td_status status = chunk ? td_sparse_check_number(s, parts[0]->elems * unit, "pointers") : TD_OK;
    for (uint64_t e = 0, value = 0; e < t->elems && !status; e++) {
        if (chunk && e % chunk == 0)
            td_elem_put(parts[2], e / chunk, value * unit);
        if (!td_elem_is_kept(t, e))
            continue;
        const bit_place p = place_of(s, e);
        td_elem_put(parts[1], p.word, td_elem_get(parts[1], p.word) | (uint64_t)1 << p.bit);
        td_elem_put(parts[0], value++, td_elem_get(t, e));
    }
    if (s->kind == TD_SPARSE_NVDLA)
        find_sizes(s, parts[1], t->elems, parts[2]);
    return status;
}

td_status td_mask_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *t)
{
    const bool nvdla = s->kind == TD_SPARSE_NVDLA;
    const uint64_t most = parts[0]->elems, slack = nvdla ? s->align * 8 / s->elem.bits : 1;
    uint64_t value = 0;
    for (uint64_t e = 0; e < t->elems; e++)
        value += get_bit(s, parts[1], e);
    if (value > most || value + slack <= most)
        return td_fail(TD_RANGE, "the mask has %" PRIu64 " bits that are 1, and there are %" PRIu64 " values%s", value,
                       most, nvdla ? " with their padding" : "");
    const td_status status = nvdla ? check_sizes(s, parts[1], t->elems, parts[2]) : TD_OK;
    value = 0;
    for (uint64_t e = 0; e < t->elems && !status; e++)
        if (get_bit(s, parts[1], e))
            td_elem_put(t, e, td_elem_get(parts[0], value++));
    return status;
}
