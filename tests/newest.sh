#!/usr/bin/env bash
# newest.sh LOG: the benches and the examples on the newest Verilator that Debian has, in a container of Debian sid that is made
# once, outside the tree, and kept. LOG gets meson's log. Exits 77 where no container can be made.
set -euo pipefail
log=$1
cd "$(dirname "$0")/.."
cache=${TD_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/tensordoor}
sid=$cache/sid
packages=verilator,g++,gcc,make,meson,ninja-build,pkg-config,zlib1g-dev,libjansson-dev,libelf-dev,libcmocka-dev,python3
skip() { echo "skipped: $1"; exit 77; }

test "$(id -u)" = 0 || skip "a container is made by root"
if ! test -e "$sid/usr/bin/verilator"; then
  command -v mmdebstrap >/dev/null || {
    echo "installing what is missing: mmdebstrap"
    apt-get install -y --no-install-recommends -q mmdebstrap >/dev/null || skip "mmdebstrap is not installed"
  }
  echo "making a container of Debian sid in $sid"
  mkdir -p "$cache"
  rm -rf "$sid.new"
  mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --include=$packages sid "$sid.new" \
    >"$cache/sid.log" 2>&1 || skip "no container: $(tail -1 "$cache/sid.log")"
  mv "$sid.new" "$sid"
fi

# A copy, with the times of the files, so that a second run of one commit builds only what has changed; another commit, or
# another clone of it, starts anew.
mkdir -p "$sid/tensordoor"
stamp="$PWD $(git rev-parse HEAD)"
test "$(cat "$sid/tensordoor/build/stamp" 2>/dev/null)" = "$stamp" || rm -rf "$sid/tensordoor/build"
mkdir -p "$sid/tensordoor/build"
echo "$stamp" >"$sid/tensordoor/build/stamp"
find "$sid/tensordoor" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files -co --exclude-standard | while read -r file; do test ! -e "$file" || echo "$file"; done |
  tar -cf - -T - | tar -xf - -C "$sid/tensordoor"

chroot "$sid" verilator --version
chroot "$sid" sh -e -c '
  cd /tensordoor
  test -e build/newest/build.ninja || meson setup build/newest -Dbuildtype=release >/dev/null
  ninja -C build/newest libtensordoor.so.0.1.0 >build/newest.log 2>&1 || { cat build/newest.log; exit 1; }
  meson test -C build/newest --no-rebuild --print-errorlogs --num-processes 2 --suite sim --suite examples' && status=0 ||
  status=$?
cp "$sid/tensordoor/build/newest/meson-logs/testlog.json" "$log"
exit $status
