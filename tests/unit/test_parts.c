/* Packings and parts: the published bytes of block-scaled formats, special values, shapes of parts, every message. The
 * rules themselves are held against exact arithmetic by tests/prop/parts_oracle.py. */
#include "support.h"

#include <math.h>
#include <stdbool.h>

static td_tensor *f32_tensor(td_shape shape, const float *values)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create("f32", shape, &t));
    memcpy(td_tensor_data(t), values, (size_t)td_tensor_elems(t) * sizeof(float));
    return t;
}

/* A block whose first element is `first` and whose others are 0. */
static td_parts *pack_one(const char *packing, float first, size_t n)
{
    float values[64] = {first};
    td_parts *parts = NULL;
    td_tensor *t = f32_tensor(TD_SHAPE(n), values);
    ASSERT_OK(td_parts_pack(t, packing, &parts));
    td_tensor_destroy(&t);
    return parts;
}

static uint64_t code_of(td_parts *parts, const char *part, uint64_t elem)
{
    td_tensor *t = NULL;
    uint64_t bits = 0;
    ASSERT_OK(td_parts_part(parts, part, &t));
    ASSERT_OK(td_tensor_get_bits(t, elem, &bits));
    return bits;
}

static float from_bits(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* -- powers of two -- */

static void scales_are_the_published_ones(void **state)
{
    (void)state;
    static const char *const rules[] = {"floor", "even", "ceil", "rceil"};
    const struct {
        const char *name;
        float amax;
        unsigned scale[4], elem[4];
    } rows[] = {
        {"mxfp8", 480, {127, 127, 128, 128}, {0x7e, 0x7e, 0x77, 0x77}},
        {"mxfp8", 448, {127, 127, 128, 127}, {0x7e, 0x7e, 0x76, 0x7e}},
        {"mxfp8", from_bits(0x40600001), {120, 120, 121, 121}, {0x7e, 0x7e, 0x76, 0x76}},
        {"mxfp8", from_bits(0x43ffffff), {127, 128, 128, 128}, {0x7e, 0x78, 0x78, 0x78}},
        {"mxfp8", from_bits(0x7f7fffff), {246, 247, 247, 247}, {0x7e, 0x78, 0x78, 0x78}},
        {"mxfp4", 1.5F, {125, 125, 126, 125}, {7, 7, 5, 7}},
        {"mxfp4", 1.75F, {125, 126, 126, 126}, {7, 6, 6, 6}},
        {"mxfp4", from_bits(0x40400001), {126, 126, 127, 127}, {7, 7, 5, 5}},
        {"mxfp4", 7, {127, 128, 128, 128}, {7, 6, 6, 6}},
        {"mxfp6_e2m3", 7.6F, {127, 127, 128, 128}, {0x1f, 0x1f, 0x17, 0x17}},
        {"mxfp6", 30, {127, 128, 128, 128}, {0x1f, 0x1c, 0x1c, 0x1c}},
        {"mxfp8_e5m2", 60000, {127, 127, 128, 128}, {0x7b, 0x7b, 0x77, 0x77}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t r = 0; r < 4; r++) {
            char packing[64];
            snprintf(packing, sizeof packing, "%s rule=%s", rows[i].name, rules[r]);
            td_parts *parts = pack_one(packing, rows[i].amax, 32);
            const uint64_t scale = code_of(parts, "scales", 0), elem = code_of(parts, "elems", 0);
            if (scale != rows[i].scale[r] || elem != rows[i].elem[r])
                fail_msg("%s of %.9g: scale %u, element %#x", packing, (double)rows[i].amax, (unsigned)scale,
                         (unsigned)elem);
            td_parts_destroy(&parts);
        }
}

/* amax / largest with largest 1 is amax itself: i2 in fixed point has the largest element 1. */
static void rounding_up_to_e8m0_is_the_published_one(void **state)
{
    (void)state;
    const struct {
        uint32_t amax;
        unsigned nan, max;
    } rows[] = {
        {0x00000000, 0, 0},     {0x00000001, 0, 0},     {0x00400000, 0, 0},     {0x00400001, 1, 1},
        {0x007fffff, 1, 1},     {0x00800000, 1, 1},     {0x3f7fffff, 127, 127}, {0x3f800000, 127, 127},
        {0x3f800001, 128, 128}, {0x7f000000, 254, 254}, {0x7f000001, 255, 254}, {0x7f800000, 255, 254},
        {0x7fc00000, 255, 255},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_parts *nan = pack_one("mxint8 elem=i2 rule=rceil", from_bits(rows[i].amax), 32);
        td_parts *max = pack_one("mxint8 elem=i2 rule=rceil inf=max", from_bits(rows[i].amax), 32);
        assert_int_equal(code_of(nan, "scales", 0), rows[i].nan);
        assert_int_equal(code_of(max, "scales", 0), rows[i].max);
        td_parts_destroy(&nan);
        td_parts_destroy(&max);
    }
}

static void special_values_follow_the_options(void **state)
{
    (void)state;
    float values[64] = {1, -2, NAN, 4};
    values[32] = INFINITY;
    values[33] = -1;
    td_parts *parts = NULL;
    td_tensor *t = f32_tensor(TD_SHAPE(2, 32), values), *back = NULL;
    ASSERT_OK(td_parts_pack(t, "mxfp8", &parts));
    assert_int_equal(code_of(parts, "scales", 0), 0xff);
    assert_int_equal(code_of(parts, "scales", 1), 0xff);
    for (uint64_t i = 0; i < 64; i++)
        assert_int_equal(code_of(parts, "elems", i), 0x7f);
    ASSERT_OK(td_parts_unpack(parts, NULL, &back));
    for (size_t i = 0; i < 64; i++)
        assert_true(isnan(((float *)td_tensor_data(back))[i]));
    td_tensor_destroy(&back);
    td_parts_destroy(&parts);

    ASSERT_OK(td_parts_pack(t, "mxfp8 inf=max rule=rceil", &parts));
    assert_int_equal(code_of(parts, "scales", 0), 0xff);
    assert_int_equal(code_of(parts, "scales", 1), 247);
    assert_int_equal(code_of(parts, "elems", 32), 0x7e);
    assert_int_equal(code_of(parts, "elems", 33), 0x80); /* underflows, and keeps its sign */
    td_parts_destroy(&parts);

    ASSERT_OK(td_parts_pack(t, "int8 block=32", &parts)); /* integers have no NaN: the scale has it */
    assert_int_equal(code_of(parts, "elems", 0), 0);
    assert_int_equal(code_of(parts, "scales", 0), 0x7e00);
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
}

static void mxint8_leaves_the_lowest_code_out(void **state)
{
    (void)state;
    td_parts *parts = pack_one("mxint8", -1.999F, 32);
    assert_int_equal(code_of(parts, "scales", 0), 127);
    assert_int_equal(code_of(parts, "elems", 0), 0x81);
    td_parts_destroy(&parts);
    parts = pack_one("mxint8 low=full", -1.999F, 32);
    assert_int_equal(code_of(parts, "elems", 0), 0x80);
    td_parts_destroy(&parts);
}

/* -- NVFP4 -- */

static void nvfp4_is_calculated_as_its_libraries_do(void **state)
{
    (void)state;
    float values[32] = {6, 3, -1.5F, 0.5F};
    values[16] = 0x1p-20F; /* a block that is small beside the tensor: torchao has a floor under its scale, TE none */
    td_parts *te = NULL, *ao = NULL;
    td_tensor *t = f32_tensor(TD_SHAPE(32), values), *global = NULL;
    ASSERT_OK(td_parts_pack(t, "nvfp4", &te));
    ASSERT_OK(td_parts_pack(t, "nvfp4 rule=torchao", &ao));
    assert_int_equal(td_parts_count(te), 3);
    ASSERT_OK(td_parts_part(te, "global", &global));
    assert_float_equal(*(float *)td_tensor_data(global), 6.0F / 2688, 1e-9F);
    assert_int_equal(code_of(te, "scales", 0), 0x7e); /* 448 */
    assert_int_equal(code_of(ao, "scales", 0), 0x7e);
    const uint64_t expected[] = {7, 5, 0xb, 1};
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(code_of(te, "elems", i), expected[i]);
    assert_int_equal(code_of(te, "scales", 1), 0);
    assert_int_equal(code_of(ao, "scales", 1), 0x08); /* 2^-6 */
    td_parts_destroy(&te);
    td_parts_destroy(&ao);

    ASSERT_OK(td_parts_pack(t, "nvfp4 global=none", &te));
    assert_int_equal(td_parts_count(te), 2);
    assert_int_equal(code_of(te, "scales", 0), 0x38); /* 1 */
    td_parts_destroy(&te);
    ASSERT_OK(td_parts_pack(t, "nvfp4 global=0.5 rule=torchao", &te));
    assert_int_equal(code_of(te, "scales", 0), 0x40); /* 2 */
    td_parts_destroy(&te);
    td_tensor_destroy(&t);
}

/* The largest value becomes 4 where all others then have codes of their own; a tie is 6. */
static void four_over_six_takes_the_smaller_error(void **state)
{
    (void)state;
    float values[32] = {4, 3, -2, 1, 0.5F};
    values[16] = 6;
    values[17] = -4;
    static const char *const packings[] = {"nvfp4 global=none map=mae", "nvfp4 global=none map=mse"};
    td_tensor *t = f32_tensor(TD_SHAPE(32), values);
    td_parts *parts = NULL;
    for (int i = 0; i < 2; i++) {
        ASSERT_OK(td_parts_pack(t, packings[i], &parts));
        assert_int_equal(code_of(parts, "scales", 0), 0x38); /* 1: 4 / 6 * 1.5 */
        const uint64_t expected[] = {6, 5, 0xc, 2, 1};
        for (uint64_t e = 0; e < 5; e++)
            assert_int_equal(code_of(parts, "elems", e), expected[e]);
        assert_int_equal(code_of(parts, "scales", 1), 0x38); /* 1: 6 / 6 */
        assert_int_equal(code_of(parts, "elems", 16), 7);
        assert_int_equal(code_of(parts, "elems", 17), 0xe);
        td_parts_destroy(&parts);
    }
    ASSERT_OK(td_parts_pack(t, "nvfp4_4over6", &parts));
    assert_int_equal(code_of(parts, "scales", 1), 0x78); /* 256 */
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
}

/* Errors of a 16x16 block with one scale: elements and scales are taken from one-level packings that are given their
 * scale, so that only the sums are calculated here. */
static float error_of_row(td_parts *parts, const float *values, size_t row, float scale)
{
    static const float magnitude[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    volatile float sum = 0; /* every sum is rounded */
    for (size_t i = 0; i < 16; i++) {
        const uint64_t code = code_of(parts, "elems", row * 16 + i);
        const float value = (code & 8 ? -magnitude[code & 7] : magnitude[code & 7]) * scale;
        sum = sum + fabsf(value - values[row * 16 + i]);
    }
    return sum;
}

static float error_of_tile(td_parts *parts, const float *values, float scale)
{
    float row[16];
    for (size_t r = 0; r < 16; r++)
        row[r] = error_of_row(parts, values, r, scale);
    for (size_t half = 8; half; half /= 2)
        for (size_t r = 0; r < half; r++)
            row[r] = row[r] + row[r + half];
    return row[0];
}

/* Random tiles of 16x16: the scale that was chosen is one of the two, and the one whose sum of errors, row r and r + 8
 * first, is smaller. Blocks along the first dimension are those of the transposed tensor along the last. */
static void four_over_six_of_tiles_and_columns(void **state)
{
    (void)state;
    int fours = 0;
    for (unsigned seed = 1; seed <= 40; seed++) {
        char fill[32];
        float *values = NULL, turned[256];
        td_tensor *t = NULL, *u = NULL;
        td_parts *chosen = NULL, *four = NULL, *six = NULL;
        snprintf(fill, sizeof fill, "%s seed=%u", seed % 2 ? "normal" : "uniform", seed);
        ASSERT_OK(td_tensor_create("f32", TD_SHAPE(16, 16), &t));
        ASSERT_OK(td_tensor_fill(t, fill));
        values = td_tensor_data(t);
        ASSERT_OK(td_parts_pack(t, "nvfp4_2d global=none map=mae", &chosen));
        ASSERT_OK(td_parts_pack(t, "nvfp4_2d global=none", &six));
        float amax = 0;
        for (size_t i = 0; i < 256; i++)
            amax = fabsf(values[i]) > amax ? fabsf(values[i]) : amax;
        td_tensor *scale = NULL, *elems = NULL, *lone = f32_tensor(TD_SHAPE(1), &(float){amax / 6 * 1.5F});
        ASSERT_OK(td_tensor_convert(lone, "e4m3", &scale));
        uint64_t code = 0;
        double stored = 0;
        ASSERT_OK(td_tensor_get_bits(scale, 0, &code));
        ASSERT_OK(td_tensor_get_real(scale, 0, &stored));
        /* the elements at that scale: a tensor of them, joined with nothing but its own scale */
        for (size_t i = 0; i < 256; i++)
            turned[i] = values[i] * (1 / (float)stored);
        u = f32_tensor(TD_SHAPE(16, 16), turned);
        ASSERT_OK(td_tensor_convert(u, "e2m1", &elems));
        ASSERT_OK(td_parts_join("nvfp4_2d global=none", TD_SHAPE(16, 16), (td_tensor *[]){elems, scale}, 2, &four));
        td_tensor *six_scale = NULL;
        double six_stored = 0;
        ASSERT_OK(td_parts_part(six, "scales", &six_scale));
        ASSERT_OK(td_tensor_get_real(six_scale, 0, &six_stored));
        const bool takes_four =
            error_of_tile(four, values, (float)stored) < error_of_tile(six, values, (float)six_stored);
        assert_int_equal(code_of(chosen, "scales", 0), takes_four ? code : code_of(six, "scales", 0));
        for (uint64_t i = 0; i < 256; i++)
            assert_int_equal(code_of(chosen, "elems", i), code_of(takes_four ? four : six, "elems", i));
        fours += takes_four;
        td_tensor_destroy(&u);
        td_parts_destroy(&chosen);
        td_parts_destroy(&six);
        for (size_t i = 0; i < 256; i++)
            turned[i % 16 * 16 + i / 16] = values[i];
        u = f32_tensor(TD_SHAPE(16, 16), turned);
        ASSERT_OK(td_parts_pack(t, "nvfp4_4over6 axis=1", &chosen));
        ASSERT_OK(td_parts_pack(u, "nvfp4_4over6 axis=0", &six));
        for (uint64_t i = 0; i < 256; i++)
            assert_int_equal(code_of(chosen, "elems", i), code_of(six, "elems", i % 16 * 16 + i / 16));
        for (uint64_t i = 0; i < 16; i++)
            assert_int_equal(code_of(chosen, "scales", i), code_of(six, "scales", i));
        td_parts_destroy(&chosen);
        td_parts_destroy(&six);
        td_parts_destroy(&four);
        td_tensor_destroy(&elems);
        td_tensor_destroy(&scale);
        td_tensor_destroy(&lone);
        td_tensor_destroy(&t);
        td_tensor_destroy(&u);
    }
    assert_true(fours > 0 && fours < 40);
}

/* microxcaling's scale of a block of zeros, and elements of a block with a NaN as TransformerEngine's reference. */
static void empty_and_void_blocks_follow_the_options(void **state)
{
    (void)state;
    float values[64] = {[32] = NAN, [33] = 1};
    static const struct {
        const char *packing;
        uint64_t scale, elem;
    } rows[] = {
        {"mxint8", 0, 0},
        {"mxint8 empty=normal", 1, 0},
        {"mxfp4 empty=normal", 0, 7},
        {"mxfp4", 0, 7},
        {"mxfp4 void=zero", 0, 0},
        {"mxfp8", 0, 0x7f},
        {"mxfp8 void=zero empty=zero", 0, 0},
    };
    td_tensor *t = f32_tensor(TD_SHAPE(2, 32), values);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_parts *parts = NULL;
        ASSERT_OK(td_parts_pack(t, rows[i].packing, &parts));
        assert_int_equal(code_of(parts, "scales", 0), rows[i].scale);
        assert_int_equal(code_of(parts, "elems", 0), 0);
        assert_int_equal(code_of(parts, "scales", 1), 0xff);
        assert_int_equal(code_of(parts, "elems", 33), rows[i].elem);
        td_parts_destroy(&parts);
    }
    td_tensor_destroy(&t);
}

/* -- block floating point -- */

static void bfp_shares_the_largest_exponent(void **state)
{
    (void)state;
    /* Shifted out by truncation before the rounding: 1 + 2^-7 beside 2 is 0x40, and 0x41 by itself. */
    const float values[16] = {2, 1, -1, 1 + 0x1p-6F, 1 + 0x1p-7F, -0.0F, -0x1p-10F, 0x1p-6F, 0x1.8p-6F, 1.9999F};
    const uint64_t expected[16] = {0x40, 0x20, 0xa0, 0x20, 0x20, 0, 0, 0, 0x01, 0x40};
    td_parts *parts = NULL;
    td_tensor *t = f32_tensor(TD_SHAPE(16), values), *back = NULL;
    ASSERT_OK(td_parts_pack(t, "bfp8", &parts));
    assert_int_equal(code_of(parts, "scales", 0), 128);
    for (uint64_t i = 0; i < 16; i++)
        assert_int_equal(code_of(parts, "elems", i), expected[i]);
    ASSERT_OK(td_parts_unpack(parts, "f32", &back));
    assert_true(((float *)td_tensor_data(back))[2] == -1);
    assert_true(((float *)td_tensor_data(back))[8] == 0x1p-5F);
    td_tensor_destroy(&back);
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
    parts = pack_one("bfp8", 1.9999F, 16); /* not carried into the exponent */
    assert_int_equal(code_of(parts, "scales", 0), 127);
    assert_int_equal(code_of(parts, "elems", 0), 0x7f);
    td_parts_destroy(&parts);
}

/* -- integer groups -- */

static void groups_have_scales_and_zero_points(void **state)
{
    (void)state;
    const float values[8] = {-1, -0.5F, 0, 0.25F, 0.5F, 1, 2, 0.1F};
    td_parts *parts = NULL;
    td_tensor *t = f32_tensor(TD_SHAPE(8), values), *back = NULL;
    ASSERT_OK(td_parts_pack(t, "uint4 block=8 scale=f32", &parts)); /* 3 / 15 = 0.2: zero point 5 */
    const uint64_t expected[8] = {0, 3, 5, 6, 7, 10, 15, 5};        /* 2.5 and 1.25, 0.5 steps: ties to even */
    assert_int_equal(code_of(parts, "zeros", 0), 5);
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(code_of(parts, "elems", i), expected[i]);
    ASSERT_OK(td_parts_unpack(parts, "f64", &back));
    assert_true(fabs(((double *)td_tensor_data(back))[6] - 2) < 1e-6);
    td_tensor_destroy(&back);
    td_parts_destroy(&parts);

    ASSERT_OK(td_parts_pack(t, "int4 block=4 scale=f32", &parts)); /* 1 / 7 and 2 / 7 */
    assert_int_equal(code_of(parts, "elems", 0), 0x9);
    assert_int_equal(code_of(parts, "elems", 6), 7);
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
    t = f32_tensor(TD_SHAPE(2), (float[]){0, -0.0F});
    ASSERT_OK(td_parts_pack(t, "int8 block=all", &parts)); /* nothing but zeros: no division by 0 */
    assert_int_equal(code_of(parts, "scales", 0), 0);
    assert_int_equal(code_of(parts, "elems", 0), 0);
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
}

/* -- shapes -- */

static void parts_have_their_shapes_and_names(void **state)
{
    (void)state;
    td_tensor *t = NULL, *part = NULL;
    td_parts *parts = NULL;
    ASSERT_OK(td_tensor_create("bf16", TD_SHAPE(40, 70, 3), &t));
    ASSERT_OK(td_tensor_set_name(t, "w"));
    ASSERT_OK(td_tensor_fill(t, "normal seed=3"));
    ASSERT_OK(td_parts_pack(t, "mxfp4 axis=1", &parts));
    assert_int_equal(td_parts_count(parts), 2);
    assert_string_equal(td_parts_name(parts, 0), "elems");
    assert_string_equal(td_parts_name(parts, 1), "scales");
    assert_null(td_parts_name(parts, 2));
    assert_string_equal(td_parts_packing(parts), "mxfp4 elem=e2m1 scale=e8m0 axis=1 block=32 rule=floor round=even "
                                                 "inf=nan tail=short");
    assert_int_equal(td_parts_shape(parts).dim[1], 70);
    ASSERT_OK(td_parts_part(parts, "scales", &part));
    assert_string_equal(td_tensor_name(part), "w.scales");
    assert_string_equal(td_tensor_dtype(part), "e8m0");
    const td_shape shape = td_tensor_shape(part);
    assert_int_equal(shape.rank, 3);
    assert_int_equal(shape.dim[0], 40);
    assert_int_equal(shape.dim[1], 3);
    assert_int_equal(shape.dim[2], 3);
    td_parts_destroy(&parts);

    ASSERT_OK(td_parts_pack(t, "nvfp4_2d axis=0,1", &parts));
    ASSERT_OK(td_parts_part(parts, "scales", &part));
    assert_int_equal(td_tensor_shape(part).dim[0], 3);
    assert_int_equal(td_tensor_shape(part).dim[1], 5);
    assert_int_equal(td_tensor_shape(part).dim[2], 3);
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);

    ASSERT_OK(td_tensor_create("f32", (td_shape){0}, &t)); /* a scalar: its parts are scalars, and its axes none */
    ASSERT_REFUSED(
        td_parts_pack(t, "mxfp4", &parts), TD_OPTION,
        "parts_pack: axis=-1 of packing \"mxfp4\" in a tensor of shape (); it has no axis to cut into blocks");
    td_tensor_destroy(&t);
}

/* The same values in another order of dimensions have the same parts in that order. */
static void blocks_along_any_axis_are_the_same(void **state)
{
    (void)state;
    enum { ROWS = 70, COLS = 90 };
    static const char *const packings[] = {"mxfp8",          "mxfp4 rule=even", "nvfp4", "bfp8",
                                           "uint4 block=16", "int3 block=all",  "mxint8"};
    td_tensor *a = NULL, *b = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(ROWS, COLS), &a));
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(COLS, ROWS), &b));
    ASSERT_OK(td_tensor_fill(a, "normal seed=9 sigma=30"));
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLS; c++)
            ((float *)td_tensor_data(b))[c * ROWS + r] = ((float *)td_tensor_data(a))[r * COLS + c];
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++) {
        char by_row[64], by_col[64];
        td_parts *p = NULL, *q = NULL;
        td_tensor *back_p = NULL, *back_q = NULL;
        snprintf(by_row, sizeof by_row, "%s axis=1", packings[i]);
        snprintf(by_col, sizeof by_col, "%s axis=0", packings[i]);
        ASSERT_OK(td_parts_pack(a, by_row, &p));
        ASSERT_OK(td_parts_pack(b, by_col, &q));
        ASSERT_OK(td_parts_unpack(p, "f32", &back_p));
        ASSERT_OK(td_parts_unpack(q, "f32", &back_q));
        for (uint64_t r = 0; r < ROWS; r++)
            for (uint64_t c = 0; c < COLS; c++) {
                assert_int_equal(code_of(p, "elems", r * COLS + c), code_of(q, "elems", c * ROWS + r));
                assert_memory_equal((float *)td_tensor_data(back_p) + r * COLS + c,
                                    (float *)td_tensor_data(back_q) + c * ROWS + r, sizeof(float));
            }
        td_tensor_destroy(&back_p);
        td_tensor_destroy(&back_q);
        td_parts_destroy(&p);
        td_parts_destroy(&q);
    }
    td_tensor_destroy(&a);
    td_tensor_destroy(&b);
}

