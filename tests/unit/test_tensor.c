/* Tensors: shapes, storage, single elements and generators, and the text of every refusal. */
#include "support.h"

#include <math.h>

static td_tensor *make(const char *dtype, td_shape shape)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create(dtype, shape, &t));
    return t;
}

static void shapes_from_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        td_shape shape;
    } good[] = {
        {"", {0, {0}}},
        {"  ", {0, {0}}},
        {"7", {1, {7}}},
        {"2 3 4", {3, {2, 3, 4}}},
        {"2,3,4", {3, {2, 3, 4}}},
        {" 2 ,3, 4 ", {3, {2, 3, 4}}},
        {"9223372036854775807", {1, {INT64_MAX}}},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        td_shape got;
        memset(&got, 0xff, sizeof got);
        ASSERT_OK(td_shape_parse(good[i].text, &got));
        assert_memory_equal(&got, &good[i].shape, sizeof got);
    }
    static const struct {
        const char *text;
        const char *message;
    } bad[] = {
        {"2 x", "shape \"2 x\": a number is needed at column 3; write it as \"2 3 4\""},
        {"2x", "shape \"2x\": a number is needed at column 2; write it as \"2 3 4\""},
        {"2,,3", "shape \"2,,3\": a number is needed at column 3; write it as \"2 3 4\""},
        {"2,", "shape \"2,\": a number is needed at column 3; write it as \"2 3 4\""},
        {",2", "shape \",2\": a number is needed at column 1; write it as \"2 3 4\""},
        {"-1", "shape \"-1\": a number is needed at column 1; write it as \"2 3 4\""},
        {"(2, 3)", "shape \"(2, 3)\": a number is needed at column 1; write it as \"2 3 4\""},
        {"2 0 4", "shape \"2 0 4\": an extent of 0 at dimension 1; every extent is at least 1"},
        {"4 9223372036854775808",
         "shape \"4 9223372036854775808\": an extent past 63 bits at dimension 1; use a smaller one"},
        {"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
         "shape \"1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\": more than 32 dimensions; merge "
         "some"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        td_shape got = {.rank = 99};
        ASSERT_REFUSED(td_shape_parse(bad[i].text, &got), TD_SHAPE, bad[i].message);
        assert_int_equal(got.rank, 99);
    }
    td_shape got;
    ASSERT_REFUSED(td_shape_parse(NULL, &got), TD_ARGUMENT,
                   "shape_parse: text is NULL; pass a text such as \"2 3 4\" and a td_shape");
    ASSERT_REFUSED(td_shape_parse("1", NULL), TD_ARGUMENT,
                   "shape_parse: out is NULL; pass a text such as \"2 3 4\" and a td_shape");
}

static void a_new_tensor_is_zero(void **state)
{
    (void)state;
    static const char *const dtypes[] = {"u1", "i4", "i12", "u16", "i33", "u64", "f16", "bf16", "f32", "f64"};
    static const size_t bytes[] = {1, 1, 2, 2, 8, 8, 2, 2, 4, 8};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
        td_tensor *t = make(dtypes[d], TD_SHAPE(2, 3, 4));
        assert_string_equal(td_tensor_dtype(t), dtypes[d]);
        assert_int_equal(td_tensor_elems(t), 24);
        assert_int_equal(td_tensor_elem_bytes(t), bytes[d]);
        td_shape shape = td_tensor_shape(t);
        assert_int_equal(shape.rank, 3);
        assert_int_equal(shape.dim[2], 4);
        assert_ptr_equal(td_tensor_data(t), td_tensor_data_const(t));
        for (size_t i = 0; i < 24 * bytes[d]; i++)
            assert_int_equal(((const unsigned char *)td_tensor_data_const(t))[i], 0);
        td_tensor_destroy(&t);
        assert_null(t);
    }
    td_tensor *scalar = make("i16", (td_shape){0});
    assert_int_equal(td_tensor_elems(scalar), 1);
    td_tensor_destroy(&scalar);

    td_tensor *large = make("u8", TD_SHAPE(3, 4 << 20));
    assert_int_equal(((unsigned char *)td_tensor_data(large))[(12 << 20) - 1], 0);
    ASSERT_OK(td_tensor_set_bits(large, (12 << 20) - 1, 9));
    td_tensor_destroy(&large);
}

