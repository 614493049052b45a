/* Maps of chips: bytes, files and tensors at system addresses, over arrays, organisations and interleaved regions. */
#include "support.h"

static const char chip[] =
    "# a chip\n"
    "rom:  words 16 x 32; base 0x1000\n"
    "wbuf: words 64 x 16; base 0x1040; endian big;\n"
    "      organisation (t r p) (s k) -> (t s) r (k p); options t=2 s=2 p=4;\n"
    "      arrays 8 x 32 tile[0..1].slice[0..1]\n"
    "odd:  words 8 x 12; base 0x2000\n"
    "ch0:  words 32 x 64\n"
    "ch1:  words 32 x 64\n"
    "ddr:  base 0x8000_0000; memories ch{0..1}; unit 16;\n"
    "      interleave (row ch) -> (row ch); options ch=2; address bank = ch ^ (row & 1); addr = row\n"
    "both: memories ch0 ch1; base 0x9000_0000\n";

static td_map *open_chip(void)
{
    td_map *map = NULL;
    ASSERT_OK(td_map_create(chip, NULL, 0, &map));
    return map;
}

static void test_entries(void **state)
{
    (void)state;
    td_map *map = open_chip();
    td_map_entry e;
    uint64_t word = 0, lsb = 0;
    assert_int_equal(td_map_count(map), 7);
    ASSERT_OK(td_map_at(map, 1, &e));
    assert_string_equal(e.name, "wbuf");
    assert_int_equal(e.array_count, 4);
    assert_string_equal(td_memory_name(e.arrays[0]), "tile[0].slice[0]");
    assert_string_equal(td_memory_name(e.arrays[1]), "tile[0].slice[1]");
    assert_string_equal(td_memory_name(e.arrays[2]), "tile[1].slice[0]");
    assert_int_equal(e.base, 0x1040);
    assert_int_equal(e.bytes, 128);
    assert_int_equal(e.bytes_per_word, 2);
    assert_int_equal(e.big_endian, 1);
    assert_ptr_equal(e.raw, e.memory);
    ASSERT_OK(td_map_find(map, "ch0", &e));
    assert_int_equal(e.addressed, 0);
    ASSERT_OK(td_map_find(map, "ddr", &e));
    assert_int_equal(e.array_count, 2);
    assert_int_equal(e.bytes, 512);
    assert_int_equal(td_memory_depth_words(e.memory), 64);
    ASSERT_OK(td_map_locate(map, 0x1043, &e, &word, &lsb));
    assert_string_equal(e.name, "wbuf");
    assert_int_equal(word, 1);
    assert_int_equal(lsb, 0);
    ASSERT_OK(td_map_locate(map, 0x1006, &e, &word, &lsb));
    assert_int_equal(word, 1);
    assert_int_equal(lsb, 16);
    td_map_destroy(&map);
}

static void test_text(void **state)
{
    (void)state;
    td_map *map = open_chip();
    char *text = NULL;
    ASSERT_OK(td_map_text(map, &text));
    assert_string_equal(text, "0x0000001000 .. 0x000000103f  rom              16 x 32\n"
                              "0x0000001040 .. 0x00000010bf  wbuf             64 x 16, big endian, 4 arrays from "
                              "tile[0].slice[0] on\n"
                              "0x00000010c0 .. 0x0000001fff  (a hole of 0xf40 bytes)\n"
                              "0x0000002000 .. 0x000000200f  odd              8 x 12\n"
                              "0x0000002010 .. 0x007fffffff  (a hole of 0x7fffdff0 bytes)\n"
                              "0x0080000000 .. 0x00800001ff  ddr              64 x 64, 2 arrays from ch0 on\n"
                              "0x0080000200 .. 0x008fffffff  (a hole of 0xffffe00 bytes)\n"
                              "0x0090000000 .. 0x00900001ff  both             64 x 64, 2 arrays from ch0 on\n"
                              "(no address)                  ch0              32 x 64\n"
                              "(no address)                  ch1              32 x 64\n");
    td_free(text);
    td_map_destroy(&map);
}

