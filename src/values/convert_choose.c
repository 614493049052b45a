/* Which way a conversion takes, and the parameters of its kernels. Decided once for every td_convert, from the two
 * types, the scale and the rounding; convert.c chooses again only where scales change along an axis. */
#include "values/convert_choose.h"

#include "base/cpu.h"

#include <math.h>
#include <string.h>

static const td_dtype dtype_f32 = {TD_KIND_FLOAT, 32, 8, 4, 23, TD_FLAVOR_IEEE, 0, 0};

/* Without a branch in the loops: an axis has thousands of scales, and they are looked at in every call. */
bool td_convert_scales_within(const td_convert *c, double low, double high)
{
    const uint64_t count = c->axis.scale ? c->axis.extent : 0;
    const double *scale = c->axis.scale;
    uint64_t outside = 0;
    if (!count)
        return fabs(c->scale) >= low && fabs(c->scale) <= high;
    if (c->work_bits == 64) {
        for (uint64_t k = 0; k < count; k++)
            outside += !((fabs(scale[k]) >= low) & (fabs(scale[k]) <= high));
    } else {
        for (uint64_t k = 0; k < count; k++) {
            const double rounded = fabs((double)(float)scale[k]);
            outside += !((rounded >= low) & (rounded <= high));
        }
    }
    return outside == 0;
}

/* Every value of the type is an f32. */
static td_convert_fn decoder_of(const td_convert_kernels *k, td_dtype t)
{
    if (t.kind == TD_KIND_FLOAT) {
        if (t.bytes == 1)
            return k->x8_f32;
        if (t.bits == 16 && t.flavor == TD_FLAVOR_IEEE && t.exp_bits == 5)
            return k->f16_f32;
        if (t.bits == 16 && t.flavor == TD_FLAVOR_IEEE && t.exp_bits == 8)
            return k->bf16_f32;
        return NULL;
    }
    if (t.bytes == 1)
        return t.kind == TD_KIND_INT ? k->s8_f32 : k->u8_f32;
    if (t.bytes == 2)
        return t.kind == TD_KIND_INT ? k->s16_f32 : k->u16_f32;
    return NULL;
}

static td_convert_fn encoder_of(const td_convert_kernels *k, td_dtype t, uint8_t over)
{
    if (t.kind == TD_KIND_FLOAT) {
        const bool to_inf = over == TD_OVER_DEFAULT || over == TD_OVER_INF || over == TD_OVER_ERROR;
        if (t.bytes == 1)
            return t.flavor == TD_FLAVOR_SCALE ? NULL : k->f32_x8;
        if (t.bits == 16 && t.flavor == TD_FLAVOR_IEEE && t.exp_bits == 5 && to_inf)
            return k->f32_f16;
        if (t.bits == 16 && t.flavor == TD_FLAVOR_IEEE && t.exp_bits == 8 && to_inf)
            return k->f32_bf16;
        return NULL;
    }
    if (over == TD_OVER_WRAP)
        return t.bytes == 1 ? k->f32_wrap8 : t.bytes == 2 ? k->f32_wrap16 : NULL;
    if (t.bytes == 1)
        return t.kind == TD_KIND_INT ? k->f32_s8 : k->f32_u8;
    if (t.bytes == 2)
        return t.kind == TD_KIND_INT ? k->f32_s16 : k->f32_u16;
    if (t.bits == 32)
        return t.kind == TD_KIND_INT ? k->f32_s32 : k->f32_u32;
    return NULL;
}

/* The scale and the ways to divide by it. */
static void set_scale(td_convert_params *p, float scale)
{
    int exponent = 0;
    p->scale = p->inverse = scale;
    p->inverse_low = 0;
    p->divide = TD_DIVIDE_NONE;
    if (scale == 1)
        return;
    const float fraction = frexpf(scale, &exponent);
    const double inverse = 1.0 / (double)scale;
    p->inverse = (float)inverse;
    p->inverse_low = (float)(inverse - (double)p->inverse);
    if (fabsf(fraction) == 0.5F && exponent > -120 && exponent < 120)
        p->divide = TD_DIVIDE_MUL;
    else
        p->divide = scale > 0 && exponent > -30 && exponent < 30 ? TD_DIVIDE_INVERSE : TD_DIVIDE_DIV;
}

/* What is multiplied by alone needs no ways to divide. */
static void set_factor(td_convert_params *p, float factor)
{
    p->scale = factor;
    p->divide = factor == 1 ? TD_DIVIDE_NONE : TD_DIVIDE_DIV;
}

static void set_range(td_convert_params *p, td_dtype t)
{
    const int32_t max = (int32_t)td_dtype_max_bits(t);
    p->low = t.kind == TD_KIND_INT ? -max - 1 : 0;
    p->high = max;
}

