/* The kernels of kernels/arith.h, every version of this machine: integers against whole numbers of 128 bits, products
 * with a number against the C library's rint and fmod, floats against this compiler's own arithmetic; types of fewer
 * bits than their container, no element to a few vectors, bases off their alignment, results in the place of operands,
 * one operand for all, and bytes behind the result that stay. */
#include "kernels/arith.h"
#include "check/check.h"
#include "check/versions.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

enum { MOST = 83, GUARD = 0x5a };

static uint64_t state = 1;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* -- integers -- */

typedef struct type {
    unsigned bytes, bits;
    int is_signed;
} type;

static wide low_of(type t)
{
    return t.is_signed ? -((wide)1 << (t.bits - 1)) : 0;
}

static wide high_of(type t)
{
    return ((wide)1 << (t.bits - (t.is_signed ? 1 : 0))) - 1;
}

static wide value_at(type t, const unsigned char *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, t.bytes);
    if (!t.is_signed)
        return (wide)bits;
    const wide value = (wide)bits, past = (wide)1 << (8 * t.bytes);
    return value >= past / 2 ? value - past : value;
}

static void put(type t, unsigned char *at, wide value)
{
    const uint64_t bits = (uint64_t)value;
    memcpy(at, &bits, t.bytes);
}

static wide draw(type t)
{
    const wide low = low_of(t), high = high_of(t), span = high - low + 1;
    switch (next() % 6) {
    case 0:
        return low + (wide)(next() % 3) % span;
    case 1:
        return high - (wide)(next() % 3) % span;
    case 2: {
        const wide near = (wide)(next() % 7) - 3;
        return near < low ? low : near > high ? high : near;
    }
    default:
        return low + (wide)next() % span;
    }
}

static wide wrapped(type t, wide value)
{
    const wide span = (wide)1 << t.bits;
    wide rest = value % span;
    rest += rest < 0 ? span : 0;
    return rest > high_of(t) ? rest - span : rest;
}

/* value / 2^shift to nearest even */
static wide shifted(wide value, unsigned shift)
{
    const wide unit = (wide)1 << shift;
    wide floor = value / unit;
    floor -= floor * unit > value;
    const wide rest = value - floor * unit;
    return floor + (2 * rest > unit || (2 * rest == unit && (floor & 1)));
}

enum { ADD, MUL, MULQ, SCALE, CLAMP };

/* The result before the range is looked at. Those of scale past 2^100 are not needed but by their remainder. */
static wide rule(type t, const td_arith *p, int op, wide a, wide b, int *huge)
{
    *huge = 0;
    if (op == ADD)
        return a + b;
    if ((op == MUL || op == MULQ) && !t.is_signed && t.bits > 62) { /* 128 bits without a sign */
        const unsigned_wide product = (unsigned_wide)a * (unsigned_wide)b;
        const unsigned_wide unit = (unsigned_wide)1 << p->shift, floor = product / unit, rest = product % unit;
        const unsigned_wide r =
            op == MUL ? product : floor + (rest > unit - rest || (rest == unit - rest && floor % 2));
        *huge = r >> 64 != 0;
        return (wide)(uint64_t)r;
    }
    if (op == MUL)
        return a * b;
    if (op == MULQ)
        return shifted(a * b, p->shift);
    if (op == CLAMP)
        return a < (wide)p->least ? (wide)p->least : a > (wide)p->most ? (wide)p->most : a;
    const double whole = rint((double)a * p->factor);
    if (fabs(whole) < 0x1p100)
        return (wide)whole;
    *huge = whole < 0 ? -1 : 1;
    return isinf(whole) ? 0 : (wide)fmod(whole, ldexp(1, (int)t.bits));
}

static void check_integers(td_arith_fn run, type t, int op, int wrap, size_t n)
{
    unsigned char a[8 * MOST + 16], b[8 * MOST + 16], got[8 * MOST + 24];
    const unsigned off = (unsigned)(next() % 3);
    const int one = next() % 3 == 0, in_place = next() % 3 == 0;
    static const double factors[] = {0.5, -1, 1.5, 0.05, 3, -0.3333, 1e3, 0x1p-30, 1e9, 1e30, -1e300, 0};
    td_arith p = {.low = (int64_t)low_of(t),
                  .high = (int64_t)high_of(t),
                  .bits = t.bits,
                  .shift = op == MULQ ? 1 + (unsigned)(next() % t.bits) : 0,
                  .wrap = wrap,
                  .factor = factors[next() % (sizeof factors / sizeof factors[0])]};
    const wide one_end = draw(t), other_end = draw(t);
    p.least = (int64_t)(one_end < other_end ? one_end : other_end);
    p.most = (int64_t)(one_end < other_end ? other_end : one_end);
    if (!t.is_signed && t.bits == 64 && op == CLAMP) { /* the rule above reads them as they are */
        p.least &= INT64_MAX >> 1;
        p.most = p.least + 5;
    }
    for (size_t i = 0; i < n; i++) {
        put(t, a + off + i * t.bytes, draw(t));
        put(t, b + off + i * t.bytes, draw(t));
    }
    if (one && n == 0)
        put(t, b + off, draw(t));
    unsigned char want[8 * MOST + 24];
    memset(want, GUARD, sizeof want);
    memset(got, GUARD, sizeof got);
    int past = 0, beyond = 0;
    for (size_t i = 0; i < n; i++) {
        int huge = 0;
        const wide x = value_at(t, a + off + i * t.bytes), y = value_at(t, b + off + (one ? 0 : i * t.bytes));
        wide r = rule(t, &p, op, x, y, &huge);
        const int out = huge || r < low_of(t) || r > high_of(t);
        beyond |= op == SCALE && fabs((double)x * p.factor) > 0x1p51;
        past |= out;
        if (wrap)
            r = wrapped(t, r);
        else if (out)
            r = huge < 0 || (!huge && r < low_of(t)) ? low_of(t) : high_of(t);
        put(t, want + i * t.bytes, r);
    }
    if (in_place)
        memcpy(got, a + off, n * t.bytes);
    const bool fits = run(&p, got, in_place ? got : a + off, op >= SCALE ? NULL : b + off, one, n);
    if (op == SCALE && wrap && t.bytes < 8) {
        assert_int_equal(fits, !beyond);
        if (beyond)
            return;
    } else if (!wrap && op != CLAMP) {
        assert_int_equal(fits, !past);
    }
    assert_memory_equal(got, want, sizeof got);
}

