/* Memory images that count bytes (Intel hex, S-records, ELF, byte-wise readmem), the options of all images, every
 * prefix of a file, and the text of every refusal. $readmemh text and raw words are in test_readmem.c. */
#include "support.h"

#include <stdbool.h>

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

static void assert_words(td_memory *m, const uint32_t *want, size_t count)
{
    for (size_t w = 0; w < count; w++) {
        uint64_t got = 0;
        uint64_t address = w;
        ASSERT_OK(td_backdoor_read(m, &address, 1, &got));
        assert_int_equal(got, want[w]);
    }
}

/* One program, as objcopy writes it in three formats and as the linker did: 7 bytes at 0x1000, 3 at 0x1010, and then 6
 * of BSS. The memory holds ones before, so that what is not written is seen. */
static void the_same_bytes_in_every_format(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        const char *name;
        uint32_t bss;
    } cases[] = {
        {"objcopy.ihex", "ihex,base=0x1000:objcopy.ihex", 0xffffffff},
        {"objcopy.srec", "srec,base=4096:objcopy.srec", 0xffffffff},
        {"objcopy.vh", "readmemh,unit=byte,base=0x1000:objcopy.vh", 0xffffffff},
#ifdef TD_HAVE_ELF
        {"firmware.elf", "elf,base=0x1000:firmware.elf", 0xffffffff},
        {"firmware32.elf", "elf,base=0x1000,bss=keep:firmware32.elf", 0xffffffff},
        {"firmware.elf", "elf,base=0x1000,bss=zero:firmware.elf", 0},
        {"firmware32.elf", "elf,bss=zero,base=0x1000:firmware32.elf", 0},
#endif
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_memory *m = make(32, 8);
        memset(td_memory_data(m), 0xff, 32);
        fetch_data(cases[i].file);
        ASSERT_OK(td_memory_load_file(m, cases[i].name));
        bool zeroed = cases[i].bss == 0; /* 3 bytes and 6 of BSS end in the first byte of word 6 */
        const uint32_t want[8] = {0x04030201,
                                  0xff070605,
                                  0xffffffff,
                                  0xffffffff,
                                  zeroed ? 0x00a2a1a0 : 0xffa2a1a0,
                                  cases[i].bss,
                                  zeroed ? 0xffffff00 : 0xffffffff,
                                  0xffffffff};
        assert_words(m, want, 8);
        td_span *spans = NULL;
        size_t count = 0;
        uint64_t depth = 0;
        ASSERT_OK(td_image_depth(cases[i].name, 32, &depth));
        ASSERT_OK(td_image_spans(cases[i].name, 32, &spans, &count));
        assert_int_equal(depth, cases[i].bss ? 5 : 7);
        assert_int_equal(count, 2);
        assert_int_equal(spans[0].first, 0);
        assert_int_equal(spans[0].count, 2);
        assert_int_equal(spans[1].first, 4);
        assert_int_equal(spans[1].count, depth - 4);
        td_free(spans);
        td_memory_destroy(&m);
    }
}

