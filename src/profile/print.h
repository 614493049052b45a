/* What the profile (base/profile.h) has, as text that the caller frees: the three forms of section 17 of the manual.
 * Called by profile.c. Each fails only where memory is refused. */
#ifndef TD_PROFILE_PRINT_H
#define TD_PROFILE_PRINT_H

#include "base/status.h"

td_status td_profile_print_table(char **text);
td_status td_profile_print_json(char **text);
td_status td_profile_print_trace(char **text);

#endif
