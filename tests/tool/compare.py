"""The command's comparisons: compare and diff, their exit codes, texts and JSON, and the bar while they work. Speaks
TAP."""
import json
import os
import struct

from harness import main, read, refuse, run, stderr_on_a_terminal, succeed, write

LAYOUT = ["--width", "32", "--pattern", "r c -> r c"]
WIDE = ["--width", "64", "--pattern", "b w (ct cs) -> (b w ct) cs", "--options", "cs=4"]


def npy(name, descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + (header.ljust(117) + "\n").encode() + data)


def differ(*args):
    code, out, err = run(*args)
    assert code == 1 and err == "", (args, code, out, err)
    return out


def equal_images():
    npy("g.npy", "|i1", (3, 4), bytes(range(12)))
    succeed("pack", "g.npy", "-o", "m.hex", *LAYOUT)
    out = succeed("compare", "m.hex", "g.npy", *LAYOUT)
    assert out == 'compare "m.hex" with golden i8 (3, 4), policy exact: all 12 elements match\n', out
    found = json.loads(succeed("compare", "m.hex", "g.npy", *LAYOUT, "--json"))
    assert found["passed"] and found["compared"] == 12 and found["mismatches"] == 0 and found["first"] == [], found
    assert found["layout"]["pattern"] in LAYOUT and found["layout"]["address"] == "", found["layout"]
    assert found["golden"] == "g.npy" and "time" not in found, found


def a_mismatch_has_its_place():
    npy("g.npy", "<i2", (2, 3, 8), struct.pack("<48h", *range(48)))
    succeed("pack", "g.npy", "-o", "m.hex", *WIDE)
    words = read("m.hex").split()
    words[5] = words[5][:4] + "0fff" + words[5][8:]
    write("m.hex", "\n".join(words) + "\n")
    found = json.loads(differ("compare", "m.hex", "g.npy", *WIDE, "--json"))
    assert found["compared"] == 48 and found["mismatches"] == 1, found
    first = found["first"][0]
    assert {key: first[key] for key in ("at", "expected", "actual", "address", "bank", "msb", "lsb")} == {
        "at": [0, 2, 6], "expected": 22, "actual": 0xFFF, "address": 5, "bank": 0, "msb": 47, "lsb": 32}, first
    out = differ("compare", "m.hex", "g.npy", *WIDE, "--html", "r.html")
    assert "(0, 2, 6)  22 (0x0016)  4095 (0x0fff)" in out and out.endswith("  page: r.html\n"), out
    assert "<!doctype html>" in read("r.html")


def policies_and_conversion():
    npy("g.npy", "<f4", (2, 4), struct.pack("<8f", 0, 0.05, -0.1, 0.074, 1.2, 3, -2.55, -1))
    kind = ["--as", "i8 scale=0.05"]
    succeed("pack", "g.npy", "-o", "m.hex", *LAYOUT, *kind)
    succeed("compare", "m.hex", "g.npy", *LAYOUT, *kind, "--policy", "atol=0.025 rtol=1e-6")
    out = differ("compare", "m.hex", "g.npy", *LAYOUT, *kind, "--policy", "atol=0.001")
    assert "1 of 8 elements differs" in out and "0.074" in out, out


def banks_masks_and_snapshots():
    layout = ["--width", "32", "--pattern", "r c -> r 1 c", "--banks", "2"]
    npy("g.npy", "|u1", (2, 4), bytes(range(8)))
    npy("k.npy", "|u1", (2, 4), bytes([1, 1, 1, 1, 1, 1, 0, 1]))
    succeed("pack", "g.npy", "-o", "m.%d.hex", *layout)
    succeed("compare", "m.%d.hex", "g.npy", *layout)
    write("m.1.hex", "07ff0504\n")
    assert json.loads(differ("compare", "m.%d.hex", "g.npy", *layout, "--json"))["first"][0]["bank"] == 1
    out = succeed("compare", "m.%d.hex", "g.npy", *layout, "--mask", "k.npy")
    assert "all 7 elements match (1 masked)" in out, out
    write("before.hex", "03020100\n00000000\n")
    write("after.hex", "03020100\n00000400\n")
    npy("one.npy", "|u1", (1, 4), bytes(range(4)))
    succeed("compare", "after.hex", "one.npy", *LAYOUT)
    out = differ("compare", "after.hex", "one.npy", *LAYOUT, "--snapshot", "before.hex")
    assert "1 bit in 1 word outside the layout changed" in out, out


