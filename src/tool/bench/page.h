/* A run as a page that stands alone: the file page/bench.html with the run, the baseline and the verdicts in it. */
#ifndef TD_BENCH_PAGE_H
#define TD_BENCH_PAGE_H

#include "tool/bench/out.h"

bool bench_page_write(const char *path, const bench_out *what);

#endif
