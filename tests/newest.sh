#!/usr/bin/env bash
# newest.sh LOG: the benches and the examples on the newest Verilator that Debian has, in the container of tests/sid.sh.
# LOG gets meson's log. Exits 77 where no container can be made.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/sid.sh

td_sid_make
td_sid_build
td_sid_test "$1" --suite sim --suite examples