/* One file, two memories: each takes what lies in it, and says what does not. */
static void what_lies_outside_is_skipped(void **state)
{
    (void)state;
    static const struct {
        const char *file, *format;
    } files[] = {
        {"objcopy.ihex", "ihex"},
        {"objcopy.srec", "srec"},
#ifdef TD_HAVE_ELF
        {"firmware.elf", "elf"},
#endif
    };
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        char name[128], want[512];
        td_image_outside outside = {9, 9, 9};
        td_memory *code = make(32, 2), *data = make(32, 1);
        fetch_data(files[f].file);
        snprintf(name, sizeof name, "%s,base=0x1000,outside=skip:%s", files[f].format, files[f].file);
        ASSERT_OK(td_memory_load_file_part(code, name, &outside));
        assert_words(code, (const uint32_t[]){0x04030201, 0x00070605}, 2);
        assert_true(outside.bytes == 3 && outside.first == 0x1010 && outside.last == 0x1012);
        ASSERT_OK(td_memory_load_file(code, name));

        snprintf(name, sizeof name, "%s,base=0x1010,outside=skip:%s", files[f].format, files[f].file);
        ASSERT_OK(td_memory_load_file_part(data, name, &outside));
        assert_words(data, (const uint32_t[]){0x00a2a1a0}, 1);
        assert_true(outside.bytes == 7 && outside.first == 0x1000 && outside.last == 0x1006);

        /* a record across both ends: bytes 3 to 6 alone */
        snprintf(name, sizeof name, "%s,base=0x1003,outside=skip:%s", files[f].format, files[f].file);
        ASSERT_OK(td_memory_load_file_part(data, name, &outside));
        assert_words(data, (const uint32_t[]){0x07060504}, 1);
        assert_true(outside.bytes == 6 && outside.first == 0x1000 && outside.last == 0x1012);

        snprintf(name, sizeof name, "%s,base=0x9000,outside=skip:%s", files[f].format, files[f].file);
        snprintf(
            want, sizeof want,
            "memory_load_file \"%s\": nothing of the file lies in the memory: its 10 bytes are at 0x1000 to 0x1012; "
            "pass base=ADDRESS, the file's address of word 0",
            name);
        ASSERT_REFUSED(td_memory_load_file_part(data, name, &outside), TD_RANGE, want);
        assert_words(data, (const uint32_t[]){0x07060504}, 1);
        assert_int_equal(outside.bytes, 6); /* untouched */

        snprintf(name, sizeof name, "%s,base=0x1000:%s", files[f].format, files[f].file);
        assert_int_equal(td_memory_load_file(code, name), TD_RANGE); /* as before, without the word */
        td_memory_destroy(&code);
        td_memory_destroy(&data);
    }
    td_memory *m = make(8, 4);
    ASSERT_REFUSED(
        td_memory_load_file(m, "ihex,outside=drop:a.ihex"), TD_OPTION,
        "memory_load_file \"ihex,outside=drop:a.ihex\": the option outside is \"drop\"; it needs skip or error");
    ASSERT_REFUSED(td_memory_load_file_part(m, "a.ihex", NULL), TD_ARGUMENT,
                   "memory_load_file: outside is NULL; pass a td_image_outside");
    td_memory_destroy(&m);
}

#ifdef TD_HAVE_ELF
static void sections_by_name(void **state)
{
    (void)state;
    td_memory *m = make(32, 4);
    fetch_data("firmware.elf");
    memset(td_memory_data(m), 0xff, 16);
    ASSERT_OK(td_memory_load_file(m, "elf,base=0x1000,section=.text:firmware.elf"));
    assert_words(m, (const uint32_t[]){0x04030201, 0xff070605, 0xffffffff, 0xffffffff}, 4);
    /* physical addresses through the segment, virtual ones from the section itself */
    memset(td_memory_data(m), 0xff, 16);
    ASSERT_OK(td_memory_load_file(m, "elf,base=0x1010,section=.data:firmware.elf"));
    assert_words(m, (const uint32_t[]){0xffa2a1a0, 0xffffffff, 0xffffffff, 0xffffffff}, 4);
    memset(td_memory_data(m), 0xff, 16);
    ASSERT_OK(td_memory_load_file(m, "elf,base=0x2000,section=.data,address=virtual:firmware.elf"));
    assert_words(m, (const uint32_t[]){0xffa2a1a0, 0xffffffff, 0xffffffff, 0xffffffff}, 4);
    ASSERT_OK(td_memory_load_file(m, "elf,base=0x1010,section=.bss,bss=zero:firmware.elf"));
    assert_words(m, (const uint32_t[]){0x00a2a1a0, 0, 0xffffff00, 0xffffffff}, 4);
    ASSERT_REFUSED(
        td_memory_load_file(m, "elf,section=.bss:firmware.elf"), TD_FORMAT,
        "memory_load_file \"elf,section=.bss:firmware.elf\": the section has no bytes in the file; pass bss=zero "
        "to clear it");
    ASSERT_REFUSED(
        td_memory_load_file(m, "elf,section=.txet:firmware.elf"), TD_ARGUMENT,
        "memory_load_file \"elf,section=.txet:firmware.elf\": the file has no section .txet; did you mean .text? "
        "it has .text, .data, .bss");
    ASSERT_REFUSED(
        td_memory_load_file(m, "elf,section=.text:firmware.elf"), TD_RANGE,
        "memory_load_file \"elf,section=.text:firmware.elf\": section .text: address 0x1000 is past the memory "
        "of 4 words of 4 bytes; the last address is 0xf, or pass base=ADDRESS if word 0 lies higher in the file");
    td_memory_destroy(&m);
}
#endif

