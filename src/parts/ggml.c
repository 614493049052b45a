/* See ggml.h. Everything is in f32 in the reference's order of operations, which decides about the last bit. */
#include "parts/ggml.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INF_BITS 0x7f800000U
#define MAN_BITS 23

static uint32_t to_bits(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void td_ggml_forms(const td_packing *packing, const td_shape *blocks, td_part_form *forms)
{
    if (packing->mins)
        forms[2] = (td_part_form){"mins", packing->min, *blocks};
    if (!packing->supers)
        return;
    forms[3] = (td_part_form){"supers", packing->super, *blocks};
    td_shape *shape = &forms[3].shape;
    shape->dim[shape->rank - 1] /= packing->super_block / packing->block[0];
    if (packing->mins && shape->rank < TD_MAX_RANK)
        shape->dim[shape->rank++] = 2; /* d, dmin */
}

/* -- what a block holds -- */

typedef struct span {
    float amax, signed_max, min, max;
    bool finite;
} span;

/* The first of several that have the largest magnitude gives its sign. A NaN is larger than nothing. */
static span look(const float *x, size_t n)
{
    span s = {.min = FLT_MAX, .max = -FLT_MAX, .finite = true};
    for (size_t i = 0; i < n; i++) {
        const float magnitude = fabsf(x[i]);
        s.finite &= isfinite(x[i]) != 0;
        if (s.amax < magnitude) {
            s.amax = magnitude;
            s.signed_max = x[i];
        }
        s.min = x[i] < s.min ? x[i] : s.min;
        s.max = x[i] > s.max ? x[i] : s.max;
    }
    return s;
}

/* -- integers -- */

static float inverse_of(float d)
{
    const float inverse = d != 0 ? 1 / d : 0;
    return isfinite(inverse) ? inverse : 0;
}

/* What is negative before the fraction is cut off would be cut towards 0 by C; no value of a block gets there. */
static uint32_t cut(float value, uint32_t top)
{
    const uint32_t code = value > 0 ? (uint32_t)value : 0;
    return code < top ? code : top;
}

static void encode_ints(const td_packing *k, const float *x, size_t n, float d, float min, uint32_t *codes)
{
    const uint32_t top = (1U << k->elem.bits) - 1, middle = 1U << (k->elem.bits - 1);
    const float by = inverse_of(d), shift = (float)middle + 0.5F;
    for (size_t i = 0; i < n; i++)
        if (k->mins)
            codes[i] = cut((x[i] - min) * by + 0.5F, top);
        else if (k->elem.bits < 8)
            codes[i] = cut(x[i] * by + shift, top) - middle;
        else
            codes[i] = (uint32_t)(int32_t)roundf(x[i] * by);
}

static float quotient_of(const td_packing *k, const span *s)
{
    if (!s->finite)
        return NAN;
    if (k->mins)
        return (s->max - s->min) / (float)((1U << k->elem.bits) - 1);
    if (k->elem.bits < 8)
        return s->signed_max / -(float)(1U << (k->elem.bits - 1));
    return s->amax / 127;
}

/* -- e2m1 -- */

/* floor(log2 amax) where the logarithm is rounded to f32 first, which takes it up to the next whole number N for the
 * last few values below 2^N. The f32 below N lies 2^(j-23) under it, with 2^j the power of two at or below its
 * magnitude, and the k-th value below 2^N has the logarithm N - k * 2^-24 / ln 2: it is rounded up while
 * k < 2^j * ln 2. */
static int floor_log2(float amax)
{
    static const uint32_t most[] = {0, 1, 2, 5, 11, 22, 44}; /* of j: floor(2^j * ln 2) */
    int exponent = 0, j = 0;
    frexpf(amax, &exponent); /* amax < 2^exponent */
    const uint32_t below = (1U << MAN_BITS) - (to_bits(amax) & ((1U << MAN_BITS) - 1));
    const int n = exponent > 0 ? exponent - 1 : -exponent;
    while (j < 6 && n >> (j + 1))
        j++;
    const bool normal = to_bits(amax) >> MAN_BITS != 0;
    return exponent - (normal && n > 0 && below <= most[j] ? 0 : 1);
}

static uint32_t e8m0_of(float amax)
{
    const int code = amax > 0 ? floor_log2(amax) - 2 + 127 : 0;
    return code > 0 ? (uint32_t)code : 0;
}

/* Exponent 15 is not used, but for the code of 448. */
static uint32_t ue4m3_of(float value)
{
    if (!(value > 0))
        return 0;
    const float x = value > 448 ? 448 : value;
    const uint32_t bits = to_bits(x);
    const int exponent = (int)(bits >> MAN_BITS) - 127 + 7;
    if (exponent <= 0)
        return cut(x * 512 + 0.5F, 7);
    const uint32_t code = ((uint32_t)exponent << 3 | (bits >> 20 & 7)) + (bits >> 19 & 1);
    return code >> 3 >= 15 ? 0x7e : code;
}

static float ue4m3_value(uint32_t code)
{
    const int exponent = (int)(code >> 3 & 15), man = (int)(code & 7);
    if (code == 0x7f)
        return 0;
    return exponent ? ldexpf((float)(8 + man), exponent - 10) : ldexpf((float)man, -9);
}

/* The nearest magnitude; of two that are as near the smaller. `half` is half of the scale. */
static uint32_t nearest(float x, float half)
{
    static const float doubled[] = {0, 1, 2, 3, 4, 6, 8, 12};
    uint32_t best = 0;
    float least = fabsf(x);
    for (uint32_t i = 1; i < 8; i++) {
        const float error = fabsf(doubled[i] * half - fabsf(x));
        if (error < least) {
            least = error;
            best = i;
        }
    }
    return best && signbit(x) ? best | 8 : best;
}

static uint32_t encode_floats(bool is_e8m0, const float *x, size_t n, const span *s, uint32_t *codes)
{
    const bool is_void = is_e8m0 && !s->finite;
    const uint32_t scale = is_void ? 0xff : is_e8m0 ? e8m0_of(s->amax) : ue4m3_of(s->amax / 6);
    const float half = is_void ? 0 : is_e8m0 ? ldexpf(1, (int)scale - 128) : ue4m3_value(scale) / 2;
    for (size_t i = 0; i < n; i++)
        codes[i] = isfinite(x[i]) ? nearest(x[i], half) : 0;
    return scale;
}

/* -- strips -- */

/* f32 to the dtype of scales. */
static void convert(const td_convert *encode, const float *in, size_t blocks, uint32_t *codes)
{
    unsigned char bytes[4 * TD_STRIP];
    td_convert_run(encode, bytes, in, blocks, 0, 1);
    for (size_t j = 0; j < blocks; j++) {
        codes[j] = 0;
        memcpy(&codes[j], bytes + j * encode->dst.bytes, encode->dst.bytes);
    }
}

void td_ggml_encode(const td_packing *packing, const td_convert *encode, const float *in, size_t n, td_block_scales *b,
                    uint32_t *codes)
{
    const size_t block = (size_t)packing->block[0];
    const bool ints = packing->elem.kind != TD_KIND_FLOAT, is_e8m0 = packing->scale.flavor == TD_FLAVOR_SCALE;
    for (size_t at = 0, j = 0; at < n; at += block, j++) {
        const size_t count = n - at < block ? n - at : block;
        const span s = look(in + at, count);
        if (!ints) {
            b->code[j] = encode_floats(is_e8m0, in + at, count, &s, codes + at);
            continue;
        }
        b->exact[j] = quotient_of(packing, &s);
        b->min[j] = s.finite ? s.min : NAN;
        if (s.finite)
            encode_ints(packing, in + at, count, b->exact[j], s.min, codes + at);
        else
            memset(codes + at, 0, count * sizeof *codes);
    }
    if (ints)
        convert(encode, b->exact, (n - 1) / block + 1, b->code);
    if (packing->mins)
        convert(encode, b->min, (n - 1) / block + 1, b->amax);
}

/* -- back -- */

/* Element `at` of a part as a number. */
static float value_of(const td_tensor *part, uint64_t at)
{
    uint64_t bits = 0;
    memcpy(&bits, part->data + at * part->dtype.bytes, part->dtype.bytes);
    return (float)td_dtype_to_real(part->dtype, bits & td_dtype_mask(part->dtype));
}

void td_ggml_decode(const td_packing *packing, const td_block_parts *parts, uint64_t first, size_t blocks,
                    td_block_scales *b)
{
    const bool is_ue4m3 = packing->elem.kind == TD_KIND_FLOAT && packing->scale.flavor != TD_FLAVOR_SCALE;
    const uint64_t share = packing->supers ? packing->super_block / packing->block[0] : 1, step = packing->mins ? 2 : 1;
    for (size_t j = 0; j < blocks; j++) {
        const uint64_t at = first + j, super = at / share * step;
        if (is_ue4m3)
            b->by[j] = ue4m3_value(b->code[j]);
        if (packing->supers)
            b->by[j] *= value_of(parts->global, super);
        if (!packing->mins)
            continue;
        b->min[j] = value_of(parts->zeros, at);
        if (packing->supers)
            b->min[j] = -(b->min[j] * value_of(parts->global, super + 1));
    }
}

void td_ggml_add_mins(float *values, const float *mins, size_t n, size_t block)
{
    for (size_t i = 0; i < n; i += block)
        for (size_t e = i; e < n && e < i + block; e++)
            values[e] += mins[i / block];
}