static void elements_keep_their_bits(void **state)
{
    (void)state;
    for (unsigned width = 1; width <= 64; width++)
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            char dtype[8];
            snprintf(dtype, sizeof dtype, "%c%u", is_signed ? 'i' : 'u', width);
            td_tensor *t = make(dtype, TD_SHAPE(3));
            uint64_t ones = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
            uint64_t got = 0;
            ASSERT_OK(td_tensor_set_bits(t, 1, ones));
            ASSERT_OK(td_tensor_get_bits(t, 1, &got));
            assert_int_equal(got, ones);
            /* all ones is -1 when signed, so every byte of the element is 0xff; unsigned is zero-extended */
            size_t bytes = td_tensor_elem_bytes(t);
            uint64_t stored = 0;
            memcpy(&stored, (const unsigned char *)td_tensor_data_const(t) + bytes, bytes);
            uint64_t whole = bytes == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * bytes)) - 1;
            assert_int_equal(stored, is_signed ? whole : ones);
            ASSERT_OK(td_tensor_get_bits(t, 0, &got));
            assert_int_equal(got, 0);
            ASSERT_OK(td_tensor_get_bits(t, 2, &got));
            assert_int_equal(got, 0);
            td_tensor_destroy(&t);
        }
}

static void ramps_wrap_and_round(void **state)
{
    (void)state;
    td_tensor *t = make("i8", TD_SHAPE(300));
    ASSERT_OK(td_tensor_fill_ramp(t, -3, 2));
    for (int i = 0; i < 300; i++)
        assert_int_equal(((int8_t *)td_tensor_data(t))[i], (int8_t)(-3 + 2 * i));
    td_tensor_destroy(&t);

    t = make("i4", TD_SHAPE(40));
    ASSERT_OK(td_tensor_fill_ramp(t, 0, 1));
    for (int i = 0; i < 40; i++)
        assert_int_equal(((int8_t *)td_tensor_data(t))[i], ((i + 8) & 15) - 8);
    td_tensor_destroy(&t);

    t = make("u64", TD_SHAPE(4));
    ASSERT_OK(td_tensor_fill_ramp(t, -1, 0x1p62));
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(((uint64_t *)td_tensor_data(t))[i], UINT64_MAX + i * ((uint64_t)1 << 62));
    td_tensor_destroy(&t);

    t = make("f32", TD_SHAPE(1000));
    ASSERT_OK(td_tensor_fill_ramp(t, 0.1, 0.3));
    for (int i = 0; i < 1000; i++) {
        volatile double product = (double)i * 0.3;
        float want = (float)(0.1 + product);
        assert_memory_equal(&want, (float *)td_tensor_data(t) + i, sizeof want);
    }
    td_tensor_destroy(&t);

    t = make("bf16", TD_SHAPE(3)); /* steps of 2: 257.5 goes to 258, 259 to the even of 258 and 260 */
    ASSERT_OK(td_tensor_fill_ramp(t, 256, 1.5));
    const uint16_t want[] = {0x4380, 0x4381, 0x4382};
    assert_memory_equal(td_tensor_data(t), want, sizeof want);
    td_tensor_destroy(&t);

    t = make("i8", TD_SHAPE(2));
    ASSERT_REFUSED(td_tensor_fill_ramp(t, 0.5, 1), TD_ARGUMENT,
                   "tensor_fill_ramp: start 0.5 and step 1 into i8; both need to be whole steps of its lowest bit, "
                   "from -2^63 to below 2^63");
    ASSERT_REFUSED(td_tensor_fill_ramp(t, 0, NAN), TD_ARGUMENT,
                   "tensor_fill_ramp: start 0 and step nan into i8; both need to be whole steps of its lowest bit, "
                   "from -2^63 to below 2^63");
    td_tensor_destroy(&t);
    ASSERT_REFUSED(td_tensor_fill_ramp(NULL, 0, 1), TD_ARGUMENT,
                   "tensor_fill_ramp: tensor is NULL; pass one from td_tensor_create or td_tensor_open");
}

