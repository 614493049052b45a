"""Runs the command `tensordoor` (its path is the first argument) and checks files, exit codes and messages.

Speaks TAP. Needs the standard library only; where numpy is there, its files and ours are read by each other too."""
import os
import struct

from harness import main, refuse, run, succeed

try:
    import numpy
except ImportError:
    numpy = None

PATTERN = "b w (ct cs) -> (b w ct) cs"


def npy(name, descr, shape, data, fortran=False):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, tuple(shape))
    header = header.ljust(118 - 1) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + data)


def text(name):
    with open(name) as file:
        return file.read()


def raw(name):
    with open(name, "rb") as file:
        return file.read()


def int16(values):
    return struct.pack("<%dh" % len(values), *values)


def pack_writes_readmem_text():
    npy("a.npy", "<i2", (2, 3, 4), int16(range(-3, 21)))
    succeed("pack", "a.npy", "-o", "a.hex", "--width", "64", "--pattern", PATTERN, "--options", "cs=4")
    want = []
    for word in range(6):
        lanes = [(4 * word + lane - 3) & 0xFFFF for lane in range(4)]
        want.append("%04x%04x%04x%04x" % tuple(reversed(lanes)))
    assert text("a.hex") == "\n".join(want) + "\n", text("a.hex")


def pack_marks_gaps():
    npy("a.npy", "<i2", (2, 3, 4), int16(range(24)))
    succeed("pack", "a.npy", "--out=a.mem", "--width=0x20", "--pattern", PATTERN, "--options", "cs=2", "--address",
            "0x10 + 8*b + 2*w + ct")
    lines = text("a.mem").split()
    assert lines[0] == "@10" and lines[7] == "@18" and len(lines) == 14, lines
    assert lines[1] == "00010000" and lines[8] == "000d000c", lines


def words_of_odd_widths_are_padded_with_zeros():
    npy("a.npy", "|i1", (2, 3), struct.pack("6b", 1, -1, 0, -2, 3, -4))
    succeed("pack", "a.npy", "-o", "a.vmem", "--width", "13", "--pattern", "r c -> r c", "--dtype", "i4")
    assert text("a.vmem") == "00f1\n0c3e\n", text("a.vmem")
    succeed("pack", "a.npy", "-o", "a.bin", "--width", "13", "--pattern", "r c -> r c", "--dtype", "i4")
    assert raw("a.bin") == b"\xf1\x00\x3e\x0c", raw("a.bin")


def unpack_is_the_way_back():
    npy("a.npy", "<i2", (2, 3, 4), int16(range(-3, 21)))
    layout = ["--width", "32", "--pattern", PATTERN, "--options", "cs=2", "--address", "3 + 20*b + 2*w + ct"]
    for image in "a.hex", "a.mem", "a.vmem", "a.bin":
        for depth in [], ["--depth", "100"]:
            succeed("pack", "a.npy", "-o", image, *layout, *depth)
            succeed("unpack", image, "-o", "b.npy", *layout, *depth, "--shape", "2 3 4", "--dtype", "i16")
            assert raw("b.npy") == raw("a.npy")
            os.remove("b.npy")


def floats_without_a_numpy_name():
    npy("a.npy", "<V2", (2, 3), bytes(range(12)))
    succeed("pack", "a.npy", "-o", "a.hex", "--width", "48", "--pattern", "r c -> r c", "--dtype", "bf16")
    assert text("a.hex") == "050403020100\n0b0a09080706\n"
    succeed("unpack", "a.hex", "-o", "b.npy", "--width", "48", "--pattern", "r c -> r c", "--shape", "2,3", "--dtype",
            "bf16")
    assert raw("b.npy") == raw("a.npy")


def a_short_image_is_refused_unless_the_depth_is_given():
    with open("short.hex", "w") as file:
        file.write("0001 0002")
    unpack = ["unpack", "short.hex", "-o", "b.npy", "--width", "16", "--pattern", "n -> n ()", "--shape", "4",
              "--dtype", "i16"]
    refuse('tensordoor unpack: "short.hex" ends at word 0x1, the layout reads up to 0x3; if the words behind the end '
           'are '
           "zero, pass --depth 4", *unpack)
    succeed(*unpack, "--depth", "4")
    assert raw("b.npy")[128:] == int16([1, 2, 0, 0])