static void test_bytes(void **state)
{
    (void)state;
    td_map *map = open_chip();
    unsigned char bytes[192], back[192];
    uint64_t words[32], at[32];
    td_map_entry e;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(3 * i + 1);
    /* from the rom into wbuf, which is big endian, and begins and ends inside of words */
    ASSERT_OK(td_map_write(map, 0x1001, bytes, sizeof bytes - 2));
    ASSERT_OK(td_map_read(map, 0x1001, back, sizeof bytes - 2));
    assert_memory_equal(bytes, back, sizeof bytes - 2);
    uint32_t first = 0;
    uint16_t big = 0;
    ASSERT_OK(td_map_find(map, "rom", &e));
    ASSERT_OK(td_backdoor_read(e.memory, (uint64_t[]){0}, 1, &first));
    assert_int_equal(first, 0x070401 << 8);
    ASSERT_OK(td_map_find(map, "wbuf", &e));
    ASSERT_OK(td_backdoor_read(e.memory, (uint64_t[]){0}, 1, &big)); /* bytes 63 and 64 of the list */
    assert_int_equal(big, (unsigned)bytes[63] << 8 | bytes[64]);
    /* two channels, hashed by the row */
    ASSERT_OK(td_map_write(map, 0x80000000, bytes, 64));
    for (uint64_t i = 0; i < 32; i++)
        at[i] = i;
    for (unsigned ch = 0; ch < 2; ch++) {
        ASSERT_OK(td_map_find(map, ch ? "ch1" : "ch0", &e));
        ASSERT_OK(td_backdoor_read(e.memory, at, 4, words));
        assert_memory_equal(words, bytes + 16 * ch, 16);
        assert_memory_equal(words + 2, bytes + 32 + 16 * (1 - ch), 16);
    }
    /* the same memories without interleaving, and a write through them into part of a word */
    ASSERT_OK(td_map_read(map, 0x90000000, back, 16));
    assert_memory_equal(back, bytes, 16);
    ASSERT_OK(td_map_write(map, 0x90000003, "ab", 2));
    ASSERT_OK(td_map_read(map, 0x80000000, back, 8));
    assert_memory_equal(back,
                        "\x01\x04\x07"
                        "ab"
                        "\x10\x13\x16",
                        8);
    td_map_destroy(&map);
}

static void test_bytes_refused(void **state)
{
    (void)state;
    td_map *map = open_chip();
    unsigned char b[512] = {0};
    ASSERT_REFUSED(td_map_read(NULL, 0, b, 1), TD_ARGUMENT, "map_read at 0x0: the map is NULL; pass one");
    ASSERT_REFUSED(td_map_read(map, 0x1000, NULL, 1), TD_ARGUMENT, "map_read at 0x1000: the bytes are NULL; pass one");
    ASSERT_REFUSED(td_map_write(map, 0x1000, b, 0), TD_ARGUMENT,
                   "map_write at 0x1000: a count of 0 bytes; pass at least one");
    ASSERT_REFUSED(
        td_map_read(map, 0xfff, b, 4), TD_RANGE,
        "map_read at 0xfff: address 0xfff lies in front of the first memory, rom, which begins at 0x1000; use "
        "an address of a memory, or add one to the map");
    memset(b, 0x5a, sizeof b);
    ASSERT_REFUSED(td_map_write(map, 0x1000, b, 200), TD_RANGE,
                   "map_write at 0x1000: address 0x10c0 lies in the hole 0x10c0 .. 0x1fff between wbuf and odd; use an "
                   "address of a memory, or add one to the map");
    ASSERT_REFUSED(td_map_read(map, 0x900001ff, b, 2), TD_RANGE,
                   "map_read at 0x900001ff: address 0x90000200 lies past the last memory, both, which ends at "
                   "0x900001ff; use an address of a memory, or add one to the map");
    ASSERT_REFUSED(td_map_write(map, UINT64_MAX - 1, b, 4), TD_RANGE,
                   "map_write at 0xfffffffffffffffe: 4 bytes from there pass 2^64; pass fewer");
    ASSERT_REFUSED(
        td_map_write(map, 0x2002, b, 4), TD_RANGE,
        "map_write at 0x2002: the byte 0x5a at 0x2003 is the top one of a word of odd, of which 12 bits leave "
        "4 there; clear the bits above");
    ASSERT_OK(td_map_read(map, 0x1000, b, 192)); /* nothing was written */
    for (size_t i = 0; i < 192; i++)
        assert_int_equal(b[i], 0);
    ASSERT_OK(td_map_write(map, 0x2002, "\xff\x0f", 2));
    ASSERT_OK(td_map_read(map, 0x2000, b, 16));
    assert_memory_equal(b, "\0\0\xff\x0f\0\0", 6);
    td_map_destroy(&map);
}

