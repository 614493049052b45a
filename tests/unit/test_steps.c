/* Steps on tensors: parts, joins and transpositions against plain index arithmetic, elementwise steps on floats of few
 * bits against tables of all their values, whole tensors in blocks and on threads, and the text of every refusal. The
 * kernels below have a test of their own (src/check/arith.c). */
#include "support.h"

#include "tensor/slice.h"
#include "tensor/steps.h"

#include <math.h>

static td_tensor *make(const char *dtype, td_shape shape)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create(dtype, shape, &t));
    return t;
}

static td_tensor *ramp(const char *dtype, td_shape shape)
{
    td_tensor *t = make(dtype, shape);
    ASSERT_OK(td_tensor_fill_ramp(t, 0, 1));
    return t;
}

static td_tensor *vector(const char *dtype, size_t count, const double *values)
{
    td_tensor *t = make(dtype, (td_shape){1, {count}});
    for (size_t i = 0; i < count; i++)
        ASSERT_OK(td_tensor_set_real(t, i, values[i]));
    return t;
}

#define VECTOR(dtype, ...) vector(dtype, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static double at(const td_tensor *t, uint64_t elem)
{
    double value = 0;
    ASSERT_OK(td_tensor_get_real(t, elem, &value));
    return value;
}

static void assert_values(td_tensor *t, size_t count, const double *values)
{
    assert_int_equal(td_tensor_elems(t), count);
    for (size_t i = 0; i < count; i++)
        if (at(t, i) != values[i])
            fail_msg("element %zu is %.17g, expected %.17g", i, at(t, i), values[i]);
    td_tensor_destroy(&t);
}

