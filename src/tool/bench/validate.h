/* What `--validate` does: right results first. */
#ifndef TD_BENCH_VALIDATE_H
#define TD_BENCH_VALIDATE_H

#include "tool/bench/bench.h"

/* Every chosen case with every instruction set of this machine. Returns how many are wrong, each with its line;
 * *cases is how many were chosen. */
size_t bench_validate_cases(FILE *out, const bench_settings *settings, const char *text, size_t *cases);

#endif
