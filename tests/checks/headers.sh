# Every header compiles alone, and the public one also as C++.
set -eu
cd "$1"
bad=0
vltstd=$(verilator --getenv VERILATOR_ROOT 2>/dev/null)/include/vltstd
for header in $(git ls-files 'src/*.h' 'dpi/*.h' 'tests/*.h'); do
  cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Isrc -isystem "$vltstd" -x c -include "$header" /dev/null || bad=1
done
g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ -include src/tensordoor.h /dev/null || bad=1
exit $bad
