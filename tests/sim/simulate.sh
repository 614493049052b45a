#!/usr/bin/env bash
# simulate.sh LIBRARY OUT TOP FILE... [+PLUSARG...]: builds a bench with Verilator in OUT/TOP and runs it. With TD_SANITIZE set,
# the library was built with sanitizers and their runtime has to come first in the program.
set -euo pipefail
library=$1 out=$2/$3 top=$3
shift 3
mkdir -p "$out"
here=$(cd "$(dirname "$0")" && pwd)
files=() plusargs=()
for argument in "$@"; do
  case $argument in
    +*) plusargs+=("$argument") ;;
    *) files+=("$argument") ;;
  esac
done
verilator --binary -O3 -CFLAGS -O1 -Mdir "$out" --top "$top" -F "$here/../../sv/td.f" "${files[@]}" "$library" \
  -LDFLAGS "-Wl,-rpath,$(dirname "$library")" >"$out/verilator.log" 2>&1 || { cat "$out/verilator.log"; exit 1; }
if test "${TD_SANITIZE:-none}" != none; then
  export LD_PRELOAD=$(gcc -print-file-name=libasan.so)
fi
cd "$out"
"./V$top" "${plusargs[@]}"
