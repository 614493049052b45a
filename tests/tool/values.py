"""The command's conversions: pack and unpack with --as, with one scale and with one for each channel. Speaks TAP."""
import struct

from harness import main, read, refuse, succeed


def npy(name, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + (header.ljust(117) + "\n").encode() + data)


def floats(name):
    data = read(name, "rb")
    return list(struct.unpack("<%df" % ((len(data) - 128) // 4), data[128:]))


LAYOUT = ["--width", "32", "--pattern", "o i -> o i"]


def quantised_and_back():
    npy("w.npy", "<f4", (2, 4), struct.pack("<8f", 0, 0.05, -0.1, 0.074, 6.2, 7, -6.55, -100))
    kind = "i8 scale=0.05 zero=3 round=even sat"
    succeed("pack", "w.npy", "-o", "w.hex", *LAYOUT, "--as", kind)
    assert read("w.hex").split()[-2:] == ["04010403", "80807f7f"], read("w.hex")
    succeed("unpack", "w.hex", "-o", "back.npy", *LAYOUT, "--shape", "2 4", "--dtype", "f32", "--as", kind)
    scale = struct.unpack("<f", struct.pack("<f", 0.05))[0]
    single = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
    assert floats("back.npy") == [single(scale * q) for q in (0, 1, -2, 1, 124, 124, -131, -131)], floats("back.npy")


def a_scale_for_each_channel():
    npy("w.npy", "<f4", (2, 4), struct.pack("<8f", 1, 2, 3, 4, 1, 2, 3, 4))
    npy("s.npy", "<f4", (2,), struct.pack("<2f", 1, 0.25))
    kind = "i8 scale=@s.npy axis=o"
    succeed("pack", "w.npy", "-o", "w.hex", *LAYOUT, "--as", kind)
    assert read("w.hex").split()[-2:] == ["04030201", "100c0804"], read("w.hex")
    succeed("unpack", "w.hex", "-o", "back.npy", *LAYOUT, "--shape", "2 4", "--dtype", "f32", "--as", kind)
    assert floats("back.npy") == [1, 2, 3, 4, 1, 2, 3, 4], floats("back.npy")


def narrow_floats():
    npy("w.npy", "<f4", (1, 8), struct.pack("<8f", 0, 0.5, 1, 1.5, -2, 3, 4, 100))
    succeed("pack", "w.npy", "-o", "w.hex", *LAYOUT, "--as", "e2m1")
    assert read("w.hex").split()[-1] == "765c3210", read("w.hex")


def refusals():
    npy("w.npy", "<f4", (2, 4), struct.pack("<8f", 0, 1, 2, 3, 4, 5, 6, 7))
    npy("s.npy", "<f4", (3,), struct.pack("<3f", 1, 2, 3))
    head = 'tensordoor pack: backdoor_load_tensor "w.hex": '
    for kind, text in [
        ("i8 scale=0.05 error",
         'element 7 is 7 (0x40e00000), which does not fit i8 (as "i8 error"); change the scale, or pass sat '
         "in place of error"),
        ("i8 scale=@s.npy axis=o", "scale=@s.npy has 3 values, and axis o has 2 coordinates; pass 2 values"),
    ]:
        refuse(head + text, "pack", "w.npy", "-o", "w.hex", *LAYOUT, "--as", kind)


def filled_from_words():
    words = "uniform min=-3 max=4 seed=7"
    succeed("fill", words, "-o", "a.npy", "--shape", "40 50", "--dtype", "i8")
    succeed("fill", words, "-o", "b.npy", "--shape", "40 50", "--dtype", "i8")
    data = read("a.npy", "rb")
    assert data == read("b.npy", "rb")
    values = struct.unpack("2000b", data[128:])
    assert set(values) == set(range(-3, 5)), set(values)
    refuse('tensordoor fill: tensor_fill: unknown word "mim=1" in "uniform mim=1"; did you mean "min="? uniform has '
           'min=, '
           "max=, zeros=, seed=", "fill", "uniform mim=1", "-o", "c.npy", "--shape", "4", "--dtype", "i8")


main([quantised_and_back, filled_from_words, a_scale_for_each_channel, narrow_floats, refusals])
