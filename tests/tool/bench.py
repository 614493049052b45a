"""`tensordoor bench`: its lists, formats, baselines and refusals, on cases that take milliseconds. Nothing here depends
on how fast anything is. Speaks TAP."""
import csv
import io
import json
import os
import re
import shutil
import subprocess

from harness import TOOL, main, read, refuse, run, stderr_on_a_terminal, succeed, write

from bench_schema import check

# Filling what is freed and allocated, as meson asks of its tests, is most of the time of a case that only allocates.
os.environ.pop("MALLOC_PERTURB_", None)
QUICK = ["--sample-size", "5", "--measurement-time", "0.0005", "--warm-up", "0.0001"]
CASE = "tiles_i8_1k"
HAS_PROC = os.path.exists("/proc/self/exe")  # not in every chroot
BROWSER = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


def measure(*arguments, expect=0):
    code, out, err = run("bench", *arguments, *QUICK)
    assert code == expect, (code, out, err)
    return out


def groups_are_listed():
    lines = succeed("bench", "--list").splitlines()
    cases = [line for line in lines if not line.startswith("#")]
    assert len(set(cases)) == len(cases) > 100
    assert "transposes/transpose_f32_1024x1024" in cases
    assert [line for line in lines if line.startswith("# convert: ")]
    few = succeed("bench", "--list", CASE).splitlines()
    assert [line for line in few if line[0] != "#"] == ["batches/%s" % CASE, "batches/%s_2threads" % CASE], few
    assert succeed("bench", "--list", "dpi/").startswith("# dpi: "), succeed("bench", "--list", "dpi/")
    assert succeed("bench", "--list", "dpi/").splitlines()[0].endswith(" (only when named)")
    one = succeed("bench", "--list", CASE + "$").splitlines()
    assert one[1:] == ["batches/%s" % CASE], one
    two = succeed("bench", "--list", "matrix/load_16x4,plan/capab").splitlines()
    assert [line.split(":")[0] for line in two] == ["# matrix", "matrix/load_16x4", "# plan", "plan/capabilities"], two


def json_is_as_the_schema_says():
    lines = measure("convert_f32_i8_1k", "--json").splitlines()
    assert len(lines) == 1
    document = json.loads(lines[0])
    check(document)
    one = document["figures"][0]
    assert one["group"] == "convert" and one["elems"] == 1000 and one["bytes"] == 2500
    assert one["reference"] == "memcpy" and one["hits"] == 1 and one["allocations"] == 0
    # Steps of 0.05 round to half of one at most, and 12 / 2 stays within 127 steps.
    assert 0.02 < one["extra"]["max_error"] <= 0.025001 and one["extra"]["saturated"] == 0


def csv_and_markdown_have_the_same_cases():
    rows = list(csv.DictReader(io.StringIO(measure(CASE, "--csv", "--no-peers", "--commit", "abc"))))
    assert [row["case"] for row in rows] == [CASE, CASE + "_2threads"], rows
    assert rows[0]["commit"] == "abc" and float(rows[0]["ns_low"]) <= float(rows[0]["ns"])
    table = measure(CASE, "--markdown", "--no-peers")
    assert "| batches/%s | " % CASE in table and "|---|" in table


def a_baseline_is_kept_and_held_against():
    os.environ["TD_BENCH_DIR"] = os.path.abspath("kept")
    os.makedirs("kept", exist_ok=True)
    measure(CASE, "--no-peers", "--save-baseline", "main")
    check(json.load(open("kept/main.json")))
    out = measure(CASE, "--no-peers", "--baseline", "main")
    assert "against main: " in out, out
    # A baseline of a machine a thousand times faster: what is measured now fails, by clock and by ratio.
    kept = json.load(open("kept/main.json"))
    for figure in kept["figures"]:
        for name in "median", "low", "high":
            figure["ns"][name] /= 1000
            figure["ratio"][name] *= 1000
    json.dump(kept, open("kept/fast.json", "w"))
    out = measure(CASE, "--no-peers", "--baseline", "fast", "--check", expect=1)
    assert "2 failed" in out and " % slower: " in out, out
    measure(CASE, "--no-peers", "--baseline", "fast")
    kept["machine"]["processor"] = "Z80"
    json.dump(kept, open("kept/other.json", "w"))
    out = measure(CASE, "--no-peers", "--baseline", "other")
    assert "against other (of ANOTHER PROCESSOR): " in out, out
    del os.environ["TD_BENCH_DIR"]


