#!/usr/bin/env python3
"""figures.py BUILD [--through COMMAND]: the tables of figures in the pages for users, measured on this machine and
printed as they stand there: moves by td-bench with its peers (README.md, "How fast"), comparisons by compare-bench and
single calls by the group dpi (examples/guide/speed.md). Lines about arrays of a design and UVM have commands of their
own there. The first line says which machine it was. BUILD has -Dtests=true. It takes some minutes: no part of
tests/run."""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys

# A line of the table: what it is called, and the cases whose figures stand in it.
WORK = [
    ("transpose f32 1024x1024 / 2048x2048", ["transpose_f32_1024x1024", "transpose_f32_2048x2048"]),
    ("transpose u8 512x512 / 2048x2048", ["transpose_u8_512x512", "transpose_u8_2048x2048"]),
    ("NCHW to NHWC f32 / i8, (8, 256, 56, 56)", ["nchw_nhwc_f32_8x256x56x56", "nchw_nhwc_i8_8x256x56x56"]),
    ("NCHW to NCHW16c i8, (8, 256, 56, 56)", ["nchw_nchw16c_i8_8x256x56x56"]),
    ("16x16 tiles i8, 2048x2048", ["tile16_i8_2048x2048"]),
    ("words of 128 bits over four loops, 1 MiB / 16 MiB", ["scatter_w128_1M", "scatter_w128_16M"]),
    ("i4 from one per byte, 1 M elements", ["pack_i4_1M"]),
    ("f32 to i8 (scale, even, saturate), 1024x1024", ["convert_f32_i8_1024x1024"]),
    ("the same with a transpose / into 16x16 tiles", ["convert_transpose_f32_i8_1024x1024",
                                                      "convert_tile16_f32_i8_1024x1024"]),
]
PEERS = ["loops", "numpy", "onednn", "eigen"]
HEADS = {"loops": "plain C loops", "numpy": "NumPy", "onednn": "oneDNN", "eigen": "Eigen"}
COMPARED = [  # dtype, pattern, as, policy: the shapes of 256 KiB, and those that no cache holds
    ("f32, contiguous", ("f32", "r c -> r c", "", "")),
    ("f32, transposed", ("f32", "r c -> c r", "", "")),
    ("f32, transposed, `ulp=1`, every element a step off", ("f32", "r c -> c r", "", "ulp=1")),
    ("u8, transposed", ("u8", "r c -> c r", "", "")),
    ("i4 from one per byte", ("i4", "r (ct cs) -> (ct r) cs", "", "")),
    ("f32 as `i8 scale=0.05`, `atol=0.03`", ("f32", "r (ct cs) -> (r ct) cs", "i8 scale=0.05", "atol=0.03")),
]


def run(arguments, *command):
    done = subprocess.run([*shlex.split(arguments.through), *command], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit("%s: %s" % (" ".join(command), done.stderr))
    return done.stdout, done.stderr


def bench(arguments, text, *flags):
    out, err = run(arguments, os.path.join(arguments.build, "tests/bench/td-bench"), text, "--json", *flags)
    document = json.loads(out)
    return document, err, {figure["case"]: figure for figure in document["figures"] if "skipped" not in figure}


def number(x):
    return "%.2f" % x if x >= 0.095 else "%.3f" % x if x < 0.0095 else "%.2f" % x


def moves(arguments):
    rows, found, head = [], set(), None
    for name, cases in WORK:
        figures = []
        for case in cases:
            document, err, all_of = bench(arguments, case)
            head = head or err
            figures.append(all_of[case])
        found |= {peer for f in figures for peer in f["peers"]}
        rows.append((name, figures))
    peers = [peer for peer in PEERS if peer in found]
    print("\n".join(head.splitlines()[:2]), "\n")
    print("| work | tensordoor | %s |" % " | ".join(HEADS[peer] for peer in peers))
    print("|%s" % ("---|" * (2 + len(peers))))
    for name, figures in rows:
        cells = [" / ".join(number(f["ratio"]["median"]) for f in figures)]
        for peer in peers:
            ratios = [number(f["peers"]["memcpy"]["median"] / f["peers"][peer]["median"])
                      for f in figures if peer in f["peers"]]
            cells.append(" / ".join(ratios))
        print("| %s | %s |" % (name, " | ".join(cells)), flush=True)
    _, _, two = bench(arguments, "16M", "--no-peers")
    gains = sorted(two[case]["ns"]["median"] / two[case + "_2threads"]["ns"]["median"]
                   for case in two if case + "_2threads" in two)
    print("\nTwo threads at 16 M elements: %.2f to %.2f times one\n" % (gains[0], gains[-1]))


def comparisons(arguments):
    out, _ = run(arguments, os.path.join(arguments.build, "tests/bench/compare-bench"))
    lines = []
    for line in out.splitlines():
        fields = (line[:4].strip(), line[5:17].strip(), line[18:52].strip(), line[53:67].strip(), line[68:86].strip())
        rest = line[87:].split()
        if len(rest) == 4 and re.match(r"[\d.]+$", rest[0]):
            elems = 1
            for dim in fields[1].split():
                elems *= int(dim)
            lines.append((fields, elems, float(rest[0]), float(rest[1])))
        elif "differs" in line:
            print(line)
    print("smallest comparison %.2f us\n" % min(line[2] for line in lines))
    print("| compared | 256 KiB | 4 to 64 MiB |\n|---|---|---|")
    for name, (dtype, pattern, as_, policy) in COMPARED:
        of = [line for line in lines if (line[0][0], *line[0][2:]) == (dtype, pattern, as_, policy)]
        small = [line[3] for line in of if 40000 < line[1] < 400000]
        large = [line[3] for line in of if line[1] >= 1000000]
        cells = ["" if not some else "%.1f" % min(some) if "%.1f" % min(some) == "%.1f" % max(some) else
                 "%.1f to %.1f" % (min(some), max(some)) for some in (small, large)]
        print("| %s | %s | %s |" % (name, *cells))
    print()


def calls(arguments):
    _, _, dpi = bench(arguments, "dpi/")
    _, _, tensor = bench(arguments, "tensor/chw_3x8x8", "--no-peers")
    ns = {case: figure["ns"]["median"] for case, figure in dpi.items()}
    here = {case: figure["peers"]["from C"]["median"] for case, figure in dpi.items() if "from C" in figure["peers"]}
    print("| call | time |\n|---|---|")
    print("| a load of 3x8x8 u8 from C | %.0f ns |" % tensor["chw_3x8x8"]["ns"]["median"])
    if ns:
        print("| the smallest load from C / through DPI / through the classes | %.0f / %.0f / %.0f ns |" % (
            here["smallest_load"], ns["smallest_load_dpi"], ns["smallest_load"]))
        print("| a matrix of 1024 rows of four i16, through the classes | %.2f us |" % (ns["matrix_1024x4"] / 1e3))
        print("| a tensor of 3x64x64 u8, through the classes | %.2f us |" % (ns["tensor_3x64x64"] / 1e3))


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("build")
parser.add_argument("--through", default="", help="a command that runs every bench, as a lock")
settings = parser.parse_args()
moves(settings)
comparisons(settings)
calls(settings)
