/* Bytes that others have published, against ours: element types and their ties, torchao's blocks of MXFP8 (the shared
 * cases of its tests), microxcaling's corners of MX, tt-metal's block floats, places of scales, AWQ's words for its
 * fast gemv; and that every code at every scale packs to itself. The tables of rules are in test_parts.c, of sparse
 * tensors in test_sparse.c and test_sparse_orders.c, of ggml in test_records.c. */
#include "support.h"

#include <math.h>
#include <stdbool.h>

static td_tensor *tensor_of(const char *dtype, td_shape shape, const void *data)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create(dtype, shape, &t));
    memcpy(td_tensor_data(t), data, (size_t)td_tensor_elems(t) * td_tensor_elem_bytes(t));
    return t;
}

static const unsigned char *bytes_of(td_parts *parts, const char *part)
{
    td_tensor *t = NULL;
    ASSERT_OK(td_parts_part(parts, part, &t));
    return td_tensor_data(t);
}

/* -- element types -- */

static double value_of(const char *dtype, uint64_t code)
{
    td_tensor *t = NULL;
    double value = 0;
    ASSERT_OK(td_tensor_create(dtype, TD_SHAPE(1), &t));
    ASSERT_OK(td_tensor_set_bits(t, 0, code));
    ASSERT_OK(td_tensor_get_real(t, 0, &value));
    td_tensor_destroy(&t);
    return value;
}

static void elements_have_the_published_values(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        uint64_t max_code;
        double max;
        uint64_t normal_code;
        double normal, least; /* the smallest normal number, and code 1 */
    } rows[] = {
        {"e2m1", 0x7, 6, 2, 1, .5},
        {"e2m3", 0x1f, 7.5, 8, 1, .125},
        {"e3m2", 0x1f, 28, 4, .25, .0625},
        {"e4m3", 0x7e, 448, 8, 0x1p-6, 0x1p-9},
        {"e5m2", 0x7b, 57344, 4, 0x1p-14, 0x1p-16},
        {"q2.6", 0x7f, 127.0 / 64, 1, 1.0 / 64, 1.0 / 64},
        {"e8m0", 0xfe, 0x1p127, 0, 0x1p-127, 0x1p-126},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(value_of(rows[i].dtype, rows[i].max_code) == rows[i].max);
        assert_true(value_of(rows[i].dtype, rows[i].normal_code) == rows[i].normal);
        assert_true(value_of(rows[i].dtype, 1) == rows[i].least);
    }
    assert_true(isnan(value_of("e4m3", 0x7f)) && isnan(value_of("e4m3", 0xff)) && isnan(value_of("e8m0", 0xff)));
    assert_true(value_of("e5m2", 0x7c) == INFINITY && isnan(value_of("e5m2", 0x7d)));
    static const double e2m1[8] = {0, .5, 1, 1.5, 2, 3, 4, 6};
    for (uint64_t code = 0; code < 16; code++)
        assert_true(value_of("e2m1", code) == (code & 8 ? -e2m1[code & 7] : e2m1[code & 7]));
}

/* In a block whose scale is 1. */
static void ties_of_e2m1_go_to_the_even_code(void **state)
{
    (void)state;
    static const struct {
        float value;
        unsigned char code;
    } rows[] = {
        {6, 7},     {.25F, 0},  {.75F, 2},   {1.25F, 2},  {1.75F, 4}, {2.5F, 4},    {3.5F, 6},
        {5, 6},     {5.01F, 7}, {.2501F, 1}, {.7499F, 1}, {1.26F, 3}, {1.74F, 3},   {2.51F, 5},
        {3.49F, 5}, {-.25F, 8}, {-5, 14},    {-0.0F, 8},  {.5F, 1},   {-1.75F, 12},
    };
    float values[32] = {0};
    td_parts *parts = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        values[i] = rows[i].value;
    td_tensor *t = tensor_of("f32", TD_SHAPE(32), values);
    ASSERT_OK(td_parts_pack(t, "mxfp4", &parts));
    assert_int_equal(bytes_of(parts, "scales")[0], 127);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (bytes_of(parts, "elems")[i] != rows[i].code)
            fail_msg("%g has code %u, not %u", (double)rows[i].value, bytes_of(parts, "elems")[i], rows[i].code);
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
}

