#!/usr/bin/env bash
# Verilator's -Wall on sv/, at widths that take each way through td_ram.
set -euo pipefail
sv=$(cd "$(dirname "$0")/../../sv" && pwd)
for width in 1 8 33 64 65 128 300 512 2100; do
  verilator --lint-only --timing -Wall -F "$sv/td.f" --top td_ram -GWidth=$width
done
verilator --lint-only --timing -Wall -F "$sv/td.f" --top td_ram -GDepth=64\'d1 -GByteMask=1\'b1
verilator --lint-only --timing -Wall -Wno-MULTITOP -F "$sv/td.f" "$(dirname "$0")/lint_mem.sv" --top lint_mem
echo "sv/ is clean under -Wall"
