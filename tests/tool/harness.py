"""What the tests of the command share: running it, and tests that speak TAP, each in an empty folder of its own."""
import os
import pty
import subprocess
import sys
import tempfile

TOOL = os.path.abspath(sys.argv[1])
DATA = os.path.join(os.environ.get("TD_SOURCE_ROOT", ""), "tests", "data", "files")


def run(*args):
    done = subprocess.run([TOOL, *args], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def succeed(*args):
    code, out, err = run(*args)
    assert code == 0 and err == "", (args, code, out, err)
    return out


def refuse(message, *args):
    before = sorted(os.listdir("."))
    code, out, err = run(*args)
    assert code == 2 and out == "" and err == message + "\n", (args, code, out, err, message)
    assert sorted(os.listdir(".")) == before, "a refused call left files behind"


def stderr_on_a_terminal(*args):
    """The exit code of a call, and what it wrote to a stderr that is a terminal. None where there is no terminal to be
    had, as in a container without /dev/pts."""
    try:
        ours, theirs = pty.openpty()
    except OSError:
        return None
    child = subprocess.Popen([TOOL, *args], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 4096):
            seen += part
    except OSError:
        pass # a closed terminal ends with an error
    os.close(ours)
    return child.wait(), seen


def write(name, data):
    with open(name, "wb" if isinstance(data, bytes) else "w") as file:
        file.write(data)


def read(name, mode="r"):
    with open(name, mode) as file:
        return file.read()


def main(tests):
    failed = 0
    print("1..%d" % len(tests))
    for number, test in enumerate(tests, 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                skipped = test()
                print("ok %d - %s%s" % (number, test.__name__, " # SKIP " + skipped if skipped else ""))
            except AssertionError as error:
                failed += 1
                print("not ok %d - %s\n# %s" % (number, test.__name__, str(error).replace("\n", "\n# ")))
            os.chdir("/")
    sys.exit(1 if failed else 0)
