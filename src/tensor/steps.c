/* See steps.h. Integers and floats of 32 and 64 bits go to the kernels as they lie; integers of odd widths are extended
 * first, since only their own bits count, and narrower floats are computed in f32 (or f64, where f32 does not hold all
 * of the type), block by block through the conversions. */
#include "tensor/steps.h"

#include "base/fp_mode.h"
#include "base/text.h"
#include "kernels/arith.h"
#include "tensor/step_options.h"
#include "values/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ELEMS 512

struct td_step {
    td_step_op op;
    td_dtype dtype;
    td_arith params;
    td_arith_fn run;
    td_arith_fn wide; /* of scale with `wrap`: for products past 2^51, on elements of 64 bits */
    bool refuses;
    bool extends;                /* elements have fewer bits than their container */
    float factor;                /* of scale, in f32 */
    td_convert *decode, *encode; /* floats that are computed in another type; NULL: as they lie */
};

/* -- what a step is made of ---------------------------------------------------------------------------------------- */

static void set_range(td_step *s)
{
    const uint64_t own = td_dtype_mask(s->dtype);
    const bool is_signed = s->dtype.kind == TD_KIND_INT;
    s->params.bits = s->dtype.bits;
    s->params.low = is_signed ? -(int64_t)(own >> 1) - 1 : 0;
    s->params.high = (int64_t)(is_signed ? own >> 1 : own);
}

static td_status bind_integer(td_step *s, const td_step_words *w)
{
    if (w->over == TD_STEP_OVER_INF)
        return td_fail(TD_OPTION, "inf is for floats, and %s has no infinity; pass error, sat or wrap",
                       s->dtype.fixed ? "fixed point" : "an integer");
    s->params.wrap = w->over == TD_STEP_OVER_WRAP;
    s->params.shift = s->dtype.frac_bits;
    s->refuses = s->op != TD_STEP_CLAMP && (w->over == TD_STEP_OVER_ERROR || w->over == TD_STEP_OVER_OWN);
    s->extends = s->dtype.bits != 8 * s->dtype.bytes;
    set_range(s);
    return TD_OK;
}

static td_status make_convert(td_dtype from, td_dtype to, td_step_over over, td_convert **out)
{
    td_as as = {.dtype = to, .scale_f32 = 1, .scale_f64 = 1};
    as.over = over == TD_STEP_OVER_SAT ? TD_OVER_SAT : over == TD_STEP_OVER_INF ? TD_OVER_INF : TD_OVER_DEFAULT;
    td_convert *made = malloc(sizeof *made);
    if (!made)
        return td_fail_alloc(sizeof *made);
    const td_status status = td_convert_bind(&as, from, TD_TO_MEMORY, NULL, made);
    if (status)
        free(made);
    else
        *out = made;
    return status;
}

static td_status bind_float(td_step *s, const td_step_words *w)
{
    if (w->over == TD_STEP_OVER_ERROR || w->over == TD_STEP_OVER_WRAP)
        return td_fail(TD_OPTION, "%s is for integers and fixed point, and the tensor has floats; pass sat or inf",
                       td_step_over_name(w->over));
    const bool in_f32 = s->dtype.exp_bits <= 8 && s->dtype.man_bits <= 23;
    td_dtype work;
    if (s->op == TD_STEP_SCALE && in_f32 && !isfinite((float)s->params.factor))
        return td_fail(TD_RANGE, "the factor %.17g is past f32, in which the product is computed; pass a smaller one",
                       s->params.factor);
    td_status status = td_dtype_parse(in_f32 ? "f32" : "f64", &work);
    s->params.limit = (double)INFINITY;
    s->factor = in_f32 ? (float)s->params.factor : 0;
    if (w->over == TD_STEP_OVER_SAT)
        s->params.limit = in_f32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023;
    if (status || td_dtype_equal(work, s->dtype))
        return status;
    status = make_convert(s->dtype, work, TD_STEP_OVER_OWN, &s->decode);
    return status ? status : make_convert(work, s->dtype, w->over, &s->encode);
}

