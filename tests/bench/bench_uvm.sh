#!/usr/bin/env bash
# bench_uvm.sh UVM BUILD: builds bench_uvm.sv, optimised, and runs it; tests/uvm/verilate.sh says what the arguments
# are.
set -euo pipefail
uvm=$1 build=$2 out=$2/tests/uvm/bench
cd "$(dirname "$0")/../.."

# Debian's UVM is preprocessed with 64 bits for values of the register layer, and the words here have 128.
mkdir -p "$out/uvm"
cp -a "$uvm/." "$out/uvm"
sed -i -E '/uvm_reg_(data|data_logic|byte_en)_t ;$/s/64/128/; s/max_size > 64\b/max_size > 128/' \
  "$out/uvm/uvm_pkg_all_v2020_3_1_dpi.svh"

TD_OPTIMISE=-O2 tests/uvm/verilate.sh "$out/uvm" "$build" 2020_3_1_dpi "$out" --top bench_uvm \
  tests/bench/bench_uvm.sv tests/bench/bench_mem.c
timeout 120 "$out/Vtb" +UVM_NO_RELNOTES | grep -E 'ns per|times as long|^UVM_ERROR|^UVM_FATAL'
