"""The command's parts: a tensor into a file of its parts, those through layouts into images, and back. Speaks TAP."""
import struct

from harness import main, read, refuse, succeed


def floats(name):
    data = read(name, "rb")
    return list(struct.unpack("<%df" % ((len(data) - 128) // 4), data[128:]))


def parts_and_back():
    succeed("fill", "ramp start=-6 step=0.5", "-o", "w.npy", "--shape", "2 32", "--dtype", "f32")
    for name in ("p.npz", "p.safetensors"):
        succeed("parts", "w.npy", name, "--packing", "mxfp4 rule=rceil")
        succeed("parts", name, "back.npy", "--unpack", "--packing", "mxfp4", "--shape", "2 32")
        assert floats("back.npy")[:4] == [-6, -6, -4, -4], floats("back.npy")
        assert succeed("parts", name, "w.npy", "--fit", "--packing", "mxfp4") == (
            "2 of 2 scales and 64 of 64 elements are those of rule=rceil; the packing says rule=floor\n")


def parts_into_images():
    succeed("fill", "ramp start=-6 step=0.5", "-o", "w.npy", "--shape", "2 32", "--dtype", "f32")
    succeed("parts", "w.npy", "p.safetensors", "--packing", "mxfp4 rule=rceil")
    succeed("pack", "p.safetensors:scales", "-o", "s.hex", "--width", "16", "--pattern", "n k -> k n")
    assert read("s.hex").split()[-1] == "8280", read("s.hex")
    succeed("pack", "p.safetensors:elems", "-o", "e.hex", "--width", "128", "--pattern", "n k -> n k")
    assert read("e.hex").split()[-2].endswith("ccdd"), read("e.hex")


def refusals():
    succeed("fill", "ramp start=0 step=1", "-o", "w.npy", "--shape", "2 32", "--dtype", "f32")
    succeed("parts", "w.npy", "p.npz", "--packing", "mxfp4")
    refuse("tensordoor parts: --unpack needs the shape of the tensor; pass --shape, as \"64 128\"",
           "parts", "p.npz", "b.npy", "--unpack", "--packing", "mxfp4")
    refuse("tensordoor parts: --unpack and --fit are two things; pass one of them",
           "parts", "p.npz", "b.npy", "--unpack", "--fit", "--packing", "mxfp4")
    refuse("tensordoor parts: parts_join: the part \"elems\" of \"mxfp4\" is a tensor of e2m1, shape (2, 32); pass "
           "one of e2m1, shape (2, 16)", "parts", "p.npz", "b.npy", "--unpack", "--packing", "mxfp4", "--shape", "2 16")


main([parts_and_back, parts_into_images, refusals])
