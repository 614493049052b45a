/* Conversion in double arithmetic, between the kernels and the exact path: integers of up to 32 bits, every rounding
 * into integers, f64. convert_choose.c finds out whether a conversion qualifies, convert.c runs it; a qualified one has
 * the exact path's bits, because every source is a double, each step rounds once, and the few elements for which that
 * fails are handed back. */
#include "values/convert_choose.h"

#include <math.h>
#include <string.h>

#define SCRATCH_ELEMS 256
#define WHOLE_BITS 32                    /* integers on either side */
#define WHOLE_LIMIT 576460752303423488.0 /* 2^59: the fraction of anything smaller is exact */

static bool is_float(td_dtype t, unsigned bits)
{
    return t.kind == TD_KIND_FLOAT && t.flavor == TD_FLAVOR_IEEE && t.bits == bits &&
           t.exp_bits == (bits == 32 ? 8 : 11);
}

bool td_convert_double_can(const td_convert *c)
{
    if (c->ftz || c->rounding.round == TD_ROUND_STOCHASTIC)
        return false;
    const bool f64_in = is_float(c->src, 64);
    const bool source =
        c->widen || is_float(c->src, 32) || f64_in || (c->src.kind != TD_KIND_FLOAT && c->src.bits <= WHOLE_BITS);
    /* A product of an f64 and a scale in f32 precision would round twice. */
    if (!source || (f64_in && c->scaled && c->work_bits == 32))
        return false;
    if (c->dst.kind != TD_KIND_FLOAT)
        return c->dst.bits <= WHOLE_BITS;
    return (is_float(c->dst, 32) || is_float(c->dst, 64)) && c->rounding.round == TD_ROUND_EVEN &&
           c->rounding.over != TD_OVER_SAT;
}

static void widen_ints(double *out, const void *src, size_t n, td_dtype t)
{
    const char *in = src;
    const double unit = ldexp(1, -(int)t.frac_bits);
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = 0;
        memcpy(&bits, in + i * t.bytes, t.bytes);
        const uint32_t up = bits << (32 - t.bits);
        out[i] =
            unit * (t.kind == TD_KIND_INT ? (double)((int32_t)up >> (32 - t.bits)) : (double)(up >> (32 - t.bits)));
    }
}

static void widen(const td_convert *c, double *out, const void *src, size_t n)
{
    if (c->src.kind != TD_KIND_FLOAT) {
        widen_ints(out, src, n, c->src);
        return;
    }
    if (c->src.bytes == 8) {
        memcpy(out, src, n * sizeof out[0]);
        return;
    }
    float narrow[SCRATCH_ELEMS];
    if (c->src.bytes == 4)
        memcpy(narrow, src, n * sizeof narrow[0]);
    else
        c->widen(narrow, 0, src, 0, 1, n, &c->decode_params);
    for (size_t i = 0; i < n; i++)
        out[i] = (double)narrow[i];
}

/* The element's value on the other side of the scale; false when it would be rounded twice. */
static bool scaled(const td_convert *c, double x, uint64_t elem, double *out)
{
    if (c->direction == TD_TO_TENSOR)
        x -= (double)td_convert_zero_at(c, td_convert_index(c, elem));
    if (!c->scaled) {
        *out = x;
        return true;
    }
    const double scale = td_convert_scale_at(c, td_convert_index(c, elem));
    if (c->work_bits == 64) {
        *out = c->direction == TD_TO_MEMORY ? x / scale : x * scale;
        return true;
    }
    if (c->direction == TD_TO_MEMORY) {
        *out = (double)((float)x / (float)scale);
        return (double)(float)x == x || x != x;
    }
    *out = (double)(float)(x * scale); /* 29 bits times 24 are exact */
    return !(fabs(x) >= 0x1p29) || (double)(float)x == x;
}

/* A number of less than 2^60 in magnitude to an integer; its fraction is exact. */
static int64_t rounded(double x, uint8_t round_to)
{
    const int64_t whole = (int64_t)x;
    const double rest = x - (double)whole;
    const int odd = (int)(whole & 1);
    switch (round_to) {
    case TD_ROUND_EVEN:
        return whole + ((rest > 0.5) | ((rest == 0.5) & odd)) - ((rest < -0.5) | ((rest == -0.5) & odd));
    case TD_ROUND_AWAY:
        return whole + (rest >= 0.5) - (rest <= -0.5);
    case TD_ROUND_FLOOR:
        return whole - (rest < 0);
    case TD_ROUND_CEIL:
        return whole + (rest > 0);
    default:
        return whole;
    }
}

static bool store_int(const td_convert *c, void *dst, double x, uint64_t elem)
{
    const td_dtype t = c->dst;
    const int64_t high = (int64_t)td_dtype_max_bits(t);
    const int64_t low = t.kind == TD_KIND_INT ? -high - 1 : 0;
    double steps = x == x ? x * c->steps : 0;
    if (c->rounding.over == TD_OVER_WRAP && !(fabs(steps) < WHOLE_LIMIT))
        return false;
    steps = steps < WHOLE_LIMIT ? steps : WHOLE_LIMIT;
    steps = steps > -WHOLE_LIMIT ? steps : -WHOLE_LIMIT;
    int64_t value = rounded(steps, c->rounding.round);
    if (c->direction == TD_TO_MEMORY)
        value += td_convert_zero_at(c, td_convert_index(c, elem));
    if (c->rounding.over != TD_OVER_WRAP)
        value = value < low ? low : value > high ? high : value;
    const uint64_t bits = td_dtype_extend(t, (uint64_t)value);
    memcpy(dst, &bits, t.bytes);
    return true;
}

static bool store(const td_convert *c, void *dst, double x, uint64_t elem)
{
    if (c->dst.kind != TD_KIND_FLOAT)
        return store_int(c, dst, x, elem);
    const float narrow = (float)x;
    if (c->dst.bytes == 4)
        memcpy(dst, &narrow, sizeof narrow);
    else
        memcpy(dst, &x, sizeof x);
    return true;
}

void td_convert_double_run(const td_convert *c, void *dst, const void *src, size_t n, uint64_t first, int64_t step)
{
    double scratch[SCRATCH_ELEMS];
    const char *in = src;
    char *out = dst;
    for (size_t done = 0; done < n; done += SCRATCH_ELEMS) {
        const size_t part = n - done < SCRATCH_ELEMS ? n - done : SCRATCH_ELEMS;
        widen(c, scratch, in + done * c->src.bytes, part);
        for (size_t i = 0; i < part; i++) {
            const uint64_t elem = first + (uint64_t)step * (done + i);
            char *place = out + (done + i) * c->dst.bytes;
            double x = 0;
            if (scaled(c, scratch[i], elem, &x) && store(c, place, x, elem))
                continue;
            uint64_t bits = 0;
            memcpy(&bits, in + (done + i) * c->src.bytes, c->src.bytes);
            bits = td_convert_one(c, bits, elem, NULL);
            memcpy(place, &bits, c->dst.bytes);
        }
    }
}
