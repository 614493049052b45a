/* Accepts blocks of pairs under a tolerant policy (tolerance.h): chooses the kernels for a dtype and a policy, and
 * reads their measure of a block. Called by accept.c and judging.c. What it does not accept the judge decides. */
#include "compare/tolerance.h"

#include "base/cpu.h"

#include <math.h>
#include <string.h>

/* More than all roundings on the way, and more than subnormal products can lose. */
#define MARGIN 1e-6
#define TINY 1e-36

static void grow(td_worst *worst, double error, uint64_t steps)
{
    worst->error = error > worst->error ? error : worst->error;
    worst->ulp = steps > worst->ulp ? steps : worst->ulp;
}

static double value_of(uint32_t error_bits)
{
    float error;
    memcpy(&error, &error_bits, sizeof error);
    return (double)error;
}

/* -- what settles a block ------------------------------------------------------------------------------------------ */

/* The largest error that this many steps of a 16-bit type can be, where no magnitude is larger. */
static double error_at_most(const td_tolerance *t, uint64_t steps, uint32_t largest)
{
    const int man_bits = 15 - (int)t->exp_bits, exponent = (int)(largest >> man_bits),
              bias = (1 << (t->exp_bits - 1)) - 1;
    return ldexp((double)steps, (exponent ? exponent : 1) - bias - man_bits);
}

/* Settled by steps and magnitudes: all values are finite and near, and none can be worse than the worst so far. */
static bool is_settled_by_steps(const td_tolerance *t, const td_tolerance_found *m, td_worst *worst)
{
    const double error = error_at_most(t, m->steps, m->largest);
    if (m->largest >= t->first_inf || (m->steps > t->limits.ulp && !(error <= (double)t->limits.atol)) ||
        error > worst->error)
        return false;
    grow(worst, 0, m->steps);
    return true;
}

static bool is_near(const td_tolerance *t, const td_tolerance_found *m)
{
    return m->error < TD_TOLERANCE_NOT_FINITE && (m->excess <= t->limits.atol || m->steps <= t->limits.ulp);
}

/* Settled because all pairs are so close that no error was rounded. */
static bool is_settled_near(const td_tolerance *t, const td_tolerance_found *m, td_worst *worst)
{
    if (!is_near(t, m) || m->steps > TD_TOLERANCE_NEAR_STEPS)
        return false;
    grow(worst, value_of(m->error), m->steps);
    return true;
}

static bool is_settled_quickly(const td_tolerance *t, const td_tolerance_found *m, td_worst *worst)
{
    return t->limits.sign >> 31 ? is_settled_near(t, m, worst) : is_settled_by_steps(t, m, worst);
}

/* Settled by the largest error and distance: one of the policy's two rules accepts the whole block. */
static bool is_settled_by_measure(const td_tolerance *t, const td_tolerance_found *m, td_worst *worst)
{
    const double error = value_of(m->error);
    if (!is_near(t, m) || (m->unsure && error > worst->error * (1 - MARGIN)))
        return false;
    grow(worst, m->unsure ? 0 : error, m->steps);
    return true;
}

/* Settled pair by pair in f32: all are near, and no error that may have been rounded can be worse than the worst so
 * far. */
static bool is_settled_by_pairs(const td_tolerance_found *f, td_worst *worst)
{
    const double most = (double)f->sure_error > worst->error ? (double)f->sure_error : worst->error;
    if (!f->near || (f->unsure_error > 0 && f->unsure_error >= (float)most))
        return false;
    grow(worst, most, f->steps);
    return true;
}

/* -- blocks -------------------------------------------------------------------------------------------------------- */

/* Both sides as f32 in the scratch, row after row. */
static void decode_rows(const td_tolerance *t, td_tolerance_scratch *scratch, td_tolerance_rows *b)
{
    td_convert_block block = {.dst = scratch->expected,
                              .src = b->expected,
                              .dst_stride = (ptrdiff_t)(b->count * sizeof(float)),
                              .src_stride = b->expected_stride,
                              .rows = b->rows,
                              .n = b->count,
                              .step = 1};
    td_convert_rows(&t->decode, &block);
    block.dst = scratch->actual;
    block.src = b->actual;
    block.src_stride = b->actual_stride;
    td_convert_rows(&t->decode, &block);
    b->expected_values = scratch->expected;
    b->actual_values = scratch->actual;
}

