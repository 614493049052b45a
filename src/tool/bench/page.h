/* A run as a page that stands alone: the file page/bench.html with the run, the baseline and the verdicts in it. */
#ifndef TD_BENCH_PAGE_H
#define TD_BENCH_PAGE_H

#include "tool/bench/bench.h"
#include "tool/bench/out.h"

/* A list of {group, case, profile}: the steps of one case of every group that was measured (profiles.c). */
void bench_profiles_write(FILE *out, const bench_record *now);

bool bench_page_write(const char *path, const bench_out *what);

#endif
