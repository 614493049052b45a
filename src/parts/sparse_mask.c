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

#define STRIP TD_SPARSE_STRIP

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

/* The pointers of chunks that begin among `n` elements from `first` on, before which there are `value` values; the
 * tensor begins with pointer `less`. */
static void put_pointers(const td_sparse *s, const td_keep_kernels *k, td_tensor *pointers, uint64_t less,
                         uint64_t first, const unsigned char *flags, size_t n, uint64_t value)
{
    const uint64_t unit = s->in_bytes ? s->elem.bits / 8U : 1;
    uint64_t at = (first + s->chunk - 1) / s->chunk * s->chunk, seen = first;
    for (; at < first + n; at += s->chunk) {
        value += k->count(flags + (seen - first), (size_t)(at - seen));
        td_elem_put(pointers, at / s->chunk - less, value * unit);
        seen = at;
    }
}

/* -- a tensor and its mask, in pieces of strips -- */

typedef struct mask_work {
    const td_sparse *s;
    const td_tensor *tensor; /* that is counted or packed */
    td_tensor *unpacked;     /* or, without it, only the flags of `parts` are counted */
    td_tensor *const *parts;
    uint64_t elems, strips;
    unsigned pieces;
    uint64_t before[TD_POOL_PARTS]; /* values, of each piece; while they are counted, those of the piece */
    td_keep_kernels kernels;
} mask_work;

static mask_work work_of(const td_sparse *s, uint64_t elems, uint64_t bytes)
{
    mask_work w = {.s = s, .elems = elems, .strips = (elems - 1) / STRIP + 1};
    w.pieces = td_pool_parts(bytes, w.strips);
    td_keep_init(&w.kernels, td_cpu_flags());
    return w;
}

/* The elements of a piece. */
static uint64_t begin_of(const mask_work *w, unsigned piece)
{
    const uint64_t at = w->strips * piece / w->pieces * STRIP;
    return at < w->elems ? at : w->elems;
}

static size_t strip_at(const mask_work *w, uint64_t elem)
{
    return w->elems - elem < STRIP ? (size_t)(w->elems - elem) : STRIP;
}

/* Counts of pieces to counts before them; all of them. */
static uint64_t add_up(uint64_t *before, unsigned pieces)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < pieces; i++) {
        const uint64_t own = before[i];
        before[i] = sum;
        sum += own;
    }
    return sum;
}

static void count_pieces(void *context, unsigned begin, unsigned end)
{
    mask_work *w = context;
    unsigned char flags[STRIP];
    for (unsigned piece = begin; piece < end; piece++) {
        uint64_t count = 0;
        for (uint64_t e = begin_of(w, piece); e < begin_of(w, piece + 1); e += STRIP) {
            const size_t n = strip_at(w, e);
            if (w->tensor)
                td_sparse_flags(&w->kernels, w->tensor, e, n, flags);
            else
                get_flags(w->s, w->parts[1], e, flags, n);
            count += w->kernels.count(flags, n);
        }
        w->before[piece] = count;
    }
}

uint64_t td_mask_count(td_sparse *s, const td_tensor *tensor)
{
    mask_work w = work_of(s, tensor->elems, tensor->elems * tensor->dtype.bytes);
    w.tensor = tensor;
    td_pool_run(w.pieces, count_pieces, &w);
    const uint64_t count = add_up(w.before, w.pieces);
    s->pieces.count = w.pieces;
    memcpy(s->pieces.before, w.before, sizeof w.before);
    return count;
}

static void pack_pieces(void *context, unsigned begin, unsigned end)
{
    const mask_work *w = context;
    const td_sparse *s = w->s;
    const td_tensor *t = w->tensor;
    const unsigned bytes = t->dtype.bytes;
    const bool chunks = s->kind == TD_SPARSE_MASK && s->chunk;
    unsigned char flags[STRIP];
    uint64_t value = w->before[begin];
    for (uint64_t e = begin_of(w, begin); e < begin_of(w, end); e += STRIP) {
        const size_t n = strip_at(w, e);
        td_sparse_flags(&w->kernels, t, e, n, flags);
        put_flags(s, w->parts[1], e, flags, n);
        if (chunks)
            put_pointers(s, &w->kernels, w->parts[2], 0, e, flags, n, value);
        value += w->kernels.keep(w->parts[0]->data + value * bytes, (size_t)w->kernels.count(flags, n),
                                 t->data + e * bytes, flags, n, bytes);
    }
}

