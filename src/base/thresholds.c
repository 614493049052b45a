/* See thresholds.h. Values change one by one: a call that runs while a program sets them may see some of both, and all
 * of them are within their bounds. Nothing here prints, or changes errno or the last error. After a fork
 * pthread_once of glibc begins again where another thread was inside it. */
#include "base/thresholds.h"

#include "base/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE(symbol, name, standard, least, most, meaning) {name, meaning, standard, least, most},
const td_threshold_line td_threshold_lines[TD_THRESHOLDS] = {TD_THRESHOLD_TABLE(LINE)};
#undef LINE

#define UNREAD(...) TD_THRESHOLD_UNREAD,
_Atomic uint64_t td_threshold_values[TD_THRESHOLDS] = {TD_THRESHOLD_TABLE(UNREAD)};
#undef UNREAD

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int source;
static char note[TD_THRESHOLD_NOTE_BYTES + PATH_MAX + 32]; /* written once */

static void store_all(const uint64_t *values, td_threshold_source from)
{
    atomic_store_explicit(&source, (int)from, memory_order_relaxed);
    for (size_t i = 0; i < TD_THRESHOLDS; i++)
        atomic_store_explicit(&td_threshold_values[i], values[i], memory_order_relaxed);
}

void td_thresholds_standard(uint64_t *values)
{
    for (size_t i = 0; i < TD_THRESHOLDS; i++)
        values[i] = td_threshold_lines[i].standard;
}

static bool is_off(const char *wish)
{
    return wish && strcmp(wish, "off") == 0;
}

bool td_thresholds_path(char *path, size_t bytes)
{
    const char *wish = getenv("TD_TUNE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (is_off(wish))
        return false;
    if (wish && *wish)
        length = snprintf(path, bytes, "%s", wish);
    else if (cache && *cache == '/') /* one that is not from the root counts as not set, says the XDG specification */
        length = snprintf(path, bytes, "%s/tensordoor/tune", cache);
    else if (home && *home == '/')
        length = snprintf(path, bytes, "%s/.cache/tensordoor/tune", home);
    return length > 0 && (size_t)length < bytes;
}

/* -- the file ------------------------------------------------------------------------------------------------------ */

/* The bytes of a plain file, one more than fit at most. A pipe or device is seen before it is opened, and by its open
 * descriptor again, in case it took the file's place meanwhile: opening without O_NONBLOCK could wait for ever. */
static ssize_t read_plain(const char *path, char *text, bool *missing, char *problem)
{
    struct stat info;
    *missing = false;
    if (stat(path, &info) != 0) {
        *missing = errno == ENOENT || errno == ENOTDIR;
        snprintf(problem, TD_THRESHOLD_NOTE_BYTES, "it cannot be read: %s", td_errno_text(errno));
        return -1;
    }
    int fd = S_ISREG(info.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (S_ISREG(info.st_mode) && fd < 0) {
        snprintf(problem, TD_THRESHOLD_NOTE_BYTES, "it cannot be read: %s", td_errno_text(errno));
        return -1;
    }
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        snprintf(problem, TD_THRESHOLD_NOTE_BYTES, "it is no plain file");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    size_t taken = 0;
    ssize_t got = 1;
    while (taken <= TD_THRESHOLD_FILE_BYTES && (got > 0 || (got < 0 && errno == EINTR))) {
        got = read(fd, text + taken, TD_THRESHOLD_FILE_BYTES + 1 - taken);
        taken += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        snprintf(problem, TD_THRESHOLD_NOTE_BYTES, "it cannot be read: %s", td_errno_text(errno));
    close(fd);
    return got < 0 ? -1 : (ssize_t)taken;
}

bool td_thresholds_read(const char *path, uint64_t *values, bool *missing, char problem[TD_THRESHOLD_NOTE_BYTES])
{
    char text[TD_THRESHOLD_FILE_BYTES + 1];
    const int error = errno;
    const ssize_t bytes = read_plain(path, text, missing, problem);
    errno = error;
    if (bytes > TD_THRESHOLD_FILE_BYTES) {
        snprintf(problem, TD_THRESHOLD_NOTE_BYTES, "it is damaged: it has more than %d bytes", TD_THRESHOLD_FILE_BYTES);
        return false;
    }
    return bytes >= 0 && td_thresholds_parse(text, (size_t)bytes, values, problem);
}

/* -- the first call ------------------------------------------------------------------------------------------------ */

static void read_once(void)
{
    char path[PATH_MAX], problem[TD_THRESHOLD_NOTE_BYTES];
    uint64_t values[TD_THRESHOLDS];
    bool missing = false;
    td_threshold_source from = is_off(getenv("TD_TUNE")) ? TD_THRESHOLDS_OFF : TD_THRESHOLDS_STANDARD;
    if (td_thresholds_path(path, sizeof path)) {
        if (td_thresholds_read(path, values, &missing, problem)) {
            from = TD_THRESHOLDS_READ;
            snprintf(note, sizeof note, "%s", path);
        } else if (!missing) {
            from = TD_THRESHOLDS_IGNORED;
            snprintf(note, sizeof note, "%s is ignored: %s", path, problem);
        }
    }
    if (from != TD_THRESHOLDS_READ)
        td_thresholds_standard(values);
    store_all(values, from);
}

uint64_t td_threshold_first(td_threshold_id id)
{
    (void)pthread_once(&once, read_once);
    return atomic_load_explicit(&td_threshold_values[id], memory_order_relaxed);
}

void td_thresholds_put(const uint64_t *values, td_threshold_source from)
{
    (void)pthread_once(&once, read_once);
    store_all(values, from);
}

td_threshold_source td_thresholds_source(void)
{
    (void)pthread_once(&once, read_once);
    return (td_threshold_source)atomic_load_explicit(&source, memory_order_relaxed);
}

const char *td_thresholds_note(void)
{
    (void)pthread_once(&once, read_once);
    return note;
}
