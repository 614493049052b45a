# The order of the rooms in src/: a file includes by the path from src/, and only from rooms that its own may see.
# Prints every include that points elsewhere. The table is the one of src/README.md, from the ground up.
import os
import re
import subprocess
import sys

BELOW = {
    "base": [],
    "kernels": ["base"],
    "values": ["kernels", "base"],
    "tensor": ["values", "kernels", "base"],
    "parts": ["tensor", "values", "kernels", "base"],
    "memory": ["values", "kernels", "base"],
    "codes": ["memory", "values", "kernels", "base"],
    "layout": ["tensor", "memory", "values", "kernels", "base"],
    "plan": ["layout", "tensor", "memory", "values", "kernels", "base"],
}
BELOW["exec"] = ["plan"] + BELOW["plan"]
BELOW["over"] = BELOW["exec"] + ["exec", "codes"]
BELOW["backdoor"] = ["exec", "codes", "parts"] + BELOW["exec"]
BELOW["report"] = ["backdoor"] + BELOW["backdoor"] + ["files"]
BELOW["compare"] = ["report"] + BELOW["report"]
BELOW["show"] = BELOW["exec"]
BELOW["files"] = ["tensor", "memory", "values", "kernels", "base"]
BELOW["files/tensor"] = BELOW["files/image"] = ["files"] + BELOW["files"]
BELOW["files/parts"] = ["files/tensor", "files", "parts", "layout"] + BELOW["files"]
BELOW["design"] = ["files", "backdoor"] + BELOW["backdoor"]
BELOW["map"] = ["over", "codes", "backdoor", "compare", "files/image", "design"] + BELOW["compare"]
BELOW["program"] = ["design", "show"] + BELOW["compare"] + ["compare"]
BELOW["profile"] = ["files", "base"]
BELOW["tune"] = ["files", "plan", "base"]
BELOW["check"] = ["plan"] + BELOW["plan"]
BELOW["tool"] = ["base", "check"]
PUBLIC = ["tensordoor.h", "tensordoor_bridge.h"]


def room_of(path):
    folder = os.path.dirname(path)
    return folder if folder in BELOW else folder.split("/")[0]


def main(root):
    os.chdir(os.path.join(root, "src"))
    bad = 0
    for name in subprocess.check_output(["git", "ls-files", "."], text=True).split():
        if not name.endswith((".c", ".h", ".inc")):
            continue
        room = room_of(name)
        for number, line in enumerate(open(name), 1):
            found = re.match(r'\s*#include "([^"]+)"', line)
            if not found or found.group(1) in PUBLIC:
                continue
            target = found.group(1)
            if not os.path.exists(target):
                print(f"src/{name}:{number}: \"{target}\" is no path from src/")
                bad = 1
            elif room_of(target) != room and room_of(target) not in BELOW.get(room, []):
                print(f"src/{name}:{number}: {room}/ includes {target}, and {room_of(target)}/ is not below it")
                bad = 1
    return bad


sys.exit(main(sys.argv[1]))
