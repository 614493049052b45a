"""sv_virtual.py ROOT: no method of a class calls, without an object, one that it inherits and that a class below it has
its own version of. Verilator 5.006 calls the inherited one then, whatever the object is, and says nothing. The call has
to be made through a handle: `td_backdoor self; self = this; self.method()`."""
import glob
import os
import re
import sys

CLASS = re.compile(r"\bclass\s+(\w+)(?:\s*#\([^)]*\))?(?:\s+extends\s+(\w+))?[^;]*;(.*?)\bendclass", re.S)
METHOD = re.compile(r"\b(?:function|task)\b[^;(]*?\b(\w+)\s*\(")
CALL = re.compile(r"(?<![.\w:])(\w+)\s*\(")


def read_classes(root):
    """By name: the parent, the methods, what is called without an object, and the file."""
    classes = {}
    for path in glob.glob(os.path.join(root, "sv/**/*.sv*"), recursive=True):
        text = re.sub(r"//.*", "", open(path).read())
        for name, parent, body in CLASS.findall(text):
            classes[name] = (parent, set(METHOD.findall(body)), set(CALL.findall(body)), os.path.relpath(path, root))
    return classes


def find_calls(classes):
    def parents(name):
        while (name := classes[name][0]) in classes:
            yield name

    for name, (_, methods, calls, path) in classes.items():
        inherited = set().union(*(classes[above][1] for above in parents(name)))
        for below in classes:
            if name in parents(below):
                for method in sorted((calls - methods) & inherited & classes[below][1]):
                    yield f"{path}: {name} calls {method}, of which {below} has its own; call it through a handle"


def main(root):
    classes = read_classes(root)
    bad = list(find_calls(classes))
    # The check itself: the mistake that it is for has to be found.
    made = {"a": ("", {"f"}, set(), "x"), "b": ("a", {"g"}, {"f"}, "x"), "c": ("b", {"f"}, set(), "x")}
    if len(classes) < 20 or len(list(find_calls(made))) != 1:
        bad.append("sv_virtual.py finds no classes, or no mistake where there is one")
    print("\n".join(bad), end="\n" if bad else "")
    return bool(bad)


sys.exit(main(sys.argv[1]))
