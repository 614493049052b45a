/* Conversion: every small format to f32 and back, f32 patterns to every small format against an independent rule, the
 * words of `as`, and the fast paths against the exact one. TD_CONVERT_ALL=1 in the environment takes all 2^32 patterns.
 */
#include "support.h"

#include "base/cpu.h"
#include "rule.h"
#include "values/convert.h"

#include "../prop/random.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define CHUNK 4096

static td_dtype dtype_of(const char *name)
{
    td_dtype dtype;
    ASSERT_OK(td_dtype_parse(name, &dtype));
    return dtype;
}

static void bind(td_convert *c, const char *tensor, const char *as_text, td_direction direction)
{
    td_as as;
    ASSERT_OK(td_as_parse(as_text, dtype_of(tensor), &as));
    ASSERT_OK(td_convert_bind(&as, dtype_of(tensor), direction, NULL, c));
}

static float f32_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t elem_at(const void *data, size_t i, unsigned bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + i * bytes, bytes);
    return bits;
}

static void put_elem(void *data, size_t i, unsigned bytes, uint64_t bits)
{
    memcpy((char *)data + i * bytes, &bits, bytes);
}

static const unsigned cpu_masks[] = {TD_CPU_C, TD_CPU_AVX2, TD_CPU_ALL};

/* -- Every code of every small format */

static void every_code_is_its_value(void **state)
{
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        td_cpu_mask(cpu_masks[m]);
        for (size_t k = 0; k < RULE_FORMATS; k++) {
            const rule_format *f = &rule_formats[k];
            const td_dtype dtype = dtype_of(f->name);
            td_convert c, back;
            bind(&c, f->name, "f32", TD_TO_MEMORY);
            bind(&back, "f32", f->name, TD_TO_MEMORY);
            for (uint32_t code = 0; code < 1U << f->bits; code++) {
                const double value = rule_value(f, code);
                uint64_t container = td_dtype_extend(dtype, code);
                uint32_t f32_bits = 0;
                td_convert_run(&c, &f32_bits, &container, 1, 0, 1);
                if (isnan(value) ? !isnan(f32_of(f32_bits)) : bits_of((float)value) != f32_bits)
                    fail_msg("%s 0x%x is %a, and the library says 0x%x", f->name, code, value, f32_bits);
                if (!isnan(value) && td_dtype_to_real(dtype, code) != value)
                    fail_msg("%s 0x%x is %a, and td_dtype_to_real differs", f->name, code, value);

                /* And back: numbers as they were, infinities too where they are not saturated, NaNs quiet. */
                uint64_t again = 0;
                td_convert_run(&back, &again, &f32_bits, 1, 0, 1);
                uint64_t expected = container;
                if (isnan(value) && f->inf >= 0)
                    expected |= (uint64_t)1 << (f->man_bits - 1);
                if (isinf(value) && f->saturates)
                    expected = (code & 1U << (f->bits - 1)) | f->max;
                if ((again ^ expected) << (64 - 8 * dtype.bytes))
                    fail_msg("%s 0x%x comes back as 0x%llx", f->name, code, (unsigned long long)again);
            }
        }
    }
    td_cpu_mask(TD_CPU_ALL);
}

static void ocp_tables(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        uint32_t code;
        double value;
    } table[] = {
        /* OCP OFP8 1.0, table 2 */
        {"e4m3", 0x7e, 448},
        {"e4m3", 0x08, 0x1p-6},
        {"e4m3", 0x07, 0.875 * 0x1p-6},
        {"e4m3", 0x01, 0x1p-9},
        {"e4m3", 0x80, -0.0},
        {"e4m3", 0x7f, NAN},
        {"e4m3", 0xff, NAN},
        {"e4m3", 0x38, 1},
        {"e5m2", 0x7b, 57344},
        {"e5m2", 0x04, 0x1p-14},
        {"e5m2", 0x03, 0.75 * 0x1p-14},
        {"e5m2", 0x01, 0x1p-16},
        {"e5m2", 0x7c, INFINITY},
        {"e5m2", 0xfc, -INFINITY},
        {"e5m2", 0x7d, NAN},
        {"e5m2", 0x3c, 1},
        /* OCP MX 1.0, tables 3 to 7 */
        {"e3m2", 0x1f, 28},
        {"e3m2", 0x04, 0.25},
        {"e3m2", 0x03, 0.1875},
        {"e3m2", 0x01, 0.0625},
        {"e3m2", 0x3f, -28},
        {"e2m3", 0x1f, 7.5},
        {"e2m3", 0x08, 1},
        {"e2m3", 0x07, 0.875},
        {"e2m3", 0x01, 0.125},
        {"e2m1", 0, 0},
        {"e2m1", 1, 0.5},
        {"e2m1", 2, 1},
        {"e2m1", 3, 1.5},
        {"e2m1", 4, 2},
        {"e2m1", 5, 3},
        {"e2m1", 6, 4},
        {"e2m1", 7, 6},
        {"e2m1", 9, -0.5},
        {"e2m1", 15, -6},
        {"e8m0", 0x00, 0x1p-127},
        {"e8m0", 0x7f, 1},
        {"e8m0", 0xfe, 0x1p127},
        {"e8m0", 0xff, NAN},
        /* IEEE 754 and bfloat16 */
        {"f16", 0x7bff, 65504},
        {"f16", 0x0400, 0x1p-14},
        {"f16", 0x0001, 0x1p-24},
        {"f16", 0x7c00, INFINITY},
        {"bf16", 0x7f7f, 0x1.fep127},
        {"bf16", 0x0080, 0x1p-126},
        {"bf16", 0x0001, 0x1p-133},
        {"q1.15", 0x8000, -1},
        {"q1.15", 0x7fff, 1 - 0x1p-15},
        {"uq4.4", 0xff, 15.9375},
        {"q4.4", 0xf8, -0.5},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const double found = td_dtype_to_real(dtype_of(table[i].dtype), table[i].code);
        if (isnan(table[i].value) ? !isnan(found) : memcmp(&found, &table[i].value, sizeof found) != 0)
            fail_msg("%s 0x%x: %g, expected %g", table[i].dtype, table[i].code, found, table[i].value);
    }
}

