/* Presets against formulas. Each layout is written a second time in preset_formulas.h, as the arithmetic that its
 * makers publish: tensor coordinate in, element offset out. A load through the preset must give the image that the
 * formula gives, in every bit of every bank, and a dump must give the tensor back. Also the parameters, the printing
 * and the refusals. */
#include "preset_formulas.h"
#include "support.h"

#include <stdbool.h>

static const struct {
    const char *preset, *options, *dtype;
    td_shape shape;
    u64 lanes, depth, banks;
    formula *offset;
} cases[] = {
    {"preset:row_major cs=4", "", "u8", {3, {2, 3, 10}}, 4, 32, 1, row_major},
    {"preset:nvdla_feature", "", "i8", {4, {2, 70, 3, 5}}, 32, 128, 1, nvdla_feature},
    {"preset:nvdla_feature a=8 line=16 surface=100",
     "batch=400 base=0x20",
     "i8",
     {4, {2, 20, 6, 5}},
     8,
     1024,
     1,
     nvdla_small_strided},
    {"preset:nvdla_weight", "", "i8", {4, {70, 130, 2, 3}}, 1, 60000, 1, nvdla_weight},
    {"preset:nvdla_weight dtype=i16", "base=7", "i16", {4, {20, 65, 1, 2}}, 1, 3000, 1, nvdla_weight_16},
    {"preset:nvdla_weight k0=4 c0=3", "", "u8", {4, {6, 7, 3, 2}}, 1, 256, 1, nvdla_weight_tiny},
    {"preset:vta_activation n0=2", "", "i8", {4, {3, 20, 4, 5}}, 32, 128, 1, vta_activation},
    {"preset:vta_weight", "", "i8", {4, {20, 33, 3, 3}}, 256, 64, 1, vta_weight},
    {"preset:nhcwb16", "", "i8", {4, {2, 3, 5, 20}}, 16, 64, 1, nhcwb16},
    {"preset:nc1hwc0", "", "f16", {4, {2, 35, 3, 5}}, 16, 128, 1, nc1hwc0},
    {"preset:nc1hwc0 dtype=i8", "", "i8", {4, {2, 35, 3, 5}}, 32, 128, 1, nc1hwc0_i8},
    {"preset:nc1hwc0 c0=32", "", "i8", {4, {2, 35, 3, 5}}, 32, 128, 1, nc1hwc0_i8},
    {"preset:fractal_nz", "", "f16", {3, {2, 40, 33}}, 16, 512, 1, fractal_nz},
    {"preset:fractal_z", "", "f16", {5, {20, 18, 2, 3, 2}}, 16, 1024, 1, fractal_z},
    {"preset:nchw16c", "", "f32", {4, {2, 35, 3, 5}}, 16, 128, 1, nc1hwc0},
    {"preset:nchw16c c0=8", "", "f32", {4, {2, 35, 3, 5}}, 8, 256, 1, nchw8c},
    {"preset:oihw4i16o4i", "", "i8", {4, {20, 18, 2, 3}}, 64, 128, 1, oihw4i16o4i},
    {"preset:vnni", "", "i8", {2, {12, 7}}, 4, 64, 1, vnni_i8},
    {"preset:vnni", "dtype=bf16", "bf16", {2, {6, 7}}, 2, 64, 1, vnni_bf16},
    {"preset:amx_b", "", "i8", {2, {100, 40}}, 64, 128, 1, amx_b},
    {"preset:tpu", "", "bf16", {2, {20, 130}}, 256, 64, 1, tpu_bf16},
    {"preset:tpu", "dtype=f32", "f32", {2, {20, 130}}, 128, 64, 1, tpu_f32},
    {"preset:tenstorrent", "", "bf16", {2, {40, 70}}, 16, 512, 1, tenstorrent},
    {"preset:hexagon", "", "f16", {4, {2, 9, 6, 40}}, 64, 256, 1, hexagon},
    {"preset:int4_onnx", "", "i4", {1, {13}}, 2, 16, 1, identity},
    {"preset:int4_ggml", "", "i4", {1, {96}}, 2, 64, 1, int4_ggml},
    {"preset:scale_128x4", "", "e4m3", {2, {200, 7}}, 16, 256, 1, scale_128x4},
    {"preset:scale_8x4", "", "e4m3", {2, {20, 7}}, 32, 16, 1, scale_8x4},
    {"preset:scale_32x8", "", "e8m0", {2, {300, 13}}, 4, 2048, 1, scale_32x8},
    {"preset:sparse24_values g=4", "", "i8", {2, {5, 12}}, 8, 16, 1, sparse_rows},
    {"preset:sparse24_index", "", "u2", {2, {5, 12}}, 8, 16, 1, sparse_rows},
    {"preset:xor_swizzle b=3 s=3 cs=8", "", "f16", {2, {16, 64}}, 8, 128, 1, swizzle},
    {"preset:bank_interleave banks=3", "cs=4 base=5", "u8", {2, {5, 16}}, 4, 16, 3, three_banks},
    {"preset:bank_rows bank=6 byte=8", "", "u8", {1, {200}}, 8, 16, 6, six_rows},
    {"preset:fft_bitrev bits=6", "", "f32", {2, {64, 2}}, 2, 64, 1, bit_reversed},
    {"preset:fft_bitrev bits=15",
     "",
     "i4",
     {2, {32768, 1}},
     1,
     32768,
     1,
     bit_reversed}, /* more loops than a move has */
    {"preset:morton", "", "u16", {2, {16, 16}}, 1, 256, 1, morton},
    {"preset:rnn_gates", "", "f16", {2, {20, 3}}, 4, 32, 1, rnn_gates},
    {"preset:nc1hwc0 base=0x10", "beats=2", "f16", {4, {2, 35, 3, 5}}, 8, 256, 1, beats_and_base},
};

