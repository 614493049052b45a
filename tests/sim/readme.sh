#!/usr/bin/env bash
# readme.sh SIMULATE BUILD README: the modules first.sv, parts.sv, second.sv, third.sv and fourth.sv of README.md, as
# printed: built by this version of Verilator with its warnings as errors, and run. What they print is what it says.
set -euo pipefail
simulate=$1 build=$2 readme=$3
folder=$2/tests/sim/readme
mkdir -p "$folder"
for name in first parts second third fourth; do
  # Not touched when it has not changed, so that it is not built again.
  awk -v head="systemverilog $name.sv" '$0 == "```" head {inside = 1; next} /^```/ {inside = 0} inside' "$readme" \
    >"$folder/new"
  test -s "$folder/new"
  cmp -s "$folder/new" "$folder/$name.sv" || cp "$folder/new" "$folder/$name.sv"
  # The first block of text after it is what the command after it prints.
  needed=$(awk -v head="systemverilog $name.sv" '$0 == "```" head {seen = 1} seen && /^```text/ {inside = 1; next}
                                                   inside && /^```/ {exit} inside' "$readme")
  found=$("$simulate" "$build" "$name" "$folder/$name.sv")
  test "$(grep word <<<"$found")" = "$needed" || { echo "$name.sv prints \"$found\", not \"$needed\""; exit 1; }
  echo "$name.sv: $needed"
done
