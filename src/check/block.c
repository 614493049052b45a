/* The kernels of kernels/block.h, every version of this machine against plain C: one block to a few, one element to two
 * vectors and one more, bases off their alignment, all kinds of numbers, and bytes behind the result that stay. */
#include "kernels/block.h"
#include "check/check.h"
#include "check/versions.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LARGEST_BLOCK 130
#define CHAINS 6
#define MOST_BLOCKS 35
#define GUARD 0x5a5a5a5aU

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 1 ^ *state << 3;
}

/* Bits of any number, infinities and zeros more often; where `finite` no NaN: which one a product gives is open. */
static float number(uint32_t *state, bool finite)
{
    static const uint32_t special[] = {0, 0x80000000U, 1, 0x7f7fffff, 0x00800000, 0x7f800000, 0xff800000, 0x7fc00000};
    uint32_t bits = next(state) % 8 ? next(state) : special[next(state) % 8];
    if (finite && (bits & 0x7f800000) == 0x7f800000)
        bits &= ~0x40000000U;
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The rows of one set of kernels; every array ends with a guard. */
typedef struct results {
    uint32_t amax[MOST_BLOCKS + 1], codes[MOST_BLOCKS * LARGEST_BLOCK + 1];
    float min[MOST_BLOCKS + 1], max[MOST_BLOCKS + 1], by[5][MOST_BLOCKS + 1], rows[3][MOST_BLOCKS * LARGEST_BLOCK + 1];
    float ratio[MOST_BLOCKS + 1], inverse[MOST_BLOCKS + 1], span[2][MOST_BLOCKS + 1], zero[2][MOST_BLOCKS + 1];
    uint8_t power[5][MOST_BLOCKS + 1], powers[5][MOST_BLOCKS + 1];
    float powers_by[5][MOST_BLOCKS + 1];
    bool odd[2][5];
    uint16_t half[2][MOST_BLOCKS + 1];
    float half_by[2][MOST_BLOCKS + 1];
    uint32_t amax_of_range[MOST_BLOCKS + 1];
    float shares[2][MOST_BLOCKS + 1], chain_by[CHAINS][MOST_BLOCKS + 1];
    uint8_t chain[CHAINS][MOST_BLOCKS + 1];
    uint32_t look[8][3];
} results;

typedef struct inputs {
    float row[MOST_BLOCKS * LARGEST_BLOCK + 3], finite[MOST_BLOCKS * LARGEST_BLOCK + 3], by[MOST_BLOCKS],
        scale[MOST_BLOCKS], halves[MOST_BLOCKS];
    uint32_t amax[MOST_BLOCKS], within[MOST_BLOCKS], usual[MOST_BLOCKS], exponent[MOST_BLOCKS];
    size_t off;
    unsigned bits;
} inputs;

/* An f16, or the middle of two, or a neighbour of that in f32. */
static float half_or_beside(uint32_t bits, uint32_t more)
{
    const uint32_t code = bits % 0x7c01, middle = bits >> 15 & 1;
    const double ulp = ldexp(1, (int)(code >> 10 ? code >> 10 : 1) - 25);
    const double value = ulp * (code >> 10 ? 0x400 + (code & 0x3ff) : code) + (middle ? ulp / 2 : 0);
    float f = (float)value;
    uint32_t near = 0;
    memcpy(&near, &f, sizeof near);
    near = (near + more - (near ? 1 : 0)) | (bits >> 16 & 1) << 31;
    memcpy(&f, &near, sizeof f);
    return f;
}

/* That plain C finds the nearest, of two the even one, and its value. */
static void check_half(const td_block_kernels *plain)
{
    uint32_t state = 5 ^ td_check_salt();
    for (int n = 0; n < 20000; n++) {
        const float x = half_or_beside(next(&state), next(&state) % 3);
        uint16_t code = 0;
        float by = 0;
        plain->half(&code, &by, &x, 1, false);
        const int exp = code >> 10 & 31;
        const double ulp = ldexp(1, (exp ? exp : 1) - 25), value = ulp * (exp ? 0x400 + (code & 0x3ff) : code & 0x3ff);
        const double off = fabs(fabs((double)x) - value);
        assert_int_equal(code >> 15, signbit(x) != 0);
        if (exp == 31) { /* 65520 and more */
            assert_true(fabsf(x) >= 65520 && isinf(by) && (code & 0x3ff) == 0);
            continue;
        }
        assert_true(off < ulp / 2 || (off == ulp / 2 && code % 2 == 0) || (code & 0x3ff) == 0);
        assert_true(value == 0 ? isinf(by) : fabs((double)by) == value);
    }
}

static inputs make_inputs(size_t blocks, size_t block, uint32_t seed)
{
    inputs in = {.off = seed % 3, .bits = 2 + seed % 23};
    for (size_t i = 0; i < blocks * block; i++) {
        in.row[in.off + i] = number(&seed, false);
        in.finite[in.off + i] = number(&seed, true);
    }
    for (size_t j = 0; j < blocks; j++) {
        in.by[j] = number(&seed, true);
        in.by[j] = in.by[j] == 0 ? 1 : in.by[j];
        in.amax[j] = next(&seed) % 4 ? next(&seed) & 0x7fffffff : 0;
        in.exponent[j] = 254;
        in.halves[j] = half_or_beside(next(&seed), next(&seed) % 3);
        in.scale[j] = 0x1p-60F * (float)(1 + next(&seed) % 1000);
        const float within = in.scale[j] * (next(&seed) % 64 ? 59.5F : 61); /* 60 is what is asked for */
        memcpy(&in.within[j], &within, sizeof within);
        in.usual[j] = (117 + next(&seed) % 20) << 23 | (next(&seed) & 0x7fffff); /* 2^-10 to 2^10 */
    }
    return in;
}

/* Without what lies between its members. */
static void put_look(td_block_look look, uint32_t *out)
{
    out[0] = look.odd;
    out[1] = look.nan;
    out[2] = look.bounded;
}

static void run(const td_block_kernels *k, const inputs *in, size_t blocks, size_t block, results *out)
{
    const float *row = in->row + in->off, *finite = in->finite + in->off;
    memset(out, 0x5a, sizeof *out);
    for (size_t j = 0; j < blocks; j++) {
        out->amax[j] = out->amax_of_range[j] = j % 3 ? 0 : in->amax[j] >> 1;
        out->min[j] = 1e30F;
        out->max[j] = -1e30F;
    }
    k->amax(out->amax, row, blocks, block);
    k->range(out->amax_of_range, out->min, out->max, row, blocks, block);
    k->mul(out->rows[0], finite, in->by, blocks, block);
    k->div(out->rows[1], finite, in->by, blocks, block);
    k->add(out->rows[2], finite, in->by, blocks, block);
    k->share(out->codes, finite, in->exponent, in->bits, blocks, block);
    for (int rule = 0; rule < 5; rule++) {
        const td_power p = {.rule = (td_power_rule)rule,
                            .emax = (int)(in->bits % 16),
                            .man_bits = in->bits % 11,
                            .inverse = 1.0F / (float)in->bits,
                            .inf_is_max = blocks % 2};
        k->power(out->power[rule], out->by[rule], in->amax, blocks, &p);
        out->odd[0][rule] = k->powers(out->powers[rule], out->powers_by[rule], row, blocks, block, &p);
        out->odd[1][rule] = k->powers(out->powers[rule], out->powers_by[rule], finite, blocks, block, &p);
    }
    const td_ratio r = {.times = 1.5F, .over = 6, .again = 0.3F, .least = 0.01F, .most = 448, .inf_is_max = blocks % 2};
    k->ratio(out->ratio, in->amax, blocks, &r);
    k->ratio(out->shares[0], in->amax, blocks, &(td_ratio){.times = 0.3F, .over = 7, .again = 1, .most = 1e30F});
    k->ratio(out->shares[1], in->amax, blocks, &(td_ratio){.times = 0.3F, .over = 1, .again = 1, .most = 1e30F});
    for (int n = 0; n < CHAINS; n++) {
        const int way = n % 3;
        const bool e5m2 = n == 3 || n == 4;
        const td_chain c = {
            .ratio = {way ? 0.3F : 0.7F, way ? 6 : 1, way > 1 ? 0.3F : 1, 0x1p-6F * (way > 1), 448, blocks % 2},
            .one = way ? 3 : 1,
            .times = 0.7F,
            .most = 1e30F,
            .man_bits = e5m2 ? 2 : 3,
            .least_bits = (127U - (e5m2 ? 14 : 6)) << 23,
            .nan = 0x7f};
        k->chain(out->chain[n], out->chain_by[n], way == 0 ? in->usual : n == 5 ? in->within : in->amax, blocks, &c);
    }
    for (int divides = 0; divides < 2; divides++) {
        put_look(k->look(in->amax, in->by, blocks, 1e30F, divides), out->look[divides]);
        put_look(k->look(in->within, in->scale, blocks, divides ? 60 : 0x1p-97F, divides), out->look[2 + divides]);
        put_look(k->look(in->within, finite, blocks, 1e30F, divides), out->look[4 + divides]); /* no amax is odd */
        put_look(k->look(in->usual, row, blocks, 60, divides), out->look[6 + divides]);        /* some have a NaN */
    }
    for (int exact = 0; exact < 2; exact++)
        k->half(out->half[exact], out->half_by[exact], exact ? in->halves : finite, blocks, exact);
    k->inverse(out->inverse, in->by, blocks, 3, 0.7F, 1e30F);
    for (int holds_zero = 0; holds_zero < 2; holds_zero++) {
        const td_span_rule s = {
            .codes = 15, .least = holds_zero ? -1e38F : 1e-5F, .holds_zero = holds_zero, .inf_is_max = blocks % 2};
        k->span(out->span[holds_zero], in->amax, out->min, out->max, blocks, &s);
        k->zero(out->zero[holds_zero], out->min, out->max, in->by, blocks, &s);
    }
}

/* Both steps in one are both steps. */
static void check_powers(const td_block_kernels *k, const float *row, size_t blocks, size_t block)
{
    uint32_t amax[MOST_BLOCKS] = {0};
    uint8_t want[MOST_BLOCKS], got[MOST_BLOCKS];
    float by[2][MOST_BLOCKS];
    const td_power p = {.rule = (td_power_rule)(block % 5), .emax = 8, .man_bits = 3, .inverse = 1 / 448.0F};
    bool odd = false;
    k->amax(amax, row, blocks, block);
    k->power(want, by[0], amax, blocks, &p);
    for (size_t j = 0; j < blocks; j++)
        odd |= amax[j] >= 0x7f800000U || want[j] == 255;
    assert_int_equal(k->powers(got, by[1], row, blocks, block, &p), odd);
    assert_memory_equal(got, want, blocks);
    assert_memory_equal(by[1], by[0], blocks * sizeof(float));
}

static void check(const td_block_kernels *plain, const td_block_kernels *tried, size_t blocks, size_t block)
{
    static results expected, got;
    const inputs in = make_inputs(blocks, block, (uint32_t)(block * 131 + blocks));
    run(plain, &in, blocks, block, &expected);
    run(tried, &in, blocks, block, &got);
    assert_memory_equal(&expected, &got, sizeof got);
    check_powers(tried, in.row + in.off, blocks, block);
    check_powers(tried, in.finite + in.off, blocks, block);
    assert_int_equal(got.amax[blocks], GUARD);
    assert_memory_equal(got.amax_of_range, got.amax, sizeof got.amax);
    assert_int_equal(got.codes[blocks * block], GUARD);
    assert_int_equal(got.power[4][blocks], GUARD & 0xff);
    assert_memory_equal(&got.ratio[blocks], &got.rows[0][MOST_BLOCKS * LARGEST_BLOCK], sizeof(float));
    assert_memory_equal(&got.zero[1][blocks], &got.rows[0][MOST_BLOCKS * LARGEST_BLOCK], sizeof(float));
}

/* Blocks of hundreds, which have vectors of their own. */
static void check_large(const td_block_kernels *plain, const td_block_kernels *tried, size_t block)
{
    static float row[3 * 600];
    uint32_t state = (uint32_t)block, want[4] = {0, 5, 0x7f000000U, GUARD}, got[4] = {0, 5, 0x7f000000U, GUARD};
    float low[2][4] = {{1e30F, 1, 0, 7}, {1e30F, 1, 0, 7}}, high[2][4] = {{-1e30F, 1, 0, 7}, {-1e30F, 1, 0, 7}};
    for (size_t i = 0; i < 3 * block; i++)
        row[i] = number(&state, block % 2);
    plain->amax(want, row, 3, block);
    tried->amax(got, row, 3, block);
    assert_memory_equal(got, want, sizeof got);
    plain->range(want, low[0], high[0], row, 3, block);
    tried->range(got, low[1], high[1], row, 3, block);
    assert_memory_equal(got, want, sizeof got);
    assert_memory_equal(low[1], low[0], sizeof low[0]);
    assert_memory_equal(high[1], high[0], sizeof high[0]);
}

/* Rows of many pages, with one number that is the largest anywhere among them. */
static void check_most(const td_block_kernels *plain, const td_block_kernels *tried)
{
    static float row[3 * 8192 + 5];
    uint32_t state = 7;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        row[i] = (float)(next(&state) % 1000) - 500;
    for (size_t turn = 0; turn < 400; turn++) {
        const size_t off = turn % 3, n = 1 + next(&state) % (turn % 4 ? 3 * 8192 : 8192 / 4),
                     at = off + next(&state) % n;
        const float was = row[at], most = (float)(turn % 2 ? -1000 : 1000) * (turn % 5 ? 1 : INFINITY);
        uint32_t want = 5, got = 5, high = 0xffffffffU;
        plain->most(&want, row + off, n);
        tried->most(&got, row + off, n);
        assert_int_equal(got, want);
        row[at] = most;
        plain->most(&want, row + off, n);
        tried->most(&got, row + off, n);
        row[at] = was;
        assert_int_equal(want, turn % 5 ? 0x447a0000 : 0x7f800000);
        assert_int_equal(got, want);
        tried->most(&high, row + off, n);
        assert_int_equal(high, 0xffffffffU);
    }
}

static void every_version_is_plain_c(void **state)
{
    (void)state;
    td_block_kernels plain;
    td_block_init(&plain, TD_CPU_C);
    check_half(&plain);
    for (const version *v = all_versions(); v->isa; v++) {
        td_block_kernels tried;
        td_block_init(&tried, v->flags);
        check_most(&plain, &tried);
        for (size_t block = 1; block <= LARGEST_BLOCK; block += block < 67 || block > 126 ? 1 : 12)
            for (size_t blocks = 1; blocks <= MOST_BLOCKS; blocks++)
                check(&plain, &tried, blocks, block);
        for (size_t block = 120; block <= 600; block += block % 32 == 31 ? 1 : 7)
            check_large(&plain, &tried, block);
    }
}

static const td_check checks[] = {TD_CHECK(every_version_is_plain_c)};

TD_CHECK_FAMILY(block, checks, NULL, NULL, NULL);