static void set_bits(unsigned char *image, u64 first, unsigned bits, u64 value)
{
    for (unsigned i = 0; i < bits; i++)
        if (value >> i & 1)
            image[(first + i) / 8] |= (unsigned char)(1u << ((first + i) % 8));
}

static void place_all(size_t n, const td_tensor *tensor, unsigned char **image, size_t word_bytes)
{
    u64 x[8] = {0};
    const unsigned bits = td_tensor_elem_bits(tensor);
    const td_shape *shape = &cases[n].shape;
    for (u64 i = 0; i < td_tensor_elems(tensor); i++) {
        u64 rest = i, bank = 0, value = 0;
        for (size_t k = shape->rank; k-- > 0; rest /= shape->dim[k])
            x[k] = rest % shape->dim[k];
        const u64 offset = cases[n].offset(x, shape->dim, &bank), word = offset / cases[n].lanes;
        assert_true(word < cases[n].depth && bank < cases[n].banks);
        ASSERT_OK(td_tensor_get_bits(tensor, i, &value));
        set_bits(image[bank] + word * word_bytes, offset % cases[n].lanes * bits, bits, value);
    }
}

static void check_case(size_t n)
{
    td_tensor *tensor = NULL, *back = NULL;
    td_layout *layout = NULL;
    td_memory *memory[8] = {NULL};
    unsigned char *image[8] = {NULL};
    ASSERT_OK(td_tensor_create(cases[n].dtype, cases[n].shape, &tensor));
    ASSERT_OK(td_tensor_create(cases[n].dtype, cases[n].shape, &back));
    ASSERT_OK(td_tensor_fill_random(tensor, n + 1));
    ASSERT_OK(td_layout_create(cases[n].preset, cases[n].options, NULL, &layout));
    const u64 width = cases[n].lanes * td_tensor_elem_bits(tensor), banks = cases[n].banks;
    for (u64 b = 0; b < banks; b++) {
        ASSERT_OK(td_memory_create("bank", width, cases[n].depth, &memory[b]));
        image[b] = calloc(cases[n].depth, td_memory_word_bytes(memory[b]));
    }
    const size_t word_bytes = td_memory_word_bytes(memory[0]);
    place_all(n, tensor, image, word_bytes);
    ASSERT_OK(td_backdoor_load_tensor_banks(memory, banks, tensor, layout, NULL));
    for (u64 b = 0; b < banks; b++)
        if (memcmp(td_memory_data(memory[b]), image[b], cases[n].depth * word_bytes) != 0)
            fail_msg("%s %s: bank %u is not what the formula says", cases[n].preset, cases[n].options, (unsigned)b);
    ASSERT_OK(td_backdoor_dump_tensor_banks(memory, banks, back, layout, NULL));
    assert_memory_equal(td_tensor_data(back), td_tensor_data(tensor),
                        td_tensor_elems(tensor) * td_tensor_elem_bytes(tensor));
    for (u64 b = 0; b < banks; b++) {
        td_memory_destroy(&memory[b]);
        free(image[b]);
    }
    td_layout_destroy(&layout);
    td_tensor_destroy(&back);
    td_tensor_destroy(&tensor);
}

static void test_formulas(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++)
        check_case(n);
}

