"""The command's files: show and convert, over every format, and numpy's own reader where it is there. Speaks TAP."""
import json
import os
import shutil
import struct

from harness import DATA, main, read, refuse, run, succeed, write

try:
    import numpy
except ImportError:
    numpy = None

BUILD = succeed("info")
NPZ = " npz (" not in BUILD
SAFETENSORS = " safetensors" in BUILD
ELF = BUILD.split("images", 1)[1].split("\n")[0].endswith(" elf")


def fetch(*names):
    for name in names:
        shutil.copy(os.path.join(DATA, name), name)


def safetensors(name, tensors):
    """What the format's own description says, in Python."""
    header, data = {}, b""
    for key, (dtype, shape, content) in tensors.items():
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    write(name, struct.pack("<Q", len(text)) + text + data)


def show_a_tensor():
    fetch("numpy_stored.npz")
    assert succeed("show", "numpy_stored.npz:w") == ("dtype     f32\nshape     (3, 4)\nelements  12\nbytes     48\n"
                                                     "range     -5 .. 6\n"
                                                     "[[-5. -4. -3. -2.]\n [-1.  0.  1.  2.]\n [ 3.  4.  5.  6.]]\n")
    write("r.dat", struct.pack("<4f", 1.5, float("nan"), float("inf"), -0.25))
    out = succeed("show", "raw:r.dat", "--dtype", "f32")
    assert "\nrange     -0.25 .. 1.5, 1 nan, 1 inf\n" in out, out
    write("n.dat", struct.pack("<2f", float("nan"), float("nan")))
    assert "\nrange     no finite element, 2 nan, 0 inf\n" in succeed("show", "raw,dtype=f32:n.dat")
    write("i.dat", struct.pack("<2q", -2**63, 2**63 - 1))
    assert "\nrange     -9223372036854775808 .. 9223372036854775807\n" in succeed("show", "raw,dtype=i64:i.dat")
    assert "\nrange     9223372036854775807 .. 9223372036854775808\n" in succeed("show", "raw,dtype=u64:i.dat")
    write("b.dat", bytes(1200))
    assert "[0 0 0 ... 0 0 0]" in succeed("show", "raw,dtype=u8:b.dat")


def show_several():
    fetch("numpy_stored.npz")
    assert succeed("show", "numpy_stored.npz") == ("w      f32   (3, 4)\nflags  u1    (3)\nbig    i16   (5)\n"
                                                   "f      i64   (2, 3)\n")
    if not SAFETENSORS:
        return "this build has no jansson"
    safetensors("m.safetensors", {"a": ["BF16", [2], b"\x80\x3f\x00\x40"], "odd\x1b[2J": ["C64", [1], bytes(8)]})
    assert succeed("show", "m.safetensors") == (
        'a        bf16  (2)\nodd.[2J  tensor_open "m.safetensors:odd\x1b[2J": the tensor is of C64, which no dtype '
        'here is; '
        "pass the dtype u64 for its bits\n").replace("\x1b", ".")
    assert "range     1 .. 2\n" in succeed("show", "m.safetensors:a")
    return None


def show_an_image():
    fetch("objcopy.ihex")
    assert succeed("show", "objcopy.ihex", "--width", "32") == (
        "width     32\ndepth     1029\nwords     3 in 2 spans\n          0x400 .. 0x401\n          0x404 .. 0x404\n")
    write("gaps.hex", "".join("@%x 1\n" % (2 * i) for i in range(20)))
    out = succeed("show", "gaps.hex", "-w", "8")
    assert out.endswith("          0x1e .. 0x1e\n          ... 0x26\n") and "words     20 in 20 spans\n" in out, out
    refuse("tensordoor show: a memory image does not say how wide its words are; pass --width W", "show", "gaps.hex")


