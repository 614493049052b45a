/* The texts that are no map: what is refused, with the line, the value found, the value needed and the fix. */
#include "support.h"

static const struct {
    const char *text;
    td_status status;
    const char *message;
} refused[] = {
    {"", TD_FORMAT, "map_create: no memory in the file; write NAME: words 4096 x 32;"},
    {"words 4 x 8", TD_FORMAT,
     "map_create, line 1: text before the first memory; begin with NAME:, as in wbuf: words 4096 x 32"},
    {"a: words 4 x 8\na: words 4 x 8", TD_FORMAT,
     "map_create, line 2: memory a stands twice, first in line 1; rename one"},
    {"a: wrds 4 x 8", TD_FORMAT, "map_create, line 1: \"wrds\" begins no clause; did you mean words?"},
    {"a: base 4", TD_FORMAT,
     "map_create, line 1: a has neither words nor memories; write words 4096 x 32 for a memory, memories NAME ... for "
     "a region over some"},
    {"a: words 4 x 8; memories b", TD_FORMAT,
     "map_create, line 1: a has words and memories; write words 4096 x 32 for a memory, memories NAME ... for a region "
     "over some"},
    {"a: words 4 x 8; unit 4", TD_FORMAT,
     "map_create, line 1: a is a memory and has unit; that is for a region: drop it, or write memories in place of "
     "words"},
    {"b: words 4 x 8\na: memories b; arrays 4 x 8 c", TD_FORMAT,
     "map_create, line 2: a is a region and has arrays; that is for a memory: drop it, or write words in place of "
     "memories"},
    {"a: words 4 x 8; options p=2", TD_FORMAT,
     "map_create, line 1: a has options and no organisation that it belongs to; write one"},
    {"a: words four x 8", TD_FORMAT,
     "map_create, line 1: \"words four x 8\" of a has no number of words; write a whole number, decimal or 0x, below "
     "2^63\n"
     "    words four x 8\n"
     "          ^"},
    {"a: words 4 8", TD_FORMAT,
     "map_create, line 1: \"words 4 8\" of a has no x behind the number of words; write WORDS x BITS, as 4096 x 32\n"
     "    words 4 8\n"
     "            ^"},
    {"a: words 4 x", TD_FORMAT,
     "map_create, line 1: \"words 4 x\" of a has no number of bits; write a whole number, decimal or 0x, below 2^63\n"
     "    words 4 x\n"
     "             ^"},
    {"a: words 4 x 8 9", TD_FORMAT,
     "map_create, line 1: \"words 4 x 8 9\" of a goes on behind the bits of a word; end it with a semicolon\n"
     "    words 4 x 8 9\n"
     "                ^"},
    {"a: words 0 x 8", TD_ARGUMENT, "map_create, line 1: a depth of 0 words; a depth is 1 to 1099511627776 words"},
    {"a: words 4 x 8; arrays 4 x 8", TD_FORMAT,
     "map_create, line 1: \"arrays 4 x 8\" of a names nothing; write names with blanks between them, as bank[0..3]\n"
     "    arrays 4 x 8\n"
     "                ^"},
    {"a: words 4 x 8; arrays 4 x 8 x[0..99999]", TD_FORMAT,
     "map_create, line 1: \"arrays\" of a names more than 32768 arrays; use shorter ranges\n"
     "    arrays 4 x 8 x[0..99999]\n"
     "                 ^"},
    {"a: words 4 x 8; arrays 2 x 8 x[0..1]", TD_FORMAT,
     "map_create, line 1: a has 2 arrays and no organisation; write one, as organisation (t r) k -> t r k"},
    {"a: words 4 x 8; arrays 2 x 8 x", TD_FORMAT,
     "map_create, line 1: a is 4 words of 8 bits, its array x is 2 of 8; make them equal, or write an organisation"},
    {"a: words 4 x 8; organisation (t r) k -> t r k", TD_FORMAT,
     "map_create, line 1: a has an organisation and no arrays; write arrays WORDS x BITS NAME ..."},
    {"a: words 4 x 8; organisation (t r) k -> t r k; arrays 2 x 8 x[0..1]; options t=2 tt=3", TD_OPTION,
     "map_create, line 1: unknown option tt for pattern \"(t r) k -> t r k\"; did you mean t?"},
    {"a: words 4 x 8; organisation (t r) k -> t r;\n arrays 2 x 8 x[0..1]", TD_PATTERN,
     "map_create, line 1: axis k stands only on the left in pattern \"(t r) k -> t r\"; place k on the right, in the "
     "word group or in the lane group\n"
     "    (t r) k -> t r\n"
     "          ^"},
    {"a: words 4 x 8; organisation (t r) k -> t r k;\n options t=2; arrays 2 x 7 x[0..1]", TD_RANGE,
     "map_create, line 1: memory_over \"a\": the lanes of \"(t r) k -> t r k\" end at bit 8 (8 lanes of 1 bits), the "
     "word has 7 bits; use fewer lanes, a wider memory, or beats=2\n"
     "    (t r) k -> t r k\n"
     "                   ^\n"
     "    shape (4, 8), sizes t=2"},
    {"a: words 4 x 8; organisation (t r) k -> t r k;\n options t=2; arrays 2 x 8 x x", TD_FORMAT,
     "map_create, line 2: array x of a is already one of this memory; an array belongs to one memory, so name another, "
     "or make a memory of it and lay both over that"},
    {"a: words 4 x 8; arrays 4 x 8 x\nb: words 4 x 8; arrays 4 x 8 x", TD_FORMAT,
     "map_create, line 2: array x of b is already one of a; an array belongs to one memory, so name another, or make a "
     "memory of it and lay both over that"},
    {"a: words 4 x 8\nb: words 4 x 8; arrays 4 x 8 a", TD_FORMAT,
     "map_create, line 2: array a of b is already one of a; an array belongs to one memory, so name another, or make a "
     "memory of it and lay both over that"},
    {"wbuf: words 4 x 8\nb: words 4 x 8; arrays wbug", TD_FORMAT,
     "map_create, line 2: b lies over wbug, and no memory above has that name; did you mean wbuf?"},
    {"wbuf: words 4 x 8\nb: memories q", TD_FORMAT,
     "map_create, line 2: b lies over q, and no memory above has that name; write q before it"},
    {"b: words 4 x 8; arrays q", TD_FORMAT,
     "map_create, line 1: b lies over q, and no memory above has that name; write q before it, or WORDS x BITS before "
     "the names of arrays"},
    {"a: words 4 x 8; base 0x10\nb: words 8 x 8; base 0x12", TD_FORMAT,
     "map_create, line 2: b at 0x12 .. 0x19 overlaps a of line 1 at 0x10 .. 0x13: both have 0x12 .. 0x13; move one of "
     "them"},
    {"a: words 4 x 8; endian middle", TD_FORMAT, "map_create, line 1: \"endian middle\" of a; write little or big"},
    {"a: words 4 x 8; base here", TD_FORMAT,
     "map_create, line 1: \"base here\" of a has no address; write a whole number, decimal or 0x, below 2^63\n"
     "    base here\n"
     "         ^"},
    {"a: words 4 x 8; base 0x7fffffffffffffff", TD_FORMAT,
     "map_create, line 1: a of 4 bytes from 0x7fffffffffffffff passes 2^63; use a lower base"},
    {"a: words 4 x 8\nb: words 4 x 16\nc: memories a b", TD_FORMAT,
     "map_create, line 3: c lies over a of 4 x 8 and b of 4 x 16; use memories of one geometry, and another region for "
     "the others"},
    {"a: words 4 x 16\nb: words 4 x 16; endian big\nc: memories a b", TD_FORMAT,
     "map_create, line 3: c lies over a and b, of which one is big endian; write endian for the region"},
    {"a: words 4 x 16\nc: memories a; unit 3", TD_FORMAT,
     "map_create, line 2: unit 3 of c; write a multiple of 2 bytes, a word of its memories"},
    {"a: words 4 x 16\nc: memories a; size 0", TD_FORMAT,
     "map_create, line 2: size 0 of c; write a multiple of 2 bytes, a word of its memories"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; unit 12", TD_FORMAT,
     "map_create, line 3: c has 16 bytes, which are no whole units of 12; change size or unit"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave w ch -> ch w", TD_PATTERN,
     "map_create, line 3: interleave \"w ch -> ch w\" is no order of units; write one group on the left, as (row ch) "
     "-> ch row, or (row ch) -> (row ch) with an address"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave (w ch) -> ch w k l", TD_PATTERN,
     "map_create, line 3: four groups on the right in pattern \"(w ch) -> ch w k l 1\"; write two, (word axes) (lane "
     "axes), or three, (bank axes) (word axes) (lane axes)\n"
     "    (w ch) -> ch w k l 1\n"
     "                     ^"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave (w ch) -> (w ch); options ch=2;\n address bank = "
     "(ch ^ w) & 1; addr = w / 2",
     TD_ALIAS,
     "map_create, line 3: memory_over \"c\": words ch=1 w=0 and ch=0 w=1 of \"(w ch) bit_in_word -> (w ch) "
     "bit_in_word\" both lie at address 0 of bank 1; use an address that keeps them apart, or alias=last\n"
     "    shape (8, 16), sizes ch=2"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave (w ch) -> (w ch); options ch=2;\n address bank = "
     "chan; addr = w / 2",
     TD_ADDRESS,
     "map_create, line 4: unknown axis chan in address \"bank = chan; addr = w / 2\"; did you mean ch? (word axes: w "
     "ch)\n"
     "    bank = chan; addr = w / 2\n"
     "           ^~~~"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave (w ch) -> (w ch); options ch=2;\n address bank = "
     "ch; addr = 2*w",
     TD_RANGE,
     "map_create, line 3: memory_over \"c\": address 6 of word ch=0 w=3 of \"(w ch) bit_in_word -> (w ch) "
     "bit_in_word\" is past the memory of 4 words; use smaller addresses, or a depth of at least 7; if it counts "
     "bytes, pass addr_unit=byte\n"
     "    shape (8, 16), sizes ch=2"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave (w ch) -> (w ch); options ch=2;\n address bank = "
     "2*ch; addr = w",
     TD_RANGE,
     "map_create, line 3: memory_over \"c\": bank 2 of word ch=1 w=0 of \"(w ch) bit_in_word -> (w ch) bit_in_word\" "
     "is not one of the 2 memories; pass at least 3 or change the bank\n"
     "    shape (8, 16), sizes ch=2"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCaCh ch=2", TD_FORMAT,
     "map_create, line 3: \"Ca\" in \"dram:RoCaCh ch=2\" is no field of an address; write the highest first, of Ch Ra "
     "Bg Ba Ro Co, as dram:RoBaRaCoCh"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoRoCh ch=2", TD_FORMAT,
     "map_create, line 3: ro stands twice in \"dram:RoRoCh ch=2\"; give every field once"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram: ch=2", TD_FORMAT,
     "map_create, line 3: \"dram: ch=2\" has no fields; write the highest first, as dram:RoBaRaCoCh"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCoCh ch=2", TD_FORMAT,
     "map_create, line 3: ro and co in \"dram:RoCoCh ch=2\" have no size; give all but one, as ro=4"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCoCh ch=2 co=3", TD_FORMAT,
     "map_create, line 3: the sizes in \"dram:RoCoCh ch=2 co=3\" come to 6 units, the region has 8; change a size, or "
     "size and unit of the region"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCoCh ch=4 co=2", TD_FORMAT,
     "map_create, line 3: 2 memories for \"dram:RoCoCh ch=4 co=2\"; name 1, or one for every channel (4), rank (4) or "
     "bank (4)"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCoCh ch=2 co=x", TD_FORMAT,
     "map_create, line 3: \"co=x\" in \"dram:RoCoCh ch=2 co=x\" is no size; write a whole number from 1 on"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCoCh ch=2 ba=2", TD_FORMAT,
     "map_create, line 3: ba=2 in \"dram:RoCoCh ch=2 ba=2\", whose order has no ba; put it into the order"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCoCh ch=2 hash=2", TD_FORMAT,
     "map_create, line 3: \"hash=2\" in \"dram:RoCoCh ch=2 hash=2\" is no size of a field; write ch= ra= bg= ba= ro= "
     "co= or xor="},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCoCh ch=2 xor=ch", TD_FORMAT,
     "map_create, line 3: \"xor=ch\" in \"dram:RoCoCh ch=2 xor=ch\" has no two fields; write xor=ba^ro, the hashed one "
     "first"},
    {"a: words 6 x 16\nb: words 6 x 16\nc: memories a b; interleave dram:RoBaCh ch=2 ba=3 xor=ba^ro", TD_FORMAT,
     "map_create, line 3: ba=3 in \"dram:RoBaCh ch=2 ba=3 xor=ba^ro\" is hashed with xor and no power of two; use one"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCoCh ch=2; options co=2", TD_FORMAT,
     "map_create, line 3: \"dram:RoCoCh ch=2\" of c is a preset and stands beside options; write its sizes behind it, "
     "as ch=4"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoBaCh ch=2 ba=2 xor=ro^ba xor=ba^ro ",
     TD_ALIAS,
     "map_create, line 3: memory_over \"c\": words ch=0 ba=1 ro=0 and ch=0 ba=0 ro=1 of \"(ro ba ch) bit_in_word -> "
     "(ro ba ch) bit_in_word\" both lie at address 3 of bank 0; use an address that keeps them apart, or alias=last\n"
     "    shape (8, 16), sizes ro=2 ba=2 ch=2"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCoCh ch=2 co=2 ro=4", TD_FORMAT,
     "map_create, line 3: the sizes in \"dram:RoCoCh ch=2 co=2 ro=4\" come to 16 units, the region has 8; change a "
     "size, or size and unit of the region"},
    {"a: words 4 x 8; organisation (t r) k -> t r k; arrays 2 x 8 x[0..1]; options t=2 alias=last", TD_OPTION,
     "map_create, line 1: alias=last beside the organisation of a; leave it out: every bit has a place of its own"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave (w ch) -> ch w; options ch=2 alias=last", TD_OPTION,
     "map_create, line 3: alias=last beside interleave \"(w ch) -> ch w\"; leave it out: every unit has a place of its "
     "own"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCh ch=2 xor=ba^ro", TD_FORMAT,
     "map_create, line 3: xor=ba^ro in \"dram:RoCh ch=2 xor=ba^ro\", whose order has no ba; put it into the order"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a b; interleave dram:RoCh ch=2 xor=ch^co", TD_FORMAT,
     "map_create, line 3: xor=ch^co in \"dram:RoCh ch=2 xor=ch^co\", whose order has no co; put it into the order"},
    {"a: words 4 x 16\nb: words 4 x 16\nc: memories a a", TD_ARGUMENT,
     "map_create, line 3: memory_over \"c\": array \"a\" stands in the list twice; pass every array once"},
    {"a: words 1099511627776 x 16\nc: memories a a", TD_FORMAT,
     "map_create, line 2: c has more than 1099511627776 words; give it fewer memories"},
    {"a: words 4 x 16; arrays 4 x 16 x\nb: words 4 x 16; arrays 4 x 16 a", TD_FORMAT,
     "map_create, line 2: array a of b has the name of a memory; leave out WORDS x BITS to lie over it, or rename the "
     "array"},
    {"a: words 4 x 16; address 3", TD_FORMAT,
     "map_create, line 1: a has an address and no organisation that it belongs to; write one"},
    {"a: words 4 x 8; check off", TD_FORMAT,
     "map_create, line 1: a has check and no code that it belongs to; write one, as code 39_32"},
    {"a: words 4 x 32; code 39_32; check maybe", TD_FORMAT,
     "map_create, line 1: \"check maybe\" of a; write on or off"},
    {"a: words 4 x 32;\n code 39_33", TD_OPTION,
     "map_create, line 2: code_create \"39_33\": \"39_33\" is no code; did you mean \"39_32\"? pass 22_16, 28_22, "
     "39_32, 64_57, 72_64, hamming_22_16, hamming_39_32, hamming_72_64, hamming_76_68, each also with inv_ in front, "
     "parity, hsiao, hamming or masks="},
    {"a: words 4 x 33; code 39_32", TD_OPTION,
     "map_create, line 1: code_create \"39_32\": 33 data bits are no whole subwords of 32; pass 32 or 64 bits, or "
     "hsiao subword=N with an N that divides 33"},
    {"a: words 4 x 32; code 39_32; arrays 4 x 32 x", TD_FORMAT,
     "map_create, line 1: a is 4 words of 39 bits with its check bits, its array x is 4 of 32; make them equal, or "
     "write an organisation"},
    {"a: words 4 x 32;\n code 39_32;\n code 39_32", TD_FORMAT,
     "map_create, line 3: code stands twice in memory a; give it once"},
    {"a: words 4 x 8; stored 9", TD_FORMAT,
     "map_create, line 1: a has stored and no codec that it belongs to; write one, as codec ./file.so:symbol"},
    {"a: words 4 x 8; codec none", TD_ARGUMENT,
     "map_create, line 1: codec_open \"none\": no file and symbol; pass FILE:SYMBOL, as ./scrambler.so:prince"},
    {"a: words 4 x 8; codec ./none.so:x", TD_FILE,
     "map_create, line 1: codec_open \"./none.so:x\": the library cannot be loaded: ./none.so: cannot open shared "
     "object file: No such file or directory; pass the path of a shared library, with a / in it"},
    {"a: words 4 x 8\nb: memories a; code 39_32", TD_FORMAT,
     "map_create, line 2: b is a region and has code; that is for a memory: drop it, or write words in place of "
     "memories"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        td_map *map = NULL;
        ASSERT_REFUSED(td_map_create(refused[i].text, NULL, 0, &map), refused[i].status, refused[i].message);
        assert_null(map);
    }
}

