/* The options of elementwise steps, as "sat axis=0": what happens to results past the range of the type, and the
 * dimension that a vector lies along. steps.c reads the first, operand.c the second; both refuse the whole text. */
#ifndef TD_STEP_OPTIONS_H
#define TD_STEP_OPTIONS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum td_step_over {
    TD_STEP_OVER_ERROR,
    TD_STEP_OVER_SAT,
    TD_STEP_OVER_WRAP,
    TD_STEP_OVER_INF,
    TD_STEP_OVER_OWN /* nothing is said: as is usual for the type */
} td_step_over;

typedef struct td_step_words {
    td_step_over over;
    bool has_axis;
    uint64_t axis;
} td_step_words;

/* NULL is "". TD_OPTION with the word at fault and the words that there are. */
td_status td_step_options_read(const char *options, td_step_words *out);

/* The word of the options that says it; "" for TD_STEP_OVER_OWN. */
const char *td_step_over_name(td_step_over over);

#endif
