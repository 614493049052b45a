#!/usr/bin/env bash
# loud.sh SIMULATE ARGUMENT...: without a reporter a failure is a $error with the status and the text, which ends a
# Verilator run unless it is told to go on.
set -uo pipefail
needed='TD_ARGUMENT: memory_create "loud": a width of 0 bits; a width is 1 to 16777216 bits'
stopped=$("$@" +loud 2>&1)
ended=$?
went_on=$("$@" +loud +verilator+error+limit+9 2>&1)
went_on_ended=$?
echo "1..4"
point() { if test "$1" = 0; then echo "ok $2"; else echo "not ok $2"; echo "$3" | sed 's/^/# /'; fi; }
grep -qF "$needed" <<<"$stopped"; point $? "1 - a loud failure is an error with its text" "$stopped"
test $ended != 0; point $? "2 - and ends the run" "$stopped"
grep -qF "no memory was made" <<<"$went_on"; point $? "3 - or goes on under an error limit" "$went_on"
test $went_on_ended = 0; point $? "4 - to its end" "$went_on"
