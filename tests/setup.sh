# What tests/run and examples/run share: the packages a bare Debian lacks, and the release build. Sourced, with the
# repository's root as the working folder.

# probe:package, one line per tool.
td_tools_build="
cc:gcc
meson:meson
ninja:ninja-build
pkg-config:pkg-config
zlib.h:zlib1g-dev
jansson.h:libjansson-dev
libelf.h:libelf-dev"

td_tools_sim="
g++:g++
make:make
verilator:verilator"

td_tools_test="
python3:python3
cmocka.h:libcmocka-dev
clang-format:clang-format
clang-tidy:clang-tidy
cppcheck:cppcheck"

td_has() {
  case $1 in
    *.h) test -e "/usr/include/$1" || echo "#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <$1>" | cc -E -x c - >/dev/null 2>&1 ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
  esac
}

# td_need TOOLS...: installs the packages whose probe fails, or says which they are and stops.
td_need() {
  local line missing=""
  for line in "$@"; do
    td_has "${line%%:*}" || missing="$missing ${line##*:}"
  done
  test -n "$missing" || return 0
  local install="apt-get install -y --no-install-recommends$missing"
  if test "$(id -u)" != 0; then
    echo "missing packages; run as root: $install" >&2
    exit 1
  fi
  echo "installing what is missing:$missing"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q >/dev/null
  $install -q >/dev/null
}

# td_build DIR [MESON OPTION...]: configures DIR when it is new, and builds it.
td_build() {
  local dir=$1
  shift
  if ! test -e "$dir/build.ninja"; then
    meson setup "$dir" "$@" >"$dir.log" 2>&1 || { cat "$dir.log" >&2; return 1; }
  fi
  ninja -C "$dir" >"$dir.log" 2>&1 || { cat "$dir.log" >&2; return 1; }
}
