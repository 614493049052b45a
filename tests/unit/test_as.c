/* The `as` string: what each word means, and the text of every refusal. */
#include "support.h"

#include "values/as.h"

static td_dtype f32(void)
{
    td_dtype dtype;
    ASSERT_OK(td_dtype_parse("f32", &dtype));
    return dtype;
}

static td_as parse(const char *text)
{
    td_as as;
    ASSERT_OK(td_as_parse(text, f32(), &as));
    return as;
}

static void nothing_is_no_conversion(void **state)
{
    (void)state;
    static const char *const texts[] = {NULL, "", "  "};
    for (size_t i = 0; i < 3; i++) {
        const td_as as = parse(texts[i]);
        assert_true(td_dtype_equal(as.dtype, f32()));
        assert_false(as.has_scale || as.has_zero || as.ftz);
        assert_int_equal(as.over, TD_OVER_DEFAULT);
    }
}

static void every_word(void **state)
{
    (void)state;
    td_as as = parse("i8 scale=0.05 zero=3 round=even sat");
    assert_int_equal(as.dtype.bits, 8);
    assert_true(as.has_scale && as.scale_f32 == 0.05F && as.scale_f64 == 0.05);
    assert_true(as.has_zero && as.zero == 3);
    assert_int_equal(as.round, TD_ROUND_EVEN);
    assert_int_equal(as.over, TD_OVER_SAT);
    as = parse("  e4m3   inf ftz\tround=stochastic seed=0x10 ");
    assert_int_equal(as.over, TD_OVER_INF);
    assert_int_equal(as.round, TD_ROUND_STOCHASTIC);
    assert_true(as.ftz && as.seed == 16);
    as = parse("i8 scale=@scales.npy zero=@z axis=o");
    assert_string_equal(as.scale_name, "scales.npy");
    assert_string_equal(as.zero_name, "z");
    assert_string_equal(as.axis, "o");
    assert_int_equal(parse("u8 wrap round=floor").over, TD_OVER_WRAP);
    assert_int_equal(parse("u8 error round=away").over, TD_OVER_ERROR);
    assert_int_equal(parse("u8 round=away").round, TD_ROUND_AWAY);
    assert_int_equal(parse("u8 round=zero").round, TD_ROUND_ZERO);
    assert_int_equal(parse("u8 round=floor").round, TD_ROUND_FLOOR);
    assert_int_equal(parse("u8 round=ceil").round, TD_ROUND_CEIL);
    assert_true(parse("i16 zero=-32768").zero == -32768);
}

