"""The command's parts: a tensor into a file of its parts, those through layouts into images, and back. Speaks TAP."""
import struct

from harness import main, read, refuse, run, succeed


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


def sparse_parts_and_back():
    """The file knows which values there are, and how many: the packing need not say it."""
    succeed("fill", "sparse zeros=0.6 seed=7", "-o", "s.npy", "--shape", "64 64", "--dtype", "f32")
    succeed("parts", "s.npy", "p.npz", "--packing", "2:4 prune=magnitude")
    succeed("parts", "p.npz", "pruned.npy", "--unpack", "--packing", "2:4", "--shape", "64 64")
    for packing in ("2:4", "2:4 order=ampere", "2:4 spare=last index=u8", "4:8"):
        succeed("parts", "pruned.npy", "p.safetensors", "--packing", packing)
        succeed("parts", "p.safetensors", "back.npy", "--unpack", "--packing", packing, "--shape", "64 64")
        assert floats("back.npy") == floats("pruned.npy"), packing
    for packing in ("mask", "mask word=u8 first=msb", "mask word=u32 chunk=64 pointers=bytes", "csr", "csc", "coo",
                    "csr index=u16 base=1 pad=4 pointers=bytes", "runs", "nvdla group=512",
                    "nvdla group=512 reading=tool"):
        succeed("parts", "s.npy", "p.safetensors", "--packing", packing)
        succeed("parts", "p.safetensors", "back.npy", "--unpack", "--packing", packing, "--shape", "64 64")
        assert floats("back.npy") == floats("s.npy"), packing
    refuse('tensordoor parts: parts_create: packing "csr index=u32 base=0" does not say how many values there are, and '
           "of which dtype; add elem=f32 and count=100", "parts", "s.npy", "back.npy", "--unpack", "--packing", "csr",
           "--shape", "64 64")


def parts_into_images():
    succeed("fill", "ramp start=-6 step=0.5", "-o", "w.npy", "--shape", "2 32", "--dtype", "f32")
    succeed("parts", "w.npy", "p.safetensors", "--packing", "mxfp4 rule=rceil")
    succeed("pack", "p.safetensors:scales", "-o", "s.hex", "--width", "16", "--pattern", "n k -> k n")
    assert read("s.hex").split()[-1] == "8280", read("s.hex")
    succeed("pack", "p.safetensors:elems", "-o", "e.hex", "--width", "128", "--pattern", "n k -> n k")
    assert read("e.hex").split()[-2].endswith("ccdd"), read("e.hex")


def gguf(tensors):
    """A file of tensors: (name, dims with the fast one first, type, bytes)."""
    def text(t):
        return struct.pack("<Q", len(t)) + t.encode()
    head, data = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1) + text("a") + struct.pack("<IB", 7, 1), b""
    for name, dims, kind, content in tensors:
        head += text(name) + struct.pack("<I%dQIQ" % len(dims), len(dims), *dims, kind, len(data))
        data += content + bytes(-len(content) % 32)
    return head + bytes(-len(head) % 32) + data


def parts_of_files():
    block = struct.pack("<e32b", 0.5, *range(-16, 16))
    with open("m.gguf", "wb") as file:
        file.write(gguf([("norm", [2], 0, struct.pack("<2f", 1, 2)), ("blk.0.w", [32, 2], 8, block + block),
                         ("odd", [32], 20, bytes(18))]))
    assert succeed("show", "m.gguf") == "norm     f32   (2)\nblk.0.w  q8_0  (2, 32)\nodd      iq4_nl (32)\n"
    succeed("parts", "m.gguf:blk.0.w", "p.npz", "--open")
    succeed("parts", "m.gguf:blk.0.w", "w.npy", "--open", "--unpack")
    assert floats("w.npy")[32:35] == [-8, -7.5, -7], floats("w.npy")
    succeed("parts", "p.npz", "again.npy", "--unpack", "--packing", "q8_0", "--shape", "2 32")
    assert floats("again.npy") == floats("w.npy")
    with open("chip.txt", "w") as file:
        file.write("w: tensors p.npz; as q8_0 from elems=elems scales=scales\n")
    succeed("parts", "layout:chip.txt:w", "named.npy", "--open", "--unpack")
    assert floats("named.npy") == floats("w.npy")
    succeed("parts", "p.npz", "named.npy", "--open", "--unpack", "--packing", "q8_0 from elems=elems scales=scales")
    assert floats("named.npy") == floats("w.npy")
    refuse('tensordoor parts: parts_open "m.gguf:odd": the tensor is of iq4_nl, which is not read',
           "parts", "m.gguf:odd", "p.npz", "--open")
    refuse("tensordoor parts: --open and --fit are two things; pass one of them",
           "parts", "m.gguf:odd", "p.npz", "--open", "--fit")
    refuse("tensordoor parts: no --packing; see tensordoor parts --help", "parts", "m.gguf:odd", "p.npz")


def refusals():
    succeed("fill", "ramp start=0 step=1", "-o", "w.npy", "--shape", "2 32", "--dtype", "f32")
    succeed("parts", "w.npy", "p.npz", "--packing", "mxfp4")
    refuse("tensordoor parts: --unpack needs the shape of the tensor; pass --shape, as \"64 128\"",
           "parts", "p.npz", "b.npy", "--unpack", "--packing", "mxfp4")
    refuse("tensordoor parts: --unpack and --fit are two things; pass one of them",
           "parts", "p.npz", "b.npy", "--unpack", "--fit", "--packing", "mxfp4")
    refuse("tensordoor parts: parts_join: the part \"elems\" of \"mxfp4\" is a tensor of e2m1, shape (2, 32); pass "
           "one of e2m1, shape (2, 16)", "parts", "p.npz", "b.npy", "--unpack", "--packing", "mxfp4", "--shape", "2 16")


