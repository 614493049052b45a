/* See close.h. Plain loops without branches, for the compiler to make wide: once for every machine, once for AVX2 and
 * once for AVX-512. */
#include "compare/tolerance.h"

#include "base/cpu.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* More than every rounding on the way, and what subnormal products may lose. */
#define MARGIN 1e-6
#define TINY 1e-36

#define INLINE static inline __attribute__((always_inline))

INLINE int32_t if_true(bool x)
{
    return -(int32_t)x;
}

/* Places of floats in the order of their values; -0 and 0 are one place. */
INLINE int32_t rank_of(uint32_t bits, uint32_t sign)
{
    const uint32_t negative = (uint32_t)if_true((bits & sign) != 0);
    return (int32_t)(((bits & ~sign) ^ negative) - negative);
}

INLINE int32_t rank_of_f32(uint32_t bits)
{
    const uint32_t negative = 0u - (bits >> 31);
    return (int32_t)((bits ^ negative >> 1) - negative);
}

INLINE uint32_t between(int32_t a, int32_t b)
{
    return a > b ? (uint32_t)a - (uint32_t)b : (uint32_t)b - (uint32_t)a;
}

/* -- floats of up to 32 bits --------------------------------------------------------------------------------------- */

/* What a block's pairs say one by one. Errors are not negative, so their bits are in the order of their values; those of which
 * twice is not above the expected value were not rounded (Sterbenz): they are sure. */
typedef struct found {
    int32_t near;         /* -1: all are; what follows says nothing otherwise */
    int32_t sure, unsure; /* the largest of either */
    uint32_t steps;
} found;

/* Near: |a - e| <= atol + rtol * |e|, or at most `ulp` steps; finite in both cases. */
INLINE void look(const td_tolerance *c, found *f, float e, float a, bool same_bits, uint32_t steps)
{
    const float error = fabsf(a - e);
    const int32_t same = if_true(same_bits) & c->same_bits;
    /* A NaN or an infinity is accepted by its bits alone: comparisons with it are false. */
    const int32_t near =
        (if_true(error <= c->atol + c->rtol * fabsf(e)) | if_true(steps <= c->ulp)) & if_true(error <= FLT_MAX);
    int32_t bits;
    memcpy(&bits, &error, sizeof bits);
    const int32_t sure = if_true(error + error <= fabsf(e)), in_sure = bits & sure & ~same,
                  in_unsure = bits & ~sure & ~same;
    f->near &= near | same;
    f->sure = in_sure > f->sure ? in_sure : f->sure;
    f->unsure = in_unsure > f->unsure ? in_unsure : f->unsure;
    f->steps = steps > f->steps ? steps : f->steps;
}

/* The same in f64, by the judge's own formula: what it says is so. */
typedef struct found_exactly {
    int32_t near;
    int64_t error;
} found_exactly;

INLINE void look_exactly(const td_tolerance *c, found_exactly *f, double e, double a, bool same_bits, bool few_steps)
{
    const double error = fabs(a - e);
    const int32_t same = if_true(same_bits) & c->same_bits;
    int64_t bits;
    f->near &=
        ((if_true(error <= c->exact_atol + c->exact_rtol * fabs(e)) | if_true(few_steps)) & if_true(error <= DBL_MAX)) |
        same;
    memcpy(&bits, &error, sizeof bits);
    bits &= ~(int64_t)same;
    f->error = bits > f->error ? bits : f->error;
}

INLINE bool settle(found_exactly f, uint64_t steps, td_worst *worst)
{
    double error;
    memcpy(&error, &f.error, sizeof error);
    if (!f.near)
        return false;
    worst->error = error > worst->error ? error : worst->error;
    worst->ulp = steps > worst->ulp ? steps : worst->ulp;
    return true;
}

/* f32 settles it where all are near, and none can be worse than the worst so far. */
INLINE bool is_settled(found f, td_worst *worst)
{
    float sure, unsure;
    memcpy(&sure, &f.sure, sizeof sure);
    memcpy(&unsure, &f.unsure, sizeof unsure);
    const double most = (double)sure > worst->error ? (double)sure : worst->error;
    if (!f.near || (unsure > 0 && unsure >= (float)most))
        return false;
    worst->error = most;
    worst->ulp = f.steps > worst->ulp ? f.steps : worst->ulp;
    return true;
}

