"""Maps of chips on the command line: tensors in memories of a map, images of their arrays and back."""
import os
import struct

from harness import main, read, refuse, run, succeed, write

CHIP = """# a scratchpad of six macros, with a code
wbuf: words 64 x 32; base 0x8000_0000; code 39_32;
      organisation (t r p) (s k) -> (t s) r (k p); options t=2 s=3 p=4;
      arrays 8 x 52 tile[0..1].slice[0..2]
rom:  words 16 x 32; base 0x9000_0000; arrays 16 x 32 tb/rom
"""
ROWS = ["--map", "chip.map", "--pattern", "r c -> r c"]
MASKS = [0x2606bd25, 0xdeba8050, 0x413d89aa, 0x31234ed1, 0xc2c1323b, 0x2dcc624c, 0x98505586]


def npy(name, values):
    head = "{'descr': '<u4', 'fortran_order': False, 'shape': (%d, 1), }" % len(values)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    write(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()
          + struct.pack("<%dI" % len(values), *values))


def values():
    return [(0x9e3779b9 * (i + 1)) & 0xffffffff for i in range(64)]


def images(words):
    """The six arrays, bit by bit: word w is in tile w / 32, row w / 4 % 8, at bit k * 4 + w % 4 of slice k / 13."""
    arrays = {(t, s): [0] * 8 for t in range(2) for s in range(3)}
    for w, data in enumerate(words):
        coded = data | sum((bin(data & m).count("1") & 1) << 32 + j for j, m in enumerate(MASKS))
        for k in range(39):
            if coded >> k & 1:
                arrays[w // 32, k // 13][w // 4 % 8] |= 1 << (k % 13 * 4 + w % 4)
    return {"tile[%d].slice[%d]" % key: rows for key, rows in arrays.items()}


def setup():
    write("chip.map", CHIP)
    npy("w.npy", values())


def an_image_for_every_array():
    setup()
    succeed("pack", "w.npy", *ROWS, "--memory", "wbuf", "-o", "out")
    expected = images(values())
    assert sorted(os.listdir("out")) == sorted(name + ".hex" for name in expected), os.listdir("out")
    for name, rows in expected.items():
        assert [int(word, 16) for word in read("out/%s.hex" % name).split()] == rows, name


def every_format_comes_back():
    setup()
    expected = images(values())["tile[0].slice[0]"]
    for form in ("hex", "memb", "bin", "mif", "coe"):
        succeed("pack", "w.npy", *ROWS, "-m", "wbuf", "-o", form, "--format", form)
        succeed("unpack", form, *ROWS, "-m", "wbuf", "--format", form, "-o", "back.npy", "--shape", "64 1", "--dtype",
                "u32")
        assert read("back.npy", "rb") == read("w.npy", "rb"), form
        assert "64 elements match" in succeed("compare", form, "w.npy", *ROWS, "-m", "wbuf", "--format", form)
    assert read("mif/tile[0].slice[0].mif") == (
        "WIDTH=52;\nDEPTH=8;\nADDRESS_RADIX=HEX;\nDATA_RADIX=HEX;\nCONTENT BEGIN\n"
        + "".join("%X : %013X;\n" % pair for pair in enumerate(expected)) + "END;\n")
    assert read("coe/tile[0].slice[0].coe") == (
        "memory_initialization_radix=16;\nmemory_initialization_vector=\n"
        + ",\n".join("%013X" % row for row in expected) + ";\n")


def at_a_system_address():
    setup()
    npy("four.npy", values()[:4])
    succeed("pack", "four.npy", *ROWS, "--at", "0x90000010", "-o", "out")
    assert [int(word, 16) for word in read("out/tb_rom.hex").split()] == [0] * 4 + values()[:4] + [0] * 8
    assert "4 elements match" in succeed("compare", "out", "four.npy", *ROWS, "--at", "0x90000010")
    refuse("tensordoor pack: map_place at 0x90000011: it is byte 1 of a word of rom; begin at 0x90000010 or "
           '0x90000014, or use a flat layout, as "... -> (...)"', "pack", "four.npy", *ROWS, "--at", "0x90000011",
           "-o", "no")
    refuse("tensordoor pack: map_place at 0x0: address 0x0 lies in front of the first memory, wbuf, which begins at "
           "0x80000000; use an address of a memory, or add one to the map", "pack", "four.npy", *ROWS, "--at", "0",
           "-o", "no")


def wrong_bits_in_images():
    setup()
    succeed("pack", "w.npy", *ROWS, "-m", "wbuf", "-o", "out", "--format", "coe")
    succeed("pack", "w.npy", *ROWS, "-m", "wbuf", "-o", "before", "--format", "coe")
    path = "out/tile[1].slice[0].coe"
    lines = read(path).split("\n")
    flipped = "%013X" % (int(lines[2].strip(","), 16) ^ 1)
    write(path, "\n".join(lines[:2] + [flipped + ","] + lines[3:]))
    compare = ["compare", "out", "w.npy", *ROWS, "-m", "wbuf", "--format", "coe"]
    assert "64 elements match" in succeed(*compare)  # corrected
    succeed(*compare, "--snapshot", "before")
    flipped = "%013X" % (int(lines[2].strip(","), 16) ^ 0x11)
    write(path, "\n".join(lines[:2] + [flipped + ","] + lines[3:]))
    code, out, err = run(*compare)
    assert code == 2 and out == "" and "of \"wbuf\", subword 0: the syndrome" in err, (code, out, err)


def refusals():
    setup()
    pack = ["pack", "w.npy", "-o", "out", "--pattern", "r c -> r c"]
    refuse("tensordoor pack: neither --memory nor --at; pass one of them, the name of a memory or a system address",
           *pack, "--map", "chip.map")
    refuse("tensordoor pack: both --memory and --at; pass one of them, the name of a memory or a system address",
           *pack, "--map", "chip.map", "-m", "wbuf", "--at", "4")
    refuse("tensordoor pack: --width beside --map, which says it; leave it out", *pack, "--map", "chip.map", "-m",
           "wbuf", "--width", "32")
    refuse("tensordoor pack: --memory without --map; pass --map FILE, a map file", *pack, "-m", "wbuf", "-w", "32")
    refuse("tensordoor pack: --part beside --map; give every part a call of its own", *pack, "--map", "chip.map", "-m",
           "wbuf", "--part", "scales p.hex r -> r ()")
    refuse('tensordoor pack: map_find: the map has no memory "wbug"; did you mean wbuf?', *pack, "--map=chip.map", "-m",
           "wbug")
    refuse('tensordoor pack: map_open "no.map": cannot open the file: No such file or directory; check the path and '
           "its permissions", *pack, "--map", "no.map", "-m", "wbuf")
    refuse('tensordoor pack: memory_save_file "out/tile[0].slice[0].jpg": the extension ".jpg" is not that of a memory '
           "image; use .hex, .mem, .vmem, .memb, .bin, .mif, .coe, .ihex or .srec (.elf to read), or put the format in "
           "front, "
           "as readmemh:FILE", *pack, "--map", "chip.map", "-m", "wbuf", "--format", "jpg")
    write("file", "")
    refuse('tensordoor pack: memory_save_file "file/tile[0].slice[0].hex": cannot create the file: Not a directory; '
           "check the folder and its permissions", *pack[:2], "-o", "file", *pack[4:], "--map", "chip.map",
           "-m", "wbuf")
    refuse('tensordoor pack: cannot create the folder "no/where": No such file or directory; check the path and its '
           "permissions", *pack[:2], "-o", "no/where", *pack[4:], "--map", "chip.map", "-m", "wbuf")
    refuse('tensordoor compare: memory_load_file "none/tile[0].slice[0].hex": cannot open the file: No such file or '
           "directory; check the path and its permissions", "compare", "none", "w.npy", *ROWS, "-m", "wbuf")


main([an_image_for_every_array, every_format_comes_back, at_a_system_address, wrong_bits_in_images, refusals])
