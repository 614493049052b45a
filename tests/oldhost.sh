#!/usr/bin/env bash
# oldhost.sh LOG: a portable build (-Dportable=true) made here, and its C tests and those of the command run on Debian
# 11 (glibc 2.31) in a container that is made once, outside the tree. LOG
# gets meson's log. Exits 77 where no container can be made.
set -euo pipefail
cd "$(dirname "$0")/.."
. tests/setup.sh
. tests/cache.sh
old=$td_cache/bullseye
log=$(realpath -m "$1")

test "$(uname -sm)" = "Linux x86_64" || td_skip "portable builds are for Linux on x86-64"
td_container "$old" bullseye libcmocka0,python3 usr/bin/python3

# Meson runs the tests from here, each through chroot. So that paths mean the same on both sides, the build is made
# inside the container's folder, and the path of that folder leads, in the container, to its root.
mkdir -p "$old$(dirname "$old")"
test -e "$old$old" || ln -s / "$old$old"
td_copy_tree "$old/tensordoor"
cd "$old/tensordoor"
# Programs that both sides have under one path.
export PATH=/usr/bin:/bin:$PATH
td_build build/portable -Dbuildtype=release -Dportable=true -Dtests=true -Dsim=disabled

# Without tests/fault: it would refuse the allocations of the jansson inside too, which takes them for bad JSON.
chroot "$old" sh -c 'ldd --version | head -1'
status=0
meson test -C build/portable --no-rebuild --print-errorlogs --num-processes 2 \
  --wrapper "chroot $old sh -c 'cd $PWD/build/portable && exec \"\$@\"' sh" \
  --suite unit --suite kernels --suite prop --suite fuzz --suite tool || status=$?
test "$log" = /dev/null || cp build/portable/meson-logs/testlog-chroot.json "$log"
exit $status