/* tests/data/files/firmware.elf: two segments from 0x1000 on, see test_images.c */
#ifdef TD_HAVE_ELF
static void test_elf(void **state)
{
    (void)state;
    td_map *map = NULL;
    td_memory *flat = NULL;
    unsigned char *expected = NULL, got[64];
    td_span *spans = NULL;
    size_t count = 0;
    fetch_data("firmware.elf");
    fetch_data("objcopy.srec");
    ASSERT_OK(td_image_spans("elf:firmware.elf", 8, &spans, &count));
    ASSERT_OK(td_memory_create("flat", 8, 0x10000, &flat));
    ASSERT_OK(td_memory_load_file(flat, "firmware.elf"));
    expected = td_memory_data(flat);
    ASSERT_OK(td_map_create("a: words 64 x 32\nb: words 64 x 32\nlow: words 2 x 32; base 0xff8\n"
                            "ram: base 0x1000; memories a b; unit 4; interleave (row ch) -> ch row",
                            NULL, 0, &map));
    ASSERT_OK(td_map_load_file(map, "firmware.elf", NULL));
    for (size_t s = 0; s < count; s++) {
        assert_true(spans[s].count <= sizeof got && spans[s].first >= 0x1000);
        ASSERT_OK(td_map_read(map, spans[s].first, got, spans[s].count));
        assert_memory_equal(got, expected + spans[s].first, spans[s].count);
    }
    td_map_destroy(&map);

    td_image_outside outside;
    ASSERT_OK(td_map_create("ram: words 2 x 32; base 0x1000\nfar: words 2 x 32; base 0x4000", NULL, 0, &map));
    ASSERT_REFUSED(td_map_load_file(map, "firmware.elf", &outside), TD_RANGE,
                   "map_load_file \"firmware.elf\": segment 1: address 0x1010 lies in the hole 0x1008 .. 0x3fff "
                   "between ram and far; use an "
                   "address of a memory, or add one to the map");
    ASSERT_OK(td_map_read(map, 0x1000, got, 8));
    assert_memory_equal(got, "\0\0\0\0\0\0\0\0", 8);
    ASSERT_OK(td_map_load_file(map, "elf,outside=skip:firmware.elf", &outside));
    ASSERT_OK(td_map_read(map, 0x1000, got, 8));
    assert_memory_equal(got, expected + 0x1000, 8);
    uint64_t all = 0;
    for (size_t s = 0; s < count; s++)
        for (uint64_t a = spans[s].first; a < spans[s].first + spans[s].count; a++)
            all += a >= 0x1008;
    assert_int_equal(outside.bytes, all);
    assert_int_equal(outside.first, 0x1010);
    assert_int_equal(outside.last, spans[count - 1].first + spans[count - 1].count - 1);
    ASSERT_OK(td_map_load_file(map, "srec,outside=skip:objcopy.srec", NULL));
    td_map_destroy(&map);

    ASSERT_OK(td_map_create("ram: words 2 x 32; base 0x9000", NULL, 0, &map));
    ASSERT_REFUSED(td_map_load_file(map, "elf,outside=skip:firmware.elf", NULL), TD_RANGE,
                   "map_load_file \"elf,outside=skip:firmware.elf\": nothing of the file lies in a memory: its 10 "
                   "bytes are at 0x1000 to 0x1012; "
                   "correct the bases of the map, or link the program elsewhere");
    ASSERT_REFUSED(
        td_map_load_file(map, "elf,base=0x100:firmware.elf", NULL), TD_OPTION,
        "map_load_file \"elf,base=0x100:firmware.elf\": base=, which the map says for every memory; leave it "
        "out");
    ASSERT_REFUSED(
        td_map_load_file(map, "elf,endian=big:firmware.elf", NULL), TD_OPTION,
        "map_load_file \"elf,endian=big:firmware.elf\": endian=big, which the map says for every memory; leave "
        "it out");
    write_file("x.hex", "0\n", 2);
    ASSERT_REFUSED(
        td_map_load_file(map, "x.hex", NULL), TD_ARGUMENT,
        "map_load_file \"x.hex\": readmemh has no byte addresses; load an ELF file, .ihex, .srec, or readmem "
        "text with unit=byte");
    ASSERT_REFUSED(td_map_load_file(NULL, "x.hex", NULL), TD_ARGUMENT, "map_load_file: the map is NULL; pass one");
    ASSERT_REFUSED(td_map_load_file(map, NULL, NULL), TD_ARGUMENT, "map_load_file: the path is NULL; pass one");
    td_map_destroy(&map);
    td_memory_destroy(&flat);
    td_free(spans);
}
#endif