def a_history_grows_by_lines():
    for _ in range(2):
        measure(CASE, "--no-peers", "--history", "h.jsonl", "--commit", "c1")
    runs = [json.loads(line) for line in open("h.jsonl")]
    assert len(runs) == 2
    for one in runs:
        check(one)
        assert one["commit"] == "c1"


def targets_are_a_table():
    """Without a Verilator, which would compile for a while: that is a test of its own."""
    path, os.environ["PATH"] = os.environ["PATH"], "/nowhere"
    code, out, err = run("bench", "--targets", "--check", "--no-peers", *QUICK)
    os.environ["PATH"] = path
    assert code == 1, (code, out, err)
    lines = [line for line in out.splitlines() if line.startswith(("met ", "NOT MET "))]
    assert len(lines) == 23 and "of 23 targets met" in out, out
    missing = [line for line in lines if "not measured" in line]
    assert len(missing) == 1 and missing[0].endswith("not measured: verilator is not installed"), lines


def a_simulation_is_timed():
    if not shutil.which("verilator"):
        return "no verilator"
    with open(TOOL, "rb") as command:
        if b"__asan_init" in command.read():
            return "a simulation does not load a library with sanitizers"
    figures = {f["case"]: f for f in json.loads(measure("dpi/", "--json"))["figures"]}
    assert list(figures) == ["crossing", "smallest_load_dpi", "smallest_load", "tensor_3x64x64", "matrix_1024x4"]
    assert figures["smallest_load"]["reference"] == "from C" and "crossing_ns" in figures["smallest_load"]["extra"]
    return None


def a_simulation_that_does_not_compile_is_said():
    """A Verilator that is none: it says its version, and that is all."""
    os.environ["PATH"], path = os.path.abspath("bin") + ":" + os.environ["PATH"], os.environ["PATH"]
    os.mkdir("bin")
    for script, message in (('test "$1" = --version',
                             "Verilator does not compile the testbench in %s: see the log there"),
                            ("mkdir -p made; printf '#!/bin/sh\\n' >made/sim; chmod +x made/sim",
                             "the simulation in %s does not start")):
        write("bin/verilator", "#!/bin/sh\n%s\n" % script)
        os.chmod("bin/verilator", 0o755)
        code, out, err = run("bench", "dpi/crossing", "--no-peers", *QUICK)
        if not HAS_PROC:
            message = "/proc/self/exe does not say where tensordoor is; mount /proc"
            assert code == 1 and "tensordoor bench: dpi/crossing: %s\n" % message in err, (code, out, err)
            continue
        (folder,) = re.findall("/tmp/td-bench-dpi-[A-Za-z0-9]{6}", err)
        shutil.rmtree(folder, ignore_errors=True)
        assert code == 1 and "tensordoor bench: dpi/crossing: %s\n" % (message % folder) in err, (code, out, err)
    os.environ["PATH"] = path


def fake_python(script):
    """A python3 in front of PATH; returns the PATH to go back to."""
    os.makedirs("fakes", exist_ok=True)
    write("fakes/python3", "#!/bin/sh\n%s\n" % script)
    os.chmod("fakes/python3", 0o755)
    path, os.environ["PATH"] = os.environ["PATH"], os.path.abspath("fakes") + ":" + os.environ["PATH"]
    return path


def a_peer_that_hangs_is_left_out():
    """It says that it knows the case, and nothing else; it would not end either, with its input closed."""
    path = fake_python("read a; echo 1; read b; echo 1; exec sleep 1000")
    code, out, err = run("bench", CASE + "$", "--json", "--sample-size", "5", "--measurement-time", "0.0001")
    os.environ["PATH"] = path
    assert code == 0, (code, out, err)
    assert "tensordoor bench: NumPy gives no answer for 0.8 s and is left out\n" in err, err
    (figure,) = json.loads(out)["figures"]
    assert figure["ns"]["median"] > 0 and "numpy" not in figure["peers"], figure


