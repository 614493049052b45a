/* Every conversion against the exact rule, on every instruction set: pairs of types of all kinds with every word of
 * `as`, in both directions, on sources that have all the values of small types and the borders of wide ones. So
 * every kernel of kernels/cast.h is held against convert_exact.c, and those of kernels/convert.h once more. `error`
 * is held against it too: the look finds the element that the rule finds. A run takes one case in four; with --all
 * it takes all. With --bench [N [TEXT]] the same pairs are timed, and the slowest N with that text printed: ns an
 * element. */
#include "base/cpu.h"
#include "base/random.h"
#include "check/check.h"
#include "check/versions.h"
#include "kernels/move.h"
#include "values/convert.h"

#include <math.h>
#include <string.h>

#define MAX_ELEMS 65536
#define GUARD 64

static const char *const types[] = {"f32",  "f64",   "f16",    "bf16",  "e4m3",  "e5m2",   "e2m1", "e3m2",
                                    "e8m0", "e8m10", "e5m0",   "e11m4", "i8",    "u8",     "i4",   "u3",
                                    "i16",  "u16",   "i12",    "i32",   "u32",   "i24",    "i64",  "u64",
                                    "i40",  "q8.8",  "uq4.12", "q1.15", "q2.62", "q16.16", "e1m2", "e10m30"};
#define TYPES (sizeof types / sizeof types[0])

static const char *const words[] = {"",
                                    "round=away",
                                    "round=zero",
                                    "round=floor",
                                    "round=ceil",
                                    "round=stochastic seed=7",
                                    "sat",
                                    "wrap",
                                    "error",
                                    "inf",
                                    "ftz",
                                    "scale=0.05",
                                    "scale=0.05 round=away",
                                    "scale=3 round=stochastic",
                                    "scale=0.5 wrap round=floor",
                                    "scale=0.037 error",
                                    "scale=1",
                                    "scale=-7 ftz",
                                    "zero=1",
                                    "zero=3 wrap round=ceil",
                                    "zero=2 error",
                                    "scale=0.1 zero=-3",
                                    "scale=1e-30",
                                    "scale=1e30 round=away error",
                                    "round=zero error",
                                    "round=floor inf",
                                    "round=stochastic seed=3 error"};
#define WORDS (sizeof words / sizeof words[0])

static unsigned char source[MAX_ELEMS * 8 + 2 * GUARD], found[MAX_ELEMS * 8 + 2 * GUARD];

/* All of a small type; of others the borders of every power of two, halves next to small integers, and any bits. */
static size_t fill_source(random_state *r, td_dtype t, unsigned char *to, size_t most)
{
    const bool all = t.bits <= 8 || (t.bits <= 16 && most >= MAX_ELEMS);
    const size_t n = all ? (size_t)1 << t.bits : most < 700 ? most : 700;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = i;
        if (!all) {
            bits = random_next(r);
            const uint64_t kind = random_below(r, 8);
            if (t.kind == TD_KIND_FLOAT && kind < 6) {
                const double x = kind < 4 ? ((double)random_below(r, 1400) - 700) / 2 * (kind == 3 ? 0.05 : 1)
                                          : ldexp(1 + (double)random_below(r, 3) / 2, (int)random_below(r, 280) - 140);
                const td_num num = td_num_from_real(random_chance(r, 50) ? x : -x);
                static const td_rounding even = {TD_ROUND_EVEN, TD_OVER_INF, false, 0, 0};
                bits = td_num_to_bits(&num, t, &even, NULL) + random_below(r, 3) - 1;
            } else if (kind < 5) {
                bits = ((uint64_t)1 << random_below(r, 64)) + random_below(r, 5) - 2;
                bits = random_chance(r, 50) ? bits : (uint64_t)0 - bits;
            } else if (kind < 6) {
                bits >>= random_below(r, 64);
            }
            if (random_chance(r, 3))
                bits = td_dtype_inf_bits(t) + random_below(r, 3) - 1;
        }
        bits = t.bits <= 8 && random_chance(r, 10) ? bits | random_next(r) << t.bits : bits; /* not the element's */
        memcpy(to + i * t.bytes, &bits, t.bytes);
    }
    return n;
}

/* The same n elements over and over: so many that a run has several parts. */
static size_t repeat_source(size_t n, size_t elem_bytes, size_t most)
{
    for (size_t i = n; i < most; i++)
        memcpy(source + GUARD + i * elem_bytes, source + GUARD + (i - n) * elem_bytes, elem_bytes);
    return most > n ? most : n;
}

