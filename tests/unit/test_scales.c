/* Scales along an axis, by name and by file, through the whole path; elements as numbers; conversion and text of
 * tensors. */
#include "support.h"

#include <stdbool.h>

#include <math.h>

static td_tensor *tensor_of(const char *dtype, td_shape shape, const double *values)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create(dtype, shape, &t));
    for (uint64_t i = 0; i < td_tensor_elems(t); i++)
        ASSERT_OK(td_tensor_set_real(t, i, values[i]));
    return t;
}

static td_tensor *ramp(const char *dtype, td_shape shape)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create(dtype, shape, &t));
    ASSERT_OK(td_tensor_fill_ramp(t, 0, 1));
    return t;
}

static const double three[] = {1, 0.5, 2}, zeros[] = {0, 10, -10};

static void a_scale_for_each_channel(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *options, *as;
        size_t dim; /* of the scales, in shape (2, 3, 4) */
    } cases[] = {
        {"b c w -> (b w) c", "", "i8 scale=@s axis=c", 1},
        {"b c w -> (b c) w", "", "i8 scale=@s axis=c", 1},
        {"b c w -> (b w) c", "", "i8 scale=@s zero=@z axis=c", 1},
        {"b c w -> (b w) c", "", "i8 scale=@s axis=1", 1},
        {"b c (w v) -> (b c) (v w)", "v=2", "i8 scale=@pair axis=v", 2},
        {"b c (w v) -> (b c) (v w)", "v=2", "i8 scale=@pair axis=w", 3},
        {"b c w -> (b c) w", "", "i8 scale=@one", 4},
        {"b c w -> (b c) w", "", "i8 scale=@s.npy axis=c", 1},
    };
    td_tensor *s = tensor_of("f32", TD_SHAPE(3), three), *z = tensor_of("i32", TD_SHAPE(3), zeros);
    td_tensor *pair = tensor_of("f64", TD_SHAPE(2), three), *one = tensor_of("f32", TD_SHAPE(1), three + 2);
    ASSERT_OK(td_tensor_save(s, "s.npy"));
    ASSERT_OK(td_scales_set("s", s));
    ASSERT_OK(td_scales_set("z", z));
    ASSERT_OK(td_scales_set("pair", pair));
    ASSERT_OK(td_scales_set("one", one));
    td_tensor_destroy(&s), td_tensor_destroy(&z), td_tensor_destroy(&pair), td_tensor_destroy(&one);

    td_tensor *t = ramp("f32", TD_SHAPE(2, 3, 4));
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        td_memory *m = NULL;
        td_layout *l = NULL;
        td_tensor *bits = NULL, *back = NULL;
        ASSERT_OK(td_memory_create("m", 32, 16, &m));
        ASSERT_OK(td_layout_create(cases[k].pattern, cases[k].options, NULL, &l));
        ASSERT_OK(td_tensor_create("i8", TD_SHAPE(2, 3, 4), &bits));
        ASSERT_OK(td_tensor_create("f32", TD_SHAPE(2, 3, 4), &back));
        ASSERT_OK(td_backdoor_load_tensor(m, t, l, cases[k].as));
        ASSERT_OK(td_backdoor_dump_tensor(m, bits, l, NULL));
        ASSERT_OK(td_backdoor_dump_tensor(m, back, l, cases[k].as));
        for (uint64_t i = 0; i < 24; i++) {
            const uint64_t w = i % 4, c = i / 4 % 3;
            const double scale = cases[k].dim == 1   ? three[c]
                                 : cases[k].dim == 2 ? three[w % 2]
                                 : cases[k].dim == 3 ? three[w / 2]
                                                     : 2;
            const double zero = strstr(cases[k].as, "@z") ? zeros[c] : 0;
            const double expected = fmin(127, nearbyint((double)i / scale) + zero);
            double found = 0, value = 0;
            ASSERT_OK(td_tensor_get_real(bits, i, &found));
            ASSERT_OK(td_tensor_get_real(back, i, &value));
            if (found != expected || value != scale * (expected - zero))
                fail_msg("case %zu, element %d: stored %g, expected %g; back %g", k, (int)i, found, expected, value);
        }
        td_memory_destroy(&m), td_layout_destroy(&l), td_tensor_destroy(&bits), td_tensor_destroy(&back);
    }
    td_tensor_destroy(&t);
    ASSERT_OK(td_scales_set("one", NULL));
    ASSERT_OK(td_scales_set("pair", NULL));
}