/* A bound of clamp that is past the type's range is none, or leaves nothing. */
static td_status fail_bound(const td_step *s, double bound, double first, double last)
{
    char name[TD_DTYPE_NAME_BYTES];
    td_dtype_print(s->dtype, name);
    return td_fail(TD_RANGE, "no value of %s is %s %.17g, it holds %.17g to %.17g; pass a bound in this range", name,
                   bound > last ? "at least" : "at most", bound, first, last);
}

static td_status bind_bounds(td_step *s, double low, double high)
{
    const bool is_float = s->dtype.kind == TD_KIND_FLOAT;
    if (isnan(low) || isnan(high) || low > high)
        return td_fail(TD_ARGUMENT, "the range from %.17g to %.17g is empty; pass the lower end first", low, high);
    uint64_t ends[2] = {(uint64_t)s->params.low, (uint64_t)s->params.high};
    if (is_float) {
        ends[1] = td_dtype_max_bits(s->dtype);
        ends[0] = s->dtype.flavor == TD_FLAVOR_SCALE ? 0 : ends[1] | (uint64_t)1 << (s->dtype.bits - 1);
    }
    const uint64_t own = td_dtype_mask(s->dtype);
    const double first = td_dtype_to_real(s->dtype, ends[0] & own), last = td_dtype_to_real(s->dtype, ends[1] & own);
    if (low > last || high < first)
        return fail_bound(s, low > last ? low : high, first, last);
    uint64_t bits[2] = {ends[0] & own, ends[1] & own};
    td_status status = low > first ? td_dtype_from_real(s->dtype, low, &bits[0]) : TD_OK;
    if (!status && high < last)
        status = td_dtype_from_real(s->dtype, high, &bits[1]);
    if (status)
        return status;
    s->params.least = (int64_t)td_dtype_extend(s->dtype, bits[0]);
    s->params.most = (int64_t)td_dtype_extend(s->dtype, bits[1]);
    s->params.from = is_float && low <= first ? -(double)INFINITY : td_dtype_to_real(s->dtype, bits[0]);
    s->params.to = is_float && high >= last ? (double)INFINITY : td_dtype_to_real(s->dtype, bits[1]);
    return TD_OK;
}

static void choose(td_step *s)
{
    td_arith_kernels k;
    td_arith_init(&k, td_cpu_flags());
    const bool fixed = s->dtype.frac_bits != 0;
#define OF_INTEGER(name, type) {k.add_##name, fixed ? k.mulq_##name : k.mul_##name, k.scale_##name, k.clamp_##name},
#define OF_FLOAT(name, type) {k.add_##name, k.mul_##name, k.scale_##name, k.clamp_##name},
    const td_arith_fn all[][4] = {TD_ARITH_INTEGERS(OF_INTEGER) TD_ARITH_FLOATS(OF_FLOAT)};
    unsigned row = 0;
    if (s->dtype.kind == TD_KIND_FLOAT) {
        row = s->dtype.exp_bits <= 8 && s->dtype.man_bits <= 23 ? 8 : 9;
    } else {
        for (unsigned bytes = s->dtype.bytes; bytes > 1; bytes /= 2)
            row += 2;
        row += s->dtype.kind == TD_KIND_UINT;
        if (s->op == TD_STEP_SCALE && s->params.wrap && s->dtype.bytes < 8)
            s->wide = all[s->dtype.kind == TD_KIND_UINT ? 7 : 6][TD_STEP_SCALE];
    }
    s->run = all[row][s->op];
}

static td_status fill_step(td_step *s, const char *options, double x, double y)
{
    td_step_words w;
    td_status status = td_step_options_read(options, &w);
    if (!status && w.has_axis && s->op > TD_STEP_MUL)
        status = td_fail(TD_OPTION, "axis=%" PRIu64 " is for sums and products of two tensors; leave it out", w.axis);
    if (!status && s->op == TD_STEP_SCALE && !isfinite(x))
        status = td_fail(TD_ARGUMENT, "the factor is %s; pass a finite number", isnan(x) ? "nan" : "infinite");
    s->params.factor = x;
    if (!status)
        status = s->dtype.kind == TD_KIND_FLOAT ? bind_float(s, &w) : bind_integer(s, &w);
    if (!status && s->op == TD_STEP_CLAMP)
        status = bind_bounds(s, x, y);
    if (!status)
        choose(s);
    return status;
}

