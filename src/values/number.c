/* See number.h. Integer arithmetic only: no result here depends on the floating-point mode of the simulator. */
#include "values/number.h"

#include <string.h>

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

static const td_dtype dtype_f32 = {TD_KIND_FLOAT, 32, 8, 4, 23, TD_FLAVOR_IEEE, 0, 0};
static const td_dtype dtype_f64 = {TD_KIND_FLOAT, 64, 11, 8, 52, TD_FLAVOR_IEEE, 0, 0};

static int float_bias(td_dtype dtype)
{
    return (1 << (dtype.exp_bits - 1)) - 1;
}

static td_num num_finite(bool negative, uint64_t sig, int32_t exp)
{
    td_num num = {sig ? TD_NUM_FINITE : TD_NUM_ZERO, negative, false, exp, sig};
    return num;
}

static td_num num_special(td_num_class class, bool negative)
{
    td_num num = {(uint8_t) class, negative, false, 0, 0};
    return num;
}

static td_num num_nan(bool negative, uint64_t payload)
{
    td_num num = {TD_NUM_NAN, negative, false, 0, payload};
    return num;
}

static td_num float_from_bits(td_dtype dtype, uint64_t bits)
{
    if (dtype.flavor == TD_FLAVOR_SCALE)
        return bits == 0xff ? num_special(TD_NUM_NAN, false) : num_finite(false, 1, (int32_t)bits - 127);

    const uint64_t man_mask = ((uint64_t)1 << dtype.man_bits) - 1;
    const uint64_t exp_mask = ((uint64_t)1 << dtype.exp_bits) - 1;
    const bool negative = bits >> (dtype.bits - 1) & 1;
    const uint64_t man = bits & man_mask;
    const uint64_t exp = bits >> dtype.man_bits & exp_mask;

    if (exp == exp_mask && dtype.flavor == TD_FLAVOR_IEEE)
        return man ? num_nan(negative, man << (64 - dtype.man_bits)) : num_special(TD_NUM_INF, negative);
    if (exp == exp_mask && dtype.flavor == TD_FLAVOR_FN && man == man_mask)
        return num_special(TD_NUM_NAN, negative);

    const int lowest = 1 - float_bias(dtype) - dtype.man_bits; /* exponent of the lowest bit of a subnormal */
    if (exp == 0)
        return num_finite(negative, man, lowest);
    return num_finite(negative, man | (man_mask + 1), lowest + (int)exp - 1);
}

td_num td_num_from_bits(td_dtype dtype, uint64_t bits)
{
    bits &= td_dtype_mask(dtype);
    if (dtype.kind == TD_KIND_FLOAT)
        return float_from_bits(dtype, bits);
    const bool negative = dtype.kind == TD_KIND_INT && (bits >> (dtype.bits - 1) & 1);
    const uint64_t magnitude = negative ? (uint64_t)0 - td_dtype_extend(dtype, bits) : bits;
    td_num num = num_finite(negative, magnitude, -(int)dtype.frac_bits);
    if (!magnitude)
        num.negative = false;
    return num;
}

td_num td_num_from_real(double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return float_from_bits(dtype_f64, bits);
}

uint64_t td_round_shift(uint64_t sig, unsigned shift, bool sticky, bool negative, uint8_t round, uint64_t random)
{
    uint64_t kept = shift < 64 ? sig >> shift : 0;
    uint64_t rest = 0; /* the dropped part as a 64-bit fraction of one kept unit */
    if (shift == 0) {
        rest = 0;
    } else if (shift <= 64) {
        rest = sig << (64 - shift);
    } else {
        const unsigned down = shift - 64;
        rest = down < 64 ? sig >> down : 0;
        sticky = sticky || (down < 64 ? sig << (64 - down) : sig) != 0;
    }
    if (rest == 0 && !sticky)
        return kept;

    const uint64_t half = (uint64_t)1 << 63;
    switch (round) {
    case TD_ROUND_EVEN:
        return kept + (rest > half || (rest == half && (sticky || (kept & 1))));
    case TD_ROUND_AWAY:
        return kept + (rest >= half);
    case TD_ROUND_FLOOR:
        return kept + (negative ? 1 : 0);
    case TD_ROUND_CEIL:
        return kept + (negative ? 0 : 1);
    case TD_ROUND_STOCHASTIC:
        return kept + (rest + random < rest);
    default:
        return kept;
    }
}

static uint8_t over_of(td_dtype dtype, uint8_t over)
{
    if (over == TD_OVER_DEFAULT)
        return dtype.kind == TD_KIND_FLOAT && dtype.flavor == TD_FLAVOR_IEEE && dtype.bits > 8 ? TD_OVER_INF
                                                                                               : TD_OVER_SAT;
    return over;
}

