"""tensordoor run: programs on memory images."""
import json
import os
import xml.etree.ElementTree as xml

from harness import main, read, refuse, run, succeed, write

PROGRAM = """arg start = 1
layout rows = "r c -> r c"
tensor x = fill i8 4x4 ramp start={start} step=1
label load:
  load wbuf (clamp x -100 100) rows
label check:
  checkpoint first wbuf x rows
  checkpoint second obuf x rows at 2
"""
IMAGE = "04030201\n08070605\n0c0b0a09\n100f0e0d\n"


def files():
    write("infer.td", PROGRAM)
    write("obuf.hex", "00000000\n" * 2 + IMAGE)


def both():
    return ["infer.td", "--memory", "wbuf=:32x4", "--memory=obuf=obuf.hex:32"]


def loads_are_written_and_checked():
    files()
    out = succeed("run", *both(), "-o", "out")
    assert "first" in out and "second" in out, out
    assert os.listdir("out") == ["wbuf.hex"]  # the program only reads obuf
    words = [line for line in read("out/wbuf.hex").split() if not line.startswith("@")]
    assert words == IMAGE.split(), words


def a_label_alone_and_its_image_again():
    files()
    assert succeed("run", *both(), "--label", "load", "--args", "start=17", "-o", "out") == ""
    code, out, err = run("run", "infer.td", "--memory", "wbuf=out/wbuf.hex:32", "--memory", "obuf=obuf.hex:32",
                         "--label", "check", "--json", "--junit", "junit.xml", "--html", "page.html")
    assert code == 1 and err == "", (code, err)
    found = json.loads(out)
    assert [c["name"] for c in found["checkpoints"]] == ["first", "second"], found
    suite = xml.parse("junit.xml").getroot()
    cases = list(suite.iter("testcase"))
    assert [c.get("name") for c in cases] == ["first", "second"]
    assert [c.find("failure") is not None for c in cases] == [True, False]
    assert "<html" in read("page.html")


def check_and_explain_run_nothing():
    files()
    assert succeed("run", *both(), "--check", "-o", "out") == ""
    assert "fuse" in succeed("run", *both(), "--explain")
    assert not os.path.exists("out")


BANKED = """layout striped = "(r b) c -> b r c; b=2"
tensor x = fill i8 4x4 ramp start=1 step=1
label load:
  load wbuf x striped
label check:
  checkpoint back wbuf x striped
"""


def banks_have_an_image_each():
    write("banks.td", BANKED)
    memory = ["--banks", "wbuf=2", "--memory"]
    succeed("run", "banks.td", *memory, "wbuf=:32x2", "-o", "out")
    assert sorted(os.listdir("out")) == ["wbuf.0.hex", "wbuf.1.hex"]
    for bank in range(2):
        words = [line for line in read(f"out/wbuf.{bank}.hex").split() if not line.startswith("@")]
        assert words == IMAGE.split()[bank::2], words
    succeed("run", "banks.td", *memory, "wbuf=out/wbuf.%d.hex:32", "--label", "check")
    write("out/wbuf.1.hex", "00000000\n00000000\n")
    code, out, err = run("run", "banks.td", *memory, "wbuf=out/wbuf.%d.hex:32", "--label", "check")
    assert code == 1 and err == "" and "back" in out, (code, out, err)
    refuse('tensordoor run: "out/wbuf.hex" is one file for the banks; write %d where the bank\'s number belongs, as in '
           "OUT.%d.hex", "run", "banks.td", *memory, "wbuf=out/wbuf.hex:32")
    refuse('tensordoor run: --banks is "wbuf"; it needs NAME=N, as wbuf=4', "run", "banks.td", "--banks", "wbuf")
    refuse('tensordoor run: --banks is "wbuf=0"; it needs NAME=N, as wbuf=4', "run", "banks.td", "--banks", "wbuf=0")
    refuse('tensordoor run: --banks is "wbuf=9999"; it needs at most 1024', "run", "banks.td", "--banks", "wbuf=9999")
    refuse('tensordoor run: --banks names "wbuf", which no --memory does; pass --memory wbuf=IMAGE:WIDTH too', "run",
           "banks.td", "--banks=wbuf=2")
    refuse("tensordoor run: --banks needs a value: --banks wbuf=4", "run", "banks.td", "--banks")


def a_picture_of_every_pass():
    files()
    assert succeed("run", *both(), "--svg", "passes.svg", "-o", "out") == ""
    drawn = xml.parse("passes.svg").getroot()
    words = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text") if text.get("font-weight") == "bold"]
    assert [word.split(":")[0] for word in words] == ["as written", "hoist", "view", "join", "fuse", "drop"], words
    assert not os.path.exists("out")
    write("file", "")
    refuse('tensordoor run: cannot write "file/a.svg": Not a directory; check the folder and its permissions',
           "run", *both(), "--svg", "file/a.svg")


def refused():
    files()
    refuse("tensordoor run: no PROGRAM.td; see tensordoor run --help", "run")
    refuse('tensordoor run: --memory is "wbuf"; it needs NAME=IMAGE:WIDTH, as wbuf=wbuf.hex:128', "run", "infer.td",
           "--memory", "wbuf")
    refuse('tensordoor run: --memory is "wbuf=:x4"; it needs NAME=IMAGE:WIDTH, as wbuf=wbuf.hex:128', "run",
           "infer.td", "--memory", "wbuf=:x4")
    refuse('tensordoor run: --memory is "wbuf=:32x0"; it needs NAME=IMAGE:WIDTH, as wbuf=wbuf.hex:128', "run",
           "infer.td", "--memory", "wbuf=:32x0")
    refuse('tensordoor run: --memory "wbuf=:32" has no image and no depth; pass wbuf=:32x1024', "run", "infer.td",
           "--memory", "wbuf=:32")
    refuse("tensordoor run: --memory needs a value: --memory wbuf=wbuf.hex:128", "run", "infer.td", "--memory")
    refuse('tensordoor run: the program uses memory "obuf"; pass --memory obuf=IMAGE:WIDTH', "run", "infer.td",
           "--memory", "wbuf=:32x64")
    refuse("tensordoor run: more than 256 --memory; bind fewer", "run", "infer.td", *["--memory", "a=:8x1"] * 257)
    code, out, err = run("run", "infer.td", "--memory", "wbuf=:32x4", "--memory", "obuf=:32x5", "-o", "out")
    assert code == 2 and out == "" and err.startswith("tensordoor run: "), (code, out, err)
    assert "obuf" in err and "^" in err and "infer.td:8" in err, err
    assert not os.path.exists("out")
    write("file", "")
    refuse('tensordoor run: cannot create the folder "file/out": Not a directory; check the path and its permissions',
           "run", *both(), "-o", "file/out")
    refuse('tensordoor run: cannot write "file/junit.xml": Not a directory; check the folder and its permissions',
           "run", *both(), "--junit", "file/junit.xml")
    many = [word for i in range(256) for word in ("--memory", f"m{i}=:32x1")]
    refuse("tensordoor run: more than 256 memories; bind fewer", "run", "infer.td", *many, "--banks", "b=2")
    refuse("tensordoor run: more than 256 --memory; bind fewer", "run", "infer.td", *many, "--memory", "b=:32x1")


main([loads_are_written_and_checked, a_label_alone_and_its_image_again, check_and_explain_run_nothing,
      banks_have_an_image_each, a_picture_of_every_pass, refused])