static void set_small_float(td_convert_params *p, td_dtype t, uint8_t over)
{
    const int bias = (1 << (t.exp_bits - 1)) - 1;
    const bool to_inf = over == TD_OVER_INF || over == TD_OVER_ERROR;
    p->shift = 23U - t.man_bits;
    p->rebias = (uint32_t)(127 - bias) << t.man_bits;
    p->normal_bits = (uint32_t)(128 - bias) << 23;
    p->magic = ldexpf(1, 1 - bias - t.man_bits + 23);
    p->limit = (uint32_t)(to_inf ? td_dtype_inf_bits(t) : td_dtype_max_bits(t));
    p->nan_code = (uint32_t)td_dtype_nan_bits(t);
    p->nan_payload = t.flavor == TD_FLAVOR_IEEE ? (1U << t.man_bits) - 1 : 0;
    p->sign_bit = 1U << (t.bits - 1);
    p->nan_sign = t.flavor == TD_FLAVOR_FINITE ? 0 : p->sign_bit;
}

/* Fixed point is an integer whose scale has 2^-n in it. The quotient is rounded before that factor, which is exact
 * unless the quotient is subnormal; and then it rounds to 0 with either. */
static float with_point(float scale, td_dtype t)
{
    return t.frac_bits ? scale * ldexpf(1, -(int)t.frac_bits) : scale;
}

static bool fits_f32(float scale)
{
    const float magnitude = fabsf(scale);
    return magnitude >= 0x1p-126F && magnitude <= 0x1p126F;
}

/* Integers and raw floats alike: only the element's own bits of a container count. */
static void set_own_bits(td_convert_params *p, td_dtype t)
{
    p->own_shift = 32U - t.bits;
    p->own_mask = (uint32_t)td_dtype_mask(t);
}

static void fill_table(td_convert *c)
{
    const td_dtype t = c->src;
    const int bias = (1 << (t.exp_bits - 1)) - 1;
    const uint32_t max = (uint32_t)td_dtype_max_bits(t);
    const uint32_t sign_bit = 1U << (t.bits - 1);
    for (uint32_t code = 0; code < 256; code++) {
        const uint32_t own = code & (uint32_t)td_dtype_mask(t);
        const uint32_t magnitude = t.flavor == TD_FLAVOR_SCALE ? own : own & ~sign_bit;
        const uint32_t exponent = magnitude >> t.man_bits;
        const uint32_t mantissa = magnitude & ((1U << t.man_bits) - 1);
        float value = 0;
        if (magnitude > max && !(td_dtype_has_inf(t) && mantissa == 0)) {
            const uint32_t nan = 0x7fc00000U | (t.flavor == TD_FLAVOR_IEEE ? mantissa << (23 - t.man_bits) : 0);
            memcpy(&value, &nan, sizeof value);
        } else if (magnitude > max) {
            value = INFINITY;
        } else if (t.flavor == TD_FLAVOR_SCALE) {
            value = ldexpf(1, (int)own - 127);
        } else if (exponent == 0) {
            value = ldexpf((float)mantissa, 1 - bias - t.man_bits);
        } else {
            const uint32_t bits = (exponent + 127U - (uint32_t)bias) << 23 | mantissa << (23 - t.man_bits);
            memcpy(&value, &bits, sizeof value);
        }
        c->table[code] = t.flavor != TD_FLAVOR_SCALE && (own & sign_bit) ? -value : value;
    }
    c->decode_params.table = c->table;
}

bool td_convert_aim(const td_convert *c, double scale, int64_t zero, td_convert_params *decode,
                    td_convert_params *encode)
{
    const bool forward = c->direction == TD_TO_MEMORY;
    float divisor = with_point(forward && c->scaled ? (float)scale : 1, c->dst);
    float factor = with_point(!forward && c->scaled ? (float)scale : 1, c->src);
    if (decode->quotient) { /* into f32, so the divisor is the scale, and a fixed point moves over to it */
        factor = divisor / factor;
        divisor = 1;
    }
    if (!fits_f32(divisor) || !fits_f32(factor))
        return false;
    if (decode->quotient)
        set_scale(decode, factor);
    else
        set_factor(decode, factor);
    set_scale(encode, divisor);
    decode->zero = forward ? 0 : (int32_t)zero;
    encode->zero = forward ? (int32_t)zero : 0;
    return true;
}

void td_convert_aim_one(const td_convert *c, td_convert_params *decode, td_convert_params *encode)
{
    decode->quotient = false;
    set_scale(decode, with_point(1, c->src));
    set_scale(encode, with_point(1, c->dst));
}

/* Products without a remainder, where this scale allows them. */
static void prove(bool (*proves)(const td_convert_params *p), td_convert_params *p)
{
    if (p->divide == TD_DIVIDE_INVERSE && proves && proves(p))
        p->divide = TD_DIVIDE_PROVEN;
}

