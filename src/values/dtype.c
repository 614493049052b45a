/* See dtype.h. Names are read by family (a prefix and numbers), so that no table has to list all of them. It refuses
 * unknown names, each with the nearest known one, and values that a type does not hold. */
#include "values/dtype.h"
#include "base/suggest.h"
#include "base/text.h"
#include "values/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN_TEXT "u1..u64, i1..i64, f16, bf16, f32, f64, e<X>m<Y>, q<m>.<n> or uq<m>.<n>"

/* The names with a meaning of their own; the others of their families come from numbers. */
static const struct named_float {
    const char *name;
    td_dtype dtype;
} named_floats[] = {
    {"f16", {TD_KIND_FLOAT, 16, 5, 2, 10, TD_FLAVOR_IEEE, 0, 0}},
    {"bf16", {TD_KIND_FLOAT, 16, 8, 2, 7, TD_FLAVOR_IEEE, 0, 0}},
    {"f32", {TD_KIND_FLOAT, 32, 8, 4, 23, TD_FLAVOR_IEEE, 0, 0}},
    {"f64", {TD_KIND_FLOAT, 64, 11, 8, 52, TD_FLAVOR_IEEE, 0, 0}},
    {"e4m3", {TD_KIND_FLOAT, 8, 4, 1, 3, TD_FLAVOR_FN, 0, 0}},
    {"e3m2", {TD_KIND_FLOAT, 6, 3, 1, 2, TD_FLAVOR_FINITE, 0, 0}},
    {"e2m3", {TD_KIND_FLOAT, 6, 2, 1, 3, TD_FLAVOR_FINITE, 0, 0}},
    {"e2m1", {TD_KIND_FLOAT, 4, 2, 1, 1, TD_FLAVOR_FINITE, 0, 0}},
    {"e8m0", {TD_KIND_FLOAT, 8, 8, 1, 0, TD_FLAVOR_SCALE, 0, 0}},
};

#define NAMED_FLOATS (sizeof named_floats / sizeof named_floats[0])

static uint8_t place_bytes(unsigned bits)
{
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

/* Decimal digits without sign or leading zero, at most 999; the rest of the text, or NULL. */
static const char *read_number(const char *text, unsigned *out)
{
    if (*text < '0' || *text > '9' || (text[0] == '0' && text[1] >= '0' && text[1] <= '9'))
        return NULL;
    unsigned value = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (unsigned)(*text - '0');
        if (value > 999)
            return NULL;
    }
    *out = value;
    return text;
}

/* A prefix, a number and, where `separator` is not 0, that letter and a second number, and nothing after. */
static bool read_family(const char *name, const char *prefix, char separator, unsigned *first, unsigned *second)
{
    const size_t length = strlen(prefix);
    const char *rest = strncmp(name, prefix, length) == 0 ? read_number(name + length, first) : NULL;
    if (rest && separator)
        rest = *rest == separator ? read_number(rest + 1, second) : NULL;
    return rest && *rest == 0;
}

static td_dtype make_int(td_kind kind, unsigned bits)
{
    const td_dtype dtype = {(uint8_t)kind, (uint8_t)bits, 0, place_bytes(bits), 0, 0, 0, 0};
    return dtype;
}

static td_status parse_fixed(const char *name, td_kind kind, unsigned whole, unsigned fraction, td_dtype *out)
{
    const unsigned bits = whole + fraction;
    if (bits < 1 || bits > 64)
        return td_fail(TD_DTYPE,
                       "dtype \"%s\" has %u bits, and fixed point has 1 to 64 (the sign is one of the whole bits); "
                       "use fewer whole or fraction bits, like %s8.8",
                       name, bits, kind == TD_KIND_INT ? "q" : "uq");
    *out = make_int(kind, bits);
    out->fixed = 1;
    out->frac_bits = (uint8_t)fraction;
    return TD_OK;
}

static td_status parse_float(const char *name, unsigned exp_bits, unsigned man_bits, td_dtype *out)
{
    if (exp_bits < 1 || exp_bits > 11 || man_bits > 52)
        return td_fail(
            TD_DTYPE,
            "dtype \"%s\" has %u exponent and %u mantissa bits, and a float has 1 to 11 and 0 to 52; use e11m52 "
            "(f64) at most",
            name, exp_bits, man_bits);
    const unsigned bits = 1 + exp_bits + man_bits;
    const bool finite = exp_bits == 1 || man_bits == 0;
    const td_dtype dtype = {TD_KIND_FLOAT,
                            (uint8_t)bits,
                            (uint8_t)exp_bits,
                            place_bytes(bits),
                            (uint8_t)man_bits,
                            finite ? TD_FLAVOR_FINITE : TD_FLAVOR_IEEE,
                            0,
                            0};
    *out = dtype;
    return TD_OK;
}

