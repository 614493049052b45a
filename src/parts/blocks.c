/* See blocks.h. The tensor is cut into bands: all rows along the last dimension that share their scales. A band is read
 * in strips of whole blocks that stay in the first-level cache: once for the largest magnitudes, then, with the scales
 * known, once more for the elements. Bands are independent, so threads share them. */
#include "parts/blocks.h"

#include "base/caches.h"
#include "base/cpu.h"
#include "base/fp_mode.h"
#include "base/pool.h"
#include "kernels/move.h"
#include "parts/elem_codes.h"
#include "parts/ggml.h"
#include "parts/ggml_k.h"
#include "parts/over_six.h"
#include "parts/scale.h"
#include "values/convert.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define STRIP TD_STRIP      /* elements, and blocks, of a strip */
#define JOINED (16 * STRIP) /* elements of rows that are worked on as one */

typedef struct work {
    const td_packing *packing;
    td_shape shape, block, count;
    const td_tensor *tensor; /* what is packed */
    td_tensor *unpacked;
    td_block_parts parts;
    td_scaler scaler;
    td_convert source, elems; /* of the tensor to f32; of elements from f32, or to it */
    bool convert_source;      /* the tensor is no f32 */
    bool by_kernel;           /* elements go by the kernels of kernels/quant.h, in one step */
    td_quant quant;
    td_quant_kernels kernels;
    uint64_t bands;
    unsigned pieces;
} work;

/* Where the rows of a band begin: `rows` of them, each `row_elems` long. */
typedef struct band {
    uint64_t first_scale; /* its number */
    td_shape start, extent;
    uint64_t rows, row_elems, block, unit; /* a strip has whole units: blocks, or super blocks */
} band;

/* What a strip holds while it is worked on. */
typedef struct strip {
    float in[STRIP], scaled[STRIP];
    uint32_t codes[STRIP];
    td_block_scales scales;
    bool any_nan; /* among the scales */
    bool any_inf; /* among the values, or a NaN */
    bool bounded; /* as kernels/quant.h says */
} strip;

#define INF_BITS 0x7f800000U

static const td_dtype dtype_f32 = {TD_KIND_FLOAT, 32, 8, 4, 23, TD_FLAVOR_IEEE, 0, 0};

/* -- geometry -- */

static band band_at(const work *w, uint64_t number)
{
    const size_t last = w->shape.rank - 1;
    band b = {.first_scale = number * w->count.dim[last],
              .rows = 1,
              .row_elems = w->shape.dim[last],
              .block = w->block.dim[last],
              .unit = w->block.dim[last]};
    if (w->packing->supers && w->packing->super_block <= STRIP)
        b.unit = w->packing->super_block;
    for (size_t d = last; d-- > 0; number /= w->count.dim[d]) {
        b.start.dim[d] = number % w->count.dim[d] * w->block.dim[d];
        const uint64_t left = w->shape.dim[d] - b.start.dim[d];
        b.extent.dim[d] = left < w->block.dim[d] ? left : w->block.dim[d];
        b.rows *= b.extent.dim[d];
    }
    return b;
}

/* The number of the first element of a row. */
static uint64_t row_at(const work *w, const band *b, uint64_t row)
{
    uint64_t elem = 0, stride = b->row_elems;
    for (size_t d = w->shape.rank - 1; d-- > 0;) {
        elem += (b->start.dim[d] + row % b->extent.dim[d]) * stride;
        row /= b->extent.dim[d];
        stride *= w->shape.dim[d];
    }
    return elem;
}

/* -- one strip of one row -- */

