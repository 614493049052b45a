/* Sparse packings: the published codes of 2:4 and its order on Ampere, lists and runs by hand, every packing of random
 * tensors there and back against a plain search for what is not zero, places that no tensor has, and every message. */
#include "sparse.h"

#include <stdbool.h>

/* -- 2:4 -- */

/* Positions left to right, as torch.sparse has them. */
static void codes_of_two_in_four_are_the_published_ones(void **state)
{
    (void)state;
    static const struct {
        int8_t group[4];
        unsigned code, values[2];
    } rows[] = {
        {{0, 0, 0, 0}, 0xe, {0, 0}}, {{0, 0, 0, 9}, 0xe, {0, 9}}, {{0, 0, 9, 0}, 0xe, {9, 0}},
        {{0, 9, 0, 0}, 0x9, {9, 0}}, {{9, 0, 0, 0}, 0x8, {9, 0}}, {{1, 2, 0, 0}, 0x4, {1, 2}},
        {{1, 0, 2, 0}, 0x8, {1, 2}}, {{0, 1, 2, 0}, 0x9, {1, 2}}, {{1, 0, 0, 2}, 0xc, {1, 2}},
        {{0, 1, 0, 2}, 0xd, {1, 2}}, {{0, 0, 1, 2}, 0xe, {1, 2}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_parts *parts = NULL;
        td_tensor *t = i8_tensor(TD_SHAPE(4), rows[i].group), *back = NULL;
        ASSERT_OK(td_parts_pack(t, "2:4", &parts));
        assert_int_equal(code_of(parts, "meta", 0), rows[i].code);
        assert_int_equal(code_of(parts, "values", 0), rows[i].values[0]);
        assert_int_equal(code_of(parts, "values", 1), rows[i].values[1]);
        ASSERT_OK(td_parts_unpack(parts, NULL, &back));
        assert_string_equal(td_tensor_dtype(back), "i8");
        assert_memory_equal(td_tensor_data(back), rows[i].group, 4);
        td_tensor_destroy(&back);
        td_parts_destroy(&parts);
        td_tensor_destroy(&t);
    }
}

static void groups_fill_words_from_the_lowest_bit(void **state)
{
    (void)state;
    const int8_t values[24] = {1, 2, 0, 0, 0, 0, 1, 2, 1, 0, 0, 2, 0, 1, 2, 0, 0, 1, 0, 2, 1, 0, 2, 0};
    td_parts *parts = NULL;
    td_tensor *t = i8_tensor(TD_SHAPE(1, 24), values);
    ASSERT_OK(td_parts_pack(t, "2:4", &parts));
    expect(parts, "meta", 2, (const uint64_t[]){0x9ce4, 0x8d});
    td_parts_destroy(&parts);
    ASSERT_OK(td_parts_pack(t, "2:4 index=u32", &parts));
    expect(parts, "meta", 1, (const uint64_t[]){0x8d9ce4});
    assert_string_equal(td_parts_packing(parts), "2:4 index=u32 spare=torch order=plain prune=none");
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
    const float halves[4] = {0, 5, 6, 0};
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(4), &t));
    memcpy(td_tensor_data(t), halves, sizeof halves);
    ASSERT_OK(td_parts_pack(t, "1:2", &parts));
    expect(parts, "meta", 1, (const uint64_t[]){0x4e});
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
}

/* Words of 64 rows whose every word is known by its value, against the published places. */
static void ampere_has_the_published_order(void **state)
{
    (void)state;
    static const struct {
        const char *packing;
        size_t row, word, place, rows, columns;
    } rows[] = {
        {"2:4 order=ampere", 0, 0, 0, 64, 64},
        {"2:4 order=ampere", 0, 1, 2, 64, 64},
        {"2:4 order=ampere", 1, 0, 8, 64, 64},
        {"2:4 order=ampere", 1, 1, 10, 64, 64},
        {"2:4 order=ampere", 8, 0, 1, 64, 64},
        {"2:4 order=ampere", 31, 3, 191, 64, 64},
        {"2:4 order=ampere index=u32", 0, 1, 2, 64, 128},
        {"2:4 order=ampere index=u32", 1, 0, 4, 64, 128},
        {"2:4 order=ampere index=u32", 1, 1, 6, 64, 128},
        {"2:4 order=ampere index=u32", 8, 0, 1, 64, 128},
        {"2:4 order=ampere index=u32", 15, 3, 159, 64, 128},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_tensor *t = NULL, *back = NULL;
        td_parts *parts = NULL;
        ASSERT_OK(td_tensor_create("i8", TD_SHAPE(rows[i].rows, rows[i].columns), &t));
        int8_t *data = td_tensor_data(t);
        const size_t per_word = rows[i].columns == 64 ? 16 : 32;
        data[rows[i].row * rows[i].columns + rows[i].word * per_word] = 1; /* places 0 and 1: code 4, the only one */
        data[rows[i].row * rows[i].columns + rows[i].word * per_word + 1] = 1;
        ASSERT_OK(td_parts_pack(t, rows[i].packing, &parts));
        for (uint64_t w = 0; w < rows[i].rows * rows[i].columns / per_word; w++)
            assert_int_equal((code_of(parts, "meta", w) & 15) == 4, w == rows[i].place);
        ASSERT_OK(td_parts_unpack(parts, NULL, &back));
        assert_memory_equal(td_tensor_data(back), data, rows[i].rows * rows[i].columns);
        td_tensor_destroy(&back);
        td_parts_destroy(&parts);
        td_tensor_destroy(&t);
    }
}

