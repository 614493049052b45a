"""The command's layouts: explain, presets, layout files and images of several banks."""
import os
import struct
import xml.dom.minidom

from harness import main, read, refuse, run, succeed, write


def npy(name, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + (header.ljust(117) + "\n").encode() + data)


SPEC = """# shared with the golden model
rows:  pattern r (ct cs) -> (r ct) cs; options cs=4; address 0x10 + index
banks: pattern r (ct cs) -> (r ct) cs; options cs=4;
       address bank = index % 3; addr = index / 3
"""
SHAPE = ["--shape", "5 8", "--dtype", "u8"]


def tensor():
    npy("a.npy", "|u1", (5, 8), bytes(range(40)))
    write("spec.txt", SPEC)


def layouts_come_from_files():
    tensor()
    succeed("pack", "a.npy", "-o", "a.hex", "-w", "32", "--layout", "spec.txt:rows")
    succeed("pack", "a.npy", "-o", "b.hex", "-w", "32", "-p", "r (ct cs) -> (r ct) cs", "--options", "cs=4",
            "--address", "16 + index")
    assert read("a.hex") == read("b.hex") and read("a.hex").startswith("@10\n03020100\n"), read("a.hex")
    succeed("unpack", "a.hex", "-o", "b.npy", "-w", "32", "-l", "spec.txt:rows", *SHAPE)
    assert read("b.npy", "rb") == read("a.npy", "rb")
    refuse('tensordoor pack: layout_open "spec.txt": no layout row; did you mean rows?', "pack", "a.npy", "-o",
           "x.hex", "-w", "32",
           "--layout", "spec.txt:row")
    refuse('tensordoor pack: --layout is "spec.txt"; it needs FILE:NAME, as in layouts.txt:weights', "pack", "a.npy",
           "-o", "x.hex",
           "-w", "32", "--layout", "spec.txt")
    refuse("tensordoor pack: two of --pattern, --preset and --layout; pass one", "pack", "a.npy", "-o", "x.hex", "-w",
           "32",
           "--layout", "spec.txt:rows", "--preset", "vnni")
    refuse("tensordoor pack: --layout and --options; the layout file says it, so drop one", "pack", "a.npy", "-o",
           "x.hex", "-w", "32",
           "--layout", "spec.txt:rows", "--options", "cs=4")
    refuse('tensordoor pack: no --pattern; pass --pattern P, the layout, as "b w (ct cs) -> (b w ct) cs"; or --preset '
           'or --layout',
           "pack", "a.npy", "-o", "x.hex", "-w", "32")


def banks_are_one_file_each():
    tensor()
    banks = ["-w", "32", "--layout", "spec.txt:banks", "--banks", "3"]
    succeed("pack", "a.npy", "-o", "a.%d.hex", *banks)
    words = ["%02x%02x%02x%02x" % (4 * i + 3, 4 * i + 2, 4 * i + 1, 4 * i) for i in range(10)]
    for bank in range(3):
        assert read("a.%d.hex" % bank).split() == words[bank::3], bank
    succeed("unpack", "a.%d.hex", "-o", "b.npy", *banks, *SHAPE)
    assert read("b.npy", "rb") == read("a.npy", "rb")
    succeed("pack", "a.npy", "-o", "many.%d.hex", "-w", "32", "--layout", "spec.txt:banks", "--banks", "4")
    assert read("many.3.hex") == "" and read("many.2.hex") == read("a.2.hex")