/* -- f32 patterns to every small format */

static void check_patterns(const td_convert *c, const rule_format *f, uint32_t first, uint32_t count, uint32_t sign)
{
    static uint32_t in[CHUNK];
    static uint64_t out_words[CHUNK / 4];
    const td_dtype dtype = c->dst;
    for (uint32_t i = 0; i < count; i++)
        in[i] = (first + i) | sign;
    td_convert_run(c, out_words, in, count, 0, 1);
    uint32_t from = rule_is_int(f) ? 0 : rule_below(f, (double)f32_of(first));
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t found = elem_at(out_words, i, dtype.bytes) & td_dtype_mask(dtype);
        uint64_t expected = rule_code(f, (double)f32_of(in[i]), &from);
        if ((in[i] & 0x7fffffff) > 0x7f800000 && f->nan >= 0 && f->kind == RULE_FLOAT) {
            expected |= sign ? (uint64_t)1 << (f->bits - 1) : 0;
            if (f->inf >= 0)
                expected |= in[i] >> (23 - f->man_bits) & ((1U << f->man_bits) - 1);
        }
        if (found != expected)
            fail_msg("f32 0x%08x (%a) to %s is 0x%llx, and the library says 0x%llx", in[i], (double)f32_of(in[i]),
                     f->name, (unsigned long long)expected, (unsigned long long)found);
    }
}

static void f32_patterns(void **state)
{
    (void)state;
    const bool all = getenv("TD_CONVERT_ALL") != NULL;
    const uint64_t chunks = ((uint64_t)1 << 31) / CHUNK;
    for (size_t k = 0; k < RULE_FORMATS; k++) {
        td_convert c;
        bind(&c, "f32", rule_formats[k].name, TD_TO_MEMORY);
        for (uint64_t chunk = 0; chunk < chunks; chunk += all ? 1 : 1499)
            for (uint32_t sign = 0; sign < 2; sign++)
                check_patterns(&c, &rule_formats[k], (uint32_t)chunk * CHUNK, CHUNK, sign << 31);
    }
}

static void every_tie_and_its_neighbours(void **state)
{
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        td_cpu_mask(cpu_masks[m]);
        for (size_t k = 0; k < RULE_FORMATS; k++) {
            const rule_format *f = &rule_formats[k];
            td_convert c;
            bind(&c, "f32", f->name, TD_TO_MEMORY);
            const uint32_t codes = rule_is_int(f) ? 1U << f->bits : f->max + 1;
            for (uint32_t code = 0; code < codes; code++) {
                const double tie = rule_is_int(f) ? ldexp(code + 0.5, -f->man_bits) : rule_midpoint(f, code);
                const uint32_t bits = bits_of((float)tie);
                for (uint32_t sign = 0; sign < 2; sign++)
                    check_patterns(&c, f, bits < 2 ? 0 : bits - 2, 5, sign << 31);
            }
        }
    }
    td_cpu_mask(TD_CPU_ALL);
}

