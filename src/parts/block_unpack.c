/* A strip from parts to values (block_strip.h). blocks.c calls it. */
#include "parts/block_strip.h"
#include "parts/ggml.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

/* Scales to numbers: bytes in vectors, as one block that is multiplied by 1. */
static void decode_scales(const td_block_work *w, td_strip *s, uint64_t first, size_t blocks)
{
    const td_tensor *scales = w->parts.scales;
    const unsigned char *codes = scales->data + first * scales->dtype.bytes;
    const size_t whole = blocks / 64 * 64;
    const float one = 1;
    if (!w->common->scales_by_kernel) {
        td_convert_run(&w->common->scaler.decode, s->scales.by, codes, blocks, 0, 1);
        return;
    }
    if (whole)
        w->common->kernels.values(s->scales.by, codes, &one, NULL, 1, whole, &w->common->scales);
    if (whole < blocks)
        w->common->kernels.values(s->scales.by + whole, codes + whole, &one, NULL, 1, blocks - whole,
                                  &w->common->scales);
}

static void read_scales(const td_block_work *w, td_strip *s, uint64_t first, size_t blocks)
{
    if (w->packing->rule == TD_RULE_SHARED || w->packing->rule == TD_RULE_GGML)
        get_codes(w->parts.scales, first, s->scales.code, blocks);
    if (w->packing->rule != TD_RULE_SHARED)
        decode_scales(w, s, first, blocks);
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
static void decode_row(const td_block_work *w, td_strip *s, uint64_t elem, size_t n, size_t block, float *out)
{
    const td_packing *k = w->packing;
    const size_t whole = n / block, rest = n % block;
    if (w->common->by_kernel) {
        const uint8_t *codes = w->parts.elems->data + elem;
        const float *zero = k->zeros ? s->scales.zero : NULL;
        w->common->kernels.values(out, codes, s->scales.by, zero, whole, block, &w->common->quant);
        if (rest)
            w->common->kernels.values(out + whole * block, codes + whole * block, s->scales.by + whole,
                                      zero ? zero + whole : NULL, 1, rest, &w->common->quant);
        if (k->mins)
            td_ggml_add_mins(out, s->scales.min, n, block);
        return;
    }
    if (k->rule == TD_RULE_SHARED) {
        get_codes(w->parts.elems, elem, s->codes, n);
        shared_values(s->in, s->codes, n, k->elem.bits);
    } else {
        td_convert_run(&w->common->elems, s->in, w->parts.elems->data + elem * k->elem.bytes, n, elem, 1);
        for (size_t i = 0; i < n && k->zeros; i += block)
            for (size_t e = i; e < n && e < i + block; e++)
                s->in[e] -= s->scales.zero[i / block];
    }
    w->common->scaler.kernels.mul(out, s->in, s->scales.by, whole, block);
    if (rest)
        w->common->scaler.kernels.mul(out + whole * block, s->in + whole * block, s->scales.by + whole, 1, rest);
    for (size_t i = 0; i < n && k->global != TD_GLOBAL_NONE; i++)
        out[i] *= w->common->scaler.tensor_scale;
    if (k->mins)
        td_ggml_add_mins(out, s->scales.min, n, block);
}

void td_strip_unpack(const td_block_work *w, td_strip *s, const td_band *b, const td_columns *c)
{
    const td_dtype t = w->unpacked->dtype;
    read_scales(w, s, b->first_scale + c->at / b->block, (size_t)((c->count - 1) / b->block) + 1);
    for (uint64_t r = 0; r < b->rows; r++)
        for (uint64_t done = 0; done < c->count; done += c->piece) {
            const uint64_t elem = td_row_at(w, b, r) + c->at + done;
            const size_t n = td_piece_at(c, done);
            unsigned char *dst = w->unpacked->data + elem * t.bytes;
            decode_row(w, s, elem, n, c->block, w->common->convert_source ? s->scaled : (float *)(void *)dst);
            if (w->common->convert_source)
                td_convert_run(&w->common->source, dst, s->scaled, n, elem, 1);
        }
}
