/* The kernels of kernels/quant.h: plain C against the nearest of all codes, found here one by one in double precision;
 * every version of this machine against plain C. One block to a few, one element to three vectors and one more, bases
 * off their alignment, all formats, numbers at and beside every tie, and bytes around the result that stay. */
#include "kernels/quant.h"
#include "check/check.h"
#include "check/versions.h"
#include "kernels/move.h"
#include "kernels/prefetch.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A strip of a row has up to MANY_BLOCKS of 1, 16 or 32; the others are few, of every size. */
enum { LARGEST_BLOCK = 130, MOST_BLOCKS = 9, MANY_BLOCKS = 140, MOST = MANY_BLOCKS * 32, GUARD = 0x5a };

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 1 ^ *state << 3;
}

static float from_bits(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

typedef struct format {
    const char *name;
    unsigned bits, man_bits;
    int exp_min;
    double most;
} format;

static const format formats[] = {{"e2m1", 4, 1, 0, 6},
                                 {"e3m2", 6, 2, -2, 28},
                                 {"e2m3", 6, 3, 0, 7.5},
                                 {"e5m2", 8, 2, -14, 57344},
                                 {"e4m3", 8, 3, -6, 448}};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static double value_of(const format *f, unsigned code)
{
    const unsigned exponent = code >> f->man_bits, man = code & ((1U << f->man_bits) - 1);
    const double unit = ldexp(1, f->exp_min - (int)f->man_bits);
    return exponent ? ldexp((double)(man | 1U << f->man_bits) * unit, (int)exponent - 1) : man * unit;
}

/* The nearest code, of two the even one. */
static unsigned nearest(const format *f, float x)
{
    const double magnitude = fabs((double)x);
    unsigned best = 0;
    for (unsigned code = 0; value_of(f, code) <= f->most && code < 1U << (f->bits - 1); code++) {
        const double error = fabs(value_of(f, code) - magnitude), least = fabs(value_of(f, best) - magnitude);
        if (error < least || (error == least && code % 2 == 0))
            best = code;
    }
    if (magnitude > f->most)
        for (best = 0; value_of(f, best) < f->most;)
            best++;
    return best | (unsigned)(signbit(x) != 0) << (f->bits - 1);
}

static td_quant quant_of(const format *f)
{
    return (td_quant){.bits = f->bits,
                      .man_bits = f->man_bits,
                      .least_bits = to_bits((float)ldexp(1, f->exp_min)),
                      .most_bits = to_bits((float)f->most),
                      .extra = 1};
}

/* A value of the format, or the middle of two, or a neighbour of either; sometimes any number. */
static float draw_float(const format *f, bool small, uint32_t *state)
{
    const uint32_t kind = next(state);
    if (kind % 8 == 0 && !small)
        return from_bits(next(state) & 0xbfffffffU) * (kind & 64 ? 1 : 0x1p-60F);
    const unsigned code = next(state) % (1U << (f->bits - 1));
    const double value = kind & 8 ? value_of(f, code) : (value_of(f, code) + value_of(f, code + 1)) / 2;
    const uint32_t bits = to_bits((float)value) + (value > 0 ? next(state) % 3 - 1 : 0);
    return from_bits(bits | (kind & 16 ? 0x80000000U : 0));
}

typedef struct data {
    float row[MOST + 4], by[MANY_BLOCKS], zero[MANY_BLOCKS];
    uint8_t codes[MOST + 4];
    size_t off;
} data;

static uint8_t got[MOST + 8] __attribute__((aligned(64))), want[MOST + 8]; /* aligned as streams are */
static float values[MOST + 64], wanted[MOST + 64];

static void check_floats(const td_quant_kernels *plain, const td_quant_kernels *k, const format *f, size_t blocks,
                         size_t block, uint32_t seed)
{
    static data d;
    uint32_t state = seed ^ td_check_salt();
    td_quant q = quant_of(f);
    d.off = seed % 3;
    for (size_t j = 0; j < blocks; j++) {
        const int power = seed % 3 ? (int)(next(&state) % 20) - 10 : (int)(next(&state) % 255) - 127;
        d.by[j] = seed % 4 ? ldexpf(1, power) : from_bits(0x3f800000 + next(&state) % 0x800000);
    }
    for (size_t i = 0; i < blocks * block; i++)
        d.row[d.off + i] = draw_float(f, seed & 8, &state) / (seed % 4 ? d.by[i / block] : 1);
    q.stream = seed % 2;
    q.end = seed % 4 < 2 ? d.row + MOST : NULL;
    q.ahead = seed % 4 ? TD_PREFETCH_BYTES : 2 * TD_PREFETCH_BYTES;
    for (int divides = 0; divides < 2; divides++) {
        bool bounded = !divides;
        q.divides = divides;
        q.powers = seed % 4 && !divides;
        for (size_t i = 0; i < blocks * block; i++)
            bounded &= fabsf(d.row[d.off + i] * d.by[i / block]) < 2 * f->most;
        memset(got, GUARD, sizeof got);
        memset(want, GUARD, sizeof want);
        plain->floats(want + d.off, d.row + d.off, d.by, blocks, block, &q, false);
        k->floats(got + d.off, d.row + d.off, d.by, blocks, block, &q, bounded);
        td_move_fence();
        assert_memory_equal(got, want, sizeof got);
        for (size_t i = 0; i < blocks * block; i++) {
            const float x = divides ? d.row[d.off + i] / d.by[i / block] : d.row[d.off + i] * d.by[i / block];
            assert_int_equal(want[d.off + i], nearest(f, x));
        }
    }
}

/* Quotients at and beside halves, of scales that have an inverse and of some that have none. */
static void check_ints(const td_quant_kernels *plain, const td_quant_kernels *k, size_t blocks, size_t block,
                       uint32_t seed)
{
    static data d;
    static const int range[][2] = {{-8, 7}, {-7, 7}, {0, 15}, {-128, 127}, {-127, 127}, {0, 255}, {-2, 1}, {0, 63}};
    static const float odd[] = {1e-40F, 3e38F, INFINITY, 0x1p-127F, 1e-5F};
    const int *r = range[seed % 8];
    uint32_t state = seed ^ td_check_salt();
    const td_quant q = {.bits = 8,
                        .low = r[0],
                        .high = r[1],
                        .divides = true,
                        .stream = seed / 8 % 2,
                        .end = seed % 4 < 2 ? d.row + MOST : NULL,
                        .ahead = TD_PREFETCH_BYTES};
    d.off = seed % 3;
    for (size_t j = 0; j < blocks; j++) {
        d.by[j] = next(&state) % 5 ? from_bits(0x3e000000 + next(&state) % 0x2000000) : odd[next(&state) % 5];
        d.zero[j] = (float)(next(&state) % (uint32_t)(r[1] + 1));
    }
    for (size_t i = 0; i < blocks * block; i++) {
        const float whole = seed & 64 ? (float)(next(&state) % 70) / 2 - 17 : (float)(next(&state) % 700) / 2 - 175;
        const uint32_t bits = to_bits(whole * d.by[i / block]);
        d.row[d.off + i] =
            next(&state) % 9 ? from_bits(bits + next(&state) % 5 - 2) : from_bits(next(&state) & 0xbfffffff);
        if (!isfinite(d.row[d.off + i]))
            d.row[d.off + i] = 1;
    }
    for (int has_zero = 0; has_zero < 2; has_zero++) {
        const float *zero = has_zero ? d.zero : NULL;
        memset(got, GUARD, sizeof got);
        memset(want, GUARD, sizeof want);
        bool bounded = true;
        for (size_t i = 0; i < blocks * block; i++)
            bounded &= fabsf(d.row[d.off + i]) <= 40 * d.by[i / block];
        plain->ints(want + d.off, d.row + d.off, d.by, zero, blocks, block, &q, false);
        k->ints(got + d.off, d.row + d.off, d.by, zero, blocks, block, &q, bounded);
        td_move_fence();
        assert_memory_equal(got, want, sizeof got);
        for (size_t i = 0; i < blocks * block; i++) {
            const double sum = rint((double)(d.row[d.off + i] / d.by[i / block])) + (has_zero ? d.zero[i / block] : 0);
            const double in = sum < r[0] ? r[0] : sum > r[1] ? r[1] : sum;
            assert_int_equal(want[d.off + i], (uint8_t)(int)in);
        }
    }
}

/* Tables of anything, of floats, some of whose highest codes are no numbers, and of integers; bits above a code do not
 * matter. */
static td_quant draw_table(uint32_t seed)
{
    const format *f = &formats[seed / 7 % FORMATS];
    const unsigned kind = seed % 4, bits = kind == 1 ? f->bits : kind == 2 ? 3 + seed / 7 % 6 : kind == 3 ? 4 : 8;
    td_quant q = {.bits = bits, .extra = seed % 3 ? 1 : 0x1.234p-3F, .stream = seed % 5 == 0};
    if (kind == 1) {
        q = quant_of(f);
        q.extra = seed % 3 ? 1 : 0x1.234p-3F;
        q.stream = seed % 5 == 0;
        q.form = TD_QUANT_FLOAT;
        for (q.finite = 0; value_of(f, q.finite) < f->most;)
            q.finite++;
    } else if (kind == 2) {
        q.form = TD_QUANT_INT;
        q.unit = seed % 11 ? 1 : 0x1p-6F;
        q.low = seed % 8 < 4 ? -(1 << (bits - 1)) : 0;
    }
    for (unsigned i = 0; i < 256; i++) {
        const unsigned code = i & ((1U << bits) - 1), sign = code >> (bits - 1),
                       magnitude = code - (sign << (bits - 1));
        if (kind == 1)
            q.table[i] = (float)(magnitude <= q.finite ? value_of(f, magnitude) : INFINITY) * (sign ? -1.0F : 1.0F);
        else if (kind == 2)
            q.table[i] = (float)((int)code - (q.low < 0 && sign ? 1 << bits : 0)) * q.unit;
        else
            q.table[i] = from_bits((uint32_t)((uint64_t)code * 2654435761U >> 16 << 16) & 0xbfff0000U);
    }
    return q;
}

static void check_values(const td_quant_kernels *plain, const td_quant_kernels *k, size_t blocks, size_t block,
                         uint32_t seed)
{
    static data d;
    static td_quant q;
    uint32_t state = seed ^ td_check_salt();
    q = draw_table(seed);
    for (size_t i = 0; i < 256; i++) {
        const uint32_t bits = to_bits(q.table[i]);
        q.half[0][i] = (uint8_t)(bits >> 16);
        q.half[1][i] = (uint8_t)(bits >> 24);
    }
    d.off = seed % 3;
    static const float odd[] = {0x1p127F, -0x1.8p126F, 0x1p112F, 0x1p8F, 0x1p-127F, -1e-40F, 0, -3};
    const bool all_odd = seed % 6 == 5, numbers = seed % 2 && q.form == TD_QUANT_FLOAT;
    for (size_t j = 0; j < blocks; j++) {
        d.by[j] = from_bits(0x3e000000 + next(&state) % 0x2000000);
        if (all_odd && next(&state) % 4 == 0)
            d.by[j] = odd[next(&state) % 8];
        d.zero[j] = (float)(next(&state) % 16);
    }
    for (size_t i = 0; i < blocks * block; i++) {
        const uint8_t code = (uint8_t)next(&state), magnitude = (uint8_t)(code & ((1U << (q.bits - 1)) - 1));
        d.codes[d.off + i] = numbers && magnitude > q.finite ? (uint8_t)(code ^ magnitude) : code;
    }
    float *dst = (float *)(((uintptr_t)values + 63) / 64 * 64) + (seed % 5 ? d.off : 0);
    for (int has_zero = 0; has_zero < 2; has_zero++) {
        const float *zero = has_zero ? d.zero : NULL;
        const size_t at = (size_t)(dst - values);
        memset(values, GUARD, sizeof values);
        memset(wanted, GUARD, sizeof wanted);
        plain->values(wanted + at, d.codes + d.off, d.by, zero, blocks, block, &q);
        k->values(dst, d.codes + d.off, d.by, zero, blocks, block, &q);
        td_move_fence();
        assert_memory_equal(values, wanted, sizeof values);
        for (size_t i = 0; i < blocks * block; i++) {
            const float less = q.table[d.codes[d.off + i]] - (has_zero ? d.zero[i / block] : 0);
            const float scaled = less * d.by[i / block];
            const float rule = scaled * q.extra;
            assert_true(to_bits(wanted[at + i]) == to_bits(rule) || (isnan(wanted[at + i]) && isnan(rule)));
        }
    }
}

/* Rows whose blocks lie powers of two apart, some of zeros, one now and then with an infinity, a NaN, or numbers at the
 * ends of what f32 holds. `both` ends before the first block that is odd, and what it has done is what the kernels that
 * it stands for do. */
typedef struct scales {
    uint16_t code[MANY_BLOCKS + 16]; /* bytes, but for halves */
    uint32_t amax[MANY_BLOCKS];
    float share[MANY_BLOCKS], by[MANY_BLOCKS];
} scales;

static void draw_row(data *d, size_t blocks, size_t block, uint32_t seed, uint32_t *state)
{
    static const uint32_t odd[] = {0x7f800000, 0xffc00001, 0x7f7fffff, 1, 0x807fffff, 0x7f800001};
    const uint32_t spread = seed % 3 ? 20 : 250;
    for (size_t j = 0; j < blocks; j++) {
        const int power = (int)(next(state) % spread) - (int)spread / 2;
        const bool empty = next(state) % 29 == 0;
        for (size_t i = 0; i < block; i++)
            d->row[d->off + j * block + i] =
                empty ? 0 : ldexpf((float)(next(state) % 4096) / 256 - 8, power) * (next(state) % 3 ? 1 : 0x1p-9F);
    }
    for (size_t n = seed % 5; n < 2; n++)
        d->row[d->off + next(state) % (blocks * block)] = from_bits(odd[next(state) % 6]);
}

/* The same by the kernels in plain C; false where 16 blocks are odd. */
static bool two_steps(const td_quant_kernels *plain, const td_block_kernels *b, const td_quant_rule *rule,
                      const td_quant *q, const float *row, size_t block, scales *s, uint8_t *dst)
{
    const float most = from_bits(q->most_bits);
    bool odd = false;
    memset(s->amax, 0, 16 * sizeof s->amax[0]);
    b->amax(s->amax, row, 16, block);
    if (rule->power) {
        odd = b->powers((uint8_t *)s->code, s->by, row, 16, block, rule->power);
    } else if (rule->chain) {
        b->chain((uint8_t *)s->code, s->by, s->amax, 16, rule->chain);
    } else {
        b->ratio(s->share, s->amax, 16, rule->ratio);
        b->half(s->code, s->by, s->share, 16, rule->exact);
    }
    const td_block_look look = b->look(s->amax, s->by, 16, rule->ratio ? 40 : 2 * most, rule->ratio != NULL);
    odd |= look.odd || look.nan || (!rule->power && !look.bounded);
    for (size_t j = 0; j < 16 && rule->ratio; j++)
        odd |= s->by[j] != INFINITY && (1 / s->by[j] < 0x1p-126F || 1 / s->by[j] > 0x1p126F);
    if (rule->ratio)
        plain->ints(dst, row, s->by, NULL, 16, block, q, false);
    else
        plain->floats(dst, row, s->by, 16, block, q, false);
    return !odd;
}

static void check_both(const td_quant_kernels *plain, const td_quant_kernels *k, unsigned kind, size_t blocks,
                       size_t block, uint32_t seed)
{
    static data d;
    static scales s, all, whole;
    const format *f = &formats[kind == 0 ? seed % FORMATS : 0];
    uint32_t state = seed ^ td_check_salt();
    td_block_kernels b;
    td_block_init(&b, TD_CPU_C);
    td_quant q = quant_of(f);
    q.stream = seed % 2;
    q.end = seed % 4 < 2 ? d.row + MOST : NULL;
    q.divides = kind == 2;
    q.powers = kind == 0;
    q.low = seed % 2 ? -8 : -7;
    q.high = 7;
    const td_power power = {.rule = (td_power_rule)(seed / 5 % 5),
                            .emax = ilogb(f->most),
                            .man_bits = f->man_bits,
                            .inverse = 1 / (float)f->most,
                            .inf_is_max = seed % 2};
    const bool te = seed & 4;
    const td_chain chain = {.ratio = {.times = te ? 0.37F : 1,
                                      .over = te ? 1 : 6,
                                      .again = seed & 8 ? 1 : 0.0123F,
                                      .least = te ? -INFINITY : 0x1p-6F,
                                      .most = 448},
                            .one = te ? 1 : 1 / 0.0123F,
                            .times = te ? 2.7F : 1,
                            .most = te ? 3.4e38F : INFINITY,
                            .man_bits = 3,
                            .least_bits = to_bits(0x1p-6F),
                            .nan = 0x7f};
    const td_ratio ratio = {.times = 1, .over = 7, .again = 1, .least = -INFINITY, .most = INFINITY};
    const td_quant_rule rule = {.power = kind == 0 ? &power : NULL,
                                .chain = kind == 1 ? &chain : NULL,
                                .ratio = kind == 2 ? &ratio : NULL,
                                .exact = seed & 16};
    const size_t size = kind == 2 ? 2 : 1;
    d.off = seed % 3;
    draw_row(&d, blocks, block, seed, &state);
    memset(got, GUARD, sizeof got);
    memset(want, GUARD, sizeof want);
    memset(&all, GUARD, sizeof all);
    memset(&whole, GUARD, sizeof whole);
    const size_t done = k->both(got + d.off, all.code, d.row + d.off, blocks, block, &rule, &q);
    td_move_fence();
    assert_true(done <= blocks && done % 16 == 0);
    assert_true(done == 0 || k->has_both(block, &rule, &q));
    bool good = true;
    for (size_t j = 0; j + 16 <= blocks && good; j += 16) {
        uint8_t dst[16 * 128];
        good = two_steps(plain, &b, &rule, &q, d.row + d.off + j * block, block, &s, dst);
        assert_true(good || done <= j);
        if (j < done) {
            memcpy(want + d.off + j * block, dst, 16 * block);
            memcpy((unsigned char *)whole.code + j * size, s.code, 16 * size);
        }
    }
    assert_memory_equal(got, want, sizeof got);
    assert_memory_equal(all.code, whole.code, done * size);
    assert_memory_equal((unsigned char *)all.code + blocks * size, (unsigned char *)whole.code + blocks * size,
                        sizeof all.code - blocks * size);
}

static void both_are_the_two_steps(void **state)
{
    (void)state;
    static const size_t sizes[3][4] = {{32, 32, 16, 64}, {16, 16, 16, 32}, {32, 64, 128, 16}};
    td_quant_kernels plain;
    td_quant_init(&plain, TD_CPU_C);
    for (const version *v = all_versions(); v->isa; v++) {
        td_quant_kernels k;
        td_quant_init(&k, v->flags);
        for (uint32_t seed = 0; seed < 1200; seed++) {
            const size_t block = sizes[seed % 3][seed / 3 % 4], most = MOST / block < 131 ? MOST / block : 131;
            check_both(&plain, &k, seed % 3, 1 + seed * 7 % most, block, seed * 2654435761U >> 7);
        }
    }
    td_quant_kernels best; /* a step that does nothing would have passed */
    td_quant_init(&best, td_cpu_flags());
    if (td_cpu_flags() & TD_CPU_VBMI) {
        static data d;
        static scales s;
        const td_power power = {.rule = TD_POWER_FLOOR, .emax = 2, .man_bits = 1, .inverse = 1 / 6.0F};
        const td_quant_rule rule = {.power = &power};
        td_quant q = quant_of(&formats[0]);
        q.powers = true;
        for (size_t i = 0; i < MOST; i++)
            d.row[i] = (float)(i % 7) + 1;
        assert_true(best.has_both(32, &rule, &q) && !best.has_both(33, &rule, &q));
        assert_int_equal(best.both(got, s.code, d.row, 100, 32, &rule, &q), 96);
    }
}

static void every_version_keeps_the_rule(void **state)
{
    (void)state;
    td_quant_kernels plain;
    td_quant_init(&plain, TD_CPU_C);
    for (const version *v = all_versions(); v->isa; v++) {
        td_quant_kernels k;
        td_quant_init(&k, v->flags);
        for (size_t block = 1; block <= LARGEST_BLOCK; block += block < 66 ? 1 : 31)
            for (size_t blocks = 1; blocks <= MOST_BLOCKS; blocks++) {
                const uint32_t seed = (uint32_t)(block * 131 + blocks);
                check_floats(&plain, &k, &formats[seed % FORMATS], blocks, block, seed);
                check_ints(&plain, &k, blocks, block, seed);
                check_values(&plain, &k, blocks, block, seed);
            }
        for (unsigned f = 0; f < FORMATS; f++)
            for (uint32_t seed = 0; seed < 48; seed++)
                check_floats(&plain, &k, &formats[f], MOST_BLOCKS - seed % 3, seed % 2 ? 32 : 16, 77 + seed);
        for (uint32_t seed = 0; seed < 400; seed++)
            check_values(&plain, &k, MOST_BLOCKS - seed % 3, seed % 5 == 4 ? 128 : seed & 8 ? 32 : 16, 77 + seed);
        for (uint32_t seed = 0; seed < 160; seed++) {
            const size_t blocks = 60 + seed / 2, block = seed % 4 < 2 ? 1 : seed % 4 == 2 ? 32 : 16;
            check_floats(&plain, &k, &formats[seed % FORMATS], blocks, block, 770 + seed);
            check_ints(&plain, &k, blocks, block, 770 + seed);
            check_values(&plain, &k, blocks, block, 770 + seed);
        }
        for (uint32_t seed = 0; seed < 200; seed++)
            check_ints(&plain, &k, MOST_BLOCKS - seed % 3, seed % 5 == 4 ? 128 : seed % 2 ? 32 : 16, 77 + seed);
    }
}

static const td_check checks[] = {TD_CHECK(every_version_keeps_the_rule), TD_CHECK(both_are_the_two_steps)};

TD_CHECK_FAMILY(quant, checks, NULL, NULL, NULL);