/* How large an error can be that is so many steps in a 16-bit type where no magnitude is larger. */
static double error_at_most(const td_tolerance *c, uint32_t steps, uint32_t largest)
{
    const int man_bits = 15 - (int)c->exp_bits, exponent = (int)(largest >> man_bits),
              bias = (1 << (c->exp_bits - 1)) - 1;
    return ldexp((double)steps, (exponent ? exponent : 1) - bias - man_bits);
}

/* Steps and magnitudes settle it where all are finite and near by what they say, and none can be worse than the worst. */
static bool is_settled_by_steps(const td_tolerance *c, td_tolerance_most m, td_worst *worst)
{
    const double error = error_at_most(c, m.steps, m.largest);
    if (m.largest >= c->first_inf || (m.steps > c->ulp && !(error <= (double)c->atol)) || error > worst->error)
        return false;
    worst->ulp = m.steps > worst->ulp ? m.steps : worst->ulp;
    return true;
}

/* So do pairs that are all close together: then no error was rounded. */
static bool is_settled_near(const td_tolerance *c, td_tolerance_most m, td_worst *worst)
{
    float error;
    memcpy(&error, &m.error, sizeof error);
    if (m.error >= TD_TOLERANCE_NOT_FINITE || m.steps > TD_TOLERANCE_NEAR_STEPS ||
        (!(m.excess <= c->atol) && m.steps > c->ulp))
        return false;
    worst->error = (double)error > worst->error ? (double)error : worst->error;
    worst->ulp = m.steps > worst->ulp ? m.steps : worst->ulp;
    return true;
}

/* So does the measure of a block, where one of the policy's two rules accepts all of it. */
static bool is_settled_by_measure(const td_tolerance *c, const td_tolerance_rows *b, td_worst *worst)
{
    const td_tolerance_most m = c->measure(b, c->rtol);
    float error;
    memcpy(&error, &m.error, sizeof error);
    if (m.error >= TD_TOLERANCE_NOT_FINITE || (!(m.excess <= c->atol) && m.steps > c->ulp))
        return false;
    if (!m.unsure)
        worst->error = (double)error > worst->error ? (double)error : worst->error;
    else if ((double)error > worst->error * (1 - MARGIN))
        return false;
    worst->ulp = m.steps > worst->ulp ? m.steps : worst->ulp;
    return true;
}

#define LOAD(type, name, from)                                                                                         \
    type name;                                                                                                         \
    memcpy(&(name), (from) + i * sizeof(name), sizeof(name))

/* The bits x and y of a pair, and its values v and w. */
#define LOAD_PAIR(bits, value)                                                                                         \
    LOAD(bits, x, e);                                                                                                  \
    LOAD(bits, y, a);                                                                                                  \
    LOAD(value, v, e);                                                                                                 \
    LOAD(value, w, a)

/* The rows of a block, one after the other: `e` and `a` are their first bytes, `r` their number. */
#define EACH_ROW(b)                                                                                                    \
    const unsigned char *e = (b)->expected, *a = (b)->actual;                                                          \
    for (size_t r = 0; r < (b)->rows; r++, e += (b)->expected_stride, a += (b)->actual_stride)

INLINE bool close_f32(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b, td_worst *worst)
{
    (void)room;
    found f = {.near = -1};
    found_exactly g = {.near = -1};
    {
        EACH_ROW(b)
        for (size_t i = 0; i < b->count; i++) {
            LOAD_PAIR(uint32_t, float);
            look(c, &f, v, w, x == y, between(rank_of_f32(x), rank_of_f32(y)));
        }
    }
    if (is_settled(f, worst))
        return true;
    {
        EACH_ROW(b)
        for (size_t i = 0; i < b->count; i++) {
            LOAD_PAIR(uint32_t, float);
            look_exactly(c, &g, (double)v, (double)w, x == y, between(rank_of_f32(x), rank_of_f32(y)) <= c->ulp);
        }
    }
    return settle(g, f.steps, worst);
}

