/* A strip from values to parts (block_strip.h): once through its rows for the largest magnitudes of its blocks, then,
 * with the scales known, once more for the elements. blocks.c calls it. */
#include "base/fp_mode.h"
#include "base/pool.h"
#include "kernels/prefetch.h"
#include "parts/block_strip.h"
#include "parts/ggml.h"
#include "parts/ggml_k.h"
#include "parts/over_six.h"

#include <math.h>
#include <string.h>

/* `n` values of a tensor from element `elem` on, as f32. */
static const float *fetch_of(const td_block_common *c, const td_tensor *t, uint64_t elem, size_t n, float *scratch)
{
    const unsigned char *src = t->data + elem * t->dtype.bytes;
    if (c->convert_source)
        td_convert_run(&c->source, scratch, src, n, elem, 1);
    else if ((uintptr_t)src % sizeof(float))
        memcpy(scratch, src, n * sizeof(float)); /* mapped files begin anywhere */
    else
        return (const float *)(const void *)src;
    return scratch;
}

static const float *fetch(const td_block_work *w, uint64_t elem, size_t n, float *scratch)
{
    return fetch_of(w->common, w->tensor, elem, n, scratch);
}

/* Strips of a tensor in pieces, and the largest magnitude of all. */
typedef struct amax_work {
    const td_block_common *common;
    const td_tensor *tensor;
    uint64_t strips;
    unsigned pieces;
    uint32_t amax;
} amax_work;

