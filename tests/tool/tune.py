"""`tensordoor tune`, short and small: what it measures is the machine's; what it prints, keeps and refuses is here."""
import os
import re
import subprocess

from harness import TOOL, main, read, refuse, stderr_on_a_terminal, succeed, write

QUICK = ["tune", "--seconds", "1", "--most", "262144"]
NAMES = ["thread_bytes", "thread_ns", "part_bytes", "stream_copy_bytes", "stream_rows_bytes", "stream_transpose_bytes",
         "stream_convert_bytes", "tile_bytes", "tile_far_bytes", "slab_bytes", "slab_contiguous_bytes"]


def with_environment(env, *args):
    clean = {k: v for k, v in os.environ.items() if k not in ("TD_TUNE", "XDG_CACHE_HOME", "HOME")}
    done = subprocess.run([TOOL, *args], capture_output=True, text=True, env={**clean, **env})
    return done.returncode, done.stdout, done.stderr


def tuning(env):
    code, out, err = with_environment(env, "info")
    assert code == 0 and err == "", (code, err)
    (line,) = [line for line in out.splitlines() if line.startswith("tuning ")]
    return line[10:]


def measures_and_keeps():
    cache = os.path.join(os.getcwd(), "cache")
    path = cache + "/tensordoor/tune"
    assert tuning({"XDG_CACHE_HOME": cache}) == "the defaults; run `tensordoor tune` to measure this machine"
    code, out, err = with_environment({"XDG_CACHE_HOME": cache}, *QUICK)
    assert code == 0 and err == "", (code, err)
    lines = out.splitlines()
    assert lines[0].split() == ["threshold", "default", "now"], out
    assert [line.split()[0] for line in lines[1:1 + len(NAMES)]] == NAMES, out
    cases = [line for line in lines if re.search(r" \d+\.\d+ +\d+\.\d+ +\d\.\d\d\d  \d\.\d\d\d \.\. \d\.\d\d\d", line)]
    assert any(line.startswith("transpose u8, 256 KiB ") for line in cases), out
    said = {re.split(r" \.\. \d\.\d\d\d", line)[1].strip() for line in cases}
    assert said <= {"", "faster", "slower", "the default", "back to the default"}, said
    assert re.fullmatch(r"measured in \d+ s; kept in " + re.escape(path), lines[-1]), out
    kept = read(path).splitlines()
    assert kept[0] == "tensordoor thresholds 1" and [line.split()[0] for line in kept[3:-1]] == NAMES, kept
    assert oct(os.stat(os.path.dirname(path)).st_mode & 0o777) == "0o700"
    assert os.listdir(os.path.dirname(path)) == ["tune"]
    assert tuning({"XDG_CACHE_HOME": cache}) == "from " + path
    assert tuning({"XDG_CACHE_HOME": cache, "TD_TUNE": "off"}) == "the defaults, as TD_TUNE is off"
    code, out, err = with_environment({"XDG_CACHE_HOME": cache}, "tune", "--show")
    assert code == 0 and out.startswith("thresholds: from %s\nthreshold " % path), out


def keeps_elsewhere_or_nothing():
    assert succeed(*QUICK, "--dry-run").endswith(" s; nothing was kept\n")
    assert os.listdir(".") == []
    assert succeed(*QUICK, "-o", "here").endswith(" s; kept in here\n")
    assert tuning({"TD_TUNE": "here"}) == "from here"


def one_processor_has_no_threads():
    few = {min(os.sched_getaffinity(0))}
    done = subprocess.run([TOOL, *QUICK, "--dry-run"], capture_output=True, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, few))
    assert done.returncode == 0 and done.stderr == "", done
    assert "\none processor: the thresholds of threads were not measured\n" in done.stdout, done.stdout


def says_why_a_file_is_ignored():
    succeed(*QUICK, "-o", "here")
    advice = "; run `tensordoor tune` to measure this machine"
    text = read("here")
    write("here", text[:-1])
    assert tuning({"TD_TUNE": "here"}) == "the defaults; here is ignored: it is damaged: its sum is wrong" + advice
    write("here", "")
    assert tuning({"TD_TUNE": "here"}) == "the defaults; here is ignored: it is damaged: it has 0 bytes" + advice
    assert tuning({"TD_TUNE": "/dev/zero"}) == "the defaults; /dev/zero is ignored: it is no plain file" + advice
    # A sum of its own, for lines that another machine or version would have written.
    for word, other, reason in (("version ", "version 9", "it is of version 90.1.0, and this is 0.1.0"),
                                ("processor ", "processor Z80 ", "it is of another processor, Z80 ")):
        body = text[:text.index("sum ")].replace(word, other)
        digest = 0xcbf29ce484222325
        for byte in body.encode():
            digest = (digest ^ byte) * 0x100000001b3 % 2**64
        write("here", body + "sum %016x\n" % digest)
        note = tuning({"TD_TUNE": "here"})
        assert note.startswith("the defaults; here is ignored: " + reason), note


def a_bar_on_a_terminal():
    done = stderr_on_a_terminal(*QUICK, "--dry-run")
    if done is None:
        return "no terminal to be had"
    code, seen = done
    assert code == 0
    assert re.search(rb"\[#*\.*\] \d+/\d+ (copy|transpose|pack|convert|compare) [^\r]*, \d+ s left", seen), seen[:400]
    assert seen.endswith(b"\r\x1b[K"), seen[-80:]
    return None


def refusals():
    refuse("tensordoor tune: --seconds is 601; pass 1 to 600", "tune", "--seconds", "601")
    refuse("tensordoor tune: --most is 65535; pass at least 65536", "tune", "--most", "65535")
    code, out, err = with_environment({"TD_TUNE": "off"}, *QUICK)
    assert (code, out, err) == (2, "", "tensordoor tune: tune_file: there is no file for thresholds: TD_TUNE is off; "
                                "unset it\n"), (code, out, err)
    code, out, err = with_environment({}, *QUICK)
    assert (code, out, err) == (
        2, "", "tensordoor tune: tune_file: there is no file for thresholds: neither XDG_CACHE_HOME nor HOME is a "
        "folder from the root; set one, or TD_TUNE to a path\n"), (code, out, err)


main([measures_and_keeps, keeps_elsewhere_or_nothing, one_processor_has_no_threads, says_why_a_file_is_ignored,
      a_bar_on_a_terminal, refusals])