/* What other tools call our types. The number that follows the word is kept; "_t" behind it, as in C, is not. */
static bool translate(const char *given, char *out)
{
    char name[TD_DTYPE_NAME_BYTES] = "";
    const size_t length = strlen(given), tail = length > 2 && strcmp(given + length - 2, "_t") == 0 ? 2 : 0;
    memcpy(name, given, length - tail < sizeof name ? length - tail : sizeof name - 1);
    static const char *const words[][2] = {{"uint", "u"},    {"int", "i"}, {"float", "f"}, {"fp", "f"},
                                           {"bfloat", "bf"}, {"s", "i"},   {"sint", "i"},  {"b", "u"}};
    static const char *const whole[][2] = {
        {"half", "f16"},    {"single", "f32"},       {"float", "f32"}, {"double", "f64"}, {"bool", "u1"},
        {"byte", "u8"},     {"fp8", "e4m3"},         {"f8", "e4m3"},   {"fp4", "e2m1"},   {"f4", "e2m1"},
        {"int", "i32"},     {"uint", "u32"},         {"fp6", "e3m2"},  {"f6", "e3m2"},    {"float8_e4m3fn", "e4m3"},
        {"e4m3fn", "e4m3"}, {"float8_e5m2", "e5m2"}, {"tf32", "e8m10"}};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        if (strcmp(name, whole[i][0]) == 0) {
            snprintf(out, TD_DTYPE_NAME_BYTES, "%s", whole[i][1]);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        unsigned bits = 0;
        if (read_family(name, words[i][0], 0, &bits, NULL)) {
            const char *to = words[i][1];
            const bool known = *to == 'f'   ? bits == 16 || bits == 32 || bits == 64
                               : *to == 'b' ? bits == 16
                                            : bits >= 1 && bits <= 64;
            if (known)
                snprintf(out, TD_DTYPE_NAME_BYTES, "%s%u", to, bits);
            return known;
        }
    }
    return false;
}

static td_status fail_unknown(const char *name)
{
    static const char *const known[] = {"u1",   "u2",   "u4",   "u8",   "u16",  "u32",  "u64",  "i1",   "i2",
                                        "i4",   "i8",   "i16",  "i32",  "i64",  "f16",  "bf16", "f32",  "f64",
                                        "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "e8m0", "q8.8", "uq8.8"};
    char lower[TD_DTYPE_NAME_BYTES] = "";
    char translated[TD_DTYPE_NAME_BYTES];
    td_dtype found;
    for (size_t i = 0; name[i] && i + 1 < sizeof lower; i++)
        lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + ('a' - 'A') : name[i]);
    const char *near = NULL;
    if (strlen(name) < sizeof lower && strcmp(lower, name) != 0 && td_dtype_parse(lower, &found) == TD_OK)
        near = lower;
    else if (translate(lower, translated))
        near = translated;
    else
        near = td_suggest(name, known, sizeof known / sizeof known[0]);
    if (near)
        return td_fail(TD_DTYPE, "unknown dtype \"%s\"; did you mean \"%s\"? a dtype is " KNOWN_TEXT, name, near);
    return td_fail(TD_DTYPE, "unknown dtype \"%s\"; pass one of " KNOWN_TEXT, name);
}

td_status td_dtype_parse(const char *name, td_dtype *out)
{
    unsigned a = 0;
    unsigned b = 0;
    if (!name)
        return td_fail(TD_ARGUMENT, "the dtype is NULL; pass one of " KNOWN_TEXT);
    for (size_t i = 0; i < NAMED_FLOATS; i++) {
        if (strcmp(name, named_floats[i].name) == 0) {
            *out = named_floats[i].dtype;
            return TD_OK;
        }
    }
    if (read_family(name, "u", 0, &a, NULL) || read_family(name, "i", 0, &a, NULL)) {
        if (a < 1 || a > 64)
            return td_fail(TD_DTYPE, "dtype \"%s\" has %u bits, and an integer has 1 to 64; use %c%d", name, a, name[0],
                           a < 1 ? 1 : 64);
        *out = make_int(name[0] == 'u' ? TD_KIND_UINT : TD_KIND_INT, a);
        return TD_OK;
    }
    if (read_family(name, "e", 'm', &a, &b))
        return parse_float(name, a, b, out);
    if (read_family(name, "q", '.', &a, &b))
        return parse_fixed(name, TD_KIND_INT, a, b, out);
    if (read_family(name, "uq", '.', &a, &b))
        return parse_fixed(name, TD_KIND_UINT, a, b, out);
    return fail_unknown(name);
}