def banks_that_fail_leave_nothing():
    tensor()
    layout = ["-w", "32", "--layout", "spec.txt:banks"]
    refuse('tensordoor pack: "a.hex" is one file for the banks; write %d where the bank\'s number belongs, as in '
           'OUT.%d.hex', "pack",
           "a.npy", "-o", "a.hex", *layout, "--banks", "3")
    refuse('tensordoor pack: backdoor_load_tensor "a.0.hex": bank 2 of word r=1 ct=0 of "r (ct cs) -> (r ct) cs" is '
           'not one of the 2 '
           "memories; pass at least 3 or change the bank", "pack", "a.npy", "-o", "a.%d.hex", *layout, "--banks", "2")
    os.mkdir("a.2.hex")  # the third image cannot be written: the first two must not stay
    code, _, err = run("pack", "a.npy", "-o", "a.%d.hex", *layout, "--banks", "3")
    assert code == 2 and err.count("\n") == 1, err
    assert not os.path.exists("a.0.hex") and not os.path.exists("a.1.hex")
    os.rmdir("a.2.hex")
    succeed("pack", "a.npy", "-o", "a.%d.hex", *layout, "--banks", "3")
    write("a.1.hex", "07060504\n")
    refuse('tensordoor unpack: "a.1.hex" ends at word 0x0, the layout reads up to 0x2; if the words behind the end are '
           'zero, pass '
           "--depth 3", "unpack", "a.%d.hex", "-o", "b.npy", *layout, "--banks", "3", *SHAPE)


def presets_have_names():
    out = succeed("presets")
    assert "\nnc1hwc0\n    Ascend NC1HWC0: channels in blocks of 32 bytes\n    parameters  c0 base\n" in out, out
    assert succeed("presets", "vnni") == (
        "vnni\n    VNNI B operand: 32 bits of consecutive k side by side\n    parameters  k0 base\n"
        "    pattern     (k1 k0) n -> (k1 n) k0\n    options     k0=4 pad=0\n")
    assert "address     rev(n, 10)   with bits=10\n" in succeed("presets", "fft_bitrev")
    refuse('tensordoor presets: unknown preset "vnnj"; did you mean vnni?', "presets", "vnnj")
    refuse('tensordoor presets: unknown preset "zzzzzzzz"; see tensordoor presets', "presets", "zzzzzzzz")
    npy("a.npy", "|i1", (8, 2), bytes(range(16)))
    succeed("pack", "a.npy", "-o", "a.hex", "-w", "32", "--preset", "vnni base=2")
    assert read("a.hex") == "@2\n06040200\n07050301\n0e0c0a08\n0f0d0b09\n", read("a.hex")


def explain_shows_words():
    out = succeed("explain", "-p", "r (ct cs) -> (r ct) cs", "--options", "cs=4", "--shape", "2 8", "--dtype", "i16",
                  "--width", "64")
    assert out.startswith("pattern   r (ct cs) -> (r ct) cs\noptions   cs=4\naddress   index\n"), out
    assert "\n  0x0003  (1,4) (1,5) (1,6) (1,7)\n" in out and "\nplan      move " in out, out
    tensor()
    assert "3 banks\n" in succeed("explain", "--layout", "spec.txt:banks", *SHAPE, "--banks", "3")
    refuse('tensordoor explain: layout_explain: bank 2 of word r=1 ct=0 of "r (ct cs) -> (r ct) cs" is not one of the '
           '2 memories; pass '
           "at least 3 or change the bank", "explain", "--layout", "spec.txt:banks", *SHAPE, "--banks", "2")


def explain_draws():
    args = ["explain", "--preset", "nc1hwc0 c0=4", "--shape", "1 6 2 2", "--dtype", "f16", "--svg"]
    succeed(*args, "a.svg")
    svg = read("a.svg")
    xml.dom.minidom.parseString(svg)
    assert svg.startswith("<svg ") and svg.endswith("</svg>\n") and "colour: c1" in svg
    succeed(*args, "a.svg", "--colour", "h")
    assert "colour: h" in read("a.svg")
    refuse('tensordoor explain: layout_svg: no axis q in "n (c1 c0) h w -> (n c1 h w) c0" to colour by; name one of '
           'its axes', *args,
           "b.svg", "--colour", "q")
    refuse('tensordoor explain: cannot write "no/b.svg": No such file or directory; check the folder and its '
           'permissions', *args,
           "no/b.svg")


TESTS = [
    layouts_come_from_files,
    banks_are_one_file_each,
    banks_that_fail_leave_nothing,
    presets_have_names,
    explain_shows_words,
    explain_draws,
]

main(TESTS)