#define ASSERT_VALUES(tensor, ...)                                                                                     \
    assert_values(tensor, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

/* -- parts -- */

static void slices(void **state)
{
    (void)state;
    td_tensor *t = ramp("i16", TD_SHAPE(3, 4, 5)), *out = NULL;
    static const struct {
        const char *text;
        td_shape shape;
        double first, last;
        int contiguous;
    } cases[] = {
        {"", {3, {3, 4, 5}}, 0, 59, 1},
        {":", {3, {3, 4, 5}}, 0, 59, 1},
        {"...", {3, {3, 4, 5}}, 0, 59, 1},
        {"1", {2, {4, 5}}, 20, 39, 1},
        {"-1", {2, {4, 5}}, 40, 59, 1},
        {"2, 3, 4", {0, {0}}, 59, 59, 1},
        {"1, 1:3", {2, {2, 5}}, 25, 34, 1},
        {"1:", {3, {2, 4, 5}}, 20, 59, 1},
        {":, 1", {2, {3, 5}}, 5, 49, 0},
        {"..., 2", {2, {3, 4}}, 2, 57, 0},
        {"0, ..., ::2", {2, {4, 3}}, 0, 19, 0},
        {"0 , 0, ::-1", {1, {5}}, 4, 0, 0},
        {"::-1, 0, 0", {1, {3}}, 40, 0, 0},
        {"0, 0, 3:0:-2", {1, {2}}, 3, 1, 0},
        {"0, 0, -3:-1", {1, {2}}, 2, 3, 1},
        {"0, 0, 1:100:100", {1, {1}}, 1, 1, 1},
        {"0, 0, -100:2", {1, {2}}, 0, 1, 1},
        {"0, 0, :-100:-4", {1, {2}}, 4, 0, 0},
        {"0:1, 2:3, :", {3, {1, 1, 5}}, 10, 14, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ASSERT_OK(td_tensor_slice(t, cases[i].text, &out));
        const td_shape shape = td_tensor_shape(out);
        assert_memory_equal(&shape, &cases[i].shape, sizeof shape);
        assert_true(at(out, 0) == cases[i].first);
        assert_true(at(out, td_tensor_elems(out) - 1) == cases[i].last);
        td_slice slice;
        uint64_t first = 0;
        ASSERT_OK(td_slice_parse(cases[i].text, &t->shape, &slice));
        assert_int_equal(td_slice_contiguous(&slice, &t->shape, &first), cases[i].contiguous);
        if (cases[i].contiguous)
            assert_true((double)first == cases[i].first);
        td_tensor_destroy(&out);
    }
    td_tensor_destroy(&t);
}

/* Every element of parts of every kind, against indices. */
static void slices_take_the_right_elements(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"u8", "i16", "f32", "u64"};
    for (size_t k = 0; k < 4; k++) {
        td_tensor *t = ramp(dtypes[k], TD_SHAPE(7, 3, 11)), *out = NULL;
        for (int step = -5; step <= 5; step++) {
            if (!step)
                continue;
            char text[64];
            snprintf(text, sizeof text, "::%d, 1:, ::%d", step, -step);
            ASSERT_OK(td_tensor_slice(t, text, &out));
            const td_shape shape = td_tensor_shape(out);
            uint64_t elem = 0;
            for (uint64_t i = 0; i < shape.dim[0]; i++)
                for (uint64_t j = 0; j < shape.dim[1]; j++)
                    for (uint64_t l = 0; l < shape.dim[2]; l++) {
                        const int64_t x = (step < 0 ? 6 : 0) + (int64_t)i * step,
                                      z = (step > 0 ? 10 : 0) - (int64_t)l * step;
                        const double want = (double)((x * 3 + (int64_t)j + 1) * 11 + z);
                        assert_true(at(out, elem++) == fmod(want, k == 0 ? 256 : 1e9));
                    }
            td_tensor_destroy(&out);
        }
        td_tensor_destroy(&t);
    }
}

static void slices_that_are_refused(void **state)
{
    (void)state;
    td_tensor *t = ramp("u8", TD_SHAPE(3, 4)), *out = NULL;
    ASSERT_REFUSED(td_tensor_slice(t, "3", &out), TD_RANGE,
                   "tensor_slice: slice \"3\": index 3 in dimension 0, which has 3 elements; the last is 2");
    ASSERT_REFUSED(td_tensor_slice(t, "0, -5", &out), TD_RANGE,
                   "tensor_slice: slice \"0, -5\": index -5 in dimension 1, which has 4 elements; the last is 3");
    ASSERT_REFUSED(td_tensor_slice(t, "2:2", &out), TD_SHAPE,
                   "tensor_slice: slice \"2:2\" takes no element of dimension 0, which has 3; take one");
    ASSERT_REFUSED(td_tensor_slice(t, "::0", &out), TD_OPTION,
                   "tensor_slice: slice \"::0\": a step of 0 in dimension 0; pass another");
    ASSERT_REFUSED(td_tensor_slice(t, "0, x", &out), TD_OPTION,
                   "tensor_slice: slice \"0, x\": unexpected character 'x' at column 4; write it as \"3, 0:16:2, :\"");
    ASSERT_REFUSED(td_tensor_slice(t, "0,", &out), TD_OPTION,
                   "tensor_slice: slice \"0,\": unexpected end at column 3; write it as \"3, 0:16:2, :\"");
    ASSERT_REFUSED(td_tensor_slice(t, "0 1", &out), TD_OPTION,
                   "tensor_slice: slice \"0 1\": unexpected character '1' at column 3; write it as \"3, 0:16:2, :\"");
    ASSERT_REFUSED(td_tensor_slice(t, "0, 0, 0", &out), TD_SHAPE,
                   "tensor_slice: slice \"0, 0, 0\" is of more than the 2 dimensions of shape (3, 4); leave some out");
    ASSERT_REFUSED(td_tensor_slice(NULL, "0", &out), TD_ARGUMENT, "tensor_slice: the tensor is NULL; pass one");
    ASSERT_REFUSED(td_tensor_slice(t, NULL, &out), TD_ARGUMENT, "tensor_slice: the text is NULL; pass one");
    ASSERT_REFUSED(td_tensor_slice(t, "0", NULL), TD_ARGUMENT, "tensor_slice: the output is NULL; pass one");
    assert_null(out);
    td_tensor_destroy(&t);
}

/* -- order -- */

static void transposes(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"u8", "i16", "f32", "u64"};
    static const struct {
        const char *text;
        size_t order[4];
    } orders[] = {{"", {3, 2, 1, 0}},         {NULL, {3, 2, 1, 0}},      {"0 1 2 3", {0, 1, 2, 3}},
                  {"0,2,1,3", {0, 2, 1, 3}},  {"3 0 1 2", {3, 0, 1, 2}}, {"1 2 3 0", {1, 2, 3, 0}},
                  {" 0 1 3 2 ", {0, 1, 3, 2}}};
    const td_shape shape = TD_SHAPE(3, 17, 1, 70);
    for (size_t k = 0; k < 4; k++)
        for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++) {
            td_tensor *t = make(dtypes[k], shape), *out = NULL;
            ASSERT_OK(td_tensor_fill_random(t, 7 + o));
            ASSERT_OK(td_tensor_transpose(t, orders[o].text, &out));
            const td_shape made = td_tensor_shape(out);
            for (uint64_t e = 0; e < td_tensor_elems(out); e++) {
                uint64_t rest = e, from = 0, to[4], got = 0, want = 0;
                for (size_t d = 4; d-- > 0; rest /= made.dim[d])
                    to[orders[o].order[d]] = rest % made.dim[d];
                for (size_t d = 0; d < 4; d++)
                    from = from * shape.dim[d] + to[d];
                ASSERT_OK(td_tensor_get_bits(out, e, &got));
                ASSERT_OK(td_tensor_get_bits(t, from, &want));
                assert_int_equal(got, want);
            }
            td_tensor_destroy(&out);
            td_tensor_destroy(&t);
        }
    td_tensor *t = ramp("u8", TD_SHAPE(2, 3)), *out = NULL;
    static const char *const wrong[] = {"0", "0 0", "0 1 2", "0 2", "0 x", "1 -1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[160];
        snprintf(text, sizeof text,
                 "tensor_transpose: order \"%s\" does not have each dimension from 0 to 1 once; write it as \"1 0\"",
                 wrong[i]);
        ASSERT_REFUSED(td_tensor_transpose(t, wrong[i], &out), TD_OPTION, text);
    }
    td_tensor *three = ramp("u8", TD_SHAPE(2, 3, 4));
    ASSERT_REFUSED(
        td_tensor_transpose(three, "0 1", &out), TD_OPTION,
        "tensor_transpose: order \"0 1\" does not have each dimension from 0 to 2 once; write it as \"2 1 0\"");
    td_tensor_destroy(&three);
    ASSERT_REFUSED(td_tensor_transpose(NULL, "", &out), TD_ARGUMENT, "tensor_transpose: the tensor is NULL; pass one");
    ASSERT_REFUSED(td_tensor_transpose(t, "", NULL), TD_ARGUMENT, "tensor_transpose: the output is NULL; pass one");
    td_tensor_destroy(&t);
    t = ramp("u8", (td_shape){0});
    ASSERT_OK(td_tensor_transpose(t, "", &out));
    td_tensor_destroy(&out);
    td_tensor_destroy(&t);
}