/* Every preset of the table stands in a test of this file. */
static void test_all_are_tested(void **state)
{
    (void)state;
    for (size_t p = 0; p < td_preset_count(); p++) {
        const char *name = td_preset_at(p)->name;
        bool found = strcmp(name, "im2col") == 0 || strcmp(name, "mx_scale") == 0 || strcmp(name, "nvfp4_scale") == 0;
        for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
            const char *at = cases[n].preset + strlen("preset:");
            found = found || (strncmp(at, name, strlen(name)) == 0 && (at[strlen(name)] == ' ' || !at[strlen(name)]));
        }
        if (!found)
            fail_msg("preset %s has no formula", name);
    }
    assert_null(td_preset_at(td_preset_count()));
}

/* Scales: memory holds one per block, the tensor one per element. The image is that of the blocks' own scales. */
static void check_scales(const char *preset, u64 block, u64 lanes)
{
    enum { ROWS = 3, LONG = 80 };
    td_tensor *tensor = NULL, *back = NULL;
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    ASSERT_OK(td_tensor_create("e8m0", TD_SHAPE(ROWS, LONG), &tensor));
    ASSERT_OK(td_tensor_create("e8m0", TD_SHAPE(ROWS, LONG), &back));
    ASSERT_OK(td_layout_create(preset, NULL, NULL, &layout));
    ASSERT_OK(td_memory_create("scales", 8 * lanes, 32, &memory));
    unsigned char *data = td_tensor_data(tensor), image[128] = {0};
    const u64 words = up(LONG, block * lanes);
    for (u64 m = 0; m < ROWS; m++)
        for (u64 k = 0; k < LONG; k++) {
            data[m * LONG + k] = (unsigned char)(100 + 10 * m + k / block);
            image[m * words * lanes + k / block] = data[m * LONG + k];
        }
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    assert_memory_equal(td_memory_data(memory), image, 32);
    ASSERT_OK(td_backdoor_dump_tensor(memory, back, layout, NULL));
    assert_memory_equal(td_tensor_data(back), data, (size_t)ROWS * LONG);
    td_memory_destroy(&memory);
    td_layout_destroy(&layout);
    td_tensor_destroy(&back);
    td_tensor_destroy(&tensor);
}

static void test_scales(void **state)
{
    (void)state;
    check_scales("preset:mx_scale", 32, 1);
    check_scales("preset:mx_scale k0=2", 32, 2);
    check_scales("preset:nvfp4_scale", 16, 1);
    check_scales("preset:nvfp4_scale k0=4", 16, 4);
}

/* im2col as the loops of the reference convolution: row (h, w), column (c, kh, kw). */
static void test_im2col(void **state)
{
    (void)state;
    enum { C = 2, H = 10, W = 7, K = 3, S = 2, OH = 4, OW = 5 }; /* the last row is under no window */
    td_tensor *tensor = NULL, *back = NULL;
    td_layout *layout = NULL;
    td_memory *memory = NULL;
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(C, H, W), &tensor));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(C, H, W), &back));
    ASSERT_OK(td_tensor_fill_random(tensor, 7));
    ASSERT_OK(td_layout_create("preset:im2col sh=2", NULL, NULL, &layout));
    assert_string_equal(td_layout_pattern(layout), "... c (2*h + kh) (w + kw) -> (... h w) (c kh kw)");
    assert_string_equal(td_layout_options(layout), "kh=3 kw=3 tail=clip");
    ASSERT_OK(td_memory_create("columns", 8 * C * K * K, OH * OW, &memory));
    ASSERT_OK(td_backdoor_load_tensor(memory, tensor, layout, NULL));
    const unsigned char *in = td_tensor_data(tensor), *out = td_memory_data(memory);
    for (int h = 0; h < OH; h++)
        for (int w = 0; w < OW; w++)
            for (int c = 0; c < C; c++)
                for (int kh = 0; kh < K; kh++)
                    for (int kw = 0; kw < K; kw++)
                        assert_int_equal(
                            out[(size_t)(h * OW + w) * td_memory_word_bytes(memory) + (size_t)((c * K + kh) * K + kw)],
                            in[(c * H + S * h + kh) * W + w + kw]);
    ASSERT_OK(td_backdoor_dump_tensor(memory, back, layout, NULL));
    const unsigned char *copy = td_tensor_data(back);
    for (int i = 0; i < C * H * W; i++)
        assert_int_equal(copy[i], i / W % H < H - 1 ? in[i] : 0);
    td_memory_destroy(&memory);
    td_layout_destroy(&layout);
    td_tensor_destroy(&back);
    td_tensor_destroy(&tensor);
}