/* NumPy's answers, kept as data: f32 bits and f16 bits on each line. */
static void numpy_halves(void **state)
{
    (void)state;
    char path[4096];
    const char *root = getenv("TD_SOURCE_ROOT");
    snprintf(path, sizeof path, "%s/tests/data/f32_f16.txt", root ? root : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    td_convert c;
    bind(&c, "f32", "f16", TD_TO_MEMORY);
    unsigned in = 0, expected = 0, lines = 0;
    for (; fscanf(file, "%x %x", &in, &expected) == 2; lines++) {
        uint16_t found = 0;
        td_convert_run(&c, &found, &in, 1, 0, 1);
        assert_int_equal(found, expected);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(lines, 1000);
}

/* -- The words of `as`, one line per rule */

static void words(void **state)
{
    (void)state;
    static const struct {
        const char *tensor, *as;
        double value;
        uint64_t expected; /* own bits */
    } cases[] = {
        /* scale and zero point */
        {"f32", "i8 scale=0.5", 3, 6},
        {"f32", "i8 scale=0.05 zero=3", 1, 23},
        {"f32", "i8 scale=0.05 zero=3 round=even sat", -100, 0x80},
        {"f32", "u8 scale=0.1 zero=128", -1, 118},
        {"f32", "u8 scale=-1", -7, 7},
        {"f32", "i8 scale=0.1", 0.25, 2}, /* 0.25f / 0.1f rounds to 2.5f: to even */
        {"f64", "i8 scale=0.1", 0.35, 3}, /* 0.35 / 0.1 is 3.4999999999999996 in f64 */
        {"i32", "i8 scale=2", 7, 4},
        {"i16", "i16 scale=3", 32767, 10922},
        {"i8", "u8 zero=128", -128, 0},
        {"i32", "i16 zero=-5", 32772, 32767},
        /* roundings at a tie and off it, both signs */
        {"f32", "i8 round=even", 2.5, 2},
        {"f32", "i8 round=even", 3.5, 4},
        {"f32", "i8 round=even", -2.5, 0xfe},
        {"f32", "i8 round=away", 2.5, 3},
        {"f32", "i8 round=away", -2.5, 0xfd},
        {"f32", "i8 round=away", 2.25, 2},
        {"f32", "i8 round=zero", 2.75, 2},
        {"f32", "i8 round=zero", -2.75, 0xfe},
        {"f32", "i8 round=floor", -2.25, 0xfd},
        {"f32", "i8 round=floor", 2.75, 2},
        {"f32", "i8 round=ceil", 2.25, 3},
        {"f32", "i8 round=ceil", -2.75, 0xfe},
        {"f32", "e4m3 round=even", 1.0625, 0x38},
        {"f32", "e4m3 round=away", 1.0625, 0x39},
        {"f32", "e4m3 round=zero", -1.1, 0xb8},
        {"f32", "e4m3 round=floor", -1.1, 0xb9},
        {"f32", "e4m3 round=ceil", 1.01, 0x39},
        {"f32", "f16 round=zero", 1e9, 0x7bff},
        {"f32", "f16 round=floor", -1e9, 0xfc00},
        {"f32", "f16 round=ceil", -1e9, 0xfbff},
        {"f32", "q4.4 round=floor", -0.03, 0xff},
        /* out of range */
        {"f32", "i8 sat", 1000, 127},
        {"f32", "i8", -1000, 0x80},
        {"f32", "u8", -3, 0},
        {"f32", "i8 wrap", 1000, 0xe8},
        {"f32", "u8 wrap", -1, 0xff},
        {"f32", "u8 wrap", 0x1p60, 0},
        {"f32", "i4 wrap zero=1", 7, 8},
        {"f64", "u64", 1.8446744073709552e19, UINT64_MAX},
        {"f64", "u64 wrap", 1.8446744073709552e19, 0},
        {"f32", "f16", 65520, 0x7c00},
        {"f32", "f16 sat", 65520, 0x7bff},
        {"f32", "bf16 sat", 3.4e38, 0x7f7f},
        {"f32", "e4m3", 464, 0x7e},
        {"f32", "e4m3 inf", 464, 0x7e},
        {"f32", "e4m3 inf", 465, 0x7f},
        {"f32", "e5m2", 1e9, 0x7b},
        {"f32", "e5m2 inf", -1e9, 0xfc},
        {"f32", "e2m1", -100, 0xf},
        {"f32", "e8m0", 3, 0x80},
        {"f32", "e8m0", 0, 0},
        {"f32", "e8m0", -2, 0},
        {"f32", "e8m0 inf", -2, 0xff},
        {"f32", "uq4.4", 16, 0xff},
        {"f32", "q4.4 wrap", 8, 0x80},
        /* NaN and infinity by target */
        {"f32", "i8", NAN, 0},
        {"f32", "i8 zero=3", NAN, 3},
        {"f32", "i8 zero=3", INFINITY, 127},
        {"f32", "i8 zero=3", -INFINITY, 0x80},
        {"f32", "i8 wrap zero=3", INFINITY, 3},
        {"f32", "q4.4", NAN, 0},
        {"f32", "f16", NAN, 0x7e00},
        {"f32", "f16", -INFINITY, 0xfc00},
        {"f32", "f16 sat", -INFINITY, 0xfbff},
        {"f32", "e4m3", NAN, 0x7f},
        {"f32", "e4m3", INFINITY, 0x7e},
        {"f32", "e4m3 inf", INFINITY, 0x7f},
        {"f32", "e5m2", INFINITY, 0x7b},
        {"f32", "e5m2 inf", INFINITY, 0x7c},
        {"f32", "e2m1", NAN, 7},
        {"f32", "e3m2", -INFINITY, 0x3f},
        {"f32", "e8m0", NAN, 0xff},
        {"f32", "e8m0", INFINITY, 0xfe},
        /* signed zero */
        {"f32", "f16", -0.0, 0x8000},
        {"f32", "e4m3", -1e-30, 0x80},
        {"f32", "e2m1", -0.1, 0x8},
        {"f32", "i8", -0.0, 0},
        /* denormals, kept and flushed */
        {"f32", "f16", 0x1p-24, 1},
        {"f32", "f16 ftz", 0x1p-24, 0},
        {"f32", "f16 ftz", -0x1p-24, 0x8000},
        {"f32", "f16 ftz", 0x1p-14, 0x400},
        {"f32", "bf16", 0x1p-133, 1},
        {"f32", "bf16 ftz", 0x1p-127, 0},
        {"f32", "f32 ftz", 0x1p-127, 0},
        {"f32", "f64 ftz", 0x1p-127, 0},
        {"f32", "e4m3 ftz", 0x1p-7, 0},
        /* 64 bits, exactly and once */
        {"i64", "i64 zero=1", 9007199254740992.0, 9007199254740993},
        {"f64", "f32", 0x1.0000010000001p0, 0x3f800001},
        {"f64", "bf16", 0x1.01p0 + 0x1p-50, 0x3f81},
        {"u64", "f32", 16777217, 0x4b800000},
        {"i64", "i8 scale=1", 300, 127},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const td_dtype tensor = dtype_of(cases[i].tensor);
        td_convert c;
        bind(&c, cases[i].tensor, cases[i].as, TD_TO_MEMORY);
        uint64_t in = 0, out = 0;
        ASSERT_OK(td_dtype_from_real(tensor, cases[i].value, &in));
        td_convert_run(&c, &out, &in, 1, 0, 1);
        out &= td_dtype_mask(c.dst);
        if (out != cases[i].expected)
            fail_msg("%s %g as \"%s\" is 0x%llx, expected 0x%llx", cases[i].tensor, cases[i].value, cases[i].as,
                     (unsigned long long)out, (unsigned long long)cases[i].expected);
        if (td_convert_one(&c, in, 0, NULL) != td_dtype_extend(c.dst, out))
            fail_msg("%s %g as \"%s\": the exact path differs", cases[i].tensor, cases[i].value, cases[i].as);
    }
}

static void words_on_the_way_back(void **state)
{
    (void)state;
    static const struct {
        const char *tensor, *as;
        uint64_t stored;
        double expected;
    } cases[] = {
        {"f32", "i8 scale=0.5 zero=3", 0xfd, -3},
        {"f32", "i8 scale=0.05 zero=3", 23, (double)(0.05F * 20)},
        {"f64", "i8 scale=0.05 zero=3", 23, 0.05 * 20},
        {"f32", "u8 zero=128", 0, -128},
        {"f32", "e4m3 scale=0.5", 0x7e, 224},
        {"f32", "e4m3", 0x7f, NAN},
        {"f32", "q4.4", 0xf8, -0.5},
        {"f32", "q4.4 scale=4", 0xf8, -2},
        {"i8", "i16", 300, 127},
        {"i8", "i16 wrap", 300, 44},
        {"i8", "e4m3 scale=0.5", 0x3c, 1}, /* 1.5 * 0.5: a tie at 0.75 rounds to 1 */
        {"f16", "f32", 0x7f000000, INFINITY},
        {"f16", "f32 sat", 0x7f000000, 65504},
        {"f32", "u32 scale=1", 0xffffffff, 4294967296.0},
        {"f64", "i64 zero=-9223372036854775808", 0x7fffffffffffffff, 18446744073709551615.0},
        {"f32", "f32 scale=3", 0x40000000, 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_convert c;
        bind(&c, cases[i].tensor, cases[i].as, TD_TO_TENSOR);
        uint64_t in = td_dtype_extend(c.src, cases[i].stored), out = 0;
        td_convert_run(&c, &out, &in, 1, 0, 1);
        const double found = td_dtype_to_real(c.dst, out);
        if (isnan(cases[i].expected) ? !isnan(found) : found != cases[i].expected)
            fail_msg("0x%llx as \"%s\" back to %s is %.17g, expected %.17g", (unsigned long long)cases[i].stored,
                     cases[i].as, cases[i].tensor, found, cases[i].expected);
    }
}

static void equal_dtypes_move_bits(void **state)
{
    (void)state;
    const uint32_t in[] = {0x7f800001, 0xffa55a5a, 1, 0x80000000}; /* signalling NaNs, a denormal, -0 */
    uint32_t out[4] = {0};
    td_convert c;
    bind(&c, "f32", "f32", TD_TO_MEMORY);
    assert_true(c.copy);
    td_convert_run(&c, out, in, 4, 0, 1);
    assert_memory_equal(out, in, sizeof in);
    bind(&c, "f32", "", TD_TO_TENSOR);
    assert_true(c.copy);
}

static void luck_is_fair_and_repeatable(void **state)
{
    (void)state;
    enum { N = 20000 };
    static float in[N];
    static signed char out[N], again[N];
    for (size_t i = 0; i < N; i++)
        in[i] = 2.25F;
    td_convert c;
    bind(&c, "f32", "i8 round=stochastic seed=7", TD_TO_MEMORY);
    td_convert_run(&c, out, in, N, 0, 1);
    size_t up = 0;
    for (size_t i = 0; i < N; i++) {
        assert_true(out[i] == 2 || out[i] == 3);
        up += out[i] == 3;
    }
    assert_in_range(up, N / 4 - 400, N / 4 + 400); /* six standard deviations */
    for (size_t i = 0; i < N; i++)                 /* one by one, backwards: the element's number decides */
        td_convert_run(&c, &again[N - 1 - i], &in[0], 1, N - 1 - i, 1);
    assert_memory_equal(out, again, N);
    in[0] = 3;
    td_convert_run(&c, out, in, 1, 0, 1);
    assert_int_equal(out[0], 3);
    bind(&c, "f32", "i8 round=stochastic seed=8", TD_TO_MEMORY);
    td_convert_run(&c, again, in, N, 0, 1);
    assert_memory_not_equal(out, again, N);
}

/* -- The fast paths against the exact one */

static uint64_t random_bits(random_state *r, td_dtype dtype)
{
    const uint64_t mask = td_dtype_mask(dtype);
    uint64_t bits = random_next(r) & mask;
    if (dtype.kind == TD_KIND_FLOAT && dtype.bits > 8 && random_chance(r, 70)) {
        uint64_t image = 0;
        const double value = ldexp((double)(int64_t)random_below(r, 4001) - 2000, (int)random_below(r, 24) - 12);
        (void)td_dtype_from_real(dtype, value, &image);
        bits = image;
    }
    if (random_chance(r, 5))
        bits = random_chance(r, 50) ? 0 : td_dtype_inf_bits(dtype) - random_below(r, 3);
    return bits & mask;
}

static const char *const all_names[] = {"f32",  "f16",  "bf16", "e4m3",  "e5m2",  "e3m2", "e2m3", "e2m1",
                                        "e8m0", "e3m4", "e6m9", "i8",    "u8",    "i4",   "u1",   "i16",
                                        "u16",  "i12",  "q4.4", "uq2.6", "q1.15", "i32",  "u32",  "i64",
                                        "u64",  "f64",  "i24",  "q8.24", "e11m20"};
static const char *const all_scales[] = {"",
                                         " scale=1",
                                         " scale=0.05",
                                         " scale=0.5",
                                         " scale=-3.7",
                                         " scale=1e-9",
                                         " scale=1e-30",
                                         " scale=1e30",
                                         " scale=65536",
                                         " scale=0.0078431373",
                                         " scale=1e-38"};
static const char *const all_words[] = {"",     " sat",         " round=zero", " round=away",
                                        " ftz", " round=floor", " round=ceil", " round=stochastic seed=3"};
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void make_as(random_state *r, const char *name, char *text, size_t bytes)
{
    const td_dtype dtype = dtype_of(name);
    char zero[32] = "";
    if (dtype.kind != TD_KIND_FLOAT && !dtype.fixed && random_chance(r, 50)) {
        const uint64_t max = td_dtype_max_bits(dtype) & INT64_MAX;
        snprintf(zero, sizeof zero, " zero=%llu",
                 (unsigned long long)(random_below(r, 2) ? max : random_below(r, max + 1)));
    }
    snprintf(text, bytes, "%s%s%s%s", name, all_scales[random_below(r, COUNT(all_scales))], zero,
             random_chance(r, 60) ? "" : all_words[random_below(r, COUNT(all_words))]);
}

static void check_run(const td_convert *c, random_state *r, size_t n, const char *label)
{
    enum { ROOM = 2200 };
    static unsigned char in[ROOM * 8 + 8], out[ROOM * 8 + 16];
    const size_t shift = random_below(r, 4);
    const uint64_t first = random_below(r, 1000);
    const int64_t step = random_chance(r, 60) ? 1 : (int64_t)random_below(r, 9) - 2;
    const uint64_t start = step < 0 ? first + 8 * ROOM : first;
    const unsigned src = c->src.bytes, dst = c->dst.bytes;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = random_bits(r, c->src);
        if (random_chance(r, 3)) /* what is above the element's own bits must not count */
            bits |= random_next(r) & ~td_dtype_mask(c->src);
        else
            bits = td_dtype_extend(c->src, bits);
        put_elem(in + shift, i, src, bits);
    }
    memset(out, 0xa5, sizeof out);
    td_convert_run(c, out + 8 - shift, in + shift, n, start, step);
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = elem_at(in + shift, i, src) & td_dtype_mask(c->src);
        const uint64_t expected =
            c->copy ? elem_at(in + shift, i, src) : td_convert_one(c, bits, start + (uint64_t)step * i, NULL);
        const uint64_t found = elem_at(out + 8 - shift, i, dst);
        if ((found ^ expected) << (64 - 8 * dst))
            fail_msg("%s: 0x%llx (%a) gives 0x%llx, expected 0x%llx", label, (unsigned long long)bits,
                     td_dtype_to_real(c->src, bits), (unsigned long long)found, (unsigned long long)expected);
    }
    for (size_t i = 0; i < 8 - shift; i++)
        assert_int_equal(out[i], 0xa5);
    for (size_t i = 8 - shift + n * dst; i < sizeof out; i++)
        assert_int_equal(out[i], 0xa5);
}

static void every_pair_on_every_machine(void **state)
{
    (void)state;
    const char *wish = getenv("TD_TEST_SEED");
    const uint64_t seed = wish ? strtoull(wish, NULL, 0) : 20261116;
    random_state r = {seed};
    for (size_t a = 0; a < COUNT(all_names); a++) {
        for (size_t b = 0; b < COUNT(all_names); b++) {
            for (int round = 0; round < 6; round++) {
                char as[128], label[300];
                make_as(&r, all_names[b], as, sizeof as);
                const td_direction direction = random_chance(&r, 50) ? TD_TO_MEMORY : TD_TO_TENSOR;
                td_as parsed;
                ASSERT_OK(td_as_parse(as, dtype_of(all_names[a]), &parsed));
                td_convert c;
                const unsigned mask = cpu_masks[random_below(&r, 3)];
                td_cpu_mask(mask);
                if (td_convert_bind(&parsed, dtype_of(all_names[a]), direction, NULL, &c))
                    continue; /* a scale that is too small for f32 */
                snprintf(label, sizeof label, "TD_TEST_SEED=%llu: %s %s \"%s\", cpu mask %u", (unsigned long long)seed,
                         all_names[a], direction == TD_TO_MEMORY ? "to" : "from", as, mask);
                check_run(&c, &r, 1 + random_below(&r, round ? 150 : 1500), label);
            }
        }
    }
    td_cpu_mask(TD_CPU_ALL);
}

static void scales_along_an_axis(void **state)
{
    (void)state;
    random_state r = {5};
    double scale[7];
    int64_t zero[7];
    for (size_t i = 0; i < 7; i++) {
        scale[i] = i == 3 ? 1e-38 : ldexp(1 + (double)random_below(&r, 1000) / 1000, (int)random_below(&r, 9) - 6);
        zero[i] = (int64_t)random_below(&r, 20) - 10;
    }
    static const char *const as_text[] = {"i8 scale=@s axis=c",   "e4m3 scale=@s axis=c", "f32 scale=@s axis=c",
                                          "q4.4 scale=@s axis=c", "i32 scale=@s axis=c",  "i8 scale=@s zero=2 axis=c"};
    static const char *const tensors[] = {"f32", "bf16", "f64", "i8"};
    static const uint64_t inners[] = {1, 2, 5, 16, 40, 300};
    for (size_t t = 0; t < COUNT(tensors); t++)
        for (size_t k = 0; k < COUNT(as_text); k++)
            for (size_t i = 0; i < COUNT(inners); i++)
                for (int direction = 0; direction < 2; direction++)
                    for (int zeros = 0; zeros < 2; zeros++) {
                        const td_dtype tensor = dtype_of(tensors[t]);
                        td_as as;
                        td_convert c;
                        char label[200];
                        if (zeros && as_text[k][0] != 'i')
                            continue;
                        const td_scale_axis axis = {scale, zeros ? zero : NULL, inners[i], 7};
                        ASSERT_OK(td_as_parse(as_text[k], tensor, &as));
                        td_cpu_mask(cpu_masks[random_below(&r, 3)]);
                        ASSERT_OK(td_convert_bind(&as, tensor, (td_direction)direction, &axis, &c));
                        snprintf(label, sizeof label, "%s as \"%s\" inner %d", tensors[t], as_text[k], (int)inners[i]);
                        check_run(&c, &r, 400, label);
                    }
    td_cpu_mask(TD_CPU_ALL);
}

static void a_long_run_streams(void **state)
{
    (void)state;
    const size_t n = (3 << 20) + 77;
    float *in = malloc(n * sizeof *in);
    signed char *out = malloc(n + 64), *expected = malloc(n);
    assert_true(in && out && expected);
    random_state r = {11};
    for (size_t i = 0; i < n; i++)
        in[i] = (float)((double)(int64_t)random_below(&r, 20001) / 1000 - 10);
    td_convert c;
    td_cpu_mask(TD_CPU_C);
    bind(&c, "f32", "i8 scale=0.05 zero=3", TD_TO_MEMORY);
    td_convert_run(&c, expected, in, n, 0, 1);
    td_cpu_mask(TD_CPU_ALL);
    bind(&c, "f32", "i8 scale=0.05 zero=3", TD_TO_MEMORY);
    td_convert_run(&c, out + 3, in, n, 0, 1);
    assert_memory_equal(out + 3, expected, n);
    free(in);
    free(out);
    free(expected);
}

/* What the simulator does to the floating-point mode is its own affair. */
static void any_floating_point_mode(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"f32", "f64"},           {"f32", "f16 scale=3"},   {"f32", "i8 scale=0.7"},
                                           {"f32", "f32 scale=0.3"}, {"f32", "i8 round=away"}, {"i8", "bf16 scale=3"},
                                           {"f64", "f32"},           {"e8m0", "f32 scale=7"}};
    random_state r = {77};
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int direction = 0; direction < 2; direction++) {
            td_as as;
            td_convert c;
            ASSERT_OK(td_as_parse(cases[i][1], dtype_of(cases[i][0]), &as));
#if defined(__x86_64__)
            const unsigned before = _mm_getcsr();
            _mm_setcsr(before | 0x8040 | 0x2000); /* flush both ways, round down */
#endif
            const td_status status = td_convert_bind(&as, dtype_of(cases[i][0]), (td_direction)direction, NULL, &c);
            assert_int_equal(status, TD_OK);
            check_run(&c, &r, 500, cases[i][1]);
#if defined(__x86_64__)
            assert_int_equal(_mm_getcsr() & 0xffc0, (before | 0x8040 | 0x2000) & 0xffc0);
            _mm_setcsr(before);
#endif
        }
    }
}