/* The same words again and again, between other ones: what was remembered of a call never answers for another. */
static void calls_in_turn(void **state)
{
    (void)state;
    static const struct {
        const char *dtype, *as;
        uint64_t second; /* what the memory holds of the value 1, the second of the ramp */
    } calls[] = {
        {"f32", "i8", 1},           {"f32", "i8 scale=0.5", 2},  {"f32", "i8 scale=@turn", 4}, {"i16", "i8", 1},
        {"i16", "i8 scale=0.5", 2}, {"f32", "u8 scale=0.25", 4}, {"f32", "i8 zero=7", 8},      {"f32", "i8", 1},
    };
    td_memory *m = NULL;
    td_layout *l = NULL;
    ASSERT_OK(td_memory_create("m", 8, 8, &m));
    ASSERT_OK(td_layout_create("a -> a 1", NULL, NULL, &l));
    for (int round = 0; round < 3; round++) {
        const double scale[] = {0.25, 0.125, 0.0625};
        td_tensor *one = tensor_of("f32", TD_SHAPE(1), &scale[round]);
        ASSERT_OK(td_scales_set("turn", one));
        td_tensor_destroy(&one);
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
            td_tensor *t = ramp(calls[i].dtype, TD_SHAPE(4)), *back = ramp(calls[i].dtype, TD_SHAPE(4));
            ASSERT_OK(td_backdoor_load_tensor(m, t, l, calls[i].as));
            const uint64_t expected = strchr(calls[i].as, '@') ? calls[i].second << round : calls[i].second;
            assert_int_equal(((const unsigned char *)td_memory_data(m))[1], expected);
            ASSERT_OK(td_backdoor_dump_tensor(m, back, l, calls[i].as));
            assert_memory_equal(td_tensor_data(back), td_tensor_data(t), 4 * td_tensor_elem_bytes(t));
            ASSERT_REFUSED(td_backdoor_load_tensor(m, t, l, "i8 scale=0"), TD_OPTION,
                           "backdoor_load_tensor \"m\": scale=0 in as \"i8 scale=0\" is not a finite number other than "
                           "0; pass one like scale=0.05, or scale=@NAME for a tensor of scales");
            td_tensor_destroy(&t), td_tensor_destroy(&back);
        }
    }
    ASSERT_OK(td_scales_set("turn", NULL));
    td_memory_destroy(&m);
    td_layout_destroy(&l);
}