/* `n` values of the tensor from element `elem` on, as f32. */
static const float *fetch(const work *w, uint64_t elem, size_t n, float *scratch)
{
    const unsigned char *src = w->tensor->data + elem * w->tensor->dtype.bytes;
    if (w->convert_source)
        td_convert_run(&w->source, scratch, src, n, elem, 1);
    else if ((uintptr_t)src % sizeof(float))
        memcpy(scratch, src, n * sizeof(float)); /* mapped files begin anywhere */
    else
        return (const float *)(const void *)src;
    return scratch;
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

static void get_codes(const td_tensor *t, uint64_t elem, uint32_t *codes, size_t n)
{
    const unsigned char *src = t->data + elem * t->dtype.bytes;
    const uint32_t own = (uint32_t)td_dtype_mask(t->dtype);
    switch (t->dtype.bytes) {
    case 1:
        for (size_t i = 0; i < n; i++)
            codes[i] = src[i] & own;
        break;
    case 2:
        for (size_t i = 0; i < n; i++) {
            uint16_t code = 0;
            memcpy(&code, src + 2 * i, sizeof code);
            codes[i] = code & own;
        }
        break;
    default:
        memcpy(codes, src, n * sizeof *codes);
        for (size_t i = 0; i < n; i++)
            codes[i] &= own;
    }
}

/* Blocks whose scale is NaN: what their elements hold is fixed, so that equal tensors have equal parts. */
static void void_blocks(const work *w, const strip *s, uint64_t elem, size_t n, size_t block)
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
static void scale_blocks(const work *w, strip *s, const float *row, size_t first, size_t at, size_t blocks, size_t size)
{
    const td_packing *k = w->packing;
    const td_block_kernels *kernels = &w->scaler.kernels;
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
static void encode_blocks(const work *w, const strip *s, const float *row, uint64_t elem, size_t first, size_t blocks,
                          size_t size)
{
    const td_packing *k = w->packing;
    unsigned char *dst = w->parts.elems->data + elem;
    if (k->elem.kind == TD_KIND_FLOAT)
        w->kernels.floats(dst, row, s->scales.by + first, blocks, size, &w->quant, s->bounded);
    else
        w->kernels.ints(dst, row, s->scales.by + first, k->zeros ? s->scales.zero + first : NULL, blocks, size,
                        &w->quant, s->bounded);
}

static void encode_row(const work *w, strip *s, const float *row, uint64_t elem, size_t n, size_t block)
{
    const td_packing *k = w->packing;
    const size_t whole = n / block, rest = n % block;
    if (w->by_kernel && !s->any_inf) {
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
        s->scaled[i] = s->scaled[i] < -w->scaler.largest ? -w->scaler.largest : s->scaled[i];
    td_convert_run(&w->elems, w->parts.elems->data + elem * k->elem.bytes, k->zeros ? s->in : s->scaled, n, elem, 1);
    if (s->any_nan)
        void_blocks(w, s, elem, n, block);
}

/* -- a band -- */

/* Columns of a row that are worked on at once: whole blocks, or one block in pieces where it is larger than a strip. */
typedef struct columns {
    uint64_t at, count;
    size_t piece, block; /* elements of a piece, and of a block within it */
} columns;

static columns columns_at(const band *b, uint64_t at)
{
    const bool large = b->block > STRIP;
    const uint64_t most = large ? b->block : STRIP / b->unit * b->unit, left = b->row_elems - at;
    columns c = {.at = at, .count = left < most ? left : most, .piece = STRIP};
    c.block = large ? STRIP : (size_t)b->block;
    return c;
}

static size_t piece_at(const columns *c, uint64_t done)
{
    return c->count - done < c->piece ? (size_t)(c->count - done) : c->piece;
}

/* What the blocks of a piece hold, added to what is known of them. */
static void scan_row(const work *w, strip *s, const float *row, size_t n, size_t block)
{
    const td_block_kernels *k = &w->scaler.kernels;
    td_block_scales *b = &s->scales;
    const size_t whole = n / block, rest = n % block;
    k->amax(b->amax, row, whole, block);
    if (rest)
        k->amax(b->amax + whole, row + whole * block, 1, rest);
    if (!w->packing->zeros)
        return;
    k->range(b->min, b->max, row, whole, block);
    if (rest)
        k->range(b->min + whole, b->max + whole, row + whole * block, 1, rest);
}

/* Super blocks, of which a strip has whole ones: codes of elements, scales and minimums as td_ggml_encode leaves them,
 * and the numbers above them into their part. */
static void encode_supers(const work *w, strip *s, const float *in, size_t n, uint64_t first)
{
    const td_packing *k = w->packing;
    const size_t size = (size_t)k->super_block, blocks = size / (size_t)k->block[0], numbers = k->mins ? 2 : 1;
    for (size_t at = 0, j = 0; at < n; at += size, j += blocks) {
        td_k_codes codes = {s->codes + at, s->scales.code + j, s->scales.amax + j, {0, 0}};
        td_ggml_k_encode(&w->scaler, in + at, &codes);
        put_codes(w->parts.global, (first + j) / blocks * numbers, codes.numbers, numbers);
    }
}

/* ggml's blocks lie along the last dimension and are smaller than a strip. */
static void pack_ggml(const work *w, strip *s, const band *b, const columns *c)
{
    const size_t n = (size_t)c->count, blocks = (n - 1) / (size_t)b->block + 1;
    const uint64_t first = b->first_scale + c->at / b->block, elem = row_at(w, b, 0) + c->at;
    const float *in = fetch(w, elem, n, s->in);
    if (w->packing->supers)
        encode_supers(w, s, in, n, first);
    else
        td_ggml_encode(w->packing, &w->scaler.encode, in, n, &s->scales, s->codes);
    put_codes(w->parts.scales, first, s->scales.code, blocks);
    if (w->packing->mins)
        put_codes(w->parts.zeros, first, s->scales.amax, blocks);
    put_codes(w->parts.elems, elem, s->codes, n);
}

/* Rules that make powers of two leave no product that is not. */
static bool is_bounded(const work *w, const strip *s, size_t blocks)
{
    const bool divides = w->quant.divides;
    const float most = divides ? 60 : 2 * w->scaler.largest;
    unsigned past = 0;
    for (size_t j = 0; j < blocks; j++) {
        float amax = 0;
        memcpy(&amax, &s->scales.amax[j], sizeof amax);
        past |= !(divides ? amax <= s->scales.by[j] * most : amax * s->scales.by[j] < most);
    }
    return !past;
}

/* Infinities and NaNs, which the kernels do not know, among what blocks hold and among scales. */
static void look_at_scales(const work *w, strip *s, size_t blocks)
{
    uint32_t most = 0, most_by = 0;
    for (size_t j = 0; j < blocks; j++)
        most = s->scales.amax[j] > most ? s->scales.amax[j] : most;
    if (w->packing->rule != TD_RULE_SHARED)
        w->scaler.kernels.amax(&most_by, s->scales.by, 1, blocks);
    s->any_nan = most_by > INF_BITS;
    s->any_inf = most >= INF_BITS || s->any_nan;
    s->bounded = w->quant.powers || is_bounded(w, s, blocks);
}

static void put_scales(const work *w, const strip *s, uint64_t first, size_t blocks)
{
    const size_t bytes = w->packing->scale.bytes;
    if (w->packing->rule == TD_RULE_SHARED)
        put_codes(w->parts.scales, first, s->scales.code, blocks);
    else
        memcpy(w->parts.scales->data + first * bytes, s->scales.packed, blocks * bytes);
}

/* map=mae and mse: the errors of all rows, of up to 16 in the order of over_six.h; of blocks of single elements in each
 * row one after another, as along a row. */
static void choose_maps(const work *w, strip *s, const band *b, const columns *c, size_t blocks)
{
    td_over_six o;
    const bool tree = b->rows > 1 && b->block > 1;
    td_over_six_begin(&o, &w->scaler, &w->elems, &s->scales, blocks);
    for (unsigned n = 0; n < (tree ? TD_OVER_SIX_ROWS : b->rows); n++) {
        const uint64_t r = tree ? td_over_six_row(n) : n;
        for (uint64_t done = 0; done < c->count && r < b->rows; done += c->piece) {
            const size_t size = piece_at(c, done);
            td_over_six_add(&o, fetch(w, row_at(w, b, r) + c->at + done, size, s->in), size, c->block);
        }
        if (tree)
            td_over_six_end_row(&o, blocks);
    }
    td_over_six_choose(&o, &s->scales, blocks);
}

static void pack_columns(const work *w, strip *s, const band *b, const columns *c)
{
    const size_t blocks = (size_t)((c->count - 1) / b->block) + 1;
    const uint64_t first = b->first_scale + c->at / b->block;
    if (w->packing->rule == TD_RULE_GGML) {
        pack_ggml(w, s, b, c);
        return;
    }
    memset(s->scales.amax, 0, blocks * sizeof s->scales.amax[0]);
    for (size_t j = 0; j < blocks && w->packing->zeros; j++) {
        s->scales.min[j] = INFINITY;
        s->scales.max[j] = -INFINITY;
    }
    for (uint64_t r = 0; r < b->rows; r++)
        for (uint64_t done = 0; done < c->count; done += c->piece) {
            const size_t n = piece_at(c, done);
            scan_row(w, s, fetch(w, row_at(w, b, r) + c->at + done, n, s->in), n, c->block);
        }
    if (w->packing->map)
        choose_maps(w, s, b, c, blocks);
    else
        td_scaler_find(&w->scaler, &s->scales, blocks);
    look_at_scales(w, s, blocks);
    put_scales(w, s, first, blocks);
    for (size_t j = 0; j < blocks && w->packing->zeros; j++) {
        const uint32_t zero = (uint32_t)s->scales.zero[j];
        put_codes(w->parts.zeros, first + j, &zero, 1);
    }
    for (uint64_t r = 0; r < b->rows; r++)
        for (uint64_t done = 0; done < c->count; done += c->piece) {
            const uint64_t elem = row_at(w, b, r) + c->at + done;
            const size_t n = piece_at(c, done);
            encode_row(w, s, fetch(w, elem, n, s->in), elem, n, c->block);
        }
}

static void read_scales(const work *w, strip *s, uint64_t first, size_t blocks)
{
    const td_tensor *scales = w->parts.scales;
    get_codes(scales, first, s->scales.code, blocks);
    if (w->packing->rule != TD_RULE_SHARED)
        td_convert_run(&w->scaler.decode, s->scales.by, scales->data + first * scales->dtype.bytes, blocks, 0, 1);
    /* The leading 1 of a magnitude is worth 2^(exponent - 127). 2^128 is no f32, and a magnitude of 0 has to stay 0. */
    for (size_t j = 0; j < blocks && w->packing->rule == TD_RULE_SHARED; j++)
        s->scales.by[j] = fminf(ldexpf(1, (int)s->scales.code[j] - 125 - w->packing->elem.bits), FLT_MAX);
    if (w->packing->rule == TD_RULE_GGML)
        td_ggml_decode(w->packing, &w->parts, first, blocks, &s->scales);
    if (w->packing->zeros)
        get_codes(w->parts.zeros, first, s->scales.amax, blocks);
    for (size_t j = 0; j < blocks && w->packing->zeros; j++)
        s->scales.zero[j] = (float)s->scales.amax[j];
}

/* Signs and magnitudes as numbers. */
static void shared_values(float *out, const uint32_t *codes, size_t n, unsigned bits)
{
    const uint32_t sign = 1U << (bits - 1);
    for (size_t i = 0; i < n; i++) {
        const float magnitude = (float)(int32_t)(codes[i] & (sign - 1));
        out[i] = (codes[i] & sign) ? -magnitude : magnitude;
    }
}

/* `n` elements from number `elem` on as values. */
static void decode_row(const work *w, strip *s, uint64_t elem, size_t n, size_t block, float *out)
{
    const td_packing *k = w->packing;
    const size_t whole = n / block, rest = n % block;
    if (w->by_kernel) {
        const uint8_t *codes = w->parts.elems->data + elem;
        const float *zero = k->zeros ? s->scales.zero : NULL;
        w->kernels.values(out, codes, s->scales.by, zero, whole, block, &w->quant);
        if (rest)
            w->kernels.values(out + whole * block, codes + whole * block, s->scales.by + whole,
                              zero ? zero + whole : NULL, 1, rest, &w->quant);
        if (k->mins)
            td_ggml_add_mins(out, s->scales.min, n, block);
        return;
    }
    if (k->rule == TD_RULE_SHARED) {
        get_codes(w->parts.elems, elem, s->codes, n);
        shared_values(s->in, s->codes, n, k->elem.bits);
    } else {
        td_convert_run(&w->elems, s->in, w->parts.elems->data + elem * k->elem.bytes, n, elem, 1);
        for (size_t i = 0; i < n && k->zeros; i += block)
            for (size_t e = i; e < n && e < i + block; e++)
                s->in[e] -= s->scales.zero[i / block];
    }
    w->scaler.kernels.mul(out, s->in, s->scales.by, whole, block);
    if (rest)
        w->scaler.kernels.mul(out + whole * block, s->in + whole * block, s->scales.by + whole, 1, rest);
    for (size_t i = 0; i < n && k->global != TD_GLOBAL_NONE; i++)
        out[i] *= w->scaler.tensor_scale;
    if (k->mins)
        td_ggml_add_mins(out, s->scales.min, n, block);
}

static void unpack_columns(const work *w, strip *s, const band *b, const columns *c)
{
    const td_dtype t = w->unpacked->dtype;
    read_scales(w, s, b->first_scale + c->at / b->block, (size_t)((c->count - 1) / b->block) + 1);
    for (uint64_t r = 0; r < b->rows; r++)
        for (uint64_t done = 0; done < c->count; done += c->piece) {
            const uint64_t elem = row_at(w, b, r) + c->at + done;
            const size_t n = piece_at(c, done);
            unsigned char *dst = w->unpacked->data + elem * t.bytes;
            decode_row(w, s, elem, n, c->block, w->convert_source ? s->scaled : (float *)(void *)dst);
            if (w->convert_source)
                td_convert_run(&w->source, dst, s->scaled, n, elem, 1);
        }
}

static void run_bands(void *context, unsigned begin, unsigned end)
{
    const work *w = context;
    strip s;
    const unsigned mode = td_mode_enter();
    for (uint64_t i = w->bands * begin / w->pieces; i < w->bands * end / w->pieces; i++) {
        const band b = band_at(w, i);
        for (uint64_t at = 0; at < b.row_elems;) {
            const columns c = columns_at(&b, at);
            if (w->tensor)
                pack_columns(w, &s, &b, &c);
            else
                unpack_columns(w, &s, &b, &c);
            at += c.count;
        }
    }
    if (w->quant.stream)
        td_move_fence();
    td_mode_leave(mode);
}

/* -- the whole tensor -- */

/* A conversion without a scale, which cannot be refused. */
static void bind(td_dtype memory, td_dtype tensor, uint8_t round, td_direction direction, td_convert *out)
{
    const td_as as = {.dtype = memory, .round = round, .scale_f32 = 1, .scale_f64 = 1};
    (void)td_convert_bind(&as, tensor, direction, NULL, out);
}

/* Where blocks lie along the last dimension and fill it, several rows are one: a strip then is full. */
static void join_rows(work *w)
{
    const size_t rank = w->shape.rank;
    if (rank < 2 || w->shape.dim[rank - 1] % w->block.dim[rank - 1])
        return;
    uint64_t rows = 1, elems = w->shape.dim[rank - 1];
    for (size_t d = 0; d + 1 < rank; d++) {
        if (w->block.dim[d] != 1)
            return;
        rows *= w->shape.dim[d];
    }
    for (; rows % 2 == 0 && elems < JOINED; rows /= 2)
        elems *= 2;
    const uint64_t size = w->block.dim[rank - 1];
    w->shape = (td_shape){.rank = 2, .dim = {rows, elems}};
    w->block = (td_shape){.rank = 2, .dim = {1, size}};
}

static void run(work *w, const td_packing *packing, const td_shape *block, const td_tensor *whole)
{
    w->packing = packing;
    w->shape = whole->shape;
    w->block = *block;
    join_rows(w);
    w->count = td_blocks_count(&w->shape, &w->block);
    w->convert_source = !td_dtype_equal(whole->dtype, dtype_f32);
    w->bands = 1;
    for (size_t d = 0; d + 1 < w->shape.rank; d++)
        w->bands *= w->count.dim[d];
    w->pieces = td_pool_parts(whole->elems * whole->dtype.bytes, w->bands);
    td_pool_run(w->pieces, run_bands, w);
}

static void read_f32(work *w, const td_tensor *tensor)
{
    w->tensor = tensor;
    w->convert_source = !td_dtype_equal(tensor->dtype, dtype_f32);
    bind(dtype_f32, tensor->dtype, TD_ROUND_EVEN, TD_TO_MEMORY, &w->source);
}

static uint32_t amax_of(const work *w)
{
    float scratch[STRIP];
    uint32_t amax = 0;
    for (uint64_t at = 0; at < w->tensor->elems; at += STRIP) {
        const uint64_t left = w->tensor->elems - at;
        const size_t n = left < STRIP ? (size_t)left : STRIP;
        w->scaler.kernels.amax(&amax, fetch(w, at, n, scratch), 1, n);
    }
    return amax;
}

uint32_t td_blocks_amax(const td_tensor *tensor)
{
    work w = {0};
    const unsigned mode = td_mode_enter();
    read_f32(&w, tensor);
    td_block_init(&w.scaler.kernels, td_cpu_flags());
    const uint32_t amax = amax_of(&w);
    td_mode_leave(mode);
    return amax;
}

void td_blocks_pack(const td_packing *packing, const td_shape *block, const td_tensor *tensor,
                    const td_block_parts *out)
{
    work w = {.parts = *out};
    const unsigned mode = td_mode_enter();
    read_f32(&w, tensor);
    bind(packing->elem, dtype_f32, packing->round, TD_TO_MEMORY, &w.elems);
    w.by_kernel = td_codes_find(packing, false, &w.quant);
    td_quant_init(&w.kernels, td_cpu_flags());
    td_block_init(&w.scaler.kernels, td_cpu_flags());
    const bool finds = packing->global == TD_GLOBAL_AMAX && !out->amax;
    td_scaler_make(packing, out->amax ? *out->amax : finds ? amax_of(&w) : 0, &w.scaler);
    if (out->global && packing->global != TD_GLOBAL_NONE)
        memcpy(out->global->data, &w.scaler.tensor_scale, sizeof w.scaler.tensor_scale);
    run(&w, packing, block, tensor);
    td_mode_leave(mode);
}

void td_blocks_unpack(const td_packing *packing, const td_shape *block, const td_block_parts *parts, td_tensor *out)
{
    work w = {.unpacked = out, .parts = *parts};
    bind(packing->elem, dtype_f32, TD_ROUND_EVEN, TD_TO_TENSOR, &w.elems);
    bind(out->dtype, dtype_f32, TD_ROUND_EVEN, TD_TO_MEMORY, &w.source);
    td_scaler_make_back(packing, &w.scaler);
    if (packing->global != TD_GLOBAL_NONE)
        memcpy(&w.scaler.tensor_scale, parts->global->data, sizeof w.scaler.tensor_scale);
    w.by_kernel = td_codes_find(packing, true, &w.quant);
    if (w.by_kernel) {
        td_quant_init(&w.kernels, td_cpu_flags());
        td_codes_values(&w.elems, &w.quant);
        w.quant.extra = packing->global != TD_GLOBAL_NONE ? w.scaler.tensor_scale : 1;
        w.quant.stream = !w.convert_source && out->elems * sizeof(float) >= td_caches_find().last_bytes;
    }
    run(&w, packing, block, out);
}
