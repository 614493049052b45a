# cppcheck over the library, the DPI layer and the command. It reads hexadecimal float constants as integers and then
# finds comparisons with them impossible (incorrectLogicOperator).
set -eu
cd "$1"
command -v cppcheck >/dev/null || { echo "cppcheck is not installed"; exit 77; }
folders=$(for folder in src dpi; do test -z "$(git ls-files "$folder/*.c")" || echo $folder; done)
cppcheck -j 2 --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr \
  --error-exitcode=1 --suppress=missingIncludeSystem --suppress=incorrectLogicOperator -D_GNU_SOURCE -Isrc $folders 2>&1