static void refusals(void **state)
{
    (void)state;
    td_tensor *s = tensor_of("f32", TD_SHAPE(3), three);
    const double bad[] = {1, 0, 2}, half[] = {0.5, 1, 2};
    td_tensor *b = tensor_of("f32", TD_SHAPE(3), bad), *h = tensor_of("f32", TD_SHAPE(3), half);
    td_tensor *w = tensor_of("i8", TD_SHAPE(3), zeros);
    ASSERT_OK(td_scales_set("w", w));
    ASSERT_OK(td_scales_set("s", s));
    ASSERT_OK(td_scales_set("bad", b));
    ASSERT_OK(td_scales_set("half", h));
    td_tensor *t = ramp("f32", TD_SHAPE(2, 3, 4));
    td_memory *m = NULL;
    td_layout *l = NULL;
    ASSERT_OK(td_memory_create("m", 32, 16, &m));
    ASSERT_OK(td_layout_create("b c w -> (b c) w", NULL, NULL, &l));
#define HEAD "backdoor_load_tensor \"m\": "
    static const struct {
        const char *as, *text;
        td_status status;
    } cases[] = {
        {"i8 scale=@t axis=c",
         HEAD "scale=@t: no tensor of that name; give it one with scales_set, or name a file like @t.npy", TD_OPTION},
        {"i8 scale=@s",
         HEAD "@s has 3 values and the as says no axis; add axis=NAME, or axis=0 for the first dimension", TD_OPTION},
        {"i8 scale=@s axis=w", HEAD "scale=@s has 3 values, and axis w has 4 coordinates; pass 4 values", TD_OPTION},
        {"i8 zero=@w axis=b", HEAD "zero=@w has 3 values, and axis b has 2 coordinates; pass 2 values", TD_OPTION},
        {"i8 scale=@s axis=q",
         HEAD "axis=q is no axis on the left of \"b c w -> (b c) w\"; use one of its axes, like b, or a dimension from "
              "0 to 2",
         TD_OPTION},
        {"i8 scale=@s axis=3",
         HEAD "axis=3 is no axis on the left of \"b c w -> (b c) w\"; use one of its axes, like b, or a dimension from "
              "0 to 2",
         TD_OPTION},
        {"i8 scale=@bad axis=c",
         HEAD "scale 1 of @bad is 0, and a scale is finite and not 0; correct the tensor of scales", TD_OPTION},
        {"i8 zero=@half axis=c",
         HEAD "zero point 0 of @half is 0.5, and a zero point is an integer; correct the tensor", TD_OPTION},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ASSERT_REFUSED(td_backdoor_load_tensor(m, t, l, cases[i].as), cases[i].status, cases[i].text);
        assert_int_equal(*(uint32_t *)td_memory_data(m), 0);
    }
    td_layout *windows = NULL;
    ASSERT_OK(td_layout_create("b c (o + k) -> (b c o) k", "k=2", NULL, &windows));
    ASSERT_REFUSED(td_backdoor_load_tensor(m, t, windows, "i8 scale=@s axis=o"), TD_OPTION,
                   HEAD "axis=o slides over its dimension, so an element has several coordinates on it; use axis=2 for "
                        "one scale per element of the dimension");
    td_layout_destroy(&windows);
    ASSERT_REFUSED(td_scales_set("", s), TD_ARGUMENT,
                   "scales_set: the name is empty; pass the one that scale=@NAME says");
    ASSERT_REFUSED(td_scales_set("a b", s), TD_ARGUMENT,
                   "scales_set: the name \"a b\" has spaces or more than 255 letters; pass a shorter word");
    td_status status = td_backdoor_load_tensor(m, t, l, "i8 scale=@none.npy axis=c");
    assert_string_equal(td_status_name(status), "FILE");
    assert_non_null(strstr(td_last_error(), HEAD "scale=@none.npy: "));
    ASSERT_OK(td_scales_set("s", NULL));
    ASSERT_OK(td_scales_set("bad", NULL));
    ASSERT_OK(td_scales_set("half", NULL));
    ASSERT_OK(td_scales_set("w", NULL));
    td_tensor_destroy(&w);
    td_tensor_destroy(&s), td_tensor_destroy(&b), td_tensor_destroy(&h), td_tensor_destroy(&t);
    td_memory_destroy(&m);
    td_layout_destroy(&l);
}

