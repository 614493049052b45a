/* Counts which path loads and dumps take through exec, for td_speed_paths. backdoor/tensors.c calls it once per load
 * or dump that succeeded; what the library moves for itself (slabs of a comparison, bits that are x or z) is not
 * counted. */
#ifndef TD_PATHS_H
#define TD_PATHS_H

#include "exec/exec.h"

void td_paths_count(const td_run *run, bool dump);

#endif
