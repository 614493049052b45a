/* The targets on record: what the product promises about its speed, each a limit for one figure of one case. */
#ifndef TD_BENCH_TARGETS_H
#define TD_BENCH_TARGETS_H

#include "tool/bench/bench.h"

/* Does a target need this case? */
bool bench_target_wants(const bench_group *group, const bench_spec *spec);

/* A line for every target: what was found, what is needed, met or not. Returns how many were not met. */
size_t bench_targets_print(FILE *out, const bench_record *record);

#endif