static bool bind(const char *tensor, const char *memory, const char *word, td_direction direction, td_convert *c)
{
    char text[96];
    td_dtype t;
    td_as as;
    snprintf(text, sizeof text, "%s %s", memory, word);
    assert_int_equal(td_dtype_parse(tensor, &t), TD_OK);
    return !td_as_parse(text, t, &as) && !td_convert_bind(&as, t, direction, NULL, c);
}

static void check_one(const td_convert *c, const char *what, size_t n, random_state *r)
{
    const size_t at = random_below(r, 8), to = GUARD / 2 + random_below(r, 8);
    const uint64_t first = 4 * MAX_ELEMS + random_below(r, 1000);
    const int64_t step = random_chance(r, 80) ? 1 : (int64_t)random_below(r, 9) - 4;
    memmove(source + GUARD + at, source + GUARD, n * c->src.bytes);
    memset(found, 0xa5, n * c->dst.bytes + 2 * GUARD);
    const unsigned char *src = source + GUARD + at;
    td_convert_run(c, found + to, src, n, first, step);
    size_t worst = n, bad = n;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0, is = 0;
        bool in_range = true;
        memcpy(&bits, src + i * c->src.bytes, c->src.bytes);
        memcpy(&is, found + to + i * c->dst.bytes, c->dst.bytes);
        const uint64_t expected = td_convert_one(c, bits, first + (uint64_t)step * i, &in_range);
        const bool refused = c->check && !in_range; /* never run */
        if (!refused && ((expected ^ is) & (UINT64_MAX >> (64 - 8 * c->dst.bytes))) != 0)
            fail_msg("%s: element %zu of %zu, 0x%llx gives 0x%llx, the rule 0x%llx", what, i, n,
                     (unsigned long long)bits, (unsigned long long)is, (unsigned long long)expected);
        if (!in_range && worst == n)
            worst = i;
    }
    for (size_t i = 0; i < GUARD / 2; i++)
        if (found[to - 1 - i] != 0xa5 || found[to + n * c->dst.bytes + i] != 0xa5)
            fail_msg("%s: %zu elements were not all that was written", what, n);
    const td_status status = td_convert_check(c, src, n, first, step, &bad);
    if (c->check ? (status == TD_OK) != (worst == n) || bad != worst : worst != n && strstr(what, "error"))
        fail_msg("%s: the look says element %zu, the rule %zu of %zu", what, bad, worst, n);
}

static void check_pair(size_t a, size_t b, bool whole, random_state *r, const version *v)
{
    static td_convert c;
    for (size_t k = 0; k < WORDS; k++)
        for (int direction = 0; direction < 2; direction++) {
            char what[160];
            if (!td_check_thorough && random_chance(r, 75))
                continue;
            if (!bind(types[a], types[b], words[k], (td_direction)direction, &c) || c.copy)
                continue;
            snprintf(what, sizeof what, "%s: %s as \"%s %s\", %s", v->isa, types[a], types[b], words[k],
                     direction ? "dump" : "load");
            size_t n = fill_source(r, c.src, source + GUARD, whole ? MAX_ELEMS : 300);
            check_one(&c, what, n, r);
            if (!whole)
                check_one(&c, what, 1 + random_below(r, n < 40 ? n : 40), r);
            if (!whole && random_chance(r, 5))
                check_one(&c, what, repeat_source(n, c.src.bytes, 1100 + random_below(r, 1100)), r);
        }
}

static void every_pair_follows_the_rule(void **state)
{
    (void)state;
    random_state r = {3, 0};
    for (const version *v = all_versions(); v->isa; v++) {
        td_cpu_mask(v->flags);
        for (size_t a = 0; a < TYPES; a++)
            for (size_t b = 0; b < TYPES; b++)
                check_pair(a, b, false, &r, v);
    }
    td_cpu_mask(TD_CPU_ALL);
}

/* Whatever 16 bits can be. */
static void every_short_source(void **state)
{
    static const char *const from[] = {"f16", "bf16", "i16", "u16", "q8.8"};
    static const char *const into[] = {"e4m3", "f32", "i8", "e8m0", "bf16"};
    (void)state;
    random_state r = {4, 0};
    for (const version *v = all_versions(); v->isa; v++) {
        td_cpu_mask(v->flags);
        for (size_t a = 0; a < sizeof from / sizeof from[0]; a++)
            for (size_t b = 0; b < sizeof into / sizeof into[0]; b++) {
                size_t i = 0, j = 0;
                while (strcmp(types[i], from[a]) != 0)
                    i++;
                while (strcmp(types[j], into[b]) != 0)
                    j++;
                check_pair(i, j, true, &r, v);
            }
    }
    td_cpu_mask(TD_CPU_ALL);
}

