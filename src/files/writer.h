/* A file on its way out: bytes go to a temporary file beside the target, which takes the target's place only when all
 * of them are written. */
#ifndef TD_SINK_H
#define TD_SINK_H

#include "base/status.h"

/* What one td_sink_room may ask for. */
#define TD_SINK_ROOM_BYTES ((size_t)1 << 16)

typedef struct td_sink {
    int fd;
    int error; /* errno of the first write that failed; later writes are dropped */
    const char *path;
    char *temp_path;
    unsigned char *buffer;
    size_t used;
} td_sink;

td_status td_sink_open(const char *path, td_sink *out);

/* Room for `bytes` (at most TD_SINK_ROOM_BYTES) that the caller fills before the next call on the sink. */
unsigned char *td_sink_room(td_sink *sink, size_t bytes);
void td_sink_put(td_sink *sink, const void *data, size_t bytes);

/* With TD_OK the file takes its place; with another status, or when a write failed, nothing is left behind. Returns
 * `status`, or TD_FILE with a message. */
td_status td_sink_close(td_sink *sink, td_status status);

#endif