/* Both sides as f32 in the room, one row behind the other. */
static void decode_rows(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b)
{
    td_convert_block block = {.dst = room->expected,
                              .src = b->expected,
                              .dst_stride = (ptrdiff_t)(b->count * sizeof(float)),
                              .src_stride = b->expected_stride,
                              .rows = b->rows,
                              .n = b->count,
                              .step = 1};
    td_convert_rows(&c->decode, &block);
    block.dst = room->actual;
    block.src = b->actual;
    block.src_stride = b->actual_stride;
    td_convert_rows(&c->decode, &block);
}

#define CLOSE_SMALL(type)                                                                                              \
    found f = {.near = -1};                                                                                            \
    found_exactly g = {.near = -1};                                                                                    \
    const uint32_t mask = c->mask, sign = c->sign;                                                                     \
    decode_rows(c, room, b);                                                                                           \
    {                                                                                                                  \
        EACH_ROW(b)                                                                                                    \
        for (size_t i = 0; i < b->count; i++) {                                                                        \
            LOAD(type, x, e);                                                                                          \
            LOAD(type, y, a);                                                                                          \
            look(c, &f, room->expected[r * b->count + i], room->actual[r * b->count + i], x == y,                      \
                 between(rank_of(x & mask, sign), rank_of(y & mask, sign)));                                           \
        }                                                                                                              \
    }                                                                                                                  \
    if (is_settled(f, worst))                                                                                          \
        return true;                                                                                                   \
    {                                                                                                                  \
        EACH_ROW(b)                                                                                                    \
        for (size_t i = 0; i < b->count; i++) {                                                                        \
            LOAD(type, x, e);                                                                                          \
            LOAD(type, y, a);                                                                                          \
            look_exactly(c, &g, (double)room->expected[r * b->count + i], (double)room->actual[r * b->count + i],      \
                         x == y, between(rank_of(x & mask, sign), rank_of(y & mask, sign)) <= c->ulp);                 \
        }                                                                                                              \
    }                                                                                                                  \
    return settle(g, f.steps, worst)

INLINE bool close_x16(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b, td_worst *worst)
{
    CLOSE_SMALL(uint16_t);
}

INLINE bool close_x8(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b, td_worst *worst)
{
    CLOSE_SMALL(uint8_t);
}

/* -- f64 ----------------------------------------------------------------------------------------------------------- */

INLINE int64_t rank_of_f64(uint64_t bits)
{
    const uint64_t negative = (uint64_t)0 - (bits >> 63);
    return (int64_t)((bits ^ negative >> 1) - negative);
}

INLINE bool close_f64(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b, td_worst *worst)
{
    (void)room;
    found_exactly g = {.near = -1};
    uint64_t most = 0;
    EACH_ROW(b)
    for (size_t i = 0; i < b->count; i++) {
        LOAD_PAIR(uint64_t, double);
        const int64_t p = rank_of_f64(x), q = rank_of_f64(y);
        const uint64_t steps = p > q ? (uint64_t)p - (uint64_t)q : (uint64_t)q - (uint64_t)p;
        look_exactly(c, &g, v, w, x == y, steps <= c->long_ulp);
        most = steps > most ? steps : most;
    }
    return settle(g, most, worst);
}

/* -- integers ------------------------------------------------------------------------------------------------------ */

/* Values of up to 32 bits as unsigned numbers in the same order: where there is a sign, its bit is turned. */
#define LOAD_STEPS(type)                                                                                               \
    LOAD(type, x, e);                                                                                                  \
    LOAD(type, y, a);                                                                                                  \
    x = (type)((x & keep) ^ turn);                                                                                     \
    y = (type)((y & keep) ^ turn);                                                                                     \
    const type steps = (type)(x > y ? x - y : y - x)

