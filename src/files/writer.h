/* A file on its way out. Bytes for a regular file go to a temporary file beside it, which takes its place only when all
 * of them are written; a symbolic link stays, and the file that it leads to is replaced. Pipes, devices and standard
 * output ("-") cannot be replaced: they get the bytes directly, so a failure may leave a part of them there. */
#ifndef TD_WRITER_H
#define TD_WRITER_H

#include "base/status.h"

/* The most that one td_writer_reserve gives. */
#define TD_WRITER_RESERVE_BYTES ((size_t)1 << 16)

typedef struct td_writer {
    int fd;
    int error;       /* errno of the first write that failed; later writes are dropped */
    char *path;      /* of the file to replace, behind all links; NULL where bytes go directly */
    char *temp_path; /* the file that replaces it; NULL where bytes go directly */
    unsigned char *buffer;
    size_t used;
} td_writer;

td_status td_writer_open(const char *path, td_writer *out);

/* Space for `bytes` (at most TD_WRITER_RESERVE_BYTES) that the caller fills before the next call on the writer. */
unsigned char *td_writer_reserve(td_writer *writer, size_t bytes);
void td_writer_put(td_writer *writer, const void *data, size_t bytes);

/* With TD_OK the file takes its place; with another status, or when a write failed, no file is left. Returns `status`,
 * or TD_FILE with a message. */
td_status td_writer_close(td_writer *writer, td_status status);

#endif
