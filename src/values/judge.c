/* See judge.h. */
#include "values/judge.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

void td_judge_init(const td_policy *policy, td_dtype dtype, td_judge *out)
{
    td_judge j = {.policy = *policy, .dtype = dtype, .mask = td_dtype_mask(dtype)};
    const bool is_float = dtype.kind == TD_KIND_FLOAT, has_sign = is_float && dtype.flavor != TD_FLAVOR_SCALE;
    j.magnitude = has_sign ? j.mask >> 1 : j.mask;
    j.first_inf = j.first_nan = UINT64_MAX;
    if (is_float && td_dtype_has_nan(dtype)) {
        j.first_inf = td_dtype_max_bits(dtype) + 1;
        j.first_nan = j.first_inf + (td_dtype_has_inf(dtype) ? 1 : 0);
    }
    j.first_normal = has_sign ? (uint64_t)1 << dtype.man_bits : 0;
    j.step = ldexp(1, -(int)dtype.frac_bits);
    j.fast_decode = has_sign && dtype.exp_bits <= 8 && dtype.bits <= 32;
    j.bits_decide = !is_float || (policy->nan != TD_NAN_DIFFER && !policy->inf_differ);
    *out = j;
}

bool td_judge_is_nan(const td_judge *j, uint64_t bits)
{
    return (bits & j->magnitude) >= j->first_nan;
}

double td_judge_value(const td_judge *j, uint64_t bits)
{
    const td_dtype d = j->dtype;
    double value = 0;
    if (d.kind != TD_KIND_FLOAT) {
        const uint64_t wide = td_dtype_extend(d, bits);
        return (d.kind == TD_KIND_INT ? (double)(int64_t)wide : (double)wide) * j->step;
    }
    const uint64_t magnitude = bits & j->magnitude;
    if (!j->fast_decode || magnitude >= j->first_inf)
        return td_dtype_to_real(d, bits);
    const int bias = (1 << (d.exp_bits - 1)) - 1;
    if (magnitude < j->first_normal)
        value = ldexp((double)magnitude, 1 - bias - d.man_bits);
    else {
        /* Every such exponent is a normal one of double: the fields are moved over and the bias is exchanged. */
        const uint64_t image = (magnitude << (52 - d.man_bits)) + ((uint64_t)(1023 - bias) << 52);
        memcpy(&value, &image, sizeof value);
    }
    return (bits & ~j->magnitude & j->mask) != 0 ? -value : value;
}

/* Floats on one line of whole numbers, zero in the middle. */
static int64_t rank_of(const td_judge *j, uint64_t bits)
{
    uint64_t magnitude = bits & j->magnitude;
    if (j->policy.ftz && j->first_normal)
        magnitude = magnitude < j->first_normal ? 0 : magnitude - j->first_normal + 1;
    return (bits & ~j->magnitude & j->mask) != 0 ? -(int64_t)magnitude : (int64_t)magnitude;
}

uint64_t td_ulp_distance(const td_judge *j, uint64_t a, uint64_t b)
{
    if (j->dtype.kind == TD_KIND_UINT)
        return a > b ? a - b : b - a;
    int64_t x = 0, y = 0;
    if (j->dtype.kind == TD_KIND_INT) {
        x = (int64_t)td_dtype_extend(j->dtype, a);
        y = (int64_t)td_dtype_extend(j->dtype, b);
    } else {
        x = rank_of(j, a);
        y = rank_of(j, b);
    }
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

static uint64_t flushed(const td_judge *j, uint64_t bits)
{
    return (bits & j->magnitude) < j->first_normal ? bits & ~j->magnitude : bits;
}

/* factor * m as a whole number and a fraction of 2^128. What is past 2^100 is as good as 2^100. */
static void split(double factor, uint64_t m, u128 *whole, u128 *fraction)
{
    int exponent = 0;
    const u128 product = (u128)(uint64_t)ldexp(frexp(factor, &exponent), 53) * m;
    const int down = 53 - exponent;
    *whole = *fraction = 0;
    if (product == 0)
        return;
    const int bits =
        (product >> 64 ? 128 - __builtin_clzll((uint64_t)(product >> 64)) : 64 - __builtin_clzll((uint64_t)product));
    if (bits - down > 100) {
        *whole = (u128)1 << 100;
    } else if (down <= 0) {
        *whole = product << -down;
    } else if (down < 128) {
        *whole = product >> down;
        *fraction = product << (128 - down);
    } else if (down < 256) {
        *fraction = product >> (down - 128);
    }
}

/* steps <= atol / step + rtol * |expected|, exactly: a double has no place for 64 bits. Of the two fractions at most
 * one has bits below 2^-128 when their sum is near 1, so that what is cut off does not matter. */
static bool is_close_exactly(const td_judge *j, uint64_t steps, uint64_t expected)
{
    const uint64_t wide = td_dtype_extend(j->dtype, expected);
    const bool negative = j->dtype.kind == TD_KIND_INT && wide >> 63;
    const double atol = j->policy.atol / j->step; /* a power of two */
    u128 whole[2], fraction[2];
    if (isinf(atol))
        return true;
    split(atol, 1, &whole[0], &fraction[0]);
    split(j->policy.rtol, negative ? (uint64_t)0 - wide : wide, &whole[1], &fraction[1]);
    const u128 carry = fraction[0] + fraction[1] < fraction[0];
    return steps <= whole[0] + whole[1] + carry;
}

td_verdict td_judge_pair(const td_judge *j, uint64_t expected, uint64_t actual)
{
    const td_policy *p = &j->policy;
    td_verdict v = {0};
    if (j->dtype.kind != TD_KIND_FLOAT) {
        v.ulp = td_ulp_distance(j, expected, actual);
        v.error = (double)v.ulp * j->step;
        v.equal = v.ulp == 0 || (p->has_ulp && v.ulp <= p->ulp);
        if (!v.equal && p->has_real && j->dtype.bytes == 8)
            v.equal = is_close_exactly(j, v.ulp, expected);
        else if (!v.equal && p->has_real)
            v.equal = (long double)v.ulp * (long double)j->step <=
                      (long double)p->atol + (long double)p->rtol * fabsl((long double)td_judge_value(j, expected));
        return v;
    }
    const bool expected_nan = td_judge_is_nan(j, expected), actual_nan = td_judge_is_nan(j, actual);
    if (expected_nan || actual_nan) {
        v.apart = true;
        v.equal =
            (p->nan == TD_NAN_BITS && expected == actual) || (p->nan == TD_NAN_EQUAL && expected_nan && actual_nan);
        return v;
    }
    if (p->ftz) {
        expected = flushed(j, expected);
        actual = flushed(j, actual);
    }
    v.ulp = td_ulp_distance(j, expected, actual);
    const bool infinite = (expected & j->magnitude) >= j->first_inf || (actual & j->magnitude) >= j->first_inf;
    if (infinite) {
        v.error = expected == actual ? 0 : INFINITY;
        v.equal = expected == actual && !p->inf_differ;
        return v;
    }
    const double e = td_judge_value(j, expected), a = td_judge_value(j, actual);
    v.error = fabs(a - e);
    if (v.ulp == 0) {
        v.equal = expected == actual || !p->zero_differ;
        return v;
    }
    v.equal = (p->has_ulp && v.ulp <= p->ulp) || (p->has_real && v.error <= p->atol + p->rtol * fabs(e));
    return v;
}
