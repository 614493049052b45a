#!/usr/bin/env bash
# prototypes.sh BUILD: no linker compares the imports of sv/td_dpi_pkg.sv with the shims of dpi/, so this does: the
# header that Verilator makes of the imports is put in front of every shim, and the names on both sides are compared.
set -euo pipefail
library=$1/libtensordoor.so out=$1/tests/sim/prototypes
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$out"
verilator --cc --timing -Mdir "$out" --top td_ram -F "$root/sv/td.f"
header=$out/Vtd_ram__Dpi.h
include=$(verilator --getenv VERILATOR_ROOT)/include/vltstd

check() { # HEADER SHIM
  gcc -std=c11 -D_GNU_SOURCE -fsyntax-only -x c -include "$1" -isystem "$include" -I "$root/src" "$2"
}
for shim in "$root"/dpi/*.c; do
  check "$header" "$shim"
done

# The check itself: a changed import has to be found.
sed 's/int td_dpi_tensor_set_bits(unsigned long long/int td_dpi_tensor_set_bits(unsigned int/' "$header" \
  >"$out/changed.h"
! cmp -s "$header" "$out/changed.h"
if check "$out/changed.h" "$root/dpi/tensor.c" 2>"$out/changed.log"; then
  echo "a changed prototype was not found" >&2
  exit 1
fi
grep -q "conflicting types for .td_dpi_tensor_set_bits" "$out/changed.log"

grep -o 'td_dpi_[a-z0-9_]*(' "$header" | tr -d '(' | sort -u >"$out/imported"
nm -D --defined-only "$library" | awk '$3 ~ /^td_dpi_/ {print $3}' | sort -u >"$out/exported"
diff "$out/imported" "$out/exported"
! nm -D --undefined-only "$library" | grep -E ' (sv|vpi_)[A-Za-z]'
echo "$(wc -l <"$out/imported") imports agree with the shims"
