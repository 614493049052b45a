/* Sparse packings with masks (sparse.h): a mask of elements or of bits in words, and the surfaces of NVDLA, whose mask
 * is one of bytes. Parts whose mask and values do not go together are refused. */
#include "base/cpu.h"
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

#define STRIP 2048 /* elements that are worked on at once: whole bytes of bits */

/* Bits in bytes, which any words of whole bytes are too where the lowest bit is the first. */
static bool in_bytes(const td_sparse *s)
{
    return (s->kind == TD_SPARSE_NVDLA || !s->chunk) && s->word.bits % 8 == 0 && (!s->msb_first || s->word.bits == 8);
}

/* Flags of `n` elements from `first` on into the mask. A product puts eight flags side by side on top. */
static void put_flags(const td_sparse *s, td_tensor *mask, uint64_t first, const unsigned char *flags, size_t n)
{
    const uint64_t factor = s->msb_first ? 0x8040201008040201U : 0x0102040810204080U;
    size_t i = 0;
    if (s->word.bits == 1) {
        memcpy(mask->data + first, flags, n);
        return;
    }
    unsigned char *const dst = mask->data + first / 8; /* of strips, which begin with a byte */
    for (const size_t whole = in_bytes(s) ? n / 8 * 8 : 0; i < whole; i += 8) {
        uint64_t eight = 0;
        memcpy(&eight, flags + i, sizeof eight);
        dst[i / 8] = (unsigned char)(eight * factor >> 56);
    }
    for (; i < n; i++) {
        const bit_place p = place_of(s, first + i);
        if (flags[i])
            td_elem_put(mask, p.word, td_elem_get(mask, p.word) | (uint64_t)1 << p.bit);
    }
}

/* A byte's bits as eight flags: each in a byte of its own, then all that is not 0 to 1. */
static uint64_t flags_of_byte(unsigned char bits, bool msb_first)
{
    const uint64_t own = msb_first ? 0x0102040810204080U : 0x8040201008040201U, low = 0x7f7f7f7f7f7f7f7fU;
    const uint64_t apart = bits * 0x0101010101010101U & own;
    return (apart + low) >> 7 & 0x0101010101010101U;
}

static void get_flags(const td_sparse *s, const td_tensor *mask, uint64_t first, unsigned char *restrict flags,
                      size_t n)
{
    const unsigned char *const src = mask->data + first;
    size_t i = 0;
    if (s->word.bits == 1)
        for (; i < n; i++)
            flags[i] = src[i] & 1;
    const unsigned char *const bits = mask->data + first / 8; /* of strips, which begin with a byte */
    const bool msb_first = s->msb_first;
    for (const size_t whole = in_bytes(s) ? n / 8 * 8 : 0; i < whole; i += 8) {
        const uint64_t eight = flags_of_byte(bits[i / 8], msb_first);
        memcpy(flags + i, &eight, sizeof eight);
    }
    for (; i < n; i++)
        flags[i] = get_bit(s, mask, first + i);
}

/* The pointers of chunks that begin among `n` elements from `first` on, before which there are `value` values. */
static void put_pointers(const td_sparse *s, const td_keep_kernels *k, td_tensor *pointers, uint64_t first,
                         const unsigned char *flags, size_t n, uint64_t value, uint64_t unit)
{
    uint64_t at = (first + s->chunk - 1) / s->chunk * s->chunk, seen = first;
    for (; at < first + n; at += s->chunk) {
        value += k->count(flags + (seen - first), (size_t)(at - seen));
        td_elem_put(pointers, at / s->chunk, value * unit);
        seen = at;
    }
}

td_status td_mask_pack(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    const bool chunks = s->kind == TD_SPARSE_MASK && s->chunk;
    const uint64_t unit = s->in_bytes ? t->dtype.bits / 8U : 1, values = parts[0]->elems;
    const unsigned bytes = t->dtype.bytes;
    unsigned char flags[STRIP];
    td_keep_kernels k;
    td_keep_init(&k, td_cpu_flags());
    td_status status = chunks ? td_sparse_check_number(s, values * unit, "pointers") : TD_OK;
    for (uint64_t e = 0, value = 0; e < t->elems && !status; e += STRIP) {
        const size_t n = t->elems - e < STRIP ? (size_t)(t->elems - e) : STRIP;
        td_sparse_flags(&k, t, e, n, flags);
        put_flags(s, parts[1], e, flags, n);
        if (chunks)
            put_pointers(s, &k, parts[2], e, flags, n, value, unit);
        value +=
            k.keep(parts[0]->data + value * bytes, (size_t)k.count(flags, n), t->data + e * bytes, flags, n, bytes);
    }
    if (s->kind == TD_SPARSE_NVDLA)
        find_sizes(s, parts[1], t->elems, parts[2]);
    return status;
}

/* `value` becomes the number of flags; with a tensor its elements get the values. */
static void spread(const td_sparse *s, td_tensor *const *parts, uint64_t elems, td_tensor *t, uint64_t *value)
{
    const uint64_t values = parts[0]->elems;
    const unsigned bytes = parts[0]->dtype.bytes;
    unsigned char flags[STRIP];
    td_keep_kernels k;
    td_keep_init(&k, td_cpu_flags());
    *value = 0;
    for (uint64_t e = 0; e < elems; e += STRIP) {
        const size_t n = elems - e < STRIP ? (size_t)(elems - e) : STRIP;
        get_flags(s, parts[1], e, flags, n);
        *value += t ? k.spread(t->data + e * bytes, parts[0]->data + *value * bytes, (size_t)(values - *value), flags,
                               n, bytes)
                    : k.count(flags, n);
    }
}

td_status td_mask_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *t)
{
    const bool nvdla = s->kind == TD_SPARSE_NVDLA;
    const uint64_t most = parts[0]->elems, slack = nvdla ? s->align * 8 / s->elem.bits : 1;
    uint64_t value = 0;
    spread(s, parts, t->elems, NULL, &value);
    if (value > most || value + slack <= most)
        return td_fail(TD_RANGE, "the mask has %" PRIu64 " bits that are 1, and there are %" PRIu64 " values%s", value,
                       most, nvdla ? " with their padding" : "");
    const td_status status = nvdla ? check_sizes(s, parts[1], t->elems, parts[2]) : TD_OK;
    if (!status)
        spread(s, parts, t->elems, t, &value);
    return status;
}