/* -- Refusals */

static void error_mode_names_the_element(void **state)
{
    (void)state;
    td_convert c;
    size_t bad = 99;
    const float in[] = {1, 2, 6.5F, NAN};
    bind(&c, "f32", "i8 scale=0.05 error", TD_TO_MEMORY);
    assert_true(c.check);
    ASSERT_OK(td_convert_check(&c, in, 2, 0, 1, &bad));
    assert_int_equal(bad, 99);
    ASSERT_REFUSED(
        td_convert_check(&c, in, 4, 10, 3, &bad), TD_RANGE,
        "element 16 is 6.5 (0x40d00000), which does not fit i8 (as \"i8 error\"); change the scale, or pass sat in "
        "place of error");
    assert_int_equal(bad, 2);
    ASSERT_REFUSED(td_convert_check(&c, in + 3, 1, 3, 1, &bad), TD_RANGE,
                   "element 3 is nan (0x7fc00000), which does not fit i8 (as \"i8 error\"); change the scale, or pass "
                   "sat in place "
                   "of error");
    bind(&c, "f32", "f16 error", TD_TO_MEMORY);
    const float special[] = {INFINITY, NAN, -65504};
    ASSERT_OK(td_convert_check(&c, special, 3, 0, 1, &bad));
    uint16_t out[3];
    td_convert_run(&c, out, special, 3, 0, 1);
    assert_int_equal(out[0], 0x7c00);
    bind(&c, "f32", "i8", TD_TO_MEMORY);
    assert_false(c.check);
    ASSERT_OK(td_convert_check(&c, in, 4, 0, 1, &bad));
}