def a_simulation_that_hangs_is_said():
    """Beside a NumPy that answers: each must see the end of its input while the other is alive."""
    os.makedirs("hangs", exist_ok=True)
    sim = "#!/bin/sh\\necho ready\\nread a\\necho 5\\nread a\\n%s\\n"
    for end, message in (("exec sleep 1000", "gives no answer for 0.8 s"), ("exit 1", "has ended")):
        write("hangs/verilator", "#!/bin/sh\nmkdir -p made\nprintf '%s' >made/sim\nchmod +x made/sim\n" % (sim % end))
        os.chmod("hangs/verilator", 0o755)
        path, os.environ["PATH"] = os.environ["PATH"], os.path.abspath("hangs") + ":" + os.environ["PATH"]
        code, out, err = run("bench", CASE + "$,dpi/crossing$", "--json", "--sample-size", "5", "--measurement-time",
                             "0.0001")
        os.environ["PATH"] = path
        if not HAS_PROC:
            return "no /proc"
        assert code == 1 and re.search(r"^tensordoor bench: dpi/crossing: the simulation in "
                                       r"/tmp/td-bench-dpi-\w{6} %s$" % message, err, re.M), (code, out, err)
        assert [f["case"] for f in json.loads(out)["figures"]] == [CASE], out
    return None


def progress_on_a_terminal():
    done = stderr_on_a_terminal("bench", CASE, "--no-peers", "--save-baseline", "./b.json", *QUICK)
    if done is None:
        return "no terminal to be had"
    code, seen = done
    assert code == 0, (code, seen)
    assert b"\r\x1b[K[1/2] batches/%s\r\x1b[K" % CASE.encode() in seen, seen
    assert re.search(rb"\[2/2\] batches/%s_2threads, \d+ s left" % CASE.encode(), seen), seen
    assert re.search(rb"\[3/4\] again/2 cases in a new process, \d+ s left", seen), seen
    assert seen.endswith(b"\r\x1b[K"), seen
    return None


def results_are_validated():
    """Families that take a moment; tests/kernels runs all of them."""
    out = succeed("bench", "--validate", "kernels/slice,kernels/pa$,kernels/pad$,kernels/pi", "--seed", "7")
    assert [line.split()[0] for line in out.splitlines()[:-1]] == ["kernels/pad", "kernels/pick", "kernels/slice"], out
    assert re.search(r"^kernels/pick +\d+ in c.*: right$", out, re.M), out
    assert re.search(r"^\d+ kernels of 3 families checked on random data, seed 7: all right$", out, re.M), out
    assert "checked, " not in out.splitlines()[-1], out
    out = succeed("bench", "--validate", CASE)
    assert re.fullmatch(r"2 cases checked, \d+ times with all instruction sets: all right\n", out), out
    refuse('tensordoor bench: no case has "no_such_case" in its name; --list shows them', "bench", "--validate",
           "no_such_case")


def curves_have_a_shape():
    out = measure("words/read", "--curves")
    assert "words/read " in out and "floor" in out and "grows by size^" in out, out


def every_new_group_runs():
    for group in ("allocation/memory_1K", "matrix/", "plan/", "isa/", "start/", "parts/mxfp4_64k", "files/open_npy_64",
                  "files/load_hex_64", "compare/f32_1k", "scaling/quantise_512", "tensor/pixels_3x8x8", "presets/vnni",
                  "threads/wake", "parts/mask_64k", "profile/load_2x4"):
        document = json.loads(measure(group, "--json", "--no-peers"))
        check(document)
        if group == "start/" and not HAS_PROC:
            why = "no new process of this program can be started"
            assert [f.get("skipped") for f in document["figures"]] == [why], document
            continue
        assert not [f for f in document["figures"] if "skipped" in f], document
    scaling = json.loads(measure("scaling/quantise_512", "--json"))["figures"][0]["extra"]
    assert list(scaling) == ["allocation_ns", "conversion_ns", "move_ns"], scaling
    memory = json.loads(measure("allocation/memory_1MiB", "--json"))["figures"][0]
    assert memory["peak_bytes"] >= 2 ** 20 and memory["allocations"] >= 1, memory