/* Whether no word of the mask has bits of two strips. */
bool td_mask_has_steps(const td_sparse *s)
{
    return s->word.bits == 1 || (STRIP % s->word.bits == 0 && (s->kind == TD_SPARSE_NVDLA || !s->chunk));
}

td_status td_mask_check(const td_sparse *s, const td_tensor *t, uint64_t count)
{
    const uint64_t unit = s->in_bytes ? t->dtype.bits / 8U : 1;
    return s->kind == TD_SPARSE_MASK && s->chunk ? td_sparse_check_number(s, count * unit, "pointers") : TD_OK;
}

void td_mask_step(const td_sparse *s, const td_tensor *t, uint64_t number, td_steps *steps, td_tensor *const *parts)
{
    const uint64_t e = number * STRIP;
    const size_t n = t->elems - e < STRIP ? (size_t)(t->elems - e) : STRIP, words = (n - 1) / s->word.bits + 1;
    const unsigned bytes = t->dtype.bytes, word_bytes = s->word.bytes;
    uint64_t *const made = steps->made;
    unsigned char flags[STRIP];
    td_keep_kernels k;
    td_tensor own = *parts[1]; /* a strip's words, which begin with its first bit */
    td_keep_init(&k, td_cpu_flags());
    td_sparse_flags(&k, t, e, n, flags);
    own.data += (made[1] - steps->first[1]) * word_bytes;
    memset(own.data, 0, words * word_bytes);
    put_flags(s, &own, 0, flags, n);
    made[1] += words;
    if (s->chunk) {
        put_pointers(s, &k, parts[2], steps->first[2], e, flags, n, made[0]);
        made[2] = (e + n - 1) / s->chunk + 1;
    }
    made[0] += k.keep(parts[0]->data + (made[0] - steps->first[0]) * bytes, (size_t)k.count(flags, n),
                      t->data + e * bytes, flags, n, bytes);
}

td_status td_mask_pack(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    mask_work w = work_of(s, t->elems, t->elems * t->dtype.bytes);
    w.tensor = t;
    w.parts = parts;
    w.pieces = td_mask_has_steps(s) ? s->pieces.count : 1;
    memcpy(w.before, s->pieces.before, sizeof w.before);
    const td_status status = td_mask_check(s, t, parts[0]->elems);
    if (!status)
        td_pool_run(w.pieces, pack_pieces, &w);
    if (s->kind == TD_SPARSE_NVDLA)
        find_sizes(s, parts[1], t->elems, parts[2]);
    return status;
}

static void spread_pieces(void *context, unsigned begin, unsigned end)
{
    const mask_work *w = context;
    const uint64_t values = w->parts[0]->elems;
    const unsigned bytes = w->parts[0]->dtype.bytes;
    unsigned char flags[STRIP];
    uint64_t value = w->before[begin];
    for (uint64_t e = begin_of(w, begin); e < begin_of(w, end); e += STRIP) {
        const size_t n = strip_at(w, e);
        get_flags(w->s, w->parts[1], e, flags, n);
        value += w->kernels.spread(w->unpacked->data + e * bytes, w->parts[0]->data + value * bytes,
                                   (size_t)(values - value), flags, n, bytes);
    }
}

td_status td_mask_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *t)
{
    const bool nvdla = s->kind == TD_SPARSE_NVDLA;
    const uint64_t most = parts[0]->elems, slack = nvdla ? s->align * 8 / s->elem.bits : 1;
    mask_work w = work_of(s, t->elems, t->elems * t->dtype.bytes);
    w.parts = parts;
    w.unpacked = t;
    td_pool_run(w.pieces, count_pieces, &w);
    const uint64_t value = add_up(w.before, w.pieces);
    if (value > most || value + slack <= most)
        return td_fail(TD_RANGE, "the mask has %" PRIu64 " bits that are 1, and there are %" PRIu64 " values%s", value,
                       most, nvdla ? " with their padding" : "");
    const td_status status = nvdla ? check_sizes(s, parts[1], t->elems, parts[2]) : TD_OK;
    if (!status)
        td_pool_run(w.pieces, spread_pieces, &w);
    return status;
}