/* Integers to integers that hold them, and those of 32 bits to f32, at once. */
static bool choose_wider(td_convert *c, const td_convert_kernels *k)
{
    const td_convert_fn from8[2][2] = {{k->u8_u16, k->u8_u32}, {k->s8_s16, k->s8_s32}};
    const bool is_signed = c->src.kind == TD_KIND_INT, to_f32 = td_dtype_equal(c->dst, dtype_f32);
    if (c->scaled || c->zero || c->axis.extent)
        return false;
    if (to_f32)
        c->decode = is_signed ? k->s32_f32 : k->u32_f32;
    else if (c->src.frac_bits != c->dst.frac_bits || !td_convert_holds(c->src, c->dst) || c->dst.bytes > 4)
        return false;
    else if (c->src.bytes == 1 && c->dst.bytes > 1)
        c->decode = from8[is_signed][c->dst.bytes == 4];
    else if (c->src.bytes == 2 && c->dst.bytes == 4)
        c->decode = is_signed ? k->s16_s32 : k->u16_u32;
    else
        return false;
    set_own_bits(&c->decode_params, c->src);
    set_scale(&c->decode_params, with_point(1, c->src));
    return true;
}

/* Integers of 32 bits, which f32 does not hold, to floats that are so much shorter that what is lost on the way cannot
 * be seen but for its being there. */
static bool is_odd(const td_convert *c)
{
    return c->src.kind != TD_KIND_FLOAT && c->src.bytes == 4 && c->dst.kind == TD_KIND_FLOAT && c->dst.man_bits <= 21 &&
           !c->scaled && !c->zero && !c->axis.extent;
}

/* Decoder and encoder through f32, where that is exact; false where it is not. */
static bool choose_fast(td_convert *c, const td_convert_kernels *kernels)
{
    const bool from_f32 = td_dtype_equal(c->src, dtype_f32);
    const bool to_f32 = td_dtype_equal(c->dst, dtype_f32);
    const uint8_t over = c->rounding.over;
    if (c->work_bits != 32 || c->ftz || c->rounding.round != TD_ROUND_EVEN)
        return false;
    if (c->src.kind != TD_KIND_FLOAT && c->dst.kind != TD_KIND_FLOAT && !c->scaled)
        return choose_wider(c, kernels); /* integers stay integers */
    if (to_f32 && c->src.kind != TD_KIND_FLOAT && c->src.bytes == 4)
        return choose_wider(c, kernels);
    td_convert_fn decode = from_f32 ? NULL : decoder_of(kernels, c->src);
    td_convert_fn encode = to_f32 ? NULL : encoder_of(kernels, c->dst, over);
    if (is_odd(c))
        decode = c->src.kind == TD_KIND_INT ? kernels->s32_odd : kernels->u32_odd;
    if (c->dst.kind != TD_KIND_FLOAT && c->dst.bytes == 4 && c->direction == TD_TO_MEMORY && (c->zero || c->axis.zero))
        return false; /* those kernels know no zero point */
    if ((!from_f32 && !decode) || (!to_f32 && !encode) || (to_f32 && over == TD_OVER_SAT))
        return false;
    if (from_f32 && to_f32) {
        decode = c->direction == TD_TO_TENSOR ? kernels->mul_f32 : NULL;
        encode = c->direction == TD_TO_MEMORY ? kernels->div_f32 : NULL;
    } else if (to_f32 && c->direction == TD_TO_MEMORY && c->scaled) {
        c->decode_params.quotient = true;
    } else if (from_f32 && c->direction == TD_TO_TENSOR && c->scaled) {
        decode = kernels->mul_f32;
    }
    if (!td_convert_aim(c, c->scale, c->zero, &c->decode_params, &c->encode_params))
        return false;
    if (is_odd(c) && encode == kernels->f32_bf16) { /* at once */
        decode = c->src.kind == TD_KIND_INT ? kernels->s32_bf16 : kernels->u32_bf16;
        encode = NULL;
    }
    c->decode = decode;
    c->encode = encode;
    if (c->dst.kind != TD_KIND_FLOAT && c->dst.bytes == 1 && over != TD_OVER_WRAP) /* that has quotients of any size */
        prove(kernels->proves, &c->encode_params);
    if (c->src.kind != TD_KIND_FLOAT && c->src.bytes == 1 && c->decode_params.quotient)
        prove(kernels->proves_small, &c->decode_params);
    if (c->src.kind == TD_KIND_FLOAT && c->src.bytes == 1)
        fill_table(c);
    set_own_bits(&c->decode_params, c->src);
    if (c->dst.kind != TD_KIND_FLOAT) {
        set_range(&c->encode_params, c->dst);
        set_own_bits(&c->encode_params, c->dst);
    } else if (c->dst.bytes == 1) {
        set_small_float(&c->encode_params, c->dst, over);
    }
    return true;
}

void td_convert_choose(td_convert *c)
{
    td_convert_kernels kernels;
    if (c->copy)
        return;
    td_convert_init(&kernels, td_cpu_flags());
    td_convert_simplify(c);
    const bool fast = choose_fast(c, &kernels);
    if (fast && !c->check && !c->axis.extent)
        return;
    td_convert_fn widen = decoder_of(&kernels, c->src);
    memset(&c->widening, 0, sizeof c->widening);
    set_own_bits(&c->widening, c->src);
    set_scale(&c->widening, with_point(1, c->src));
    if (widen && c->src.kind == TD_KIND_FLOAT && c->src.bytes == 1) {
        if (!c->decode_params.table)
            fill_table(c);
        c->widening.table = c->table;
    }
    td_convert_choose_cast(c, widen);
}