/* 1.5 times a power of two: halfway where no mantissa bit is kept. */
static bool is_half(uint64_t sig)
{
    return (sig << __builtin_clzll(sig)) == (uint64_t)3 << 62;
}

/* e8m0 has neither sign nor zero: what is not positive is below its range, like what is smaller than 2^-127. */
static uint64_t scale_to_bits(const td_num *num, const td_rounding *r, bool *in_range)
{
    *in_range = false;
    if (num->class == TD_NUM_NAN)
        return *in_range = true, 0xff;
    const bool to_nan = r->over == TD_OVER_INF;
    if (num->class == TD_NUM_INF)
        return to_nan ? 0xff : num->negative ? 0 : 0xfe;
    if (num->class == TD_NUM_ZERO)
        return 0;
    if (num->negative)
        return to_nan ? 0xff : 0;

    const int lead = __builtin_clzll(num->sig);
    const int exp = num->exp + 63 - lead;
    if (exp < -128)
        return 0;
    /* One bit above the point is kept: 1, or 2 when the rounding carries. To even means the even exponent code, and the
     * code's lowest bit stands in for the kept bit, which is always 1. */
    const uint64_t norm = num->sig << lead;
    uint64_t up = td_round_shift(norm, 63, num->sticky, false, r->round, r->random) - 1;
    if (r->round == TD_ROUND_EVEN && is_half(norm) && !num->sticky)
        up = (uint64_t)((exp + 127) & 1);
    const int code = exp + 127 + (int)up;
    if (code < 0) /* not rounded up to 2^-127 */
        return 0;
    if (code > 0xfe)
        return to_nan ? 0xff : 0xfe;
    *in_range = true;
    return (uint64_t)code;
}

static uint64_t float_to_bits(const td_num *num, td_dtype dtype, const td_rounding *r, bool *in_range)
{
    const uint64_t sign = num->negative ? (uint64_t)1 << (dtype.bits - 1) : 0;
    const bool saturate = over_of(dtype, r->over) != TD_OVER_INF;
    *in_range = true;
    switch (num->class) {
    case TD_NUM_NAN:
        *in_range = td_dtype_has_nan(dtype);
        if (!*in_range)
            return td_dtype_nan_bits(dtype);
        return sign | td_dtype_nan_bits(dtype) |
               (dtype.flavor == TD_FLAVOR_IEEE ? num->sig >> (64 - dtype.man_bits) : 0);
    case TD_NUM_INF:
        *in_range = td_dtype_has_inf(dtype);
        return sign | (saturate && !(r->over == TD_OVER_ERROR && *in_range) ? td_dtype_max_bits(dtype)
                                                                            : td_dtype_inf_bits(dtype));
    case TD_NUM_ZERO:
        return sign;
    default:
        break;
    }

    const int lead = __builtin_clzll(num->sig);
    const int exp = num->exp + 63 - lead; /* of the leading bit */
    const int exp_min = 1 - float_bias(dtype);
    const int exp_max = (1 << dtype.exp_bits) - 1 - float_bias(dtype);
    uint64_t bits = UINT64_MAX;
    if (exp <= exp_max) {
        const int base = exp > exp_min ? exp : exp_min;
        const unsigned shift = (unsigned)(63 - dtype.man_bits + (base - exp));
        uint64_t rounded = td_round_shift(num->sig << lead, shift < 130 ? shift : 130, num->sticky, num->negative,
                                          r->round, r->random);
        if (dtype.man_bits == 0 && base == exp && r->round == TD_ROUND_EVEN && !num->sticky && is_half(num->sig))
            rounded = 1 + (uint64_t)((base - exp_min + 1) & 1); /* the code's lowest bit is the exponent's */
        /* The leading bit counts one exponent, so subnormals, normals and a carry all come out of one sum. */
        bits = ((uint64_t)(base - exp_min) << dtype.man_bits) + rounded;
        if (r->ftz && bits < (uint64_t)1 << dtype.man_bits)
            return sign;
    }
    const uint64_t max = td_dtype_max_bits(dtype);
    if (bits <= max)
        return sign | bits;
    *in_range = false;
    /* IEEE: a rounding towards zero never passes the largest number. */
    const bool inward = r->round == TD_ROUND_ZERO || (r->round == TD_ROUND_FLOOR && !num->negative) ||
                        (r->round == TD_ROUND_CEIL && num->negative);
    return sign | (saturate || inward ? max : td_dtype_inf_bits(dtype));
}