#define CLOSE_INTEGERS(type)                                                                                           \
    (void)room;                                                                                                        \
    const type keep = (type)c->mask, turn = (type)c->sign;                                                             \
    const double rtol = c->exact_rtol, atol = c->exact_atol / c->step;                                                 \
    type most = 0;                                                                                                     \
    int32_t near = -1;                                                                                                 \
    {                                                                                                                  \
        EACH_ROW(b)                                                                                                    \
        for (size_t i = 0; i < b->count; i++) {                                                                        \
            LOAD_STEPS(type);                                                                                          \
            most = steps > most ? steps : most;                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    if (most > c->ulp && rtol != 0) {                                                                                  \
        EACH_ROW(b)                                                                                                    \
        for (size_t i = 0; i < b->count; i++) {                                                                        \
            LOAD_STEPS(type);                                                                                          \
            const double size = fabs((double)x - (double)turn);                                                        \
            near &= if_true((double)steps <= (atol + rtol * size) * (1 - 1e-12)) | if_true(steps <= c->ulp);           \
        }                                                                                                              \
    }                                                                                                                  \
    if (most > c->ulp && (rtol == 0 || !near))                                                                         \
        return false;                                                                                                  \
    worst->ulp = most > worst->ulp ? most : worst->ulp;                                                                \
    worst->error = most * c->step > worst->error ? most * c->step : worst->error;                                      \
    return true

INLINE bool close_i8(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b, td_worst *worst)
{
    CLOSE_INTEGERS(uint8_t);
}

INLINE bool close_i16(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b, td_worst *worst)
{
    CLOSE_INTEGERS(uint16_t);
}

INLINE bool close_i32(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b, td_worst *worst)
{
    CLOSE_INTEGERS(uint32_t);
}

/* -- one version for each machine ---------------------------------------------------------------------------------- */

#define VERSION(name, isa, target)                                                                                     \
    target static bool name##_##isa(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b,     \
                                    td_worst *worst)                                                                   \
    {                                                                                                                  \
        return name(c, room, b, worst);                                                                                \
    }

#define CLOSE_KERNELS(X, isa, target)                                                                                  \
    X(close_f32, isa, target)                                                                                          \
    X(close_x16, isa, target)                                                                                          \
    X(close_x8, isa, target)                                                                                           \
    X(close_f64, isa, target)                                                                                          \
    X(close_i8, isa, target)                                                                                           \
    X(close_i16, isa, target)                                                                                          \
    X(close_i32, isa, target)

#define NAME(name, isa, target) name##_##isa,

enum { F32, X16, X8, F64, I8, I16, I32, KERNELS };

CLOSE_KERNELS(VERSION, c, )
static td_tolerance_look *const kernels_c[KERNELS] = {CLOSE_KERNELS(NAME, c, )};

#if defined(__x86_64__)
CLOSE_KERNELS(VERSION, avx2, __attribute__((target("avx2"))))
CLOSE_KERNELS(VERSION, avx512, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))))
static td_tolerance_look *const kernels_avx2[KERNELS] = {CLOSE_KERNELS(NAME, avx2, )};
static td_tolerance_look *const kernels_avx512[KERNELS] = {CLOSE_KERNELS(NAME, avx512, )};
#endif

static td_tolerance_look *look_of(int which)
{
#if defined(__x86_64__)
    const unsigned flags = td_cpu_flags();
    if (flags & TD_CPU_AVX512)
        return kernels_avx512[which];
    if (flags & TD_CPU_AVX2)
        return kernels_avx2[which];
#endif
    return kernels_c[which];
}

/* -- when a comparison begins -------------------------------------------------------------------------------------- */

