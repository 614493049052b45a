#!/usr/bin/env bash
# verilate.sh UVM BUILD FLAVOUR OUT ARGUMENT...: builds the program OUT/Vtb from a bench, the UVM layer, the library in
# BUILD, and one flavour of UVM (2020_3_1_dpi, 2017_1_0_nodpi) from the folder UVM. The other arguments are Verilator's;
# files are relative to the repository. Most of the time goes into compiling the C++ of UVM, so it is not optimised
# unless TD_OPTIMISE is set; and with -j 1 Verilator writes it as one file, which compiles several times faster than
# thousands of small ones.
set -euo pipefail
uvm=$1 build=$2 flavour=$3 out=$4
shift 4
cd "$(dirname "$0")/../.."
optimise=${TD_OPTIMISE:--O0}
dpi=()
test "${flavour%_dpi}" = "$flavour" || dpi=(--vpi "$uvm/v${flavour%_dpi}/dpi/uvm_dpi.cc")
mkdir -p "$out"
verilator --binary -j 1 --prefix Vtb -Mdir "$out" -Wno-fatal \
  -MAKEFLAGS "OPT_FAST=$optimise OPT_SLOW=-O0 OPT_GLOBAL=$optimise" \
  +incdir+"$uvm" "$uvm/uvm_pkg_all_v$flavour.svh" "${dpi[@]}" -F sv/td.f -F sv/uvm/td_uvm.f "$@" \
  "$build/libtensordoor.so" -LDFLAGS "-Wl,-rpath,$build" >"$out/verilator.log" 2>&1 ||
  { cat "$out/verilator.log" >&2; exit 1; }
