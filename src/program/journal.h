/* What a run is about to write, as it was: a run that is refused in the middle gives it back. */
#ifndef TD_JOURNAL_H
#define TD_JOURNAL_H

#include "program/program.h"

typedef struct td_journal td_journal;

/* Saves every word and every tensor of the caller that the schedule writes, in memories that lie over others the words
 * of the arrays at the bottom. */
td_status td_journal_create(const td_program *p, const td_graph *g, const td_schedule *s, td_journal **out);
void td_journal_restore(td_journal *journal);
void td_journal_destroy(td_journal **journal);

#endif