static void test_tensors(void **state)
{
    (void)state;
    td_map *map = open_chip();
    td_layout *rows = NULL, *flat = NULL, *beats = NULL, *bytes = NULL, *typed = NULL;
    td_tensor *t = NULL, *back = NULL;
    td_report *report = NULL;
    unsigned char got[64];
    ASSERT_OK(td_layout_create("r c -> r c", "", "2*r", &rows));
    ASSERT_OK(td_layout_create("... -> (...)", "", "", &flat));
    ASSERT_OK(td_layout_create("r c -> r c", "beats=2", "", &beats));
    ASSERT_OK(td_layout_create("r c -> r c", "addr_unit=byte", "", &bytes));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(4, 8), &t));
    ASSERT_OK(td_tensor_create("u8", TD_SHAPE(4, 8), &back));
    ASSERT_OK(td_tensor_fill_random(t, 7));
    const unsigned char *elems = td_tensor_data_const(t);

    ASSERT_OK(td_map_load_tensor(map, 0x80000010, t, rows, NULL));
    for (size_t r = 0; r < 4; r++) {
        ASSERT_OK(td_map_read(map, 0x80000010 + 16 * r, got, 8));
        assert_memory_equal(got, elems + 8 * r, 8);
    }
    ASSERT_OK(td_map_dump_tensor(map, 0x80000010, back, rows, ""));
    assert_memory_equal(td_tensor_data_const(back), elems, 32);
    ASSERT_OK(td_map_compare_tensor(map, 0x80000010, t, rows, NULL, NULL, &report));
    assert_int_equal(td_report_passed(report), 1);
    td_report_destroy(&report);
    ASSERT_OK(td_map_compare_tensor(map, 0x80000020, t, rows, NULL, NULL, &report));
    assert_int_equal(td_report_passed(report), 0);
    td_report_destroy(&report);

    ASSERT_OK(td_map_load_tensor(map, 0x80000103, t, flat, NULL)); /* at any byte */
    ASSERT_OK(td_map_read(map, 0x80000103, got, 32));
    assert_memory_equal(got, elems, 32);
    ASSERT_OK(td_map_load_tensor(map, 0x80000108, t, bytes, NULL));
    ASSERT_OK(td_map_read(map, 0x80000108, got, 32));
    assert_memory_equal(got, elems, 32);
    ASSERT_OK(td_map_load_tensor(map, 0x1004, t, beats, NULL)); /* rows of 64 bits in words of 32 */
    ASSERT_OK(td_map_read(map, 0x1004, got, 32));
    assert_memory_equal(got, elems, 32);

    ASSERT_REFUSED(
        td_map_load_tensor(map, 0x80000011, t, rows, NULL), TD_ADDRESS,
        "map_load_tensor at 0x80000011: it is byte 1 of a word of ddr; begin at 0x80000010 or 0x80000018, or "
        "use a flat layout, as \"... -> (...)\"");
    ASSERT_REFUSED(td_map_load_tensor(map, 0x1041, t, flat, NULL), TD_ADDRESS,
                   "map_load_tensor at 0x1041: it is byte 1 of a word of wbuf; it is big endian, so begin at 0x1040 or "
                   "0x1042");
    ASSERT_REFUSED(
        td_map_dump_tensor(map, 0x2001, t, flat, NULL), TD_ADDRESS,
        "map_dump_tensor at 0x2001: it is byte 1 of a word of odd; its words are no whole bytes, so begin at "
        "0x2000 or 0x2002");
    ASSERT_REFUSED(
        td_map_load_tensor(map, 0x3000, t, flat, NULL), TD_RANGE,
        "map_load_tensor at 0x3000: address 0x3000 lies in the hole 0x2010 .. 0x7fffffff between odd and ddr; "
        "use an address of a memory, or add one to the map");
    ASSERT_REFUSED(td_map_compare_tensor(map, 0x80000000, t, NULL, NULL, NULL, &report), TD_ARGUMENT,
                   "map_compare_tensor at 0x80000000: the layout is NULL; pass one");
    ASSERT_REFUSED(td_map_load_tensor(NULL, 0x80000000, t, flat, NULL), TD_ARGUMENT,
                   "map_load_tensor at 0x80000000: the map is NULL; pass one");
    ASSERT_REFUSED(
        td_map_load_tensor(map, 0x800001f8, t, flat, NULL), TD_RANGE,
        "map_load_tensor at 0x800001f8: backdoor_load_tensor \"ddr\": flat pattern \"... -> ...\" at address "
        "63 ends in word 66, past the memory of 64 words; use a smaller address, or a depth of at least 67\n"
        "    shape (4, 8)");
    /* what a layout file says of the values goes along */
    write_file("l.txt", "w: pattern r c -> r c; as i16 scale=0.5", 39);
    ASSERT_OK(td_layout_open("l.txt", "w", &typed));
    td_tensor *f = NULL;
    ASSERT_OK(td_tensor_create("f32", TD_SHAPE(1, 4), &f));
    ASSERT_OK(td_tensor_fill_ramp(f, 1, 1));
    ASSERT_OK(td_map_load_tensor(map, 0x80000000, f, typed, NULL));
    ASSERT_OK(td_map_read(map, 0x80000000, got, 8));
    assert_memory_equal(got, "\2\0\4\0\6\0\10\0", 8);
    td_tensor_destroy(&f);
    td_layout_destroy(&rows);
    td_layout_destroy(&flat);
    td_layout_destroy(&beats);
    td_layout_destroy(&bytes);
    td_layout_destroy(&typed);
    td_tensor_destroy(&t);
    td_tensor_destroy(&back);
    td_map_destroy(&map);
}

