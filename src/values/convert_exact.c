/* The rule itself: one element by integer arithmetic, whatever the two types, the scale and the rounding; and the look
 * at all elements before a call in `error` mode. convert.c runs it where no faster path has the same bits, and
 * the tests compare the other paths with it. */
#include "base/fp_mode.h"
#include "base/random.h"
#include "kernels/bits.h"
#include "values/convert_choose.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

uint64_t td_convert_index(const td_convert *c, uint64_t elem)
{
    return c->axis.extent ? elem / c->axis.inner % c->axis.extent : 0;
}

double td_convert_scale_at(const td_convert *c, uint64_t k)
{
    if (!c->axis.extent || !c->axis.scale)
        return c->scale;
    return c->work_bits == 64 ? c->axis.scale[k] : (double)(float)c->axis.scale[k];
}

int64_t td_convert_zero_at(const td_convert *c, uint64_t k)
{
    return c->axis.extent && c->axis.zero ? c->axis.zero[k] : c->zero;
}

/* stored - zero, exactly: both have the same 64-bit type, so the difference has a 64-bit magnitude. */
static td_num minus_zero(td_num num, int64_t zero)
{
    if (zero == 0 || num.class > TD_NUM_FINITE)
        return num;
    const uint64_t other = zero < 0 ? (uint64_t)0 - (uint64_t)zero : (uint64_t)zero;
    const bool other_negative = zero > 0; /* -zero is added */
    if (num.class == TD_NUM_ZERO)
        num.sig = 0;
    if (num.class == TD_NUM_ZERO || num.negative == other_negative) {
        num.sig += other;
        num.negative = other_negative;
    } else if (num.sig >= other) {
        num.sig -= other;
    } else {
        num.sig = other - num.sig;
        num.negative = other_negative;
    }
    num.class = num.sig ? TD_NUM_FINITE : TD_NUM_ZERO;
    num.exp = 0;
    if (!num.sig)
        num.negative = false;
    return num;
}

static bool is_subnormal(td_dtype dtype, uint64_t bits)
{
    if (dtype.kind != TD_KIND_FLOAT || dtype.flavor == TD_FLAVOR_SCALE)
        return false;
    const uint64_t magnitude = bits & td_dtype_mask(dtype) >> 1;
    return magnitude && magnitude >> dtype.man_bits == 0;
}

/* Quotient or product in the work precision. */
static td_num scale_by(const td_convert *c, const td_num *num, double scale)
{
    const td_num factor = td_num_from_real(scale);
    return c->direction == TD_TO_MEMORY ? td_num_div(num, &factor, c->work_bits)
                                        : td_num_mul(num, &factor, c->work_bits);
}

/* The scale that takes numbers furthest. */
static double furthest_scale(const td_convert *c)
{
    double far = 0;
    for (uint64_t k = 0; k < (c->axis.extent ? c->axis.extent : 1); k++) {
        const double scale = fabs(td_convert_scale_at(c, k));
        if (k == 0 || (c->direction == TD_TO_MEMORY ? scale < far : scale > far))
            far = scale;
    }
    return far;
}

/* A finite number that the scale makes infinite is out of every range, though infinity itself may fit the target. */
void td_convert_find_safe(td_convert *c, bool refuses)
{
    c->in_target = c->check;
    c->safe = UINT64_MAX;
    if (!refuses || !c->scaled || (c->in_target && c->dst.kind != TD_KIND_FLOAT)) /* infinity fits no integer */
        return;
    const double scale = furthest_scale(c);
    const bool ordered = c->src.kind == TD_KIND_FLOAT && c->src.flavor != TD_FLAVOR_SCALE;
    /* No integer is further from 0, nor from its zero point. */
    const bool short_integer = c->src.bits < 62;
    const td_num any_integer = {.class = TD_NUM_FINITE,
                                .sig = short_integer ? (uint64_t)2 << c->src.bits : UINT64_MAX,
                                .exp = short_integer ? 0 : 1};
    uint64_t low = 0, high = ordered ? td_dtype_max_bits(c->src) : 0;
    td_num num = c->src.kind == TD_KIND_FLOAT ? td_num_from_bits(c->src, td_dtype_max_bits(c->src)) : any_integer;
    if (scale_by(c, &num, scale).class != TD_NUM_INF)
        return;
    while (high - low > 1) { /* between them the first that overflows; the bits of floats are in their order */
        const uint64_t middle = low + (high - low) / 2;
        num = td_num_from_bits(c->src, middle);
        if (scale_by(c, &num, scale).class == TD_NUM_INF)
            high = middle;
        else
            low = middle;
    }
    c->safe = low;
    c->check = true;
}