static void concats(void **state)
{
    (void)state;
    td_tensor *a = ramp("i8", TD_SHAPE(2, 3)), *b = ramp("i8", TD_SHAPE(2, 1)), *c = ramp("u8", TD_SHAPE(2, 3)),
              *out = NULL;
    ASSERT_OK(td_tensor_concat((const td_tensor *[]){a, b, a}, 3, 1, &out));
    assert_int_equal(td_tensor_shape(out).dim[1], 7);
    ASSERT_VALUES(out, 0, 1, 2, 0, 0, 1, 2, 3, 4, 5, 1, 3, 4, 5);
    ASSERT_OK(td_tensor_concat((const td_tensor *[]){a, a}, 2, 0, &out));
    ASSERT_VALUES(out, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5);
    out = NULL;
    ASSERT_REFUSED(td_tensor_concat((const td_tensor *[]){a, b}, 2, 0, &out), TD_SHAPE,
                   "tensor_concat: tensor 1 has shape (2, 1), the first (2, 3); all extents but those of dimension 0 "
                   "have to be equal");
    ASSERT_REFUSED(td_tensor_concat((const td_tensor *[]){a, c}, 2, 0, &out), TD_DTYPE,
                   "tensor_concat: tensor 1 is u8, the first i8; convert one of them first");
    ASSERT_REFUSED(td_tensor_concat((const td_tensor *[]){a, NULL}, 2, 0, &out), TD_ARGUMENT,
                   "tensor_concat: tensor 1 is NULL; pass one");
    ASSERT_REFUSED(td_tensor_concat((const td_tensor *[]){a}, 1, 2, &out), TD_ARGUMENT,
                   "tensor_concat: axis 2 of tensors of 2 dimensions; pass one from 0 on that they have");
    ASSERT_REFUSED(td_tensor_concat((const td_tensor *[]){NULL}, 1, 0, &out), TD_ARGUMENT,
                   "tensor_concat: tensor 0 is NULL; pass at least one tensor");
    ASSERT_REFUSED(td_tensor_concat((const td_tensor *[]){a}, 0, 0, &out), TD_ARGUMENT,
                   "tensor_concat: no tensors to join; pass at least one tensor");
    ASSERT_REFUSED(td_tensor_concat((const td_tensor *[]){a}, 1, 0, NULL), TD_ARGUMENT,
                   "tensor_concat: the output is NULL; pass one");
    assert_null(out);
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
    td_tensor_destroy(&c);
}

