/* Measuring again in a process of its own. What differs from one run of a build to the next is fixed when a process
 * starts: where code, stack and pages lie. Measurements inside of one process share it and agree with each other
 * better than two runs do, so those that a baseline is made of, and those that confirm a change, each get a new one. */
#ifndef TD_BENCH_AGAIN_H
#define TD_BENCH_AGAIN_H

#include "tool/bench/bench.h"

/* What bench_main was called with: argv[-1] is the name of the program or of its command. */
void bench_again_from(char *const *argv);

/* In a process that bench_again started: its calm moments are those of the run that asked. Else nothing happens. */
void bench_again_inherit(bench_calm *calm);

/* In a child: this program once more, which does what bench_start_cold does and nothing else. bench_main asks. */
void bench_again_cold(void);
bool bench_again_is_cold(void);

/* Measures the cases for which `wanted` is true, of those in `record`, into *out (bench_record_clear). False where no
 * process could do it: then the caller measures in its own. */
bool bench_again(const bench_settings *settings, const bench_record *record, const bool *wanted, bench_record *out);

#endif
