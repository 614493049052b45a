# Every code block of the pages for users (README.md, those of sv/ and of examples/guide/), done as a reader would:
# blocks with a file name ("```c first.c") are saved under it, "```sh" blocks are run in order in that folder, and a
# "```text" block is the output of the sh block before it. No other blocks, no page with blocks that is not run, no link
# that leads nowhere, in the tree or in an installation. readme.py ROOT BUILD TEXT runs the pages whose names have TEXT.
set -eu
exec python3 "$1/tests/checks/readme.py" "$1" "$2"
