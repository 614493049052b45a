#!/usr/bin/env bash
# Verilator's -Wall on sv/, at widths that take each way through td_ram.
set -euo pipefail
sv=$(cd "$(dirname "$0")/../../sv" && pwd)
for width in 1 8 33 64 65 128 300 512 2100; do
  verilator --lint-only --timing -Wall -F "$sv/td.f" --top td_ram -GWidth=$width
done
verilator --lint-only --timing -Wall -F "$sv/td.f" --top td_ram -GDepth=64\'d1 -GByteMask=1\'b1
verilator --lint-only --timing -Wall -Wno-MULTITOP -F "$sv/td.f" "$(dirname "$0")/lint_mem.sv" --top lint_mem

# A design with a `timescale: before our files, which then have it too, and after them, where they have none.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '`timescale 1ns / 1ps\nmodule scaled;\nendmodule\n' >"$folder/scaled.sv"
for files in "$folder/scaled.sv -F $sv/td.f" "-F $sv/td.f $folder/scaled.sv"; do
  verilator --lint-only --timing -Wall -Wno-MULTITOP $files "$(dirname "$0")/lint_mem.sv" --top lint_mem
done

# A path that does not begin at a top module is refused: in a module with two instances it would reach one of them.
cat >"$folder/relative.sv" <<'SV'
`include "td_macros.svh"
module relative_sram;
  import td_pkg::*;
  logic [31:0] mem[0:15];
  `TD_MEM_CLASS(own_mem, mem, 32)
  initial begin
    td_memory memory;
    memory = own_mem::create();
    memory.clear();
  end
endmodule
module relative;
  relative_sram u_one ();
  relative_sram u_two ();
endmodule
SV
if verilator --lint-only --timing -F "$sv/td.f" "$folder/relative.sv" --top relative >"$folder/log" 2>&1; then
  echo "a relative path was not refused" >&2
  exit 1
fi
grep -q "%Error.*mem" "$folder/log"
echo "sv/ is clean under -Wall"