def images_change_their_format():
    fetch("objcopy.ihex", "objcopy.srec", "objcopy.vh", "firmware.elf")
    want = "04030201\n00070605\n@4\n00a2a1a0\n"
    names = ["ihex,base=0x1000:objcopy.ihex", "srec,base=0x1000:objcopy.srec",
             "readmemh,unit=byte,base=0x1000:objcopy.vh"]
    if ELF:
        names.append("elf,base=0x1000:firmware.elf")
    for name in names:
        succeed("convert", name, "a.hex", "--width", "32")
        assert read("a.hex") == want, (name, read("a.hex"))
        for other in "b.memb", "b.ihex", "b.srec", "readmemh,unit=byte:b.txt", "ihex,endian=big,base=64:b.txt":
            succeed("convert", "a.hex", other, "--width", "32")
            succeed("convert", other, "c.hex", "--width", "32")
            assert read("c.hex") == want, (name, other, read("c.hex"))
    code, out, err = run("convert", "ihex,base=0x1004,outside=skip:objcopy.ihex", "o.hex", "--width", "32")
    assert (code, out) == (0, "") and err == (
        'tensordoor convert: "ihex,base=0x1004,outside=skip:objcopy.ihex": skipped 4 bytes outside the memory, at '
        '0x1000 '
        "to 0x1003\n"), err
    assert read("o.hex") == "00070605\n@3\n00a2a1a0\n", read("o.hex")
    write("x.hex", "1x z\n")
    succeed("convert", "readmemh,x=0:x.hex", "y.bin", "-w", "8")
    assert read("y.bin", "rb") == b"\x10\x00"
    refuse('tensordoor convert: memory_save_file "y.elf": elf files are read, not written; save as .hex, .bin, .ihex '
           'or '
           ".srec", "convert", "a.hex", "y.elf", "-w", "32")
    refuse("tensordoor convert: a memory image does not say how wide its words are; pass --width W", "convert", "a.hex",
           "y.srec")


def tensors_change_their_format():
    fetch("numpy_stored.npz")
    succeed("convert", "numpy_stored.npz:big", "a.npy")
    assert read("a.npy", "rb")[128:] == struct.pack("<5h", -2, -1, 0, 1, 2)
    succeed("convert", "a.npy", "raw,endian=big:a.dat")
    assert read("a.dat", "rb") == struct.pack(">5h", -2, -1, 0, 1, 2)
    succeed("convert", "raw,endian=big,dtype=i16:a.dat", "b.npy", "--as", "f32")
    assert read("b.npy", "rb")[128:] == struct.pack("<5f", -2, -1, 0, 1, 2)
    refuse('tensordoor convert: tensor_open "numpy_stored.npz": the file holds 4 tensors (w, flags, big, f); name one, '
           'as '
           "FILE:w", "convert", "numpy_stored.npz", "c.npy")
    if NPZ and SAFETENSORS:
        succeed("convert", "numpy_stored.npz", "all.safetensors")
        succeed("convert", "all.safetensors", "again.npz")
        for name in "w", "flags", "big", "f":
            want = succeed("show", "numpy_stored.npz:" + name).replace("dtype     u1\n", "dtype     u8\n")
            assert succeed("show", "again.npz:" + name) == want, name
        succeed("convert", "all.safetensors:w", "one.safetensors:x", "--as", "e4m3")
        assert "dtype     e4m3\n" in succeed("show", "one.safetensors")
        assert run("convert", "a.npy", "one.safetensors:y")[0] == 2


def what_is_no_conversion():
    fetch("numpy_stored.npz")
    write("a.hex", "1\n")
    refuse('tensordoor convert: "numpy_stored.npz:w" is a tensor and "a.srec" a memory image; a layout lies between '
           'them, so '
           "use tensordoor pack", "convert", "numpy_stored.npz:w", "a.srec")
    refuse('tensordoor convert: "a.hex" is a memory image and "a.npy" a tensor; a layout lies between them, so use '
           "tensordoor unpack", "convert", "a.hex", "a.npy")
    refuse("tensordoor convert: no A; see tensordoor convert --help", "convert")
    refuse("tensordoor convert: no B; see tensordoor convert --help", "convert", "a.npy")
    refuse('tensordoor convert: one argument too many: "c"; see tensordoor convert --help', "convert", "a", "b", "c")
    refuse('tensordoor convert: tensor_open "a.foo": the extension ".foo" is not that of a tensor file; use .npy, '
           '.npz, '
           ".safetensors or .raw (.gguf to read), or put the format in front, as npy:FILE", "convert", "a.foo", "b.npy")
    for command in "show", "convert":
        assert succeed(command, "--help").startswith("usage: tensordoor %s " % command)


def numpy_reads_what_we_write():
    if numpy is None:
        return "numpy is not there"
    if not NPZ:
        return "this build has no zlib"
    seed = numpy.random.default_rng(2)
    arrays = {"a/%d" % i: seed.integers(0, 100, size=(3, i + 1)).astype(kind)
              for i, kind in enumerate(("u1", "<i2", ">i4", "<f2", "<f4", ">f8", "?"))}
    numpy.savez("s.npz", **arrays)
    numpy.savez_compressed("d.npz", **arrays)
    for name in "s.npz", "d.npz":
        succeed("convert", name, "o.npz")
        back = numpy.load("o.npz")
        assert sorted(back) == sorted(arrays)
        for key, array in arrays.items():
            assert back[key].shape == array.shape and (back[key] == array).all(), (name, key)
    return None


main([
    show_a_tensor,
    show_several,
    show_an_image,
    images_change_their_format,
    tensors_change_their_format,
    what_is_no_conversion,
    numpy_reads_what_we_write,
])
