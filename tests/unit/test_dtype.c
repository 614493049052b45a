/* Element types: names, widths, single values, and the text of every refusal. */
#include "support.h"

#include "values/dtype.h"

#include <math.h>

static td_dtype dtype_of(const char *name)
{
    td_dtype dtype;
    ASSERT_OK(td_dtype_parse(name, &dtype));
    return dtype;
}

static void names_and_places(void **state)
{
    (void)state;
    static const struct {
        const char *name, *canonical;
        unsigned bits, bytes;
    } cases[] = {
        {"u1", "u1", 1, 1},        {"i2", "i2", 2, 1},          {"i8", "i8", 8, 1},      {"u9", "u9", 9, 2},
        {"i16", "i16", 16, 2},     {"u17", "u17", 17, 4},       {"i32", "i32", 32, 4},   {"u33", "u33", 33, 8},
        {"i64", "i64", 64, 8},     {"f16", "f16", 16, 2},       {"bf16", "bf16", 16, 2}, {"f32", "f32", 32, 4},
        {"f64", "f64", 64, 8},     {"e4m3", "e4m3", 8, 1},      {"e5m2", "e5m2", 8, 1},  {"e3m2", "e3m2", 6, 1},
        {"e2m3", "e2m3", 6, 1},    {"e2m1", "e2m1", 4, 1},      {"e8m0", "e8m0", 8, 1},  {"e3m4", "e3m4", 8, 1},
        {"e5m10", "f16", 16, 2},   {"e8m7", "bf16", 16, 2},     {"e8m23", "f32", 32, 4}, {"e11m52", "f64", 64, 8},
        {"e8m10", "e8m10", 19, 4}, {"q1.15", "q1.15", 16, 2},   {"q8.0", "q8.0", 8, 1},  {"uq4.4", "uq4.4", 8, 1},
        {"uq0.8", "uq0.8", 8, 1},  {"q32.32", "q32.32", 64, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const td_dtype dtype = dtype_of(cases[i].name);
        char name[TD_DTYPE_NAME_BYTES];
        td_dtype_print(dtype, name);
        assert_string_equal(name, cases[i].canonical);
        assert_int_equal(dtype.bits, cases[i].bits);
        assert_int_equal(dtype.bytes, cases[i].bytes);
        assert_true(td_dtype_equal(dtype, dtype_of(cases[i].canonical)));
    }
    assert_false(td_dtype_equal(dtype_of("q8.0"), dtype_of("i8")));
    assert_false(td_dtype_equal(dtype_of("u8"), dtype_of("i8")));
}

#define KNOWN "u1..u64, i1..i64, f16, bf16, f32, f64, e<X>m<Y>, q<m>.<n> or uq<m>.<n>"

static void unknown_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } cases[] = {
        {"int8", "unknown dtype \"int8\"; did you mean \"i8\"? a dtype is " KNOWN},
        {"uint16", "unknown dtype \"uint16\"; did you mean \"u16\"? a dtype is " KNOWN},
        {"uint8_t", "unknown dtype \"uint8_t\"; did you mean \"u8\"? a dtype is " KNOWN},
        {"float32", "unknown dtype \"float32\"; did you mean \"f32\"? a dtype is " KNOWN},
        {"bfloat16", "unknown dtype \"bfloat16\"; did you mean \"bf16\"? a dtype is " KNOWN},
        {"bf61", "unknown dtype \"bf61\"; did you mean \"bf16\"? a dtype is " KNOWN},
        {"fp8", "unknown dtype \"fp8\"; did you mean \"e4m3\"? a dtype is " KNOWN},
        {"half", "unknown dtype \"half\"; did you mean \"f16\"? a dtype is " KNOWN},
        {"u08", "unknown dtype \"u08\"; did you mean \"u8\"? a dtype is " KNOWN},
        {"I8", "unknown dtype \"I8\"; did you mean \"i8\"? a dtype is " KNOWN},
        {"BF16", "unknown dtype \"BF16\"; did you mean \"bf16\"? a dtype is " KNOWN},
        {"U12", "unknown dtype \"U12\"; did you mean \"u12\"? a dtype is " KNOWN},
        {"Float32", "unknown dtype \"Float32\"; did you mean \"f32\"? a dtype is " KNOWN},
        {"complex", "unknown dtype \"complex\"; pass one of " KNOWN},
        {"", "unknown dtype \"\"; pass one of " KNOWN},
        {"u65", "dtype \"u65\" has 65 bits, and an integer has 1 to 64; use u64"},
        {"i0", "dtype \"i0\" has 0 bits, and an integer has 1 to 64; use i1"},
        {"q40.40",
         "dtype \"q40.40\" has 80 bits, and fixed point has 1 to 64 (the sign is one of the whole bits); use fewer "
         "whole or fraction bits, like q8.8"},
        {"uq0.0",
         "dtype \"uq0.0\" has 0 bits, and fixed point has 1 to 64 (the sign is one of the whole bits); use fewer whole "
         "or fraction bits, like uq8.8"},
        {"e12m3", "dtype \"e12m3\" has 12 exponent and 3 mantissa bits, and a float has 1 to 11 and 0 to 52; use "
                  "e11m52 (f64) at "
                  "most"},
        {"e5m53", "dtype \"e5m53\" has 5 exponent and 53 mantissa bits, and a float has 1 to 11 and 0 to 52; use "
                  "e11m52 (f64) at "
                  "most"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_dtype dtype = {.bits = 77};
        ASSERT_REFUSED(td_dtype_parse(cases[i].name, &dtype), TD_DTYPE, cases[i].text);
        assert_int_equal(dtype.bits, 77);
    }
    td_dtype dtype;
    ASSERT_REFUSED(td_dtype_parse(NULL, &dtype), TD_ARGUMENT, "the dtype is NULL; pass one of " KNOWN);
}

