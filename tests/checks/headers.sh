# Every header compiles alone and before and after every other one, so that no two things share a name; the public ones
# also as C++. One translation unit per header: it, and then all the others.
set -eu
cd "$1"
root=$PWD
vltstd=$(verilator --getenv VERILATOR_ROOT 2>/dev/null)/include/vltstd
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
headers=$(git ls-files 'src/*.h' 'dpi/*.h' ':!src/base/portable.h')
for header in $headers; do
  {
    echo "#include \"$root/$header\""
    for other in $headers; do
      test "$other" = "$header" || echo "#include \"$root/$other\""
    done
  } >"$out/$(echo "$header" | tr / _).c"
done
options="-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Isrc -isystem $vltstd"
bad=0
ls "$out"/*.c | xargs -P 2 -n 4 cc $options || bad=1
for header in $(git ls-files 'tests/*.h'); do
  cc $options -x c -include "$header" /dev/null || bad=1
done
for header in $(git ls-files 'src/tensordoor*.h'); do
  g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Isrc -x c++ -include "$header" /dev/null || bad=1
done
exit $bad
