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

/* Bytes of a set as those of a mask whose highest bit is the first, or back. */
static void reverse_bits(unsigned char *restrict dst, const unsigned char *restrict src, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const unsigned halves = (unsigned)(src[i] >> 4 | src[i] << 4),
                       pairs = (halves >> 2 & 0x33) | (halves << 2 & 0xcc);
        dst[i] = (unsigned char)((pairs >> 1 & 0x55) | (pairs << 1 & 0xaa));
    }
}

static bool has(const unsigned char *set, size_t i)
{
    return set[i / 8] >> i % 8 & 1;
}

/* The set of `n` elements from `first` on into the mask. */
static void put_set(const td_sparse *s, const td_keep_kernels *k, td_tensor *mask, uint64_t first,
                    const unsigned char *set, size_t n)
{
    size_t i = 0;
    if (s->word.bits == 1) {
        k->ones(mask->data + first, set, n);
        return;
    }
    unsigned char *const dst = mask->data + first / 8; /* of strips, which begin with a byte */
    if (in_bytes(s)) {
        i = n / 8 * 8;
        if (s->msb_first)
            reverse_bits(dst, set, i / 8);
        else
            memcpy(dst, set, i / 8);
    }
    for (; i < n; i++) {
        const bit_place p = place_of(s, first + i);
        if (has(set, i))
            td_elem_put(mask, p.word, td_elem_get(mask, p.word) | (uint64_t)1 << p.bit);
    }
}

/* And out of it. */
static void get_set(const td_sparse *s, const td_keep_kernels *k, const td_tensor *mask, uint64_t first,
                    unsigned char *set, size_t n)
{
    const size_t bytes = (n + 7) / 8;
    size_t i = 0;
    if (s->word.bits == 1) {
        (void)k->bits(set, mask->data + first, n, 1, 1);
        return;
    }
    const unsigned char *const src = mask->data + first / 8; /* of strips, which begin with a byte */
    if (in_bytes(s)) {
        i = n / 8 * 8;
        if (s->msb_first)
            reverse_bits(set, src, i / 8);
        else
            memcpy(set, src, i / 8);
    }
    memset(set + i / 8, 0, bytes - i / 8);
    for (; i < n; i++)
        set[i / 8] |= (unsigned char)(get_bit(s, mask, first + i) << i % 8);
}

/* The elements of a set from `begin` up to `end`. */
static size_t count_between(const td_keep_kernels *k, const unsigned char *set, size_t begin, size_t end)
{
    size_t count = 0, i = begin;
    for (; i < end && i % 8; i++)
        count += has(set, i);
    const size_t whole = (end - i) / 8 * 8;
    count += k->total(set + i / 8, whole);
    for (i += whole; i < end; i++)
        count += has(set, i);
    return count;
}

/* The pointers of chunks that begin among `n` elements from `first` on, before which there are `value` values; the
 * tensor begins with pointer `less`. */
static void put_pointers(const td_sparse *s, const td_keep_kernels *k, td_tensor *pointers, uint64_t less,
                         uint64_t first, const unsigned char *set, size_t n, uint64_t value)
{
    const uint64_t unit = s->in_bytes ? s->elem.bits / 8U : 1;
    uint64_t at = (first + s->chunk - 1) / s->chunk * s->chunk, seen = first;
    for (; at < first + n; at += s->chunk) {
        value += count_between(k, set, (size_t)(seen - first), (size_t)(at - first));
        td_elem_put(pointers, at / s->chunk - less, value * unit);
        seen = at;
    }
}

/* -- a tensor and its mask, in pieces of strips -- */

typedef struct mask_work {
    const td_sparse *s;
    const td_tensor *tensor; /* that is counted or packed */
    td_tensor *unpacked;     /* or, without it, only the bits of `parts` are counted */
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
    unsigned char set[STRIP / 8];
    for (unsigned piece = begin; piece < end; piece++) {
        uint64_t count = 0;
        for (uint64_t e = begin_of(w, piece); e < begin_of(w, piece + 1); e += STRIP) {
            const size_t n = strip_at(w, e);
            if (w->tensor) {
                count += td_sparse_bits(&w->kernels, w->tensor, e, n, set);
                continue;
            }
            get_set(w->s, &w->kernels, w->parts[1], e, set, n);
            count += w->kernels.total(set, n);
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
    unsigned char set[STRIP / 8];
    uint64_t value = w->before[begin];
    for (uint64_t e = begin_of(w, begin); e < begin_of(w, end); e += STRIP) {
        const size_t n = strip_at(w, e), count = td_sparse_bits(&w->kernels, t, e, n, set);
        put_set(s, &w->kernels, w->parts[1], e, set, n);
        if (chunks)
            put_pointers(s, &w->kernels, w->parts[2], 0, e, set, n, value);
        value += w->kernels.keep(w->parts[0]->data + value * bytes, count, t->data + e * bytes, set, n, bytes);
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
    unsigned char set[STRIP / 8];
    td_keep_kernels k;
    td_tensor own = *parts[1]; /* a strip's words, which begin with its first bit */
    td_keep_init(&k, td_cpu_flags());
    const size_t count = td_sparse_bits(&k, t, e, n, set);
    own.data += (made[1] - steps->first[1]) * word_bytes;
    memset(own.data, 0, words * word_bytes);
    put_set(s, &k, &own, 0, set, n);
    made[1] += words;
    if (s->chunk) {
        put_pointers(s, &k, parts[2], steps->first[2], e, set, n, made[0]);
        made[2] = (e + n - 1) / s->chunk + 1;
    }
    made[0] += k.keep(parts[0]->data + (made[0] - steps->first[0]) * bytes, count, t->data + e * bytes, set, n, bytes);
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
    unsigned char set[STRIP / 8];
    uint64_t value = w->before[begin];
    for (uint64_t e = begin_of(w, begin); e < begin_of(w, end); e += STRIP) {
        const size_t n = strip_at(w, e);
        get_set(w->s, &w->kernels, w->parts[1], e, set, n);
        value += w->kernels.spread(w->unpacked->data + e * bytes, w->parts[0]->data + value * bytes,
                                   (size_t)(values - value), set, n, bytes);
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