static void endian_and_odd_widths(void **state)
{
    (void)state;
    td_memory *m = make(32, 2);
    put("e.ihex", ":0600010001020304050AE0\n:00000001FF\n");
    ASSERT_OK(td_memory_load_file(m, "ihex,endian=big:e.ihex"));
    const uint32_t big[2] = {0x00010203, 0x04050a00};
    assert_words(m, big, 2);
    td_memory_destroy(&m);

    m = make(20, 3); /* three bytes a word, the top one of four bits */
    put("e.ihex", ":06000000112203334404"
                  "49\n:00000001FF\n");
    ASSERT_OK(td_memory_load_file(m, "e.ihex"));
    const uint32_t odd[2] = {0x032211, 0x044433};
    assert_words(m, odd, 2);
    ASSERT_REFUSED(
        td_memory_load_file(m, "ihex,endian=big:e.ihex"), TD_FORMAT,
        "memory_load_file \"ihex,endian=big:e.ihex\": line 1: the byte 0x11 at address 0x0 has bits above the "
        "width of 20; the file is of another width");
    td_memory_destroy(&m);
}

static void readmem_dialects(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text;
        uint64_t width_bits;
        uint32_t words[4];
    } cases[] = {
        {"a.memb", "0 1 1010_1111\n@2 0000_0011", 8, {0, 1, 3, 0}},
        {"readmemb:a.txt", "1 10 // 2\n@a/**/11", 2, {1, 2, 0, 0}},
        {"a.memb", "@1 11111111000000001111111100000001", 32, {0, 0xff00ff01, 0, 0}},
        {"readmemh,x=0:a.txt", "1x zZ ?4 X", 8, {0x10, 0, 4, 0}},
        {"readmemh,x=1:a.txt", "1x zZ ?4 X", 8, {0x1f, 0xff, 0xf4, 0xf}},
        {"readmemb,x=0:a.txt", "1x zZ ?1 X", 8, {2, 0, 1, 0}},
        {"readmemb,x=1:a.txt", "1x zZ ?0 X", 8, {3, 3, 2, 1}},
        {"readmemh,address=byte:a.txt", "@4 11 22\n@0 33", 32, {0x33, 0x11, 0x22, 0}},
        {"readmemh,address=byte,base=0x80000000:a.txt", "@80000004 11\n@80000000 33", 32, {0x33, 0x11, 0, 0}},
        {"readmemh,base=0x100:a.txt", "7 @102 8", 32, {7, 0, 8, 0}},
        {"readmemh,unit=byte:a.txt", "1 2 3 4 @9 5", 32, {0x04030201, 0, 0x500, 0}},
        {"readmemh,unit=byte,endian=big:a.txt", "1 2 3 4 @9 5", 32, {0x01020304, 0, 0x50000, 0}},
        {"readmemb,unit=byte:a.txt", "1 10 11", 16, {0x201, 3, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_memory *m = make(cases[i].width_bits, 16);
        put(strchr(cases[i].name, ':') ? "a.txt" : cases[i].name, cases[i].text);
        ASSERT_OK(td_memory_load_file(m, cases[i].name));
        assert_words(m, cases[i].words, i == 1 ? 2 : 4);
        td_memory_destroy(&m);
    }
    /* wide words with x, and in binary */
    td_memory *m = make(100, 2);
    put("w.txt", "123456789abcdef0x23456789");
    ASSERT_OK(td_memory_load_file(m, "readmemh,x=1:w.txt"));
    const uint32_t want[4] = {0x23456789, 0xabcdef0f, 0x23456789, 0x1};
    assert_memory_equal(td_memory_data(m), want, sizeof want);
    td_memory_destroy(&m);
}

static const uint64_t widths[] = {1, 7, 8, 9, 12, 16, 20, 31, 32, 33, 40, 64, 65, 100, 128, 1000};

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

static void every_format_goes_out_and_in(void **state)
{
    (void)state;
    static const char *const names[] = {"w.ihex",
                                        "w.srec",
                                        "w.memb",
                                        "w.memh",
                                        "readmemh,unit=byte:w.txt",
                                        "readmemb,unit=byte,endian=big:w.txt",
                                        "ihex,endian=big,base=0xfff0:w.txt",
                                        "srec,endian=big,base=0xfffff0:w.txt",
                                        "srec,base=0xfffffff:w.txt",
                                        "ihex,base=0xfffff3:w.txt",
                                        "readmemh,address=byte,base=0x40:w.txt",
                                        "readmemb,base=3:w.txt",
                                        "readmemh,unit=byte,base=1000:w.txt"};
    static const td_span spans[] = {{0, 1, 2}, {0, 5, 1}, {0, 6, 3}};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
            td_memory *m = make(widths[i], 12);
            td_memory *back = make(widths[i], 12);
            size_t bytes = td_memory_word_bytes(m);
            fill(m, widths[i]);
            ASSERT_OK(td_memory_save_file(m, names[n], spans, 3));
            ASSERT_OK(td_memory_load_file(back, names[n]));
            td_span *found = NULL;
            size_t count = 0;
            ASSERT_OK(td_image_spans(names[n], widths[i], &found, &count));
            assert_int_equal(count, 2);
            assert_int_equal(found[0].first, 1);
            assert_int_equal(found[0].count, 2);
            assert_int_equal(found[1].first, 5);
            assert_int_equal(found[1].count, 4);
            td_free(found);
            unsigned char *zeros = calloc(1, bytes);
            assert_non_null(zeros);
            for (uint64_t w = 0; w < 12; w++) {
                int written = (w >= 1 && w < 3) || (w >= 5 && w < 9);
                assert_memory_equal((unsigned char *)td_memory_data(back) + w * bytes,
                                    written ? (unsigned char *)td_memory_data(m) + w * bytes : zeros, bytes);
            }
            free(zeros);
            td_memory_destroy(&m);
            td_memory_destroy(&back);
        }
    /* raw words of the other byte order */
    static const td_span all = {0, 0, 12};
    td_memory *m = make(20, 12);
    td_memory *back = make(20, 12);
    fill(m, 4);
    ASSERT_OK(td_memory_save_file(m, "raw,endian=big:w.dat", &all, 1));
    ASSERT_OK(td_memory_load_file(back, "raw,endian=big:w.dat"));
    assert_memory_equal(td_memory_data(m), td_memory_data(back), 12 * td_memory_word_bytes(m));
    td_memory_destroy(&m);
    td_memory_destroy(&back);
}