/* -- values -- */

static void values_past_the_range(void **state)
{
    (void)state;
    td_tensor *a = VECTOR("i8", 100, -100, 3, -128), *b = VECTOR("i8", 100, -100, 4, -1), *out = NULL;
    ASSERT_OK(td_tensor_add(a, b, "sat", &out));
    ASSERT_VALUES(out, 127, -128, 7, -128);
    ASSERT_OK(td_tensor_add(a, b, "wrap", &out));
    ASSERT_VALUES(out, -56, 56, 7, 127);
    ASSERT_OK(td_tensor_mul(a, b, "sat", &out));
    ASSERT_VALUES(out, 127, 127, 12, 127);
    ASSERT_OK(td_tensor_mul(a, b, "wrap", &out));
    ASSERT_VALUES(out, 16, 16, 12, -128);
    ASSERT_OK(td_tensor_scale(a, 0.05, NULL, &out));
    ASSERT_VALUES(out, 5, -5, 0, -6);
    ASSERT_OK(td_tensor_scale(a, 0.5, "", &out)); /* 1.5 to even */
    ASSERT_VALUES(out, 50, -50, 2, -64);
    ASSERT_OK(td_tensor_scale(a, 1e30, "sat", &out));
    ASSERT_VALUES(out, 127, -128, 127, -128);
    ASSERT_OK(td_tensor_scale(a, 0x1p60, "wrap", &out));
    ASSERT_VALUES(out, 0, 0, 0, 0);
    ASSERT_OK(td_tensor_clamp(a, -4, 50, &out));
    ASSERT_VALUES(out, 50, -4, 3, -4);
    ASSERT_OK(td_tensor_clamp(a, -(double)INFINITY, 1e9, &out));
    ASSERT_VALUES(out, 100, -100, 3, -128);
    out = NULL;
    ASSERT_REFUSED(td_tensor_add(a, b, NULL, &out), TD_RANGE,
                   "tensor_add: element (0): 100 + 100 is past the range of i8, -128 to 127; pass sat or wrap, or "
                   "convert the tensor to a wider type first");
    ASSERT_REFUSED(td_tensor_mul(a, b, "error", &out), TD_RANGE,
                   "tensor_mul: element (0): 100 * 100 is past the range of i8, -128 to 127; pass sat or wrap, or "
                   "convert the tensor to a wider type first");
    ASSERT_REFUSED(td_tensor_scale(a, -1.25, NULL, &out), TD_RANGE,
                   "tensor_scale: element (3): -128 * -1.25 is past the range of i8, -128 to 127; pass sat or wrap, or "
                   "convert the tensor to a wider type first");
    assert_null(out);
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);

    a = VECTOR("q4.4", 7.5, -8, 0.0625, 1.5);
    b = VECTOR("q4.4", 2, 0.5, 0.5, 1.25);
    ASSERT_OK(td_tensor_mul(a, b, "sat", &out)); /* 0.03125 is half a step, to even */
    ASSERT_VALUES(out, 7.9375, -4, 0, 1.875);
    out = NULL;
    ASSERT_REFUSED(td_tensor_add(a, b, NULL, &out), TD_RANGE,
                   "tensor_add: element (0): 7.5 + 2 is past the range of q4.4, -8 to 7.9375; pass sat or wrap, or "
                   "convert the tensor to a wider type first");
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);

    a = VECTOR("u64", 18446744073709549568.0, 3);
    b = VECTOR("u64", 4096, 5);
    ASSERT_OK(td_tensor_add(a, b, "wrap", &out));
    ASSERT_VALUES(out, 2048, 8);
    out = NULL;
    ASSERT_REFUSED(td_tensor_mul(a, b, NULL, &out), TD_RANGE,
                   "tensor_mul: element (0): 18446744073709549568 * 4096 is past the range of u64, 0 to "
                   "18446744073709551615; pass sat or wrap, or convert the tensor to a wider type first");
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
}