static void random_is_the_same_everywhere(void **state)
{
    (void)state;
    /* The first outputs of splitmix64 from state 0. */
    td_tensor *t = make("u64", TD_SHAPE(2));
    ASSERT_OK(td_tensor_fill_random(t, 0));
    const uint64_t want[] = {0xe220a8397b1dcdafu, 0x6e789e6aa1b965f4u};
    assert_memory_equal(td_tensor_data(t), want, sizeof want);
    td_tensor_destroy(&t);

    td_tensor *a = make("i5", TD_SHAPE(1000));
    td_tensor *b = make("i5", TD_SHAPE(1000));
    ASSERT_OK(td_tensor_fill_random(a, 7));
    ASSERT_OK(td_tensor_fill_random(b, 7));
    assert_memory_equal(td_tensor_data(a), td_tensor_data(b), 1000);
    int seen[32] = {0};
    for (int i = 0; i < 1000; i++) {
        int value = (int)((int8_t *)td_tensor_data(a))[i];
        assert_in_range(value + 16, 0, 31);
        seen[value + 16] = 1;
    }
    for (int v = 0; v < 32; v++)
        assert_int_equal(seen[v], 1);
    ASSERT_OK(td_tensor_fill_random(b, 8));
    assert_memory_not_equal(td_tensor_data(a), td_tensor_data(b), 1000);
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);

    t = make("f16", TD_SHAPE(20000));
    ASSERT_OK(td_tensor_fill_random(t, 3));
    int negative = 0;
    for (int i = 0; i < 20000; i++) {
        uint16_t bits = ((uint16_t *)td_tensor_data(t))[i];
        assert_int_not_equal(bits & 0x7c00, 0x7c00);
        negative += bits >> 15;
    }
    assert_in_range(negative, 9000, 11000);
    td_tensor_destroy(&t);
    ASSERT_REFUSED(td_tensor_fill_random(NULL, 0), TD_ARGUMENT,
                   "tensor_fill_random: tensor is NULL; pass one from td_tensor_create or td_tensor_open");
}

static void refusals(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    ASSERT_REFUSED(td_tensor_create(NULL, TD_SHAPE(1), &t), TD_ARGUMENT,
                   "tensor_create: dtype is NULL; pass a dtype name such as \"i16\" and a td_tensor pointer");
    ASSERT_REFUSED(td_tensor_create("i16", TD_SHAPE(1), NULL), TD_ARGUMENT,
                   "tensor_create: out is NULL; pass a dtype name such as \"i16\" and a td_tensor pointer");
    ASSERT_REFUSED(td_tensor_create("i16", TD_SHAPE(2, 0, 3), &t), TD_SHAPE,
                   "tensor_create: shape (2, 0, 3) has an extent of 0 at dimension 1; every extent is at least 1");
    ASSERT_REFUSED(td_tensor_create("i16", (td_shape){.rank = 33}, &t), TD_SHAPE,
                   "tensor_create: a shape of 33 dimensions; the limit is 32, merge some");
    ASSERT_REFUSED(td_tensor_create("f64", TD_SHAPE((uint64_t)1 << 30, (uint64_t)1 << 30), &t), TD_OVERFLOW,
                   "tensor_create: shape (1073741824, 1073741824) with 8 bytes per element passes 2^63 - 1 bytes; use "
                   "smaller extents");
    ASSERT_REFUSED(td_tensor_create("u8", TD_SHAPE((uint64_t)1 << 62, 4), &t), TD_OVERFLOW,
                   "tensor_create: shape (4611686018427387904, 4) with 1 bytes per element passes 2^63 - 1 bytes; use "
                   "smaller extents");
    ASSERT_REFUSED(td_tensor_create("u8", TD_SHAPE((uint64_t)1 << 62), &t), TD_NO_MEMORY,
                   "tensor_create: the system refused 4611686018427387904 bytes; free memory or move a smaller tensor");
    assert_int_equal(td_tensor_create("x9", TD_SHAPE(1), &t), TD_DTYPE);
    assert_memory_equal(td_last_error(), "tensor_create: ", 15);
    assert_null(t);

    t = make("i4", TD_SHAPE(2, 3));
    uint64_t bits = 77;
    ASSERT_REFUSED(td_tensor_get_bits(t, 6, &bits), TD_RANGE,
                   "tensor_get_bits: element 6 of a tensor of 6 elements, shape (2, 3); the last is 5");
    assert_int_equal(bits, 77);
    ASSERT_REFUSED(td_tensor_get_bits(t, 0, NULL), TD_ARGUMENT,
                   "tensor_get_bits: bits is NULL; pass the address of a uint64_t");
    ASSERT_REFUSED(td_tensor_get_bits(NULL, 0, &bits), TD_ARGUMENT,
                   "tensor_get_bits: tensor is NULL; pass one from td_tensor_create or td_tensor_open");
    ASSERT_REFUSED(
        td_tensor_set_bits(t, UINT64_MAX, 0), TD_RANGE,
        "tensor_set_bits: element 18446744073709551615 of a tensor of 6 elements, shape (2, 3); the last is 5");
    ASSERT_REFUSED(td_tensor_set_bits(t, 0, 0x1f), TD_RANGE,
                   "tensor_set_bits: 0x1f has bits above the 4 of i4; pass the element's own bits, zero-extended");
    ASSERT_REFUSED(td_tensor_set_bits(NULL, 0, 0), TD_ARGUMENT,
                   "tensor_set_bits: tensor is NULL; pass one from td_tensor_create or td_tensor_open");
    ASSERT_OK(td_tensor_get_bits(t, 0, &bits));
    assert_int_equal(bits, 0);
    td_tensor_destroy(&t);
}

