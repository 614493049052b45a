/* .mif and .coe: the initialisation files of FPGA tools, read, written, and refused. */
#include "support.h"

static td_memory *load(const char *name, const char *text)
{
    td_memory *m = NULL;
    write_file(name, text, strlen(text));
    ASSERT_OK(td_memory_create("m", 8, 8, &m));
    ASSERT_OK(td_memory_load_file(m, name));
    return m;
}

static void test_read(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *bytes;
    } files[] = {
        {"a.mif",
         "-- what a tool wrote\nDEPTH = 8; % words %\nWIDTH = 8;\nADDRESS_RADIX = DEC;\nDATA_RADIX = HEX;\n"
         "CONTENT\nBEGIN\n0 : 1f;  -- one\n[2..5] : A B;\n7 : ff;\nEND;\n",
         "\x1f\0\x0a\x0b\x0a\x0b\0\xff"},
        {"b.mif", "width=8;depth=8;address_radix=bin;data_radix=uns;content begin 10: 7 8 255;end;",
         "\0\0\7\10\xff\0\0\0"},
        {"c.mif", "WIDTH=8;DEPTH=8;DATA_RADIX=OCT;CONTENT BEGIN 7: 377; 0: 0000017; END;", "\x0f\0\0\0\0\0\0\xff"},
        {"a.coe",
         "; a comment\nmemory_initialization_radix = 16;\nmemory_initialization_vector =\n1f, 2,\n03,\nFF;\nafter",
         "\x1f\2\3\xff\0\0\0\0"},
        {"b.coe", "MEMORY_INITIALIZATION_RADIX=2;\nMEMORY_INITIALIZATION_VECTOR=1 10 11", "\1\2\3\0\0\0\0\0"},
        {"c.coe", "memory_initialization_radix=10;memory_initialization_vector=10,255;", "\n\xff\0\0\0\0\0\0"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        td_memory *m = load(files[i].name, files[i].text);
        assert_memory_equal(td_memory_data(m), files[i].bytes, 8);
        td_memory_destroy(&m);
    }
}

