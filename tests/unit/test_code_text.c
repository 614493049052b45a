/* The language of codes, what its refusals say, and codes between memories. */
#include "support.h"

#define REFUSED(text, bits, message) ASSERT_REFUSED(td_code_create(text, bits, &code), TD_OPTION, message)

#define NAMES                                                                                                          \
    "22_16, 28_22, 39_32, 64_57, 72_64, hamming_22_16, hamming_39_32, hamming_72_64, hamming_76_68, each also with "   \
    "inv_ in front, parity, hsiao, hamming or masks="
#define WORDS "the words are subword=, address=, xor=, place=, correct=, and of parity even, odd and width="

static void texts_print_whole(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printed;
        unsigned bits, coded, checks, subwords;
    } texts[] = {
        {"39_32", "39_32 subword=32 place=above", 32, 39, 7, 1},
        {"39_32", "39_32 subword=32 place=interleaved", 128, 156, 7, 4},
        {" inv_72_64  place=below ", "inv_72_64 subword=64 place=below", 64, 72, 8, 1},
        {"39_32 address=8", "39_32 subword=24 address=8 place=above", 24, 31, 7, 1},
        {"parity", "parity even width=8 place=interleaved", 32, 36, 1, 4},
        {"parity odd width=16 place=above", "parity odd width=16 place=above", 32, 34, 1, 2},
        {"hsiao", "hsiao subword=100 place=above", 100, 108, 8, 1},
        {"hamming subword=4 correct=off", "hamming subword=4 place=interleaved correct=off", 8, 16, 4, 2},
        {"masks=0xF,3_3,5", "masks=f,33,5 subword=6 place=above", 6, 9, 3, 1},
        {"masks=ff,f0,3cc xor=0x401", "masks=ff,f0,3cc subword=8 xor=0x401 place=above", 8, 11, 3, 1},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        td_code *code = NULL, *again = NULL;
        ASSERT_OK(td_code_create(texts[i].text, texts[i].bits, &code));
        assert_string_equal(td_code_text(code), texts[i].printed);
        assert_int_equal(td_code_data_bits(code), texts[i].bits);
        assert_int_equal(td_code_coded_bits(code), texts[i].coded);
        assert_int_equal(td_code_check_bits(code), texts[i].checks);
        assert_int_equal(td_code_subwords(code), texts[i].subwords);
        ASSERT_OK(td_code_create(td_code_text(code), texts[i].bits, &again));
        assert_string_equal(td_code_text(again), texts[i].printed);
        td_code_destroy(&code);
        td_code_destroy(&again);
    }
}

static void texts_are_refused(void **state)
{
    (void)state;
    td_code *code = NULL;
    ASSERT_REFUSED(td_code_create(NULL, 8, &code), TD_ARGUMENT,
                   "code_create: the text is NULL; pass a code, such as \"39_32\"");
    ASSERT_REFUSED(td_code_create("39_32", 32, NULL), TD_ARGUMENT,
                   "code_create: out is NULL; pass the address of a td_code pointer");
    ASSERT_REFUSED(td_code_create("39_32", 0, &code), TD_ARGUMENT,
                   "code_create \"39_32\": 0 data bits; a word has 1 to 65536");
    ASSERT_REFUSED(
        td_code_create("parity width=1", 65536, &code), TD_RANGE,
        "code_create \"parity width=1\": a coded word of 131072 bits; coded words have up to 65536: pass fewer "
        "data bits");
    REFUSED(" ", 8, "code_create \" \": the text is empty; pass a code, such as 39_32: " NAMES);
    REFUSED("38_32", 32, "code_create \"38_32\": \"38_32\" is no code; did you mean \"39_32\"? pass " NAMES);
    REFUSED("inv_parity", 32,
            "code_create \"inv_parity\": \"inv_parity\" is no code; did you mean \"parity\"? pass " NAMES);
    REFUSED("crc", 32, "code_create \"crc\": \"crc\" is no code; pass " NAMES);
    REFUSED("39_32 plase=above", 32,
            "code_create \"39_32 plase=above\": unknown word \"plase=above\"; did you mean \"place=\"? " WORDS);
    REFUSED("39_32 x", 32, "code_create \"39_32 x\": unknown word \"x\"; " WORDS);
    REFUSED("39_32 odd", 32,
            "code_create \"39_32 odd\": \"odd\" is a word of parity, and the code is 39_32; leave it out");
    REFUSED("hsiao width=8", 32,
            "code_create \"hsiao width=8\": \"width=8\" is a word of parity, and the code is hsiao; pass subword=");
    REFUSED("parity even odd", 8, "code_create \"parity even odd\": odd stands twice; keep one of them");
    REFUSED("hsiao subword=8 subword=8", 8,
            "code_create \"hsiao subword=8 subword=8\": subword= stands twice; keep one of them");
    REFUSED("hsiao subword=0", 8,
            "code_create \"hsiao subword=0\": subword=0 is no number of bits from 1 to 4096; pass one of them");
    REFUSED("hsiao address=65", 8,
            "code_create \"hsiao address=65\": address=65 is no number of bits from 0 to 64; pass one of them");
    REFUSED("hsiao place=left", 8,
            "code_create \"hsiao place=left\": place=left; pass place=above, place=below or place=interleaved");
    REFUSED("hsiao correct=no", 8, "code_create \"hsiao correct=no\": correct=no; pass correct=on or correct=off");
    REFUSED("hsiao xor=0xg", 8,
            "code_create \"hsiao xor=0xg\": xor=0xg is no number; pass hex digits, data bits low and check bits above "
            "them");
    REFUSED("hsiao xor=0x10000", 8,
            "code_create \"hsiao xor=0x10000\": xor= has bit 16 set, and a coded subword has 13 bits, 8 of data and 5 "
            "check bits above them; clear the bits from 13 up");
    REFUSED("39_32", 40,
            "code_create \"39_32\": 40 data bits are no whole subwords of 32; pass 32 or 64 bits, or hsiao subword=N "
            "with an N that divides 40");
    REFUSED("72_64", 32,
            "code_create \"72_64\": 32 data bits are less than a subword of 64; pass 64 bits, or hsiao, which has any "
            "width");
    REFUSED("39_32 subword=16", 32,
            "code_create \"39_32 subword=16\": subword=16 and address=0 in 39_32, which covers 32 bits; leave subword= "
            "out, or pass hsiao or hamming, which cover any number");
    REFUSED("39_32 address=32", 32,
            "code_create \"39_32 address=32\": address=32 leaves no data of the 32 bits that 39_32 covers; pass less");
    REFUSED("hsiao", 5000,
            "code_create \"hsiao\": a subword of 5000 data and 0 address bits; a code covers up to 4096: pass subword= "
            "with a divisor of 5000");
    assert_null(code);
}

