/* What a comparison checks beside the elements: the padding, and the bits that belong to neither. Called by
 * compare.c; what it finds goes into the report. */
#ifndef TD_PADDING_H
#define TD_PADDING_H

#include "exec/exec.h"
#include "memory/memory.h"
#include "report/report.h"

/* Every padding element holds the layout's pad value; counts those that do not, and those that are x or z unless the
 * memory reads these as 0. */
void td_compare_padding(const td_run *run, const td_memory *const *bank, td_report *report);

/* Every bit that is neither element nor padding is as it was in the snapshots, one per bank. Fails only with
 * TD_NO_MEMORY. */
td_status td_compare_outside(const td_run *run, const td_memory *const *snapshot, td_report *report);

#endif
