"""The command's code: images into coded words and back, with what was wrong in them. Speaks TAP."""
from harness import main, read, refuse, run, succeed, write


def words(name):
    return [word for word in read(name).split() if not word.startswith(("@", "//"))]


def code_and_back():
    write("a.hex", "cafef00d\n00000001\n@10\n0\n")
    succeed("code", "a.hex", "b.hex", "--code", "39_32", "--width", "32")
    assert words("b.hex") == ["74cafef00d", "1900000001", "0000000000"], read("b.hex")
    assert succeed("code", "b.hex", "c.hex", "--check", "--code", "39_32", "--width", "32") == (
        "3 words, 0 errors corrected, 0 not correctable\n")
    assert words("c.hex") == ["cafef00d", "00000001", "00000000"], read("c.hex")


def errors_are_said():
    write("b.hex", "74cafef00c\n1900000002\n@10\n4000000000\n")
    code, out, err = run("code", "b.hex", "c.hex", "--check", "--code", "39_32", "--width", "32")
    assert code == 1 and err == "", (code, err)
    assert out == ("3 words, 2 errors corrected, 1 not correctable\n"
                   "word 0x0 subword 0: bit 0 corrected\n"
                   "word 0x1 subword 0: not correctable, syndrome 0x4d\n"
                   "word 0x10 subword 0: bit 38 corrected\n"), out
    assert words("c.hex") == ["cafef00d", "00000002", "00000000"], read("c.hex")


def addresses_are_covered():
    write("a.hex", "".join("%02x\n" % i for i in range(40)))
    succeed("code", "a.hex", "b.hex", "--code", "hsiao address=6", "--width", "8")
    coded = words("b.hex")
    write("moved.hex", "\n".join(coded[i ^ 1] for i in range(40)))
    code, out, _ = run("code", "moved.hex", "c.hex", "--check", "--code", "hsiao address=6", "--width", "8")
    assert code == 1, out
    lines = out.split("\n")
    assert lines[0] == "40 words, 0 errors corrected, 40 not correctable", out
    assert lines[1] == "word 0x0 subword 0: bit 0 of the address is wrong", out
    assert lines[-2] == "and 24 more", out


def refusals():
    write("a.hex", "0\n")
    refuse("tensordoor code: code_create \"39_32\": 40 data bits are no whole subwords of 32; pass 32 or 64 bits, or "
           "hsiao subword=N with an N that divides 40", "code", "a.hex", "b.hex", "--code", "39_32", "--width", "40")


main([code_and_back, errors_are_said, addresses_are_covered, refusals])