/* Blocks longer than what is worked on at once, and every code of every element type at every scale. */
static void what_was_packed_packs_to_itself(void **state)
{
    (void)state;
    static const char *const packings[] = {"mxfp8", "mxfp8_e5m2", "mxfp6", "mxfp6_e2m3", "mxfp4", "mxint8"};
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++)
        for (unsigned scale = 1; scale < 255; scale++) {
            char packing[64];
            td_parts *parts = NULL, *again = NULL;
            td_tensor *elems = NULL, *scales = NULL, *values = NULL;
            snprintf(packing, sizeof packing, "%s block=5000 rule=rceil inf=max", packings[i]);
            ASSERT_OK(td_parts_create(packing, TD_SHAPE(5000), &parts));
            ASSERT_OK(td_parts_part(parts, "elems", &elems));
            ASSERT_OK(td_parts_part(parts, "scales", &scales));
            const unsigned codes = 1U << td_tensor_elem_bits(elems);
            ASSERT_OK(td_tensor_set_bits(scales, 0, scale));
            for (uint64_t e = 0; e < 5000; e++) {
                double value = 0;
                const bool lowest = i == 5 && e % codes == 128;
                ASSERT_OK(td_tensor_set_bits(elems, e, lowest ? 0 : e % codes));
                ASSERT_OK(td_tensor_get_real(elems, e, &value));
                if (!isfinite(value))
                    ASSERT_OK(td_tensor_set_bits(elems, e, 0));
            }
            ASSERT_OK(td_parts_unpack(parts, "f32", &values));
            bool finite = true; /* beyond 2^128 a value is no f32 */
            for (size_t e = 0; e < 5000; e++)
                finite = finite && isfinite(((float *)td_tensor_data(values))[e]);
            if (finite) {
                ASSERT_OK(td_parts_pack(values, packing, &again));
                assert_int_equal(code_of(again, "scales", 0), scale);
                for (uint64_t e = 0; e < 5000; e++)
                    assert_int_equal(code_of(again, "elems", e), code_of(parts, "elems", e));
                td_parts_destroy(&again);
            }
            td_tensor_destroy(&values);
            td_parts_destroy(&parts);
        }
}