static void null_is_safe(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    td_tensor_destroy(NULL);
    td_tensor_destroy(&t);
    assert_null(td_tensor_data(NULL));
    assert_null(td_tensor_data_const(NULL));
    assert_string_equal(td_tensor_dtype(NULL), "");
    assert_int_equal(td_tensor_shape(NULL).rank, 0);
    assert_int_equal(td_tensor_elems(NULL), 0);
    assert_int_equal(td_tensor_elem_bytes(NULL), 0);
    assert_int_equal(td_tensor_elem_bits(NULL), 0);
}

static void names_are_said(void **state)
{
    (void)state;
    td_tensor *t = NULL;
    td_memory *m = NULL;
    td_layout *l = NULL;
    char name[] = "weights";
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(3, 4), &t));
    ASSERT_OK(td_memory_create("wbuf", 64, 2, &m));
    ASSERT_OK(td_layout_create("r c -> r c", NULL, NULL, &l));
    assert_string_equal(td_tensor_name(t), "");
    assert_int_equal(td_backdoor_load_tensor(m, t, l, NULL), TD_RANGE);
    assert_null(strstr(td_last_error(), "\n    tensor "));
    ASSERT_OK(td_tensor_set_name(t, name));
    memset(name, 'x', sizeof name - 1); /* copied */
    assert_string_equal(td_tensor_name(t), "weights");
    assert_int_equal(td_backdoor_load_tensor(m, t, l, NULL), TD_RANGE);
    const char *line = strstr(td_last_error(), "\n    tensor ");
    assert_non_null(line);
    assert_string_equal(line, "\n    tensor \"weights\", i16 (3, 4)");
    ASSERT_OK(td_tensor_set_name(t, NULL));
    assert_string_equal(td_tensor_name(t), "");
    assert_string_equal(td_tensor_name(NULL), "");
    assert_int_equal(td_tensor_set_name(NULL, "a"), TD_ARGUMENT);
    assert_int_equal(enter_folder(NULL), 0);
    ASSERT_OK(td_tensor_save(t, "a.npy"));
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_open("npy:a.npy", NULL, &t));
    assert_string_equal(td_tensor_name(t), "npy:a.npy");
    td_tensor_destroy(&t);
    assert_int_equal(leave_folder(NULL), 0);
    td_memory_destroy(&m);
    td_layout_destroy(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_said),
        cmocka_unit_test(shapes_from_text),
        cmocka_unit_test(a_new_tensor_is_zero),
        cmocka_unit_test(elements_keep_their_bits),
        cmocka_unit_test(ramps_wrap_and_round),
        cmocka_unit_test(random_is_the_same_everywhere),
        cmocka_unit_test(refusals),
        cmocka_unit_test(null_is_safe),
    };
    return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
