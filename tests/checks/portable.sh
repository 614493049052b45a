# A build with -Dportable=true, in a folder of its own: library and command need no symbol newer than glibc 2.17, no
# library but glibc's, and no path; the library still exports td_* alone.
set -eu
build=$2/portable
command -v objdump >/dev/null || { echo "objdump is not installed"; exit 77; }
test "$(uname -sm)" = "Linux x86_64" || { echo "portable builds are for Linux on x86-64"; exit 77; }
if ! test -e "$build/build.ninja"; then
  meson setup "$build" "$1" -Dportable=true -Dwerror=true >"$2/portable.log" 2>&1 || { cat "$2/portable.log"; exit 1; }
fi
ninja -C "$build" >>"$2/portable.log" 2>&1 || { cat "$2/portable.log"; exit 1; }

bad=0
for file in libtensordoor.so tensordoor; do
  newer=$(objdump -T "$build/$file" | grep -oE '\(?GLIBC_[0-9.]+\)? +[^ ]+$' | tr -d '()' |
    awk '{split($1, v, /[_.]/); if (v[2] > 2 || v[3] > 17) print "  " $2 " of " $1}')
  test -z "$newer" || { echo "$file needs what glibc 2.17 does not have (src/base/portable.h):"; echo "$newer"; bad=1; }
  for needed in $(readelf -d "$build/$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'); do
    case $needed in
      libc.so.6 | libm.so.6 | libpthread.so.0 | libdl.so.2 | ld-linux-x86-64.so.2) ;;
      *) echo "$file needs $needed, which a host may not have"; bad=1 ;;
    esac
  done
  found=$(readelf -d "$build/$file" | grep -E 'R(UN)?PATH|TEXTREL' || true)
  test -z "$found" || { echo "$file:" $found; bad=1; }
done
bash "$(dirname "$0")/exports.sh" "$1" "$build" || bad=1
"$build/tensordoor" --version || bad=1
exit $bad