static bool accepts_integers(const td_tolerance *t, const td_tolerance_rows *b, td_worst *worst)
{
    const uint64_t steps = t->pairs(b, &t->limits).steps;
    if (steps > t->limits.ulp && (t->limits.exact_rtol == 0 || !t->exact(b, &t->limits).near))
        return false;
    grow(worst, (double)steps * t->limits.step, steps);
    return true;
}

static bool accepts_floats(const td_tolerance *t, td_tolerance_scratch *scratch, td_tolerance_rows b, td_worst *worst)
{
    uint64_t steps = 0;
    if (t->decodes)
        decode_rows(t, scratch, &b);
    if (t->pairs) {
        const td_tolerance_found f = t->pairs(&b, &t->limits);
        if (is_settled_by_pairs(&f, worst))
            return true;
        steps = f.steps;
    }
    const td_tolerance_found f = t->exact(&b, &t->limits);
    if (f.near)
        grow(worst, f.exact_error, t->pairs ? steps : f.steps);
    return f.near;
}

static bool accepts_quickly(const td_tolerance *t, td_tolerance_scratch *scratch, const td_tolerance_rows *b,
                            td_worst *worst)
{
    if (scratch->skips) {
        scratch->skips--;
        return false;
    }
    const td_tolerance_found m = t->quick(b, &t->limits);
    const bool settled = is_settled_quickly(t, &m, worst);
    scratch->skips = settled ? 0 : TD_TOLERANCE_SKIPS;
    return settled;
}

static bool accepts_by_measure(const td_tolerance *t, const td_tolerance_rows *b, td_worst *worst)
{
    const td_tolerance_found m = t->measure(b, &t->limits);
    return is_settled_by_measure(t, &m, worst);
}

bool td_tolerance_accepts(const td_tolerance *t, td_tolerance_scratch *scratch, const td_tolerance_rows *b,
                          td_worst *worst)
{
    if (!t->exact)
        return false;
    if (t->whole)
        return accepts_integers(t, b, worst);
    if (t->measure && (accepts_quickly(t, scratch, b, worst) || accepts_by_measure(t, b, worst)))
        return true;
    return accepts_floats(t, scratch, *b, worst);
}

bool td_tolerance_accepts_transposed(const td_tolerance *t, const td_tolerance_rows *b, td_ahead ahead, td_worst *worst)
{
    td_tolerance_rows block = *b;
    block.ahead = ahead;
    const td_tolerance_found m = t->quick_transposed(&block, &t->limits);
    return is_settled_quickly(t, &m, worst);
}

/* -- when a comparison begins -------------------------------------------------------------------------------------- */

/* The table of kernels, which a thread fills again only when the instruction sets have changed. */
static const td_tolerance_kernels *find_kernels(void)
{
    static _Thread_local struct {
        unsigned cpu_flags;
        td_tolerance_kernels kernels;
    } last;
    const unsigned flags = td_cpu_flags();
    if (!last.kernels.exact_f64 || last.cpu_flags != flags) {
        td_tolerance_init(&last.kernels, flags);
        last.cpu_flags = flags;
    }
    return &last.kernels;
}

/* Only f32, f16 and bf16 are measured; transposed blocks only where a kernel is faster than taking them out. */
static void choose_measure(td_tolerance *t, const td_tolerance_kernels *k, td_dtype d)
{
    const bool is_f32 = d.exp_bits == 8 && d.man_bits == 23;
    if (d.flavor != TD_FLAVOR_IEEE)
        return;
    t->measure = is_f32                                ? k->measure_f32
                 : d.exp_bits == 5 && d.man_bits == 10 ? k->measure_f16
                 : d.exp_bits == 8 && d.man_bits == 7  ? k->measure_bf16
                                                       : NULL;
    if (!t->measure)
        return;
    t->quick = is_f32 ? k->near_f32 : k->steps_x16;
    t->quick_transposed = is_f32 ? k->transposed_near_f32 : k->transposed_steps_x16;
    if (t->quick_transposed == (is_f32 ? td_tolerance_transposed_near_f32_c : td_tolerance_transposed_steps_x16_c))
        t->quick_transposed = NULL;
}