/* Words with check bits in three slices of two tiles, four in a row, and no word of zeros in the arrays at first. */
static void test_coded(void **state)
{
    (void)state;
    static const char text[] = "plain: words 4 x 32; base 0xff0\n"
                               "wbuf: words 64 x 32; base 0x1000; code inv_39_32;\n"
                               "      organisation (t r p) (s k) -> (t s) r (k p); options t=2 s=3 p=4;\n"
                               "      arrays 8 x 52 tile{0..1}.slice{0..2}\n"
                               "as_is: words 4 x 32; base 0x2000; code inv_39_32; check off\n";
    td_map *map = NULL;
    td_map_entry e;
    unsigned char bytes[64], back[64];
    uint64_t coded = 0;
    td_code_result result;
    td_faults *one = NULL, *two = NULL;
    ASSERT_OK(td_map_create(text, NULL, 0, &map));
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(7 * i + 3);
    ASSERT_OK(td_map_read(map, 0x1000, back, 64)); /* zeros, coded */
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(back[i], 0);
    ASSERT_OK(td_map_write(map, 0x1001, bytes, 2)); /* a part of a word */
    ASSERT_OK(td_map_write(map, 0x1008, "\x0d\xf0\xfe\xca", 4));
    ASSERT_OK(td_map_find(map, "wbuf", &e));
    assert_int_equal(td_memory_width_bits(e.raw), 39);
    assert_int_equal(e.array_count, 6);
    ASSERT_OK(td_backdoor_read(e.raw, (uint64_t[]){2}, 1, &coded));
    assert_int_equal(coded, 0x5ecafef00d); /* OpenTitan's inv_39_32 */
    ASSERT_OK(td_backdoor_read(e.raw, (uint64_t[]){1}, 1, &coded));
    assert_int_equal(coded, 0x2a00000000);
    ASSERT_OK(td_memory_inject(e.memory, "bit=3 word=2", NULL, &one));
    ASSERT_OK(td_memory_code_result(e.memory, NULL, 1));
    ASSERT_OK(td_map_read(map, 0x1008, back, 4));
    assert_memory_equal(back, "\x0d\xf0\xfe\xca", 4);
    ASSERT_OK(td_memory_code_result(e.memory, &result, 1));
    assert_int_equal(result.corrected, 1);

    /* a second wrong bit: a write of a part of the word is refused, and so is what would come before it */
    ASSERT_OK(td_memory_inject(e.memory, "bit=4 word=2", NULL, &two));
    static const char refused[] =
        "word 0x2 of \"wbuf\", subword 0: the syndrome 0x2e is none that the code \"inv_39_32 subword=32 "
        "place=above\" corrects; write the word anew, or read it as it stands with check=off";
    char message[300];
    snprintf(message, sizeof message, "map_write at 0xff0: %s", refused);
    ASSERT_REFUSED(td_map_write(map, 0xff0, bytes, 0x1a), TD_UNCORRECTABLE, message);
    ASSERT_OK(td_map_read(map, 0xff0, back, 16));
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(back[i], 0);
    snprintf(message, sizeof message, "map_read at 0x1008: %s", refused);
    ASSERT_REFUSED(td_map_read(map, 0x1008, back, 1), TD_UNCORRECTABLE, message);
    ASSERT_OK(td_map_write(map, 0xff0, bytes, 0x1c)); /* the whole word is written anew */
    ASSERT_OK(td_map_read(map, 0xff0, back, 0x1c));
    assert_memory_equal(back, bytes, 0x1c);

    ASSERT_OK(td_map_find(map, "as_is", &e));
    ASSERT_OK(td_backdoor_write(e.raw, (uint64_t[]){0}, 1, (uint64_t[]){0x7fcafef00f}, NULL));
    ASSERT_OK(td_map_read(map, 0x2000, back, 4));
    assert_memory_equal(back, "\x0f\xf0\xfe\xca", 4);
    td_faults_destroy(&one);
    td_faults_destroy(&two);
    td_map_destroy(&map);
}