/* Every width comes back, those above 64 bits too. */
static void test_write(void **state)
{
    (void)state;
    static const char *const name[] = {"w.mif", "w.coe"};
    static const uint64_t width[] = {1, 3, 8, 13, 32, 52, 64, 65, 128, 200};
    for (size_t i = 0; i < 2 * sizeof width / sizeof *width; i++) {
        td_memory *m = NULL, *back = NULL;
        const td_span spans[] = {{0, 0, 3}, {0, 5, 2}};
        ASSERT_OK(td_memory_create("m", width[i / 2], 9, &m));
        ASSERT_OK(td_memory_create("back", width[i / 2], 9, &back));
        ASSERT_OK(td_memory_fill(m, "random seed=3", 0, 3));
        ASSERT_OK(td_memory_fill(m, "random seed=3", 5, 2));
        ASSERT_OK(td_memory_save_file(m, name[i % 2], spans, 2));
        ASSERT_OK(td_memory_load_file(back, name[i % 2]));
        assert_memory_equal(td_memory_data(m), td_memory_data(back), 9 * td_memory_word_bytes(m));
        td_memory_destroy(&m);
        td_memory_destroy(&back);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        td_status status;
        const char *message;
    } files[] = {
        {"a.mif", "", TD_FORMAT,
         "memory_load_file \"a.mif\": line 1: no word where one is needed; write KEY=VALUE; in front, then CONTENT "
         "BEGIN 0 : WORD; END;"},
        {"a.mif", "WIDTH 8;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 1: no '=' behind a key; write KEY=VALUE; in front, then CONTENT BEGIN 0 : "
         "WORD; END;"},
        {"a.mif", "WIDTH=8;DEPTH=4;SPEED=3;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 1: the key SPEED; write WIDTH, DEPTH, ADDRESS_RADIX or DATA_RADIX"},
        {"a.mif", "WIDTH=8;CONTENT BEGIN", TD_FORMAT,
         "memory_load_file \"a.mif\": no DEPTH in front of CONTENT; write DEPTH=NUMBER;"},
        {"a.mif", "DEPTH=8;CONTENT BEGIN", TD_FORMAT,
         "memory_load_file \"a.mif\": no WIDTH in front of CONTENT; write WIDTH=NUMBER;"},
        {"a.mif", "WIDTH=9;DEPTH=4;CONTENT BEGIN 0:1;END;", TD_FORMAT,
         "memory_load_file \"a.mif\": WIDTH is 9, the memory has words of 8 bits; the file is of another width"},
        {"a.mif", "WIDTH=8;DEPTH=4;DATA_RADIX=ROM;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 1: the radix ROM; write HEX, BIN, OCT, DEC or UNS"},
        {"a.mif", "WIDTH=8;DEPTH=4;\nCONTENT 0:1;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 2: no BEGIN behind CONTENT; write CONTENT BEGIN"},
        {"a.mif", "WIDTH=8;DEPTH=4;CONTENT BEGIN\n0 1;END;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 2: no ':' behind an address; write KEY=VALUE; in front, then CONTENT BEGIN "
         "0 : WORD; END;"},
        {"a.mif", "WIDTH=8;DEPTH=4;CONTENT BEGIN\n0:1G;END;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 2: 'G' in the word 1G is no digit of radix 16; correct the word"},
        {"a.mif", "WIDTH=8;DEPTH=4;CONTENT BEGIN\n0:100;END;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 2: the word 100 does not fit in a width of 8 bits; widen the memory or "
         "correct the word"},
        {"a.mif", "WIDTH=8;DEPTH=4;CONTENT BEGIN\n4:1;END;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 2: address 0x4 with a DEPTH of 4; correct one of them"},
        {"a.mif", "WIDTH=8;DEPTH=9;CONTENT BEGIN\n[0..8]:1;END;", TD_RANGE,
         "memory_load_file \"a.mif\": line 2: address 0x8 is past the memory of 8 words; the last address is 0x7"},
        {"a.mif", "WIDTH=8;DEPTH=4;CONTENT BEGIN\n[2..1]:1;END;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 2: the range of addresses ends before it begins; exchange its ends"},
        {"a.mif", "WIDTH=8;DEPTH=4;CONTENT BEGIN\n0:1;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 2: no address and no END; end the contents with END;"},
        {"a.mif", "WIDTH=8;DEPTH=4;CONTENT BEGIN\nEND;", TD_FORMAT,
         "memory_load_file \"a.mif\": no words between CONTENT BEGIN and END; write 0 : WORD;"},
        {"a.mif", "% never", TD_FORMAT,
         "memory_load_file \"a.mif\": line 1: a comment % that never ends; close it with %"},
        {"a.mif", "WIDTH=8;DEPTH=4;DATA_RADIX=DEC;CONTENT BEGIN\n0:256;END;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 2: the word 256 does not fit in a width of 8 bits; widen the memory or "
         "correct the word"},
        {"a.mif", "WIDTH=8;DEPTH=99999999999999999999;", TD_FORMAT,
         "memory_load_file \"a.mif\": line 1: the word 99999999999999999999 does not fit in a width of 63 bits; widen "
         "the memory or correct the word"},
        {"a.mif", "WIDTH=8;DEPTH=4;CONTENT BEGIN 0:1;END", TD_FORMAT,
         "memory_load_file \"a.mif\": line 1: no ';' behind END; write KEY=VALUE; in front, then CONTENT BEGIN 0 : "
         "WORD; END;"},
        {"a.coe", "", TD_FORMAT,
         "memory_load_file \"a.coe\": line 1: no memory_initialization_radix= where it is needed; a .coe file has "
         "memory_initialization_radix=16; and memory_initialization_vector= WORD, WORD;"},
        {"a.coe", "memory_initialization_radix=8;", TD_FORMAT,
         "memory_load_file \"a.coe\": line 1: the radix 8; write 2, 10 or 16"},
        {"a.coe", "memory_initialization_radix=16", TD_FORMAT,
         "memory_load_file \"a.coe\": line 1: no ; behind the radix; write memory_initialization_radix=16;"},
        {"a.coe", "memory_initialization_radix=16;\nvector=1;", TD_FORMAT,
         "memory_load_file \"a.coe\": line 2: no memory_initialization_vector= where it is needed; a .coe file has "
         "memory_initialization_radix=16; and memory_initialization_vector= WORD, WORD;"},
        {"a.coe", "memory_initialization_radix=16;\nmemory_initialization_vector=;", TD_FORMAT,
         "memory_load_file \"a.coe\": no words behind memory_initialization_vector=; write one"},
        {"a.coe", "memory_initialization_radix=16;\nmemory_initialization_vector=1,?;", TD_FORMAT,
         "memory_load_file \"a.coe\": line 2: no word where one is needed; write words with commas between them"},
        {"a.coe", "memory_initialization_radix=2;\nmemory_initialization_vector=\n12;", TD_FORMAT,
         "memory_load_file \"a.coe\": line 3: '2' in the word 12 is no digit of radix 2; correct the word"},
        {"a.coe", "memory_initialization_radix=16;\nmemory_initialization_vector=1 2 3 4 5 6 7 8 9;", TD_RANGE,
         "memory_load_file \"a.coe\": line 2: address 0x8 is past the memory of 8 words; the last address is 0x7"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        td_memory *m = NULL;
        static const unsigned char zeros[8];
        ASSERT_OK(td_memory_create("m", 8, 8, &m));
        write_file(files[i].name, files[i].text, strlen(files[i].text));
        ASSERT_REFUSED(td_memory_load_file(m, files[i].name), files[i].status, files[i].message);
        assert_memory_equal(td_memory_data(m), zeros, 8);
        td_memory_destroy(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_write, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_refused, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