/* Only an element's own bits count, whatever stands above them. */
static void bits_above_the_element(void **state)
{
    (void)state;
    td_tensor *a = make("i4", TD_SHAPE(2)), *b = make("i4", TD_SHAPE(2)), *out = NULL;
    memcpy(td_tensor_data(a), "\x53\xaf", 2); /* 3 and -1 */
    memcpy(td_tensor_data(b), "\xf2\x0d", 2); /* 2 and -3 */
    ASSERT_OK(td_tensor_add(a, b, NULL, &out));
    assert_memory_equal(td_tensor_data(out), "\x05\xfc", 2);
    td_tensor_destroy(&out);
    ASSERT_OK(td_tensor_clamp(a, 0, 2, &out));
    assert_memory_equal(td_tensor_data(out), "\x02\x00", 2);
    td_tensor_destroy(&out);
    ASSERT_OK(td_tensor_scale(a, 0x1p55, "wrap", &out));
    assert_memory_equal(td_tensor_data(out), "\x00\x00", 2);
    td_tensor_destroy(&out);
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
}

/* The values of a float of few bits, from the words of its definition. */
typedef struct small_float {
    const char *dtype;
    int exp_bits, man_bits;
    int finite; /* 0: IEEE; 1: the highest exponent has numbers and one NaN; 2: no NaN at all */
    int sat;    /* what is past the range by default */
} small_float;

static double value_of(const small_float *f, unsigned code)
{
    const int bits = 1 + f->exp_bits + f->man_bits, bias = (1 << (f->exp_bits - 1)) - 1;
    const int man = (int)(code & ((1u << f->man_bits) - 1)),
              exp = (int)(code >> f->man_bits & ((1u << f->exp_bits) - 1));
    const double sign = code >> (bits - 1) & 1 ? -1 : 1;
    const int top = (1 << f->exp_bits) - 1;
    if (exp == top && f->finite == 0)
        return man ? (double)NAN : sign * (double)INFINITY;
    if (exp == top && f->finite == 1 && man == (1 << f->man_bits) - 1)
        return (double)NAN;
    return sign *
           (exp ? ldexp((1 << f->man_bits) + man, exp - bias - f->man_bits) : ldexp(man, 1 - bias - f->man_bits));
}

/* The code of the nearest value: magnitudes grow with their codes, a tie goes to the even one. */
static unsigned code_of(const small_float *f, double value)
{
    const unsigned sign = signbit(value) ? 1u << (f->exp_bits + f->man_bits) : 0,
                   count = 1u << (f->exp_bits + f->man_bits);
    unsigned most = 0, nan = 0;
    for (unsigned c = 0; c < count; c++) {
        most = isfinite(value_of(f, c)) ? c : most;
        nan = isnan(value_of(f, c)) && (!nan || f->finite) ? c : nan;
    }
    if (isnan(value))
        return f->finite == 2 ? most : f->finite == 1 ? nan : count - (1u << f->man_bits) + (1u << (f->man_bits - 1));
    const double x = fabs(value), top = value_of(f, most), step = top - value_of(f, most - 1);
    if (x >= top + step / 2)
        return sign | (f->sat ? most : count - (1u << f->man_bits));
    for (unsigned c = 0; c <= most; c++) {
        const double here = value_of(f, c), next = c == most ? top + step : value_of(f, c + 1);
        if (x == here || (x > here && x < next && (x - here < next - x || (x - here == next - x && c % 2 == 0))))
            return sign | c;
        if (x > here && x < next && c < most)
            return sign | (c + 1);
    }
    return sign | most;
}