/* Parts that are taken out, and tensors that are joined, as a file or SystemVerilog has them. */
static void parts_are_taken_and_joined(void **state)
{
    (void)state;
    td_tensor *t = NULL, *elems = NULL, *scales = NULL, *back = NULL, *again = NULL;
    td_parts *parts = NULL, *joined = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(4, 64), &t));
    ASSERT_OK(td_tensor_fill(t, "normal seed=1"));
    ASSERT_OK(td_parts_pack(t, "mxfp6", &parts));
    ASSERT_OK(td_parts_unpack(parts, "f32", &back));
    ASSERT_OK(td_parts_take(parts, "elems", &elems));
    ASSERT_OK(td_parts_take(parts, "scales", &scales));
    assert_int_equal(td_parts_count(parts), 0);
    ASSERT_REFUSED(td_parts_unpack(parts, "f32", &again), TD_ARGUMENT,
                   "parts_unpack: the part \"elems\" of \"mxfp6\" was taken; join the parts again");
    td_parts_destroy(&parts);
    ASSERT_OK(td_tensor_reshape(scales, TD_SHAPE(8)));
    td_tensor *both[] = {elems, scales}, *wrong[] = {elems, elems}, *missing[] = {elems, NULL};
    ASSERT_OK(td_parts_join("mxfp6", TD_SHAPE(4, 64), both, 2, &joined));
    ASSERT_OK(td_parts_unpack(joined, "f32", &again));
    assert_memory_equal(td_tensor_data(back), td_tensor_data(again), 4 * 64 * sizeof(float));
    td_tensor *mine = NULL;
    ASSERT_REFUSED(td_parts_take(joined, "elems", &mine), TD_ARGUMENT,
                   "parts_take: the part \"elems\" was joined, so it belongs to its caller already");
    td_parts_destroy(&joined);
    ASSERT_REFUSED(td_parts_join("mxfp6", TD_SHAPE(4, 64), wrong, 2, &joined), TD_SHAPE,
                   "parts_join: the part \"scales\" of \"mxfp6\" is a tensor of e3m2, shape (4, 64); pass one of e8m0, "
                   "shape (4, 2)");
    ASSERT_REFUSED(td_parts_join("mxfp6", TD_SHAPE(4, 64), missing, 2, &joined), TD_ARGUMENT,
                   "parts_join: the part \"scales\" is NULL; pass a tensor of e8m0, shape (4, 2)");
    ASSERT_REFUSED(td_parts_join("nvfp4", TD_SHAPE(4, 64), both, 2, &joined), TD_ARGUMENT,
                   "parts_join: 2 tensors for \"nvfp4\", which has 3 parts: elems, scales, global");
    ASSERT_REFUSED(td_parts_join("mxfp6", TD_SHAPE(4, 64), NULL, 2, &joined), TD_ARGUMENT,
                   "parts_join: the list of tensors is NULL; pass a packing such as \"mxfp4\", its parts in their "
                   "order, and a td_parts");
    td_tensor_destroy(&elems);
    td_tensor_destroy(&scales);
    td_tensor_destroy(&back);
    td_tensor_destroy(&again);
    td_tensor_destroy(&t);
}

