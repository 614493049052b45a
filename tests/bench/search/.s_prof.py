"""Looks for cliffs: random layouts of the whole language and all presets, over all dtypes, whole and ragged, each
beside memcpy and beside the plain loops of the same layout (loops.py, compiled at -O2 without intrinsics). Both
results are compared first; a wrong byte or a crash is an error, with the case. Prints the distribution and the worst
fifty with their plans. No time is asserted.

    search.py --build DIR [--seed 1] [--count 600] [--size 262144,1048576,8388608] [--seconds S] [--only TEXT]
              [--compare] [--quick] [--threads N] [--out FILE]

--out keeps a line per case: a later run with the same seed, count and sizes goes on where it ended, and with
--seconds 0 only prints what is there. --compare times comparisons too, as ratios to the dump."""
import argparse
import ctypes
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time

import generate
from layout import Layout, Unsupported
from loops import Loops

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH = 30
COLUMNS = ("bytes", "memcpy", "load", "load_loop", "dump", "dump_loop", "compare")
GOALS = {1: .1, 10: .25, 50: .6}


def canonical(library, case):
    """The three strings of a preset as the layout that it stands for, or None where it is refused."""
    layout = ctypes.c_void_p()
    if library.td_layout_create(case.pattern.encode(), case.options.encode(), case.address.encode(),
                                ctypes.byref(layout)):
        return None
    texts = []
    for part in ("pattern", "options", "address"):
        get = getattr(library, "td_layout_" + part)
        get.restype, get.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
        texts.append(get(layout).decode())
    library.td_layout_destroy(ctypes.byref(layout))
    return texts


def c_string(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def write_case(library, number, case):
    """The C of one case, or None where the layout or its loops are not to be had."""
    texts = canonical(library, case) if case.pattern.startswith("preset:") else [case.pattern, case.options,
                                                                                 case.address]
    if texts is None:
        return None
    try:
        layout = Layout(*texts, case.shape, case.dtype, case.memory_dtype, case.width)
        if case.spare:
            layout = Layout(*texts, case.shape, case.dtype, case.memory_dtype, layout.width + case.spare)
        converted = generate.CONVERTED.get((case.dtype, case.conversion)) if case.conversion else None
        loops = Loops(layout, converted and converted[:2])
        loops.load("load_%d" % number)
        loops.dump("dump_%d" % number)
        loops.extent("extent_%d" % number)
    except (Unsupported, KeyError, ZeroDivisionError):
        return None
    case.width = layout.width
    case.loops = loops.body
    fields = [str(number), case.dtype, " ".join(map(str, case.shape)), case.pattern, case.options, case.address,
              case.conversion, converted[2] if converted else ""]
    record = "{%s, %d, load_%d, dump_%d, extent_%d}," % (", ".join(map(c_string, fields)), layout.width, number, number,
                                                         number)
    return "\n".join(loops.text), record


def describe(case):
    parts = [case.dtype + (" as %s" % case.conversion if case.conversion else ""), "x".join(map(str, case.shape)),
             '"%s"' % case.pattern]
    parts += ["[%s]" % case.options] if case.options else []
    parts += ["{%s}" % case.address] if case.address else []
    return " ".join(parts) + ", words of %d bits" % (case.width or 0)


def run_batch(options, batch, folder):
    """The lines of a batch's cases as they come: number, verdict, the rest."""
    source, shared = os.path.join(folder, "batch.c"), os.path.join(folder, "batch.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "%s/prelude.h"\n' % HERE)
        for text, _ in (entry[2] for entry in batch):
            file.write(text)
        file.write("const search_case search_cases[] = {\n%s\n};\n" % "\n".join(entry[2][1] for entry in batch))
        file.write("const long search_case_count = %d;\n" % len(batch))
    subprocess.run([*shlex.split(options.cc), "-O2", "-std=gnu11", "-w", "-fPIC", "-shared", "-o", shared, source,
                    "-lm"], check=True)
    done = 0
    flags = [f for f, on in (("--compare", options.compare), ("--quick", options.quick)) if on]
    while done < len(batch):
        command = ["/work/q/bench", "perf", "record", "-q", "-F", "2000", "-e", "cpu-clock", "-o", "/tmp/s/p.%d.data" % batch[0][0], os.path.join(options.build, "tests/bench/search/search-runner"), shared, "--from", str(done),
                   "--threads", str(options.threads)] + flags
        before = done
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                done += 1
                yield line.rstrip("\n").split("\t")
        if process.returncode and done < len(batch):
            yield [str(batch[done][0]), "CRASH", "the runner ended with %d" % process.returncode]
            done += 1
        elif done == before:
            raise SystemExit("search: the runner said nothing about case %d" % batch[done][0])


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share / 100))]


def print_distribution(name, values, goals=()):
    line = "  %-34s" % name
    for share in (1, 5, 10, 25, 50):
        goal = " (%.2f)" % goals[share] if share in goals else ""
        line += " %2d%%: %.3f%s" % (share, percentile(values, share), goal)
    print(line + "   of %d" % len(values))


def print_worst(title, rows, key, side, count):
    print("\n%s" % title)
    for row in sorted(rows, key=key)[:count]:
        print("  %8.4f  %7.3f of memcpy  %8.2f x the loop  #%d %s" % (
            key(row), row["memcpy"] / row[side], row[side] / row[side + "_loop"], row["number"], row["text"]))
        print("            %s" % row["plan_" + side])


