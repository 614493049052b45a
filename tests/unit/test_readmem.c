/* Memory images, $readmemh text and raw: what they hold, every prefix of a file, and the text of every refusal. */
#include "support.h"

static td_memory *make(uint64_t width_bits, uint64_t depth_words)
{
    td_memory *m = NULL;
    ASSERT_OK(td_memory_create("m", width_bits, depth_words, &m));
    return m;
}

static void put(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static uint64_t word_at(td_memory *m, uint64_t address)
{
    unsigned char bytes[8] = {0};
    memcpy(bytes, (unsigned char *)td_memory_data(m) + address * td_memory_word_bytes(m), td_memory_word_bytes(m));
    uint64_t value = 0;
    memcpy(&value, bytes, 8);
    return value;
}

static void text_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t words[6]; /* 0xee: untouched */
        uint64_t depth;
    } cases[] = {
        {"1 2 3", {1, 2, 3, 0xee, 0xee, 0xee}, 3},
        {"1\n2\r\n3\t4\v5\f6\n", {1, 2, 3, 4, 5, 6}, 6},
        {"@2 aB Cd\n@0\n7", {7, 0xee, 0xab, 0xcd, 0xee, 0xee}, 4},
        {"// all\n1 // one\n/* two\n * three */ 2/**/3//", {1, 2, 3, 0xee, 0xee, 0xee}, 3},
        {"/* a * b / c **/1", {1, 0xee, 0xee, 0xee, 0xee, 0xee}, 1},
        {"1_2 _3_ 0_0_0_4", {0x12, 3, 4, 0xee, 0xee, 0xee}, 3},
        {"@0_3 9", {0xee, 0xee, 0xee, 9, 0xee, 0xee}, 4},
        {"@00000000000000000005 00000000000000000000ff", {0xee, 0xee, 0xee, 0xee, 0xee, 0xff}, 6},
        {"1 1 @1 5 @ffffffffffffffffffff", {1, 5, 0xee, 0xee, 0xee, 0xee}, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static const char *const names[] = {"a.hex", "a.mem", "a.vmem", "a.HEX"};
        td_memory *m = make(8, 6);
        memset(td_memory_data(m), 0xee, 6);
        put(names[i % 4], cases[i].text);
        ASSERT_OK(td_memory_load_file(m, names[i % 4]));
        for (uint64_t w = 0; w < 6; w++)
            assert_int_equal(word_at(m, w), cases[i].words[w]);
        uint64_t depth = 0;
        ASSERT_OK(td_image_depth(names[i % 4], 8, &depth));
        assert_int_equal(depth, cases[i].depth);
        td_memory_destroy(&m);
    }
}

