# README.md's first screen, without root and in a home of its own: its installation, as printed, places header, library,
# command, sv/ and a pkg-config file; its first module builds and runs with what `tensordoor flags` prints, and a C
# program with what pkg-config gives, both without a path to the library in the environment. The library has no path in
# it.
set -eu
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
unset LD_LIBRARY_PATH PKG_CONFIG_PATH
mkdir "$out/clone" "$out/home"
cd "$1"
git ls-files -co --exclude-standard | while read -r file; do test ! -e "$file" || echo "$file"; done |
  tar -cf - -T - | tar -xf - -C "$out/clone"

cat >"$out/first.c" <<'C'
#include <stdio.h>
#include <tensordoor.h>
int main(void)
{
    td_tensor *t = NULL;
    td_memory *m = NULL;
    td_layout *l = NULL;
    uint64_t word = 0, address = 1;
    if (td_tensor_create("i16", TD_SHAPE(1, 2, 4), &t) || td_tensor_fill_ramp(t, 1, 1) ||
        td_memory_create("m", 64, 8, &m) || td_layout_create("b w (ct cs) -> (b w ct) cs", "cs=4", NULL, &l) ||
        td_backdoor_load_tensor(m, t, l, NULL) || td_backdoor_read(m, &address, 1, &word))
        printf("%s\n", td_last_error());
    printf("%016llx\n", (unsigned long long)word);
    td_layout_destroy(&l);
    td_memory_destroy(&m);
    td_tensor_destroy(&t);
    return word != 0x0008000700060005;
}
C

# As a reader does it. -O0 only saves time.
cat >"$out/reader.sh" <<'READER'
set -eu
export HOME=$1/home CFLAGS=-O0 CCACHE_DIR=$1/home/.ccache
cd "$1/clone"
sed -n 's/^    \(meson setup\|export PATH\)/\1/p' README.md >"$1/screen"
test "$(wc -l <"$1/screen")" = 2 || { echo "README.md has another first screen:"; cat "$1/screen"; exit 1; }
. "$1/screen" >"$1/install.log" 2>&1 || { cat "$1/install.log"; exit 1; }
prefix=$HOME/.local
for file in include/tensordoor.h include/tensordoor_bridge.h share/tensordoor/sv/td.f share/tensordoor/sv/td_pkg.sv \
  bin/tensordoor; do
  test -e "$prefix/$file" || { echo "not installed: $file"; exit 1; }
done
test -z "$(find "$1/clone/build" -name 'test_*' | head -1)" || { echo "an installation builds tests"; exit 1; }

awk '/^```systemverilog first.sv/ {on = 1; next} /^```/ {on = 0} on' README.md >"$1/home/first.sv"
cd "$1/home"
$(tensordoor flags --verilator) -MAKEFLAGS OPT_FAST=-O0 --top first first.sv >"$1/verilator.log" 2>&1 ||
  { cat "$1/verilator.log"; exit 1; }
obj_dir/Vfirst | grep "^word 0x113 is 0027002600250024, element 43 came back as 43$"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tensordoor.pc)")
export PKG_CONFIG_PATH
cc -std=c11 -Wall -Wextra -Werror "$1/first.c" -o first $(pkg-config --cflags --libs tensordoor)
./first
READER
if test "$(id -u)" = 0; then
  chmod 755 "$out"
  chown -R 65534:65534 "$out"
  setpriv --reuid 65534 --regid 65534 --clear-groups bash "$out/reader.sh" "$out"
else
  bash "$out/reader.sh" "$out"
fi
lib=$(find "$out/home/.local" -name libtensordoor.so)
found=$(readelf -d "$lib" | grep -E 'R(UN)?PATH' || true)
test -z "$found" || { echo "the library has a path in it:" $found; exit 1; }
