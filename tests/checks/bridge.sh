# The bridge that src/tensordoor_bridge.h prints compiles against the library as it stands there, and does what it says.
set -eu
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sed -n '/^ \* -- 6\. A whole bridge/,/^ \*\//s/^ \*     //p' "$1/src/tensordoor_bridge.h" >"$out/bridge.c"
grep -q 'int main' "$out/bridge.c"
cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$1/src" "$out/bridge.c" \
  -o "$out/bridge" -L"$2" -ltensordoor -Wl,-rpath,"$2"
"$out/bridge" >"$out/said" 2>&1
expected="0004000300020001: compare \"far\" with golden i16 (10, 4), policy exact: 1 of 40 elements differs"
case $(cat "$out/said") in
  "$expected"*"first at (1, 1): expected 6 (0x0006), got 4 (0x0004)"*) ;;
  *) echo "the bridge of tensordoor_bridge.h says:"; cat "$out/said"; exit 1 ;;
esac