void td_dtype_print(td_dtype dtype, char *name)
{
    for (size_t i = 0; i < NAMED_FLOATS; i++) {
        if (td_dtype_equal(dtype, named_floats[i].dtype)) {
            snprintf(name, TD_DTYPE_NAME_BYTES, "%s", named_floats[i].name);
            return;
        }
    }
    if (dtype.kind == TD_KIND_FLOAT)
        snprintf(name, TD_DTYPE_NAME_BYTES, "e%um%u", dtype.exp_bits, dtype.man_bits);
    else if (dtype.fixed)
        snprintf(name, TD_DTYPE_NAME_BYTES, "%s%u.%u", dtype.kind == TD_KIND_INT ? "q" : "uq",
                 (unsigned)dtype.bits - dtype.frac_bits, dtype.frac_bits);
    else
        snprintf(name, TD_DTYPE_NAME_BYTES, "%c%u", dtype.kind == TD_KIND_INT ? 'i' : 'u', dtype.bits);
}

bool td_dtype_equal(td_dtype a, td_dtype b)
{
    return a.kind == b.kind && a.bits == b.bits && a.exp_bits == b.exp_bits && a.man_bits == b.man_bits &&
           a.flavor == b.flavor && a.fixed == b.fixed && a.frac_bits == b.frac_bits;
}

uint64_t td_dtype_mask(td_dtype dtype)
{
    return UINT64_MAX >> (64 - dtype.bits);
}

uint64_t td_dtype_extend(td_dtype dtype, uint64_t bits)
{
    const uint64_t mask = td_dtype_mask(dtype);
    bits &= mask;
    return dtype.kind == TD_KIND_INT && (bits >> (dtype.bits - 1) & 1) ? bits | ~mask : bits;
}

bool td_dtype_has_inf(td_dtype dtype)
{
    return dtype.kind == TD_KIND_FLOAT && dtype.flavor == TD_FLAVOR_IEEE;
}

bool td_dtype_has_nan(td_dtype dtype)
{
    return dtype.kind == TD_KIND_FLOAT && dtype.flavor != TD_FLAVOR_FINITE;
}

uint64_t td_dtype_max_bits(td_dtype dtype)
{
    const uint64_t mask = td_dtype_mask(dtype);
    if (dtype.kind != TD_KIND_FLOAT)
        return dtype.kind == TD_KIND_INT ? mask >> 1 : mask;
    switch (dtype.flavor) {
    case TD_FLAVOR_IEEE:
        return (mask >> 1) - ((uint64_t)1 << dtype.man_bits);
    case TD_FLAVOR_FN:
        return (mask >> 1) - 1;
    case TD_FLAVOR_SCALE:
        return 0xfe;
    default:
        return mask >> 1;
    }
}

uint64_t td_dtype_inf_bits(td_dtype dtype)
{
    return td_dtype_has_inf(dtype) ? td_dtype_max_bits(dtype) + 1 : td_dtype_nan_bits(dtype);
}

uint64_t td_dtype_nan_bits(td_dtype dtype)
{
    if (!td_dtype_has_nan(dtype))
        return td_dtype_max_bits(dtype);
    /* IEEE: quiet, no payload. */
    return td_dtype_max_bits(dtype) + 1 + (dtype.flavor == TD_FLAVOR_IEEE ? (uint64_t)1 << (dtype.man_bits - 1) : 0);
}

/* The smallest and largest value as text, for messages: exact for integers. */
static void print_range(td_dtype dtype, char *text, size_t bytes)
{
    const uint64_t max = td_dtype_max_bits(dtype);
    if (dtype.fixed)
        td_text_print(text, bytes, "%.17g to %.17g", dtype.kind == TD_KIND_INT ? td_dtype_to_real(dtype, max + 1) : 0.0,
                      td_dtype_to_real(dtype, max));
    else if (dtype.kind == TD_KIND_INT)
        snprintf(text, bytes, "%lld to %lld", -(long long)max - 1, (long long)max);
    else
        snprintf(text, bytes, "0 to %llu", (unsigned long long)max);
}