/* A codec of codecs.c, under a code whose words it stores as ~word ^ address. */
static void test_codec(void **state)
{
    (void)state;
    char text[600];
    td_map *map = NULL;
    td_map_entry e;
    unsigned char back[8];
    snprintf(text, sizeof text, "s: words 8 x 31; base 0; code parity odd width=31; codec %s:flipped",
             getenv("TD_TEST_CODECS"));
    ASSERT_OK(td_map_create(text, NULL, 0, &map));
    ASSERT_OK(td_map_read(map, 0, back, 8));
    assert_memory_equal(back, "\0\0\0\0\0\0\0\0", 8);
    ASSERT_OK(td_map_write(map, 5, "\x07", 1));
    ASSERT_OK(td_map_find(map, "s", &e));
    uint32_t stored[2] = {0};
    ASSERT_OK(td_backdoor_read(e.arrays[0], (uint64_t[]){0, 1}, 2, stored));
    assert_int_equal(stored[0], ~0x80000000u);
    assert_int_equal(stored[1], ~0x00000700u ^ 1);
    ASSERT_OK(td_map_read(map, 4, back, 4));
    assert_memory_equal(back, "\0\7\0\0", 4);
    td_map_destroy(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_bytes_refused),
#ifdef TD_HAVE_ELF
        cmocka_unit_test_setup_teardown(test_elf, enter_folder, leave_folder),
#endif
        cmocka_unit_test(test_coded),
        cmocka_unit_test(test_codec),
        cmocka_unit_test_setup_teardown(test_tensors, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
