#!/usr/bin/env bash
# simulate.sh UVM BUILD FLAVOUR: builds the tests of the UVM layer with one flavour of UVM and runs what tests.txt
# lists; verilate.sh explains the arguments. A program that is newer than its sources is not built again.
set -euo pipefail
out=$2/tests/uvm/$3
cd "$(dirname "$0")/../.."
. tests/cache.sh
. tests/uvm/sources.sh

program=$out/Vtb
if ! test -e "$program" || test -n "$(find sv tests/uvm tests/sim/tap_pkg.sv -type f -newer "$program" |
  head -1)"; then
  mkdir -p "$out"
  td_uvm_first_test . "$out/first_test.svh"
  tests/uvm/verilate.sh "$1" "$2" "$3" "$out" --top tb +incdir+"$out" +incdir+tests/uvm tests/sim/tap_pkg.sv \
    tests/uvm/tb_uvm.sv
fi

# Each run has its own TAP results, and one more for how it ended: with status 0 and as many results as it had planned,
# or, with "!" before it, with another status. The plan is needed because a run that UVM ends with a fatal error still
# has status 0.
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
