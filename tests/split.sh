#!/usr/bin/env bash
# split.sh [--alone]: every bench as a model of its own whose C++ is split as far as Verilator can, on the Verilator of
# this machine and on the newest one: sim/split.sh says what is looked at, and what --alone is. It takes ten minutes on
# two cores, with --alone an hour, so it is no part of tests/run --all, which has the test `split` for most of them.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/sid.sh
benches=$(cd tests/sim && ls tb_*.sv)
mkdir -p build

on() { # WHERE BUILD ROOT [chroot FOLDER]
  local where=$1 build=$2 root=$3 bench status=0
  shift 3
  for bench in $benches; do
    echo -n "$where, ${bench%.sv}: "
    "$@" "$root/tests/sim/split.sh" $alone "$build" "${bench%.sv}" "$root/tests/sim/tap_pkg.sv" \
      "$root/tests/sim/$bench" || status=1
  done
  return $status
}
alone=${1:-}
status=0
on "$(verilator --version | cut -d' ' -f1,2)" "$PWD/build" "$PWD" env || status=1
(td_sid_make) || exit $status
td_alone "$td_sid"
td_copy_tree "$td_sid/tensordoor"
on "$(chroot "$td_sid" verilator --version | cut -d' ' -f1,2)" /tensordoor/build /tensordoor chroot "$td_sid" ||
  status=1
exit $status