static uint64_t int_to_bits(const td_num *num, td_dtype dtype, const td_rounding *r, bool *in_range)
{
    const uint64_t mask = td_dtype_mask(dtype);
    const bool is_signed = dtype.kind == TD_KIND_INT;
    const i128 high = is_signed ? (i128)(mask >> 1) : (i128)mask;
    const i128 low = is_signed ? -high - 1 : 0;
    i128 value = 0;
    bool beyond = false; /* the magnitude has bits at 2^64 or above, so no zero point brings it back */
    *in_range = true;

    if (num->class == TD_NUM_NAN) {
        *in_range = false; /* the zero point stands for NaN: the value 0 */
    } else if (num->class == TD_NUM_INF) {
        *in_range = false;
        return (r->over == TD_OVER_WRAP ? (uint64_t)r->zero : (uint64_t)(num->negative ? low : high)) & mask;
    } else if (num->class == TD_NUM_FINITE) {
        const int shift = -(num->exp + dtype.frac_bits);
        uint64_t magnitude = 0;
        if (shift >= 0) {
            magnitude = td_round_shift(num->sig, shift < 130 ? (unsigned)shift : 130, num->sticky, num->negative,
                                       r->round, r->random);
        } else {
            beyond = -shift > __builtin_clzll(num->sig);
            magnitude = -shift < 64 ? num->sig << -shift : 0;
        }
        value = num->negative ? -(i128)magnitude : (i128)magnitude;
    }
    value += r->zero;
    if (!beyond && value >= low && value <= high)
        return (uint64_t)value & mask;
    *in_range = false;
    if (r->over == TD_OVER_WRAP)
        return (uint64_t)value & mask;
    return (uint64_t)((beyond ? num->negative : value < low) ? low : high) & mask;
}

uint64_t td_num_to_bits(const td_num *num, td_dtype dtype, const td_rounding *rounding, bool *in_range)
{
    bool fits = true;
    uint64_t bits = 0;
    if (dtype.kind != TD_KIND_FLOAT)
        bits = int_to_bits(num, dtype, rounding, &fits);
    else if (dtype.flavor == TD_FLAVOR_SCALE)
        bits = scale_to_bits(num, rounding, &fits);
    else
        bits = float_to_bits(num, dtype, rounding, &fits);
    if (in_range)
        *in_range = fits;
    return bits;
}

/* One rounding to nearest even in the work precision. */
static td_num num_settle(td_num num, unsigned work_bits)
{
    static const td_rounding even = {TD_ROUND_EVEN, TD_OVER_INF, false, 0, 0};
    const td_dtype work = work_bits == 64 ? dtype_f64 : dtype_f32;
    return float_from_bits(work, td_num_to_bits(&num, work, &even, NULL));
}

td_num td_num_div(const td_num *a, const td_num *b, unsigned work_bits)
{
    const bool negative = a->negative != b->negative;
    if (a->class == TD_NUM_NAN)
        return num_settle(*a, work_bits);
    if (b->class == TD_NUM_NAN || (a->class == TD_NUM_INF && b->class == TD_NUM_INF) ||
        (a->class == TD_NUM_ZERO && b->class == TD_NUM_ZERO))
        return num_special(TD_NUM_NAN, false);
    if (a->class == TD_NUM_INF || b->class == TD_NUM_ZERO)
        return num_special(TD_NUM_INF, negative);
    if (a->class == TD_NUM_ZERO || b->class == TD_NUM_INF)
        return num_special(TD_NUM_ZERO, negative);

    /* A 128-bit dividend over a 64-bit divisor, both with their leading bit up: at least 63 quotient bits, and the
     * remainder is the sticky bit. */
    const int lead_a = __builtin_clzll(a->sig);
    const int lead_b = __builtin_clzll(b->sig);
    const u128 top = (u128)(a->sig << lead_a) << 63;
    const uint64_t bottom = b->sig << lead_b;
    td_num q = num_finite(negative, (uint64_t)(top / bottom), a->exp - lead_a - 63 - (b->exp - lead_b));
    q.sticky = top % bottom != 0 || a->sticky;
    return num_settle(q, work_bits);
}

td_num td_num_mul(const td_num *a, const td_num *b, unsigned work_bits)
{
    const bool negative = a->negative != b->negative;
    if (a->class == TD_NUM_NAN)
        return num_settle(*a, work_bits);
    if (b->class == TD_NUM_NAN || (a->class == TD_NUM_INF && b->class == TD_NUM_ZERO) ||
        (a->class == TD_NUM_ZERO && b->class == TD_NUM_INF))
        return num_special(TD_NUM_NAN, false);
    if (a->class == TD_NUM_INF || b->class == TD_NUM_INF)
        return num_special(TD_NUM_INF, negative);
    if (a->class == TD_NUM_ZERO || b->class == TD_NUM_ZERO)
        return num_special(TD_NUM_ZERO, negative);

    const u128 product = (u128)a->sig * b->sig;
    const uint64_t high = (uint64_t)(product >> 64);
    const int down = high ? 64 - __builtin_clzll(high) : 0;
    td_num p = num_finite(negative, (uint64_t)(product >> down), a->exp + b->exp + down);
    p.sticky = down && (uint64_t)product << (64 - down) != 0;
    return num_settle(p, work_bits);
}