static td_status fail_range(td_dtype dtype, const char *value)
{
    char name[TD_DTYPE_NAME_BYTES];
    char range[80];
    td_dtype_print(dtype, name);
    print_range(dtype, range, sizeof range);
    return td_fail(TD_RANGE, "value %s is not in %s, which holds %s%s; pass a value in that range", value, name,
                   dtype.fixed ? "" : "whole numbers from ", range);
}

/* `text` is how the value was written, for the message. */
static td_status num_to_bits(td_dtype dtype, const td_num *num, const char *text, uint64_t *bits)
{
    static const td_rounding even = {TD_ROUND_EVEN, TD_OVER_INF, false, 0, 0};
    /* Wrapped, so that floor and ceil also differ just outside the range: between -1 and 0 for unsigned types. */
    static const td_rounding floor_only = {TD_ROUND_FLOOR, TD_OVER_WRAP, false, 0, 0};
    static const td_rounding ceil_only = {TD_ROUND_CEIL, TD_OVER_WRAP, false, 0, 0};
    bool in_range = true;
    const uint64_t result = td_num_to_bits(num, dtype, &even, &in_range);
    if (dtype.kind != TD_KIND_FLOAT) {
        const bool whole = dtype.fixed || td_num_to_bits(num, dtype, &floor_only, NULL) ==
                                              td_num_to_bits(num, dtype, &ceil_only, NULL);
        if (!in_range || !whole)
            return fail_range(dtype, text);
    }
    *bits = result;
    return TD_OK;
}

td_status td_dtype_from_real(td_dtype dtype, double value, uint64_t *bits)
{
    char text[40] = "";
    const td_num num = td_num_from_real(value);
    if (dtype.kind != TD_KIND_FLOAT) /* floats take every value: no message to print it in */
        td_text_print(text, sizeof text, "%.17g", value);
    return num_to_bits(dtype, &num, text, bits);
}

/* A whole number in decimal or 0x, with a sign; false when the text is anything else or needs more than 64 bits. */
static bool read_whole(const char *text, td_num *out)
{
    const bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (hex)
        text += 2;
    const char *digits = text;
    uint64_t value = 0;
    for (;; text++) {
        unsigned digit = 0;
        if (*text >= '0' && *text <= '9')
            digit = (unsigned)(*text - '0');
        else if (hex && *text >= 'a' && *text <= 'f')
            digit = (unsigned)(*text - 'a') + 10;
        else if (hex && *text >= 'A' && *text <= 'F')
            digit = (unsigned)(*text - 'A') + 10;
        else
            break;
        if (__builtin_mul_overflow(value, hex ? 16U : 10U, &value) || __builtin_add_overflow(value, digit, &value))
            return false;
    }
    if (text == digits || *text)
        return false;
    const td_num num = {value ? TD_NUM_FINITE : TD_NUM_ZERO, negative, false, 0, value};
    *out = num;
    return true;
}

td_status td_dtype_from_text(td_dtype dtype, const char *text, uint64_t *bits)
{
    char name[TD_DTYPE_NAME_BYTES];
    td_num num;
    if (!read_whole(text, &num)) {
        char *end = NULL;
        const double value = td_text_real(text, &end);
        if (end == text || *end || text[0] == ' ') {
            td_dtype_print(dtype, name);
            return td_fail(TD_OPTION, "\"%s\" is not a number; pass a value of %s like %s", text, name,
                           dtype.kind == TD_KIND_FLOAT || dtype.fixed ? "0.5, -1 or 0x10" : "1 or 0x10");
        }
        num = td_num_from_real(value);
    }
    return num_to_bits(dtype, &num, text, bits);
}

double td_dtype_to_real(td_dtype dtype, uint64_t bits)
{
    static const td_dtype f64 = {TD_KIND_FLOAT, 64, 11, 8, 52, TD_FLAVOR_IEEE, 0, 0};
    static const td_rounding even = {TD_ROUND_EVEN, TD_OVER_INF, false, 0, 0};
    const td_num num = td_num_from_bits(dtype, bits);
    const uint64_t image = td_num_to_bits(&num, f64, &even, NULL);
    double value = 0;
    memcpy(&value, &image, sizeof value);
    return value;
}
