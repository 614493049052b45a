/* NumPy as a peer: a script runs in a python3 that has numpy and gets its work line by line, so that its rounds
 * alternate with ours. Without such a python3 the bench goes on without this peer. The script is built into the
 * program. */
#include "tool/bench/moves.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__asm__(".section .rodata\n"
        "bench_numpy_script: .incbin \"" NUMPY_PEER "\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char bench_numpy_script[];

static FILE *ask, *answer;
static pid_t child;

static bool start_with(const char *python)
{
    int to[2], from[2];
    if (pipe(to))
        return false;
    if (pipe(from)) {
        close(to[0]);
        close(to[1]);
        return false;
    }
    child = fork();
    if (child == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        close(from[0]);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        execlp(python, python, "-c", bench_numpy_script, (char *)NULL);
        _exit(1);
    }
    close(to[0]);
    close(from[1]);
    ask = fdopen(to[1], "w");
    answer = fdopen(from[0], "r");
    char line[64];
    if (child > 0 && ask && answer) {
        fprintf(ask, "case 1 8 2,2 1,0\n");
        fflush(ask);
        if (fgets(line, sizeof line, answer))
            return true;
    }
    bench_numpy_stop();
    return false;
}

/* Tried once; the memory of NumPy's process is not ours. */
static bool started(void)
{
    static bool tried;
    if (!tried) {
        tried = true;
        signal(SIGPIPE, SIG_IGN);
        (void)(start_with("python3") || start_with("/usr/bin/python3"));
    }
    return ask != NULL;
}

bool bench_numpy_case(const bench_job *job)
{
    if (!started() || (job->of->dump && (job->of->as || job->of->address || td_tensor_elem_bits(job->tensor) % 8)))
        return false;
    if (job->of->address)
        fprintf(ask, "words %zu ", job->elem_bytes);
    else
        fprintf(ask, "case %zu %u ", job->elem_bytes, td_tensor_elem_bits(job->tensor));
    for (int i = 0; i < job->rank; i++)
        fprintf(ask, "%s%llu", i ? "," : "", (unsigned long long)job->dim[i]);
    if (job->of->address)
        fprintf(ask, " %s", job->of->address);
    for (int i = 0; i < job->rank && !job->of->address; i++)
        fprintf(ask, "%s%d", i ? "," : " ", job->perm[i]);
    if (job->of->as)
        fprintf(ask, " %s %s", job->of->dtype, job->of->as);
    fprintf(ask, "\n");
    fflush(ask);
    char line[64];
    return fgets(line, sizeof line, answer) && line[0] == '1';
}

double bench_numpy_time(uint64_t repetitions)
{
    double ns = -1;
    char line[64];
    fprintf(ask, "time %llu\n", (unsigned long long)repetitions);
    fflush(ask);
    if (!fgets(line, sizeof line, answer) || sscanf(line, "%lf", &ns) != 1)
        return -1;
    return ns;
}

void bench_numpy_stop(void)
{
    if (ask)
        fclose(ask);
    if (answer)
        fclose(answer);
    ask = answer = NULL;
    if (child > 0)
        waitpid(child, NULL, 0);
    child = 0;
}
