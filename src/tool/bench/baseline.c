/* Files of runs. A baseline is written beside its place and then renamed, so that a run that is interrupted leaves the
 * old one; a line of a history goes out in one write. What is there is read whole before anything is added to it. */
#include "tool/bench/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool say(char *message, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool say(char *message, size_t size, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, size, fmt, args);
    va_end(args);
    return false;
}

static bool make_folders(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            const bool failed = mkdir(path, 0777) && errno != EEXIST;
            *p = '/';
            if (failed)
                return false;
        }
    return true;
}

bool bench_baseline_path(const char *name, bool make, char *path, size_t size)
{
    const size_t length = strlen(name);
    if (strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".json") == 0))
        return (size_t)snprintf(path, size, "%s", name) < size;
    const char *folder = getenv("TD_BENCH_DIR"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int used = -1;
    if (folder && *folder)
        used = snprintf(path, size, "%s/%s.json", folder, name);
    else if (cache && *cache)
        used = snprintf(path, size, "%s/tensordoor/bench/%s.json", cache, name);
    else if (home && *home)
        used = snprintf(path, size, "%s/.cache/tensordoor/bench/%s.json", home, name);
    return used > 0 && (size_t)used < size && (!make || make_folders(path));
}

bool bench_can_write(const char *path)
{
    char folder[1024] = ".";
    struct stat file;
    const char *slash = strrchr(path, '/');
    if (stat(path, &file) == 0) {
        errno = EISDIR;
        return !S_ISDIR(file.st_mode) && access(path, W_OK) == 0;
    }
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return access(folder, W_OK | X_OK) == 0;
}

/* The whole file with a zero behind it; NULL where it cannot be read. */
static char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0;
    *length = 0;
    while (file) {
        if (*length + 1 >= room) {
            char *more = realloc(text, room = 2 * room + 65536);
            if (!more)
                break;
            text = more;
        }
        const size_t got = fread(text + *length, 1, room - *length - 1, file);
        *length += got;
        if (got == 0)
            break;
    }
    const bool good = file && feof(file) && !ferror(file) && text;
    if (file)
        fclose(file);
    if (good) {
        text[*length] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static char *line_of(const bench_record *record, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out)
        return NULL;
    bench_record_write(out, record);
    fputc('\n', out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static bool write_all(int file, const char *text, size_t length)
{
    while (length) {
        const ssize_t written = write(file, text, length);
        if (written <= 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

static bool refuse_baseline(const char *path, char *message, size_t size)
{
    return say(message, size, "cannot write the baseline %s: %s", path, strerror(errno));
}

bool bench_baseline_ready(const char *name, char *message, size_t size)
{
    char path[1024];
    if (!bench_baseline_path(name, true, path, sizeof path))
        return say(message, size, "no folder for the baseline \"%s\"; set TD_BENCH_DIR, or pass a path", name);
    return bench_can_write(path) || refuse_baseline(path, message, size);
}

bool bench_baseline_save(const char *name, const bench_record *record, char *message, size_t size)
{
    char path[1024], beside[1048];
    size_t length = 0;
    if (!bench_baseline_path(name, true, path, sizeof path))
        return say(message, size, "no folder for the baseline \"%s\"; set TD_BENCH_DIR, or pass a path", name);
    snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
    char *text = line_of(record, &length);
    const int file = text ? open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    bool good = file >= 0 && write_all(file, text, length);
    if (file >= 0)
        good = close(file) == 0 && good;
    good = good && rename(beside, path) == 0;
    const int reason = errno;
    if (!good && file >= 0)
        (void)unlink(beside);
    free(text);
    errno = reason;
    return good || refuse_baseline(path, message, size);
}

bool bench_baseline_open(const char *name, bench_record *record, char *message, size_t size)
{
    char path[1024], why[256] = "";
    size_t length = 0;
    if (!bench_baseline_path(name, false, path, sizeof path))
        return say(message, size, "no folder for the baseline \"%s\"; set TD_BENCH_DIR, or pass a path", name);
    char *text = read_file(path, &length);
    if (!text)
        return say(message, size, "no baseline \"%s\": cannot read %s; make it with --save-baseline %s", name, path,
                   name);
    const bool good = bench_record_read(text, length, record, why, sizeof why);
    free(text);
    return good || say(message, size, "the baseline %s %s", path, why);
}

bool bench_history_open(const char *path, bench_record **runs, size_t *count, char *message, size_t size)
{
    char why[256] = "";
    size_t length = 0;
    *runs = NULL;
    *count = 0;
    char *text = read_file(path, &length);
    if (!text)
        return access(path, F_OK) != 0 || say(message, size, "cannot read the history %s", path);
    bool good = true;
    for (size_t at = 0; good && at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        bench_record *more = realloc(*runs, (*count + 1) * sizeof **runs);
        if (!more) {
            good = say(message, size, "no memory for the history %s", path);
            break;
        }
        *runs = more;
        if (!end)
            good = say(message, size,
                       "the history %s ends in the middle of line %zu: it was half written; remove "
                       "that line",
                       path, *count + 1);
        else if (!bench_record_read(text + at, (size_t)(end - text) - at, &more[*count], why, sizeof why))
            good = say(message, size, "line %zu of the history %s %s", *count + 1, path, why);
        else
            (*count)++;
        at = end ? (size_t)(end - text) + 1 : length;
    }
    free(text);
    if (!good) {
        bench_history_clear(*runs, *count);
        *runs = NULL;
        *count = 0;
    }
    return good;
}

void bench_history_clear(bench_record *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bench_record_clear(&runs[i]);
    free(runs);
}

bool bench_history_ready(const char *path, char *message, size_t size)
{
    bench_record *runs = NULL;
    size_t count = 0;
    if (!bench_history_open(path, &runs, &count, message, size))
        return false;
    bench_history_clear(runs, count);
    return bench_can_write(path) || say(message, size, "cannot write the history %s: %s", path, strerror(errno));
}

bool bench_history_add(const char *path, const bench_record *record, char *message, size_t size)
{
    size_t length = 0;
    if (!bench_history_ready(path, message, size))
        return false;
    char *text = line_of(record, &length);
    const int file = text ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    bool good = file >= 0 && write_all(file, text, length);
    if (file >= 0)
        good = close(file) == 0 && good;
    const int reason = errno;
    free(text);
    return good || say(message, size, "cannot write the history %s: %s", path, strerror(reason));
}
