/* A comparison of the public header whose policy was read, and whose plan was found, before: programs hold both from
 * run to run. */
#ifndef TD_COMPARE_H
#define TD_COMPARE_H

#include "backdoor/call.h"
#include "values/policy.h"

/* As td_compare; what->policy is not looked at. `ready` is for memories; NULL looks up what it would have. */
td_status td_compare_ready(const td_comparison *what, const td_policy *policy, const td_call_ready *ready,
                           td_report **out);

#endif