/* Scales along an axis, of stretches of every length. */
static void every_axis(void **state)
{
    static const char *const texts[] = {"i8 scale=@s axis=0",
                                        "bf16 scale=@s axis=0",
                                        "i8 scale=@s axis=0 round=away",
                                        "e4m3 scale=@s axis=0 round=stochastic",
                                        "i32 scale=@s axis=0",
                                        "u8 scale=@s axis=0 error"};
    static const char *const tensors[] = {"f32", "f16", "i8", "f64", "i32"};
    static td_convert c;
    double scale[37];
    int64_t zero[37];
    (void)state;
    random_state r = {5, 0};
    for (size_t i = 0; i < 37; i++) {
        scale[i] = ldexp(0.5 + (double)random_below(&r, 1000) / 999, (int)random_below(&r, 12) - 8);
        zero[i] = (int64_t)random_below(&r, 100);
    }
    for (const version *v = all_versions(); v->isa; v++) {
        td_cpu_mask(v->flags);
        for (size_t t = 0; t < 5; t++)
            for (size_t k = 0; k < 6; k++)
                for (uint64_t inner = 1; inner < 70; inner += inner < 5 ? 1 : 13)
                    for (int direction = 0; direction < 4; direction++) {
                        td_dtype dtype;
                        td_as as;
                        char what[160];
                        const bool zeros = direction >= 2 && texts[k][0] != 'b' && texts[k][0] != 'e';
                        td_scale_axis axis = {scale, zeros ? zero : NULL, inner, 1 + random_below(&r, 37)};
                        assert_int_equal(td_dtype_parse(tensors[t], &dtype), TD_OK);
                        assert_int_equal(td_as_parse(texts[k], dtype, &as), TD_OK);
                        assert_int_equal(td_convert_bind(&as, dtype, (td_direction)(direction & 1), &axis, &c), TD_OK);
                        snprintf(what, sizeof what, "%s: %s as \"%s\", inner %d, %s", v->isa, tensors[t], texts[k],
                                 (int)inner, direction & 1 ? "dump" : "load");
                        size_t n = fill_source(&r, c.src, source + GUARD, 300);
                        if (random_chance(&r, 10)) /* scales come round in every part */
                            n = repeat_source(n, c.src.bytes, 2100 + random_below(&r, 1100));
                        check_one(&c, what, n, &r);
                    }
    }
    td_cpu_mask(TD_CPU_ALL);
}

/* Rows apart from each other on both sides, off their lines and on them, with all that makes large ones fast. */
static void check_rows(const td_convert *c, const char *what, size_t rows, size_t n, random_state *r)
{
    const size_t from = n * c->src.bytes, to = n * c->dst.bytes, off = random_chance(r, 50) ? 0 : random_below(r, 64);
    const size_t src_stride = from + random_below(r, 100), dst_stride = (to + random_below(r, 100) + 63) / 64 * 64;
    unsigned char *dst = found + GUARD / 2 + off;
    dst += (64 - (uintptr_t)dst % 64) % 64 * (off == 0);
    const td_convert_block block = {.dst = dst,
                                    .src = source + GUARD,
                                    .dst_stride = (ptrdiff_t)dst_stride,
                                    .src_stride = (ptrdiff_t)src_stride,
                                    .rows = rows,
                                    .n = n,
                                    .step = 1,
                                    .row_step = (int64_t)n,
                                    .stream = random_chance(r, 50),
                                    .far = random_chance(r, 50)};
    memset(found, 0xa5, (size_t)(dst - found) + rows * dst_stride + GUARD);
    td_convert_rows(c, &block);
    td_move_fence();
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < dst_stride / c->dst.bytes; i++) {
            uint64_t bits = 0, is = 0, expected = 0xa5a5a5a5a5a5a5a5U;
            bool in_range = true;
            if (i < n) {
                memcpy(&bits, source + GUARD + row * src_stride + i * c->src.bytes, c->src.bytes);
                expected = td_convert_one(c, bits, row * n + i, &in_range);
            }
            memcpy(&is, dst + row * dst_stride + i * c->dst.bytes, c->dst.bytes);
            if (((expected ^ is) & (UINT64_MAX >> (64 - 8 * c->dst.bytes))) != 0)
                fail_msg("%s: row %zu of %zu, element %zu of %zu: 0x%llx gives 0x%llx, the rule 0x%llx", what, row,
                         rows, i, n, (unsigned long long)bits, (unsigned long long)is, (unsigned long long)expected);
        }
}

