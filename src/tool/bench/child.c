/* Waiting goes in slices: a machine that was suspended, or a process that was stopped, finds its clock far ahead when
 * it goes on, and the child, which stood still as well, has had no time to answer. So slices are counted, not hours. */
#include "tool/bench/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLICE_MS 50
#define END_SLICES 40 /* two seconds */

static double patience_ns = 120e9;

void bench_child_set_patience(double ns)
{
    patience_ns = ns;
}

double bench_child_patience(void)
{
    return patience_ns;
}

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/* Both ends lie above stdin, stdout and stderr, of which the caller may have closed any: so that dup2 onto one of those
 * always makes a copy, and a copy stays open in the program that the child becomes. */
static bool make_pipe(int *end)
{
    int low[2];
    end[0] = end[1] = -1;
    if (pipe2(low, O_CLOEXEC))
        return false;
    for (int i = 0; i < 2; i++) {
        end[i] = fcntl(low[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(low[i]);
    }
    if (end[0] >= 0 && end[1] >= 0)
        return true;
    close_end(&end[0]);
    close_end(&end[1]);
    return false;
}

/* Nothing is what it reads, or where its words go. */
static bool open_nothing(int as, int flags)
{
    const int nothing = open("/dev/null", flags | O_CLOEXEC);
    return nothing == as ? fcntl(as, F_SETFD, 0) == 0 : dup2(nothing, as) == as;
}

static _Noreturn void become(const bench_child_work *work, const int *to, const int *from, pid_t parent)
{
    (void)signal(SIGPIPE, SIG_DFL);
    /* It must not go on measuring beside others when this process is killed. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && dup2(from[1], STDOUT_FILENO) >= 0 &&
        (work->asked ? dup2(to[0], STDIN_FILENO) >= 0 : open_nothing(STDIN_FILENO, O_RDONLY)) &&
        (!work->quiet || open_nothing(STDERR_FILENO, O_WRONLY)))
        work->run(work->context);
    _exit(127);
}

bool bench_child_start(bench_child *c, const bench_child_work *work)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    *c = (bench_child){.to = -1, .from = -1};
    if ((work->asked && !make_pipe(to)) || !make_pipe(from)) {
        close_end(&to[0]);
        close_end(&to[1]);
        return false;
    }
    fflush(NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* a child that ends early is an answer that does not come */
    (void)signal(SIGCHLD, SIG_DFL); /* whoever ignores it has no child to wait for */
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(work, to, from, parent);
    close_end(&to[0]);
    close_end(&from[1]);
    c->pid = pid > 0 ? pid : 0;
    c->to = to[1];
    c->from = from[0];
    if (pid > 0)
        return true;
    close_end(&c->to);
    close_end(&c->from);
    return false;
}

bool bench_child_say(bench_child *c, const char *fmt, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, fmt);
    const int length = vsnprintf(line, sizeof line - 1, fmt, arguments);
    va_end(arguments);
    if (c->pid <= 0 || c->to < 0 || length < 0 || length >= (int)sizeof line - 1)
        return false;
    line[length] = '\n';
    return write(c->to, line, (size_t)length + 1) == length + 1; /* less than a pipe holds: at once and whole */
}

/* What came, 0 at the end of the output or where it is late. */
static size_t receive(bench_child *c, void *bytes, size_t size, bool *late)
{
    struct pollfd ready = {.fd = c->from, .events = POLLIN};
    *late = false;
    const double slices = patience_ns / (SLICE_MS * 1e6);
    for (long slice = 0; c->pid > 0 && (double)slice < slices; slice++) {
        const int found = poll(&ready, 1, SLICE_MS);
        if (found < 0 && errno != EINTR)
            return 0;
        if (found <= 0)
            continue;
        const ssize_t got = read(c->from, bytes, size);
        return got > 0 ? (size_t)got : 0;
    }
    *late = c->pid > 0;
    return 0;
}

/* Takes the child's word away for good: what it says later would answer a later question. */
static bool give_up(bench_child *c, bool late)
{
    if (c->pid > 0 && late)
        (void)kill(c->pid, SIGKILL);
    (void)bench_child_stop(c);
    c->late = late;
    return false;
}

static void take_held(bench_child *c, void *out, size_t count, size_t drop)
{
    memcpy(out, c->held, count);
    c->length -= count + drop;
    memmove(c->held, c->held + count + drop, c->length);
}

bool bench_child_line(bench_child *c, char *line, size_t size)
{
    const char *end = NULL;
    while ((end = memchr(c->held, '\n', c->length)) == NULL) {
        bool late = false;
        const size_t got =
            c->length < sizeof c->held ? receive(c, c->held + c->length, sizeof c->held - c->length, &late) : 0;
        if (!got)
            return give_up(c, late);
        c->length += got;
    }
    const size_t length = (size_t)(end - c->held);
    if (length >= size)
        return give_up(c, false);
    take_held(c, line, length, 1);
    line[length] = '\0';
    return true;
}

bool bench_child_bytes(bench_child *c, void *bytes, size_t count)
{
    size_t have = c->length < count ? c->length : count;
    take_held(c, bytes, have, 0);
    while (have < count) {
        bool late = false;
        const size_t got = receive(c, (char *)bytes + have, count - have, &late);
        if (!got)
            return give_up(c, late);
        have += got;
    }
    return true;
}

char *bench_child_all(bench_child *c, size_t *length)
{
    char *text = NULL, block[4096];
    FILE *out = open_memstream(&text, length);
    ssize_t got = 0;
    while (out && ((got = read(c->from, block, sizeof block)) > 0 || (got < 0 && errno == EINTR)))
        fwrite(block, 1, got > 0 ? (size_t)got : 0, out);
    if (out && fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

bool bench_child_stop(bench_child *c)
{
    const struct timespec slice = {0, SLICE_MS * 1000000}, moment = {0, 1000000};
    int status = 1;
    pid_t ended = 0;
    if (c->pid <= 0)
        return false;
    close_end(&c->to);
    close_end(&c->from);
    c->length = 0;
    for (int i = 0; i < SLICE_MS + END_SLICES && (ended = waitpid(c->pid, &status, WNOHANG)) == 0; i++)
        nanosleep(i < SLICE_MS ? &moment : &slice, NULL);
    if (ended == 0) {
        (void)kill(c->pid, SIGKILL);
        while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    c->pid = 0;
    return ended > 0 && status == 0;
}
