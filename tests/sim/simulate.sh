#!/usr/bin/env bash
# simulate.sh BUILD TOP FILE... [+PLUSARG...]: builds a bench with Verilator and runs it in BUILD/tests/sim/TOP. A
# bench that is newer than its sources is only run: the library is a shared one, and may have changed since. With
# sanitizers in the library (TD_SANITIZE), their runtime has to come first in the process. What Verilator generates is
# compiled without optimisation, as most of the time goes there; TD_CFLAGS is for benchmarks.
set -euo pipefail
build=$1 top=$2 out=$1/tests/sim/$2
shift 2
sv=$(cd "$(dirname "$0")/../../sv" && pwd)
files=() plusargs=()
for argument in "$@"; do
  case $argument in
    +*) plusargs+=("$argument") ;;
    *) files+=("$argument") ;;
  esac
done
mkdir -p "$out"
if test -z "$(test -e "$out/V$top" && find "$sv" "${files[@]}" "$0" -newer "$out/V$top" | head -1 || echo stale)"; then
  : up to date
else
  verilator --binary -O3 ${TD_CFLAGS:--MAKEFLAGS OPT_FAST=-O0 -MAKEFLAGS OPT_SLOW=-O0 -MAKEFLAGS OPT_GLOBAL=-O0} \
    -MAKEFLAGS VM_PARALLEL_BUILDS=0 -Mdir "$out" --top "$top" -F "$sv/td.f" "${files[@]}" \
    "$build/libtensordoor.so" -LDFLAGS "-Wl,-rpath,$build" >"$out/verilator.log" 2>&1 ||
    { cat "$out/verilator.log" >&2; exit 1; }
fi
cd "$out"
runtime=
test "${TD_SANITIZE:-none}" = none || runtime=$(gcc -print-file-name=libasan.so)
# Verilator's own last lines are no TAP.
LD_PRELOAD=$runtime "./V$top" "${plusargs[@]}" | sed '/: Verilog \$finish$/d; /^- /d'