static void init_float(const td_judge *judge, td_tolerance *c)
{
    const td_dtype d = judge->dtype;
    const td_policy *p = &judge->policy;
    const bool is_f32 = d.exp_bits == 8 && d.man_bits == 23, is_f64 = d.exp_bits == 11 && d.man_bits == 52;
    if (d.flavor == TD_FLAVOR_SCALE || p->ftz || p->zero_differ || p->atol >= 1e30 || p->rtol >= 1e30 ||
        (d.bytes > 2 && !is_f32 && !is_f64))
        return;
    c->atol = p->has_real ? (float)(p->atol * (1 - MARGIN) - TINY) : -1;
    c->rtol = p->has_real ? (float)(p->rtol * (1 - MARGIN)) : 0;
    c->exact_atol = p->has_real ? p->atol : -1;
    c->exact_rtol = p->has_real ? p->rtol : 0;
    c->ulp = (uint32_t)(p->ulp < UINT32_MAX ? p->ulp : UINT32_MAX);
    c->long_ulp = p->ulp;
    c->mask = (uint32_t)judge->mask;
    c->sign = (uint32_t)(judge->mask & ~judge->magnitude);
    td_tolerance_kernels kernels;
    td_tolerance_kernels_init(&kernels, td_cpu_flags());
    c->exp_bits = d.exp_bits;
    c->first_inf = (uint32_t)judge->first_inf;
    if (d.flavor == TD_FLAVOR_IEEE)
        c->measure = is_f32                                ? kernels.f32
                     : d.exp_bits == 5 && d.man_bits == 10 ? kernels.f16
                     : d.exp_bits == 8 && d.man_bits == 7  ? kernels.bf16
                                                           : NULL;
    if (c->measure)
        c->quick = is_f32 ? kernels.near_f32 : kernels.steps_x16;
    if (c->measure && td_cpu_flags() & TD_CPU_AVX512)
        c->quick_transposed = is_f32 ? kernels.transposed_near_f32 : kernels.transposed_steps_x16;
    if (is_f32 || is_f64) {
        c->look = look_of(is_f32 ? F32 : F64);
        return;
    }
    const td_dtype f32 = {
        .kind = TD_KIND_FLOAT, .bits = 32, .exp_bits = 8, .bytes = 4, .man_bits = 23, .flavor = TD_FLAVOR_IEEE};
    const td_as as = {.dtype = d, .scale_f32 = 1, .scale_f64 = 1};
    if (!td_convert_bind(&as, f32, TD_TO_TENSOR, NULL, &c->decode))
        c->look = look_of(d.bytes == 1 ? X8 : X16);
}

/* Whole steps: without rtol the policy is a number of them. */
static void init_integer(const td_judge *judge, td_tolerance *c)
{
    const td_dtype d = judge->dtype;
    const td_policy *p = &judge->policy;
    if (d.bytes > 4)
        return;
    const double steps = p->has_real ? floor(p->atol / judge->step) : 0;
    uint64_t most = p->has_ulp ? p->ulp : 0;
    if (p->has_real && p->rtol == 0)
        most = steps >= (double)UINT32_MAX ? UINT32_MAX : (uint64_t)steps > most ? (uint64_t)steps : most;
    c->ulp = (uint32_t)(most < UINT32_MAX ? most : UINT32_MAX);
    c->exact_atol = p->atol;
    c->exact_rtol = p->rtol;
    c->step = judge->step;
    c->mask = (uint32_t)judge->mask;
    c->sign = d.kind == TD_KIND_INT ? c->mask ^ c->mask >> 1 : 0;
    c->look = look_of(d.bytes == 1 ? I8 : d.bytes == 2 ? I16 : I32);
}

void td_tolerance_prepare(const td_judge *judge, td_tolerance *c)
{
    c->look = NULL;
    c->measure = c->quick = NULL;
    c->quick_transposed = NULL;
    c->same_bits = if_true(judge->bits_decide);
    if (!judge->policy.tolerant)
        return;
    if (judge->dtype.kind == TD_KIND_FLOAT)
        init_float(judge, c);
    else
        init_integer(judge, c);
}

static bool is_settled_by_quick(const td_tolerance *c, td_tolerance_most m, td_worst *worst)
{
    return c->sign >> 31 ? is_settled_near(c, m, worst) : is_settled_by_steps(c, m, worst);
}

bool td_tolerance_accepts_transposed(const td_tolerance *c, const td_tolerance_rows *b, td_ahead ahead, td_worst *worst)
{
    return is_settled_by_quick(c, c->quick_transposed(b, ahead, c->rtol), worst);
}

static bool is_settled_quickly(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b,
                               td_worst *worst)
{
    if (room->skips) {
        room->skips--;
        return false;
    }
    const bool settled = is_settled_by_quick(c, c->quick(b, c->rtol), worst);
    room->skips = settled ? 0 : TD_TOLERANCE_SKIPS;
    return settled;
}

bool td_tolerance_accepts(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b,
                          td_worst *worst)
{
    if (!c->look)
        return false;
    if (c->measure && (is_settled_quickly(c, room, b, worst) || is_settled_by_measure(c, b, worst)))
        return true;
    return c->look(c, room, b, worst);
}
