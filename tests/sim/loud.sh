#!/usr/bin/env bash
# loud.sh SIMULATE ARGUMENT...: what the loud calls do without a reporter. A refused call is a $error with the status
# and the text, which ends a Verilator run unless it is told to go on. A mismatch ends no run, unless a plusarg or the
# reporter says so; the exit status tells.
set -uo pipefail
needed='TD_ARGUMENT: memory_create "loud": a width of 0 bits; a width is 1 to 16777216 bits'
stopped=$("$@" +loud 2>&1)
ended=$?
went_on=$("$@" +loud +verilator+error+limit+9 2>&1)
went_on_ended=$?
differed=$("$@" +differs 2>&1)
differed_ended=$?
at_first=$("$@" +differs +td_stop_on_error 2>&1)
at_first_ended=$?
by_setting=$("$@" +differs +setting 2>&1)
by_setting_ended=$?
echo "1..12"
point() { if test "$1" = 0; then echo "ok $2"; else echo "not ok $2"; echo "$3" | sed 's/^/# /'; fi; }
grep -qF "$needed" <<<"$stopped"; point $? "1 - a loud failure is an error with its text" "$stopped"
test $ended != 0; point $? "2 - and ends the run" "$stopped"
grep -qF "no memory was made" <<<"$went_on"; point $? "3 - or goes on under an error limit" "$went_on"
test $went_on_ended = 0; point $? "4 - to its end" "$went_on"
line='compare "differs" with golden u8 (4), policy exact: 1 of 4 elements differs'
grep -qE "^\[0\] %Error: .*1 of 4 elements differs" <<<"$differed"; point $? "5 - a mismatch is an error" "$differed"
table=$(grep -nF "$line" <<<"$differed" | head -1 | cut -d: -f1)
error=$(grep -n "%Error" <<<"$differed" | head -1 | cut -d: -f1)
test "${table:-9}" -lt "${error:-0}"; point $? "6 - after the table of its report" "$differed"
grep -qF "both were compared" <<<"$differed"; point $? "7 - and ends no run" "$differed"
grep -qF "tensordoor: 2 comparisons found a mismatch" <<<"$differed"; point $? "8 - whose end counts them" "$differed"
test $differed_ended = 1; point $? "9 - with status 1" "$differed ended with $differed_ended"
first_only() { grep -qF "1 of 4 elements differs" <<<"$1" && ! grep -qF "both were compared" <<<"$1" && test $2 != 0; }
first_only "$at_first" $at_first_ended
point $? "10 - +td_stop_on_error ends it at the first" "$at_first"
first_only "$by_setting" $by_setting_ended
point $? "11 - and so does the reporter's setting" "$by_setting"
matched=$("$@" +differs +matches 2>&1); matched_ended=$?
grep -qF "both were compared" <<<"$matched" && test $matched_ended = 0
point $? "12 - without a mismatch the status is 0" "$matched"
