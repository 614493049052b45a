#!/usr/bin/env bash
# split.sh BUILD FILE...: the benches in one model, each a top, built as Verilator builds a large design: its C++ is
# split over many files, and each of them needs the complete class of every object that it uses. The files are only
# parsed, which finds a class that is missing and takes a tenth of a build. tb_widths and tb_many stay out: they would
# be a thousand files of one macro.
set -euo pipefail
out=$1/tests/sim/split
shift
sv=$(cd "$(dirname "$0")/../../sv" && pwd)
include=$(verilator --getenv VERILATOR_ROOT)/include
rm -rf "$out"
mkdir -p "$out"
cd "$out"
verilator --cc --timing -Wno-MULTITOP --output-split 3000 --output-split-cfuncs 1000 --prefix V -Mdir . \
  -F "$sv/td.f" "$@" >verilator.log 2>&1 || { cat verilator.log >&2; exit 1; }

printf '#include <%s>\n' verilated.h verilated_dpi.h verilated_timing.h >first.h
flags=(-std=gnu++20 -fcoroutines -w -DVL_TIME_CONTEXT -I. -I"$include" -I"$include/vltstd")
g++ "${flags[@]}" -x c++-header first.h -o first.h.gch
printf '%s\n' *.cpp | xargs -n 20 g++ "${flags[@]}" -include first.h -fsyntax-only
count=$(ls ./*.cpp | wc -l)
test "$count" -gt 100
echo "$count files of split C++ are complete"
