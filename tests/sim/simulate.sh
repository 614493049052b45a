#!/usr/bin/env bash
# simulate.sh BUILD TOP FILE... [+PLUSARG...]: builds a bench with Verilator and runs it in BUILD/tests/sim/TOP. A
# bench that is newer than its sources is only run: the library is a shared one, and may have changed since. Nor is one
# built that another build has (TD_BENCHES, its folder of benches): it runs with the library of this one. With
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

fresh() { # PROGRAM
  test -e "$1" && test -z "$(find "$sv" "${files[@]}" "$0" -newer "$1" | head -1)"
}
program=$out/V$top
if test "${TD_BENCHES:-}" && fresh "$TD_BENCHES/$top/V$top"; then
  program=$TD_BENCHES/$top/V$top
elif ! fresh "$program"; then
  verilator --binary -O3 ${TD_CFLAGS:--MAKEFLAGS OPT_FAST=-O0 -MAKEFLAGS OPT_SLOW=-O0 -MAKEFLAGS OPT_GLOBAL=-O0} \
    -MAKEFLAGS VM_PARALLEL_BUILDS=0 -Mdir "$out" --top "$top" -F "$sv/td.f" "${files[@]}" \
    "$build/libtensordoor.so" -LDFLAGS "-Wl,-rpath,$build" >"$out/verilator.log" 2>&1 ||
    { cat "$out/verilator.log" >&2; exit 1; }
fi
cd "$out"
runtime=
test "${TD_SANITIZE:-none}" = none || runtime=$(gcc -print-file-name=libasan.so)
export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
ldd "$program" | grep "libtensordoor.* => $build/" >/dev/null ||
  { echo "$program does not load the library of $build" >&2; exit 1; }
# Verilator's own last lines are no TAP.
LD_PRELOAD=$runtime "$program" "${plusargs[@]}" | sed '/: Verilog \$finish$/d; /^- /d'