static void masks_are_refused(void **state)
{
    (void)state;
    td_code *code = NULL;
    REFUSED("masks=", 8,
            "code_create \"masks=\": mask 0 is \"\"; pass hex digits, check bit 0 first, as masks=f0,cc,aa");
    REFUSED("masks=ff,0xzz", 8,
            "code_create \"masks=ff,0xzz\": mask 1 is \"0xzz\"; pass hex digits, check bit 0 first, as masks=f0,cc,aa");
    REFUSED(
        "masks=7f", 8,
        "code_create \"masks=7f\": data bit 7 is in no mask, so that no check sees an error in it; put it into one");
    REFUSED(
        "masks=ff address=2", 8,
        "code_create \"masks=ff address=2\": address bit 0 is in no mask, so that no check sees an error in it; put "
        "it into one");
    REFUSED("masks=1ff", 8,
            "code_create \"masks=1ff\": mask 0 has bit 8 set, and it may name 8 data bits, 0 address bits and the 0 "
            "check bits before it; clear the bits from 8 up, or pass subword=");
    char many[256] = "masks=ff";
    for (int i = 0; i < 32; i++)
        strcat(many, ",ff");
    assert_int_equal(td_code_create(many, 8, &code), TD_OPTION);
    assert_non_null(strstr(td_last_error(), "\": more than 32 masks; a subword has up to 32 check bits"));
    assert_null(code);
}

static void masks_come_from_files(void **state)
{
    (void)state;
    td_code *code = NULL;
    static const char text[] = "# data bits 0 to 7\nf0, cc // the second\n\taa\r\n0x7ff#all\n";
    write_file("a.masks", text, sizeof text - 1);
    ASSERT_OK(td_code_create("masks=@a.masks", 8, &code));
    assert_string_equal(td_code_text(code), "masks=f0,cc,aa,7ff subword=8 place=above");
    assert_int_equal(td_code_distance(code), 2);
    td_code_destroy(&code);
    write_file("empty.masks", "# none\n", 7);
    ASSERT_REFUSED(
        td_code_create("masks=@empty.masks", 8, &code), TD_FORMAT,
        "code_create \"masks=@empty.masks\": the file \"empty.masks\" has no mask; write hex digits, one mask "
        "per check bit");
    write_file("bad.masks", "ff / f\n", 7);
    REFUSED("masks=@bad.masks", 8,
            "code_create \"masks=@bad.masks\": mask 1 is \"/\"; pass hex digits, check bit 0 first, as masks=f0,cc,aa");
    assert_int_equal(td_code_create("masks=@none.masks", 8, &code), TD_FILE);
    assert_non_null(strstr(td_last_error(), "none.masks"));
    assert_null(code);
}

/* -- memories -- */

typedef struct world {
    td_code *code;
    td_memory *data, *coded, *back;
} world;

static void open_world(world *w)
{
    ASSERT_OK(td_code_create("inv_39_32", 64, &w->code));
    ASSERT_OK(td_memory_create("data", 64, 300, &w->data));
    ASSERT_OK(td_memory_create("coded", 78, 300, &w->coded));
    ASSERT_OK(td_memory_create("back", 64, 300, &w->back));
    ASSERT_OK(td_memory_fill(w->data, "random seed=3", 0, 300));
}

static void close_world(world *w)
{
    td_code_destroy(&w->code);
    td_memory_destroy(&w->data);
    td_memory_destroy(&w->coded);
    td_memory_destroy(&w->back);
}