/* -- MXFP8 by rceil: torchao -- */

/* A block of `rest` whose first elements are `first`, as bits of an f32; a bf16 has their upper half. */
typedef struct block_case {
    const char *name;
    uint32_t rest, first[4];
    unsigned char scale, rest_code, code[4];
} block_case;

#define SAME(bits, scale, code)                                                                                        \
    (bits), {(bits), (bits), (bits), (bits)}, (scale), (code),                                                         \
    {                                                                                                                  \
        (code), (code), (code), (code)                                                                                 \
    }
#define ONE_OTHER(rest, first, scale, code, first_code)                                                                \
    (rest), {(first), (rest), (rest), (rest)}, (scale), (code),                                                        \
    {                                                                                                                  \
        (first_code), (code), (code), (code)                                                                           \
    }

static void check_blocks(const char *dtype, const block_case *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool half = strcmp(dtype, "bf16") == 0;
        td_tensor *t = NULL;
        td_parts *parts = NULL;
        ASSERT_OK(td_tensor_create(dtype, TD_SHAPE(32), &t));
        for (uint64_t e = 0; e < 32; e++)
            ASSERT_OK(td_tensor_set_bits(t, e, (e < 4 ? rows[i].first[e] : rows[i].rest) >> (half ? 16 : 0)));
        ASSERT_OK(td_parts_pack(t, "mxfp8 rule=rceil", &parts));
        const unsigned char *elems = bytes_of(parts, "elems");
        if (bytes_of(parts, "scales")[0] != rows[i].scale)
            fail_msg("%s, %s: scale %u", rows[i].name, dtype, bytes_of(parts, "scales")[0]);
        for (size_t e = 0; e < 32; e++)
            if (elems[e] != (e < 4 ? rows[i].code[e] : rows[i].rest_code))
                fail_msg("%s, %s: element %zu is %#x", rows[i].name, dtype, e, elems[e]);
        td_parts_destroy(&parts);
        td_tensor_destroy(&t);
    }
}

static void blocks_of_torchao_have_their_bytes(void **state)
{
    (void)state;
    enum { ONE = 0x3f800000, INF = 0x7f800000, QUIET = 0x7fc00000 };
    static const block_case both[] = {
        {"zero", SAME(0, 0, 0)},
        {"smallest normal", SAME(0x00800000, 0, 0x40)},
        {"mixed inf", ONE_OTHER(ONE, INF, 255, 0x7f, 0x7f)},
        {"mixed nan", ONE_OTHER(ONE, QUIET, 255, 0x7f, 0x7f)},
        {"448", SAME(0x43e00000, 127, 0x7e)},
        {"-448", SAME(0xc3e00000, 127, 0xfe)},
        {"all nan", SAME(QUIET, 255, 0x7f)},
        {"480", SAME(0x43f00000, 128, 0x77)},
        {"-480", SAME(0xc3f00000, 128, 0xf7)},
    };
    static const block_case single[] = {
        {"largest", SAME(0x7f7fffff, 247, 0x78)},
        {"-largest", SAME(0xff7fffff, 247, 0xf8)},
        {"smallest subnormal", SAME(1, 0, 0)},
        {"-smallest subnormal", SAME(0x80000001, 0, 0x80)},
        {"underflow", ONE_OTHER(ONE, 1, 119, 0x78, 0)},
        {"-underflow", ONE_OTHER(ONE, 0x80000001, 119, 0x78, 0x80)},
        {"saturation and underflow", ONE_OTHER(ONE, 0x7f7fffff, 247, 0, 0x78)},
        {"3.5 and one ulp", SAME(0x40600001, 121, 0x76)},
        {"just below 512", SAME(0x43ffffff, 128, 0x78)},
        {"subnormals", 0, {6142315, 5096174, 3345704, 33075}, 0, 0, {60, 58, 53, 4}},
        {"ordinary", 0, {1037408064, 1058534842, 994704128, 1064831570}, 119, 0, {93, 113, 53, 120}},
    };
    static const block_case half[] = {
        {"largest", SAME(0x7f7f0000, 247, 0x78)},
        {"-largest", SAME(0xff7f0000, 247, 0xf8)},
        {"smallest subnormal", SAME(0x00010000, 0, 8)},
        {"-smallest subnormal", SAME(0x80010000, 0, 0x88)},
        {"underflow", ONE_OTHER(ONE, 0x00010000, 119, 0x78, 0)},
        {"-underflow", ONE_OTHER(ONE, 0x80010000, 119, 0x78, 0x80)},
        {"saturation and underflow", ONE_OTHER(ONE, 0x7f7f0000, 247, 0, 0x78)},
        {"3.5", SAME(0x40600000, 120, 0x7e)},
        {"512", SAME(0x44000000, 128, 0x78)},
        {"subnormals", 0, {101 << 16, 3 << 16, 47 << 16, 120 << 16}, 0, 0, {61, 20, 52, 63}},
        {"ordinary", 0, {16223 << 16, 16248 << 16, 15696 << 16, 15956 << 16}, 119, 0, {118, 120, 85, 101}},
    };
    check_blocks("f32", both, sizeof both / sizeof both[0]);
    check_blocks("bf16", both, sizeof both / sizeof both[0]);
    check_blocks("f32", single, sizeof single / sizeof single[0]);
    check_blocks("bf16", half, sizeof half / sizeof half[0]);
}