static void the_least_are_pruned(void **state)
{
    (void)state;
    const int8_t values[8] = {-128, 3, 3, 5, 1, 1, 1, 1}, kept[8] = {-128, 0, 0, 5, 1, 1, 0, 0};
    td_parts *parts = NULL;
    td_tensor *t = i8_tensor(TD_SHAPE(8), values), *back = NULL;
    ASSERT_REFUSED(
        td_parts_pack(t, "2:4", &parts), TD_RANGE,
        "parts_pack: elements 0 to 3 have 4 values that are not zero, and 2:4 keeps 2; pass prune=magnitude");
    ASSERT_OK(td_parts_pack(t, "2:4 prune=magnitude", &parts));
    ASSERT_OK(td_parts_unpack(parts, "i8", &back));
    assert_memory_equal(td_tensor_data(back), kept, 8);
    td_tensor_destroy(&back);
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
}

/* -- lists -- */

static void lists_have_rows_and_columns(void **state)
{
    (void)state;
    const int8_t values[12] = {0, 5, 0, 0, 0, 0, 0, 0, 7, 0, 0, -1};
    td_tensor *t = i8_tensor(TD_SHAPE(3, 4), values);
    td_parts *parts = NULL;
    ASSERT_OK(td_parts_pack(t, "csr", &parts));
    expect(parts, "values", 3, (const uint64_t[]){5, 7, 0xff});
    expect(parts, "columns", 3, (const uint64_t[]){1, 0, 3});
    expect(parts, "rows", 4, (const uint64_t[]){0, 1, 1, 3});
    td_parts_destroy(&parts);
    ASSERT_OK(td_parts_pack(t, "csc index=u16 base=1", &parts));
    expect(parts, "values", 3, (const uint64_t[]){7, 5, 0xff});
    expect(parts, "rows", 3, (const uint64_t[]){3, 1, 3});
    expect(parts, "columns", 5, (const uint64_t[]){1, 2, 3, 3, 4});
    td_parts_destroy(&parts);
    ASSERT_OK(td_parts_pack(t, "coo", &parts));
    expect(parts, "rows", 3, (const uint64_t[]){0, 2, 2});
    expect(parts, "columns", 3, (const uint64_t[]){1, 0, 3});
    td_parts_destroy(&parts);
    ASSERT_OK(td_parts_pack(t, "mask chunk=4", &parts));
    expect(parts, "mask", 12, (const uint64_t[]){0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1});
    expect(parts, "pointers", 3, (const uint64_t[]){0, 1, 1});
    td_parts_destroy(&parts);
    ASSERT_OK(td_parts_pack(t, "runs index=u2", &parts)); /* a run ends at 3: then a value that is 0 */
    expect(parts, "values", 4, (const uint64_t[]){5, 0, 7, 0xff});
    expect(parts, "runs", 4, (const uint64_t[]){1, 3, 2, 2});
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
}