static void test_too_long(void **state)
{
    (void)state;
    const size_t bytes = ((size_t)1 << 24) + 1;
    td_map *map = NULL;
    char *text = malloc(bytes + 1);
    assert_non_null(text);
    memset(text, '#', bytes);
    text[bytes] = 0;
    ASSERT_REFUSED(td_map_create(text, NULL, 0, &map), TD_FORMAT,
                   "map_create: a map file of 16777217 bytes; keep it below 16777216");
    assert_null(map);
    free(text);
}

static void test_files(void **state)
{
    (void)state;
    td_map *map = NULL;
    ASSERT_REFUSED(td_map_open("none.map", NULL, 0, &map), TD_FILE,
                   "map_open \"none.map\": cannot open the file: No such file or directory; check the path and its "
                   "permissions");
    write_file("chip.map", "# the chip\nwbuf: words 4 x 8;\n base twelve\n", 43);
    ASSERT_REFUSED(
        td_map_open("chip.map", NULL, 0, &map), TD_FORMAT,
        "map_open \"chip.map\", line 3: \"base twelve\" of wbuf has no address; write a whole number, decimal "
        "or 0x, below 2^63\n    base twelve\n         ^");
    write_file("zero.map", "a: words\0 4 x 8", 15);
    ASSERT_REFUSED(td_map_open("zero.map", NULL, 0, &map), TD_FORMAT,
                   "map_open \"zero.map\", line 1: a zero byte; map files are text");
    write_file("good.map", "wbuf: words 4 x 8\n", 18);
    ASSERT_OK(td_map_open("good.map", NULL, 0, &map));
    assert_int_equal(td_map_count(map), 1);
    td_map_destroy(&map);
    assert_null(map);
    td_map_destroy(&map);
    td_map_destroy(NULL);
}