static void elements_as_numbers(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    double value = 77;
    ASSERT_OK(td_tensor_create("e4m3", TD_SHAPE(2), &t));
    ASSERT_OK(td_tensor_set_real(t, 1, 0.3));
    ASSERT_OK(td_tensor_get_real(t, 1, &value));
    assert_true(value == 0.3125);
    ASSERT_REFUSED(td_tensor_get_real(t, 2, &value), TD_RANGE,
                   "tensor_get_real: element 2 of a tensor of 2 elements, shape (2); the last is 1");
    ASSERT_REFUSED(td_tensor_set_real(NULL, 0, 1), TD_ARGUMENT, "tensor_set_real: the tensor is NULL; create it first");
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_create("i4", TD_SHAPE(2), &t));
    ASSERT_OK(td_tensor_set_real(t, 0, -8));
    assert_int_equal(*(signed char *)td_tensor_data(t), -8);
    ASSERT_REFUSED(
        td_tensor_set_real(t, 0, 8), TD_RANGE,
        "tensor_set_real: value 8 is not in i4, which holds whole numbers from -8 to 7; pass a value in that range");
    td_tensor_destroy(&t);
    /* what rounds into the range is not whole for that */
    static const double not_whole[] = {-0.07, -0.5, 254.5, 255.25, 0x1p-1074, -0x1p-1074};
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(1), &t));
    ASSERT_OK(td_tensor_set_real(t, 0, 255));
    for (size_t i = 0; i < sizeof not_whole / sizeof not_whole[0]; i++)
        assert_int_equal(td_tensor_set_real(t, 0, not_whole[i]), TD_RANGE);
    ASSERT_REFUSED(td_tensor_set_real(t, 0, -0.5), TD_RANGE,
                   "tensor_set_real: value -0.5 is not in u8, which holds whole numbers from 0 to 255; pass a value in "
                   "that range");
    assert_int_equal(*(unsigned char *)td_tensor_data(t), 255);
    ASSERT_OK(td_tensor_set_real(t, 0, -0.0));
    assert_int_equal(*(unsigned char *)td_tensor_data(t), 0);
    td_tensor_destroy(&t);
}

/* The range is that of the rounded value: a dump is refused when an element was rounded out of it, and only then. */
static void stochastic_rounding_out_of_the_range(void **state)
{
    (void)state;
    static const double values[] = {65535.03125, -0.03125, 65535, 65536, -1};
    size_t refused = 0, accepted = 0;
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
        for (unsigned seed = 0; seed < 60; seed++) {
            td_tensor *t = NULL, *wide = NULL, *narrow = NULL;
            td_memory *m = NULL;
            td_layout *l = NULL;
            char as[64];
            bool out = false;
            ASSERT_OK(td_tensor_create("e10m31", TD_SHAPE(3, 4), &t));
            ASSERT_OK(td_tensor_create("i32", TD_SHAPE(3, 4), &wide));
            ASSERT_OK(td_tensor_create("u16", TD_SHAPE(3, 4), &narrow));
            ASSERT_OK(td_memory_create("m", 3 * 42, 4, &m));
            ASSERT_OK(td_layout_create("r c -> c r", NULL, NULL, &l));
            for (uint64_t i = 0; i < 12; i++)
                ASSERT_OK(td_tensor_set_real(t, i, values[v]));
            ASSERT_OK(td_backdoor_load_tensor(m, t, l, NULL));
            snprintf(as, sizeof as, "e10m31 round=stochastic seed=%u", seed);
            ASSERT_OK(td_backdoor_dump_tensor(m, wide, l, as));
            for (size_t i = 0; i < 12; i++) {
                const int32_t rounded = ((const int32_t *)td_tensor_data(wide))[i];
                out |= rounded < 0 || rounded > 65535;
            }
            snprintf(as, sizeof as, "e10m31 round=stochastic seed=%u error", seed);
            assert_int_equal(td_backdoor_dump_tensor(m, narrow, l, as), out ? TD_RANGE : TD_OK);
            refused += out;
            accepted += !out;
            td_tensor_destroy(&t);
            td_tensor_destroy(&wide);
            td_tensor_destroy(&narrow);
            td_memory_destroy(&m);
            td_layout_destroy(&l);
        }
    assert_true(refused > 120 && accepted > 60); /* both happen */
}

