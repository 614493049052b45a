#!/usr/bin/env bash
# split.sh [--alone] BUILD NAME FILE...: the benches of these files in one model, each a top, built as Verilator builds
# a large design: its C++ is split over many files, here one per function, and each of them needs the complete class of
# every object that it uses. The files are only parsed, which finds a class that is missing and takes a tenth of a
# build. What completes a class is its header, so files that include the same headers are parsed together: none of them
# sees more classes than it would alone. With --alone every file is parsed by itself, which takes ten times as long
# (tests/run --split).
set -euo pipefail
alone=
test "$1" != --alone || { alone=1; shift; }
out=$1/tests/sim/split/$2
shift 2
sv=$(cd "$(dirname "$0")/../../sv" && pwd)
include=$(verilator --getenv VERILATOR_ROOT)/include
rm -rf "$out"
mkdir -p "$out"
cd "$out"
verilator --cc --timing -Wno-MULTITOP --output-split 1 --output-split-cfuncs 1 --prefix V -Mdir . \
  -F "$sv/td.f" "$@" >verilator.log 2>&1 || { cat verilator.log >&2; exit 1; }

printf '#include <%s>\n' verilated.h verilated_dpi.h verilated_timing.h >first.h
flags=(-std=gnu++20 -fcoroutines -w -DVL_TIME_CONTEXT -I. -I"$include" -I"$include/vltstd")
g++ "${flags[@]}" -x c++-header first.h -o first.h.gch
mkdir together
for file in *.cpp; do
  list=$(grep '^#include' "$file" | cksum)
  printf '#include "%s"\n' "$file" >>"together/${list%% *}.cpp"
done
if test "$alone"; then printf '%s\n' *.cpp; else printf '%s\n' together/*.cpp; fi |
  xargs -P 2 -n 20 g++ "${flags[@]}" -include first.h -fsyntax-only
count=$(ls ./*.cpp | wc -l)
test "$count" -gt 100
echo "$count files of split C++ with $(ls together | wc -l) lists of headers are complete"
