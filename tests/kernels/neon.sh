#!/usr/bin/env bash
# neon.sh BUILD: the checks of the kernels for AArch64 (plain C and NEON), by a cross compiler and an emulator. Skipped
# where one of them is missing: apt-get install gcc-aarch64-linux-gnu qemu-user-static.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd) out=$1/tests/kernels/neon
cc=aarch64-linux-gnu-gcc run=qemu-aarch64-static
for tool in $cc $run; do
  command -v $tool >/dev/null || { echo "1..0 # SKIP no $tool"; exit 0; }
done
mkdir -p "$out"
families=(agree convert equal move pack pick tolerance)
sources=("${families[@]/#/$root/src/check/}")
sources=("${sources[@]/%/.c}")
$cc -static -std=c11 -O2 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
  -DTD_CHECK_FAMILIES\(X\)="$(printf 'X(%s) ' "${families[@]}")" -I "$root/src" "$root/tests/kernels/main.c" \
  "$root"/src/check/{check,families}.c "${sources[@]}" \
  "$root"/src/kernels/*_{c,neon}.c "$root/src/base/cpu.c" -lm -o "$out/kernels"
for family in "${families[@]}"; do
  $run "$out/kernels" "$family" >"$out/$family.log" || { cat "$out/$family.log"; exit 1; }
  grep -v '^1[.][.]' "$out/$family.log"
done
echo "1..$(cat "$out"/*.log | grep -c '^ok')"