/* -- which packing fits -- */

static char *fit_text(uint64_t rows, const char *asked, const char *followed, void (*change)(td_parts *parts))
{
    td_tensor *t = NULL, *each[4] = {NULL};
    td_parts *made = NULL, *found = NULL;
    char *text = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(rows, 128), &t));
    ASSERT_OK(td_tensor_fill(t, "normal seed=5"));
    ASSERT_OK(td_parts_pack(t, followed, &made));
    if (change)
        change(made);
    for (size_t i = 0; i < td_parts_count(made); i++)
        ASSERT_OK(td_parts_part(made, td_parts_name(made, i), &each[i]));
    ASSERT_OK(td_parts_join(asked, TD_SHAPE(rows, 128), each, td_parts_count(made), &found));
    ASSERT_OK(td_parts_fit(found, t, &text));
    td_parts_destroy(&found);
    td_parts_destroy(&made);
    td_tensor_destroy(&t);
    return text;
}

static void into_ggml_order(td_parts *parts)
{
    td_tensor *elems = NULL;
    unsigned char block[32];
    ASSERT_OK(td_parts_part(parts, "elems", &elems));
    unsigned char *data = td_tensor_data(elems);
    for (uint64_t at = 0; at < td_tensor_elems(elems); at += 32) {
        memcpy(block, data + at, 32);
        for (size_t i = 0; i < 16; i++) {
            data[at + 2 * i] = block[i];
            data[at + 2 * i + 1] = block[i + 16];
        }
    }
}

