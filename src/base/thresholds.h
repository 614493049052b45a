/* Sizes and times at which the library changes its way: when it wakes threads, when it stores past the caches, how
 * large its tiles and slabs are. The table below is their one home: defaults, bounds, the lines of the file that
 * `tensordoor tune` writes, the calls td_tune_* and `tensordoor info` all come out of it.
 *
 * Whoever has to decide asks td_threshold. The first that asks reads the user's file. It prints nothing and fails
 * nowhere: what is wrong with the file is a note (td_thresholds_note), and the defaults hold. The file is $TD_TUNE, or
 * tensordoor/tune in $XDG_CACHE_HOME or in $HOME/.cache; TD_TUNE=off reads none. */
#ifndef TD_THRESHOLDS_H
#define TD_THRESHOLDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A default of 0 leaves the decision to a rule, or to a measurement that each process takes for itself.
 *
 *  symbol, name, default, least, most, what happens at it */
#define TD_THRESHOLD_TABLE(X)                                                                                          \
    X(THREAD_BYTES, "thread_bytes", 262144, 4096, 1073741824, "calls on fewer bytes never wake a thread")              \
    X(THREAD_NS, "thread_ns", 0, 0, 1000000000,                                                                        \
      "work that takes less time is not shared; 0: four times the wake-up latency, measured by each process")          \
    X(PART_BYTES, "part_bytes", 32768, 4096, 16777216, "of the parts that threads take one after another")             \
    X(STREAM_COPY, "stream_copy_bytes", 0, 0, 1099511627776,                                                           \
      "copies from here on store past the caches; 0: by a measurement of each process")                                \
    X(STREAM_ROWS, "stream_rows_bytes", 0, 0, 1099511627776,                                                           \
      "the same for rows that are not whole lines of the caches; 0: likewise")                                         \
    X(STREAM_TRANSPOSE, "stream_transpose_bytes", 0, 0, 1099511627776, "the same for transposes; 0: likewise")         \
    X(STREAM_CONVERT, "stream_convert_bytes", 0, 0, 1099511627776, "the same for conversions; 0: likewise")            \
    X(TILE_BYTES, "tile_bytes", 256, 64, 4096,                                                                         \
      "of a row of the tiles that transposes of 4-byte elements are cut into")                                         \
    X(TILE_FAR_BYTES, "tile_far_bytes", 512, 64, 4096,                                                                 \
      "the same where rows share lines, or lie a multiple of 1 KiB apart")                                             \
    X(SLAB_BYTES, "slab_bytes", 16384, 2048, 32768, "that a comparison takes out of memory at once")                   \
    X(SLAB_CONTIGUOUS, "slab_contiguous_bytes", 131072, 4096, 4194304, "that it looks at in place at once")

#define TD_THRESHOLD_SYMBOL(symbol, ...) TD_THRESHOLD_##symbol,
typedef enum td_threshold_id { TD_THRESHOLD_TABLE(TD_THRESHOLD_SYMBOL) TD_THRESHOLDS } td_threshold_id;
#undef TD_THRESHOLD_SYMBOL

typedef struct td_threshold_line {
    const char *name, *meaning;
    uint64_t standard, least, most;
} td_threshold_line;

extern const td_threshold_line td_threshold_lines[TD_THRESHOLDS];

/* For td_threshold alone: TD_THRESHOLD_UNREAD until the file was looked for. */
#define TD_THRESHOLD_UNREAD UINT64_MAX
extern _Atomic uint64_t td_threshold_values[TD_THRESHOLDS];
uint64_t td_threshold_first(td_threshold_id id);

static inline uint64_t td_threshold(td_threshold_id id)
{
    const uint64_t value = atomic_load_explicit(&td_threshold_values[id], memory_order_relaxed);
    return __builtin_expect(value == TD_THRESHOLD_UNREAD, 0) ? td_threshold_first(id) : value;
}

/* -- for src/tune/ ------------------------------------------------------------------------------------------------- */

#define TD_THRESHOLD_FILE_BYTES 4096 /* a longer file is none of ours */
#define TD_THRESHOLD_NOTE_BYTES 1024

/* Where values came from last. */
typedef enum td_threshold_source {
    TD_THRESHOLDS_STANDARD,
    TD_THRESHOLDS_READ,    /* at the first call */
    TD_THRESHOLDS_IGNORED, /* there was a file, and the note says what is wrong with it */
    TD_THRESHOLDS_OFF,
    TD_THRESHOLDS_SET, /* by the program */
} td_threshold_source;

void td_thresholds_put(const uint64_t *values, td_threshold_source from);
void td_thresholds_standard(uint64_t *values);
td_threshold_source td_thresholds_source(void);

/* Of the first call: the path of the file that was read, or the sentence that says why it was not. It does not change
 * any more. */
const char *td_thresholds_note(void);

/* The user's file; false without a home, or where TD_TUNE=off. */
bool td_thresholds_path(char *path, size_t bytes);

/* The file as it would be for this processor and version; returns its length. */
size_t td_thresholds_print(const uint64_t *values, char text[TD_THRESHOLD_FILE_BYTES]);

/* Values out of the text of such a file. False with a sentence: damaged, of another processor or version, or a value
 * out of its bounds. */
bool td_thresholds_parse(const char *text, size_t bytes, uint64_t *values, char problem[TD_THRESHOLD_NOTE_BYTES]);

/* The same from a path; what is no plain file, or too long, is not read. `missing` where there is none. */
bool td_thresholds_read(const char *path, uint64_t *values, bool *missing, char problem[TD_THRESHOLD_NOTE_BYTES]);

#endif