/* From the last to the first, as the packing begins with what was read last. */
static void find_amax(void *context, unsigned begin, unsigned end)
{
    amax_work *a = context;
    const td_tensor *t = a->tensor;
    const uint64_t first = a->strips * begin / a->pieces * STRIP, last = a->strips * end / a->pieces * STRIP,
                   past = last < t->elems ? last : t->elems;
    const uint64_t most = a->common->convert_source || (uintptr_t)t->data % sizeof(float) ? STRIP : past - first;
    float scratch[STRIP];
    uint32_t amax = 0, known = __atomic_load_n(&a->amax, __ATOMIC_RELAXED);
    const unsigned mode = td_mode_enter();
    for (uint64_t left = past - first; left;) {
        const size_t n = (size_t)(left % most ? left % most : most);
        left -= n;
        a->common->scaler.kernels.most(&amax, fetch_of(a->common, t, first + left, n, scratch), n);
    }
    td_mode_leave(mode);
    while (amax > known &&
           !__atomic_compare_exchange_n(&a->amax, &known, amax, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

uint32_t td_strips_amax(const td_block_common *common, const td_tensor *tensor)
{
    amax_work a = {.common = common, .tensor = tensor, .strips = (tensor->elems - 1) / STRIP + 1};
    a.pieces = td_pool_parts(tensor->elems * tensor->dtype.bytes, a.strips);
    td_pool_run(a.pieces, find_amax, &a);
    return a.amax;
}

/* Codes in containers of the dtype. */
static void put_codes(td_tensor *t, uint64_t elem, const uint32_t *codes, size_t n)
{
    unsigned char *dst = t->data + elem * t->dtype.bytes;
    switch (t->dtype.bytes) {
    case 1:
        for (size_t i = 0; i < n; i++)
            dst[i] = (unsigned char)codes[i];
        break;
    case 2:
        for (size_t i = 0; i < n; i++) {
            const uint16_t code = (uint16_t)codes[i];
            memcpy(dst + 2 * i, &code, sizeof code);
        }
        break;
    default:
        memcpy(dst, codes, n * sizeof *codes);
    }
}

/* -- elements of a row -- */

/* Blocks whose scale is NaN: what their elements hold is fixed, so that equal tensors have equal parts. */
static void void_blocks(const td_block_work *w, const td_strip *s, uint64_t elem, size_t n, size_t block)
{
    const td_dtype t = w->packing->elem;
    const uint32_t code = t.kind == TD_KIND_FLOAT && !w->packing->void_is_zero ? (uint32_t)td_dtype_nan_bits(t) : 0;
    for (size_t i = 0; i < n; i += block)
        if (isnan(s->scales.by[i / block]))
            for (size_t k = i; k < n && k < i + block; k++)
                put_codes(w->parts.elems, elem + k, &code, 1);
}

/* A quotient by a power of two is exact, but for those that an f32 is too coarse for. They are smaller than anything
 * that an element holds, and rounding up or down has to see no more than their sign. */
static void keep_small(float *scaled, const float *row, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (row[i] != 0 && fabsf(scaled[i]) < 0x1p-120F)
            scaled[i] = copysignf(0x1p-120F, row[i]);
}

/* `blocks` blocks of `size` elements of a row, to codes in s->codes, to values with their zero points in s->in, or to
 * values in s->scaled. */
static void scale_blocks(const td_block_work *w, td_strip *s, const float *row, size_t first, size_t at, size_t blocks,
                         size_t size)
{
    const td_packing *k = w->packing;
    const td_block_kernels *kernels = &w->common->scaler.kernels;
    float *scaled = s->scaled + at;
    if (k->rule == TD_RULE_SHARED) {
        kernels->share(s->codes + at, row + at, s->scales.code + first, k->elem.bits, blocks, size);
        return;
    }
    (td_scaler_divides(k) ? kernels->div : kernels->mul)(scaled, row + at, s->scales.by + first, blocks, size);
    if (k->zeros)
        kernels->add(s->in + at, scaled, s->scales.zero + first, blocks, size); /* the row is not needed any more */
}

/* Blocks from values to codes in one step. */
static void encode_blocks(const td_block_work *w, const td_strip *s, const float *row, uint64_t elem, size_t first,
                          size_t blocks, size_t size)
{
    const td_packing *k = w->packing;
    unsigned char *dst = w->parts.elems->data + elem;
    if (k->elem.kind == TD_KIND_FLOAT)
        w->common->kernels.floats(dst, row, s->scales.by + first, blocks, size, &w->common->quant, s->bounded);
    else
        w->common->kernels.ints(dst, row, s->scales.by + first, k->zeros ? s->scales.zero + first : NULL, blocks, size,
                                &w->common->quant, s->bounded);
}

static void encode_row(const td_block_work *w, td_strip *s, const float *row, uint64_t elem, size_t n, size_t block)
{
    const td_packing *k = w->packing;
    const size_t whole = n / block, rest = n % block;
    if (w->common->by_kernel && !s->any_inf) {
        encode_blocks(w, s, row, elem, 0, whole, block);
        if (rest)
            encode_blocks(w, s, row + whole * block, elem + whole * block, whole, 1, rest);
        return;
    }
    scale_blocks(w, s, row, 0, 0, whole, block);
    if (rest)
        scale_blocks(w, s, row, whole, whole * block, 1, rest);
    if (k->rule == TD_RULE_SHARED) {
        put_codes(w->parts.elems, elem, s->codes, n);
        return;
    }
    if (k->rule <= TD_RULE_NEAREST && k->round >= TD_ROUND_ZERO)
        keep_small(s->scaled, row, n);
    for (size_t i = 0; i < n && k->symmetric; i++)
        s->scaled[i] = s->scaled[i] < -w->common->scaler.largest ? -w->common->scaler.largest : s->scaled[i];
    td_convert_run(&w->common->elems, w->parts.elems->data + elem * k->elem.bytes, k->zeros ? s->in : s->scaled, n,
                   elem, 1);
    if (s->any_nan)
        void_blocks(w, s, elem, n, block);
}

/* -- blocks of a strip -- */

/* What the blocks of a piece hold, added to what is known of them. */
static void scan_row(const td_block_work *w, td_strip *s, const float *row, size_t n, size_t block)
{
    const td_block_kernels *k = &w->common->scaler.kernels;
    td_block_scales *b = &s->scales;
    const size_t whole = n / block, rest = n % block;
    if (w->packing->zeros) {
        k->range(b->amax, b->min, b->max, row, whole, block);
        if (rest)
            k->range(b->amax + whole, b->min + whole, b->max + whole, row + whole * block, 1, rest);
        return;
    }
    k->amax(b->amax, row, whole, block);
    if (rest)
        k->amax(b->amax + whole, row + whole * block, 1, rest);
}

/* Super blocks, of which a strip has whole ones: codes of elements, scales and minimums as td_ggml_encode leaves them,
 * and the numbers above them into their part. */
static void encode_supers(const td_block_work *w, td_strip *s, const float *in, size_t n, uint64_t first)
{
    const td_packing *k = w->packing;
    const size_t size = (size_t)k->super_block, blocks = size / (size_t)k->block[0], numbers = k->mins ? 2 : 1;
    for (size_t at = 0, j = 0; at < n; at += size, j += blocks) {
        td_k_codes codes = {s->codes + at, s->scales.code + j, s->scales.amax + j, {0, 0}};
        td_ggml_k_encode(&w->common->scaler, in + at, &codes);
        put_codes(w->parts.global, (first + j) / blocks * numbers, codes.numbers, numbers);
    }
}

/* ggml's blocks lie along the last dimension and are smaller than a strip. */
static void pack_ggml(const td_block_work *w, td_strip *s, const td_band *b, const td_columns *c)
{
    const size_t n = (size_t)c->count, blocks = (n - 1) / (size_t)b->block + 1;
    const uint64_t first = b->first_scale + c->at / b->block, elem = td_row_at(w, b, 0) + c->at;
    const float *in = fetch(w, elem, n, s->in);
    if (w->packing->supers)
        encode_supers(w, s, in, n, first);
    else
        td_ggml_encode(w->packing, &w->common->scaler.encode, in, n, &s->scales, s->codes);
    put_codes(w->parts.scales, first, s->scales.code, blocks);
    if (w->packing->mins)
        put_codes(w->parts.zeros, first, s->scales.amax, blocks);
    put_codes(w->parts.elems, elem, s->codes, n);
}

/* Infinities and NaNs, which the kernels do not know, among what blocks hold and among scales. Rules that make powers
 * of two leave no product that is not bounded. */
static void look_at_scales(const td_block_work *w, td_strip *s, size_t blocks)
{
    const bool divides = w->common->quant.divides;
    s->any_nan = s->any_inf = s->bounded = false;
    if (w->packing->rule == TD_RULE_SHARED)
        return;
    const td_block_look look = w->common->scaler.kernels.look(s->scales.amax, s->scales.by, blocks,
                                                              divides ? 40 : 2 * w->common->scaler.largest, divides);
    s->any_nan = look.nan;
    s->any_inf = look.odd || look.nan;
    s->bounded = w->common->quant.powers || look.bounded;
}

static void put_scales(const td_block_work *w, const td_strip *s, uint64_t first, size_t blocks)
{
    const size_t bytes = w->packing->scale.bytes;
    if (w->packing->rule == TD_RULE_SHARED)
        put_codes(w->parts.scales, first, s->scales.code, blocks);
    else
        memcpy(w->parts.scales->data + first * bytes, s->scales.packed, blocks * bytes);
}

static void put_zeros(const td_block_work *w, td_strip *s, uint64_t first, size_t blocks)
{
    for (size_t j = 0; j < blocks; j++)
        s->codes[j] = (uint32_t)s->scales.zero[j]; /* codes of elements come later */
    put_codes(w->parts.zeros, first, s->codes, blocks);
}

/* Of a tensor in memory, which is not idle then while the first step goes over what is in the first cache. */
static void prefetch_first(const td_block_work *w, const float *row, size_t n)
{
    if (w->common->quant.ahead > TD_PREFETCH_BYTES)
        td_prefetch_first(row, n * sizeof *row, w->common->quant.ahead, w->common->quant.end);
}

/* map=mae and mse: the errors of all rows, of up to 16 in the order of over_six.h; of blocks of single elements in each
 * row one after another, as along a row. */
static void choose_maps(const td_block_work *w, td_strip *s, const td_band *b, const td_columns *c, size_t blocks)
{
    td_over_six o;
    const bool tree = b->rows > 1 && b->block > 1;
    td_over_six_begin(&o, &w->common->scaler, &w->common->elems, &s->scales, blocks);
    for (unsigned n = 0; n < (tree ? TD_OVER_SIX_ROWS : b->rows); n++) {
        const uint64_t r = tree ? td_over_six_row(n) : n;
        for (uint64_t done = 0; done < c->count && r < b->rows; done += c->piece) {
            const size_t size = td_piece_at(c, done);
            td_over_six_add(&o, fetch(w, td_row_at(w, b, r) + c->at + done, size, s->in), size, c->block);
        }
        if (tree)
            td_over_six_end_row(&o, blocks);
    }
    td_over_six_choose(&o, &s->scales, blocks);
}

/* Rules that make powers of two, of blocks that lie in one row: scales in the step that looks for the largest
 * magnitudes. False where that is not all there is to do. */
static bool find_powers(const td_block_work *w, td_strip *s, const td_band *b, const td_columns *c)
{
    const td_packing *k = w->packing;
    const td_scaler *scaler = &w->common->scaler;
    td_block_scales *scales = &s->scales;
    if (k->rule > TD_RULE_NEAREST || b->rows != 1 || c->count > c->piece || k->empty_is_normal)
        return false;
    const size_t n = (size_t)c->count, whole = n / c->block, rest = n % c->block;
    const float *row = fetch(w, td_row_at(w, b, 0) + c->at, n, s->in);
    prefetch_first(w, row, n);
    s->any_inf = scaler->kernels.powers(scales->packed, scales->by, row, whole, c->block, &scaler->power);
    if (rest)
        s->any_inf |= scaler->kernels.powers(scales->packed + whole, scales->by + whole, row + whole * c->block, 1,
                                             rest, &scaler->power);
    s->any_nan = s->any_inf; /* some may be */
    s->bounded = true;
    return true;
}

/* Any rule: what all rows of the blocks hold, then their scales. */
static void find_scales(const td_block_work *w, td_strip *s, const td_band *b, const td_columns *c, size_t blocks)
{
    memset(s->scales.amax, 0, blocks * sizeof s->scales.amax[0]);
    for (size_t j = 0; j < blocks && w->packing->zeros; j++) {
        s->scales.min[j] = INFINITY;
        s->scales.max[j] = -INFINITY;
    }
    for (uint64_t r = 0; r < b->rows; r++)
        for (uint64_t done = 0; done < c->count; done += c->piece) {
            const size_t n = td_piece_at(c, done);
            const float *row = fetch(w, td_row_at(w, b, r) + c->at + done, n, s->in);
            prefetch_first(w, row, n);
            scan_row(w, s, row, n, c->block);
        }
    if (w->packing->map)
        choose_maps(w, s, b, c, blocks);
    else
        td_scaler_find(&w->common->scaler, &s->scales, blocks);
    look_at_scales(w, s, blocks);
}

/* The kernels that make scales and elements at once take so many blocks together, at most. */
#define BOTH_AT_ONCE 32

/* Fewer blocks than the kernels take, the last of which may be short, by way of a scratch where others follow them. */
static bool pack_last(const td_block_work *w, td_strip *s, uint64_t elem, uint64_t first, size_t n, size_t block)
{
    const td_block_common *c = w->common;
    const size_t blocks = (n - 1) / block + 1, bytes = w->packing->scale.bytes,
                 some = blocks > BOTH_AT_ONCE / 2 || c->rule.chain ? BOTH_AT_ONCE : BOTH_AT_ONCE / 2;
    uint8_t *const codes = (uint8_t *)s->codes;
    const float *in = fetch(w, elem, n, s->in);
    if (in != s->in)
        memcpy(s->in, in, n * sizeof *in);
    for (size_t i = n; i < blocks * block; i++)
        s->in[i] = 0; /* which adds nothing */
    for (size_t i = blocks * block; i < some * block; i++)
        s->in[i] = 1; /* no scale is easier */
    if (c->kernels.both(codes, s->scales.packed, s->in, some, block, &c->rule, &c->last) < blocks)
        return false;
    memcpy(w->parts.elems->data + elem, codes, n);
    memcpy(w->parts.scales->data + first * bytes, s->scales.packed, blocks * bytes);
    return true;
}

uint64_t td_strip_pack_both(const td_block_work *w, td_strip *s, const td_band *b, uint64_t at)
{
    const td_block_common *c = w->common;
    const size_t block = (size_t)b->block, bytes = w->packing->scale.bytes;
    const bool as_it_is = !c->convert_source && (uintptr_t)w->tensor->data % sizeof(float) == 0;
    const uint64_t row = td_row_at(w, b, 0), begin = at, most = as_it_is ? UINT64_MAX : STRIP / b->block;
    uint64_t left = (b->row_elems - at) / b->block, more = 0, asked = 0;
    if (block > STRIP / BOTH_AT_ONCE || !c->kernels.has_both(block, &c->rule, &c->quant))
        return 0;
    for (; left && more == asked; at += more * b->block, left -= more) {
        const uint64_t first = b->first_scale + at / b->block;
        asked = left < most ? left : most;
        const float *in = fetch(w, row + at, (size_t)(asked * b->block), s->in);
        more = c->kernels.both(w->parts.elems->data + row + at, w->parts.scales->data + first * bytes, in,
                               (size_t)asked, block, &c->rule, &c->quant);
    }
    const uint64_t rest = b->row_elems - at;
    if (at > begin && rest && rest <= (BOTH_AT_ONCE - 1) * b->block &&
        pack_last(w, s, row + at, b->first_scale + at / b->block, (size_t)rest, block))
        at += rest;
    return at - begin;
}

void td_strip_pack(const td_block_work *w, td_strip *s, const td_band *b, const td_columns *c)
{
    const size_t blocks = (size_t)((c->count - 1) / b->block) + 1;
    const uint64_t first = b->first_scale + c->at / b->block;
    if (w->packing->rule == TD_RULE_GGML) {
        pack_ggml(w, s, b, c);
        return;
    }
    if (!find_powers(w, s, b, c))
        find_scales(w, s, b, c, blocks);
    put_scales(w, s, first, blocks);
    if (w->packing->zeros)
        put_zeros(w, s, first, blocks);
    for (uint64_t r = 0; r < b->rows; r++)
        for (uint64_t done = 0; done < c->count; done += c->piece) {
            const uint64_t elem = td_row_at(w, b, r) + c->at + done;
            const size_t n = td_piece_at(c, done);
            encode_row(w, s, fetch(w, elem, n, s->in), elem, n, c->block);
        }
}
