# C as clang-format writes it, and no line over 120 columns in anything but prose and data.
set -eu
cd "$1"
bad=0
long=$(git ls-files '*.c' '*.h' '*.inc' '*.sv' '*.svh' '*.f' '*.sh' '*.py' '*.mjs' '*meson.build' meson_options.txt \
  tests/run examples/run 'examples/*/run' .ci/run |
  xargs awk '{ gsub(/[\200-\277]/, "") } length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns" }')
test -z "$long" || { echo "over 120 columns:"; echo "$long"; bad=1; }
command -v clang-format >/dev/null || { echo "clang-format is not installed"; test $bad = 1 || exit 77; exit 1; }
git ls-files '*.c' '*.h' | xargs -P 2 -n 24 clang-format --dry-run -Werror 2>&1 | grep 'error:' && bad=1
exit $bad
