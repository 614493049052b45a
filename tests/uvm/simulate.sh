#!/usr/bin/env bash
# simulate.sh UVM BUILD FLAVOUR: builds the tests of the UVM layer with one flavour of UVM and makes the runs of
# tests.txt; verilate.sh says what the arguments are. A program that is newer than its sources is only run.
set -euo pipefail
out=$2/tests/uvm/$3
cd "$(dirname "$0")/../.."
. tests/cache.sh
. tests/uvm/sources.sh

program=$out/Vtb
if ! test -e "$program" || test -n "$(find sv tests/uvm tests/sim/tap_pkg.sv README.md -type f -newer "$program" |
  head -1)"; then
  mkdir -p "$out"
  td_uvm_first_test README.md "$out/first_test.svh"
  tests/uvm/verilate.sh "$1" "$2" "$3" "$out" --top tb +incdir+"$out" +incdir+tests/uvm tests/sim/tap_pkg.sv \
    tests/uvm/tb_uvm.sv
fi

# A run's points are its own, and one more for its end: with status 0 and as many points as it has planned, or, with "!"
# before it, with another status. A fatal error of UVM alone ends a run with status 0, but before the plan.
grep -v -E '^ *(#|$)' tests/uvm/tests.txt >"$out/runs"
points=0
runs=0
while read -r line; do
  read -r -a words <<<"${line#! }"
  runs=$((runs + 1))
  folder=$out/run_$runs
  rm -rf "$folder"
  mkdir "$folder"
  status=0
  (cd "$folder" && timeout 120 "$program" "+UVM_TESTNAME=${words[0]}" +UVM_NO_RELNOTES "${words[@]:1}") \
    >"$folder/log" 2>&1 || status=$?
  end=ok
  if test "${line#! }" = "$line"; then
    own=$(grep -c -E '^(not )?ok ' "$folder/log" || true)
    sed -n -E "s/^((not )?ok) [0-9]+ -/\1 - ${words[0]}:/p" "$folder/log"
    points=$((points + own))
    test $status = 0 && test "$own" -gt 0 && grep -q "^1\.\.$own\$" "$folder/log" || end="not ok"
  else
    test $status != 0 || end="not ok"
  fi
  points=$((points + 1))
  echo "$end - $line: ended with status $status"
  test "$end" = ok || sed 's/^/# /' "$folder/log"
done <"$out/runs"
echo "1..$points"
