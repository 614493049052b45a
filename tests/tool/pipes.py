"""The command in a pipe: - as a file, and outputs that are no files. Speaks TAP."""
import os
import stat
import struct
import subprocess

from harness import TOOL, main, read, succeed, write

LAYOUT = ["--width", "32", "--pattern", "r c -> r c"]


def npy(descr, shape, data):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(shape))
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + (header.ljust(117) + "\n").encode() + data


TENSOR = npy("|i1", (3, 4), bytes(range(12)))
IMAGE = b"03020100\n07060504\n0b0a0908\n"


def pipe(data, *args):
    """The command with `data` in a pipe as its standard input; what it writes to standard output."""
    done = subprocess.run([TOOL, *args], input=data, capture_output=True)
    assert done.returncode == 0 and done.stderr == b"", (args, done)
    return done.stdout


def from_pipe_to_pipe():
    assert pipe(TENSOR, "pack", "-", "-o", "-", *LAYOUT) == IMAGE
    assert pipe(TENSOR, "pack", "npy:-", "-o", "raw:-", *LAYOUT) == bytes(range(12))
    back = ["-o", "-", *LAYOUT, "--shape", "3 4", "--dtype", "i8"]
    assert pipe(IMAGE, "unpack", "-", *back) == TENSOR
    assert pipe(IMAGE, "unpack", "-", *back, "--depth", "3") == TENSOR
    assert pipe(bytes(range(12)), "unpack", "raw:-", *back) == TENSOR
    assert os.listdir(".") == []


def files_and_pipes():
    write("a.npy", TENSOR)
    assert pipe(b"", "pack", "a.npy", "-o", "-", *LAYOUT) == IMAGE
    assert pipe(TENSOR, "convert", "-", "b.npy") == b"" and read("b.npy", "rb") == TENSOR
    assert pipe(IMAGE, "convert", "-", "raw:-", "-w", "32") == bytes(range(12))
    assert b"(3, 4)" in pipe(TENSOR, "show", "-")
    assert b"all 12 elements match" in pipe(IMAGE, "compare", "-", "a.npy", *LAYOUT)
    big = npy("|i1", (1 << 21,), bytes(1 << 21))
    assert pipe(big, "convert", "-", "-") == big
    with open("a.npy", "rb") as file:  # redirected, not piped
        done = subprocess.run([TOOL, "pack", "-", "-o", "-", *LAYOUT], stdin=file, capture_output=True)
        assert (done.returncode, done.stdout) == (0, IMAGE), done


def outputs_that_are_no_files():
    write("a.npy", TENSOR)
    os.symlink("target.hex", "link.hex")
    succeed("pack", "a.npy", "-o", "link.hex", *LAYOUT)
    assert os.path.islink("link.hex") and read("target.hex", "rb") == IMAGE
    os.mkfifo("fifo")
    reader = subprocess.Popen(["cat", "fifo"], stdout=subprocess.PIPE)
    succeed("pack", "a.npy", "-o", "readmemh:fifo", *LAYOUT)
    assert reader.communicate()[0] == IMAGE and stat.S_ISFIFO(os.lstat("fifo").st_mode)
    try:
        os.mknod("null", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        open("null", "wb").close()
    except OSError:
        return "devices take root"
    succeed("pack", "a.npy", "-o", "raw:null", *LAYOUT)
    assert stat.S_ISCHR(os.lstat("null").st_mode)
    return None


def banks_that_fail_remove_no_device():
    """All images or none: those that were written are removed, but not what was there before and is no file."""
    write("a.npy", TENSOR)
    try:
        os.mknod("null0", stat.S_IFCHR | 0o600, os.makedev(1, 3))
        open("null0", "wb").close()
    except OSError:
        return "devices take root"
    os.mkdir("null1")
    done = subprocess.run([TOOL, "pack", "a.npy", "-o", "raw:null%d", "--width", "32", "--banks", "3", "--pattern",
                           "r c -> r () c"], capture_output=True)
    assert done.returncode == 2, done
    assert stat.S_ISCHR(os.lstat("null0").st_mode) and sorted(os.listdir(".")) == ["a.npy", "null0", "null1"]
    return None


def a_reader_that_leaves():
    write("big.npy", npy("|i1", (1 << 22,), bytes(1 << 22)))
    tool = subprocess.Popen([TOOL, "convert", "big.npy", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tool.stdout.read(1)
    tool.stdout.close()
    error = tool.stderr.read()
    assert tool.wait() == 2, tool.returncode
    assert error == (b'tensordoor convert: tensor_save "-": cannot write the file: Broken pipe; a part of it may have '
                     b'been '
                     b"written\n"), error


main([from_pipe_to_pipe, files_and_pipes, outputs_that_are_no_files, banks_that_fail_remove_no_device,
      a_reader_that_leaves])
