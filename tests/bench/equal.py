#!/usr/bin/env python3
"""equal.py COMMAND [TEXT...]: are two runs of one build equal on a noisy machine? Keeps a baseline of `tensordoor
bench` and holds so many runs of the same command against it, while a process of ours keeps the last core busy with
arithmetic and with memory in turns. Prints a line a run and the rates, and exits with 1 when a run has another verdict
than equal or undecided for a case. With --plant P it first makes the baseline faster by P percent, as if all of now
were slower by that much, and prints how many cases are found. It takes minutes: no part of tests/run."""
import argparse
import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time


KEPT = "?"


def keep_busy(core):
    """Bursts of arithmetic and of copies over 64 MiB, on that core, until it is ended."""
    child = os.fork()
    if child:
        return child
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # builds that want the core keep it as busy
    block = bytearray(64 << 20)
    while True:
        until = time.monotonic() + 0.7
        while time.monotonic() < until:
            sum(range(20000))
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            bytes(block)
        time.sleep(0.1)


def bench(arguments, folder, *flags):
    """One run of every TEXT; KEPT in the flags is the text's own baseline."""
    worst, rows = 0, []
    for number, text in enumerate(arguments.text or [""]):
        command = shlex.split(arguments.through) + [arguments.command, "bench", *([text] if text else [])]
        command += ["--no-peers", "--csv", *shlex.split(arguments.settings)]
        command += [os.path.join(folder, "%d.json" % number) if flag == KEPT else flag for flag in flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit("%s: %s" % (" ".join(command), done.stderr))
        worst = max(worst, done.returncode)
        rows += csv.DictReader(io.StringIO(done.stdout))
    return worst, rows


def plant(path, percent):
    run = json.load(open(path))
    for figure in run["figures"]:
        for name in ("median", "low", "high"):
            if "ns" in figure:
                figure["ns"][name] /= 1 + percent / 100
            if "ratio" in figure:
                figure["ratio"][name] *= 1 + percent / 100
    json.dump(run, open(path, "w"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command")
    parser.add_argument("text", nargs="*")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--quiet", action="store_true", help="no load beside the runs")
    parser.add_argument("--through", default="", help="a command that runs every bench, as a lock")
    parser.add_argument("--settings", default="", help="flags of every bench, as '--sample-size 15'")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="of the load; default: the last")
    parser.add_argument("--plant", type=float, default=0, help="percent")
    arguments = parser.parse_args()
    count = {"equal": 0, "new": 0, "faster": 0, "undecided": 0, "spreads": 0, "slower": 0, "fails": 0}
    other, undecided, missed, failed, loud = {}, {}, [], 0, 0
    child = 0 if arguments.quiet else keep_busy(arguments.core)
    try:
        with tempfile.TemporaryDirectory() as folder:
            bench(arguments, folder, "--save-baseline", KEPT)
            for name in os.listdir(folder) if arguments.plant else []:
                plant(os.path.join(folder, name), arguments.plant)
            for run in range(arguments.runs):
                start = time.monotonic()
                code, rows = bench(arguments, folder, "--baseline", KEPT, "--check")
                loud += code != 0
                here = [row for row in rows if row["verdict"] not in ("equal", "new", "undecided")]
                open_cases = [row for row in rows if row["verdict"] == "undecided"]
                failed += bool(here)
                for row in rows:
                    count[row["verdict"]] += 1
                for row in here:
                    other.setdefault("%s/%s" % (row["group"], row["case"]), []).append(
                        "%s %+.0f %%" % (row["verdict"], 100 * float(row["change"])))
                missed += [(row["case"], row["verdict"]) for row in rows]
                for row in open_cases:
                    undecided["%s/%s" % (row["group"], row["case"])] = undecided.get(
                        "%s/%s" % (row["group"], row["case"]), 0) + 1
                print("run %2d of %d: %.0f s, %d cases, %d undecided, %d calm, exit %d%s" % (
                    run + 1, arguments.runs, time.monotonic() - start, len(rows), len(open_cases),
                    sum(row["calm"] == "yes" for row in rows), code,
                    "".join("\n    %s/%s %s %+.0f %%" % (r["group"], r["case"], r["verdict"], 100 * float(r["change"]))
                            for r in here[:12])), flush=True)
    finally:
        if child:
            os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)
    total = sum(count.values())
    print("%d runs, %d verdicts: %s" % (arguments.runs, total, ", ".join("%d %s" % (n, v) for v, n in count.items())))
    print("%d runs had another verdict than equal or undecided, --check refused %d" % (failed, loud))
    if undecided:
        print("undecided: " + ", ".join("%s %d" % item for item in sorted(undecided.items(), key=lambda i: -i[1])[:12]))
    if arguments.plant:
        missed = [name for name, verdict in missed if verdict == "equal"]
        print("called equal: " + (", ".join(sorted(set(missed))) or "none"))
        print("planted %g %%: %.2f %% found, %.2f %% fail" % (
            arguments.plant, 100 * (count["slower"] + count["fails"]) / total, 100 * count["fails"] / total))
        return 0
    print("false alarms: %.3f %% reported, %.3f %% failed" % (
        100 * (count["slower"] + count["spreads"] + count["faster"]) / total, 100 * count["fails"] / total))
    for name, verdicts in sorted(other.items(), key=lambda item: -len(item[1])):
        print("    %-40s %s" % (name, ", ".join(verdicts)))
    return 1 if failed else 0


sys.exit(main())
