/* The orders of sparse metadata on Marlin and Hopper, the surfaces of NVDLA, and which sparse packing fits; by values
 * worked out by hand. Random ones are in tests/prop/sparse_oracle.py. */
#include "sparse.h"

/* Words of 64 rows and more, each known by its row and column, against formulas of the words alone. */
static void marlin_and_hopper_have_their_orders(void **state)
{
    (void)state;
    static const struct {
        const char *packing, *dtype;
        size_t rows, columns, per_word, row, word, place;
    } rows[] = {
        {"2:4 order=marlin", "i8", 64, 64, 16, 0, 0, 0},
        {"2:4 order=marlin", "i8", 64, 64, 16, 1, 0, 4},  /* row 2 */
        {"2:4 order=marlin", "i8", 64, 64, 16, 2, 0, 64}, /* row 32 */
        {"2:4 order=marlin", "i8", 64, 64, 16, 4, 0, 1},  /* row 1, swapped to row 0, column 1 */
        {"2:4 order=marlin", "i8", 64, 64, 16, 8, 0, 8},  /* row 4 */
        {"2:4 order=marlin", "i8", 64, 64, 16, 63, 3, 255},
        {"2:4 order=hopper", "bf16", 64, 128, 16, 0, 0, 0},
        {"2:4 order=hopper", "bf16", 64, 128, 16, 8, 0, 1},    /* k0, then the row 8 below */
        {"2:4 order=hopper", "bf16", 64, 128, 16, 0, 2, 2},    /* then the next block along the row */
        {"2:4 order=hopper", "bf16", 64, 128, 16, 1, 0, 8},    /* then the next row */
        {"2:4 order=hopper", "bf16", 64, 128, 16, 0, 1, 64},   /* then the word beside */
        {"2:4 order=hopper", "bf16", 64, 128, 16, 16, 0, 128}, /* then 16 rows below */
        {"2:4 order=hopper", "bf16", 64, 128, 16, 63, 7, 511},
        {"2:4 order=hopper tile=32", "bf16", 128, 64, 16, 64, 0, 128},
        {"2:4 order=hopper tile=32", "bf16", 128, 64, 16, 0, 2, 256}, /* all rows first, then the next tile */
        {"2:4 order=hopper", "i8", 64, 256, 16, 1, 0, 8},
        {"2:4 order=hopper", "i8", 64, 256, 16, 0, 8, 512},
        {"1:2 order=hopper", "f32", 64, 64, 8, 0, 2, 2},
        {"1:2 order=hopper tile=16", "f32", 64, 64, 8, 0, 2, 128},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_tensor *t = NULL, *back = NULL, *meta = NULL;
        td_parts *parts = NULL;
        ASSERT_OK(td_tensor_create(rows[i].dtype, TD_SHAPE(rows[i].rows, rows[i].columns), &t));
        ASSERT_OK(td_tensor_set_bits(t, rows[i].row * rows[i].columns + rows[i].word * rows[i].per_word, 1));
        ASSERT_OK(td_parts_pack(t, rows[i].packing, &parts));
        ASSERT_OK(td_parts_part(parts, "meta", &meta));
        assert_int_equal(td_tensor_elems(meta), rows[i].rows * rows[i].columns / rows[i].per_word);
        for (uint64_t w = 0; w < td_tensor_elems(meta); w++)
            if (((code_of(parts, "meta", w) & 15) != 0xe) != (w == rows[i].place))
                fail_msg("%s, row %zu word %zu: word %u of meta is %#x", rows[i].packing, rows[i].row, rows[i].word,
                         (unsigned)w, (unsigned)code_of(parts, "meta", w));
        ASSERT_OK(td_parts_unpack(parts, NULL, &back));
        assert_memory_equal(td_tensor_data(back), td_tensor_data(t),
                            rows[i].rows * rows[i].columns * td_tensor_elem_bytes(t));
        td_tensor_destroy(&back);
        td_parts_destroy(&parts);
        td_tensor_destroy(&t);
    }
}

