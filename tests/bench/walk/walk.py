#!/usr/bin/env python3
"""The walk of a call: how many files of dpi/ and src/ it passes through, and how often it changes from one file to
another.

    tests/bench/walk/walk.py [ROOT] [--list]

Compiles ROOT (default: this tree) with -finstrument-functions and runs walk.c. A function belongs to the file that
defines it; a change of file is an entry into, or a return to, a function that stands in another file. --list
prints the walk itself, one line per stay in a file.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def build(root, folder):
    src = os.path.join(root, "src")
    sources = [f for f in glob.glob(src + "/**/*.c", recursive=True) if not re.search("/tool/|_neon.c|/portable", f)]
    sources += glob.glob(root + "/dpi/*.c")
    verilator = subprocess.check_output(["verilator", "--getenv", "VERILATOR_ROOT"], text=True).strip()
    page = os.path.join(folder, "page.c")
    embed = glob.glob(src + "/**/embed.py", recursive=True)[0]
    html = os.path.join(os.path.dirname(embed), "report.html")
    subprocess.check_call([sys.executable, embed, html, page, "td_report_page"])
    program = os.path.join(folder, "walk")
    jobs = []
    for number, name in enumerate(sources + [page, os.path.join(HERE, "walk.c")]):
        command = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-w", "-fno-inline", "-no-pie", "-fno-pie"]
        command += ["-finstrument-functions", "-I" + src, f"-I{root}/dpi", f"-I{verilator}/include/vltstd", "-c", name,
                    "-o", f"{folder}/{number}.o"]
        jobs.append(subprocess.Popen(command))
        if len(jobs) % 4 == 0:
            jobs[-4].wait()
    assert all(job.wait() == 0 for job in jobs)
    subprocess.check_call(["cc", "-no-pie", "-o", program] + glob.glob(folder + "/*.o") + ["-lm", "-lpthread"])
    return program


def main():
    arguments = [a for a in sys.argv[1:] if a != "--list"]
    root = os.path.abspath(arguments[0] if arguments else os.path.join(HERE, "../../.."))
    with tempfile.TemporaryDirectory() as folder:
        program = build(root, folder)
        walks, order = {}, []
        for line in subprocess.check_output([program], text=True).split("\n"):
            if line.startswith("0x"):
                walks[order[-1]].append(line)
            elif line:
                order.append(line)
                walks[line] = []
        addresses = sorted({a for steps in walks.values() for a in steps})
        lines = subprocess.check_output(["addr2line", "-f", "-e", program] + addresses, text=True).split("\n")
        place = {}
        for address, function, at in zip(addresses, lines[0::2], lines[1::2]):
            place[address] = (os.path.relpath(at.split(":")[0], root), function)
    for name in order:
        files = [place[a][0] for a in walks[name]]
        changes = sum(a != b for a, b in zip(files, files[1:]))
        print(f"{name}: {len(set(files))} files, {changes} changes of file")
        if "--list" in sys.argv:
            last = None
            for address in walks[name]:
                if place[address][0] != last:
                    last = place[address][0]
                    print(f"    {last}: {place[address][1]}")


main()