def info_says_what_is_there():
    out = succeed("info")
    assert out.startswith("version   0.1.0\n") and "\nbuild     " in out and "\ndtypes    u1..u64" in out, out
    npy("a.npy", ">f4", (2, 3), bytes(24), fortran=True)
    assert succeed("info", "a.npy") == "file      a.npy\ndtype     f32\nshape     (2, 3)\nelements  6\nbytes     24\n"
    with open("a.hex", "w") as file:
        file.write("@1f\n3")
    assert succeed("info", "a.hex", "--width", "9") == "file      a.hex\nwidth     9\ndepth     32\n"
    refuse("tensordoor info: a memory image does not say how wide its words are; pass --width W", "info", "a.hex")
    for command in "info", "show":
        refuse('tensordoor %s: "no" has the extension of no tensor file (.npy, .npz, .safetensors, .gguf, .raw) and of '
               "no memory image (.hex, .mem, .memb, .bin, .mif, .coe, .ihex, .srec, .elf); put the format in front, as "
               "npy:FILE or readmemh:FILE" % command, command, "no")
    refuse('tensordoor info: image_depth "a.hex": line 2: a word of 2 bits for a width of 1; widen the memory or '
           'correct '
           "the word", "info", "a.hex", "--width", "1")
    refuse('tensordoor info: tensor_open "no.npy": cannot open the file: No such file or directory; check the path and '
           'its '
           "permissions", "info", "no.npy")


def help_is_there():
    assert "\n  unpack    " in succeed("--help")
    assert succeed("help") == succeed("-h") == succeed("--help")
    assert succeed("--version") == "tensordoor 0.1.0\n"
    for command in "pack", "unpack", "info":
        assert succeed(command, "--help").startswith("usage: tensordoor %s " % command)
        assert succeed(command, "-h") == succeed(command, "--width", "3", "--help")


def slips_get_a_suggestion():
    refuse("tensordoor: no command; see tensordoor --help")
    refuse('tensordoor: unknown command "pakc"; did you mean pack?', "pakc")
    refuse('tensordoor: unknown command "frobnicate"; see tensordoor --help', "frobnicate")
    refuse('tensordoor pack: unknown flag "--depht"; did you mean --depth?', "pack", "--depht", "8")
    refuse('tensordoor pack: unknown flag "--patern"; did you mean --pattern?', "pack", "--patern=x")
    refuse('tensordoor pack: unknown flag "--frobnicate"; see tensordoor pack --help', "pack", "--frobnicate", "8")
    refuse('tensordoor pack: unknown flag "--' + 80 * "x" + '"; see tensordoor pack --help', "pack", "--" + 80 * "x")
    refuse('tensordoor pack: unknown flag "-x"; see tensordoor pack --help', "pack", "-x", "8")
    refuse("tensordoor pack: --width is given twice; give it once", "pack", "--width", "8", "-w", "9")
    refuse("tensordoor pack: --width needs a value: --width W", "pack", "--width")
    refuse('tensordoor pack: one argument too many: "b.npy"; see tensordoor pack --help', "pack", "a.npy", "b.npy")
    refuse("tensordoor pack: no IN.npy; see tensordoor pack --help", "pack")
    refuse("tensordoor pack: no --width; pass --width W, bits of a word", "pack", "a.npy")
    refuse("tensordoor pack: no --out; pass --out OUT.hex, the image to write: .hex .mem .vmem or .bin", "pack",
           "a.npy",
           "-w", "8")
    refuse("tensordoor unpack: no --shape; pass --shape \"2 3 4\", the shape of the tensor", "unpack", "a.hex", "-o",
           "b.npy", "-w", "8", "-p", "n -> n ()")
    for value in "", "0", "-8", "8x", "0x", "99999999999999999999", "0b1":
        refuse('tensordoor pack: --width is "%s"; it needs a whole number of at least 1, decimal or 0x' % value, "pack",
               "a.npy", "-o", "a.hex", "--pattern", "n -> n ()", "--width", value)
        refuse('tensordoor unpack: --depth is "%s"; it needs a whole number of at least 1, decimal or 0x' % value,
               "unpack",
               "a.hex", "-o", "a.npy", "--pattern", "n -> n ()", "-w", "8", "--shape", "1", "--dtype", "i8", "-d",
               value)


def refused_by_the_library(args, start):
    before = sorted(os.listdir("."))
    code, out, err = run(*args)
    assert code == 2 and out == "" and err.count("\n") == 1 and err.startswith(start), (args, code, out, err)
    assert sorted(os.listdir(".")) == before, "a refused call left files behind"


