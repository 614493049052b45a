/* Child processes with pipes: the peers that get their work line by line, a run that measures again, a cold start, git.
 * A child has no file of ours but those it is meant to have: an end of a pipe that it inherited would keep another
 * child from ever seeing the end of its input. Nothing here waits for ever: an answer that does not come in time ends
 * the child, and so does an end that does not come. Time in which this process stood still itself does not count. */
#ifndef TD_BENCH_CHILD_H
#define TD_BENCH_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct bench_child {
    pid_t pid;     /* 0: none */
    int to, from;  /* its input, -1 without one; its output */
    bool late;     /* it was ended because an answer did not come in time */
    size_t length; /* of what was read behind the last line */
    char held[256];
} bench_child;

typedef struct bench_child_work {
    void (*run)(void *context); /* in the child: becomes another program; where it returns, the child ends with 127 */
    void *context;
    bool asked; /* it reads what bench_child_say writes; else its input is empty */
    bool quiet; /* what it writes to stderr is dropped */
} bench_child_work;

/* How long an answer of any child may take; 120 s until it is set. */
void bench_child_set_patience(double ns);
double bench_child_patience(void);

/* False where the system has no process or no pipe left. The child ends with this process. */
bool bench_child_start(bench_child *child, const bench_child_work *work);

/* A line to its input. */
bool bench_child_say(bench_child *child, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line of its output, without the end of the line; so many bytes of it; all of it up to its end, with no limit of
 * time (free it). False, or NULL, where the output ends before, or is late: then the child is ended. */
bool bench_child_line(bench_child *child, char *line, size_t size);
bool bench_child_bytes(bench_child *child, void *bytes, size_t count);
char *bench_child_all(bench_child *child, size_t *length);

/* Closes its input, and gives it two seconds to end before it is killed. True where it ended by itself with 0. */
bool bench_child_stop(bench_child *child);

#endif