static void integers_of_every_width(void **unused)
{
    (void)unused;
    for (const version *v = all_versions(); v->isa; v++) {
        td_arith_kernels k;
        td_arith_init(&k, v->flags);
        const struct {
            unsigned bytes;
            int is_signed;
            td_arith_fn run[5];
        } all[] = {
#define X(name, container)                                                                                             \
    {sizeof(container), #name[0] == 'i', {k.add_##name, k.mul_##name, k.mulq_##name, k.scale_##name, k.clamp_##name}},
            TD_ARITH_INTEGERS(X)
#undef X
        };
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            for (int op = ADD; op <= CLAMP; op++)
                for (size_t n = 0; n < MOST; n++)
                    for (int wrap = 0; wrap < 2; wrap++) {
                        const unsigned most = 8 * all[i].bytes, least = most == 8 ? 1 : most / 2 + 1;
                        const unsigned bits = n % 2 ? most : least + (unsigned)(next() % (most - least + 1));
                        const type t = {all[i].bytes, bits, all[i].is_signed};
                        check_integers(all[i].run[op], t, op, wrap, n);
                    }
    }
}

/* -- floats -- */

#define FLOATS(container, bits_of, quiet, pool, largest)                                                               \
    static void check_##container(const td_arith_fn *run, size_t n)                                                    \
    {                                                                                                                  \
        static const container pool_[] = pool;                                                                         \
        container a[MOST], b[MOST], got[MOST + 1];                                                                     \
        const int one = next() % 3 == 0, sat = next() % 2 == 0;                                                        \
        for (size_t i = 0; i < MOST; i++) {                                                                            \
            const bits_of random[2] = {(bits_of)next(), (bits_of)next()};                                              \
            memcpy(&a[i], &random[0], sizeof a[i]);                                                                    \
            memcpy(&b[i], &random[1], sizeof b[i]);                                                                    \
            a[i] = next() % 3 ? a[i] : pool_[next() % (sizeof pool_ / sizeof pool_[0])];                               \
            b[i] = next() % 3 ? b[i] : pool_[next() % (sizeof pool_ / sizeof pool_[0])];                               \
        }                                                                                                              \
        td_arith p = {.factor = (double)(container)0.3,                                                                \
                      .from = -2,                                                                                      \
                      .to = 0.5,                                                                                       \
                      .limit = sat ? (double)(largest) : (double)INFINITY};                                            \
        for (int op = 0; op < 4; op++) {                                                                               \
            memset(got, GUARD, sizeof got);                                                                            \
            assert_true(run[op](&p, got, a, op < 2 ? b : NULL, one, n));                                               \
            for (size_t i = 0; i < n; i++) {                                                                           \
                const container y = b[one ? 0 : i];                                                                    \
                volatile container r = op == 0                 ? a[i] + y                                              \
                                       : op == 1               ? a[i] * y                                              \
                                       : op == 2               ? a[i] * (container)p.factor                            \
                                       : a[i] < -2             ? (container)-2                                         \
                                       : a[i] > (container)0.5 ? (container)0.5                                        \
                                                               : a[i];                                                 \
                if (sat && op < 3 && isinf(r))                                                                         \
                    r = r < 0 ? -(largest) : (largest);                                                                \
                container want = r;                                                                                    \
                const bits_of nan = quiet;                                                                             \
                if (isnan(r))                                                                                          \
                    memcpy(&want, &nan, sizeof want);                                                                  \
                assert_memory_equal(&got[i], &want, sizeof want);                                                      \
            }                                                                                                          \
            const unsigned char *behind = (const unsigned char *)&got[n];                                              \
            assert_int_equal(behind[0], GUARD);                                                                        \
        }                                                                                                              \
    }

#define POOL(...)                                                                                                      \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
#define SOME 0, -0.0f, 1, -1, 0.5f, -2, INFINITY, -INFINITY, NAN
FLOATS(float, uint32_t, 0x7fc00000, POOL(SOME, 0x1.fffffep127f, -0x1.fffffep127f, 0x1p-149f), 0x1.fffffep127f)
FLOATS(double, uint64_t, 0x7ff8000000000000, POOL(SOME, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, 0x1p-1074),
       0x1.fffffffffffffp1023)

static void floats(void **unused)
{
    (void)unused;
    for (const version *v = all_versions(); v->isa; v++) {
        td_arith_kernels k;
        td_arith_init(&k, v->flags);
        const td_arith_fn narrow[] = {k.add_f32, k.mul_f32, k.scale_f32, k.clamp_f32},
                          wider[] = {k.add_f64, k.mul_f64, k.scale_f64, k.clamp_f64};
        for (size_t n = 0; n < MOST; n++)
            for (int again = 0; again < 4; again++) {
                check_float(narrow, n);
                check_double(wider, n);
            }
    }
}

static const td_check checks[] = {TD_CHECK(integers_of_every_width), TD_CHECK(floats)};

TD_CHECK_FAMILY(arith, checks, NULL, NULL, NULL);
