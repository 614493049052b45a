/* See writer.h. The facades of files open and close it; the formats only put bytes. It keeps the first error of a write
 * until the close, so that a format needs no error path of its own. */
#include "files/writer.h"
#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (4 * TD_WRITER_RESERVE_BYTES)

td_status td_writer_open(const char *path, td_writer *out)
{
    static atomic_uint serial; /* two threads may write beside each other */
    td_writer writer = {.fd = -1, .path = path};
    size_t name_bytes = strlen(path) + 48;
    writer.temp_path = malloc(name_bytes);
    writer.buffer = malloc(BUFFER_BYTES);
    if (!writer.temp_path || !writer.buffer) {
        free(writer.temp_path);
        free(writer.buffer);
        return td_fail_alloc(name_bytes + BUFFER_BYTES);
    }
    do {
        unsigned number = atomic_fetch_add(&serial, 1);
        snprintf(writer.temp_path, name_bytes, "%s.%ld-%u.tmp", path, (long)getpid(), number);
        writer.fd = open(writer.temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (writer.fd < 0 && errno == EEXIST);
    if (writer.fd < 0) {
        int error = errno;
        free(writer.temp_path);
        free(writer.buffer);
        return td_fail(TD_FILE, "cannot create the file: %s; check the folder and its permissions",
                       td_errno_text(error));
    }
    *out = writer;
    return TD_OK;
}

static void write_all(td_writer *writer, const unsigned char *data, size_t bytes)
{
    while (bytes > 0 && writer->error == 0) {
        ssize_t written = write(writer->fd, data, bytes);
        if (written < 0) {
            if (errno != EINTR)
                writer->error = errno;
            continue;
        }
        data += written;
        bytes -= (size_t)written;
    }
}

static void flush(td_writer *writer)
{
    write_all(writer, writer->buffer, writer->used);
    writer->used = 0;
}

unsigned char *td_writer_reserve(td_writer *writer, size_t bytes)
{
    if (BUFFER_BYTES - writer->used < bytes)
        flush(writer);
    unsigned char *space = writer->buffer + writer->used;
    writer->used += bytes;
    return space;
}

void td_writer_put(td_writer *writer, const void *data, size_t bytes)
{
    if (bytes <= TD_WRITER_RESERVE_BYTES) {
        memcpy(td_writer_reserve(writer, bytes), data, bytes);
        return;
    }
    flush(writer);
    write_all(writer, data, bytes);
}

td_status td_writer_close(td_writer *writer, td_status status)
{
    if (status == TD_OK)
        flush(writer);
    if (close(writer->fd) != 0 && writer->error == 0)
        writer->error = errno; /* a network file system may report a full disk only here */
    if (status == TD_OK && writer->error)
        status = td_fail(TD_FILE, "cannot write the file: %s; nothing was left behind", td_errno_text(writer->error));
    if (status == TD_OK && rename(writer->temp_path, writer->path) != 0)
        status = td_fail(TD_FILE, "cannot put the file in place: %s; choose another name", td_errno_text(errno));
    if (status != TD_OK)
        (void)unlink(writer->temp_path);
    free(writer->temp_path);
    free(writer->buffer);
    return status;
}
