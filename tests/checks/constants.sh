# Numbers that C and SystemVerilog both have: what crosses DPI at once, the directions of a transfer and what it is for,
# the ports of td_ram, the statuses. No compiler sees both sides, so this compares them, name by name.
set -eu
cd "$1"
python3 - <<'PYTHON'
import re
import sys

pkg = open("sv/td_dpi_pkg.sv").read()
c = "".join(open(f).read() for f in ("dpi/chunk.h", "dpi/transfer.c", "dpi/ram.c", "src/tensordoor_bridge.h"))
bad = 0


def differ(what, sv, c_value):
    global bad
    if sv is None or sv != c_value:
        print(f"{what}: {sv} in SystemVerilog, {c_value} in C")
        bad = 1


def macro(name):
    found = re.search(rf"#define {name} (\w+)", c)
    return found and (int(found.group(1)) if found.group(1).isdigit() else macro(found.group(1)))


def parameter(name):
    found = re.search(rf"parameter int unsigned {name} = (\d+);", pkg)
    return found and int(found.group(1))


def enum(text, pattern):
    """The names and numbers of the enum whose body the pattern finds."""
    body = re.sub(r"//[^\n]*|/\*.*?\*/", "", re.search(pattern, text, re.S).group(1), flags=re.S)
    values, following = {}, 0
    for item in filter(None, (i.strip() for i in body.split(","))):
        name, _, value = (part.strip() for part in item.partition("="))
        following = int(value) if value else following
        values[name] = following
        following += 1
    return values


for sv, name in (("ChunkWords", "TD_CHUNK_WORDS"), ("ChunkHead", "TD_CHUNK_HEAD"), ("ChunkUnknown", "TD_CHUNK_UNKNOWN"),
                 ("ListWords", "TD_LIST_WORDS"), ("ListAddresses", "TD_LIST_ADDRESSES")):
    differ(sv, parameter(sv), macro(name))


def camel(name, prefix):
    return "".join(w.capitalize() for w in name.removeprefix(prefix).split("_"))


for type_name, pattern, rename in (
        ("transfer_e", r"enum \{ (TAKE_OUT.*?)\}", lambda n: camel(n, "")),
        ("transfer_use_e", r"enum td_transfer_use \{(.*?)\}", lambda n: "For" + camel(n, "TD_TRANSFER_")),
        ("ram_port_e", r"enum \{ (READS.*?)\}", lambda n: "Ram" + camel(n, ""))):
    sv = re.search(r"typedef enum int \{([^{}]*)\} " + type_name, pkg)
    differ(type_name, enum(pkg, r"typedef enum int \{([^{}]*)\} " + type_name) if sv else None,
           {rename(n): v for n, v in enum(c, pattern).items()})

differ("td_status_e", enum(open("sv/td_status.svh").read(), r"typedef enum int \{([^{}]*)\} td_status_e"),
       enum(open("src/tensordoor.h").read(), r"typedef enum td_status \{(.*?)\} td_status;"))
sys.exit(bad)
PYTHON