static void text_is_written_as_others_write_it(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        const char *text;
    } cases[] = {
        {"ihex,base=0xfffa:w.txt", ":06FFFA00000201040306F1\n:020000040001F9\n:02000000050"
                                   "8F1\n:00000001FF\n"},
        {"srec,base=0x10:w.txt", "S00D000074656E736F72646F6F72A3\nS10B00100002010403060508C7\nS9030000FC\n"},
        {"srec,base=0x10000:w.txt", "S00D000074656E736F72646F6F72A3\nS20C010000000201040306050"
                                    "8D5\nS804000000FB\n"},
        {"srec,base=0x1000000:w.txt", "S00D000074656E736F72646F6F72A3\nS30D0100000000020104030605"
                                      "08D4\nS70500000000FA\n"},
        {"w.memb", "0000001000000000\n0000010000000001\n0000011000000011\n0000100000000101\n"},
        {"readmemh,unit=byte:w.txt", "00\n02\n01\n04\n03\n06\n05\n08\n"},
        {"readmemh,address=byte,base=8:w.txt", "@8\n0200\n0401\n0603\n0805\n"},
    };
    static const td_span all = {0, 0, 4};
    static const uint16_t words[4] = {0x0200, 0x0401, 0x0603, 0x0805};
    td_memory *m = make(16, 4);
    memcpy(td_memory_data(m), words, sizeof words);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ASSERT_OK(td_memory_save_file(m, cases[i].name, &all, 1));
        size_t bytes = 0;
        char *text = read_whole_file(strchr(cases[i].name, ':') ? "w.txt" : cases[i].name, &bytes);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
    td_memory_destroy(&m);
}

