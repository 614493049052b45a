/* See pages.h. The only file that calls mmap; memories, tensors and the readers of files call it. It knows nothing of
 * what the pages hold. */
#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Huge pages save faults and TLB misses where data is dense, but one touched word then costs 2 MiB. A mapping below the
 * lower bound would more than double. Tensors, which reserve what they map, are dense at any size; memories above the
 * upper bound are more likely sparse address spaces than data, unless even all of them would be a small part of this
 * machine. Outside the bounds the system's own policy stays. */
#define HUGE_BYTES ((size_t)2 << 20)
#define HUGE_FROM_BYTES (HUGE_BYTES / 2)
#define HUGE_UPTO_BYTES ((size_t)1 << 30)
#define HUGE_UPTO_PART 8 /* of the machine */

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

#ifdef MADV_HUGEPAGE
static bool wants_huge(size_t bytes, bool reserve)
{
    if (bytes < HUGE_FROM_BYTES || reserve || bytes <= HUGE_UPTO_BYTES)
        return bytes >= HUGE_FROM_BYTES && bytes <= SIZE_MAX - 2 * HUGE_BYTES;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 && bytes / (size_t)page <= (size_t)pages / HUGE_UPTO_PART;
}
#endif

void *td_pages_map(size_t *bytes, bool reserve)
{
#ifdef MADV_HUGEPAGE
    if (wants_huge(*bytes, reserve))
        return map_huge(bytes, reserve);
#endif
    return map(*bytes, reserve);
}

void td_pages_unmap(void *pages, size_t bytes)
{
    if (pages)
        (void)munmap(pages, bytes);
}

/* -- pages that are kept between calls -- */

#define KEPT_MOST 8                    /* mappings: a tensor of several parts, and what is made of them */
#define KEPT_BYTES ((size_t)128 << 20) /* all of them */
#define KEPT_UNUSED(bytes) (HUGE_BYTES / 2 + (bytes) / 8) /* of a kept mapping: as map_huge rounds, and a little more */