static void test_arrays(void **state)
{
    (void)state;
    static const char text[] = "wbuf: words 4 x 8; arrays 4 x 8 tb.mem\nabuf: words 4 x 8";
    td_map *map = NULL;
    td_memory *mem = NULL, *other = NULL, *wide = NULL;
    ASSERT_OK(td_memory_create("tb.mem", 8, 4, &mem));
    ASSERT_OK(td_memory_create("tb.men", 8, 4, &other));
    ASSERT_OK(td_memory_create("tb.mem", 16, 4, &wide));
    ASSERT_REFUSED(td_map_create(text, (td_memory *[]){other}, 1, &map), TD_ARGUMENT,
                   "map_create: the map has no array \"tb.men\"; did you mean tb.mem?");
    ASSERT_REFUSED(
        td_map_create(text, (td_memory *[]){wide}, 1, &map), TD_ARGUMENT,
        "map_create, line 1: array \"tb.mem\" is 4 words of 16 bits, the map says 4 x 8; correct the map, or "
        "pass another array");
    ASSERT_REFUSED(td_map_create(text, (td_memory *[]){mem, wide}, 2, &map), TD_ARGUMENT,
                   "map_create: arrays 0 and 1 are both called \"tb.mem\"; give every array a name of its own");
    ASSERT_REFUSED(td_map_create(text, (td_memory *[]){NULL}, 1, &map), TD_ARGUMENT,
                   "map_create: array 0 is NULL; create it first");
    ASSERT_REFUSED(td_map_create(text, NULL, 3, &map), TD_ARGUMENT,
                   "map_create: the arrays are NULL; pass 3, or a count of 0");
    td_memory_destroy(&wide);
    ASSERT_OK(td_memory_create("qqqqqqqqqqqqqqq", 16, 4, &wide));
    ASSERT_REFUSED(td_map_create(text, (td_memory *[]){wide}, 1, &map), TD_ARGUMENT,
                   "map_create: the map has no array \"qqqqqqqqqqqqqqq\"; the first of its 2 is tb.mem");
    ASSERT_OK(td_map_create(text, (td_memory *[]){mem}, 1, &map));
    td_map_entry e;
    ASSERT_OK(td_map_find(map, "wbuf", &e));
    assert_ptr_equal(e.memory, mem);
    assert_ptr_equal(e.arrays[0], mem);
    td_map_destroy(&map);
    assert_string_equal(td_memory_name(mem), "tb.mem"); /* the caller's */
    td_memory_destroy(&mem);
    td_memory_destroy(&other);
    td_memory_destroy(&wide);
}

