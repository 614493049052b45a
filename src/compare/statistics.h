/* Statistics of a comparison whose policy asks for them: mean relative error, mean square error, cosine. compare.c
 * calls it after the pairs have been judged, and only where some of them differ; otherwise there is nothing to sum. */
#ifndef TD_STATISTICS_H
#define TD_STATISTICS_H

#include "backdoor/x_elems.h"
#include "compare/accept.h"
#include "report/report.h"

/* What is summed: the slabs of the memories (run not NULL), or the elements of `actual`. */
typedef struct td_statistics_of {
    const td_accept *accept;   /* golden tensor, mask, conversion, and how slabs are wished */
    const td_x_elems *unknown; /* NULL: none */
    const td_run *run;
    const td_tensor *actual;
} td_statistics_of;

/* Into the report. TD_NO_MEMORY when a buffer is refused. */
td_status td_statistics_sum(const td_statistics_of *of, td_report *report);

#endif
