# The library exports td_* and nothing else, needs no C++ runtime, and calls nothing that prints or ends the process.
set -eu
lib=$2/libtensordoor.so
bad=0

others=$(nm -D --defined-only "$lib" | awk '{print $3}' | grep -v '^td_' || true)
if test -n "$others"; then
  echo "exported beside td_*:" $others
  bad=1
fi
needed=$(readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
case "$needed" in *stdc++*) echo "needs a C++ runtime:" $needed; bad=1 ;; esac

undefined=$(nm -D --undefined-only "$lib" | awk '{print $NF}' | sed 's/@.*//')
for name in $undefined; do
  case $name in
    td_*) echo "declared but never defined: $name"; bad=1 ;;
    exit | _exit | abort | printf | puts | putchar | perror | vprintf | __printf_chk | __vprintf_chk | stdout | stderr)
      echo "the library must not print or exit, but uses $name"
      bad=1
      ;;
  esac
done

# Every function of the two manuals is there.
for header in tensordoor.h tensordoor_bridge.h; do
  for name in $(grep -o '\btd_[a-z_]*(' "$1/src/$header" | tr -d '(' | sort -u); do
    grep -q "^TD_API.*\b$name(" "$1/src/$header" || continue
    nm -D --defined-only "$lib" | grep -q " $name\$" || { echo "in $header but not in the library: $name"; bad=1; }
  done
done
exit $bad