/* Magnitudes without the sign, as `safe` counts, in elements of one size. */
#define FIND_MOST(type)                                                                                                \
    do {                                                                                                               \
        type most_ = 0;                                                                                                \
        for (size_t i = 0; i < n; i++) {                                                                               \
            type value_;                                                                                               \
            memcpy(&value_, src + i * sizeof value_, sizeof value_);                                                   \
            value_ &= (type)mask;                                                                                      \
            most_ = value_ > most_ ? value_ : most_;                                                                   \
        }                                                                                                              \
        most = most_;                                                                                                  \
    } while (0)

static bool all_safe(const td_convert *c, const unsigned char *src, size_t n)
{
    const uint64_t mask = td_dtype_mask(c->src) >> 1;
    uint64_t most = 0;
    if (c->safe == UINT64_MAX || !c->safe)
        return c->safe != 0;
    switch (c->src.bytes) {
    case 1:
        FIND_MOST(uint8_t);
        break;
    case 2:
        FIND_MOST(uint16_t);
        break;
    case 4:
        FIND_MOST(uint32_t);
        break;
    default:
        FIND_MOST(uint64_t);
    }
    return most <= c->safe;
}

uint64_t td_convert_one(const td_convert *c, uint64_t bits, uint64_t elem, bool *in_range)
{
    bool overflows = false;
    if (in_range)
        *in_range = true;
    if (c->copy)
        return td_dtype_extend(c->dst, bits);
    td_rounding rounding = c->rounding;
    const uint64_t k = td_convert_index(c, elem);
    const double scale = td_convert_scale_at(c, k);
    const int64_t zero = td_convert_zero_at(c, k);
    if (rounding.round == TD_ROUND_STOCHASTIC)
        rounding.random = td_random_at(c->seed, elem);

    td_num num = td_num_from_bits(c->src, bits);
    if (c->ftz && is_subnormal(c->src, bits))
        num.class = TD_NUM_ZERO;
    if (c->direction == TD_TO_MEMORY)
        rounding.zero = zero;
    else
        num = minus_zero(num, zero);
    if (c->scaled) {
        const bool finite = num.class == TD_NUM_FINITE;
        num = scale_by(c, &num, scale);
        overflows = finite && num.class == TD_NUM_INF;
    }
    const uint64_t stored = td_num_to_bits(&num, c->dst, &rounding, in_range);
    if (in_range && overflows)
        *in_range = false;
    return td_dtype_extend(c->dst, stored);
}

/* -- a look at many elements at once ------------------------------------------------------------------------------- */

#define LOOK_ELEMS 4096
#define LIMITS_ELEMS 16384 /* fewer are looked at sooner than the limits are found */

/* The numbers from low to high fit: conversions keep the order of numbers, so that two of them tell of all between. */
typedef struct limits {
    bool known;
    double low, high;
} limits;