static void into_swapped_nibbles(td_parts *parts)
{
    td_tensor *elems = NULL;
    ASSERT_OK(td_parts_part(parts, "elems", &elems));
    unsigned char *data = td_tensor_data(elems);
    for (uint64_t i = 0; i < td_tensor_elems(elems); i += 2) {
        const unsigned char first = data[i];
        data[i] = data[i + 1];
        data[i + 1] = first;
    }
}

static void into_zeros_of_v1(td_parts *parts)
{
    td_tensor *zeros = NULL;
    ASSERT_OK(td_parts_part(parts, "zeros", &zeros));
    unsigned char *data = td_tensor_data(zeros);
    for (uint64_t i = 0; i < td_tensor_elems(zeros); i++)
        data[i] = (unsigned char)((data[i] - 1) & 15);
}

static void the_rule_that_fits_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *followed;
        void (*change)(td_parts *parts);
        const char *text;
    } rows[] = {
        {"mxfp4 rule=rceil", "mxfp4 rule=rceil", NULL,
         "every part is that of \"mxfp4 elem=e2m1 scale=e8m0 axis=-1 block=32 rule=rceil round=even inf=nan "
         "tail=short\""},
        {"mxfp4 rule=rceil", "mxfp4", NULL,
         "64 of 64 scales and 2048 of 2048 elements are those of rule=floor; the packing says rule=rceil"},
        {"mxfp8", "mxfp8 round=zero", NULL,
         "64 of 64 scales and 2048 of 2048 elements are those of round=zero; the packing says round=even"},
        {"mxfp4 rule=rceil", "mxfp4 rule=even round=zero", NULL,
         "64 of 64 scales and 2048 of 2048 elements are those of rule=even and round=zero; the packing says rule=rceil "
         "and round=even"},
        {"nvfp4", "nvfp4_4over6", NULL,
         "128 of 128 scales and 2048 of 2048 elements are those of scale_max=256 and map=mae: nvfp4_4over6"},
        {"mxfp4", "mxfp4", into_ggml_order,
         "64 of 64 scales and 284 of 2048 elements are those of the packing; elements are in ggml order: the first "
         "half "
         "of a block in low nibbles, the second in high ones"},
        {"mxfp4", "mxfp4", into_swapped_nibbles,
         "64 of 64 scales and 140 of 2048 elements are those of the packing; elements are swapped in pairs: the other "
         "nibble first"},
        {"uint4", "uint4", into_zeros_of_v1,
         "16 of 16 scales and 2048 of 2048 elements are those of the packing; zero points are one less: GPTQ v1 stores "
         "them so"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = fit_text(16, rows[i].asked, rows[i].followed, rows[i].change);
        assert_string_equal(text, rows[i].text);
        td_free(text);
    }
    td_tensor *t = NULL;
    td_parts *parts = NULL;
    char *text = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(4), &t));
    ASSERT_OK(td_parts_create("mxfp4", TD_SHAPE(8), &parts));
    ASSERT_REFUSED(
        td_parts_fit(parts, t, &text), TD_SHAPE,
        "parts_fit: the tensor has shape (4), and the parts are those of (8); pass the tensor that they were "
        "made of");
    ASSERT_REFUSED(td_parts_fit(parts, NULL, &text), TD_ARGUMENT,
                   "parts_fit: the tensor is NULL; pass parts, the tensor that they were made of, and a text");
    td_tensor_destroy(&t);
    ASSERT_OK(td_parts_take(parts, "elems", &t));
    td_tensor *golden = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(8), &golden));
    ASSERT_REFUSED(td_parts_fit(parts, golden, &text), TD_ARGUMENT,
                   "parts_fit: parts of \"mxfp4\" were taken; join them again");
    td_tensor_destroy(&golden);
    td_tensor_destroy(&t);
    td_parts_destroy(&parts);
}

