#!/usr/bin/env bash
# uvm.sh LOG: the tests of the UVM layer and its example with UVM 1800.2-2017 1.0 and 2020 3.1, with and without UVM's
# DPI, in the container of tests/sid.sh. LOG gets meson's log. Exits 77 where no container can be made.
#   tests/uvm.sh bench    the figures instead: ns for a 128-bit word by a sequence, by the register layer, and by
#                         uvm_hdl_deposit
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/sid.sh
. tests/uvm/sources.sh

td_sid_make
td_uvm_fetch
td_sid_uvm
td_sid_build -Duvm=/uvm
if test "$1" = bench; then
  td_sid_test /dev/null --benchmark --verbose --suite uvm
else
  td_sid_test "$1" --suite uvm
fi
