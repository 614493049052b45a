/* The way through lanes: which steps of kernels/cast.h make a conversion, and their parameters. convert_choose.c asks
 * where its kernels do not have the exact path's bits, and for the look at values in `error` mode. Here it is also
 * decided where rounding cannot matter, and where no value can be out of range. */
#include "values/convert_choose.h"

#include <math.h>
#include <string.h>

static const td_dtype dtype_f32 = {TD_KIND_FLOAT, 32, 8, 4, 23, TD_FLAVOR_IEEE, 0, 0};
static const td_dtype dtype_f64 = {TD_KIND_FLOAT, 64, 11, 8, 52, TD_FLAVOR_IEEE, 0, 0};

static uint64_t bits_of(double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t bits32_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static int bias_of(td_dtype t)
{
    return (1 << (t.exp_bits - 1)) - 1;
}

/* Exponents of the leading bit of the largest number, and of the lowest bit of any. */
static int highest(td_dtype t)
{
    if (t.kind != TD_KIND_FLOAT)
        return (int)t.bits - (t.kind == TD_KIND_INT) - 1 - (int)t.frac_bits + (t.kind == TD_KIND_INT);
    if (t.flavor == TD_FLAVOR_SCALE)
        return 127;
    return (int)(td_dtype_max_bits(t) >> t.man_bits) - bias_of(t);
}

static int lowest(td_dtype t)
{
    if (t.kind != TD_KIND_FLOAT)
        return -(int)t.frac_bits;
    return t.flavor == TD_FLAVOR_SCALE ? -127 : 1 - bias_of(t) - t.man_bits;
}

/* Significant bits of a number. */
static int precision(td_dtype t)
{
    if (t.kind != TD_KIND_FLOAT)
        return (int)t.bits - (t.kind == TD_KIND_INT);
    return t.flavor == TD_FLAVOR_SCALE ? 1 : t.man_bits + 1;
}

/* Every number of `from` is one of `to`, but for the sign and what is too large. */
static bool finer(td_dtype from, td_dtype to)
{
    if (to.kind != TD_KIND_FLOAT)
        return from.kind != TD_KIND_FLOAT && from.frac_bits <= to.frac_bits;
    return to.flavor != TD_FLAVOR_SCALE && precision(from) <= precision(to) && lowest(from) >= lowest(to);
}

bool td_convert_holds(td_dtype from, td_dtype to)
{
    if (!finer(from, to))
        return false;
    if (to.kind != TD_KIND_FLOAT) {
        const int from_whole = (int)from.bits - from.frac_bits, to_whole = (int)to.bits - to.frac_bits;
        if (from.kind == to.kind)
            return from_whole <= to_whole;
        return from.kind == TD_KIND_UINT && from_whole < to_whole;
    }
    if (from.kind == TD_KIND_FLOAT &&
        ((td_dtype_has_nan(from) && !td_dtype_has_nan(to)) || (td_dtype_has_inf(from) && !td_dtype_has_inf(to))))
        return false;
    return highest(from) < highest(to); /* of equal ones the mantissas would have to be compared */
}

/* Integers that no float of the type is too short for in its range, with a bit to spare for the zero point and for a
 * rounding. */
static bool is_within(const td_convert *c)
{
    return c->src.kind != TD_KIND_FLOAT && c->dst.kind == TD_KIND_FLOAT && c->dst.flavor != TD_FLAVOR_SCALE &&
           !c->scaled && highest(c->src) + 1 < highest(c->dst);
}

/* Integers of up to 32 bits by scales that are far from the ends of f32: neither infinite nor subnormal there. */
static bool is_tame(const td_convert *c)
{
    const td_dtype t = c->dst;
    if (c->src.kind == TD_KIND_FLOAT || c->src.bits > 32 || t.kind != TD_KIND_FLOAT || t.exp_bits < 8 ||
        t.flavor != TD_FLAVOR_IEEE)
        return false;
    return !c->scaled || td_convert_scales_within(c, 0x1p-90, 0x1p90);
}

void td_convert_simplify(td_convert *c)
{
    if (is_tame(c)) {
        c->ftz = c->rounding.ftz = false;
        c->rounding.over = c->rounding.over == TD_OVER_SAT ? TD_OVER_DEFAULT : c->rounding.over;
    }
    const td_dtype work = c->work_bits == 64 ? dtype_f64 : dtype_f32;
    const bool moved = c->zero || c->axis.zero;
    const bool is_work = td_dtype_equal(c->dst, work);
    /* A product is a number of the work precision; so is what it gives there. */
    const bool exact = c->scaled ? is_work || finer(work, c->dst) : !moved && finer(c->src, c->dst);
    const bool fits =
        c->scaled ? is_work || td_convert_holds(work, c->dst)
                  : !moved && (td_convert_holds(c->src, c->dst) || (is_work && td_convert_holds(c->src, dtype_f32)));
    if (exact) {
        c->rounding.round = TD_ROUND_EVEN;
        c->numbers = c->axis.extent != 0;
    }
    if (fits || is_within(c))
        c->check = false;
}

/* -- The parameters */

static void set_source(td_convert *c)
{
    td_cast_params *p = &c->cast;
    const td_dtype t = c->src;
    p->src_bytes = t.bytes;
    p->src_bits = t.bits;
    p->src_signed = t.kind == TD_KIND_INT;
    p->lane_signed = t.kind == TD_KIND_INT || t.bits < 64;
    p->src_frac = t.frac_bits;
    p->unit_bits = bits_of(ldexp(1, -(int)t.frac_bits));
    p->unit32_bits = bits32_of(ldexpf(1, -(int)t.frac_bits));
    if (t.kind != TD_KIND_FLOAT || t.flavor == TD_FLAVOR_SCALE)
        return;
    p->src_exp_bits = t.exp_bits;
    p->src_man_bits = t.man_bits;
    p->src_ieee = t.flavor == TD_FLAVOR_IEEE;
    p->src_nan = td_dtype_has_nan(t) ? td_dtype_max_bits(t) + 1 + p->src_ieee : INT64_MAX;
    p->rebias = (uint64_t)(1023 - bias_of(t)) << 52;
    if (c->ftz) {
        p->flush_bits = bits_of(ldexp(1, 1 - bias_of(t)));
        p->flush32_bits = bits32_of(ldexpf(1, 1 - bias_of(t)));
    }
}

static void set_rounding(td_convert *c)
{
    const uint64_t half = (uint64_t)1 << 63, all = UINT64_MAX;
    td_cast_params *p = &c->cast;
    switch (c->rounding.round) {
    case TD_ROUND_EVEN:
        p->round = TD_CAST_EVEN;
        p->add_positive = p->add_negative = half - 1;
        p->odd = 1;
        break;
    case TD_ROUND_AWAY:
        p->round = TD_CAST_AWAY;
        p->add_positive = p->add_negative = half;
        break;
    case TD_ROUND_FLOOR:
        p->round = TD_CAST_FLOOR;
        p->add_negative = all;
        break;
    case TD_ROUND_CEIL:
        p->round = TD_CAST_CEIL;
        p->add_positive = all;
        break;
    default:
        p->round = c->rounding.round == TD_ROUND_ZERO ? TD_CAST_ZERO : TD_CAST_RANDOM;
        break;
    }
}

static void set_float_target(td_convert *c)
{
    td_cast_params *p = &c->cast;
    const td_dtype t = c->dst;
    const uint8_t over = c->rounding.over, round = c->rounding.round;
    const bool has_inf = td_dtype_has_inf(t);
    const bool own_inf = t.flavor == TD_FLAVOR_IEEE && t.bits > 8;
    const bool saturate = over == TD_OVER_DEFAULT ? !own_inf : over != TD_OVER_INF;
    const uint64_t max = td_dtype_max_bits(t), inf = td_dtype_inf_bits(t);
    p->exp_min = 1 - bias_of(t);
    p->man_bits = t.man_bits;
    p->tiny = c->ftz ? (uint64_t)1 << t.man_bits : 0;
    p->max = max;
    /* A rounding towards zero never passes the largest number. */
    p->over_positive = saturate || round == TD_ROUND_ZERO || round == TD_ROUND_FLOOR ? max : inf;
    p->over_negative = saturate || round == TD_ROUND_ZERO || round == TD_ROUND_CEIL ? max : inf;
    p->inf = saturate && !(over == TD_OVER_ERROR && has_inf) ? max : inf;
    p->nan = td_dtype_nan_bits(t);
    p->fits_inf = has_inf;
    p->fits_nan = td_dtype_has_nan(t);
    p->keeps_nan = t.flavor == TD_FLAVOR_IEEE;
}

static void set_target(td_convert *c)
{
    td_cast_params *p = &c->cast;
    const td_dtype t = c->dst;
    p->dst_bytes = t.bytes;
    p->dst_bits = t.bits;
    p->dst_signed = t.kind == TD_KIND_INT;
    p->dst_frac = t.frac_bits;
    set_rounding(c);
    if (t.kind != TD_KIND_FLOAT) {
        p->wrap = c->rounding.over == TD_OVER_WRAP;
        p->fits_all = td_convert_holds(c->src, t);
        p->high = (int64_t)td_dtype_max_bits(t);
        p->low = t.kind == TD_KIND_INT ? -p->high - 1 : 0;
    } else if (t.flavor == TD_FLAVOR_SCALE) {
        const bool to_nan = c->rounding.over == TD_OVER_INF;
        p->over_positive = to_nan ? 0xff : 0xfe;
        p->over_negative = to_nan ? 0xff : 0;
    } else {
        set_float_target(c);
    }
}

/* By a power of two a quotient is a product, and neither is rounded but where it is subnormal. */
void td_convert_cast_scale(const td_convert *c, td_cast_params *p, double scale)
{
    int exponent = 0;
    const bool power = fabs(frexp(scale, &exponent)) == 0.5 && exponent > -120 && exponent < 120;
    const bool forward = c->direction == TD_TO_MEMORY;
    if (!c->scaled)
        return;
    p->scale_way = power ? TD_CAST_TIMES : forward ? TD_CAST_DIVIDE : TD_CAST_MULTIPLY;
    if (power && forward)
        scale = 1 / scale;
    p->scale = scale;
    p->scale_bits = bits_of(scale);
    p->scale32_bits = bits32_of((float)scale);
    p->products = p->scale_way == TD_CAST_DIVIDE && scale > 0 && exponent > -30 && exponent < 30;
    if (!p->products)
        return;
    const double inverse = 1 / scale, low = -fma(scale, inverse, -1) / scale;
    const float inverse32 = (float)inverse;
    p->inverse_bits = bits_of(inverse);
    p->inverse_low_bits = bits_of(low);
    p->inverse32_bits = bits32_of(inverse32);
    p->inverse32_low_bits = bits32_of((float)(inverse - (double)inverse32));
}

static void set_ends(td_cast_params *p)
{
    const double low = (double)p->low - (double)p->zero, high = (double)p->high - (double)p->zero;
    p->low_bits = bits_of(low);
    p->high_bits = bits_of(high);
    p->low32_bits = bits32_of((float)low);
    p->high32_bits = bits32_of((float)high);
}

void td_convert_cast_zero(const td_convert *c, td_cast_params *p, int64_t zero)
{
    p->zero = c->direction == TD_TO_MEMORY ? zero : 0;
    set_ends(p);
    if (c->direction == TD_TO_MEMORY)
        return;
    p->minus = zero;
    p->less = zero != 0;
    p->less_bits = bits_of((double)zero);
}

/* -- The steps */

static bool is_direct(const td_convert *c)
{
    return c->src.kind != TD_KIND_FLOAT && c->dst.kind != TD_KIND_FLOAT && !c->scaled && !c->zero && !c->axis.extent &&
           c->src.frac_bits == c->dst.frac_bits && c->src.bits <= 32 && c->dst.bits <= 32;
}

static unsigned log2_bytes(td_dtype t)
{
    return t.bytes == 1 ? 0 : t.bytes == 2 ? 1 : 2;
}

/* Integers without a scale need no doubles, unless they become some. */
static bool choose_whole(td_convert *c, const td_cast_kernels *k)
{
    const bool back = c->direction == TD_TO_TENSOR && (c->zero || c->axis.zero);
    if (c->src.kind == TD_KIND_FLOAT || c->scaled || (back && c->src.bits > 62) ||
        (c->src.bits <= 53 && !back && td_dtype_equal(c->dst, dtype_f64)) ||
        (c->dst.kind == TD_KIND_FLOAT && c->dst.flavor == TD_FLAVOR_SCALE))
        return false;
    c->take = k->int_i64;
    c->put = c->dst.kind == TD_KIND_FLOAT ? k->i64_float : k->i64_int;
    c->lane_bytes = 8;
    c->lanes_are_bits = c->dst.kind != TD_KIND_FLOAT && c->dst.bits == 64 && c->src.frac_bits == c->dst.frac_bits &&
                        td_convert_holds(c->src, c->dst) && !c->zero && !c->axis.zero;
    return true;
}

/* Targets of lanes of 32 bits. */
static td_cast_fn put_of_f32(const td_convert *c, const td_cast_kernels *k)
{
    const td_dtype t = c->dst;
    if (t.kind == TD_KIND_FLOAT)
        return t.flavor == TD_FLAVOR_SCALE ? k->f32_e8m0 : t.exp_bits > 8 || t.man_bits > 23 ? NULL : k->f32_float;
    return t.bits > 16 ? NULL : k->f32_int;
}

static bool is_f32(const td_convert *c)
{
    return (td_dtype_equal(c->src, dtype_f32) || c->widen) && c->work_bits == 32;
}

static bool choose_narrow(td_convert *c, const td_cast_kernels *k)
{
    if (!is_f32(c) || !put_of_f32(c, k))
        return false;
    c->put = put_of_f32(c, k);
    c->scale_narrow = c->scaled || c->ftz ? k->scale_f32 : NULL;
    c->lane_bytes = 4;
    /* What ftz leaves of the source is no subnormal number of f32, but for the smallest scale; a product may be. */
    c->lanes_are_bits = td_dtype_equal(c->dst, dtype_f32) && c->widen && c->rounding.over != TD_OVER_SAT &&
                        !(c->ftz && (c->scaled || c->src.flavor == TD_FLAVOR_SCALE));
    return true;
}

static td_cast_fn put_of_f64(const td_convert *c, const td_cast_kernels *k)
{
    const bool plain = c->rounding.round == TD_ROUND_EVEN && c->rounding.over != TD_OVER_SAT && !c->ftz && !c->check;
    if (c->dst.kind != TD_KIND_FLOAT)
        return k->f64_int;
    if (c->dst.flavor == TD_FLAVOR_SCALE)
        return k->f64_e8m0;
    return plain && td_dtype_equal(c->dst, dtype_f32) ? k->f64_f32 : k->f64_float;
}

/* A float that f32 has at least two bits more than, so that of an f64 it needs no more than an odd f32. */
static bool is_much_shorter(const td_convert *c)
{
    return c->dst.kind == TD_KIND_FLOAT && c->dst.man_bits <= 21 && c->rounding.round != TD_ROUND_STOCHASTIC;
}

/* What is beyond f32 becomes its largest number there: a rounding towards zero would not see that it does not fit. */
static bool hides_overflow(const td_convert *c)
{
    return highest(c->dst) >= 127 && (c->check || c->dst.flavor == TD_FLAVOR_SCALE) &&
           c->rounding.round != TD_ROUND_EVEN && c->rounding.round != TD_ROUND_AWAY;
}

/* Integers of more than 16 bits without a scale, to floats that are shorter than those of the lanes. */
static bool choose_odd(td_convert *c, const td_cast_kernels *k)
{
    const bool back = c->direction == TD_TO_TENSOR && (c->zero || c->axis.zero);
    if (c->src.kind == TD_KIND_FLOAT || c->src.bytes < 4 || c->scaled || back || c->dst.kind != TD_KIND_FLOAT ||
        c->dst.man_bits > 50 || c->rounding.round == TD_ROUND_STOCHASTIC)
        return false;
    if (c->src.bytes == 4 && is_much_shorter(c) && put_of_f32(c, k) == k->f32_float) {
        c->put = k->i32_float;
        c->lane_bytes = 4;
        return true;
    }
    c->take = k->int_odd_f64;
    c->put = put_of_f64(c, k);
    c->lane_bytes = 8;
    if (is_much_shorter(c) && put_of_f32(c, k)) {
        c->odd = k->f64_odd_f32;
        c->put = put_of_f32(c, k);
        c->lane_bytes = 4;
    }
    return true;
}

static void choose_wide(td_convert *c, const td_cast_kernels *k)
{
    const td_dtype t = c->src;
    const bool whole = t.kind != TD_KIND_FLOAT;
    const bool back = c->direction == TD_TO_TENSOR && (c->zero || c->axis.zero);
    const bool narrow = is_f32(c);
    c->hands_back = whole && t.bits > 53;
    if (narrow || (!whole && (c->widen || td_dtype_equal(t, dtype_f32))))
        c->take = k->f32_f64;
    else if (whole)
        c->take = k->int_f64;
    else
        c->take = td_dtype_equal(t, dtype_f64) ? NULL : k->float_f64;
    if (c->take != k->f32_f64)
        c->widen = NULL;
    c->put = put_of_f64(c, k);
    c->lane_bytes = 8;
    if (narrow) {
        c->scale_narrow = c->scaled || c->ftz ? k->scale_f32 : NULL;
    } else if (c->scaled && c->work_bits == 32 && put_of_f32(c, k)) {
        c->scale_wide = k->scale_f64_f32;
        c->put = put_of_f32(c, k);
        c->back_to_f32 = true;
        c->lane_bytes = 4;
    } else if (c->scaled || c->ftz || back) {
        c->scale_wide = k->scale_f64;
    }
    if (c->lane_bytes == 8 && is_much_shorter(c) && !hides_overflow(c) && put_of_f32(c, k)) {
        c->odd = k->f64_odd_f32;
        c->put = put_of_f32(c, k);
        c->lane_bytes = 4;
    }
    const bool ends_there = td_dtype_equal(c->dst, dtype_f64) ? c->take || c->scale_wide
                                                              : c->back_to_f32 && td_dtype_equal(c->dst, dtype_f32);
    c->lanes_are_bits = ends_there && !c->ftz && c->rounding.over != TD_OVER_SAT;
}

void td_convert_choose_cast(td_convert *c, td_convert_fn widen)
{
    td_cast_kernels k;
    td_cast_init(&k, td_cpu_flags());
    memset(&c->cast, 0, sizeof c->cast);
    set_source(c);
    set_target(c);
    c->scale_each = k.scale_f32;
    c->within = c->src.bytes == 8 ? k.f64_within : k.f32_within;
    c->cast.in_f32 = c->scaled && c->work_bits == 32;
    td_convert_cast_scale(c, &c->cast, c->scale);
    td_convert_cast_zero(c, &c->cast, c->zero);
    if (is_direct(c)) {
        c->put = k.ints[c->src.kind == TD_KIND_INT][log2_bytes(c->src)][log2_bytes(c->dst)];
        c->lane_bytes = 0;
        return;
    }
    if (!choose_odd(c, &k) && !choose_whole(c, &k)) {
        c->widen = widen;
        if (!choose_narrow(c, &k))
            choose_wide(c, &k);
    }
}