/* All pairs of words are tried on the first rows of a tensor that is too large for them, and the whole decides. */
static void pairs_are_named_of_large_tensors(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *followed, *text;
    } rows[] = {
        {"nvfp4", "nvfp4_4over6",
         "16384 of 16384 scales and 262144 of 262144 elements are those of scale_max=256 and map=mae: nvfp4_4over6"},
        {"nvfp4_2d", "nvfp4_2d map=mse scale_max=256",
         "1024 of 1024 scales and 262144 of 262144 elements are those of scale_max=256 and map=mse"},
        {"mxfp4 rule=rceil axis=0", "mxfp4 rule=even round=zero axis=0",
         "8192 of 8192 scales and 262144 of 262144 elements are those of rule=even and round=zero; the packing says "
         "rule=rceil and round=even"},
        {"nvfp4", "nvfp4_4over6 round=zero", NULL}, /* three words differ */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *text = fit_text(2048, rows[i].asked, rows[i].followed, NULL);
        if (rows[i].text)
            assert_string_equal(text, rows[i].text);
        else
            assert_null(strstr(text, " and 262144 of 262144 elements"));
        td_free(text);
    }
}

/* -- messages -- */

#define NAMES                                                                                                          \
    "blocks, mxfp8, mxfp8_e5m2, mxfp6, mxfp6_e2m3, mxfp4, mxint8, nvfp4, nvfp4_4over6, nvfp4_2d, bfp8, bfp4, int8, "   \
    "int4, int3, int2, uint8, uint4, uint3, uint2, q4_0, q4_1, q5_0, q5_1, q8_0, q2_K, q3_K, q4_K, q5_K, q6_K, "       \
    "ggml_mxfp4, "                                                                                                     \
    "ggml_nvfp4, 2:4, mask, csr, csc, coo, runs, nvdla"
