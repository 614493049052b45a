/* See pages.h. The only file that calls mmap; memories, tensors and the readers of files call it. It knows nothing of
 * what the pages hold. */
#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Huge pages save faults and TLB misses where data is dense, but one touched word then costs 2 MiB. A mapping below the
 * lower bound would more than double; one above the upper bound is more likely a sparse address space than data. Outside
 * the bounds the system's own policy stays. */
#define HUGE_BYTES ((size_t)2 << 20)
#define HUGE_FROM_BYTES (HUGE_BYTES / 2)
#define HUGE_UPTO_BYTES ((size_t)1 << 30)

static void *map(size_t bytes, bool reserve)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (reserve ? 0 : MAP_NORESERVE);
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

#ifdef MADV_HUGEPAGE
/* A remainder of half a huge page or more is rounded up to a whole one. The system uses huge pages only at their own
 * alignment: this maps one more than it keeps and gives both ends back. */
static void *map_huge(size_t *bytes, bool reserve)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), rest = *bytes % HUGE_BYTES;
    const size_t kept = rest >= HUGE_BYTES / 2 ? *bytes - rest + HUGE_BYTES : (*bytes + page - 1) / page * page;
    unsigned char *pages = map(kept + HUGE_BYTES, reserve);
    if (!pages)
        return NULL;
    const size_t before = -(uintptr_t)pages % HUGE_BYTES;
    if (before)
        (void)munmap(pages, before);
    (void)munmap(pages + before + kept, HUGE_BYTES - before);
    (void)madvise(pages + before, kept, MADV_HUGEPAGE); /* a hint: refusal costs speed only */
    *bytes = kept;
    return pages + before;
}
#endif

void *td_pages_map(size_t *bytes, bool reserve)
{
#ifdef MADV_HUGEPAGE
    if (*bytes >= HUGE_FROM_BYTES && *bytes <= HUGE_UPTO_BYTES)
        return map_huge(bytes, reserve);
#endif
    return map(*bytes, reserve);
}

void td_pages_unmap(void *pages, size_t bytes)
{
    if (pages)
        (void)munmap(pages, bytes);
}

void td_pages_clear(void *pages, size_t bytes)
{
    /* Refused for locked pages (a simulator may call mlockall): then zeros are written. */
    if (madvise(pages, bytes, MADV_DONTNEED) != 0)
        memset(pages, 0, bytes);
}

const char *td_errno_text(int error)
{
    const char *text = strerrordesc_np(error);
    return text ? text : "unknown error";
}

td_status td_file_map_open(const char *path, td_file_map *out)
{
    /* O_NONBLOCK: opening a pipe that nobody writes must not hang; it has no meaning for regular files. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return td_fail(TD_FILE, "cannot open the file: %s; check the path and its permissions", td_errno_text(errno));

    td_status status = TD_OK;
    struct stat info;
    td_file_map file = {(const unsigned char *)"", 0, NULL, 0};
    if (fstat(fd, &info) != 0) {
        status = td_fail(TD_FILE, "cannot read the size of the file: %s", td_errno_text(errno));
    } else if (!S_ISREG(info.st_mode)) {
        status = td_fail(TD_FILE, "not a regular file but a %s; pass a file",
                         S_ISDIR(info.st_mode) ? "directory" : "pipe or device");
    } else if (info.st_size > 0) {
        file.size = (size_t)info.st_size;
        file.map_bytes = file.size;
        file.map = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (file.map == MAP_FAILED)
            status = td_fail(TD_FILE, "cannot map the %zu bytes of the file: %s", file.size, td_errno_text(errno));
        else
            file.bytes = file.map;
    }
    (void)close(fd);
    if (status == TD_OK)
        *out = file;
    return status;
}

void td_file_unmap(td_file_map *file)
{
    if (file->map)
        (void)munmap(file->map, file->map_bytes);
    *file = (td_file_map){(const unsigned char *)"", 0, NULL, 0};
}
