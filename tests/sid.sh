# What tests/newest.sh, tests/uvm.sh and examples/run --uvm share: a container of Debian sid with the newest Verilator,
# made once outside the tree and kept, and a copy of the tree in it. Sourced, with the repository's root as the working
# folder; every function says why and exits 77 where there can be no container.
. tests/cache.sh
td_sid=$td_cache/sid
td_sid_packages=verilator,g++,gcc,make,meson,ninja-build,pkg-config,zlib1g-dev,libjansson-dev,libelf-dev
td_sid_packages=$td_sid_packages,libcmocka-dev,python3

# td_sid_make: the container.
td_sid_make() {
  td_container "$td_sid" sid $td_sid_packages usr/bin/verilator
}

# td_sid_build [MESON OPTION...]: the library and the codec of tb_layers, in /tensordoor/build/newest of the container.
td_sid_build() {
  td_copy_tree "$td_sid/tensordoor"
  chroot "$td_sid" verilator --version
  chroot "$td_sid" sh -e -c '
    cd /tensordoor
    test -e build/newest/build.ninja || meson setup build/newest -Dbuildtype=release -Dtests=true >/dev/null
    test $# = 0 || meson configure build/newest "$@"
    ninja -C build/newest libtensordoor.so.0.1.0 tests/unit/codecs.so >build/newest.log 2>&1 ||
      { cat build/newest.log; exit 1; }' sh "$@"
}

# td_sid_uvm: UVM's sources, which td_uvm_fetch has fetched, as /uvm of the container.
td_sid_uvm() {
  rm -rf "$td_sid/uvm"
  cp -a "$td_uvm" "$td_sid/uvm"
}

# td_sid_test LOG MESON_TEST_OPTION...: tests there; LOG gets meson's log.
td_sid_test() {
  local log=$1 status=0
  shift
  chroot "$td_sid" meson test -C /tensordoor/build/newest --no-rebuild --print-errorlogs --num-processes 2 "$@" ||
    status=$?
  test "$log" = /dev/null || cp "$td_sid/tensordoor/build/newest/meson-logs/testlog.json" "$log"
  return $status
}