#define WORDS                                                                                                          \
    "elem=, scale=, axis=, block=, rule=, round=, inf=, low=, zero=, global=, codes=, tail=, min=, super=, empty=, "   \
    "void=, map=, scale_max=, pad_scale="

static void refusals_say_what_to_type(void **state)
{
    (void)state;
    static const struct {
        const char *packing;
        td_status status;
        const char *text;
    } rows[] = {
        {"", TD_OPTION, "packing \"\" begins with \"\", which is no packing; they are " NAMES},
        {"mxpf4", TD_OPTION,
         "packing \"mxpf4\" begins with \"mxpf4\", which is no packing; did you mean \"mxfp4\"? they are " NAMES},
        {"mxfp4 rul=even", TD_OPTION,
         "unknown word \"rul=\" in packing \"mxfp4 rul=even\"; did you mean \"rule=\"? the words are " WORDS},
        {"mxfp4 rceil", TD_OPTION, "unknown word \"rceil\" in packing \"mxfp4 rceil\"; write rule=rceil"},
        {"mxfp4 ?", TD_OPTION, "unknown word \"?\" in packing \"mxfp4 ?\"; the words are " WORDS},
        {"mxfp4 elem=bf16", TD_OPTION,
         "elem=bf16 in packing \"mxfp4 elem=bf16\": elements have a sign, at most 16 bits and at most 5 of them "
         "exponent, or are unsigned with zero points (zero=bf16)"},
        {"mxfp4 rule=flor", TD_OPTION,
         "rule=flor in packing \"mxfp4 rule=flor\": did you mean floor? pass floor, even, ceil, rceil, nearest, te, "
         "torchao, absmax, gptq, awq, shared or ggml"},
        {"mxfp4 round=up", TD_OPTION, "round=up in packing \"mxfp4 round=up\": pass even, away, zero, floor or ceil"},
        {"mxfp4 block=16 block=32", TD_OPTION,
         "packing \"mxfp4 block=16 block=32\" says block= twice; keep one of them"},
        {"mxfp4 block=0", TD_OPTION,
         "block=0 in packing \"mxfp4 block=0\" is not a size from 1 on; pass one like block=32, block=16x16 or "
         "block=all"},
        {"mxfp4 axis=k", TD_OPTION,
         "axis=k in packing \"mxfp4 axis=k\" is not a list of dimensions; pass numbers like axis=1, axis=-1 or "
         "axis=0,1"},
        {"mxfp4 axis=0,1", TD_OPTION,
         "packing \"mxfp4 axis=0,1\" has 2 axes and 1 block sizes; pass one for each, like axis=0,1 block=16x16"},
        {"mxfp4 axis=2", TD_OPTION, "axis=2 of packing \"mxfp4\" in a tensor of shape (4, 40); its axes are -2 to 1"},
        {"mxfp4 axis=1,-1 block=2x2", TD_OPTION,
         "packing \"mxfp4\" names dimension 1 of shape (4, 40) twice; pass each axis once"},
        {"mxfp4 tail=error", TD_SHAPE,
         "dimension 1 of shape (4, 40) does not fill blocks of 32 (packing \"mxfp4\", tail=error); pass another "
         "block=, or tail=short"},
        {"mxfp4 scale=f16", TD_OPTION,
         "rule=floor in packing \"mxfp4 scale=f16\" makes powers of two, and scale=f16 is no e8m0; pass scale=e8m0, or "
         "rule=absmax"},
        {"int4 scale=e8m0", TD_OPTION,
         "rule=absmax in packing \"int4 scale=e8m0\" needs scales that are floats of up to 32 bits with a mantissa; it "
         "says scale=e8m0"},
        {"nvfp4 scale=f16", TD_OPTION,
         "rule=te in packing \"nvfp4 scale=f16\" needs scales of 8 bits, like e4m3; it says scale=f16"},
        {"bfp8 elem=i8", TD_OPTION,
         "rule=shared in packing \"bfp8 elem=i8\" has elements of a sign and a magnitude, as u2 to u24, and exponents, "
         "as u8; it says elem=i8 scale=u8"},
        {"int4 elem=u4", TD_OPTION,
         "low=symmetric in packing \"int4 elem=u4\" needs signed integers or fixed point; leave it out"},
        {"int4 elem=u4 low=full", TD_OPTION,
         "elem=u4 in packing \"int4 elem=u4 low=full\": elements have a sign, at most 16 bits and at most 5 of "
         "them exponent, or are unsigned with zero points (zero=u4)"},
        {"int4 rule=gptq", TD_OPTION,
         "rule=gptq in packing \"int4 rule=gptq\" makes zero points; add zero= with their dtype"},
        {"uint4 rule=absmax", TD_OPTION,
         "rule=absmax in packing \"uint4 rule=absmax\" makes no zero points; leave zero= out, or pass rule=gptq or "
         "rule=awq"},
        {"uint4 zero=u2", TD_OPTION,
         "zero points in packing \"uint4 zero=u2\" need unsigned elements of up to 16 bits and an unsigned dtype at "
         "least as wide; pass something like elem=u4 zero=u4"},
        {"mxfp4 global=amax", TD_OPTION,
         "global= in packing \"mxfp4 global=amax\" needs rule=te or rule=torchao, and it says rule=floor"},
        {"nvfp4 global=-1", TD_OPTION,
         "global=-1 in packing \"nvfp4 global=-1\" is not a scale; pass amax, none, or a number above 0"},
        {"mxfp4 map=mae", TD_OPTION,
         "map= in packing \"mxfp4 map=mae\" needs rule=te, and it says rule=floor; leave it out"},
        {"nvfp4 scale_max=100 rule=torchao", TD_OPTION,
         "scale_max= in packing \"nvfp4 scale_max=100 rule=torchao\" needs rule=te, and it says rule=torchao; leave it "
         "out"},
        {"nvfp4 map=five", TD_OPTION, "map=five in packing \"nvfp4 map=five\": pass six, mae or mse"},
        {"nvfp4 map=mse elem=e2m3", TD_OPTION,
         "map= in packing \"nvfp4 map=mse elem=e2m3\" maps to 4 or 6, and needs elem=e2m1; it says elem=e2m3"},
        {"nvfp4_2d map=mae block=32x16", TD_OPTION,
         "map= in packing \"nvfp4_2d map=mae block=32x16\" adds up errors of one row, or of 16 at most; pass a block "
         "like block=16 or axis=0,1 block=16x16"},
        {"nvfp4 scale_max=449", TD_OPTION,
         "scale_max=449 in packing \"nvfp4 scale_max=449\" is more than scales hold; pass one up to 448"},
        {"nvfp4 scale_max=0", TD_OPTION,
         "scale_max=0 in packing \"nvfp4 scale_max=0\" is not a scale; pass a number above 0, as scale_max=256"},
        {"int4 empty=normal", TD_OPTION,
         "empty=normal in packing \"int4 empty=normal\" needs a rule that makes powers of two, and it says "
         "rule=absmax"},
        {"bfp8 void=zero", TD_OPTION,
         "void=zero in packing \"bfp8 void=zero\" needs scales that may be NaN, and rule=shared makes none"},
        {"mxfp4 pad_scale=", TD_OPTION,
         "pad_scale= in packing \"mxfp4 pad_scale=\" is not a number; pass one, as pad_scale=1"},
        {"mxfp4 codes=exact", TD_OPTION,
         "codes=exact in packing \"mxfp4 codes=exact\" needs rule=absmax, rule=gptq or rule=awq, and it says "
         "rule=floor"},
    };
    td_tensor *t = NULL;
    td_parts *parts = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(4, 40), &t));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, "parts_pack: %s", rows[i].text);
        ASSERT_REFUSED(td_parts_pack(t, rows[i].packing, &parts), rows[i].status, text);
        assert_null(parts);
        snprintf(text, sizeof text, "parts_create: %s", rows[i].text);
        ASSERT_REFUSED(td_parts_create(rows[i].packing, TD_SHAPE(4, 40), &parts), rows[i].status, text);
        assert_null(parts);
    }
    ASSERT_OK(td_parts_pack(t, "mxfp4", &parts));
    td_tensor *part = NULL;
    ASSERT_REFUSED(td_parts_part(parts, "scale", &part), TD_OPTION,
                   "parts_part: \"scale\" is no part of \"mxfp4\"; did you mean \"scales\"? they are elems, scales");
    ASSERT_REFUSED(td_parts_part(parts, "zeros", &part), TD_OPTION,
                   "parts_part: \"zeros\" is no part of \"mxfp4\"; they are elems, scales");
    ASSERT_REFUSED(td_parts_unpack(parts, "f31", &part), TD_DTYPE,
                   "parts_unpack: unknown dtype \"f31\"; did you mean \"f32\"? a dtype is u1..u64, i1..i64, f16, bf16, "
                   "f32, f64, e<X>m<Y>, q<m>.<n> or uq<m>.<n>");
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
    ASSERT_REFUSED(td_parts_pack(NULL, "mxfp4", &parts), TD_ARGUMENT,
                   "parts_pack: the tensor is NULL; pass a tensor, a packing such as \"mxfp4\", and a td_parts");
    ASSERT_REFUSED(td_parts_create(NULL, TD_SHAPE(1), &parts), TD_ARGUMENT,
                   "parts_create: the packing is NULL; pass a packing such as \"mxfp4\", and a td_parts");
    ASSERT_REFUSED(td_parts_create("mxfp4", TD_SHAPE(4, 0), &parts), TD_SHAPE,
                   "parts_create: shape (4, 0) has an extent of 0 at dimension 1; every extent is at least 1");
    ASSERT_REFUSED(td_parts_part(NULL, "elems", &part), TD_ARGUMENT,
                   "parts_part: parts is NULL; pass parts, a name such as \"scales\", and a td_tensor");
    ASSERT_REFUSED(td_parts_unpack(NULL, "f32", &part), TD_ARGUMENT,
                   "parts_unpack: parts is NULL; pass parts, and a td_tensor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_are_the_published_ones),
        cmocka_unit_test(rounding_up_to_e8m0_is_the_published_one),
        cmocka_unit_test(special_values_follow_the_options),
        cmocka_unit_test(mxint8_leaves_the_lowest_code_out),
        cmocka_unit_test(nvfp4_is_calculated_as_its_libraries_do),
        cmocka_unit_test(four_over_six_takes_the_smaller_error),
        cmocka_unit_test(four_over_six_of_tiles_and_columns),
        cmocka_unit_test(empty_and_void_blocks_follow_the_options),
        cmocka_unit_test(bfp_shares_the_largest_exponent),
        cmocka_unit_test(groups_have_scales_and_zero_points),
        cmocka_unit_test(parts_have_their_shapes_and_names),
        cmocka_unit_test(blocks_along_any_axis_are_the_same),
        cmocka_unit_test(what_was_packed_packs_to_itself),
        cmocka_unit_test(parts_are_taken_and_joined),
        cmocka_unit_test(the_rule_that_fits_is_named),
        cmocka_unit_test(pairs_are_named_of_large_tensors),
        cmocka_unit_test(refusals_say_what_to_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
