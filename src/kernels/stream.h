/* From how many bytes on the stores of a kernel go past the caches. That depends on the machine in a way that its
 * cache sizes alone do not say, so it is a threshold per class of kernels (base/thresholds.h); where that is not tuned,
 * a rule over the cache sizes and one measurement of the process says it. Called by plan/ and values/ when they
 * choose. */
#ifndef TD_KERNELS_STREAM_H
#define TD_KERNELS_STREAM_H

#include <stdbool.h>
#include <stdint.h>

typedef enum td_stream_class {
    TD_STREAM_COPY,      /* whole lines of the caches, written in order */
    TD_STREAM_ROWS,      /* rows that begin within a line, by a transpose or not */
    TD_STREAM_TRANSPOSE, /* lines that ordinary stores would come back to */
    TD_STREAM_CONVERT,   /* lines of values on their way to another size */
    TD_STREAM_CUT        /* words that are cut over several arrays */
} td_stream_class;

/* `bytes` counts as td_move.bytes does: half of what is read and written. `transposed_bytes` is of an element of a
 * transpose, whose rows are put together in a buffer first; 0 for other moves. The first call with many bytes takes a
 * few milliseconds where nothing is tuned; it fails nowhere. */
bool td_stream_pays(td_stream_class kind, unsigned transposed_bytes, uint64_t bytes);

/* Whether what a TD_STREAM_CUT that pays writes is stored past the caches: where large copies do better into them, the
 * lines of all its arrays are prefetched instead. */
bool td_stream_cuts_go_past(void);

/* Tests take either way whatever the machine and the size. */
typedef enum td_stream_when { TD_STREAM_BY_MACHINE, TD_STREAM_PAST, TD_STREAM_INTO } td_stream_when;
extern td_stream_when td_stream_cuts_when;

#endif