def report(options, rows, counts):
    print("%d layouts timed, %d refused or without loops, %d wrong, %d crashed; seed %d" % (
        len(rows), counts["refused"], counts["WRONG"], counts["CRASH"], options.seed))
    if not rows:
        return
    for side in ("load", "dump"):
        print("\n%s, as memcpy's time by ours (goals)" % side)
        print_distribution("all", [r["memcpy"] / r[side] for r in rows], GOALS)
        groups = [("%d KiB" % (size // 1024), [r for r in rows if r["size"] == size]) for size in options.size]
        groups += [(kind, [r for r in rows if r["kind"] == kind]) for kind in
                   ("preset whole", "preset ragged", "random", "window", "flat")]
        groups += [("converted", [r for r in rows if " as " in r["text"]]),
                   ("bits", [r for r in rows if r["bits"] % 8 and " as " not in r["text"]]),
                   ("bytes", [r for r in rows if r["bits"] % 8 == 0 and " as " not in r["text"]])]
        for name, some in groups:
            if some:
                print_distribution(name, [r["memcpy"] / r[side] for r in some])
        times = [r[side + "_loop"] / r[side] for r in rows]
        print_distribution("the plain loops' time by ours", times)
        slower = [r for r in rows if r[side] > 1.05 * r[side + "_loop"]]
        print("  slower than its plain loops by more than 5 %%: %d of %d" % (len(slower), len(rows)))
    if options.compare:
        ratios = [r["compare"] / r["dump"] for r in rows if r["compare"]]
        print("\ncomparisons, as their time by the dump's (goal: 2 everywhere)")
        if ratios:
            print("  50%%: %.2f  90%%: %.2f  99%%: %.2f  most: %.2f; over 2: %d of %d" % (
                percentile(ratios, 50), percentile(ratios, 90), percentile(ratios, 99), max(ratios),
                sum(x > 2 for x in ratios), len(ratios)))
            print_worst("the worst comparisons: -time by the dump's", [r for r in rows if r["compare"]],
                        lambda r: -r["compare"] / r["dump"], "dump", options.worst // 2)
    for side in ("load", "dump"):
        print_worst("the worst %ss: memcpy's time by ours" % side, rows, lambda r: r["memcpy"] / r[side], side,
                    options.worst)
        print_worst("the worst %ss beside their loops: the loop's time by ours" % side, rows,
                    lambda r: r[side + "_loop"] / r[side], side, options.worst)


def read_kept(path):
    if not path or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file]


def parse_options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=600)
    p.add_argument("--size", default="262144,1048576,8388608")
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--only", default="", help="cases whose line has this text, as a dtype or a part of a pattern")
    p.add_argument("--case", type=int, help="only the case of this number, with its C")
    p.add_argument("--compare", action="store_true")
    p.add_argument("--quick", action="store_true", help="one cold call each: to see that the search still runs")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--worst", type=int, default=50)
    p.add_argument("--out")
    p.add_argument("--cc", default=os.environ.get("CC", "cc"))
    options = p.parse_args()
    options.size = [int(text) for text in options.size.split(",")]
    return options


def main():
    options = parse_options()
    library = ctypes.CDLL(os.path.join(os.path.abspath(options.build), "libtensordoor.so"))
    kept = {int(line[0]): line for line in read_kept(options.out)}
    start, rows, bad = time.time(), [], []
    counts = {"refused": 0, "WRONG": 0, "CRASH": 0}
    cases, batch = {}, []
    out = open(options.out, "a", encoding="utf-8") if options.out else None

    def take(line):
        number, verdict = int(line[0]), line[1]
        case, size = cases[number]
        if verdict != "ok":
            counts[verdict] += 1
            if verdict != "refused":
                bad.append("%s #%d %s\n    %s" % (verdict, number, describe(case), line[2]))
                print(bad[-1], flush=True)
            return
        row = dict(zip(COLUMNS, (float(x) for x in line[2:9])))
        row.update(number=number, size=size, kind=case.kind, text=describe(case), plan_load=line[9], plan_dump=line[10],
                   bits=generate.bits_of(case.memory_dtype))
        rows.append(row)

    def flush(folder):
        for line in run_batch(options, list(batch), folder) if batch else []:
            if out:
                out.write("\t".join(line) + "\n")
                out.flush()
            take(line)
        batch.clear()

    with tempfile.TemporaryDirectory(prefix="td-search-") as folder:
        for number in range(options.count):
            r = random.Random("%d %d" % (options.seed, number))
            size = options.size[number % len(options.size)]
            case = generate.generate(r, size)
            if options.case is not None and number != options.case:
                continue
            if options.only and options.only not in describe(case):
                continue
            entry = write_case(library, number, case)
            cases[number] = (case, size)
            if entry is None:
                counts["refused"] += 1
            elif number in kept:
                take(kept[number])
            elif time.time() - start < options.seconds:
                if options.case is not None:
                    print(describe(case), entry[0], sep="\n")
                batch.append((number, case, entry))
            if len(batch) == BATCH:
                flush(folder)
        flush(folder)
    report(options, rows, counts)
    if bad:
        print("\n" + "\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