static void masks_and_extension(void **state)
{
    (void)state;
    assert_int_equal(td_dtype_mask(dtype_of("u1")), 1);
    assert_true(td_dtype_mask(dtype_of("i64")) == UINT64_MAX);
    assert_true(td_dtype_extend(dtype_of("i4"), 0xf8) == (uint64_t)-8);
    assert_int_equal(td_dtype_extend(dtype_of("i4"), 0xf7), 7);
    assert_int_equal(td_dtype_extend(dtype_of("u4"), 0xf8), 8);
    assert_true(td_dtype_extend(dtype_of("q2.2"), 8) == (uint64_t)-8);
    assert_int_equal(td_dtype_extend(dtype_of("e2m1"), 0xff), 15);
}

static void values_to_bits(void **state)
{
    (void)state;
    static const struct {
        const char *dtype, *text;
        uint64_t bits;
    } cases[] = {
        {"i8", "-1", 0xff},
        {"i8", "-128", 0x80},
        {"u8", "0xff", 0xff},
        {"u8", "3.0", 3},
        {"u64", "18446744073709551615", UINT64_MAX},
        {"i64", "-9223372036854775808", (uint64_t)1 << 63},
        {"u64", "9007199254740993", 9007199254740993},
        {"f32", "0.1", 0x3dcccccd},
        {"f64", "0.1", 0x3fb999999999999a},
        {"f16", "65519.9", 0x7bff},
        {"f16", "65520", 0x7c00},
        {"f16", "-0.0", 0x8000},
        {"f16", "nan", 0x7e00},
        {"f16", "-inf", 0xfc00},
        {"bf16", "1e-40", 1},
        {"e4m3", "448", 0x7e},
        {"e4m3", "1e9", 0x7f},
        {"e2m1", "5", 6},
        {"e2m1", "100", 7},
        {"e8m0", "1", 0x7f},
        {"q1.15", "-1", 0x8000},
        {"q4.4", "0.03125", 0},
        {"q4.4", "0.09375", 2},
        {"uq4.4", "15.9375", 0xff},
        {"f32", "0x10", 0x41800000},
        {"f32", "+3", 0x40400000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t bits = 0;
        ASSERT_OK(td_dtype_from_text(dtype_of(cases[i].dtype), cases[i].text, &bits));
        if (bits != cases[i].bits)
            fail_msg("%s in %s is 0x%llx, expected 0x%llx", cases[i].text, cases[i].dtype, (unsigned long long)bits,
                     (unsigned long long)cases[i].bits);
    }
}

static void values_out_of_range(void **state)
{
    (void)state;
    static const struct {
        const char *dtype, *text, *message;
        td_status status;
    } cases[] = {
        {"i8", "200", "value 200 is not in i8, which holds whole numbers from -128 to 127; pass a value in that range",
         TD_RANGE},
        {"i8", "1.5", "value 1.5 is not in i8, which holds whole numbers from -128 to 127; pass a value in that range",
         TD_RANGE},
        {"u4", "-1", "value -1 is not in u4, which holds whole numbers from 0 to 15; pass a value in that range",
         TD_RANGE},
        {"u64", "18446744073709551616",
         "value 18446744073709551616 is not in u64, which holds whole numbers from 0 to 18446744073709551615; pass a "
         "value in that "
         "range",
         TD_RANGE},
        {"i64", "9223372036854775808",
         "value 9223372036854775808 is not in i64, which holds whole numbers from -9223372036854775808 to "
         "9223372036854775807; pass "
         "a value in that range",
         TD_RANGE},
        {"u8", "nan", "value nan is not in u8, which holds whole numbers from 0 to 255; pass a value in that range",
         TD_RANGE},
        {"q4.4", "8", "value 8 is not in q4.4, which holds -8 to 7.9375; pass a value in that range", TD_RANGE},
        {"uq4.4", "-1", "value -1 is not in uq4.4, which holds 0 to 15.9375; pass a value in that range", TD_RANGE},
        {"i8", "zz", "\"zz\" is not a number; pass a value of i8 like 1 or 0x10", TD_OPTION},
        {"f16", "1.2.3", "\"1.2.3\" is not a number; pass a value of f16 like 0.5, -1 or 0x10", TD_OPTION},
        {"f16", "", "\"\" is not a number; pass a value of f16 like 0.5, -1 or 0x10", TD_OPTION},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t bits = 77;
        ASSERT_REFUSED(td_dtype_from_text(dtype_of(cases[i].dtype), cases[i].text, &bits), cases[i].status,
                       cases[i].message);
        assert_int_equal(bits, 77);
    }
    uint64_t bits = 0;
    ASSERT_REFUSED(td_dtype_from_real(dtype_of("u8"), 0.5, &bits), TD_RANGE,
                   "value 0.5 is not in u8, which holds whole numbers from 0 to 255; pass a value in that range");
    ASSERT_OK(td_dtype_from_real(dtype_of("f32"), 1e300, &bits));
    assert_int_equal(bits, 0x7f800000);
}

static void bits_to_values(void **state)
{
    (void)state;
    assert_true(td_dtype_to_real(dtype_of("i4"), 0xf) == -1);
    assert_true(td_dtype_to_real(dtype_of("u64"), UINT64_MAX) == 0x1p64);
    assert_true(td_dtype_to_real(dtype_of("f64"), 0x3fb999999999999a) == 0.1);
    assert_true(isnan(td_dtype_to_real(dtype_of("e4m3"), 0x7f)));
    assert_true(td_dtype_to_real(dtype_of("q1.15"), 0x4000) == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_places),    cmocka_unit_test(unknown_names),
        cmocka_unit_test(masks_and_extension), cmocka_unit_test(values_to_bits),
        cmocka_unit_test(values_out_of_range), cmocka_unit_test(bits_to_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