/* Long runs are held against the first and the last number that fit; one beside them, anywhere, is still found. */
static void one_of_many_does_not_fit(void **state)
{
    (void)state;
    enum { MANY = 40000 };
    static const struct {
        const char *dtype, *as;
        double most, least; /* that fit */
    } cases[] = {
        {"f32", "i8 error", 127.5F - 0x1p-17F, -128.5F},
        {"f64", "i8 error", 0x1.fdfffffffffffp6, -128.5},
        {"f32", "u8 error", 255.5F - 0x1p-16F, -0.5},
        {"f64", "i8 zero=10 error", 0x1.d5fffffffffffp6, -138.5},
        {"f64", "i8 scale=2 round=zero error", 0x1.fffffffffffffp7, -0x1.01fffffffffffp8},
        {"f32", "i8 round=stochastic error", 127, -128},
        {"f64", "f16 error", 0x1.ffdffffffffffp15, -0x1.ffdffffffffffp15},
    };
    double *wide = malloc(MANY * sizeof *wide);
    float *narrow = malloc(MANY * sizeof *narrow);
    assert_true(wide && narrow);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t at = 0; at < MANY; at += 13333) {
            const bool f64 = strcmp(cases[k].dtype, "f64") == 0;
            const void *in = f64 ? (const void *)wide : (const void *)narrow;
            td_convert c;
            size_t bad = 0;
            bind(&c, cases[k].dtype, cases[k].as, TD_TO_MEMORY);
            for (int side = 0; side < 3; side++) {
                const double edge = side == 1 ? cases[k].least : cases[k].most;
                for (size_t i = 0; i < MANY; i++) {
                    wide[i] = i % 2 ? cases[k].most : cases[k].least;
                    narrow[i] = (float)wide[i];
                }
                ASSERT_OK(td_convert_check(&c, in, MANY, 0, 1, &bad));
                wide[at] = side == 2 ? (double)NAN : edge + (side ? -1 : 1) * 0x1p-14;
                narrow[at] = (float)wide[at];
                if (side == 2 && k == 6)
                    continue; /* f16 has NaN */
                if (k == 5)   /* what chance may take past the range is looked at one by one */
                    wide[at] = 0, narrow[at] = side ? -130 : 130;
                bad = MANY;
                assert_int_equal(td_convert_check(&c, in, MANY, 0, 1, &bad), TD_RANGE);
                assert_int_equal(bad, at);
            }
        }
    free(wide);
    free(narrow);
}

