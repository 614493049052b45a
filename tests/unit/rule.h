/* An independent rule for small formats: every code's value by ldexp, the image of a real number by looking which two
 * codes it lies between. It shares nothing with the library but the formats' definitions in the standards. */
#ifndef TD_TEST_RULE_H
#define TD_TEST_RULE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef enum rule_kind { RULE_SIGNED, RULE_UNSIGNED, RULE_FLOAT, RULE_POWER } rule_kind;

typedef struct rule_format {
    const char *name;
    rule_kind kind;
    int bits, exp_bits, man_bits; /* integers and fixed point: man_bits is the number of fraction bits */
    int bias;
    uint32_t max;   /* floats: the code of the largest number */
    int64_t inf;    /* -1: none */
    int64_t nan;    /* -1: none; the quiet one without payload */
    bool saturates; /* by default */
} rule_format;

static const rule_format rule_formats[] = {
    {"f16", RULE_FLOAT, 16, 5, 10, 15, 0x7bff, 0x7c00, 0x7e00, false},
    {"bf16", RULE_FLOAT, 16, 8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, false},
    {"e6m9", RULE_FLOAT, 16, 6, 9, 31, 0x7dff, 0x7e00, 0x7f00, false},
    {"e4m3", RULE_FLOAT, 8, 4, 3, 7, 0x7e, -1, 0x7f, true},
    {"e5m2", RULE_FLOAT, 8, 5, 2, 15, 0x7b, 0x7c, 0x7e, true},
    {"e3m4", RULE_FLOAT, 8, 3, 4, 3, 0x6f, 0x70, 0x78, true},
    {"e3m2", RULE_FLOAT, 6, 3, 2, 3, 0x1f, -1, -1, true},
    {"e2m3", RULE_FLOAT, 6, 2, 3, 1, 0x1f, -1, -1, true},
    {"e2m1", RULE_FLOAT, 4, 2, 1, 1, 0x7, -1, -1, true},
    {"e3m0", RULE_FLOAT, 4, 3, 0, 3, 0x7, -1, -1, true},
    {"e1m2", RULE_FLOAT, 4, 1, 2, 0, 0x7, -1, -1, true},
    {"e8m0", RULE_POWER, 8, 8, 0, 127, 0xfe, -1, 0xff, true},
    {"i8", RULE_SIGNED, 8, 0, 0, 0, 0, -1, -1, true},
    {"u8", RULE_UNSIGNED, 8, 0, 0, 0, 0, -1, -1, true},
    {"i4", RULE_SIGNED, 4, 0, 0, 0, 0, -1, -1, true},
    {"u3", RULE_UNSIGNED, 3, 0, 0, 0, 0, -1, -1, true},
    {"i16", RULE_SIGNED, 16, 0, 0, 0, 0, -1, -1, true},
    {"u16", RULE_UNSIGNED, 16, 0, 0, 0, 0, -1, -1, true},
    {"i12", RULE_SIGNED, 12, 0, 0, 0, 0, -1, -1, true},
    {"q1.15", RULE_SIGNED, 16, 0, 15, 0, 0, -1, -1, true},
    {"q4.4", RULE_SIGNED, 8, 0, 4, 0, 0, -1, -1, true},
    {"uq0.8", RULE_UNSIGNED, 8, 0, 8, 0, 0, -1, -1, true},
};

#define RULE_FORMATS (sizeof rule_formats / sizeof rule_formats[0])

/* The value of a code without sign; also of the code after the largest, as if the numbers went on. */
static inline double rule_magnitude(const rule_format *f, uint32_t code)
{
    if (f->kind == RULE_POWER)
        return ldexp(1, (int)code - f->bias);
    const uint32_t exponent = code >> f->man_bits, mantissa = code & ((1U << f->man_bits) - 1);
    if (exponent == 0)
        return ldexp(mantissa, 1 - f->bias - f->man_bits);
    return ldexp(mantissa + (1U << f->man_bits), (int)exponent - f->bias - f->man_bits);
}

static inline bool rule_is_int(const rule_format *f)
{
    return f->kind == RULE_SIGNED || f->kind == RULE_UNSIGNED;
}

/* The value of every code; NaN and infinity where the format says so. */
static inline double rule_value(const rule_format *f, uint32_t code)
{
    const uint32_t sign_bit = 1U << (f->bits - 1);
    if (f->kind == RULE_UNSIGNED)
        return ldexp(code, -f->man_bits);
    if (f->kind == RULE_SIGNED)
        return ldexp((double)code - (code & sign_bit ? 2.0 * sign_bit : 0), -f->man_bits);
    if (f->kind == RULE_POWER)
        return code == f->nan ? NAN : rule_magnitude(f, code);
    const uint32_t magnitude = code & (sign_bit - 1);
    const double sign = code & sign_bit ? -1 : 1;
    if (magnitude == f->inf)
        return sign * INFINITY;
    if (magnitude > f->max)
        return NAN;
    return sign * rule_magnitude(f, magnitude);
}

/* The real number from which on (or above which, when `code` is even) the code after `code` is nearer. Exact: two
 * neighbours of at most 16 bits have a midpoint of 17. */
static inline double rule_midpoint(const rule_format *f, uint32_t code)
{
    return (rule_magnitude(f, code) + rule_magnitude(f, code + 1)) / 2;
}

/* Nearest even of a magnitude among 0 .. max + 1, beginning the search at *from (which must not be too high). */
static inline uint32_t rule_nearest(const rule_format *f, double magnitude, uint32_t from)
{
    uint32_t code = from;
    while (code <= f->max) {
        const double middle = rule_midpoint(f, code);
        if (magnitude < middle || (magnitude == middle && (code & 1) == 0))
            break;
        code++;
    }
    return code;
}

/* The code of `x` by default rules; `from` as above. NaN gives the quiet code without payload and without sign. */
static inline uint32_t rule_code(const rule_format *f, double x, uint32_t *from)
{
    const uint32_t sign_bit = 1U << (f->bits - 1);
    if (rule_is_int(f)) {
        const double low = f->kind == RULE_SIGNED ? -(double)sign_bit : 0;
        const double high = f->kind == RULE_SIGNED ? (double)sign_bit - 1 : 2.0 * sign_bit - 1;
        double whole = isnan(x) ? 0 : nearbyint(ldexp(x, f->man_bits));
        whole = whole < low ? low : whole > high ? high : whole;
        return (uint32_t)(int32_t)whole & (2 * sign_bit - 1);
    }
    if (isnan(x))
        return f->nan >= 0 ? (uint32_t)f->nan : f->max;
    if (f->kind == RULE_POWER) {
        if (x <= 0)
            return 0;
        if (isinf(x))
            return f->max;
        *from = rule_nearest(f, x, *from);
        return *from > f->max ? f->max : *from;
    }
    const uint32_t sign = signbit(x) ? sign_bit : 0;
    uint32_t code = f->max + 1;
    if (!isinf(x))
        code = *from = rule_nearest(f, fabs(x), *from);
    if (code > f->max)
        code = f->saturates || f->inf < 0 ? f->max : (uint32_t)f->inf;
    return sign | code;
}

/* A place to begin the search: the largest code whose value is at most `magnitude`. */
static inline uint32_t rule_below(const rule_format *f, double magnitude)
{
    uint32_t low = 0, high = f->max;
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;
        if (rule_magnitude(f, middle) <= magnitude)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

#endif