/* A finite number that the scale makes infinite does not fit, whatever the target; infinity itself does. */
static void scaled_past_the_work_precision(void **state)
{
    (void)state;
    static const struct {
        const char *tensor, *memory, *words;
        double value; /* of the source */
        bool load, fits;
    } rows[] = {
        {"u16", "e10m31", "scale=1e-35 round=stochastic", 65535, true, false},
        {"u16", "e10m31", "scale=1e-35 round=stochastic", 3402, true, true},
        {"u16", "e10m31", "scale=1e-35", 3403, true, false},
        {"u16", "e10m31", "scale=1e-30 round=stochastic", 65535, true, true},
        {"f32", "bf16", "scale=1e-5", 1e38, true, false},
        {"f32", "bf16", "scale=1e-5", -1e38, true, false},
        {"f32", "bf16", "scale=1e-5", 3e33, true, true},
        {"f32", "f32", "scale=0.5", 0x1.fffffep127, true, false},
        {"f32", "f32", "scale=0.5", 0x1.fffffep126, true, true},
        {"f32", "f32", "scale=0.5", -0x1p127, true, false},
        {"f32", "f32", "scale=0.5", INFINITY, true, true},
        {"f32", "f32", "scale=0.5", NAN, true, true},
        {"f32", "e10m31", "scale=-0.5", 0x1p127, true, false},
        {"f32", "e4m3", "scale=1e-5", 1e38, true, false},
        {"f64", "f64", "scale=0.5", 0x1p1023, true, false},
        {"f64", "f64", "scale=0.5", 0x1p1022, true, true},
        {"f32", "i8", "scale=3e38", 2, false, false},
        {"f32", "i8", "scale=3e38", 1, false, true},
        {"f16", "i8", "scale=3e38", 2, false, false},
        {"f32", "f32", "scale=2", 0x1p127, false, false},
        {"f32", "f32", "scale=2", 0x1p126, false, true},
        {"f32", "bf16", "scale=2", -INFINITY, false, true},
        {"f64", "i8", "scale=1e308", 2, false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t n = 1; n <= 9000; n += 8999) {
            td_tensor *from = NULL, *to = NULL;
            td_memory *m = NULL;
            td_layout *l = NULL;
            char as[64];
            const size_t last = n - 1;
            ASSERT_OK(td_tensor_create(rows[i].load ? rows[i].tensor : rows[i].memory, TD_SHAPE(n), &from));
            ASSERT_OK(td_tensor_create(rows[i].tensor, TD_SHAPE(n), &to));
            ASSERT_OK(td_memory_create("m", 64, n, &m));
            ASSERT_OK(td_layout_create("a -> a ()", NULL, NULL, &l));
            ASSERT_OK(td_tensor_set_real(from, last, rows[i].value)); /* the others are 0 */
            if (!rows[i].load)
                ASSERT_OK(td_backdoor_load_tensor(m, from, l, NULL));
            snprintf(as, sizeof as, "%s %s error", rows[i].memory, rows[i].words);
            const td_status status =
                rows[i].load ? td_backdoor_load_tensor(m, from, l, as) : td_backdoor_dump_tensor(m, to, l, as);
            if (status != (rows[i].fits ? TD_OK : TD_RANGE))
                fail_msg("%s %s %g as \"%s\": %s", rows[i].load ? "load of" : "dump into", rows[i].tensor,
                         rows[i].value, as, td_status_name(status));
            if (i == 0 && n == 9000)
                assert_string_equal(td_last_error(),
                                    "backdoor_load_tensor \"m\": element 8999 is 65535 (0xffff), which does not fit "
                                    "e10m31 (as \"e10m31 error\"); change the scale, or pass sat in place of error");
            td_tensor_destroy(&from);
            td_tensor_destroy(&to);
            td_memory_destroy(&m);
            td_layout_destroy(&l);
        }
}

/* What rounds to 2^-127, the smallest number of e8m0, has a place in it. */
static void the_lower_end_of_e8m0(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *as;
        bool fits;
    } rows[] = {
        {0x1p-127, "e8m0 error", true},
        {0x1.9p-128, "e8m0 error", true},
        {0x1.8p-128, "e8m0 error", true},
        {0x1.7fp-128, "e8m0 error", false},
        {0x1p-128, "e8m0 error", false},
        {0x1.ffp-128, "e8m0 error round=floor", false},
        {0x1p-128, "e8m0 error round=ceil", false},
        {0x1.01p-128, "e8m0 error round=ceil", true},
        {0x1.ffp-129, "e8m0 error", false},
        {0x1.3p-129, "e8m0 error scale=0.375", true},
        {0x1p-129, "e8m0 error scale=0.375", false},
    };
    static const char *const dtypes[] = {"e11m22", "f64"};
    for (size_t d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            td_tensor *t = NULL, *made = NULL;
            double value = 0;
            ASSERT_OK(td_tensor_create(dtypes[d], TD_SHAPE(1), &t));
            ASSERT_OK(td_tensor_set_real(t, 0, rows[i].value));
            const td_status status = td_tensor_convert(t, rows[i].as, &made);
            if ((status == TD_OK) != rows[i].fits)
                fail_msg("%a in %s as \"%s\": %s", rows[i].value, dtypes[d], rows[i].as, td_status_name(status));
            if (made)
                ASSERT_OK(td_tensor_get_real(made, 0, &value));
            assert_true(!made || value == 0x1p-127);
            td_tensor_destroy(&t);
            td_tensor_destroy(&made);
        }
}