#define END_IHEX ":00000001FF\n"
#define END_SREC "S9030000FC\n"

static void refusals(void **state)
{
    (void)state;
    static char long_record[603] = ":";
    memset(long_record + 1, '0', 600);
    long_record[601] = '\n';
    const struct {
        const char *name;
        const char *text;
        td_status status;
        const char *message;
    } cases[] = {
        {"ihex:b.txt", "", TD_FORMAT, "the file has no end record (:00000001FF); it is cut short"},
        {"ihex:b.txt", END_IHEX, TD_FORMAT, "the file holds no words; an image has at least one"},
        {"ihex:b.txt", ":0100000001FE\n", TD_FORMAT, "the file has no end record (:00000001FF); it is cut short"},
        {"ihex:b.txt", ":0100000001FF\n" END_IHEX, TD_FORMAT,
         "line 1: the sum is 0xff, the record needs 0xfe; the line is damaged"},
        {"ihex:b.txt", "\n\n:0200000001FE\n" END_IHEX, TD_FORMAT,
         "line 3: a record of 6 bytes, its count says 7; the line is cut short or damaged"},
        {"ihex:b.txt", ":00\n", TD_FORMAT,
         "line 1: a record of 1 bytes, its count says 5; the line is cut short or damaged"},
        {"ihex:b.txt", ":0\n", TD_FORMAT,
         "line 1: 1 hex digits; a record has an even number, so the line is cut short"},
        {"ihex:b.txt", long_record, TD_FORMAT, "line 1: a record of 300 bytes; its count byte cannot say so many"},
        {"ihex:b.txt", ":0100000G01FE\n", TD_FORMAT, "line 1: unexpected character 'G'; a record is hex digits"},
        {"ihex:b.txt", ":0100\001001FE\n", TD_FORMAT, "line 1: unexpected character 0x01; a record is hex digits"},
        {"ihex:b.txt", "0100000001FE\n", TD_FORMAT,
         "line 1: a record begins with ':', this line with 0x30; the file is not Intel hex"},
        {"ihex:b.txt", ":00000006FA\n", TD_FORMAT, "line 1: record type 0x06; 00 to 05 are known"},
        {"ihex:b.txt", ":0100000401FA\n", TD_FORMAT, "line 1: a record of type 04 with 1 bytes; it has 2"},
        {"ihex:b.txt", ":0100000001FE\n" END_IHEX END_IHEX, TD_FORMAT,
         "line 3: text behind the end record; nothing may follow it"},
        {"ihex:b.txt", ":02000004FFFFFC\n:0100000001FE\n" END_IHEX, TD_RANGE,
         "line 2: address 0xffff0000 is past the memory of 4 words of 2 bytes; the last address is 0x7, or pass "
         "base=ADDRESS if word 0 lies higher in the file"},
        {"ihex,base=16:b.txt", ":0100000001FE\n" END_IHEX, TD_RANGE,
         "line 1: address 0x0 is in front of the base 0x10; pass a lower base"},
        {"ihex,base=0xffff0000:b.txt",
         ":02000004FFFFFC\n:0200070001"
         "02F4\n" END_IHEX,
         TD_RANGE,
         "line 2: address 0xffff0008 is past the memory of 4 words of 2 bytes; the last address is 0xffff0007"},
        {"srec:b.txt", "", TD_FORMAT, "the file has no end record (S7, S8 or S9); it is cut short"},
        {"srec:b.txt", END_SREC, TD_FORMAT, "the file holds no words; an image has at least one"},
        {"srec:b.txt", "S4030000FC\n", TD_FORMAT,
         "line 1: a record begins with S0 to S3 or S5 to S9; the line is damaged, or the file is not of S-records"},
        {"srec:b.txt", "X\n", TD_FORMAT,
         "line 1: a record begins with S0 to S3 or S5 to S9; the line is damaged, or the file is not of S-records"},
        {"srec:b.txt", "S104000001FB\n" END_SREC, TD_FORMAT,
         "line 1: the sum is 0xfb, the record needs 0xfa; the line is damaged"},
        {"srec:b.txt", "S105000001FA\n" END_SREC, TD_FORMAT,
         "line 1: a record of 5 bytes, its count says 6; the line is cut short or damaged"},
        {"srec:b.txt", "S104000001FA\nS5030002FA\n" END_SREC, TD_FORMAT,
         "line 2: the count record says 2 data records, the file has 1; it is damaged"},
        {"srec:b.txt", "S104000001FA\n" END_SREC "S0030000FC\n", TD_FORMAT,
         "line 3: text behind the end record; nothing may follow it"},
        {"srec:b.txt", "S104000801F2\n" END_SREC, TD_RANGE,
         "line 1: address 0x8 is past the memory of 4 words of 2 bytes; the last address is 0x7, or pass base=ADDRESS "
         "if "
         "word 0 lies higher in the file"},
        {"readmemh:b.txt", ":0100000001FE\n", TD_FORMAT,
         "the file begins as Intel hex, not as readmem text; name it ihex:FILE"},
        {"readmemh:b.txt", "S0030000FC\n", TD_FORMAT,
         "the file begins as S-records, not as readmem text; name it srec:FILE"},
        {"readmemb:b.txt", "1 2", TD_FORMAT,
         "line 1: unexpected character '2'; words are the digits 0 1 with _ between them"},
        {"readmemb:b.txt", "1 x", TD_FORMAT,
         "line 1: the digit x; a memory holds 0 and 1 only, so write 0 or 1, or read it as zero with "
         "readmemb,x=0:FILE"},
        {"readmemb:b.txt", "10000000000000000", TD_FORMAT,
         "line 1: a word of 17 bits for a width of 16; widen the memory or correct the word"},
        {"readmemb:b.txt", "1 _", TD_FORMAT, "line 1: a number without digits; write 0 or 1"},
        {"readmemb:b.txt", "1 @", TD_FORMAT, "line 1: a number without digits; write 0-9 or a-f"},
        {"readmemh,unit=byte:b.txt", "1 123", TD_FORMAT,
         "line 1: a number of 9 bits where unit=byte has 8; leave unit=byte out"},
        {"readmemh,unit=byte:b.txt", "\n@8 1", TD_RANGE,
         "line 2: address 0x8 is past the memory of 4 words of 2 bytes; the last address is 0x7, or pass base=ADDRESS "
         "if "
         "word 0 lies higher in the file"},
        {"readmemh,address=byte:b.txt", "@1 2", TD_FORMAT,
         "line 1: byte address 0x1 is not that of a word of 2 bytes; the file is of another width"},
        {"readmemh,base=8:b.txt", "@7 2", TD_RANGE,
         "line 1: address 0x7 is in front of the base 0x8; pass a lower base"},
#ifdef TD_HAVE_ELF
        {"elf:b.txt", "", TD_FORMAT,
         "not an ELF file: it does not begin with \\x7fELF; name its format in front of it"},
        {"elf:b.txt", "ELF", TD_FORMAT,
         "not an ELF file: it does not begin with \\x7fELF; name its format in front of it"},
#else
        {"elf:b.txt",
         "\x7f"
         "ELF",
         TD_FILE,
         "this build reads no ELF, it was made without libelf; install libelf-dev and build again, or convert the file "
         "with objcopy -O srec"},
#endif
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char message[512];
        td_memory *m = make(16, 4);
        put("b.txt", cases[i].text);
        snprintf(message, sizeof message, "memory_load_file \"%s\": %s", cases[i].name, cases[i].message);
        ASSERT_REFUSED(td_memory_load_file(m, cases[i].name), cases[i].status, message);
        static const unsigned char zeros[8];
        assert_memory_equal(td_memory_data(m), zeros, 8);
        td_memory_destroy(&m);
    }
}

