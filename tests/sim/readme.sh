#!/usr/bin/env bash
# readme.sh SIMULATE BUILD ROOT: the modules that README.md and the pages of examples/guide print, as printed: built by
# this version of Verilator with its warnings as errors, and run. Every line of text that a page shows for one (but for
# the exit status, which the shell prints) is among those that it prints.
set -euo pipefail
simulate=$1 build=$2 root=$3
folder=$2/tests/sim/readme
mkdir -p "$folder"
. "$root/tests/sim/pages.sh"
for name in $td_page_modules; do
  # Not touched when it has not changed, so that it is not built again.
  td_page_module "$root" "$name" >"$folder/new"
  test -s "$folder/new"
  cmp -s "$folder/new" "$folder/$name.sv" || cp "$folder/new" "$folder/$name.sv"
  # The first block of text after it is what the command after it prints.
  shown=$(td_page_module "$root" "$name" text)
  needed=$(grep -v '^exit status ' <<<"$shown")
  found=$("$simulate" "$build" "$name" "$folder/$name.sv") || grep -q '^exit status ' <<<"$shown"
  printed=$(sed 's/^ *//' <<<"$found")
  while read -r line; do
    grep -qxF -- "$line" <<<"$printed" || { echo "$name.sv prints \"$found\", without \"$line\""; exit 1; }
  done <<<"$needed"
  echo "$name.sv: $needed"
done
