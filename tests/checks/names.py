"""names.py ROOT: every path that src/README.md names exists, every folder of src/ is in it, and every file that a
comment of the sources names is in the tree. A map that lies is worse than none."""
import os
import re
import subprocess
import sys

ENDINGS = r"(?:c|h|inc|sv|svh|py|sh|html|f)"
# Names that stand for other people's files, or for files that a reader makes.
FOREIGN = {"svdpi.h", "elf.h", "libelf.h", "uvm_pkg.sv", "tb.sv", "first.sv", "second.sv", "first.c", "verilated.h",
           "immintrin.h", "stdio.h", "zlib.h", "jansson.h", "cmocka.h"}


def main(root):
    os.chdir(root)
    files = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], text=True).split()
    names = {os.path.basename(name) for name in files} | FOREIGN
    bad = 0

    text = open("src/README.md").read()
    for path in sorted(set(re.findall(r"`([\w./-]+/[\w./-]*|[\w-]+\.%s)`" % ENDINGS, text))):
        if not any(os.path.exists(os.path.join(where, path)) for where in ("", "src")):
            print(f"src/README.md names {path}, which is not there")
            bad = 1
    for folder in sorted({os.path.dirname(name) for name in files if name.startswith("src/") and name.count("/") > 1}):
        if f"`{folder[4:]}/`" not in text:
            print(f"src/README.md does not say what {folder}/ is for")
            bad = 1

    for name in files:
        if not re.search(r"\.(c|h|inc|sv|svh)$", name) or not os.path.exists(name):
            continue
        for number, line in enumerate(open(name, errors="replace"), 1):
            comment = re.search(r"(//|/\*|^ \*)(.*)", line)
            if not comment:
                continue
            for found in re.findall(r"(?<![\w./*\"])([\w/]*\w\.%s)\b(?![.\w(])" % ENDINGS, comment.group(2)):
                if os.path.basename(found) not in names:
                    print(f"{name}:{number}: names {found}, which is not there")
                    bad = 1
    return bad


sys.exit(main(sys.argv[1]))