def differ(*args):
    code, out, err = run(*args)
    assert code == 1 and err == "", (args, code, out, err)
    return out


SCALES = "scales=s.hex; width 16; pattern n k -> k n"
ELEMS = ["--width", "128", "--pattern", "n k -> n k"]


def one_call():
    """pack, unpack and compare with a packing, beside the same in two steps."""
    succeed("fill", "ramp start=-6 step=0.5", "-o", "w.npy", "--shape", "2 32", "--dtype", "f32")
    succeed("parts", "w.npy", "p.safetensors", "--packing", "mxfp4 rule=rceil")
    succeed("pack", "p.safetensors:scales", "-o", "one.hex", "--width", "16", "--pattern", "n k -> k n")
    succeed("pack", "p.safetensors:elems", "-o", "two.hex", "--width", "128", "--pattern", "n k -> n k")
    succeed("pack", "w.npy", "--as", "mxfp4 rule=rceil axis=k", *ELEMS, "-o", "e.hex", "--part", SCALES)
    assert read("s.hex") == read("one.hex") and read("e.hex") == read("two.hex")
    succeed("unpack", "e.hex", "--as", "mxfp4", *ELEMS, "--part=" + SCALES, "-o", "back.npy", "--shape", "2 32",
            "--dtype", "f32")
    assert floats("back.npy")[:4] == [-6, -6, -4, -4], floats("back.npy")
    out = succeed("compare", "e.hex", "w.npy", "--as", "mxfp4 rule=rceil", *ELEMS, "--part", SCALES)
    assert out.startswith('compare "first" with golden f32 (2, 32) as mxfp4 rule=rceil, policy exact: all 64 '
                          'elements match\n'), out
    out = differ("compare", "e.hex", "w.npy", "--as", "mxfp4", *ELEMS, "--part", SCALES)
    assert "  2 of 2 scales and 64 of 64 elements are those of rule=rceil; the packing says rule=floor\n" in out, out
    succeed("compare", "e.hex", "w.npy", "--as", "mxfp4", *ELEMS, "--part", SCALES, "--policy", "ulp=1")


def one_call_by_file():
    succeed("fill", "ramp start=-6 step=0.5", "-o", "w.npy", "--shape", "2 32", "--dtype", "f32")
    with open("chip.txt", "w") as f:
        f.write("weights: pattern n k -> n k; as mxfp4 axis=k;\n part scales memory sbuf pattern n k -> k n\n")
    succeed("pack", "w.npy", "--layout", "chip.txt:weights", "--width", "128", "-o", "e.hex", "--part",
            "scales=s.hex; width 16")
    succeed("compare", "e.hex", "w.npy", "--layout", "chip.txt:weights", "--width", "128", "--part",
            "scales=s.hex; width 16; depth 1")


def one_call_refusals():
    succeed("fill", "ramp start=0 step=1", "-o", "w.npy", "--shape", "2 32", "--dtype", "f32")
    pack = ["pack", "w.npy", "--as", "mxfp4", *ELEMS, "-o", "e.hex"]
    with open("chip.txt", "w") as f:
        f.write("weights: pattern n k -> n k; as mxfp4 axis=k;\n part scales memory sbuf pattern n k -> k n\n")
    example = '"scales=s.hex; width 32; preset scale_128x4"'
    refuse("tensordoor pack: --part needs a value: --part " + example, *pack, "--part")
    refuse('tensordoor pack: --part is "scales"; it needs NAME=IMAGE, as in ' + example, *pack, "--part", "scales")
    refuse('tensordoor pack: --part scales: "wide" is none of width, depth, pattern, preset, options and address',
           *pack, "--part", "scales=s.hex; wide 8")
    refuse("tensordoor pack: --part scales says width twice; say it once", *pack, "--part",
           "scales=s.hex; width 8; width 9")
    refuse('tensordoor pack: --width is "8x"; it needs a whole number of at least 1, decimal or 0x', *pack, "--part",
           "scales=s.hex; width 8x")
    refuse('tensordoor pack: --part scales has no layout; add "; pattern n k -> n k" or "; preset NAME"', *pack,
           "--part", "scales=s.hex; width 8")
    refuse('tensordoor pack: parts_layout_spans: "scale" is no part of "mxfp4"; did you mean "scales"? they are elems, '
           "scales", *pack, "--part", "scale=s.hex; width 16; pattern n k -> k n")
    refuse("tensordoor pack: --part without a packing; pass --as, as \"mxfp4 rule=rceil\"", "pack", "w.npy", *ELEMS,
           "-o", "e.hex", "--part", SCALES)
    refuse("tensordoor pack: --banks and --part; parts lie in one image each, so drop --banks", *pack, "--banks", "2",
           "--part", SCALES)
    refuse("tensordoor pack: more than 7 --part; no packing has so many parts", *pack, *["--part", SCALES] * 8)
    by_file = ["pack", "w.npy", "--layout", "chip.txt:weights", "--width", "128", "-o", "e.hex"]
    refuse("tensordoor pack: --layout and a layout in --part scales; the layout file says it, so drop one", *by_file,
           "--part", SCALES)
    refuse("tensordoor pack: --part zeros is no part of the layout in the file", *by_file, "--part",
           "zeros=z.hex; width 8")
    succeed(*pack, "--part", SCALES)
    refuse("tensordoor compare: --mask and --part; a comparison of parts has none, so drop it", "compare", "e.hex",
           "w.npy", "--as", "mxfp4", *ELEMS, "--part", SCALES, "--mask", "w.npy")


main([parts_and_back, sparse_parts_and_back, parts_into_images, parts_of_files, refusals, one_call, one_call_by_file,
      one_call_refusals])