static void prepare_float(const td_judge *judge, const td_tolerance_kernels *k, td_tolerance *t)
{
    const td_dtype d = judge->dtype;
    const td_policy *p = &judge->policy;
    const bool is_f32 = d.exp_bits == 8 && d.man_bits == 23, is_f64 = d.exp_bits == 11 && d.man_bits == 52;
    if (d.flavor == TD_FLAVOR_SCALE || p->ftz || p->zero_differ || p->atol >= 1e30 || p->rtol >= 1e30 ||
        (d.bytes > 2 && !is_f32 && !is_f64) || (d.exp_bits > 8 && !is_f64)) /* f32 does not hold every value */
        return;
    t->limits.atol = p->has_real ? (float)(p->atol * (1 - MARGIN) - TINY) : -1;
    t->limits.rtol = p->has_real ? (float)(p->rtol * (1 - MARGIN)) : 0;
    t->limits.exact_atol = p->has_real ? p->atol : -1;
    t->limits.exact_rtol = p->has_real ? p->rtol : 0;
    t->limits.ulp = (uint32_t)(p->ulp < UINT32_MAX ? p->ulp : UINT32_MAX);
    t->limits.long_ulp = p->ulp;
    t->limits.mask = (uint32_t)judge->mask;
    t->limits.sign = (uint32_t)(judge->mask & ~judge->magnitude);
    t->exp_bits = d.exp_bits;
    t->first_inf = (uint32_t)judge->first_inf;
    choose_measure(t, k, d);
    if (is_f64) {
        t->exact = k->exact_f64;
        return;
    }
    const td_dtype f32 = {
        .kind = TD_KIND_FLOAT, .bits = 32, .exp_bits = 8, .bytes = 4, .man_bits = 23, .flavor = TD_FLAVOR_IEEE};
    const td_as as = {.dtype = d, .scale_f32 = 1, .scale_f64 = 1};
    t->decodes = !is_f32;
    if (t->decodes && td_convert_bind(&as, f32, TD_TO_TENSOR, NULL, &t->decode))
        return;
    t->pairs = is_f32 ? k->pairs_f32 : d.bytes == 1 ? k->pairs_x8 : k->pairs_x16;
    t->exact = is_f32 ? k->exact_f32 : d.bytes == 1 ? k->exact_x8 : k->exact_x16;
}

/* Integers in whole steps: without rtol the policy is a number of steps. */
static void prepare_integer(const td_judge *judge, const td_tolerance_kernels *k, td_tolerance *t)
{
    const td_dtype d = judge->dtype;
    const td_policy *p = &judge->policy;
    if (d.bytes > 4)
        return;
    const double steps = p->has_real ? floor(p->atol / judge->step) : 0;
    uint64_t most = p->has_ulp ? p->ulp : 0;
    if (p->has_real && p->rtol == 0)
        most = steps >= (double)UINT32_MAX ? UINT32_MAX : (uint64_t)steps > most ? (uint64_t)steps : most;
    t->limits.ulp = (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX);
    t->limits.exact_atol = p->atol;
    t->limits.exact_rtol = p->rtol;
    t->limits.step = judge->step;
    t->limits.mask = (uint32_t)judge->mask;
    t->limits.sign = d.kind == TD_KIND_INT ? t->limits.mask ^ t->limits.mask >> 1 : 0;
    t->whole = true;
    t->pairs = d.bytes == 1 ? k->pairs_i8 : d.bytes == 2 ? k->pairs_i16 : k->pairs_i32;
    t->exact = d.bytes == 1 ? k->exact_i8 : d.bytes == 2 ? k->exact_i16 : k->exact_i32;
}

void td_tolerance_prepare(const td_judge *judge, td_tolerance *t)
{
    memset(t, 0, offsetof(td_tolerance, decode));
    t->limits.same_bits = judge->bits_decide ? -1 : 0;
    if (!judge->policy.tolerant)
        return;
    if (judge->dtype.kind == TD_KIND_FLOAT)
        prepare_float(judge, find_kernels(), t);
    else
        prepare_integer(judge, find_kernels(), t);
}