/* The same out of a memory. */
static void the_lower_end_of_e8m0_in_dumps(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *scale;
        bool fits;
    } rows[] = {
        {0x1p-127, "", true},
        {0x1.8p-128, "", true},
        {0x1.7fp-128, "", false},
        {0x1p-129, " scale=3", true},
        {0x1.8p-129, " scale=2", true},
        {0x1p-130, " scale=3", false},
        {0x1p-128, " scale=0.5", false},
    };
    static const char *const dtypes[] = {"e11m22", "f64"};
    td_layout *l = NULL;
    ASSERT_OK(td_layout_create("c -> 1 c", NULL, NULL, &l));
    for (size_t d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            td_tensor *from = NULL, *to = NULL;
            td_memory *m = NULL;
            char as[64];
            double value = 0;
            snprintf(as, sizeof as, "%s error%s", dtypes[d], rows[i].scale);
            ASSERT_OK(td_tensor_create(dtypes[d], TD_SHAPE(1), &from));
            ASSERT_OK(td_tensor_set_real(from, 0, rows[i].value));
            ASSERT_OK(td_tensor_create("e8m0", TD_SHAPE(1), &to));
            ASSERT_OK(td_tensor_set_real(to, 0, 4));
            ASSERT_OK(td_memory_create("m", 64, 1, &m));
            ASSERT_OK(td_backdoor_load_tensor(m, from, l, NULL));
            const td_status status = td_backdoor_dump_tensor(m, to, l, as);
            if (status != (rows[i].fits ? TD_OK : TD_RANGE))
                fail_msg("e8m0 as \"%s\" of %a: %s", as, rows[i].value, td_status_name(status));
            ASSERT_OK(td_tensor_get_real(to, 0, &value));
            assert_true(value == (rows[i].fits ? 0x1p-127 : 4));
            td_tensor_destroy(&from), td_tensor_destroy(&to);
            td_memory_destroy(&m);
        }
    td_layout_destroy(&l);
}

