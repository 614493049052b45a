/* The rule itself: one element by integer arithmetic, whatever the two types, the scale and the rounding; and the look
 * at all elements before a call in `error` mode. convert.c runs it where no faster path has the same bits, and
 * the tests compare the other paths with it. */
#include "base/random.h"
#include "kernels/bits.h"
#include "values/convert_choose.h"

#include <inttypes.h>
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

uint64_t td_convert_one(const td_convert *c, uint64_t bits, uint64_t elem, bool *in_range)
{
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
    const td_num factor = td_num_from_real(scale);
    if (c->direction == TD_TO_MEMORY) {
        if (c->scaled)
            num = td_num_div(&num, &factor, c->work_bits);
        rounding.zero = zero;
    } else {
        num = minus_zero(num, zero);
        if (c->scaled)
            num = td_num_mul(&num, &factor, c->work_bits);
    }
    return td_dtype_extend(c->dst, td_num_to_bits(&num, c->dst, &rounding, in_range));
}

td_status td_convert_check(const td_convert *c, const void *src, size_t n, uint64_t first, int64_t step, size_t *bad)
{
    if (!c->check)
        return TD_OK;
    for (size_t i = 0; i < n; i++) {
        const uint64_t elem = first + (uint64_t)step * i;
        const uint64_t bits =
            td_get_elem((const unsigned char *)src + i * c->src.bytes, c->src.bytes) & td_dtype_mask(c->src);
        bool in_range = true;
        (void)td_convert_one(c, bits, elem, &in_range);
        if (in_range)
            continue;
        char to[TD_DTYPE_NAME_BYTES];
        td_dtype_print(c->dst, to);
        *bad = i;
        return td_fail(TD_RANGE,
                       "element %" PRIu64 " is %.9g (0x%0*" PRIx64
                       "), which does not fit %s (as \"%s\"); change the scale, or "
                       "pass sat in place of error",
                       elem, td_dtype_to_real(c->src, bits), (c->src.bits + 3) / 4, bits, to, c->as_text);
    }
    return TD_OK;
}