static void test_null(void **state)
{
    (void)state;
    td_map *map = NULL;
    td_map_entry e;
    uint64_t word = 0;
    char *text = NULL;
    ASSERT_REFUSED(td_map_open(NULL, NULL, 0, &map), TD_ARGUMENT, "map_open: the path is NULL; pass one");
    ASSERT_REFUSED(td_map_open("x", NULL, 0, NULL), TD_ARGUMENT, "map_open: the output is NULL; pass one");
    ASSERT_REFUSED(td_map_create(NULL, NULL, 0, &map), TD_ARGUMENT, "map_create: the text is NULL; pass one");
    ASSERT_REFUSED(td_map_create("", NULL, 0, NULL), TD_ARGUMENT, "map_create: the output is NULL; pass one");
    assert_int_equal(td_map_count(NULL), 0);
    ASSERT_OK(td_map_create("wbuf: words 4 x 8\nabuf: words 4 x 8", NULL, 0, &map));
    ASSERT_REFUSED(td_map_at(NULL, 0, &e), TD_ARGUMENT, "map_at: the map is NULL; pass one");
    ASSERT_REFUSED(td_map_at(map, 0, NULL), TD_ARGUMENT, "map_at: the output is NULL; pass one");
    ASSERT_REFUSED(td_map_at(map, 2, &e), TD_RANGE, "map_at: memory 2 of a map of 2; the last is 1");
    ASSERT_REFUSED(td_map_find(NULL, "x", &e), TD_ARGUMENT, "map_find: the map is NULL; pass one");
    ASSERT_REFUSED(td_map_find(map, NULL, &e), TD_ARGUMENT, "map_find: the name is NULL; pass one");
    ASSERT_REFUSED(td_map_find(map, "x", NULL), TD_ARGUMENT, "map_find: the output is NULL; pass one");
    ASSERT_REFUSED(td_map_find(map, "wbug", &e), TD_ARGUMENT,
                   "map_find: the map has no memory \"wbug\"; did you mean wbuf?");
    ASSERT_REFUSED(td_map_find(map, "zzzzzzz", &e), TD_ARGUMENT,
                   "map_find: the map has no memory \"zzzzzzz\"; the first of its 2 is wbuf");
    ASSERT_REFUSED(td_map_locate(NULL, 0, &e, &word, &word), TD_ARGUMENT, "map_locate: the map is NULL; pass one");
    ASSERT_REFUSED(td_map_locate(map, 0, &e, NULL, &word), TD_ARGUMENT, "map_locate: the output is NULL; pass one");
    ASSERT_REFUSED(td_map_locate(map, 0, &e, &word, &word), TD_RANGE,
                   "map_locate: address 0x0 in a map without addresses; write base ADDRESS for a memory");
    ASSERT_REFUSED(td_map_text(NULL, &text), TD_ARGUMENT, "map_text: the map is NULL; pass one");
    ASSERT_REFUSED(td_map_text(map, NULL), TD_ARGUMENT, "map_text: the output is NULL; pass one");
    td_map_destroy(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test_setup_teardown(test_files, enter_folder, leave_folder),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