static void a_tensor_in_another_dtype(void **state)
{
    (void)state;
    const double in[] = {0, 0.1, -0.26, 100};
    td_tensor *t = tensor_of("f32", TD_SHAPE(2, 2), in), *out = NULL;
    ASSERT_OK(td_tensor_convert(t, "i8 scale=0.05 zero=3", &out));
    assert_string_equal(td_tensor_dtype(out), "i8");
    assert_int_equal(td_tensor_shape(out).dim[1], 2);
    assert_memory_equal(td_tensor_data(out), ((signed char[]){3, 5, -2, 127}), 4);
    td_tensor_destroy(&out);
    ASSERT_REFUSED(td_tensor_convert(t, "i8 scale=0.05 error", &out), TD_RANGE,
                   "tensor_convert: element 3 is 100 (0x42c80000), which does not fit i8 (as \"i8 error\"); change the "
                   "scale, or pass sat in "
                   "place of error");
    assert_null(out);
    ASSERT_REFUSED(
        td_tensor_convert(t, "i8 scale=@x axis=c", &out), TD_OPTION,
        "tensor_convert: scale=@x: no tensor of that name; give it one with scales_set, or name a file like @x.npy");
    ASSERT_REFUSED(td_tensor_convert(NULL, "i8", &out), TD_ARGUMENT,
                   "tensor_convert: the tensor is NULL; pass a tensor and a place for the new one");
    td_tensor *s = tensor_of("f32", TD_SHAPE(2), three);
    ASSERT_OK(td_scales_set("s", s));
    ASSERT_REFUSED(td_tensor_convert(t, "i8 scale=@s axis=c", &out), TD_OPTION,
                   "tensor_convert: axis=c is not the number of a dimension; use a dimension from 0 to 1");
    ASSERT_OK(td_tensor_convert(t, "f32 scale=@s axis=0", &out));
    double value = 0;
    ASSERT_OK(td_tensor_get_real(out, 3, &value));
    assert_true(value == 200);
    ASSERT_OK(td_scales_set("s", NULL));
    td_tensor_destroy(&s), td_tensor_destroy(&t), td_tensor_destroy(&out);
}

static void tensors_in_text(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        td_shape shape;
        const char *text;
    } cases[] = {
        {"i16", {2, {2, 3}}, "i16 (2, 3)\n[[0 1 2]\n [3 4 5]]"},
        {"f32", {1, {3}}, "f32 (3)\n[0. 1. 2.]"},
        {"u8", {0, {0}}, "u8 ()\n0"},
        {"u8", {3, {2, 1, 2}}, "u8 (2, 1, 2)\n[[[0 1]]\n\n [[2 3]]]"},
        {"i32", {2, {1, 11}}, "i32 (1, 11)\n[[ 0  1  2  3  4  5  6  7  8  9 10]]"},
        {"u16",
         {2, {40, 40}},
         "u16 (40, 40)\n[[   0    1    2 ...   37   38   39]\n [  40   41   42 ...   77   78   79]\n [  80   81   82 "
         "...  117  118  119]\n "
         "...\n [1480 1481 1482 ... 1517 1518 1519]\n [1520 1521 1522 ... 1557 1558 1559]\n [1560 1561 1562 ... 1597 "
         "1598 1599]]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_tensor *t = ramp(cases[i].dtype, cases[i].shape);
        char *text = NULL;
        ASSERT_OK(td_tensor_text(t, &text));
        assert_string_equal(text, cases[i].text);
        td_free(text);
        td_tensor_destroy(&t);
    }
    const double in[] = {0.1, -1e-7, INFINITY, NAN};
    td_tensor *t = tensor_of("f16", TD_SHAPE(4), in);
    char *text = NULL;
    ASSERT_OK(td_tensor_text(t, &text));
    assert_string_equal(text, "f16 (4)\n[   0.1 -1e-07    inf    nan]");
    td_free(text);
    td_tensor_destroy(&t);
    ASSERT_REFUSED(td_tensor_text(NULL, &text), TD_ARGUMENT,
                   "tensor_text: the tensor is NULL; pass a tensor and a place for the text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scale_for_each_channel),
        cmocka_unit_test(calls_in_turn),
        cmocka_unit_test(refusals),
        cmocka_unit_test(elements_as_numbers),
        cmocka_unit_test(the_lower_end_of_e8m0),
        cmocka_unit_test(the_lower_end_of_e8m0_in_dumps),
        cmocka_unit_test(stochastic_rounding_out_of_the_range),
        cmocka_unit_test(scaled_past_the_work_precision),
        cmocka_unit_test(a_tensor_in_another_dtype),
        cmocka_unit_test(tensors_in_text),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