static void memories_go_through(void **state)
{
    (void)state;
    world w = {0};
    td_code_result result;
    open_world(&w);
    ASSERT_OK(td_code_encode(w.code, w.data, 10, 290, w.coded));
    unsigned char *coded = td_memory_data(w.coded);
    for (size_t i = 0; i < 10 * 12; i++)
        assert_int_equal(coded[i], 0); /* words before the first are not written */
    coded[20 * 12] ^= 1;               /* word 20: bit 0 */
    coded[21 * 12 + 5] ^= 0x80;        /* word 21: bit 47, of subword 1 */
    coded[22 * 12] ^= 3;               /* word 22: two bits of subword 0 */
    ASSERT_OK(td_code_check(w.code, w.coded, 10, 290, w.back, &result));
    assert_int_equal(result.words, 290);
    assert_int_equal(result.corrected, 2);
    assert_int_equal(result.uncorrectable, 1);
    assert_int_equal(result.kept, 3);
    assert_int_equal(result.error[1].word, 21);
    assert_int_equal(result.error[1].subword, 1);
    assert_int_equal(result.error[1].bit, 47);
    assert_int_equal(result.error[2].kind, TD_CODE_UNCORRECTABLE);
    unsigned char *data = td_memory_data(w.data), *back = td_memory_data(w.back);
    assert_int_equal(back[22 * 8] ^ data[22 * 8], 3); /* as it stands */
    back[22 * 8] ^= 3;
    assert_memory_equal(back + 80, data + 80, 290 * 8);
    ASSERT_OK(td_code_check(w.code, w.coded, 30, 1, NULL, &result));
    assert_int_equal(result.words, 1);
    assert_int_equal(result.kept, 0);
    close_world(&w);
}

static void memories_are_refused(void **state)
{
    (void)state;
    world w = {0};
    td_code_result result = {.words = 77};
    open_world(&w);
    ASSERT_REFUSED(td_code_encode(NULL, w.data, 0, 1, w.coded), TD_ARGUMENT, "code_encode: the code is NULL; pass one");
    ASSERT_REFUSED(td_code_encode(w.code, NULL, 0, 1, w.coded), TD_ARGUMENT,
                   "code_encode: the data memory is NULL; pass one");
    ASSERT_REFUSED(td_code_encode(w.code, w.data, 0, 1, NULL), TD_ARGUMENT,
                   "code_encode: the coded memory is NULL; pass one");
    ASSERT_REFUSED(td_code_check(w.code, NULL, 0, 1, NULL, &result), TD_ARGUMENT,
                   "code_check: the coded memory is NULL; pass one");
    ASSERT_REFUSED(td_code_check(w.code, w.coded, 0, 1, NULL, NULL), TD_ARGUMENT,
                   "code_check: the result is NULL; pass one");
    ASSERT_REFUSED(td_code_encode(w.code, w.data, 0, 1, w.back), TD_ARGUMENT,
                   "code_encode: coded words of 64 bits in memory \"back\", and the code \"inv_39_32 subword=32 "
                   "place=interleaved\" has 78 bits there; pass a memory of 78 bits, or a code made for this one");
    ASSERT_REFUSED(td_code_check(w.code, w.coded, 0, 1, w.coded, &result), TD_ARGUMENT,
                   "code_check: data words of 78 bits in memory \"coded\", and the code \"inv_39_32 subword=32 "
                   "place=interleaved\" has 64 bits there; pass a memory of 64 bits, or a code made for this one");
    ASSERT_REFUSED(
        td_code_encode(w.code, w.data, 299, 2, w.coded), TD_RANGE,
        "code_encode: 2 words from 0x12b in memory \"data\" of 300 words; pass words inside it, at least one");
    ASSERT_REFUSED(td_code_check(w.code, w.coded, 0, 0, NULL, &result), TD_RANGE,
                   "code_check: 0 words from 0x0 in memory \"coded\" of 300 words; pass words inside it, at least one");
    assert_int_equal(result.words, 77);
    close_world(&w);
}

static void bits_are_located(void **state)
{
    (void)state;
    td_code *code = NULL;
    ASSERT_OK(td_code_create("39_32 place=below", 64, &code));
    td_code_bit bit = td_code_locate(code, 8);
    assert_true(bit.is_check && bit.subword == 1 && bit.bit == 1);
    bit = td_code_locate(code, 14 + 33);
    assert_true(!bit.is_check && bit.subword == 1 && bit.bit == 33);
    bit = td_code_locate(code, 78);
    assert_true(!bit.is_check && bit.subword == 0 && bit.bit == 0);
    td_code_destroy(&code);
    td_code_destroy(&code);
    assert_string_equal(td_code_text(NULL), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_print_whole),
        cmocka_unit_test(texts_are_refused),
        cmocka_unit_test(masks_are_refused),
        cmocka_unit_test_setup_teardown(masks_come_from_files, enter_folder, leave_folder),
        cmocka_unit_test(memories_go_through),
        cmocka_unit_test(memories_are_refused),
        cmocka_unit_test(bits_are_located),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
