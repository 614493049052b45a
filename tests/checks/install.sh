# `meson install` places header, library, sv/ and a pkg-config file, and a C program builds and runs against them.
set -eu
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
DESTDIR=$out/stage meson install -C "$2" --no-rebuild --quiet >/dev/null
pc=$(find "$out/stage" -name tensordoor.pc)
prefix=$(sed -n 's/^prefix=//p' "$pc")
for file in include/tensordoor.h share/tensordoor/sv/td.f share/tensordoor/sv/td_pkg.sv bin/tensordoor; do
  test -e "$out/stage$prefix/$file" || { echo "not installed: $prefix/$file"; exit 1; }
done
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
sed -i "s#^prefix=.*#prefix=$out/stage$prefix#" "$pc"
export PKG_CONFIG_PATH=$(dirname "$pc")
cc -std=c11 -Wall -Wextra -Werror "$out/first.c" -o "$out/first" $(pkg-config --cflags --libs tensordoor)
LD_LIBRARY_PATH=$(dirname "$(find "$out/stage" -name libtensordoor.so)") "$out/first"