static void every_packing_comes_back(void **state)
{
    (void)state;
    static const char *const packings[] = {"2:4 prune=magnitude",
                                           "1:2 prune=magnitude",
                                           "4:8 prune=magnitude index=u12",
                                           "1:4 prune=magnitude spare=first",
                                           "mask",
                                           "mask chunk=7",
                                           "csr",
                                           "csc base=1",
                                           "coo base=1",
                                           "runs",
                                           "runs index=u1"};
    static const char *const dtypes[] = {"i8", "bf16", "f32", "u4", "f64"};
    for (size_t i = 0; i < sizeof packings / sizeof packings[0]; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
            for (unsigned seed = 0; seed < 8; seed++) {
                char fill[64];
                td_tensor *t = NULL, *back = NULL, *again = NULL;
                td_parts *parts = NULL, *second = NULL;
                snprintf(fill, sizeof fill, "sparse zeros=0.%u seed=%u", 1 + seed, seed);
                ASSERT_OK(td_tensor_create(dtypes[d], TD_SHAPE(13, 48), &t));
                ASSERT_OK(td_tensor_fill(t, fill));
                ASSERT_OK(td_parts_pack(t, packings[i], &parts));
                ASSERT_OK(td_parts_unpack(parts, "", &back));
                const size_t bytes = (size_t)td_tensor_elems(t) * td_tensor_elem_bytes(t);
                if (i >= 4)
                    assert_memory_equal(td_tensor_data(t), td_tensor_data(back), bytes);
                ASSERT_OK(td_parts_pack(back, packings[i], &second)); /* what was pruned once stays */
                ASSERT_OK(td_parts_unpack(second, dtypes[d], &again));
                assert_memory_equal(td_tensor_data(again), td_tensor_data(back), bytes);
                td_tensor_destroy(&again);
                ASSERT_OK(td_parts_unpack(parts, "f64", &again)); /* and to any dtype */
                td_parts_destroy(&parts);
                td_parts_destroy(&second);
                td_tensor_destroy(&t);
                td_tensor_destroy(&back);
                td_tensor_destroy(&again);
            }
}

/* -- parts that are not what they should be -- */

static td_status unpack_changed(const char *packing, const char *part, uint64_t elem, uint64_t bits)
{
    const int8_t values[12] = {0, 5, 0, 0, 0, 0, 0, 0, 7, 0, 0, -1};
    td_tensor *t = i8_tensor(TD_SHAPE(3, 4), values), *changed = NULL, *back = NULL;
    td_parts *parts = NULL;
    ASSERT_OK(td_parts_pack(t, packing, &parts));
    ASSERT_OK(td_parts_part(parts, part, &changed));
    ASSERT_OK(td_tensor_set_bits(changed, elem, bits));
    const td_status status = td_parts_unpack(parts, NULL, &back);
    assert_null(back);
    td_parts_destroy(&parts);
    td_tensor_destroy(&t);
    return status;
}

static void places_that_no_tensor_has_are_refused(void **state)
{
    (void)state;
    ASSERT_REFUSED(
        unpack_changed("2:4", "meta", 1, 0x5), TD_RANGE,
        "parts_unpack: meta 1 has 0x5 for a group of 2:4, whose places do not ascend; it is no metadata of this "
        "order");
    ASSERT_REFUSED(unpack_changed("mask", "mask", 0, 1), TD_RANGE,
                   "parts_unpack: the mask has 4 bits that are 1, and there are 3 values");
    ASSERT_REFUSED(unpack_changed("csr", "columns", 2, 4), TD_RANGE,
                   "parts_unpack: column 2 is 4, and it is 0 to 3; another base=?");
    ASSERT_REFUSED(unpack_changed("csc", "rows", 0, 3), TD_RANGE,
                   "parts_unpack: row 0 is 3, and it is 0 to 2; another base=?");
    ASSERT_REFUSED(unpack_changed("coo base=1", "rows", 1, 0), TD_RANGE,
                   "parts_unpack: row 1 is 0, and it is 1 to 3; another base=?");
    ASSERT_REFUSED(unpack_changed("csr", "rows", 3, 9), TD_RANGE,
                   "parts_unpack: start 3 is 9; starts ascend from 0 to the number of values, 3");
    ASSERT_REFUSED(unpack_changed("csr pointers=bytes pad=2", "rows", 3, 9), TD_RANGE,
                   "parts_unpack: start 3 is 9; starts ascend from 0 to the number of bytes, 4");
    ASSERT_REFUSED(unpack_changed("nvdla", "sizes", 0, 2), TD_RANGE,
                   "parts_unpack: size 0 is 2, and by the mask it is 3 bytes; another reading=, or another group=?");
    ASSERT_REFUSED(unpack_changed("nvdla group=4 align=1", "mask", 0, 0), TD_RANGE,
                   "parts_unpack: the mask has 2 bits that are 1, and there are 3 values with their padding");
    ASSERT_REFUSED(unpack_changed("runs", "runs", 2, 200), TD_RANGE,
                   "parts_unpack: value 2 would be element 209 of a tensor of 12 elements");
}

#define WORDS                                                                                                          \
    "index=, base=, prune=, spare=, order=, tile=, chunk=, word=, first=, pointers=, pad=, zeros=, group=, "           \
    "reading=, align=, elem=, count="

static void refusals_say_what_to_type(void **state)
{
    (void)state;
    static const struct {
        const char *packing;
        td_status status;
        const char *text;
    } rows[] = {
        {"3:3", TD_OPTION, "packing \"3:3\": of N:M, M is 2, 4, 8 or 16, and N is less; pass something like 2:4"},
        {"2:6", TD_OPTION, "packing \"2:6\": of N:M, M is 2, 4, 8 or 16, and N is less; pass something like 2:4"},
        {"2:4 index=u6", TD_OPTION,
         "index=u6 in packing \"2:4 index=u6\": a word holds whole groups of 4 bits; pass index=u16"},
        {"1:8 index=u16", TD_OPTION,
         "index=u16 in packing \"1:8 index=u16\": a word holds whole groups of 3 bits; pass index=u15"},
        {"9:16", TD_OPTION,
         "packing \"9:16\": the places of a group take 36 bits, and a word of meta has at most 32; use a mask"},
        {"2:4 index=i16", TD_OPTION,
         "index=i16 in packing \"2:4 index=i16\": numbers are unsigned, of up to 32 bits; pass index=u16"},
        {"4:8 index=u12 spare=torch", TD_OPTION,
         "spare=torch in packing \"4:8 index=u12 spare=torch\" is known for 2:4 and 1:2; pass spare=first or "
         "spare=last"},
        {"2:4 order=ampere index=u8", TD_OPTION,
         "order=ampere in packing \"2:4 order=ampere index=u8\" has words of 16 or 32 bits; pass index=u16 or "
         "index=u32"},
        {"2:4 order=hoper", TD_OPTION,
         "order=hoper in packing \"2:4 order=hoper\": pass plain, ampere, marlin or hopper"},
        {"2:4 order=hopper index=u32", TD_OPTION,
         "order=hopper in packing \"2:4 order=hopper index=u32\" has words of 16 bits; pass index=u16"},
        {"2:4 order=hopper tile=96", TD_OPTION,
         "tile=96 with order=hopper and values of i8; pass a multiple of 64 up to 256"},
        {"1:2 order=hopper", TD_OPTION,
         "order=hopper of 1:2 and values of i8; it is known for 2:4 of 8 or 16 bits and for 1:2 of 32"},
        {"2:4 tile=64", TD_OPTION,
         "tile= in packing \"2:4 tile=64\" goes with order=hopper, and it says order=plain; leave it out"},
        {"2:4 order=marlin", TD_SHAPE,
         "order=marlin of shape (4, 20): 4 rows of 2 words of meta; rows come in 64 and words in pairs, so pad the "
         "tensor"},
        {"2:4 prune=yes", TD_OPTION, "prune=yes in packing \"2:4 prune=yes\": pass none, magnitude or torch"},
        {"1:4 prune=torch", TD_OPTION,
         "prune=torch in packing \"1:4 prune=torch\" is known for 2:4; pass prune=magnitude"},
        {"mask first=msb", TD_OPTION,
         "first=msb in packing \"mask first=msb\" needs words of more than one bit, and it says word=u1; pass word=u8"},
        {"mask word=i8", TD_OPTION,
         "word=i8 in packing \"mask word=i8\": bits of a mask are in unsigned words; pass word=u8"},
        {"csr pointers=words", TD_OPTION, "pointers=words in packing \"csr pointers=words\": pass elements or bytes"},
        {"csr zeros=all", TD_OPTION, "zeros=all in packing \"csr zeros=all\": pass none, signed or row"},
        {"csr pad=0", TD_OPTION, "pad=0 in packing \"csr pad=0\": pass a number from 1 to 4294967295"},
        {"nvdla reading=hw", TD_OPTION, "reading=hw in packing \"nvdla reading=hw\": pass document or tool"},
        {"2:4 spare=low", TD_OPTION, "spare=low in packing \"2:4 spare=low\": pass torch, first or last"},
        {"csr base=2", TD_OPTION, "base=2 in packing \"csr base=2\": pass 0 or 1"},
        {"mask chunk=0", TD_OPTION, "chunk=0 in packing \"mask chunk=0\": pass a number from 1 to 4294967295"},
        {"mask count=x", TD_OPTION, "count=x in packing \"mask count=x\": pass a number"},
        {"csr chunk=4", TD_OPTION, "chunk= in packing \"csr chunk=4\" has no meaning for csr; leave it out"},
        {"csr base=1 base=0", TD_OPTION, "packing \"csr base=1 base=0\" says base= twice; keep one of them"},
        {"csr indx=u8", TD_OPTION,
         "unknown word \"indx=\" in packing \"csr indx=u8\"; did you mean \"index=\"? the words are " WORDS},
        {"csr !", TD_OPTION, "unknown word \"!\" in packing \"csr !\"; the words are " WORDS},
        {"2:8 index=u12", TD_SHAPE,
         "2:8 of shape (4, 20): a row of 20 does not divide into groups of 8; pad the tensor"},
        {"2:4 order=ampere", TD_SHAPE,
         "order=ampere of shape (4, 20): 4 rows of 2 words of meta; rows come in 32 and words in pairs, so pad the "
         "tensor"},
        {"mask", TD_SHAPE, "mask of a tensor without a value that is not zero; it has no parts"},
    };
    td_tensor *t = NULL, *list = NULL;
    td_parts *parts = NULL;
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(4, 20), &t));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "parts_pack: %s", rows[i].text);
        ASSERT_REFUSED(td_parts_pack(t, rows[i].packing, &parts), rows[i].status, text);
        assert_null(parts);
    }
    ((int8_t *)td_tensor_data(t))[79] = 1;
    ASSERT_REFUSED(td_parts_pack(t, "coo index=u4", &parts), TD_RANGE,
                   "parts_pack: numbers up to 19 do not fit index=u4; pass a wider one");
    ASSERT_OK(td_tensor_create("i8", TD_SHAPE(80), &list));
    ((int8_t *)td_tensor_data(list))[79] = 1;
    ASSERT_REFUSED(td_parts_pack(list, "csr", &parts), TD_SHAPE,
                   "parts_pack: csr of a tensor of shape (80); it needs two dimensions, so reshape it");
    ASSERT_REFUSED(
        td_parts_create("csr", TD_SHAPE(4, 20), &parts), TD_OPTION,
        "parts_create: packing \"csr index=u32 base=0\" does not say how many values there are, and of which "
        "dtype; add elem=f32 and count=100");
    ASSERT_REFUSED(
        td_parts_create("2:4", TD_SHAPE(4, 20), &parts), TD_OPTION,
        "parts_create: packing \"2:4 index=u16 spare=torch order=plain prune=none\" does not say how many values "
        "there are, and of which dtype; add elem=f32");
    ASSERT_REFUSED(td_parts_create("mask elem=i8 count=81", TD_SHAPE(4, 20), &parts), TD_SHAPE,
                   "parts_create: 81 values for a tensor of shape (4, 20), which has 80 elements; pass fewer");
    ASSERT_OK(td_parts_create("2:4 elem=bf16", TD_SHAPE(4, 20), &parts));
    assert_int_equal(td_parts_count(parts), 2);
    td_parts_destroy(&parts);
    ASSERT_OK(td_parts_create("csr elem=i8 count=5", TD_SHAPE(4, 20), &parts));
    assert_int_equal(td_parts_count(parts), 3);
    td_parts_destroy(&parts);
    ASSERT_REFUSED(
        td_parts_pack(list, "nvdla", &parts), TD_OPTION,
        "parts_pack: nvdla of shape (80) and values of i8 does not say how many elements a kernel group has; "
        "add group=N");
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_create("i16", TD_SHAPE(4, 20), &t));
    ASSERT_OK(td_tensor_set_bits(t, 0, 1));
    ASSERT_REFUSED(td_parts_pack(t, "nvdla align=3", &parts), TD_OPTION,
                   "parts_pack: align=3 of nvdla and values of i16; pass a multiple of 2 up to 65536");
    td_tensor_destroy(&t);
    ASSERT_OK(td_tensor_create("i4", TD_SHAPE(4, 20), &t));
    ASSERT_OK(td_tensor_set_bits(t, 0, 1));
    ASSERT_REFUSED(td_parts_pack(t, "nvdla", &parts), TD_OPTION,
                   "parts_pack: nvdla counts bytes, and a value of i4 is no whole number of them; convert the tensor "
                   "to i8");
    ASSERT_REFUSED(td_parts_pack(t, "csr pointers=bytes", &parts), TD_OPTION,
                   "parts_pack: pointers=bytes counts bytes, and a value of i4 is no whole number of them; pass "
                   "pointers=elements");
    td_tensor_destroy(&t);
    td_tensor_destroy(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_of_two_in_four_are_the_published_ones),
        cmocka_unit_test(groups_fill_words_from_the_lowest_bit),
        cmocka_unit_test(ampere_has_the_published_order),
        cmocka_unit_test(the_least_are_pruned),
        cmocka_unit_test(lists_have_rows_and_columns),
        cmocka_unit_test(every_packing_comes_back),
        cmocka_unit_test(places_that_no_tensor_has_are_refused),
        cmocka_unit_test(refusals_say_what_to_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