static void rows_follow_the_rule(void **state)
{
    static const char *const pairs[][2] = {{"f32", "i8 scale=0.05"}, {"i8", "f32"},         {"bf16", "i8 scale=0.5"},
                                           {"f16", "bf16"},          {"f16", "e4m3"},       {"i16", "f16 scale=2"},
                                           {"f32", "bf16"},          {"f64", "i16 scale=3"}};
    static const size_t counts[] = {1, 3, 16, 100, 511, 1023, 1024, 1025, 2050};
    static td_convert c;
    (void)state;
    random_state r = {6, 0};
    for (const version *v = all_versions(); v->isa; v++) {
        td_cpu_mask(v->flags);
        for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; p++)
            for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
                for (int direction = 0; direction < 2; direction++) {
                    char what[160];
                    if (!bind(pairs[p][0], pairs[p][1], "", (td_direction)direction, &c))
                        fail_msg("%s as %s", pairs[p][0], pairs[p][1]);
                    const size_t rows = 1 + random_below(&r, counts[k] < 100 ? 40 : 4);
                    snprintf(what, sizeof what, "%s: rows of %s as \"%s\", %s", v->isa, pairs[p][0], pairs[p][1],
                             direction ? "dump" : "load");
                    repeat_source(fill_source(&r, c.src, source + GUARD, 700), c.src.bytes,
                                  rows * (counts[k] + (size_t)(100 / c.src.bytes) + 1));
                    check_rows(&c, what, rows, counts[k], &r);
                }
    }
    td_cpu_mask(TD_CPU_ALL);
}

/* The seed with which element 0 has these random bits: td_random_mix of base/random.h backwards. */
static uint64_t seed_of(uint64_t bits)
{
    uint64_t x = bits ^ bits >> 31 ^ bits >> 62;
    x *= 0x319642b2d24d8ec3u;
    x = (x ^ x >> 27 ^ x >> 54) * 0x96de1b173f119089u;
    x = x ^ x >> 30 ^ x >> 60;
    return x - TD_RANDOM_STEP;
}

/* Random bits that decide a rounding in their last places, which chance does not find: each step out of lanes of 32
 * bits, beside plain C, and all elements with the same bits. */
static void random_bits_at_their_ends(void **state)
{
    enum { ELEMS = 96 };
    static const char *const into[] = {"i8", "u16", "q4.4", "bf16", "f16", "e4m3", "e2m1", "e8m0"};
    static const uint32_t ends[] = {0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    static td_convert c;
    td_cast_kernels plain, best;
    float in[ELEMS];
    (void)state;
    random_state r = {8, 0};
    assert_true(td_random_at(seed_of(0x123456789abcdef0u), 0) == 0x123456789abcdef0u);
    td_cast_init(&plain, 0);
    for (const version *v = all_versions(); v->isa; v++) {
        td_cast_init(&best, v->flags);
        for (size_t t = 0; t < sizeof into / sizeof into[0]; t++)
            for (int round = 0; round < 200; round++) {
                unsigned char expected[ELEMS * 2] = {0}, is[ELEMS * 2] = {0};
                assert_true(bind("f32", into[t], "round=stochastic", TD_TO_MEMORY, &c));
                const bool whole = c.dst.kind != TD_KIND_FLOAT, scale = c.dst.flavor == TD_FLAVOR_SCALE && !whole;
                const uint32_t low = random_chance(&r, 50) ? ends[random_below(&r, 6)] : (uint32_t)random_next(&r);
                for (size_t i = 0; i < ELEMS; i++) {
                    const float x =
                        ldexpf(1 + (float)random_below(&r, 1 << 23) * 0x1p-23F, (int)random_below(&r, 60) - 52);
                    in[i] = random_chance(&r, 50) ? x : -x;
                }
                c.cast.seed = seed_of((uint64_t)ends[random_below(&r, 6)] << 32 | low);
                c.cast.first = c.cast.step = 0;
                (whole ? plain.f32_int : scale ? plain.f32_e8m0 : plain.f32_float)(expected, in, ELEMS, &c.cast);
                (whole ? best.f32_int : scale ? best.f32_e8m0 : best.f32_float)(is, in, ELEMS, &c.cast);
                for (size_t i = 0; i < ELEMS * c.dst.bytes; i++)
                    if (is[i] != expected[i])
                        fail_msg("%s: f32 as %s: byte %zu is 0x%x, of plain C 0x%x", v->isa, into[t], i, is[i],
                                 expected[i]);
            }
    }
}

/* The look between two numbers: one element of n at every place is just inside, just outside or NaN. */
static void looks_between_two_numbers(void **state)
{
    enum { ELEMS = 40 };
    td_cast_kernels k;
    double wide[ELEMS];
    float narrow[ELEMS];
    td_cast_params p = {0};
    const double low = -3.5, high = 0x1p20,
                 odd[] = {low, high, -0.0, nextafter(low, -9), nextafter(high, 1e9), 1e30, NAN, -(INFINITY)};
    const float low32 = -3.5F, high32 = 0x1p20F;
    const float odd32[] = {low32, high32, -0.0F,      nextafterf(low32, -9), nextafterf(high32, 1e9F),
                           1e30F, NAN,    -(INFINITY)};
    (void)state;
    memcpy(&p.low_bits, &low, sizeof low);
    memcpy(&p.high_bits, &high, sizeof high);
    memcpy(&p.low32_bits, &low32, sizeof low32);
    memcpy(&p.high32_bits, &high32, sizeof high32);
    for (const version *v = all_versions(); v->isa; v++) {
        td_cast_init(&k, v->flags);
        for (size_t n = 1; n <= ELEMS; n++)
            for (size_t at = 0; at < n; at++)
                for (size_t o = 0; o < sizeof odd / sizeof odd[0]; o++) {
                    for (size_t i = 0; i < ELEMS; i++)
                        wide[i] = i < n ? 1 : NAN, narrow[i] = i < n ? 1 : NAN;
                    wide[at] = odd[o];
                    narrow[at] = odd32[o];
                    assert_int_equal(k.f64_within(NULL, wide, n, &p), o >= 3);
                    assert_int_equal(k.f32_within(NULL, narrow, n, &p), o >= 3);
                }
    }
}

/* -- Bench */

typedef struct timing {
    double ns;
    char what[120];
} timing;

static int slowest_first(const void *a, const void *b)
{
    const double x = ((const timing *)a)->ns, y = ((const timing *)b)->ns;
    return (x < y) - (x > y);
}

static double time_of(const td_convert *c, size_t n)
{
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
        size_t bad = 0;
        const uint64_t start = td_now_ns();
        (void)td_convert_check(c, source + GUARD, n, 0, 1, &bad);
        td_convert_run(c, found + GUARD, source + GUARD, n, 0, 1);
        const double ns = (double)(td_now_ns() - start) / (double)n;
        best = ns < best ? ns : best;
    }
    return best;
}

