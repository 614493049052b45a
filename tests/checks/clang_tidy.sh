# clang-tidy over the library, the DPI layer and the command; src/check is code of tests, as it was in tests/kernels.
# The analyzer follows each function through so many states; its default, three times as many, takes three times as
# long.
set -eu
cd "$1"
command -v clang-tidy >/dev/null || { echo "clang-tidy is not installed"; exit 77; }

sources() { # COMPILE_COMMANDS
  python3 - "$1" <<'PY'
import json, os, sys
for entry in json.load(open(sys.argv[1])):
    path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
    parts = os.path.relpath(path).split(os.sep)
    if parts[0] in ("src", "dpi") and parts[:2] != ["src", "check"]:
        print(path)
PY
}

sources "$2/compile_commands.json" | sort -u |
  xargs -P 2 -n 4 clang-tidy --quiet -p "$2" --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang \
    --extra-arg=max-nodes="${TD_ANALYZER_STATES:-75000}" 2>/dev/null
