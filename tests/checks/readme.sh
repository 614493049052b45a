# Every code block of README.md, done as a reader would: blocks with a file name ("```c first.c") are saved under it,
# "```sh" blocks are run in order in that folder, and a "```text" block is the output of the sh block before it. No
# other blocks.
set -eu
exec python3 "$1/tests/checks/readme.py" "$1" "$2"