/* Values between -3 and 3, so that `error` refuses none. */
static int bench(int argc, char **argv)
{
    enum { ELEMS = 8192 };
    static timing all[TYPES * TYPES * WORDS * 2];
    static td_convert c;
    size_t count = 0;
    random_state r = {6, 0};
    for (size_t a = 0; a < TYPES; a++)
        for (size_t b = 0; b < TYPES; b++)
            for (size_t k = 0; k < WORDS; k++)
                for (int direction = 0; direction < 2; direction++) {
                    char what[sizeof all[0].what];
                    snprintf(what, sizeof what, "%s as \"%s %s\" %s", types[a], types[b], words[k],
                             direction ? "dump" : "load");
                    if ((argc > 3 && !strstr(what, argv[3])) ||
                        !bind(types[a], types[b], words[k], (td_direction)direction, &c) || c.copy)
                        continue;
                    for (size_t i = 0; i < ELEMS; i++) {
                        static const td_rounding even = {TD_ROUND_EVEN, TD_OVER_SAT, false, 0, 0};
                        const td_num num = td_num_from_real((double)random_below(&r, 6001) / 1000 * c.scale);
                        const uint64_t bits = td_num_to_bits(&num, c.src, &even, NULL);
                        memcpy(source + GUARD + i * c.src.bytes, &bits, c.src.bytes);
                    }
                    all[count].ns = time_of(&c, ELEMS);
                    memcpy(all[count++].what, what, sizeof what);
                }
    qsort(all, count, sizeof all[0], slowest_first);
    const size_t most = argc > 2 ? strtoull(argv[2], NULL, 0) : 50;
    for (size_t i = 0; i < count && i < most; i++)
        printf("%8.3f ns  %s\n", all[i].ns, all[i].what);
    printf("%zu conversions: worst %.3f ns an element, 99th percentile %.3f, 90th %.3f, median %.3f\n", count,
           all[0].ns, all[count / 100].ns, all[count / 10].ns, all[count / 2].ns);
    return 0;
}

static const td_check checks[] = {
    TD_CHECK(every_pair_follows_the_rule), TD_CHECK(every_short_source),        TD_CHECK(every_axis),
    TD_CHECK(rows_follow_the_rule),        TD_CHECK(random_bits_at_their_ends), TD_CHECK(looks_between_two_numbers),
};

TD_CHECK_FAMILY(cast, checks, NULL, NULL, bench);
