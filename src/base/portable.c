/* Functions of newer glibcs for a build with -Dportable=true: glibc 2.17 has no symbol of these names, so they are
 * defined here, hidden, for our own objects and for those of the archives that are linked in. Only x86-64. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Since glibc 2.33 these are functions; before that, inline calls of functions that took the version of struct stat. */
enum { STAT_VERSION = 1 };
int __xstat64(int version, const char *path, struct stat *out);
int __lxstat64(int version, const char *path, struct stat *out);
int __fxstat64(int version, int fd, struct stat *out);
int __fxstatat64(int version, int folder, const char *path, struct stat *out, int flags);

/* struct stat and struct stat64 are one on x86-64. The C names are our own, since headers rename stat to stat64. */
#define TD_BOTH(name, parameters, call)                                                                                \
    __attribute__((visibility("hidden"))) int td_##name parameters __asm__(#name);                                     \
    __attribute__((visibility("hidden"))) int td_##name##64 parameters __asm__(#name "64");                            \
    int td_##name parameters                                                                                           \
    {                                                                                                                  \
        return call;                                                                                                   \
    }                                                                                                                  \
    int td_##name##64 parameters                                                                                       \
    {                                                                                                                  \
        return call;                                                                                                   \
    }

TD_BOTH(stat, (const char *path, struct stat *out), __xstat64(STAT_VERSION, path, out))
TD_BOTH(lstat, (const char *path, struct stat *out), __lxstat64(STAT_VERSION, path, out))
TD_BOTH(fstat, (int fd, struct stat *out), __fxstat64(STAT_VERSION, fd, out))
TD_BOTH(fstatat, (int folder, const char *path, struct stat *out, int flags),
        __fxstatat64(STAT_VERSION, folder, path, out, flags))

/* Since glibc 2.28 programs with 64-bit file offsets call fcntl64; on x86-64 it is fcntl. */
int td_old_fcntl(int fd, int command, ...) __asm__("fcntl");
__attribute__((visibility("hidden"))) int td_fcntl64(int fd, int command, ...) __asm__("fcntl64");
int td_fcntl64(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return td_old_fcntl(fd, command, argument);
}

/* glibc 2.32's is never translated; this one speaks the locale's language. */
__attribute__((visibility("hidden"))) const char *strerrordesc_np(int error)
{
    static _Thread_local char text[128];
    return strerror_r(error, text, sizeof text);
}

/* What the linker puts in the place of stdin (--wrap) in the shared library, whose own code does not read it. */
__attribute__((visibility("hidden"))) void *__wrap_stdin;