td_status td_step_create(td_step_op op, td_dtype dtype, const char *options, double x, double y, td_step **out)
{
    td_step *made = calloc(1, sizeof *made);
    if (!made)
        return td_fail_alloc(sizeof *made);
    made->op = op;
    made->dtype = dtype;
    const unsigned mode = td_mode_enter();
    const td_status status = fill_step(made, options, x, y);
    td_mode_leave(mode);
    if (status)
        td_step_destroy(&made);
    else
        *out = made;
    return status;
}

void td_step_destroy(td_step **step)
{
    if (!step || !*step)
        return;
    free((*step)->decode);
    free((*step)->encode);
    free(*step);
    *step = NULL;
}

bool td_step_chain(const td_step *s, td_chain_step *out)
{
    static const td_chain_kind kinds[] = {[TD_STEP_ADD] = TD_CHAIN_ADD,
                                          [TD_STEP_MUL] = TD_CHAIN_MUL,
                                          [TD_STEP_SCALE] = TD_CHAIN_MUL,
                                          [TD_STEP_CLAMP] = TD_CHAIN_KEEP};
    const bool clamps = s->op == TD_STEP_CLAMP;
    if (s->dtype.kind != TD_KIND_FLOAT || s->decode || s->dtype.bytes != sizeof(float))
        return false;
    *out = (td_chain_step){.kind = kinds[s->op],
                           .one = s->op == TD_STEP_SCALE,
                           .b = s->op == TD_STEP_SCALE ? &s->factor : NULL,
                           .low = (float)(clamps ? s->params.from : -s->params.limit),
                           .high = (float)(clamps ? s->params.to : s->params.limit)};
    out->bounded = out->low != -INFINITY || out->high != INFINITY;
    return true;
}

bool td_step_refuses(const td_step *s)
{
    return s->refuses;
}

/* -- running ------------------------------------------------------------------------------------------------------- */

/* Elements in containers of `bytes`, extended into them (`to` 0) or into 8 bytes. */
static void extend(td_dtype d, const unsigned char *src, unsigned char *dst, unsigned to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, src + i * d.bytes, d.bytes);
        bits = td_dtype_extend(d, bits & td_dtype_mask(d));
        memcpy(dst + i * to, &bits, to);
    }
}

/* Up to BLOCK_ELEMS. */
static bool scale_wide(const td_step *s, unsigned char *dst, const unsigned char *a, size_t n)
{
    uint64_t wide[BLOCK_ELEMS];
    extend(s->dtype, a, (unsigned char *)wide, 8, n);
    s->wide(&s->params, wide, wide, NULL, false, n);
    for (size_t i = 0; i < n; i++)
        memcpy(dst + i * s->dtype.bytes, &wide[i], s->dtype.bytes);
    return true;
}

/* Up to BLOCK_ELEMS through buffers: what has to be extended, or is computed in another type. */
static bool run_block(const td_step *s, unsigned char *dst, const unsigned char *a, const unsigned char *b, bool one,
                      size_t n)
{
    _Alignas(64) uint64_t first[BLOCK_ELEMS], second[BLOCK_ELEMS];
    const size_t b_count = one ? 1 : n;
    if (s->decode) {
        td_convert_run(s->decode, first, a, n, 0, 1);
        if (b)
            td_convert_run(s->decode, second, b, b_count, 0, 1);
        s->run(&s->params, first, first, second, one, n);
        td_convert_run(s->encode, dst, first, n, 0, 1);
        return true;
    }
    if (s->extends) {
        extend(s->dtype, a, (unsigned char *)first, s->dtype.bytes, n);
        if (b)
            extend(s->dtype, b, (unsigned char *)second, s->dtype.bytes, b_count);
        a = (const unsigned char *)first;
        b = b ? (const unsigned char *)second : NULL;
    } else if (s->wide) { /* the operands are needed once more, and dst may be the same */
        memcpy(first, a, n * s->dtype.bytes);
        a = (const unsigned char *)first;
    }
    const bool fits = s->run(&s->params, dst, a, b, one, n);
    return fits || (s->wide && scale_wide(s, dst, a, n));
}