static void bad_text_changes_nothing(void **state)
{
    (void)state;
#define X_AS_ZERO ", or read it as zero with readmemh,x=0:FILE"
#define CHARACTER(what) "unexpected character " what "; words are the digits 0-9 a-f with _ between them"
    static const struct {
        const char *text;
        td_status status;
        const char *message;
    } cases[] = {
        {"1\n2\n3x\n", TD_FORMAT, "line 3: the digit x; a memory holds 0 and 1 only, so write 0-9 or a-f" X_AS_ZERO},
        {"1\n\nz", TD_FORMAT, "line 3: the digit z; a memory holds 0 and 1 only, so write 0-9 or a-f" X_AS_ZERO},
        {"X", TD_FORMAT, "line 1: the digit X; a memory holds 0 and 1 only, so write 0-9 or a-f" X_AS_ZERO},
        {"/*\n*/1?", TD_FORMAT, "line 2: the digit ?; a memory holds 0 and 1 only, so write 0-9 or a-f" X_AS_ZERO},
        {"1 // x\n2 g", TD_FORMAT, "line 2: " CHARACTER("'g'")},
        {"1\n0x2", TD_FORMAT, "line 2: the digit x; a memory holds 0 and 1 only, so write 0-9 or a-f" X_AS_ZERO},
        {"1,2", TD_FORMAT, "line 1: " CHARACTER("','")},
        {"1 \001", TD_FORMAT, "line 1: " CHARACTER("0x01")},
        {"\xff\xfe", TD_FORMAT, "line 1: " CHARACTER("0xff")},
        {"1 / 2", TD_FORMAT, "line 1: " CHARACTER("'/'")},
        {"1 /", TD_FORMAT, "line 1: " CHARACTER("'/'")},
        {"1@2", TD_FORMAT, "line 1: " CHARACTER("'@'")},
        {"1\n/* 2\n3", TD_FORMAT, "line 2: a comment /* that never ends; close it with */"},
        {"1 /*/", TD_FORMAT, "line 1: a comment /* that never ends; close it with */"},
        {"1 /*", TD_FORMAT, "line 1: a comment /* that never ends; close it with */"},
        {"1 @", TD_FORMAT, "line 1: a number without digits; write 0-9 or a-f"},
        {"1\n@ 2", TD_FORMAT, "line 2: a number without digits; write 0-9 or a-f"},
        {"1 __ 2", TD_FORMAT, "line 1: a number without digits; write 0-9 or a-f"},
        {"1\n@x", TD_FORMAT, "line 2: the digit x; a memory holds 0 and 1 only, so write 0-9 or a-f" X_AS_ZERO},
        {"1\n2\n100", TD_FORMAT, "line 3: a word of 9 bits for a width of 8; widen the memory or correct the word"},
        {"1\n2\n_0_fff", TD_FORMAT, "line 3: a word of 12 bits for a width of 8; widen the memory or correct the word"},
        {"10000000000000000", TD_FORMAT,
         "line 1: a word of 65 bits for a width of 8; widen the memory or correct the word"},
        {"1 2 3\n4 5 6\n7", TD_RANGE, "line 3: address 0x6 is past the memory of 6 words; the last address is 0x5"},
        {"1\n@6\n\n7", TD_RANGE, "line 2: address 0x6 is past the memory of 6 words; the last address is 0x5"},
        {"@10000000000000000 7", TD_RANGE,
         "line 1: address 0xffffffffffffffff is past the memory of 6 words; the last address is 0x5"},
        {"", TD_FORMAT, "the file holds no words; an image has at least one"},
        {"// nothing\n@3", TD_FORMAT, "the file holds no words; an image has at least one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char message[256];
        td_memory *m = make(8, 6);
        put("bad.hex", cases[i].text);
        snprintf(message, sizeof message, "memory_load_file \"bad.hex\": %s", cases[i].message);
        ASSERT_REFUSED(td_memory_load_file(m, "bad.hex"), cases[i].status, message);
        for (uint64_t w = 0; w < 6; w++)
            assert_int_equal(word_at(m, w), 0);
        td_memory_destroy(&m);
    }
    td_memory *wide = make(65, 4);
    put("bad.hex", "1\n2zz");
    ASSERT_REFUSED(td_memory_load_file(wide, "bad.hex"), TD_FORMAT,
                   "memory_load_file \"bad.hex\": line 2: the digit z; a memory holds 0 and 1 only, so write 0-9 or "
                   "a-f" X_AS_ZERO);
    put("bad.hex", "1\n20000000000000000");
    ASSERT_REFUSED(
        td_memory_load_file(wide, "bad.hex"), TD_FORMAT,
        "memory_load_file \"bad.hex\": line 2: a word of 66 bits for a width of 65; widen the memory or correct the "
        "word");
    put("bad.hex", "1\n_");
    ASSERT_REFUSED(td_memory_load_file(wide, "bad.hex"), TD_FORMAT,
                   "memory_load_file \"bad.hex\": line 2: a number without digits; write 0-9 or a-f");
    assert_int_equal(*(uint32_t *)td_memory_data(wide), 0);
    td_memory_destroy(&wide);
    uint64_t depth = 5;
    put("bad.hex", "1\n@10000000000\n2");
    ASSERT_REFUSED(
        td_image_depth("bad.hex", 8, &depth), TD_RANGE,
        "image_depth \"bad.hex\": line 2: address 0x10000000000 is past the memory of 1099511627776 words; the "
        "last address is 0xffffffffff");
    assert_int_equal(depth, 5);
}

static const uint64_t widths[] = {1,  3,  4,  5,  8,  9,  12,  16,  31,  32,   33,
                                  63, 64, 65, 68, 69, 96, 100, 127, 128, 1000, 70000};

static void fill(td_memory *m, uint64_t seed)
{
    unsigned char *data = td_memory_data(m);
    size_t bytes = td_memory_word_bytes(m);
    uint64_t width_bits = td_memory_width_bits(m);
    for (uint64_t w = 0; w < td_memory_depth_words(m); w++)
        for (uint64_t b = 0; b < (width_bits + 7) / 8; b++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            unsigned used = (unsigned)(width_bits - 8 * b);
            data[w * bytes + b] = (unsigned char)(seed >> 40 & (used < 8 ? (1u << used) - 1 : 0xff));
        }
}

static void any_width_goes_out_and_in(void **state)
{
    (void)state;
    static const td_span spans[] = {{0, 1, 2}, {0, 5, 1}, {0, 6, 3}};
    static const char *const names[] = {"w.hex", "w.bin"};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        for (size_t n = 0; n < 2; n++) {
            td_memory *m = make(widths[i], 12);
            td_memory *back = make(widths[i], 12);
            size_t bytes = td_memory_word_bytes(m);
            fill(m, widths[i]);
            ASSERT_OK(td_memory_save_file(m, names[n], spans, 3));
            uint64_t depth = 0;
            ASSERT_OK(td_image_depth(names[n], widths[i], &depth));
            assert_int_equal(depth, 9);
            ASSERT_OK(td_memory_load_file(back, names[n]));
            unsigned char *zeros = calloc(1, bytes);
            assert_non_null(zeros);
            for (uint64_t w = 0; w < 12; w++) {
                int written = n == 1 ? w < 9 : (w >= 1 && w < 3) || (w >= 5 && w < 9);
                assert_memory_equal((unsigned char *)td_memory_data(back) + w * bytes,
                                    written ? (unsigned char *)td_memory_data(m) + w * bytes : zeros, bytes);
            }
            free(zeros);
            td_memory_destroy(&m);
            td_memory_destroy(&back);
        }
}

static void underscores_in_wide_words(void **state)
{
    (void)state;
    td_memory *m = make(100, 2);
    put("u.hex", "0_1234_5678_9abc_def0_1111_2222\n___f_0123456_7_89abcdef_00000001_");
    ASSERT_OK(td_memory_load_file(m, "u.hex"));
    const uint32_t want[8] = {0x11112222, 0x9abcdef0, 0x12345678, 0, 0x00000001, 0x89abcdef, 0x01234567, 0xf};
    assert_memory_equal(td_memory_data(m), want, sizeof want);
    td_memory_destroy(&m);
}

static void text_is_written(void **state)
{
    (void)state;
    static const struct {
        uint64_t width_bits;
        td_span spans[3];
        size_t count;
        const char *text;
    } cases[] = {
        {8, {{0, 0, 3}}, 1, "01\n02\n03\n"},
        {8, {{0, 2, 2}}, 1, "@2\n03\n04\n"},
        {9, {{0, 0, 1}, {0, 1, 1}, {0, 20, 1}}, 3, "001\n002\n@14\n015\n"},
        {5, {{0, 0, 1}, {0, 15, 2}}, 2, "01\n@f\n10\n11\n"},
        {3, {{0, 6, 1}}, 1, "@6\n7\n"},
        {64, {{0, 9, 1}}, 1, "@9\n000000000000000a\n"},
        {66, {{0, 9, 1}}, 1, "@9\n0000000000000000a\n"},
        {96, {{0, 31, 1}}, 1, "@1f\n000000000000000000000020\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_memory *m = make(cases[i].width_bits, 32);
        for (size_t w = 0; w < 32; w++)
            ((unsigned char *)td_memory_data(m))[w * td_memory_word_bytes(m)] =
                (unsigned char)((w + 1) & (cases[i].width_bits < 8 ? (1u << cases[i].width_bits) - 1 : 0xff));
        ASSERT_OK(td_memory_save_file(m, "o.hex", cases[i].spans, cases[i].count));
        size_t bytes = 0;
        char *text = read_whole_file("o.hex", &bytes);
        assert_string_equal(text, cases[i].text);
        free(text);
        td_memory_destroy(&m);
    }
}

/* The images that an independent implementation wrote: text in $readmemh order, raw words little endian. */
static void golden_files(void **state)
{
    (void)state;
    static const struct {
        uint64_t width_bits;
        const char *text;
        const char *raw;
    } cases[] = {
        {48, "404040003f80\n00003f00bf80\n", "\x80\x3f\x00\x40\x40\x40\x80\xbf\x00\x3f\x00\x00"},
        {24, "03fe01\n800504\n", "\x01\xfe\x03\x04\x05\x80"},
        {64, "fffffffe00000001\n0000000712345678\n",
         "\x01\x00\x00\x00\xfe\xff\xff\xff\x78\x56\x34\x12\x07\x00\x00\x00"},
        {64, "3ff0000000000000\nbfb999999999999a\n",
         "\x00\x00\x00\x00\x00\x00\xf0\x3f\x9a\x99\x99\x99\x99\x99\xb9\xbf"},
    };
    static const td_span both = {0, 0, 2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t raw_bytes = (size_t)cases[i].width_bits / 8 * 2;
        size_t bytes = 0;
        td_memory *m = make(cases[i].width_bits, 2);
        put("g.hex", cases[i].text);
        ASSERT_OK(td_memory_load_file(m, "g.hex"));
        ASSERT_OK(td_memory_save_file(m, "g.bin", &both, 1));
        char *raw = read_whole_file("g.bin", &bytes);
        assert_int_equal(bytes, raw_bytes);
        assert_memory_equal(raw, cases[i].raw, raw_bytes);
        free(raw);
        ASSERT_OK(td_memory_clear(m));
        ASSERT_OK(td_memory_load_file(m, "g.bin"));
        ASSERT_OK(td_memory_save_file(m, "h.hex", &both, 1));
        char *text = read_whole_file("h.hex", &bytes);
        assert_string_equal(text, cases[i].text);
        free(text);
        td_memory_destroy(&m);
    }
}

static void raw_refusals(void **state)
{
    (void)state;
    td_memory *m = make(12, 3);
    uint64_t depth = 77;
    write_file("r.bin", "\x01\x02\x03", 3);
    ASSERT_REFUSED(
        td_memory_load_file(m, "r.bin"), TD_FORMAT,
        "memory_load_file \"r.bin\": 3 bytes are not whole words of 2 bytes (12 bits); the file is cut short, or of "
        "another width");
    ASSERT_REFUSED(
        td_image_depth("r.bin", 16, &depth), TD_FORMAT,
        "image_depth \"r.bin\": 3 bytes are not whole words of 2 bytes (16 bits); the file is cut short, or of "
        "another width");
    write_file("r.bin", "\x01\x02\x03\x04\x05\x36", 6);
    ASSERT_REFUSED(
        td_memory_load_file(m, "r.bin"), TD_FORMAT,
        "memory_load_file \"r.bin\": word 2 has 0x3 above the width of 12 bits; the file is of another width");
    write_file("r.bin", "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
    ASSERT_REFUSED(td_memory_load_file(m, "r.bin"), TD_RANGE,
                   "memory_load_file \"r.bin\": the file holds 4 words, the memory 3; make it at least that deep");
    write_file("r.bin", "", 0);
    ASSERT_REFUSED(td_memory_load_file(m, "r.bin"), TD_FORMAT,
                   "memory_load_file \"r.bin\": the file is empty; an image holds at least one word of 2 bytes");
    for (uint64_t w = 0; w < 3; w++)
        assert_int_equal(word_at(m, w), 0);
    assert_int_equal(depth, 77);
    td_memory_destroy(&m);
}

static void facade_refusals(void **state)
{
    (void)state;
    td_memory *m = make(8, 16);
    uint64_t depth = 0;
    td_span span = {0, 0, 4};
    folder_files(1);
    ASSERT_REFUSED(
        td_memory_load_file(m, "none.hex"), TD_FILE,
        "memory_load_file \"none.hex\": cannot open the file: No such file or directory; check the path and its "
        "permissions");
    ASSERT_REFUSED(td_memory_load_file(m, "a.txt"), TD_ARGUMENT,
                   "memory_load_file \"a.txt\": the extension \".txt\" is not that of a memory image; " IMAGE_FILES);
    ASSERT_REFUSED(td_memory_load_file(NULL, "a.hex"), TD_ARGUMENT,
                   "memory_load_file: memory is NULL; pass a memory and a path");
    ASSERT_REFUSED(td_memory_load_file(m, NULL), TD_ARGUMENT,
                   "memory_load_file: path is NULL; pass a memory and a path");
    ASSERT_REFUSED(td_image_depth(NULL, 8, &depth), TD_ARGUMENT,
                   "image_depth: path is NULL; pass a path and a uint64_t");
    ASSERT_REFUSED(td_image_depth("a.hex", 8, NULL), TD_ARGUMENT,
                   "image_depth: depth_words is NULL; pass a path and a uint64_t");
    ASSERT_REFUSED(td_image_depth("a.hex", 0, &depth), TD_ARGUMENT,
                   "image_depth \"a.hex\": a width of 0 bits; a width is 1 to 16777216 bits");
    ASSERT_REFUSED(td_memory_save_file(NULL, "a.hex", &span, 1), TD_ARGUMENT,
                   "memory_save_file: memory is NULL; pass a memory and a path");
    ASSERT_REFUSED(td_memory_save_file(m, NULL, &span, 1), TD_ARGUMENT,
                   "memory_save_file: path is NULL; pass a memory and a path");
    ASSERT_REFUSED(td_memory_save_file(m, "a.hex", &span, 0), TD_ARGUMENT,
                   "memory_save_file \"a.hex\": no spans to write; pass at least one");
    ASSERT_REFUSED(td_memory_save_file(m, "a.hex", NULL, 1), TD_ARGUMENT,
                   "memory_save_file \"a.hex\": no spans to write; pass at least one");
    ASSERT_REFUSED(td_memory_save_file(m, "a.npy", &span, 1), TD_ARGUMENT,
                   "memory_save_file \"a.npy\": the extension \".npy\" is that of a tensor file, not of a memory "
                   "image; " IMAGE_FILES);
    static const struct {
        td_span spans[2];
        td_status status;
        const char *message;
    } cases[] = {
        {{{0, 0, 4}, {0, 8, 0}}, TD_ARGUMENT, "span 1 has a count of 0 words; a span has at least one"},
        {{{0, 0, 4}, {1, 8, 2}}, TD_ARGUMENT, "span 1 is of bank 1, the first of bank 0; save one bank at a time"},
        {{{0, 0, 4}, {0, 3, 2}},
         TD_ARGUMENT,
         "span 1 begins at word 0x3, the one before ends at 0x4; sort and merge the spans"},
        {{{0, 0, 4}, {0, 8, 9}},
         TD_RANGE,
         "span 1 has 9 words from 0x8, past the memory \"m\" of 16 words; cut the span"},
        {{{0, 0, 4}, {0, 16, 1}},
         TD_RANGE,
         "span 1 has 1 word from 0x10, past the memory \"m\" of 16 words; cut the span"},
        {{{0, 0, 4}, {0, 8, UINT64_MAX}},
         TD_RANGE,
         "span 1 has 18446744073709551615 words from 0x8, past the memory \"m\" of 16 words; cut the span"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char message[256];
        snprintf(message, sizeof message, "memory_save_file \"a.hex\": %s", cases[i].message);
        ASSERT_REFUSED(td_memory_save_file(m, "a.hex", cases[i].spans, 2), cases[i].status, message);
    }
    ASSERT_REFUSED(
        td_memory_save_file(m, "none/a.hex", &span, 1), TD_FILE,
        "memory_save_file \"none/a.hex\": cannot create the file: No such file or directory; check the folder and "
        "its permissions");
    assert_int_equal(folder_files(0), 0);
    td_memory_destroy(&m);
}

static void every_prefix_is_read_or_refused(void **state)
{
    (void)state;
    static const char text[] =
        "// head\n@1_0 0123_4567 /* two\nlines */ 89abcdef\n@2 ffff // end\n0 1 2/**/3\n@0 5 _6_";
    for (size_t bytes = 0; bytes < sizeof text; bytes++) {
        td_memory *narrow = make(32, 64);
        td_memory *wide = make(200, 64);
        write_file("cut.hex", text, bytes);
        td_status first = td_memory_load_file(narrow, "cut.hex");
        td_status second = td_memory_load_file(wide, "cut.hex");
        assert_int_equal(first, second);
        assert_true(first == TD_OK || first == TD_FORMAT);
        td_memory_destroy(&narrow);
        td_memory_destroy(&wide);
    }
    /* the mapped file ends with its page: reading past the end would be a fault */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *whole = malloc(page);
    assert_non_null(whole);
    static const char *const tails[] = {" 7", " 0123456789abcdef", " 1_2", "//", "/* */", " @1", "\n", " 2/", " @"};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++)
        for (uint64_t width = 64; width <= 128; width += 64) {
            td_memory *m = make(width, 8);
            memset(whole, ' ', page);
            whole[0] = '1';
            memcpy(whole + page - strlen(tails[i]), tails[i], strlen(tails[i]));
            write_file("page.hex", whole, page);
            assert_int_equal(td_memory_load_file(m, "page.hex"), i < 7 ? TD_OK : TD_FORMAT);
            td_memory_destroy(&m);
        }
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_read),
        cmocka_unit_test(bad_text_changes_nothing),
        cmocka_unit_test(any_width_goes_out_and_in),
        cmocka_unit_test(underscores_in_wide_words),
        cmocka_unit_test(text_is_written),
        cmocka_unit_test(golden_files),
        cmocka_unit_test(raw_refusals),
        cmocka_unit_test(facade_refusals),
        cmocka_unit_test(every_prefix_is_read_or_refused),
    };
    return cmocka_run_group_tests_name("readmem", tests, enter_folder, leave_folder);
}