static const struct {
    const char *preset, *options, *address, *pattern_is, *options_are, *address_is;
} prints[] = {
    {"preset:nc1hwc0 c0=32", "", "", "n (c1 c0) h w -> (n c1 h w) c0", "c0=32 pad=0", ""},
    {"  preset:nc1hwc0", "tail=clip", "", "n (c1 c0) h w -> (n c1 h w) c0", "c0=16 tail=clip", ""},
    {"preset:nc1hwc0", "base=0x40 beats=2 pad=-1", "", "n (c1 c0) h w -> (n c1 h w) c0", "c0=16 pad=-1 beats=2",
     "64 + 2*index"},
    {"preset:nc1hwc0", "", "4*c1 + h", "n (c1 c0) h w -> (n c1 h w) c0", "c0=16 pad=0", "4*c1 + h"},
    {"preset:nvdla_feature line=8", "", "", "n (s a) h w -> (n s h w) a", "a=32 pad=0",
     "8*dim(2)*((dim(1) + 32 - 1)/32)*n + 8*dim(2)*s + 8*h + w"},
    {"preset:xor_swizzle b=2 s=4", "", "", "... (ct cs) -> (... ct) cs", "cs=1 pad=0", "index ^ (index & 48) >> 4"},
    {"preset:fft_bitrev bits=10", "", "", "n ... -> n ...", "", "rev(n, 10)"},
    {"preset:bank_interleave banks=6", "base=5", "", "... (ct cs) -> (... ct) cs", "cs=1 pad=0",
     "bank = index%6; addr = 5 + index/6"},
};

/* A preset prints as what it stands for, and that prints as itself. */
static void test_prints(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof prints / sizeof prints[0]; i++) {
        td_layout *layout = NULL, *again = NULL;
        ASSERT_OK(td_layout_create(prints[i].preset, prints[i].options, prints[i].address, &layout));
        assert_string_equal(td_layout_pattern(layout), prints[i].pattern_is);
        assert_string_equal(td_layout_options(layout), prints[i].options_are);
        assert_string_equal(td_layout_address(layout), prints[i].address_is);
        ASSERT_OK(
            td_layout_create(td_layout_pattern(layout), td_layout_options(layout), td_layout_address(layout), &again));
        assert_string_equal(td_layout_address(again), td_layout_address(layout));
        assert_string_equal(td_layout_as(layout), "");
        td_layout_destroy(&again);
        td_layout_destroy(&layout);
    }
}

static const struct {
    const char *preset, *options, *address, *message;
} refused[] = {
    {"preset:nc1hwco", "", "", "layout_create: unknown preset nc1hwco; did you mean nc1hwc0?"},
    {"preset:", "", "",
     "layout_create: unknown preset \"\"; td_preset_at and the command `tensordoor presets` list the 32 that there "
     "are"},
    {"preset:nc1hwc0 co=32", "", "", "layout_create: preset nc1hwc0 has no parameter co; did you mean c0?"},
    {"preset:nc1hwc0 blocking=32", "", "",
     "layout_create: preset nc1hwc0 has no parameter blocking; it has c0 base, and the options of every layout"},
    {"preset:nc1hwc0 c0=32", "c0=16", "", "layout_create: option c0 is given twice, 32 and 16; give it once"},
    {"preset:nc1hwc0 c0", "", "", "layout_create: option \"c0\" is not KEY=VALUE; write it without spaces, as in cs=4"},
    {"preset:nc1hwc0 c0=0", "", "", "layout_create: option c0=0: pass a whole number of at least 1"},
    {"preset:nc1hwc0", "base=x", "", "layout_create: option base=x: pass a whole number of at least 0"},
    {"preset:nc1hwc0", "base=4", "index",
     "layout_create: preset nc1hwc0 got base=4 and an address of its own; put the value into the "
     "address, or drop the address"},
    {"preset:fft_bitrev", "", "", "layout_create: preset fft_bitrev has no bits; pass bits=N"},
    {"preset:vnni dtype=f64", "", "",
     "layout_create: preset vnni has no size for elements of 64 bits in axis k0; pass k0=N"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        td_layout *layout = NULL;
        ASSERT_REFUSED(td_layout_create(refused[i].preset, refused[i].options, refused[i].address, &layout), TD_OPTION,
                       refused[i].message);
        assert_null(layout);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas), cmocka_unit_test(test_all_are_tested), cmocka_unit_test(test_scales),
        cmocka_unit_test(test_im2col),   cmocka_unit_test(test_prints),         cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