static void small_floats(void **state)
{
    (void)state;
    static const small_float all[] = {
        {"e4m3", 4, 3, 1, 1}, {"e5m2", 5, 2, 0, 1}, {"e2m1", 2, 1, 2, 1}, {"e3m2", 3, 2, 2, 1}, {"e3m4", 3, 4, 0, 1}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        const small_float *f = &all[k];
        const unsigned codes = 1u << (1 + f->exp_bits + f->man_bits);
        td_tensor *a = make(f->dtype, TD_SHAPE(codes, codes)), *b = make(f->dtype, TD_SHAPE(codes)), *out[4] = {0};
        unsigned char *x = td_tensor_data(a), *y = td_tensor_data(b);
        for (unsigned i = 0; i < codes * codes; i++)
            x[i] = (unsigned char)(i / codes);
        for (unsigned i = 0; i < codes; i++)
            y[i] = (unsigned char)i;
        ASSERT_OK(td_tensor_add(a, b, NULL, &out[0]));
        ASSERT_OK(td_tensor_mul(a, b, NULL, &out[1]));
        ASSERT_OK(td_tensor_scale(a, 0.7, NULL, &out[2]));
        ASSERT_OK(td_tensor_clamp(a, -1, 0.5, &out[3]));
        for (unsigned i = 0; i < codes * codes; i++) {
            const float u = (float)value_of(f, i / codes), v = (float)value_of(f, i % codes);
            const float want[] = {u + v, u * v, u * 0.7f, u < -1 ? -1 : u > 0.5f ? 0.5f : u};
            for (size_t op = 0; op < 4; op++) {
                const unsigned got = ((const unsigned char *)td_tensor_data_const(out[op]))[i];
                const unsigned code = code_of(f, (double)want[op]);
                if (op > 1 && i % codes)
                    continue;
                if (got != code)
                    fail_msg("%s, step %zu: %g and %g give 0x%x, expected 0x%x", f->dtype, op, (double)u, (double)v,
                             got, code);
            }
        }
        for (size_t op = 0; op < 4; op++)
            td_tensor_destroy(&out[op]);
        td_tensor_destroy(&a);
        td_tensor_destroy(&b);
    }
}

static void floats_past_the_range(void **state)
{
    (void)state;
    td_tensor *a = VECTOR("f16", 65504, -65504, 1), *b = VECTOR("f16", 65504, -65504, 0x1p-11), *out = NULL;
    ASSERT_OK(td_tensor_add(a, b, NULL, &out));
    ASSERT_VALUES(out, (double)INFINITY, -(double)INFINITY, 1); /* 1 + 2^-11 is half way, to even */
    ASSERT_OK(td_tensor_add(a, b, "sat", &out));
    ASSERT_VALUES(out, 65504, -65504, 1);
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
    a = VECTOR("f32", 3e38, -3e38, 2);
    ASSERT_OK(td_tensor_scale(a, 2, "sat", &out));
    ASSERT_VALUES(out, 0x1.fffffep127, -0x1.fffffep127, 4);
    ASSERT_OK(td_tensor_scale(a, 2, "inf", &out));
    ASSERT_VALUES(out, (double)INFINITY, -(double)INFINITY, 4);
    td_tensor_destroy(&a);
    a = VECTOR("e11m10", 1e300, 3, 1);
    ASSERT_OK(td_tensor_scale(a, 1e-300, NULL, &out)); /* in f64 */
    assert_true(at(out, 0) == 1);
    td_tensor_destroy(&out);
    td_tensor_destroy(&a);
}

/* -- broadcasting -- */

static void broadcasts(void **state)
{
    (void)state;
    static const struct {
        td_shape shape;
        const char *options;
        uint64_t strides[3];
    } cases[] = {
        {{3, {5, 70, 9}}, "", {630, 9, 1}}, {{0, {0}}, "", {0, 0, 0}},          {{1, {9}}, "", {0, 0, 1}},
        {{2, {70, 1}}, "", {0, 1, 0}},      {{2, {70, 9}}, "", {0, 9, 1}},      {{3, {5, 1, 1}}, "", {1, 0, 0}},
        {{3, {5, 1, 9}}, "", {9, 0, 1}},    {{1, {5}}, "axis=0", {1, 0, 0}},    {{1, {70}}, "axis=1", {0, 1, 0}},
        {{2, {1, 9}}, "axis=2", {0, 0, 1}}, {{4, {1, 5, 1, 9}}, "", {9, 0, 1}},
    };
    td_tensor *a = ramp("i32", TD_SHAPE(5, 70, 9)), *out = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_tensor *b = make("i32", cases[i].shape);
        ASSERT_OK(td_tensor_fill_ramp(b, 1000, 7));
        ASSERT_OK(td_tensor_add(a, b, cases[i].options, &out));
        for (uint64_t e = 0; e < 5 * 70 * 9; e++) {
            const uint64_t *s = cases[i].strides, place = e / 630 * s[0] + e / 9 % 70 * s[1] + e % 9 * s[2];
            assert_true(at(out, e) == (double)(e + 1000 + 7 * place));
        }
        td_tensor_destroy(&out);
        td_tensor_destroy(&b);
    }
    td_tensor *b = ramp("i32", TD_SHAPE(70)), *c = ramp("i16", TD_SHAPE(9)), *d = ramp("i32", TD_SHAPE(2, 5, 70, 9));
    ASSERT_REFUSED(
        td_tensor_add(a, b, NULL, &out), TD_SHAPE,
        "tensor_add: shape (70) cannot be broadcast into (5, 70, 9); from the last dimension on every extent "
        "has to be equal or 1, or pass axis=N for a vector along dimension N");
    ASSERT_REFUSED(td_tensor_add(a, d, NULL, &out), TD_SHAPE,
                   "tensor_add: shape (2, 5, 70, 9) cannot be broadcast into (5, 70, 9); from the last dimension on "
                   "every extent has to be equal or 1, or pass axis=N for a vector along dimension N");
    ASSERT_REFUSED(td_tensor_mul(a, b, "axis=0", &out), TD_SHAPE,
                   "tensor_mul: axis=0: shape (70) is no vector along that dimension of (5, 70, 9); pass one of its "
                   "length");
    ASSERT_REFUSED(td_tensor_mul(a, b, "axis=3", &out), TD_SHAPE,
                   "tensor_mul: axis=3: shape (70) is no vector along that dimension of (5, 70, 9); pass one of its "
                   "length");
    ASSERT_REFUSED(td_tensor_mul(a, c, NULL, &out), TD_DTYPE,
                   "tensor_mul: the second tensor is i16, the first i32; convert one of them first");
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
    td_tensor_destroy(&c);
    td_tensor_destroy(&d);
}