/* The first of n elements that does not fit. What one of them gives goes nowhere. */
static size_t find_past(const td_step *s, const unsigned char *a, const unsigned char *b, bool one, size_t n)
{
    uint64_t ignored;
    const size_t bytes = s->dtype.bytes;
    for (size_t i = 0; i < n; i++)
        if (!run_block(s, (unsigned char *)&ignored, a + i * bytes, b && !one ? b + i * bytes : b, one, 1))
            return i;
    return n;
}

static size_t run_step(const td_step *s, unsigned char *dst, const unsigned char *a, const unsigned char *b, bool one,
                       size_t n)
{
    const size_t bytes = s->dtype.bytes;
    const bool blocks = s->decode || s->extends || s->wide;
    uint64_t kept[BLOCK_ELEMS]; /* operands that the results replace, until it is known that they fit */
    for (size_t done = 0, some = 0; done < n; done += some) {
        some = n - done;
        if ((blocks || s->refuses) && some > BLOCK_ELEMS)
            some = BLOCK_ELEMS;
        const unsigned char *x = a + done * bytes, *y = b && !one ? b + done * bytes : b;
        if (s->refuses && x == dst + done * bytes)
            x = memcpy(kept, x, some * bytes);
        const bool fits = blocks ? run_block(s, dst + done * bytes, x, y, one, some)
                                 : s->run(&s->params, dst + done * bytes, x, y, one, some);
        if (s->refuses && !fits)
            return done + find_past(s, x, y, one, some);
    }
    return n;
}

size_t td_step_run(const td_step *s, void *dst, const void *a, const void *b, bool b_one, size_t n)
{
    const unsigned mode = td_mode_enter();
    const size_t done = run_step(s, dst, a, b, b_one, n);
    td_mode_leave(mode);
    return done;
}

/* -- messages ------------------------------------------------------------------------------------------------------ */

static void print_value(td_dtype d, uint64_t bits, char *text, size_t bytes)
{
    const uint64_t value = td_dtype_extend(d, bits & td_dtype_mask(d));
    if (d.frac_bits)
        td_text_print(text, bytes, "%.17g", td_dtype_to_real(d, bits & td_dtype_mask(d)));
    else if (d.kind == TD_KIND_INT)
        td_text_print(text, bytes, "%" PRId64, (int64_t)value);
    else
        td_text_print(text, bytes, "%" PRIu64, value);
}

td_status td_step_fail(const td_step *s, const td_shape *shape, uint64_t elem, const void *a, const void *b)
{
    char name[TD_DTYPE_NAME_BYTES], place[TD_SHAPE_TEXT_BYTES], first[40], second[40], low[40], high[40];
    uint64_t bits[2] = {0, 0};
    td_shape at;
    memcpy(&bits[0], a, s->dtype.bytes);
    print_value(s->dtype, bits[0], first, sizeof first);
    if (s->op == TD_STEP_SCALE) {
        td_text_print(second, sizeof second, "%.17g", s->params.factor);
    } else {
        memcpy(&bits[1], b, s->dtype.bytes);
        print_value(s->dtype, bits[1], second, sizeof second);
    }
    print_value(s->dtype, (uint64_t)s->params.low, low, sizeof low);
    print_value(s->dtype, (uint64_t)s->params.high, high, sizeof high);
    td_dtype_print(s->dtype, name);
    td_shape_at(shape, elem, &at);
    return td_fail(
        TD_RANGE,
        "element %s: %s %s %s is past the range of %s, %s to %s; pass sat or wrap, or convert the tensor to a "
        "wider type first",
        td_shape_print(&at, place), first, s->op == TD_STEP_ADD ? "+" : "*", second, name, low, high);
}