static void scales_that_no_f32_holds(void **state)
{
    (void)state;
    td_as as;
    td_convert c;
    ASSERT_OK(td_as_parse("i8 scale=1e-50", dtype_of("f32"), &as));
    ASSERT_REFUSED(td_convert_bind(&as, dtype_of("f32"), TD_TO_MEMORY, NULL, &c), TD_OPTION,
                   "scale=1e-50 is 0 in f32, the precision of a tensor of 4-byte elements; pass a scale between 1e-38 "
                   "and 1e38 or an "
                   "f64 tensor");
    ASSERT_OK(td_convert_bind(&as, dtype_of("f64"), TD_TO_MEMORY, NULL, &c));
    const double scale[] = {1, 0};
    const int64_t zero[] = {1, 200};
    td_scale_axis axis = {scale, NULL, 1, 2};
    ASSERT_OK(td_as_parse("i8 scale=@s axis=c", dtype_of("f32"), &as));
    ASSERT_REFUSED(td_convert_bind(&as, dtype_of("f32"), TD_TO_MEMORY, &axis, &c), TD_OPTION,
                   "scale 1 of @s is 0, and a scale is finite and not 0; correct the tensor of scales");
    axis.scale = NULL;
    axis.zero = zero;
    ASSERT_OK(td_as_parse("i8 zero=@z axis=c", dtype_of("f32"), &as));
    ASSERT_REFUSED(td_convert_bind(&as, dtype_of("f32"), TD_TO_MEMORY, &axis, &c), TD_OPTION,
                   "zero point 1 of @z is 200, which is not in i8; correct the tensor of zero points");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_is_its_value),
        cmocka_unit_test(ocp_tables),
        cmocka_unit_test(f32_patterns),
        cmocka_unit_test(every_tie_and_its_neighbours),
        cmocka_unit_test(numpy_halves),
        cmocka_unit_test(words),
        cmocka_unit_test(words_on_the_way_back),
        cmocka_unit_test(equal_dtypes_move_bits),
        cmocka_unit_test(luck_is_fair_and_repeatable),
        cmocka_unit_test(every_pair_on_every_machine),
        cmocka_unit_test(scales_along_an_axis),
        cmocka_unit_test(a_long_run_streams),
        cmocka_unit_test(any_floating_point_mode),
        cmocka_unit_test(error_mode_names_the_element),
        cmocka_unit_test(one_of_many_does_not_fit),
        cmocka_unit_test(scales_that_no_f32_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