def what_the_library_refuses_leaves_nothing():
    npy("a.npy", "<i2", (2, 3, 4), int16(range(24)))
    pack = ["pack", "a.npy", "-o", "new.hex", "--width", "32"]
    layout = ["--pattern", PATTERN]
    for args in [
            [*pack, *layout, "--options", "cs=3"],
            [*pack, *layout, "--options", "cs=4"],
            [*pack, *layout, "--options", "cs=2", "--depth", "11"],
            [*pack, *layout, "--options", "cs=2", "--address", "index - 1"],
            [*pack, *layout, "--options", "cs=2", "--address", "5"],
            [*pack, *layout, "--options", "cs=2", "--dtype", "i32"],
            [*pack, *layout, "--options", "cs=2", "--dtype", "zzz"],
            [*pack, "--pattern", "b w ->"],
    ]:
        refused_by_the_library(args, "tensordoor pack: ")
    refuse('tensordoor pack: memory_save_file "new.txt": the extension ".txt" is not that of a memory image; use .hex, '
           '.mem, '
           ".vmem, .memb, .bin, .mif, .coe, .ihex or .srec (.elf to read), or put the format in "
           "front, as readmemh:FILE", "pack",
           "a.npy",
           "-o", "new.txt", "--width", "32", *layout, "--options", "cs=2")
    refuse('tensordoor pack: memory_save_file "no/new.hex": cannot create the file: No such file or directory; check '
           'the '
           "folder and its permissions", "pack", "a.npy", "-o", "no/new.hex", "--width", "32", *layout, "--options",
           "cs=2")
    with open("x.hex", "w") as file:
        file.write("0\n1x\n")
    unpack = ["unpack", "x.hex", "-o", "new.npy", "--width", "32", "--pattern", "n -> n ()", "--dtype", "i16"]
    refuse('tensordoor unpack: image_depth "x.hex": line 2: the digit x; a memory holds 0 and 1 only, so write 0-9 or '
           "a-f, or read it as zero with readmemh,x=0:FILE", *unpack, "--shape", "2")
    refuse('tensordoor unpack: memory_load_file "x.hex": line 2: the digit x; a memory holds 0 and 1 only, so write '
           '0-9 or '
           "a-f, or read it as zero with readmemh,x=0:FILE", *unpack, "--shape", "2", "--depth", "2")
    refuse('tensordoor unpack: shape "2 q": a number is needed at column 3; write it as "2 3 4"', *unpack, "--shape",
           "2 q")


def numpy_and_we_read_each_other():
    if numpy is None:
        return "numpy is not there"
    seed = numpy.random.default_rng(1)
    for dtype in "?", "i1", "<i2", ">i4", "<i8", "u1", ">u2", "<u4", ">u8", "<f2", ">f4", "<f8":
        for order in "C", "F":
            array = seed.integers(0, 2, size=(3, 5, 4)).astype(dtype)
            numpy.save("n.npy", numpy.asarray(array, order=order))
            bits = 1 if dtype == "?" else 8 * array.itemsize
            name = "u1" if dtype == "?" else "%s%d" % (array.dtype.kind, bits)
            layout = ["--width", str(4 * bits), "--pattern", "a b c -> (b a) c"]
            succeed("pack", "n.npy", "-o", "n.hex", *layout)
            succeed("unpack", "n.hex", "-o", "m.npy", *layout, "--shape", "3 5 4", "--dtype", name)
            back = numpy.load("m.npy")
            assert back.shape == array.shape and (back == array).all(), (dtype, order)
    for version in (1, 0), (2, 0), (3, 0):
        with open("v.npy", "wb") as file:
            numpy.lib.format.write_array(file, numpy.arange(6, dtype="<i2").reshape(2, 3), version=version)
        assert "shape     (2, 3)\n" in succeed("info", "v.npy")
    numpy.save("o.npy", numpy.array([{}, 1], dtype=object), allow_pickle=True)
    refuse('tensordoor info: tensor_open "o.npy": the array (\'|O\') holds Python objects, which are no numbers; save '
           'an '
           "array of numbers", "info", "o.npy")
    return None


main([
    pack_writes_readmem_text,
    pack_marks_gaps,
    words_of_odd_widths_are_padded_with_zeros,
    unpack_is_the_way_back,
    floats_without_a_numpy_name,
    a_short_image_is_refused_unless_the_depth_is_given,
    info_says_what_is_there,
    help_is_there,
    slips_get_a_suggestion,
    what_the_library_refuses_leaves_nothing,
    numpy_and_we_read_each_other,
])
