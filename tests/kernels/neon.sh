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
checks=(check_agree check_convert check_equal check_move check_pack check_pick check_tolerance)
for check in "${checks[@]}"; do
  $cc -static -std=c11 -O2 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
    -I "$root/tests/kernels/cross" -I "$root/src" "$root/tests/kernels/$check.c" \
    "$root"/src/kernels/*_{c,neon}.c "$root/src/base/cpu.c" -lm -o "$out/$check"
  $run "$out/$check" >"$out/$check.log" || { cat "$out/$check.log"; exit 1; }
  cat "$out/$check.log"
done
echo "1..$(cat "$out"/*.log | grep -c '^ok')"
