/* A fuzz input as a file that the library can map, without a disk under it. Shared by the targets of files. */
#ifndef TD_TEST_FUZZ_FILE_H
#define TD_TEST_FUZZ_FILE_H

#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

/* Writes the name FORMAT:PATH of the input into `name` and returns what fuzz_file_close takes. */
static inline int fuzz_file_open(const uint8_t *data, size_t size, const char *format, char *name, size_t room)
{
    int fd = memfd_create("input", 0);
    REQUIRE(fd >= 0);
    while (size > 0) {
        ssize_t written = write(fd, data, size);
        REQUIRE(written > 0);
        data += written;
        size -= (size_t)written;
    }
    snprintf(name, room, "%s:/proc/self/fd/%d", format, fd);
    return fd;
}

static inline void fuzz_file_close(int fd)
{
    REQUIRE(close(fd) == 0);
}

#endif