def files_are_compared():
    npy("a.npy", "<f4", (2, 2), struct.pack("<4f", 1, 2, 3, 4))
    npy("b.npy", "<f4", (2, 2), struct.pack("<4f", 1, 2, 3.25, 4))
    succeed("diff", "a.npy", "a.npy")
    out = differ("diff", "a.npy", "b.npy")
    assert "(1, 0)  3 (0x40400000)  3.25 (0x40500000)" in out, out
    succeed("diff", "a.npy", "b.npy", "--policy", "atol=0.25")
    assert json.loads(differ("diff", "a.npy", "b.npy", "--json"))["memory"] is None


def what_is_refused():
    npy("a.npy", "<f4", (2, 2), struct.pack("<4f", 1, 2, 3, 4))
    npy("b.npy", "<f4", (4,), struct.pack("<4f", 1, 2, 3, 4))
    npy("g.npy", "|i1", (3, 4), bytes(range(12)))
    succeed("pack", "g.npy", "-o", "m.hex", *LAYOUT)
    refuse("tensordoor diff: tensor_compare: the expected tensor has shape (2, 2), the actual one (4); compare tensors "
           "of one "
           "shape", "diff", "a.npy", "b.npy")
    refuse("tensordoor diff: no ACTUAL; see tensordoor diff --help", "diff", "a.npy")
    refuse("tensordoor diff: --json takes no value; write --json alone", "diff", "a.npy", "b.npy", "--json=yes")
    refuse("tensordoor diff: unknown flag \"--polcy\"; did you mean --policy?", "diff", "a.npy", "b.npy", "--polcy",
           "x")
    refuse("tensordoor compare: no GOLDEN; see tensordoor compare --help", "compare", "m.hex", *LAYOUT)
    refuse("tensordoor compare: no --width; pass --width W, bits of a word", "compare", "m.hex", "g.npy", "--pattern",
           "r c -> r c")
    code, out, err = run("compare", "m.hex", "g.npy", *LAYOUT, "--policy", "ulps=1")
    assert code == 2 and out == "" and 'unknown word "ulps=1"; ' not in err and 'did you mean "ulp="?' in err, err
    code, out, err = run("compare", "m.hex", "g.npy", *LAYOUT, "--html", "no/where.html")
    assert code == 2 and out == "" and 'report_html "no/where.html": cannot create the file' in err, (out, err)
    npy("long.npy", "|i1", (4, 4), bytes(range(16)))
    refuse('tensordoor compare: "m.hex" ends at word 0x2, the layout reads up to 0x3; if the words behind the end are '
           'zero, pass '
           "--depth 4", "compare", "m.hex", "long.npy", *LAYOUT)


def a_bar_on_a_terminal_only():
    """Long work shows a bar on a terminal, clears it, and shows none elsewhere."""
    count = 64 << 20
    for name in ("a.npy", "b.npy"):
        npy(name, "<f4", (count,), b"")
        os.truncate(name, 128 + 4 * count)
    # Only NaN rules look at every pair one by one: slow enough for a bar.
    args = ["diff", "a.npy", "b.npy", "--policy", "nan=differ"]
    code, out, err = run(*args)
    assert code == 0 and err == "", err
    done = stderr_on_a_terminal(*args)
    if done is None:
        return "no terminal to be had"
    code, seen = done
    assert code == 0
    if not seen:
        return "this machine is too fast for a bar"
    assert b"\rtensordoor diff [" in seen and b" %" in seen and seen.endswith(b"\r\x1b[K"), seen
    return None


main([equal_images, a_mismatch_has_its_place, policies_and_conversion, banks_masks_and_snapshots, files_are_compared,
      what_is_refused,
      a_bar_on_a_terminal_only])