/* Many blocks, on threads: what is refused is the first of all elements that do not fit. */
static void large_tensors(void **state)
{
    (void)state;
    td_tensor *a = make("i16", TD_SHAPE(1 << 10, 1 << 11)), *b = VECTOR("i16", 1), *out = NULL;
    int16_t *data = td_tensor_data(a);
    for (size_t i = 0; i < (size_t)1 << 21; i++)
        data[i] = (int16_t)(i % 30000);
    ASSERT_OK(td_tensor_add(a, b, NULL, &out));
    const int16_t *sums = td_tensor_data_const(out);
    for (size_t i = 0; i < (size_t)1 << 21; i++)
        assert_int_equal(sums[i], i % 30000 + 1);
    td_tensor_destroy(&out);
    data[(5 << 11) + 77] = data[(900 << 11) + 3] = 32767;
    ASSERT_REFUSED(
        td_tensor_add(a, b, NULL, &out), TD_RANGE,
        "tensor_add: element (5, 77): 32767 + 1 is past the range of i16, -32768 to 32767; pass sat or wrap, "
        "or convert the tensor to a wider type first");
    assert_null(out);
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
}

/* A run in the place of its operand says the same, and which element it refuses. */
static void runs_in_place(void **state)
{
    (void)state;
    td_step *step = NULL;
    td_dtype dtype;
    ASSERT_OK(td_dtype_parse("i8", &dtype));
    ASSERT_OK(td_step_create(TD_STEP_ADD, dtype, NULL, 0, 0, &step));
    assert_true(td_step_refuses(step));
    int8_t a[700], one = 1;
    for (size_t i = 0; i < 700; i++)
        a[i] = (int8_t)(i % 100);
    assert_int_equal(td_step_run(step, a, a, &one, true, 700), 700);
    for (size_t i = 0; i < 700; i++)
        assert_int_equal(a[i], i % 100 + 1);
    a[613] = 127;
    assert_int_equal(td_step_run(step, a, a, &one, true, 700), 613);
    assert_int_equal(td_step_run(step, a, a, &one, true, 0), 0);
    td_step_destroy(&step);
    assert_null(step);
    td_step_destroy(&step);
    ASSERT_OK(td_step_create(TD_STEP_SCALE, dtype, "wrap", 0x1p50, 0, &step));
    assert_false(td_step_refuses(step));
    for (size_t i = 0; i < 700; i++)
        a[i] = (int8_t)(i % 100);
    assert_int_equal(td_step_run(step, a, a, NULL, false, 700), 700);
    for (size_t i = 0; i < 700; i++)
        assert_int_equal(a[i], 0);
    td_step_destroy(&step);
}