/* -- MXINT8: microxcaling, whose round="nearest" has ties away from 0 -- */

static void check_values(const char *packing, const float *values, const float *expected, size_t rows, size_t columns)
{
    td_tensor *t = tensor_of("f32", TD_SHAPE(rows, columns), values), *back = NULL;
    td_parts *parts = NULL;
    ASSERT_OK(td_parts_pack(t, packing, &parts));
    ASSERT_OK(td_parts_unpack(parts, NULL, &back));
    for (size_t i = 0; i < rows * columns; i++)
        if (((float *)td_tensor_data(back))[i] != expected[i])
            fail_msg("%s: %.9g becomes %.9g, not %.9g", packing, (double)values[i],
                     (double)((float *)td_tensor_data(back))[i], (double)expected[i]);
    td_tensor_destroy(&back);
    td_tensor_destroy(&t);
    td_parts_destroy(&parts);
}

static void integers_of_microxcaling_have_their_values(void **state)
{
    (void)state;
    static const float values[7][10] = {
        {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        {1, 1, 1, 1, 1, 2, 2, 2, 2, 2},
        {-1, -1, -1, -1, -1, -2, -2, -2, -2, -2},
        {1, 1, 1, 1, 1, -2, -2, -2, -2, -2},
        {1.015625F, 1.0234375F, 1.03125F, 1.0390625F, 1.25F, 1.2578125F, 1.9375F, 1.9453125F, 1.984375F, 1.9921875F},
        {-1.984375F, -1.9765625F, -1.96875F, -1.9609375F, -1.9375F, -1.9296875F, -1.75F, -1.7421875F, -1, -1.9921875F},
        {1.99609375F, 1.98828125F, 0, .00390625F, .0078125F, .01171875F, -.015625F, -.01171875F, -.0078125F,
         -.00390625F},
    };
    static const float expected[7][10] = {
        {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        {1, 1, 1, 1, 1, 2, 2, 2, 2, 2},
        {-1, -1, -1, -1, -1, -2, -2, -2, -2, -2},
        {1, 1, 1, 1, 1, -2, -2, -2, -2, -2},
        {1.015625F, 1.03125F, 1.03125F, 1.046875F, 1.25F, 1.265625F, 1.9375F, 1.953125F, 1.984375F, 1.984375F},
        {-1.984375F, -1.984375F, -1.96875F, -1.96875F, -1.9375F, -1.9375F, -1.75F, -1.75F, -1, -1.984375F},
        {1.984375F, 1.984375F, 0, 0, .015625F, .015625F, -.015625F, -.015625F, -.015625F, 0},
    };
    check_values("mxint8 block=10 round=away", values[0], expected[0], 7, 10);
    static const float four[2][4] = {{-1, -1.75F, -1.99F, 1.99F}, {1, -1.75F, -1.99F, 1.99F}},
                       of_four[2][4] = {{-1, -1.75F, -1.75F, 1.75F}, {1, -1.75F, -1.75F, 1.75F}};
    check_values("mxint8 elem=q2.2 block=4 round=away", four[0], of_four[0], 2, 4);
    static const float odd[] = {NAN, INFINITY, -INFINITY}; /* the whole block is not finite */
    static const char *const packings[] = {"mxfp8 block=4 round=floor", "mxfp4 block=4 round=floor",
                                           "mxint8 elem=q2.2 block=4 round=floor"};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            td_tensor *t = tensor_of("f32", TD_SHAPE(4), (float[]){odd[i], 0, 0x1p127F, 0}), *back = NULL;
            td_parts *parts = NULL;
            ASSERT_OK(td_parts_pack(t, packings[k], &parts));
            ASSERT_OK(td_parts_unpack(parts, NULL, &back));
            for (size_t e = 0; e < 4; e++)
                assert_true(!isfinite(((float *)td_tensor_data(back))[e]));
            td_tensor_destroy(&back);
            td_tensor_destroy(&t);
            td_parts_destroy(&parts);
        }
}

/* -- block floats: tt-metal -- */

static void block_floats_of_tenstorrent_have_their_magnitudes(void **state)
{
    (void)state;
    static const struct {
        float value;
        unsigned char magnitude;
        float back;
    } rows[] = {{64.75F, 0x41, 65}, {65.25F, 0x41, 65}, {64.5F, 0x40, 64}, {65.5F, 0x42, 66}};
    for (size_t i = 0; i < 8; i++) {
        const float sign = i < 4 ? 1 : -1;
        float values[16] = {sign * rows[i % 4].value};
        td_tensor *t = tensor_of("f32", TD_SHAPE(16), values), *back = NULL;
        td_parts *parts = NULL;
        ASSERT_OK(td_parts_pack(t, "bfp8", &parts));
        assert_int_equal(bytes_of(parts, "elems")[0], rows[i % 4].magnitude | (i < 4 ? 0 : 0x80));
        assert_int_equal(bytes_of(parts, "scales")[0], 127 + 6);
        ASSERT_OK(td_parts_unpack(parts, NULL, &back));
        assert_true(((float *)td_tensor_data(back))[0] == sign * rows[i % 4].back);
        td_tensor_destroy(&back);
        td_tensor_destroy(&t);
        td_parts_destroy(&parts);
    }
}

/* -- every code at every scale -- */

/* Parts with these codes become values and the same parts again. Rows with values past f32 are left out. */
static void check_itself(const char *packing, td_parts *parts, uint64_t rows, uint64_t columns)
{
    td_tensor *values = NULL;
    td_parts *again = NULL;
    uint64_t compared = 0;
    ASSERT_OK(td_parts_unpack(parts, NULL, &values));
    ASSERT_OK(td_parts_pack(values, packing, &again));
    for (size_t part = 0; part < td_parts_count(parts); part++) {
        td_tensor *a = NULL, *b = NULL;
        ASSERT_OK(td_parts_part(parts, td_parts_name(parts, part), &a));
        ASSERT_OK(td_parts_part(again, td_parts_name(parts, part), &b));
        const size_t row = (size_t)(td_tensor_elems(a) / rows) * td_tensor_elem_bytes(a);
        for (uint64_t r = 0; r < rows; r++) {
            const float *of = (const float *)td_tensor_data(values) + r * columns;
            bool finite = true;
            for (uint64_t c = 0; c < columns; c++)
                finite = finite && isfinite(of[c]);
            compared += finite;
            if (finite && memcmp((char *)td_tensor_data(a) + r * row, (char *)td_tensor_data(b) + r * row, row) != 0)
                fail_msg("%s: row %u of %s", packing, (unsigned)r, td_parts_name(parts, part));
        }
    }
    assert_true(compared >= rows);
    td_parts_destroy(&again);
    td_tensor_destroy(&values);
}

/* A row for each scale, in which every code stands but `out` and those that are not finite, which are 0. */
static td_parts *all_codes(const char *packing, unsigned first, unsigned last, unsigned codes, unsigned out)
{
    const uint64_t rows = last - first + 1;
    td_parts *parts = NULL;
    td_tensor *elems = NULL, *scales = NULL, *global = NULL;
    ASSERT_OK(td_parts_create(packing, TD_SHAPE(rows, codes), &parts));
    if (td_parts_count(parts) == 3) {
        ASSERT_OK(td_parts_part(parts, "global", &global));
        ASSERT_OK(td_tensor_set_real(global, 0, 0.25));
    }
    ASSERT_OK(td_parts_part(parts, "elems", &elems));
    ASSERT_OK(td_parts_part(parts, "scales", &scales));
    for (uint64_t r = 0; r < rows; r++) {
        unsigned char *row = (unsigned char *)td_tensor_data(elems) + r * codes;
        ASSERT_OK(td_tensor_set_bits(scales, r, first + r));
        for (unsigned c = 0; c < codes; c++) {
            double value = 0;
            ASSERT_OK(td_tensor_set_bits(elems, r * codes + c, c));
            ASSERT_OK(td_tensor_get_real(elems, r * codes + c, &value));
            if (c == out || !isfinite(value))
                row[c] = 0;
        }
    }
    return parts;
}

#define NONE 1000 /* no code is left out */

static void every_code_at_every_scale_packs_to_itself(void **state)
{
    (void)state;
    static const struct {
        const char *packing;
        unsigned first, last, codes, out;
    } rows[] = {
        {"mxfp8 block=256 rule=rceil inf=max", 0, 254, 256, NONE},
        {"mxfp8_e5m2 block=256 rule=rceil inf=max", 0, 254, 256, NONE},
        {"mxfp6 block=64 rule=rceil inf=max", 0, 254, 64, NONE},
        {"mxfp6_e2m3 block=64 rule=rceil inf=max", 0, 254, 64, NONE},
        {"mxfp4 rule=rceil inf=max block=16", 0, 254, 16, NONE},
        {"mxint8 block=256 rule=rceil inf=max", 0, 254, 256, 0x80},
        {"mxfp8 block=256", 0, 254, 256, NONE}, /* floor: the largest code has the exponent that it looks for */
        {"mxfp4 block=16", 0, 254, 16, NONE},
        {"nvfp4 global=none", 1, 0x7e, 16, NONE},
        {"nvfp4 global=0.25", 1, 0x7e, 16, NONE},
        {"nvfp4 global=none rule=torchao", 8, 0x7e, 16, NONE},
        {"int8 block=256", 1, 0x7bff, 256, 0x80},
        {"int4 block=16", 1, 0x7bff, 16, 8},
        {"int3 block=8 scale=bf16", 1, 0x7dff, 8, 4},
        {"int2 block=4", 1, 0x7bff, 4, 2},
        {"bfp8 block=256", 8, 254, 256,
         0x80}, /* a 0 has no sign; below, values are subnormal: tt-metal takes them for others */
        {"bfp4 block=16", 8, 254, 16, 8},
        {"bfp8 elem=u5 block=32", 8, 254, 32, 16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_parts *parts = all_codes(rows[i].packing, rows[i].first, rows[i].last, rows[i].codes, rows[i].out);
        check_itself(rows[i].packing, parts, rows[i].last - rows[i].first + 1, rows[i].codes);
        td_parts_destroy(&parts);
    }
}

/* A row for each scale and zero point. */
static void every_zero_point_packs_to_itself(void **state)
{
    (void)state;
    static const char *const rules[] = {"gptq", "awq"};
    for (unsigned bits = 2; bits <= 4; bits++)
        for (size_t r = 0; r < 2; r++) {
            char packing[64];
            const uint64_t codes = 1U << bits, scales = 0x7bff - 0x1000 + 1, rows = scales * codes;
            td_parts *parts = NULL;
            td_tensor *elems = NULL, *scale = NULL, *zeros = NULL;
            snprintf(packing, sizeof packing, "uint%u block=%u rule=%s", bits, (unsigned)codes, rules[r]);
            ASSERT_OK(td_parts_create(packing, TD_SHAPE(rows, codes), &parts));
            ASSERT_OK(td_parts_part(parts, "elems", &elems));
            ASSERT_OK(td_parts_part(parts, "scales", &scale));
            ASSERT_OK(td_parts_part(parts, "zeros", &zeros));
            for (uint64_t i = 0; i < rows; i++) {
                const uint16_t code = (uint16_t)(0x1000 + i / codes); /* from 2^-11 on: awq has a least one */
                memcpy((char *)td_tensor_data(scale) + 2 * i, &code, 2);
                ((unsigned char *)td_tensor_data(zeros))[i] = (unsigned char)(i % codes);
                for (uint64_t c = 0; c < codes; c++)
                    ((unsigned char *)td_tensor_data(elems))[i * codes + c] = (unsigned char)c;
            }
            check_itself(packing, parts, rows, codes);
            td_parts_destroy(&parts);
        }
}

/* -- places of scales -- */

static void scales_lie_at_the_published_places(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        uint64_t width_bits;
        struct {
            uint64_t row, column, place;
        } at[8];
        size_t count;
    } rows[] = {
        {"preset:scale_128x4",
         128,
         {{0, 0, 0}, {0, 3, 3}, {1, 0, 16}, {32, 0, 4}, {96, 3, 15}, {127, 3, 511}, {0, 4, 512}, {128, 0, 1024}},
         8},
        {"preset:scale_8x4", 256, {{0, 0, 0}, {1, 0, 4}, {7, 3, 31}, {0, 4, 32}, {8, 0, 64}}, 5},
        {"preset:scale_32x8", 32, {{0, 0, 0}, {16, 0, 1}, {0, 4, 2}, {1, 0, 4}, {0, 1, 64}, {32, 0, 256}}, 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_layout *layout = NULL;
        td_memory *memory = NULL;
        td_tensor *t = NULL;
        ASSERT_OK(td_layout_create(rows[i].preset, "", NULL, &layout));
        ASSERT_OK(td_memory_create("s", rows[i].width_bits, 256 * 8 * 8 / rows[i].width_bits, &memory));
        ASSERT_OK(td_tensor_create("e8m0", TD_SHAPE(256, 8), &t));
        for (size_t k = 0; k < rows[i].count; k++) {
            const uint64_t elem = rows[i].at[k].row * 8 + rows[i].at[k].column;
            ASSERT_OK(td_tensor_set_bits(t, elem, 0x55));
            ASSERT_OK(td_backdoor_load_tensor(memory, t, layout, NULL));
            const unsigned char *bytes = td_memory_data(memory);
            for (size_t b = 0; b < 256 * 8; b++)
                assert_int_equal(bytes[b], b == rows[i].at[k].place ? 0x55 : 0);
            ASSERT_OK(td_tensor_set_bits(t, elem, 0));
        }
        td_layout_destroy(&layout);
        td_memory_destroy(&memory);
        td_tensor_destroy(&t);
    }
}

/* -- packed elements -- */

/* Element i of six bits at bit 6i, as CUTLASS has them in global memory: 4 in 3 bytes. */
static void six_bits_are_dense(void **state)
{
    (void)state;
    td_parts *parts = NULL;
    td_tensor *elems = NULL, *bytes = NULL;
    ASSERT_OK(td_parts_create("mxfp6", TD_SHAPE(32), &parts));
    ASSERT_OK(td_parts_part(parts, "elems", &elems));
    for (uint64_t i = 0; i < 32; i++)
        ASSERT_OK(td_tensor_set_bits(elems, i, (i * 37 + 5) % 64));
    ASSERT_OK(td_parts_record(parts, "tile=4 elems", &bytes));
    assert_int_equal(td_tensor_elems(bytes), 24);
    for (size_t bit = 0; bit < 192; bit++)
        assert_int_equal(((unsigned char *)td_tensor_data(bytes))[bit / 8] >> bit % 8 & 1,
                         (bit / 6 * 37 + 5) % 64 >> bit % 6 & 1);
    td_tensor_destroy(&bytes);
    td_parts_destroy(&parts);
}

/* AutoAWQ's gemv_fast: of every 32 along K the order 0 1 8 9 16 17 24 25 2 3 .., then of every 8 0 2 4 6 1 3 5 7; four
 * rows in turn, 64 of K each, and four codes in a word of 16 bits. */
static void words_of_awq_gemv_fast(void **state)
{
    (void)state;
    enum { N = 8, K = 128 };
    static const unsigned eights[8] = {0, 2, 4, 6, 1, 3, 5, 7};
    unsigned order[32];
    uint16_t expected[N / 4][K] = {{0}};
    td_parts *parts = NULL, *again = NULL;
    td_tensor *elems = NULL, *words = NULL;
    for (unsigned i = 0; i < 32; i++) {
        const unsigned at = i / 8 * 8 + eights[i % 8]; /* of the first order */
        order[i] = at / 8 * 2 + at % 8 / 2 * 8 + at % 2;
    }
    ASSERT_OK(td_parts_create("uint4 block=64 rule=awq", TD_SHAPE(N, K), &parts));
    ASSERT_OK(td_parts_part(parts, "elems", &elems));
    for (uint64_t i = 0; i < N * K; i++)
        ASSERT_OK(td_tensor_set_bits(elems, i, (i * 7 + i / 16 * 3) % 16));
    const unsigned char *codes = td_tensor_data(elems);
    for (unsigned n = 0; n < N; n++)
        for (unsigned k = 0; k < K; k++) {
            const unsigned code = codes[n * K + k / 32 * 32 + order[k % 32]];
            const unsigned at = (k / 64 * 4 + n % 4) * 64 + k % 64; /* of the nibbles of four rows */
            expected[n / 4][at / 4] |= (uint16_t)(code << (4 * (at % 4)));
        }
    ASSERT_OK(td_parts_record(parts, "awq_gemv_fast", &words));
    assert_string_equal(td_tensor_dtype(words), "u16");
    assert_int_equal(td_tensor_elems(words), N * K / 4);
    assert_memory_equal(td_tensor_data(words), expected, sizeof expected);
    ASSERT_OK(td_parts_create("uint4 block=64 rule=awq", TD_SHAPE(N, K), &again));
    ASSERT_OK(td_parts_set_record(again, "awq_gemv_fast", words));
    assert_memory_equal(bytes_of(again, "elems"), codes, N * K);
    td_tensor_destroy(&words);
    ASSERT_OK(td_parts_record(parts, "awq_gemv", &words)); /* 8 of K in a word, in order */
    uint32_t second = 0;
    for (unsigned i = 0; i < 8; i++)
        second |= (uint32_t)codes[8 + i] << (4 * i);
    assert_int_equal(((uint32_t *)td_tensor_data(words))[1], second);
    td_tensor_destroy(&words);
    td_parts_destroy(&again);
    td_parts_destroy(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_have_the_published_values),
        cmocka_unit_test(ties_of_e2m1_go_to_the_even_code),
        cmocka_unit_test(blocks_of_torchao_have_their_bytes),
        cmocka_unit_test(integers_of_microxcaling_have_their_values),
        cmocka_unit_test(block_floats_of_tenstorrent_have_their_magnitudes),
        cmocka_unit_test(every_code_at_every_scale_packs_to_itself),
        cmocka_unit_test(every_zero_point_packs_to_itself),
        cmocka_unit_test(scales_lie_at_the_published_places),
        cmocka_unit_test(six_bits_are_dense),
        cmocka_unit_test(words_of_awq_gemv_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
