"""tensordoor where: from a system address to macros and elements, and back. Places are calculated here."""
import re

from harness import main, refuse, run, succeed, write

# 128 words of 16 bits: tile w / 64, row w / 4 % 16, slice b / 8, column 4 * (b % 8) + w % 4.
CHIP = """rom:  words 1024 x 32; base 0x0000_1000; endian big
wbuf: words 128 x 16; base 0x8000_0000;
      organisation (t r p) (s k) -> (t s) r (k p); options t=2 s=2 p=4;
      arrays 16 x 32 tile[0..1].slice[0..1]
ch0:  words 1024 x 64
ch1:  words 1024 x 64
ddr:  base 0x9000_0000; memories ch0 ch1; unit 64; interleave (row ch) -> ch row
"""
LAYOUTS = """weights: pattern r c -> r c; address 8 + r; memory wbuf; shape i8 100 2
acts:    pattern (r c) -> r c; options c=8; memory ddr; shape u8 4096
single:  pattern r -> r 1; memory ch1; shape u64 1024
table:   pattern r -> (r again) 1; options again=2; memory rom; shape u32 8
other:   pattern r c -> r c
packed:  as mxfp4 axis=1; pattern r c -> r c; memory ch0; part scales pattern r c -> r c; memory ch1
"""
FILES = ["--map", "chip.map", "--layouts", "layouts.txt"]
OTHER = "other: not asked; add memory NAME; shape DTYPE SIZES to it, or pass --memory and --shape\n" \
        'packed: not asked; layout_open "layouts.txt", line 6: layout packed is one of parts (as mxfp4 axis=1); ' \
        "open it with parts_layout_open, or take the layout of a part from that\n"


def files():
    write("chip.map", CHIP)
    write("layouts.txt", LAYOUTS)


def place(word, bit):
    macro = 2 * (word // 64) + bit // 8
    first = 4 * (bit % 8) + word % 4
    return 'macro %d "tile[%d].slice[%d]" row %d bits %d:%d step 4' % (
        macro, macro // 2, macro % 2, word // 4 % 16, first + 28, first)


def an_address_is_followed_down_and_up():
    files()
    place_of = '"wbuf" word 0x1a bits 7:0, ' + place(0x1a, 0)
    assert succeed("where", "0x8000_0034", *FILES) == (
        '0x80000034: byte 0x34 of "wbuf", which begins at 0x80000000\n' + place_of + "\n"
        "weights: element (18, 0) bits 7:0, " + place_of + "\n" + OTHER)
    assert succeed("where", "0x8000_0034", "--map", "chip.map") == (
        '0x80000034: byte 0x34 of "wbuf", which begins at 0x80000000\n' + place_of + "\n")
    assert succeed("where", "2147483648", *FILES) == (  # word 0 is in front of the tensor
        '0x80000000: byte 0x0 of "wbuf", which begins at 0x80000000\n"wbuf" word 0x0 bits 7:0, ' + place(0, 0) + "\n" +
        OTHER)


def regions_and_what_lies_below_have_their_elements():
    files()
    assert succeed("where", "0x9000_0041", *FILES) == (
        '0x90000041: byte 0x41 of "ddr", which begins at 0x90000000\n'
        '"ddr" word 0x8 bits 15:8, macro 1 "ch1" row 0 bits 15:8\n'
        'acts: element (65) bits 7:0, "ddr" word 0x8 bits 15:8, macro 1 "ch1" row 0 bits 15:8\n'
        'single: element (0) bits 15:8, "ch1" word 0x0 bits 15:8\n' + OTHER)


def every_byte_is_that_of_its_element():
    files()
    for row in range(0, 100, 9):
        for column in range(2):
            word = 8 + row
            address = 0x80000000 + 2 * word + column
            line = "element (%d, %d) bits 7:0, \"wbuf\" word 0x%x bits %d:%d, %s\n" % (
                row, column, word, 8 * column + 7, 8 * column, place(word, 8 * column))
            assert succeed("where", "weights", "%d,%d" % (row, column), *FILES) == "0x%x: " % address + line
            assert "weights: " + line in succeed("where", hex(address), *FILES)


def elements_have_all_their_copies_and_addresses():
    files()
    assert succeed("where", "table", "3", *FILES) == (  # big endian: the lowest bits at the highest address
        '0x101b: element (3) bits 31:0, "rom" word 0x6 bits 31:0\n'
        '0x101f: element (3) bits 31:0, "rom" word 0x7 bits 31:0\n')
    assert succeed("where", "single", "9", *FILES) == (  # through the region: unit 1 of ch1 is at 0xc0
        '0x900000c8: element (9) bits 63:0, "ch1" word 0x9 bits 63:0\n')
    assert succeed("where", "other", "1 2", *FILES, "--memory", "ch0", "--shape", "u16 4 4") == (
        '0x9000000c: element (1, 2) bits 15:0, "ch0" word 0x1 bits 47:32\n')


def what_is_not_there_is_refused():
    files()
    refuse("tensordoor where: no --map; pass --map FILE, the memories of the chip, a map file", "where", "0x10")
    refuse("tensordoor where: no ADDRESS|LAYOUT; see tensordoor where --help", "where", "--map", "chip.map")
    refuse("tensordoor where: no COORDINATE; see tensordoor where --help", "where", "weights", *FILES)
    refuse('tensordoor where: "0x8000_12g4" is no address; pass a number, decimal or 0x, as 0x8000_1234', "where",
           "0x8000_12g4", *FILES)
    refuse("tensordoor where: map_locate: address 0x50 lies in front of the first memory, rom, which begins at 0x1000; "
           "use an address of a memory, or add one to the map", "where", "0x50", *FILES)
    refuse("tensordoor where: no --layouts; pass --layouts FILE, the layout file that has weights", "where", "weights",
           "0,0", "--map", "chip.map")
    refuse('tensordoor where: layout_open "layouts.txt": no layout weight; did you mean weights?', "where", "weight",
           "0,0", *FILES)
    refuse("tensordoor where: layout other says no memory or no shape; add memory NAME; shape DTYPE SIZES to it, or "
           "pass --memory and --shape", "where", "other", "0,0", *FILES)
    refuse('tensordoor where: coordinate "1,2,3" of a tensor of 2 dimensions; pass a number for each, as 0,3,1',
           "where", "weights", "1,2,3", *FILES)
    refuse('tensordoor where: coordinate "1,x" of a tensor of 2 dimensions; pass a number for each, as 0,3,1', "where",
           "weights", "1,x", *FILES)
    refuse('tensordoor where: layout weights: where "wbuf": coordinate 100 in dimension 0, which has a length of 100; '
           "pass 0 to 99", "where", "weights", "100,0", *FILES)
    code, out, err = run("where", "other", "0,0", *FILES, "--memory", "nowhere", "--shape", "u8 4 4")
    assert code == 2 and not out and re.match(r"tensordoor where: layout other: map_find: .*nowhere", err), err
    write("layouts.txt", "a: pattern r -> r 1; memory wbuf; shape i99 4\n")
    code, out, err = run("where", "a", "0", *FILES)
    assert code == 2 and not out and err.startswith('tensordoor where: layout_open "layouts.txt", line 1: '), err


main([an_address_is_followed_down_and_up, regions_and_what_lies_below_have_their_elements,
      every_byte_is_that_of_its_element, elements_have_all_their_copies_and_addresses, what_is_not_there_is_refused])