static void options_that_are_refused(void **state)
{
    (void)state;
    td_tensor *a = VECTOR("i8", 1), *f = VECTOR("f32", 1), *e = VECTOR("e4m3", 1), *out = NULL;
    ASSERT_REFUSED(td_tensor_add(a, a, "satt", &out), TD_OPTION,
                   "tensor_add: unknown word \"satt\" in options \"satt\"; did you mean \"sat\"? the words are error, "
                   "sat, wrap, inf and axis=N");
    ASSERT_REFUSED(
        td_tensor_add(a, a, "xyz", &out), TD_OPTION,
        "tensor_add: unknown word \"xyz\" in options \"xyz\"; the words are error, sat, wrap, inf and axis=N");
    ASSERT_REFUSED(td_tensor_add(a, a, "sat wrap", &out), TD_OPTION,
                   "tensor_add: options \"sat wrap\" say two things for results past the range; keep one of them");
    ASSERT_REFUSED(td_tensor_add(a, a, "axis=x", &out), TD_OPTION,
                   "tensor_add: \"axis=x\" in options \"axis=x\" is not the number of one dimension; write axis=0");
    ASSERT_REFUSED(td_tensor_scale(a, 1, "axis=0", &out), TD_OPTION,
                   "tensor_scale: axis=0 is for sums and products of two tensors; leave it out");
    ASSERT_REFUSED(td_tensor_add(a, a, "inf", &out), TD_OPTION,
                   "tensor_add: inf is for floats, and an integer has no infinity; pass error, sat or wrap");
    ASSERT_REFUSED(td_tensor_add(f, f, "wrap", &out), TD_OPTION,
                   "tensor_add: wrap is for integers and fixed point, and the tensor has floats; pass sat or inf");
    ASSERT_REFUSED(td_tensor_scale(a, (double)NAN, NULL, &out), TD_ARGUMENT,
                   "tensor_scale: the factor is nan; pass a finite number");
    ASSERT_REFUSED(td_tensor_scale(a, (double)INFINITY, NULL, &out), TD_ARGUMENT,
                   "tensor_scale: the factor is infinite; pass a finite number");
    ASSERT_REFUSED(
        td_tensor_scale(f, 1e39, NULL, &out), TD_RANGE,
        "tensor_scale: the factor 9.9999999999999994e+38 is past f32, in which the product is computed; pass "
        "a smaller one");
    ASSERT_REFUSED(td_tensor_clamp(a, 2, 1, &out), TD_ARGUMENT,
                   "tensor_clamp: the range from 2 to 1 is empty; pass the lower end first");
    ASSERT_REFUSED(td_tensor_clamp(a, 200, 300, &out), TD_RANGE,
                   "tensor_clamp: no value of i8 is at least 200, it holds -128 to 127; pass a bound in this range");
    ASSERT_REFUSED(td_tensor_clamp(e, -1000, -500, &out), TD_RANGE,
                   "tensor_clamp: no value of e4m3 is at most -500, it holds -448 to 448; pass a bound in this range");
    assert_int_equal(td_tensor_clamp(a, 0.5, 1, &out), TD_RANGE); /* the words are td_tensor_set_real's */
    ASSERT_REFUSED(td_tensor_add(NULL, a, NULL, &out), TD_ARGUMENT, "tensor_add: the first tensor is NULL; pass one");
    ASSERT_REFUSED(td_tensor_mul(a, NULL, NULL, &out), TD_ARGUMENT, "tensor_mul: the second tensor is NULL; pass one");
    ASSERT_REFUSED(td_tensor_scale(NULL, 1, NULL, &out), TD_ARGUMENT, "tensor_scale: the tensor is NULL; pass one");
    ASSERT_REFUSED(td_tensor_clamp(a, 0, 1, NULL), TD_ARGUMENT, "tensor_clamp: the output is NULL; pass one");
    assert_null(out);
    td_tensor_destroy(&a);
    td_tensor_destroy(&f);
    td_tensor_destroy(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices),
        cmocka_unit_test(slices_take_the_right_elements),
        cmocka_unit_test(slices_that_are_refused),
        cmocka_unit_test(transposes),
        cmocka_unit_test(concats),
        cmocka_unit_test(values_past_the_range),
        cmocka_unit_test(bits_above_the_element),
        cmocka_unit_test(small_floats),
        cmocka_unit_test(floats_past_the_range),
        cmocka_unit_test(broadcasts),
        cmocka_unit_test(large_tensors),
        cmocka_unit_test(runs_in_place),
        cmocka_unit_test(options_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
