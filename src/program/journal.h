/* What a run is about to write, as it was: a run that is refused in the middle gives it back. A schedule keeps its
 * journal from run to run, as the words are the same every time. */
#ifndef TD_JOURNAL_H
#define TD_JOURNAL_H

#include "program/program.h"

typedef struct td_journal td_journal;

/* Lists every word and every tensor of the caller that the schedule writes. */
td_status td_journal_create(const td_program *p, const td_graph *g, const td_schedule *s, td_journal **out);
void td_journal_destroy(td_journal **journal);

/* Copies them, in memories that lie over others the words of the arrays at the bottom. Each is followed by
 * td_journal_end, where nothing was refused, or by td_journal_restore. */
td_status td_journal_save(td_journal *journal, const td_graph *g);
void td_journal_end(td_journal *journal);
void td_journal_restore(td_journal *journal);

#endif