static void saves_that_are_refused(void **state)
{
    (void)state;
    td_memory *m = make(16, 4);
    td_span *spans = NULL;
    size_t count = 7;
    static const td_span all = {0, 0, 4};
    folder_files(1);
    ASSERT_REFUSED(td_memory_save_file(m, "a.elf", &all, 1), TD_ARGUMENT,
                   "memory_save_file \"a.elf\": elf files are read, not written; save as .hex, .bin, .ihex or .srec");
    ASSERT_REFUSED(
        td_memory_save_file(m, "ihex,base=0xfffffff9:a.txt", &all, 1), TD_RANGE,
        "memory_save_file \"ihex,base=0xfffffff9:a.txt\": the last byte lies at address 0x100000000, and the "
        "format ends at 0xffffffff; save fewer words, or pass a lower base");
    ASSERT_REFUSED(td_memory_save_file(m, "srec,base=0x7fffffffffffffff:a.txt", &all, 1), TD_RANGE,
                   "memory_save_file \"srec,base=0x7fffffffffffffff:a.txt\": the last byte lies at address "
                   "0x8000000000000006, and the format ends at 0xffffffff; save fewer words, or pass a lower base");
    ASSERT_REFUSED(td_image_spans(NULL, 8, &spans, &count), TD_ARGUMENT,
                   "image_spans: path is NULL; pass a path, a td_span pointer and a size_t");
    ASSERT_REFUSED(td_image_spans("a.hex", 8, NULL, &count), TD_ARGUMENT,
                   "image_spans: spans is NULL; pass a path, a td_span pointer and a size_t");
    ASSERT_REFUSED(td_image_spans("a.hex", 8, &spans, NULL), TD_ARGUMENT,
                   "image_spans: count is NULL; pass a path, a td_span pointer and a size_t");
    ASSERT_REFUSED(td_image_spans("a.hex", 0, &spans, &count), TD_ARGUMENT,
                   "image_spans \"a.hex\": a width of 0 bits; a width is 1 to 16777216 bits");
    assert_int_equal(count, 7);
    assert_int_equal(folder_files(0), 0);
    td_memory_destroy(&m);
}

