/* See sink.h. Called by the facade of files; the writers of formats only put bytes. Writes keep their first error until
 * the close, so that a format needs no error path of its own. */
#include "files/writer.h"
#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (4 * TD_SINK_ROOM_BYTES)

td_status td_sink_open(const char *path, td_sink *out)
{
    static atomic_uint serial; /* two threads may write beside each other */
    td_sink sink = {.fd = -1, .path = path};
    size_t name_bytes = strlen(path) + 48;
    sink.temp_path = malloc(name_bytes);
    sink.buffer = malloc(BUFFER_BYTES);
    if (!sink.temp_path || !sink.buffer) {
        free(sink.temp_path);
        free(sink.buffer);
        return td_fail_alloc(name_bytes + BUFFER_BYTES);
    }
    do {
        unsigned number = atomic_fetch_add(&serial, 1);
        snprintf(sink.temp_path, name_bytes, "%s.%ld-%u.tmp", path, (long)getpid(), number);
        sink.fd = open(sink.temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (sink.fd < 0 && errno == EEXIST);
    if (sink.fd < 0) {
        int error = errno;
        free(sink.temp_path);
        free(sink.buffer);
        return td_fail(TD_FILE, "cannot create the file: %s; check the folder and its permissions",
                       td_errno_text(error));
    }
    *out = sink;
    return TD_OK;
}

static void write_all(td_sink *sink, const unsigned char *data, size_t bytes)
{
    while (bytes > 0 && sink->error == 0) {
        ssize_t written = write(sink->fd, data, bytes);
        if (written < 0) {
            if (errno != EINTR)
                sink->error = errno;
            continue;
        }
        data += written;
        bytes -= (size_t)written;
    }
}

static void flush(td_sink *sink)
{
    write_all(sink, sink->buffer, sink->used);
    sink->used = 0;
}

unsigned char *td_sink_room(td_sink *sink, size_t bytes)
{
    if (BUFFER_BYTES - sink->used < bytes)
        flush(sink);
    unsigned char *room = sink->buffer + sink->used;
    sink->used += bytes;
    return room;
}

void td_sink_put(td_sink *sink, const void *data, size_t bytes)
{
    if (bytes <= TD_SINK_ROOM_BYTES) {
        memcpy(td_sink_room(sink, bytes), data, bytes);
        return;
    }
    flush(sink);
    write_all(sink, data, bytes);
}

td_status td_sink_close(td_sink *sink, td_status status)
{
    if (status == TD_OK)
        flush(sink);
    if (close(sink->fd) != 0 && sink->error == 0)
        sink->error = errno; /* a network file system may report a full disk only here */
    if (status == TD_OK && sink->error)
        status = td_fail(TD_FILE, "cannot write the file: %s; nothing was left behind", td_errno_text(sink->error));
    if (status == TD_OK && rename(sink->temp_path, sink->path) != 0)
        status = td_fail(TD_FILE, "cannot put the file in place: %s; choose another name", td_errno_text(errno));
    if (status != TD_OK)
        (void)unlink(sink->temp_path);
    free(sink->temp_path);
    free(sink->buffer);
    return status;
}
