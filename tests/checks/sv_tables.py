"""sv_tables.py ROOT [--write]: the tables of sv/README.md of what each SystemVerilog class has, made from the classes
themselves: the call, and the first sentence of the comment above it. Without --write it says whether they are out
of date. A call whose quiet twin `try_...` exists is marked, and a quiet call without a twin is listed; calls that
only other classes of sv/ need are left out."""
import os
import re
import sys

CLASSES = ["td_tensor", "td_parts", "td_layout", "td_backdoor", "td_memory", "td_bank_set",
           "td_parts_layout", "td_code", "td_faults", "td_where", "td_map", "td_program", "td_checkpoints",
           "td_comparison", "td_report", "td_reporter", "td_speed", "td_profile"]
INTERNAL = re.compile(r"^(new|(\w+_)?handle|do_\w+|try_\w+|write_lists|learn|announce|m_\w+|report|tell|show|"
                      r"lies_elsewhere|called_at|cast|destroy_bank|own|from_module)$")
BEGIN = "<!-- From sv/ by tests/checks/sv_tables.py: run it with --write after a change there. -->\n"
END = "<!-- End of what sv_tables.py writes. -->\n"


def first_sentence(lines):
    """The first sentence of a comment, or its first clause where the rest is a list."""
    text = " ".join(line.strip()[2:].strip() for line in lines)
    text = re.split(r"(?<=[^.])\.\s+(?=[A-Z`])", text)[0].rstrip(".")
    return text.replace("|", "\\|")


def argument(text):
    """`input longint unsigned first = 0` as `first = 0`; outputs are marked."""
    words = text.strip().split("=")
    name = words[0].split()[-1]
    if re.match(r"\s*(output|ref)\b", text):
        name = "output " + name
    return name + (" = " + words[1].strip() if len(words) > 1 else "")


def calls(text):
    """(name, call, comment, static, public) of every function and task of a class, in order."""
    found, comment, lines, at = [], [], text.split("\n"), 0
    while at < len(lines):
        line = lines[at]
        head = re.match(r"  (pure )?((?:virtual |static |protected |local )*)(function|task)\b", line)
        if head:
            while not lines[at].rstrip().endswith(";"):
                at += 1
                line += " " + lines[at].strip()
            name = re.search(r"(\w+)\s*(\((.*)\))?;$", line.strip())
            arguments = [argument(a) for a in (name.group(3) or "").split(",") if a.strip()]
            hidden = head.group(1) or re.search("protected|local", head.group(2))
            found.append((name.group(1), f"{name.group(1)}({', '.join(arguments)})", comment, "static" in head.group(2),
                          not hidden))
            comment = []
        elif re.match(r"  // (?!verilator|----)", line):
            comment = comment + [line]
        elif not line.startswith("  // verilator"):
            comment = []
        at += 1
    return found


def base_of(root, name):
    """The class that a class extends, past those that have no table; or None."""
    text = open(os.path.join(root, "sv", name + ".svh")).read()
    extends = re.search(r"^(?:virtual )?class \w+ extends (\w+)", text, re.M)
    if not extends:
        return None
    return extends.group(1) if extends.group(1) in CLASSES else base_of(root, extends.group(1))


def table(root, name):
    """The table of one class."""
    text = open(os.path.join(root, "sv", name + ".svh")).read()
    base = base_of(root, name)
    about = first_sentence(re.match(r"(?://.*\n)+", text).group(0).rstrip().split("\n"))
    every = calls(text)
    names = {call[0] for call in every}
    out = f"\n### `{name}`\n\n{about}." + (f" It has all of [`{base}`](#{base}) too." if base else "") + "\n\n"
    out += "| call | what it does |\n|---|---|\n"
    last = ""
    for call, shown, comment, static, public in every:
        alone = comment and call.startswith("try_") and call[len("try_"):] not in names
        if not public or (INTERNAL.match(call) and not alone):
            continue
        last = first_sentence(comment) or last
        twin = " `try_`" if "try_" + call in names else ""
        out += f"| `{name + '::' if static else ''}{shown}`{twin} | {first_sentence(comment)} |\n"
    return out


def main(root, write):
    path = os.path.join(root, "sv", "README.md")
    text = open(path).read()
    if BEGIN not in text or END not in text:
        print("sv/README.md has no place for the tables of classes:", BEGIN.strip())
        return 1
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    want = "\n" + ",\n".join(", ".join(f"[`{name}`](#{name})" for name in CLASSES[at:at + 4])
                             for at in range(0, len(CLASSES), 4)) + ".\n"
    want += "".join(table(root, name) for name in CLASSES) + "\n"
    if text[start:end] == want:
        return 0
    if write:
        open(path, "w").write(text[:start] + want + text[end:])
        return 0
    print("sv/README.md does not say what sv/ has; run tests/checks/sv_tables.py ROOT --write")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv))