/* Three and four values of a group: what torch.sparse keeps of them. */
static void torch_forgets_the_published_places(void **state)
{
    (void)state;
    static const struct {
        int8_t group[4];
        unsigned code;
    } rows[] = {
        {{0, 1, 2, 3}, 0xd}, {{1, 0, 2, 3}, 0xc}, {{1, 2, 0, 3}, 0x4}, {{1, 2, 3, 0}, 0x4}, {{1, 2, 3, 4}, 0x4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_parts *parts = NULL;
        td_tensor *t = i8_tensor(TD_SHAPE(4), rows[i].group);
        ASSERT_OK(td_parts_pack(t, "2:4 prune=torch", &parts));
        assert_int_equal(code_of(parts, "meta", 0), rows[i].code);
        td_parts_destroy(&parts);
        td_tensor_destroy(&t);
    }
}

/* -- NVDLA -- */

static void nvdla_has_three_surfaces_in_both_readings(void **state)
{
    (void)state;
    int8_t values[96] = {0};
    values[0] = 1; /* kernel group 0: two values; group 1: one */
    values[9] = 2;
    values[90] = 3;
    td_tensor *t = i8_tensor(TD_SHAPE(48, 2), values), *part = NULL, *back = NULL;
    td_parts *parts = NULL;
    ASSERT_OK(td_parts_pack(t, "nvdla", &parts));
    assert_string_equal(td_parts_packing(parts), "nvdla group=64 reading=document align=128");
    ASSERT_OK(td_parts_part(parts, "values", &part));
    assert_int_equal(td_tensor_elems(part), 128);
    assert_memory_equal(td_tensor_data(part), ((uint8_t[8]){1, 2, 3}), 8);
    ASSERT_OK(td_parts_part(parts, "mask", &part));
    assert_int_equal(td_tensor_elems(part), 128);
    assert_memory_equal(td_tensor_data(part), ((uint8_t[13]){1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0}), 13);
    expect(parts, "sizes", 2, (const uint64_t[]){2, 1});
    td_parts_destroy(&parts);
    ASSERT_OK(td_parts_pack(t, "nvdla reading=tool", &parts));
    ASSERT_OK(td_parts_part(parts, "mask", &part));
    assert_memory_equal(td_tensor_data(part), ((uint8_t[13]){0x80, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0}), 13);
    expect(parts, "sizes", 2, (const uint64_t[]){128, 0}); /* 2 + 126; 1 - 126, rounded up to a multiple of 128 */
    ASSERT_OK(td_parts_unpack(parts, NULL, &back));
    assert_memory_equal(td_tensor_data(back), values, 96);
    td_tensor_destroy(&back);
    char *text = NULL;
    td_parts *wrong = NULL;
    td_tensor *list[3] = {NULL};
    static const char *const names[3] = {"values", "mask", "sizes"};
    for (size_t i = 0; i < 3; i++)
        ASSERT_OK(td_parts_part(parts, names[i], &list[i]));
    ASSERT_OK(td_parts_join("nvdla", TD_SHAPE(48, 2), list, 3, &wrong));
    ASSERT_OK(td_parts_fit(wrong, t, &text));
    assert_string_equal(text, "128 of 128 values, 128 of 128 mask, 2 of 2 sizes are those of reading=tool; the packing "
                              "says reading=document");
    td_free(text);
    td_parts_destroy(&wrong);
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
}

/* -- which packing fits -- */

static void the_order_that_fits_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *made, *read, *text;
    } rows[] = {
        {"2:4 prune=magnitude order=hopper", "2:4 prune=magnitude order=ampere",
         "4096 of 4096 values, 512 of 512 meta are those of order=hopper; the packing says order=ampere"},
        {"2:4 prune=magnitude order=ampere", "2:4 prune=magnitude order=hopper",
         "4096 of 4096 values, 512 of 512 meta are those of order=ampere; the packing says order=hopper"},
        {"2:4 prune=magnitude order=hopper tile=64", "2:4 prune=magnitude order=hopper",
         "4096 of 4096 values, 512 of 512 meta are those of tile=64; the packing says tile=128"},
        {"2:4 prune=magnitude", "2:4 prune=magnitude",
         "every part is that of \"2:4 index=u16 spare=torch order=plain prune=magnitude\""},
        {"mask word=u8 first=msb", "mask word=u8",
         "4069 of 4069 values, 1024 of 1024 mask are those of first=msb; the packing says first=lsb"},
        {"csr base=1", "csr",
         "4069 of 4069 values, 4069 of 4069 columns, 65 of 65 rows are those of base=1; the "
         "packing says base=0"},
        {"csr pointers=bytes", "csr",
         "4069 of 4069 values, 4069 of 4069 columns, 65 of 65 rows are those of pointers=bytes"},
    };
    td_tensor *t = NULL;
    ASSERT_OK(td_tensor_create("bf16", TD_SHAPE(64, 128), &t));
    ASSERT_OK(td_tensor_fill(t, "sparse zeros=0.5 seed=3"));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_parts *made = NULL, *read = NULL;
        td_tensor *list[3] = {NULL};
        char *text = NULL;
        ASSERT_OK(td_parts_pack(t, rows[i].made, &made));
        for (size_t k = 0; k < td_parts_count(made); k++)
            ASSERT_OK(td_parts_part(made, td_parts_name(made, k), &list[k]));
        ASSERT_OK(td_parts_join(rows[i].read, TD_SHAPE(64, 128), list, td_parts_count(made), &read));
        ASSERT_OK(td_parts_fit(read, t, &text));
        assert_string_equal(text, rows[i].text);
        td_free(text);
        td_parts_destroy(&read);
        td_parts_destroy(&made);
    }
    td_tensor_destroy(&t);
    td_parts *other = NULL; /* of a tensor that has another number of values */
    char *text = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 20), &t));
    ((int8_t *)td_tensor_data(t))[79] = 1;
    ASSERT_OK(td_parts_create("csr elem=i8 count=5", TD_SHAPE(4, 20), &other));
    ASSERT_OK(td_parts_fit(other, t, &text));
    assert_string_equal(text,
                        "no packing that is known has parts of these sizes; the tensor's values are another number");
    td_free(text);
    td_parts_destroy(&other);
    td_tensor_destroy(&t);
}

static void starts_in_bytes_are_whole_values(void **state)
{
    (void)state;
    td_tensor *t = NULL, *rows = NULL, *back = NULL;
    td_parts *parts = NULL;
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(2, 2), &t));
    ASSERT_OK(td_tensor_fill(t, "ramp start=1 step=1"));
    ASSERT_OK(td_parts_pack(t, "csr pointers=bytes", &parts));
    expect(parts, "rows", 3, (const uint64_t[]){0, 4, 8});
    ASSERT_OK(td_parts_part(parts, "rows", &rows));
    ASSERT_OK(td_tensor_set_bits(rows, 1, 3));
    ASSERT_REFUSED(td_parts_unpack(parts, NULL, &back), TD_RANGE,
                   "parts_unpack: start 1 is 3, in the middle of a value of 2 bytes; pointers=elements?");
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marlin_and_hopper_have_their_orders),
        cmocka_unit_test(torch_forgets_the_published_places),
        cmocka_unit_test(nvdla_has_three_surfaces_in_both_readings),
        cmocka_unit_test(the_order_that_fits_is_named),
        cmocka_unit_test(starts_in_bytes_are_whole_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