#define WORDS "scale=, zero=, axis=, round=, seed=, sat, inf, wrap, error, ftz"

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *as, *text;
        td_status status;
    } cases[] = {
        {"int8 scale=2",
         "unknown dtype \"int8\"; did you mean \"i8\"? a dtype is u1..u64, i1..i64, f16, bf16, f32, f64, e<X>m<Y>, "
         "q<m>.<n> or "
         "uq<m>.<n>",
         TD_DTYPE},
        {"scale=2",
         "as \"scale=2\" begins with \"scale=2\" and not with a dtype; write what the memory holds first, like \"i8 "
         "scale=2\"",
         TD_OPTION},
        {"i8 scal=2", "unknown key \"scal=\" in as \"i8 scal=2\"; did you mean \"scale=\"? the words are " WORDS,
         TD_OPTION},
        {"i8 qqqq=2", "unknown key \"qqqq=\" in as \"i8 qqqq=2\"; the words are " WORDS, TD_OPTION},
        {"i8 satt", "unknown word \"satt\" in as \"i8 satt\"; did you mean \"sat\"? the words are " WORDS, TD_OPTION},
        {"i8 hello", "unknown word \"hello\" in as \"i8 hello\"; the words are " WORDS, TD_OPTION},
        {"i8 floor", "unknown word \"floor\" in as \"i8 floor\"; write round=floor", TD_OPTION},
        {"i8 round=evn",
         "round=evn in as \"i8 round=evn\" is not a rounding; did you mean even? pass even, away, zero, floor, ceil or "
         "stochastic",
         TD_OPTION},
        {"i8 round=xyz",
         "round=xyz in as \"i8 round=xyz\" is not a rounding; pass even, away, zero, floor, ceil or stochastic",
         TD_OPTION},
        {"i8 scale=0",
         "scale=0 in as \"i8 scale=0\" is not a finite number other than 0; pass one like scale=0.05, or scale=@NAME "
         "for a tensor of "
         "scales",
         TD_OPTION},
        {"i8 scale=abc",
         "scale=abc in as \"i8 scale=abc\" is not a finite number other than 0; pass one like scale=0.05, or "
         "scale=@NAME for a tensor "
         "of scales",
         TD_OPTION},
        {"i8 scale=nan",
         "scale=nan in as \"i8 scale=nan\" is not a finite number other than 0; pass one like scale=0.05, or "
         "scale=@NAME for a tensor "
         "of scales",
         TD_OPTION},
        {"i8 scale=@",
         "scale=@ in as \"i8 scale=@\" has a name of 0 letters, and a name has 1 to 255; pass a shorter one",
         TD_OPTION},
        {"i8 zero=1.5",
         "zero=1.5 in as \"i8 zero=1.5\" is not an integer of 64 bits; pass one like zero=3, or zero=@NAME", TD_OPTION},
        {"i8 zero=200", "zero=200 in as \"i8 zero=200\" is not in i8; pass a zero point from -128 to 127", TD_OPTION},
        {"u8 zero=-1", "zero=-1 in as \"u8 zero=-1\" is not in u8; pass a zero point from 0 to 255", TD_OPTION},
        {"e4m3 zero=1", "zero= in as \"e4m3 zero=1\" needs an integer, and e4m3 is a float; leave it out", TD_OPTION},
        {"q4.4 zero=1", "zero= in as \"q4.4 zero=1\" needs an integer, and q4.4 is fixed point; leave it out",
         TD_OPTION},
        {"f16 wrap",
         "wrap in as \"f16 wrap\" needs an integer or fixed point, and f16 is a float; use sat, inf or error",
         TD_OPTION},
        {"i8 inf", "inf in as \"i8 inf\" needs a float, and i8 has no infinity; use sat, wrap or error", TD_OPTION},
        {"i8 sat wrap", "as \"i8 sat wrap\" says sat and wrap; keep one of them", TD_OPTION},
        {"i8 scale=1 scale=2", "as \"i8 scale=1 scale=2\" says scale= twice; keep one of them", TD_OPTION},
        {"i8 ftz ftz", "as \"i8 ftz ftz\" says ftz twice; keep one of them", TD_OPTION},
        {"i8 seed=1", "seed= in as \"i8 seed=1\" needs round=stochastic; add it or leave the seed out", TD_OPTION},
        {"i8 round=stochastic seed=-1",
         "seed=-1 in as \"i8 round=stochastic seed=-1\" is not an integer from 0 to 2^64 - 1; pass one like seed=1",
         TD_OPTION},
        {"i8 axis=c",
         "axis=c in as \"i8 axis=c\" needs a tensor of scales along it; add scale=@NAME or leave the axis out",
         TD_OPTION},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_as as;
        memset(&as, 0x5a, sizeof as);
        const td_as before = as;
        ASSERT_REFUSED(td_as_parse(cases[i].as, f32(), &as), cases[i].status, cases[i].text);
        assert_memory_equal(&as, &before, sizeof as);
    }
}

static void a_word_of_any_length(void **state)
{
    (void)state;
    char text[600] = "i8 scale=@";
    memset(text + 10, 'n', 500);
    td_as as;
    ASSERT_REFUSED(td_as_parse(text, f32(), &as), TD_OPTION,
                   "a word of as \"i8 scale=@nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...\" has 507 letters, and a word has at "
                   "most 271; pass a "
                   "shorter name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_no_conversion),
        cmocka_unit_test(every_word),
        cmocka_unit_test(refusals),
        cmocka_unit_test(a_word_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