static void spans_are_sorted_and_merged(void **state)
{
    (void)state;
    td_span *spans = NULL;
    size_t count = 0;
    put("s.hex", "@10 1 2 @4 1 @6 1 @5 1 @11 9 9 @30 1 @2f 1 @4 7 7 7 7 @40 @0 1");
    ASSERT_OK(td_image_spans("s.hex", 8, &spans, &count));
    static const td_span want[] = {{0, 0, 1}, {0, 4, 4}, {0, 0x10, 3}, {0, 0x2f, 2}};
    assert_int_equal(count, 4);
    assert_memory_equal(spans, want, sizeof want);
    td_free(spans);
}

static void every_prefix_is_refused_or_the_same(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"objcopy.ihex", "ihex,base=0x1000:cut"},
        {"objcopy.srec", "srec,base=0x1000:cut"},
#ifdef TD_HAVE_ELF
        {"firmware.elf", "elf,base=0x1000,bss=zero:cut"},
        {"firmware32.elf", "elf,base=0x1000:cut"},
#endif
    };
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        size_t bytes = 0;
        fetch_data(files[f][0]);
        char *whole = read_whole_file(files[f][0], &bytes);
        write_file("cut", whole, bytes);
        td_memory *full = make(32, 8);
        ASSERT_OK(td_memory_load_file(full, files[f][1]));
        static const unsigned char zeros[32];
        for (size_t cut = 0; cut < bytes; cut++) {
            td_memory *m = make(32, 8);
            write_file("cut", whole, cut);
            td_status status = td_memory_load_file(m, files[f][1]);
            assert_true(status == TD_OK || status == TD_FORMAT);
            /* the end of an ELF file is sections, which nothing here needs; that of a text is one line end */
            assert_memory_equal(td_memory_data(m), status == TD_OK ? td_memory_data(full) : zeros, 32);
            if (status == TD_OK && f < 2)
                assert_true(cut + 2 >= bytes);
            td_memory_destroy(&m);
        }
        td_memory_destroy(&full);
        free(whole);
    }
}