/* The number of that sign furthest from 0 that fits, whatever random bits it gets; NaN where not even 0 does. */
static double find_limit(const td_convert *c, bool negative)
{
    td_convert any = *c; /* td_convert_one reads none of what points into itself */
    if (c->rounding.round == TD_ROUND_STOCHASTIC)
        any.rounding.round = negative ? TD_ROUND_FLOOR : TD_ROUND_CEIL;
    const uint64_t sign = negative ? (uint64_t)1 << (c->src.bits - 1) : 0;
    uint64_t fits = 0, fails = td_dtype_max_bits(c->src) + 1;
    bool in_range = true;
    (void)td_convert_one(&any, sign, 0, &in_range);
    if (!in_range)
        return (double)NAN;
    while (fails - fits > 1) { /* the bits of floats are in their order */
        const uint64_t middle = fits + (fails - fits) / 2;
        (void)td_convert_one(&any, sign | middle, 0, &in_range);
        if (in_range)
            fits = middle;
        else
            fails = middle;
    }
    return td_dtype_to_real(c->src, sign | fits);
}

/* Floats that C compares by itself. */
static bool is_native(td_dtype d)
{
    return d.kind == TD_KIND_FLOAT && d.flavor == TD_FLAVOR_IEEE &&
           ((d.exp_bits == 8 && d.man_bits == 23) || (d.exp_bits == 11 && d.man_bits == 52));
}

static limits find_limits(const td_convert *c, size_t n)
{
    limits l = {.known = n >= LIMITS_ELEMS && c->in_target && !c->axis.extent && is_native(c->src) &&
                         (c->direction == TD_TO_MEMORY || !c->zero)};
    if (l.known) {
        l.low = find_limit(c, true);
        l.high = find_limit(c, false);
    }
    return l;
}

/* NaN is outside of all limits, and limits that are NaN have nothing inside. */
static bool all_inside(const td_convert *c, const limits *l, const unsigned char *src, size_t n)
{
    if (!l->known || !(l->low <= l->high))
        return false;
    td_cast_params p = {0};
    if (c->src.bytes == sizeof(double)) {
        memcpy(&p.low_bits, &l->low, sizeof l->low);
        memcpy(&p.high_bits, &l->high, sizeof l->high);
    } else {
        const float low = (float)l->low, high = (float)l->high;
        memcpy(&p.low32_bits, &low, sizeof low);
        memcpy(&p.high32_bits, &high, sizeof high);
    }
    return !c->within(NULL, src, n, &p);
}

td_status td_convert_check(const td_convert *c, const void *src, size_t n, uint64_t first, int64_t step, size_t *bad)
{
    if (!c->check)
        return TD_OK;
    const unsigned mode = td_mode_enter();
    const limits inside = find_limits(c, n);
    size_t i = 0, settled = 0;
    for (; i < n; i++) {
        if (i == settled &&
            (c->put || !c->in_target || inside.known)) { /* many at once; one by one where some does not fit */
            const size_t part = n - i < LOOK_ELEMS ? n - i : LOOK_ELEMS;
            const unsigned char *at = (const unsigned char *)src + i * c->src.bytes;
            settled += part;
            if (all_inside(c, &inside, at, part) ||
                ((c->put || !c->in_target) && all_safe(c, at, part) &&
                 (!c->in_target || td_convert_cast_fits(c, at, part, first + (uint64_t)step * i, step)))) {
                i += part - 1;
                continue;
            }
        }
        bool in_range = true;
        (void)td_convert_one(c, td_get_elem((const unsigned char *)src + i * c->src.bytes, c->src.bytes),
                             first + (uint64_t)step * i, &in_range);
        if (!in_range)
            break;
    }
    td_mode_leave(mode);
    if (i == n)
        return TD_OK;
    const uint64_t bits =
        td_get_elem((const unsigned char *)src + i * c->src.bytes, c->src.bytes) & td_dtype_mask(c->src);
    char to[TD_DTYPE_NAME_BYTES];
    td_dtype_print(c->dst, to);
    *bad = i;
    return td_fail(
        TD_RANGE,
        "element %" PRIu64 " is %.9g (0x%0*" PRIx64 "), which does not fit %s (as \"%s\"); change the scale, or "
        "pass sat in place of error",
        first + (uint64_t)step * i, td_dtype_to_real(c->src, bits), (c->src.bits + 3) / 4, bits, to, c->as_text);
}
