# House rules that a machine can see: what stands at the top level, svdpi.h only in dpi/, no leftovers, no machine
# paths.
set -eu
cd "$1"
bad=0
complain() { echo "$1"; echo "$2"; bad=1; }

allowed=' dpi sv src tests examples meson.build README.md .ci .clang-format .clang-tidy .gitignore LICENSE CHANGELOG.md
 meson_options.txt '
for name in $(git ls-files | cut -d/ -f1 | sort -u); do
  case $(echo "$allowed" | tr '\n' ' ') in *" $name "*) ;; *) complain "not for the top level:" "$name" ;; esac
done

found=$(git grep -nI 'svdpi\.h' -- src sv || true)
test -z "$found" || complain "svdpi.h outside dpi/:" "$found"
found=$(git grep -nIiw -e 'TODO' -e 'FIXME' -e 'XXX' -- . ':!tests/checks/tree.sh' || true)
test -z "$found" || complain "unfinished:" "$found"
found=$(git grep -nIE '(^|[^[:alnum:]_.])/(work|root|home)/' -- . ':!tests/checks/tree.sh' || true)
test -z "$found" || complain "paths of one machine:" "$found"
found=$(git ls-files '*.c' '*.h' '*.inc' '*.sv' '*.svh' | xargs -r awk 'FNR == 1 && !/^(\/\*|\/\/)/ {print FILENAME}')
test -z "$found" || complain "files that do not open by saying what they own:" "$found"
found=$(git ls-files 'src/*.[ch]' 'dpi/*.[ch]' 'sv/*' ':!src/tensordoor.h' | xargs -r wc -l |
  awk '$2 != "total" && $1 > 600')
test -z "$found" || complain "longer than 600 lines (the manual apart):" "$found"
# Verilator 5.048 takes a variable for the literal that it was assigned, or for the 0 that it began with, although an if
# after it assigns a method's result: such a variable first gets something else than a literal, as td_backdoor.svh says,
# or the choice is a function of its own.
found=$(git ls-files '*.sv' '*.svh' | xargs -r awk '
  FNR == 1 || /^ *(endfunction|endtask)/ { split("", known) }
  /^ *[a-z_0-9]+ *= *([0-9][0-9a-zA-Z'"'"']*|"[^"]*"|TD_[A-Z_]+|null);/ { delete known[$1]; next }
  /^ *[a-z_0-9]+ *= / { known[$1] = 1; next }
  match($0, /^ *(if \(.*\)|else) [a-z_0-9]+ = [a-z_0-9\[\]]+\.[a-z_0-9]+\(/) {
    name = $0
    sub(/ = [a-z_0-9\[\]]+\.[a-z_0-9]+\(.*/, "", name)
    sub(/.* /, "", name)
    if (name !~ /^m_/ && !(name in known)) print FILENAME ":" FNR ":" $0
  }')
test -z "$found" || complain "a method's result that only an if assigns:" "$found"
exit $bad