#ifdef TD_HAVE_ELF
static void poke(unsigned char *elf, size_t at, uint64_t value)
{
    for (size_t i = 0; i < 8; i++)
        elf[at + i] = (unsigned char)(value >> (8 * i));
}

/* The second program header of firmware.elf, whose fields are 8 bytes each from byte 8 on: offset, vaddr, paddr,
 * filesz, memsz. */
static void hostile_elf(void **state)
{
    (void)state;
    static const struct {
        size_t field;
        uint64_t value;
        td_status status;
        const char *message;
    } cases[] = {
        {8, 542, TD_FORMAT, "segment 1 has 3 bytes at offset 542, the file has 544; it is cut short or damaged"},
        {8, UINT64_MAX, TD_FORMAT,
         "segment 1 has 3 bytes at offset 18446744073709551615, the file has 544; it is cut short or damaged"},
        {32, UINT64_MAX, TD_FORMAT,
         "segment 1 has 18446744073709551615 bytes at offset 192, the file has 544; it is cut short or damaged"},
        {40, 2, TD_FORMAT, "segment 1 has 3 bytes in the file and 2 in memory; it is damaged"},
        {40, UINT64_MAX - 9, TD_FORMAT, "segment 1 of 18446744073709551606 bytes at 0x1010 passes 2^64; it is damaged"},
        {40, (uint64_t)1 << 50, TD_RANGE,
         "segment 1 asks for 1125899906842621 bytes of zeros; at most 1073741824 are written, so leave bss=zero out"},
        {40, 4096, TD_RANGE,
         "segment 1: address 0x1020 is past the memory of 8 words of 4 bytes; the last address is 0x101f"},
        {24, 0xfff, TD_RANGE, "segment 1: address 0xfff is in front of the base 0x1000; pass a lower base"},
    };
    size_t bytes = 0;
    fetch_data("firmware.elf");
    char *whole = read_whole_file("firmware.elf", &bytes);
    assert_int_equal(bytes, 544);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        td_memory *m = make(32, 8);
        unsigned char elf[544];
        char message[256];
        memcpy(elf, whole, bytes);
        poke(elf, 64 + 56 + cases[i].field, cases[i].value);
        write_file("bad.elf", elf, bytes);
        snprintf(message, sizeof message, "memory_load_file \"elf,base=0x1000,bss=zero:bad.elf\": %s",
                 cases[i].message);
        ASSERT_REFUSED(td_memory_load_file(m, "elf,base=0x1000,bss=zero:bad.elf"), cases[i].status, message);
        td_memory_destroy(&m);
    }
    unsigned char elf[544];
    td_memory *m = make(32, 8);
    memcpy(elf, whole, bytes);
    elf[56] = 0; /* no program headers */
    elf[57] = 0;
    write_file("bad.elf", elf, bytes);
    ASSERT_REFUSED(td_memory_load_file(m, "bad.elf"), TD_FORMAT,
                   "memory_load_file \"bad.elf\": the file has no bytes to load; link it to an executable first");
    td_memory_destroy(&m);
    free(whole);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_in_every_format),
        cmocka_unit_test(what_lies_outside_is_skipped),
        cmocka_unit_test(endian_and_odd_widths),
        cmocka_unit_test(readmem_dialects),
        cmocka_unit_test(every_format_goes_out_and_in),
        cmocka_unit_test(text_is_written_as_others_write_it),
        cmocka_unit_test(refusals),
        cmocka_unit_test(saves_that_are_refused),
        cmocka_unit_test(spans_are_sorted_and_merged),
        cmocka_unit_test(every_prefix_is_refused_or_the_same),
#ifdef TD_HAVE_ELF
        cmocka_unit_test(sections_by_name),
        cmocka_unit_test(hostile_elf),
#endif
    };
    return cmocka_run_group_tests_name("images", tests, enter_folder, leave_folder);
}
