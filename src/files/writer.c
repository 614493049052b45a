/* See writer.h. The facades of files open and close it; the formats only put bytes. It keeps the first error of a write
 * until the close, so that a format needs no error path of its own. */
#include "files/writer.h"
#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (4 * TD_WRITER_RESERVE_BYTES)
#define MAX_LINKS 40 /* as the system's own limit */

/* -- what stands at the path -- */

/* Replaces *path, a symbolic link, by where it leads. */
static td_status follow_link(char **path)
{
    char target[4096];
    const ssize_t length = readlink(*path, target, sizeof target);
    if (length < 0 || (size_t)length == sizeof target)
        return td_fail(TD_FILE, "cannot follow the symbolic link: %s; name the file that it leads to",
                       td_errno_text(length < 0 ? errno : ENAMETOOLONG));
    const char *slash = target[0] == '/' ? NULL : strrchr(*path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - *path) : 0;
    char *next = malloc(folder + (size_t)length + 1);
    if (!next)
        return td_fail_alloc(folder + (size_t)length + 1);
    memcpy(next, *path, folder);
    memcpy(next + folder, target, (size_t)length);
    next[folder + (size_t)length] = '\0';
    free(*path);
    *path = next;
    return TD_OK;
}

/* The path behind all symbolic links, which need not exist; the caller frees it. */
static td_status resolve(const char *path, char **out)
{
    struct stat info;
    char *at = strdup(path);
    td_status status = at ? TD_OK : td_fail_alloc(strlen(path) + 1);
    for (int links = 0; status == TD_OK && lstat(at, &info) == 0 && S_ISLNK(info.st_mode); links++)
        status = links < MAX_LINKS
                     ? follow_link(&at)
                     : td_fail(TD_FILE, "more than %d symbolic links lead to each other; name the file", MAX_LINKS);
    if (status == TD_OK)
        *out = at;
    else
        free(at);
    return status;
}

/* -- opening -- */

static td_status fail_create(int error)
{
    return td_fail(TD_FILE, "cannot create the file: %s; check the folder and its permissions", td_errno_text(error));
}

/* `old` is the file that is replaced, NULL when there is none. Its permissions stay. */
static td_status open_beside(td_writer *writer, const struct stat *old)
{
    static atomic_uint serial; /* two threads may write beside each other */
    const size_t name_bytes = strlen(writer->path) + 48;
    writer->temp_path = malloc(name_bytes);
    if (!writer->temp_path)
        return td_fail_alloc(name_bytes);
    do {
        unsigned number = atomic_fetch_add(&serial, 1);
        snprintf(writer->temp_path, name_bytes, "%s.%ld-%u.tmp", writer->path, (long)getpid(), number);
        writer->fd = open(writer->temp_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (writer->fd < 0 && errno == EEXIST);
    if (writer->fd < 0)
        return fail_create(errno);
    if (old && S_ISREG(old->st_mode))
        (void)fchmod(writer->fd, old->st_mode & 0777);
    return TD_OK;
}

/* A pipe, a device, or a file that no path leads to. Opening a pipe waits for its reader. */
static td_status open_directly(td_writer *writer, const char *path, const struct stat *info)
{
    if (S_ISSOCK(info->st_mode))
        return td_fail(TD_FILE, "a socket cannot be written as a file; pass a file, a pipe or a device");
    do
        writer->fd = open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    while (writer->fd < 0 && errno == EINTR);
    return writer->fd < 0 ? fail_create(errno) : TD_OK;
}

static td_status open_path(td_writer *writer, const char *path)
{
    struct stat info, resolved;
    if (strcmp(path, "-") == 0) {
        writer->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return writer->fd < 0 ? fail_create(errno) : TD_OK;
    }
    const bool there = stat(path, &info) == 0;
    if (there && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return open_directly(writer, path, &info);
    td_status status = resolve(path, &writer->path);
    if (status != TD_OK)
        return status;
    /* links of /proc may name a file that has no path any more */
    if (there &&
        (stat(writer->path, &resolved) != 0 || resolved.st_dev != info.st_dev || resolved.st_ino != info.st_ino)) {
        free(writer->path);
        writer->path = NULL;
        return open_directly(writer, path, &info);
    }
    return open_beside(writer, there ? &info : NULL);
}

static void free_all(td_writer *writer)
{
    free(writer->path);
    free(writer->temp_path);
    free(writer->buffer);
}

td_status td_writer_open(const char *path, td_writer *out)
{
    td_writer writer = {.fd = -1, .buffer = malloc(BUFFER_BYTES)};
    td_status status = writer.buffer ? open_path(&writer, path) : td_fail_alloc(BUFFER_BYTES);
    if (status == TD_OK)
        *out = writer;
    else
        free_all(&writer);
    return status;
}

/* -- writing -- */

/* Writing to a pipe without a reader raises SIGPIPE, which would end the simulation: it is held back here, and the
 * write gives EPIPE instead. */
static ssize_t write_quietly(int fd, const void *data, size_t bytes)
{
    static const struct timespec now = {0, 0};
    sigset_t pipe_only, pending, old;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigemptyset(&pending);
    (void)sigpending(&pending);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_only, &old);
    const ssize_t written = write(fd, data, bytes);
    const int error = errno;
    if (!sigismember(&pending, SIGPIPE)) /* it comes with a part of the bytes, too */
        (void)sigtimedwait(&pipe_only, NULL, &now);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return written;
}

static void write_all(td_writer *writer, const unsigned char *data, size_t bytes)
{
    while (bytes > 0 && writer->error == 0) {
        ssize_t written = writer->temp_path ? write(writer->fd, data, bytes) : write_quietly(writer->fd, data, bytes);
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
    const bool direct = !writer->temp_path;
    if (status == TD_OK)
        flush(writer);
    if (close(writer->fd) != 0 && writer->error == 0)
        writer->error = errno; /* a network file system may report a full disk only here */
    if (status == TD_OK && writer->error)
        status = td_fail(TD_FILE, "cannot write the file: %s; %s", td_errno_text(writer->error),
                         direct ? "a part of it may have been written" : "nothing was left behind");
    if (status == TD_OK && !direct && rename(writer->temp_path, writer->path) != 0)
        status = td_fail(TD_FILE, "cannot put the file in place: %s; choose another name", td_errno_text(errno));
    if (status != TD_OK && !direct)
        (void)unlink(writer->temp_path);
    free_all(writer);
    return status;
}
