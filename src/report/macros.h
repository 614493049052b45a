/* Mismatches of memories that lie over others, in the macros at the bottom: which bits are wrong, in which row and
 * column, counted per macro, row and column. count.c has them counted while the memories are there, text.c, json.c and
 * guess.c use what is left. Reports of other memories have none of this. */
#ifndef TD_REPORT_MACROS_H
#define TD_REPORT_MACROS_H

#include "report/report.h"

/* The groups of a report that count wrong bits: td_tally.dim. */
enum { TD_TALLY_MACRO = -3, TD_TALLY_ROW = -4, TD_TALLY_COLUMN = -5 };

/* Wrong bits of a mismatch that lie in one row of a macro, each `step` columns from the one before. */
typedef struct td_wrong_run {
    size_t macro;
    uint64_t row, column, bits;
    int64_t step;
} td_wrong_run;

/* At the first mismatch: the groups. Does nothing where no memory lies over others. */
void td_macros_open(td_report *report, const td_report_source *source);

/* Every mismatch. */
void td_macros_count(td_report *report, const td_entry *entry);

/* The first wrong padding, while its memory is still there: `, macro 3 "m3" row 4 bits 7:0` in pad_place. */
void td_macros_pad(td_report *report, const td_memory *const *bank, const td_entry *entry);

/* After the last, while the memories are still there: the places of the first mismatches, and the names. */
void td_macros_close(td_report *report);
void td_macros_free(td_report *report);

void td_macros_guess(td_report *report);

/* The wrong bits of one of the first mismatches; none where the report has no macros. */
const td_wrong_run *td_macros_runs(const td_report *report, size_t number, size_t *count);
size_t td_macros_total(const td_report *report);
const char *td_macros_name(const td_report *report, size_t macro);

/* `macro 3 "m3" row 4 bits 30:2 step 4`, and the same of every other run of the mismatch; at most a few of them. */
void td_macros_text(const td_report *report, size_t number, td_text *out);

#endif
