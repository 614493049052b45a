/* Runs that are kept: a baseline is one record in a file of its name, a history is a file of records, one line each. */
#ifndef TD_BENCH_BASELINE_H
#define TD_BENCH_BASELINE_H

#include "tool/bench/record.h"

/* Where a baseline lies. A name with a slash, or with .json at its end, is a path; another lies in the folder
 * TD_BENCH_DIR, or else in tensordoor/bench of the user's cache folder, which is made when `make` is true. False where
 * there is no such folder and no HOME. */
bool bench_baseline_path(const char *name, bool make, char *path, size_t size);

/* Can a file be written there? False with errno; nothing is made. */
bool bench_can_write(const char *path);

/* All return false with one line in `message` that names the file. `ready` is asked before a run. */
bool bench_baseline_ready(const char *name, char *message, size_t size);
bool bench_baseline_save(const char *name, const bench_record *record, char *message, size_t size);
bool bench_baseline_open(const char *name, bench_record *record, char *message, size_t size);

/* Adds a line. A file that is no whole history, of another version or half written, stays as it is. */
bool bench_history_ready(const char *path, char *message, size_t size);
bool bench_history_add(const char *path, const bench_record *record, char *message, size_t size);
/* All runs of a history, oldest first; free with bench_history_clear. A file that does not exist has none. */
bool bench_history_open(const char *path, bench_record **runs, size_t *count, char *message, size_t size);
void bench_history_clear(bench_record *runs, size_t count);

#endif