static struct {
    pthread_mutex_t lock;
    struct {
        void *pages;
        size_t bytes;
    } map[KEPT_MOST]; /* the last one kept is the first */
    size_t count, bytes;
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the lock held. */
static void forget_kept(size_t number)
{
    spare.bytes -= spare.map[number].bytes;
    spare.count--;
    memmove(&spare.map[number], &spare.map[number + 1], (spare.count - number) * sizeof spare.map[0]);
}

void *td_pages_reuse(size_t *bytes)
{
    void *pages = NULL;
    (void)pthread_mutex_lock(&spare.lock);
    for (size_t i = 0; i < spare.count && !pages; i++)
        if (spare.map[i].bytes >= *bytes && spare.map[i].bytes - *bytes <= KEPT_UNUSED(spare.map[i].bytes)) {
            pages = spare.map[i].pages;
            *bytes = spare.map[i].bytes;
            forget_kept(i);
        }
    (void)pthread_mutex_unlock(&spare.lock);
    return pages ? pages : td_pages_map(bytes, true);
}

void td_pages_keep(void *pages, size_t bytes)
{
    bool keeps = bytes <= KEPT_BYTES;
#ifdef MADV_FREE
    keeps = keeps && madvise(pages, bytes, MADV_FREE) == 0; /* refused for locked pages, and by old systems */
#endif
    if (!keeps) {
        td_pages_unmap(pages, bytes);
        return;
    }
    (void)pthread_mutex_lock(&spare.lock);
    while (spare.count == KEPT_MOST || spare.bytes + bytes > KEPT_BYTES) {
        td_pages_unmap(spare.map[spare.count - 1].pages, spare.map[spare.count - 1].bytes);
        forget_kept(spare.count - 1);
    }
    memmove(&spare.map[1], &spare.map[0], spare.count * sizeof spare.map[0]);
    spare.map[0].pages = pages;
    spare.map[0].bytes = bytes;
    spare.count++;
    spare.bytes += bytes;
    (void)pthread_mutex_unlock(&spare.lock);
}

__attribute__((destructor)) static void unmap_kept(void)
{
    while (spare.count) {
        td_pages_unmap(spare.map[0].pages, spare.map[0].bytes);
        forget_kept(0);
    }
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

/* -- files -- */

/* Smaller files are read, not mapped: what happens to the file later does not matter then, and a page or two less is
 * mapped by a testbench that opens many. */
#define MAP_FROM_BYTES ((off_t)1 << 20)

static const td_file_map nothing = {(const unsigned char *)"", 0, NULL, 0, NULL};

struct td_file_origin {
    dev_t device;
    ino_t inode;
    off_t size;
    char path[]; /* from the root: the program may change its folder */
};

static struct td_file_origin *make_origin(const char *path, const struct stat *info)
{
    char *full = realpath(path, NULL);
    const char *kept = full ? full : path;
    const size_t bytes = strlen(kept) + 1;
    struct td_file_origin *origin = malloc(sizeof *origin + bytes);
    if (origin) {
        *origin = (struct td_file_origin){info->st_dev, info->st_ino, info->st_size};
        memcpy(origin->path, kept, bytes);
    }
    free(full);
    return origin;
}

td_status td_file_check(const struct td_file_origin *origin)
{
    struct stat now;
    if (!origin || stat(origin->path, &now) != 0 || now.st_dev != origin->device || now.st_ino != origin->inode ||
        now.st_size >= origin->size)
        return TD_OK;
    return td_fail(
        TD_FILE,
        "the file %s had %lld bytes when it was opened and has %lld now; open it again, and replace files by "
        "renaming new ones",
        origin->path, (long long)origin->size, (long long)now.st_size);
}

td_file_map td_file_take(td_file_map *file)
{
    const td_file_map taken = *file;
    file->map = NULL;
    file->origin = NULL;
    return taken;
}

/* Up to `bytes` from the descriptor; *taken is less than that only at the end of the file. */
static td_status read_bytes(int fd, unsigned char *bytes, size_t count, size_t *taken)
{
    *taken = 0;
    while (*taken < count) {
        const ssize_t got = read(fd, bytes + *taken, count - *taken);
        if (got < 0 && errno != EINTR)
            return td_fail(TD_FILE, "cannot read the file: %s", td_errno_text(errno));
        if (got == 0)
            break;
        *taken += got > 0 ? (size_t)got : 0;
    }
    return TD_OK;
}

/* Half a file is no file: one that is cut while it is read is refused. */
static td_status check_length(int fd, size_t size)
{
    struct stat now;
    if (fstat(fd, &now) != 0 || (size_t)now.st_size >= size)
        return TD_OK;
    return td_fail(TD_FILE,
                   "the file had %zu bytes when it was opened and has %lld now; wait until it is written, and replace "
                   "files by renaming new ones",
                   size, (long long)now.st_size);
}

static td_status read_file(int fd, size_t size, td_file_map *out)
{
    td_file_map file = {.map_bytes = size};
    unsigned char *pages = td_pages_map(&file.map_bytes, true);
    if (!pages)
        return td_fail_alloc(size);
    td_status status = read_bytes(fd, pages, size, &file.size);
    if (status == TD_OK && file.size < size)
        status = check_length(fd, size);
    file.bytes = pages;
    file.map = pages;
    if (status == TD_OK)
        *out = file;
    else
        td_pages_unmap(pages, file.map_bytes);
    return status;
}

static td_status map_file(int fd, const char *path, const struct stat *info, td_file_map *out)
{
    const size_t size = (size_t)info->st_size;
    struct td_file_origin *origin = make_origin(path, info);
    if (!origin)
        return td_fail_alloc(sizeof *origin + strlen(path) + 1);
    void *pages = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (pages == MAP_FAILED) {
        free(origin);
        return td_fail(TD_FILE, "cannot map the %zu bytes of the file: %s", size, td_errno_text(errno));
    }
    *out = (td_file_map){pages, size, pages, size, origin};
    return TD_OK;
}

static td_status open_descriptor(int fd, const char *path, const struct stat *info, bool copy, td_file_map *out)
{
    if (!S_ISREG(info->st_mode))
        return td_fail(TD_FILE, "not a regular file but a %s; pass a file",
                       S_ISDIR(info->st_mode) ? "directory" : "pipe or device");
    *out = nothing;
    if (info->st_size == 0)
        return TD_OK;
    copy |= info->st_size < MAP_FROM_BYTES;
    return copy ? read_file(fd, (size_t)info->st_size, out) : map_file(fd, path, info, out);
}

/* A pipe can be read once, and a call may need its bytes more than once: the first call keeps them for all others. */
static struct {
    pthread_mutex_t lock;
    unsigned char *pages;
    size_t size, room;
    bool ended;
} input = {.lock = PTHREAD_MUTEX_INITIALIZER};

static td_status read_input(void)
{
    while (!input.ended) {
        if (input.size == input.room) {
            size_t room = input.room ? 2 * input.room : (size_t)1 << 16;
            unsigned char *pages = td_pages_map(&room, true);
            if (!pages)
                return td_fail_alloc(room);
            if (input.size)
                memcpy(pages, input.pages, input.size);
            td_pages_unmap(input.pages, input.room);
            input.pages = pages;
            input.room = room;
        }
        size_t taken = 0;
        td_status status = read_bytes(STDIN_FILENO, input.pages + input.size, input.room - input.size, &taken);
        if (status != TD_OK)
            return status;
        input.size += taken;
        input.ended = input.size < input.room;
    }
    return TD_OK;
}

static td_status open_input(bool copy, td_file_map *out)
{
    struct stat info;
    if (fstat(STDIN_FILENO, &info) != 0)
        return td_fail(TD_FILE, "cannot read standard input: %s", td_errno_text(errno));
    if (S_ISDIR(info.st_mode) || (S_ISREG(info.st_mode) && lseek(STDIN_FILENO, 0, SEEK_SET) == 0))
        return open_descriptor(STDIN_FILENO, "/dev/stdin", &info, copy, out);
    (void)pthread_mutex_lock(&input.lock);
    td_file_map file = nothing;
    td_status status = read_input();
    if (status == TD_OK && input.size) {
        file.size = file.map_bytes = input.size;
        file.map = td_pages_map(&file.map_bytes, true);
        file.bytes = file.map;
        if (file.map)
            memcpy(file.map, input.pages, input.size);
        else
            status = td_fail_alloc(input.size);
    }
    (void)pthread_mutex_unlock(&input.lock);
    if (status == TD_OK)
        *out = file;
    return status;
}

static td_status open_file(const char *path, bool copy, td_file_map *out)
{
    if (strcmp(path, "-") == 0)
        return open_input(copy, out);
    /* O_NONBLOCK: opening a pipe that nobody writes must not hang; it has no meaning for regular files. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return td_fail(TD_FILE, "cannot open the file: %s; check the path and its permissions", td_errno_text(errno));
    struct stat info;
    td_file_map file = nothing;
    td_status status = fstat(fd, &info) == 0
                           ? open_descriptor(fd, path, &info, copy, &file)
                           : td_fail(TD_FILE, "cannot read the size of the file: %s", td_errno_text(errno));
    (void)close(fd);
    if (status == TD_OK)
        *out = file;
    return status;
}

td_status td_file_map_open(const char *path, td_file_map *out)
{
    return open_file(path, false, out);
}

td_status td_file_copy_open(const char *path, td_file_map *out)
{
    return open_file(path, true, out);
}

void td_file_unmap(td_file_map *file)
{
    td_pages_unmap(file->map, file->map_bytes);
    free(file->origin);
    *file = nothing;
}