def the_page_shows_what_the_json_says():
    if not BROWSER:
        return "no chromium"
    measure("words/", "--no-peers", "--save-baseline", "./b.json")
    measure("words/", "--no-peers", "--baseline", "./b.json", "--html", "r.html", "--history", "h.jsonl")
    document = json.loads(read("h.jsonl"))
    assert "http" not in read("r.html").replace("http://www.w3.org", ""), "the page stands alone"
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu",
                           "--user-data-dir=" + os.path.abspath("profile"), "--dump-dom",
                           "file://" + os.path.abspath("r.html")], capture_output=True, text=True, timeout=100)
    page = done.stdout
    assert 'data-ready="yes"' in page and "data-error" not in page, page[:500] + done.stderr[-500:]
    page = page.split("<script id")[0]
    shown = dict(re.findall('data-case="([^"]+)" data-ns="([^"]+)"', page))
    want = {"%s/%s" % (f["group"], f["case"]): f["ns"]["median"] for f in document["figures"]}
    assert {name: float(value) for name, value in shown.items()} == want, (shown, want)
    assert page.count("<figure>") == 2, page.count("<figure>")
    assert "Baseline against now" in page and "Where the time goes" in page and 'class="stack"' in page
    assert "against the baseline" in page or "than the baseline" in page
    return None


def refusals():
    refuse('tensordoor bench: no case has "no_such_case" in its name; --list shows them', "bench", "no_such_case")
    refuse('tensordoor bench: --sample-size is "2"; it needs 5 to 1001, as intervals are made from them', "bench",
           "--sample-size", "2")
    refuse('tensordoor bench: --warm-up is "x"; it needs seconds above 0, as 0.5', "bench", "--warm-up", "x")
    refuse('tensordoor bench: no baseline "./none.json": cannot read ./none.json; make it with --save-baseline '
           "./none.json", "bench", CASE, "--baseline", "./none.json")
    write("cut.json", '{"format": "tensordoor-bench", "version": 1, "fig')
    refuse("tensordoor bench: the baseline cut.json ends early, after 49 bytes: it was half written; remove it, or "
           "measure it anew", "bench", CASE, "--baseline", "cut.json")
    write("other.json", '{"format": "tensordoor-bench", "version": 9}')
    refuse("tensordoor bench: the baseline other.json has version 9 of the format, and this tensordoor reads version "
           "3; measure it anew", "bench", CASE, "--baseline", "other.json")
    write("cut.jsonl", '{"format"')
    refuse("tensordoor bench: the history cut.jsonl ends in the middle of line 1: it was half written; remove that "
           "line", "bench", CASE, "--history", "cut.jsonl")
    assert read("cut.jsonl") == '{"format"'
    # Where nothing can be written, nothing is measured.
    refuse("tensordoor bench: cannot write the baseline ./none/b.json: No such file or directory", "bench", CASE,
           "--save-baseline", "./none/b.json")
    refuse("tensordoor bench: cannot write the history none/h: No such file or directory", "bench", CASE, "--history",
           "none/h")
    refuse("tensordoor bench: cannot write none/p.html: No such file or directory", "bench", CASE, "--html",
           "none/p.html")
    os.mkdir("folder")
    refuse("tensordoor bench: cannot write folder: Is a directory", "bench", CASE, "--html", "folder")
    refuse("tensordoor bench: cannot read the history folder", "bench", CASE, "--history", "folder")
    before = dict(os.environ)
    for name in ("TD_BENCH_DIR", "XDG_CACHE_HOME", "HOME"):
        os.environ.pop(name, None)
    for flag in ("--save-baseline", "--baseline"):
        refuse('tensordoor bench: no folder for the baseline "main"; set TD_BENCH_DIR, or pass a path', "bench", CASE,
               flag, "main")
    os.environ.update(before)


main([groups_are_listed, json_is_as_the_schema_says, csv_and_markdown_have_the_same_cases,
      a_baseline_is_kept_and_held_against, a_history_grows_by_lines, targets_are_a_table, a_simulation_is_timed,
      a_simulation_that_does_not_compile_is_said, a_peer_that_hangs_is_left_out, a_simulation_that_hangs_is_said,
      progress_on_a_terminal, results_are_validated, curves_have_a_shape,
      every_new_group_runs, the_page_shows_what_the_json_says, refusals])
