/* NumPy as a peer: a script runs in a python3 that has numpy and gets its work line by line, so that its rounds
 * alternate with ours. Without such a python3 the bench goes on without this peer, and so it does when it gives no
 * answer. The script is built into the program. */
#include "tool/bench/child.h"
#include "tool/bench/moves.h"

#include <stdio.h>
#include <unistd.h>

__asm__(".section .rodata\n"
        "bench_numpy_script: .incbin \"" NUMPY_PEER "\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char bench_numpy_script[];

static bench_child numpy;

static void become_python(void *python)
{
    execlp(python, python, "-c", bench_numpy_script, (char *)NULL);
}

/* A line of ours, and its answer. A peer that died is left out without a word, as one that is not there. */
static bool ask(const char *question, char *answer, size_t size)
{
    if (numpy.pid <= 0)
        return false;
    if (bench_child_say(&numpy, "%s", question) && bench_child_line(&numpy, answer, size))
        return true;
    if (numpy.late)
        fprintf(stderr, "tensordoor bench: NumPy gives no answer for %.3g s and is left out\n",
                bench_child_patience() / 1e9);
    (void)bench_child_stop(&numpy);
    return false;
}

static bool start_with(const char *python)
{
    char line[64];
    return bench_child_start(&numpy,
                             &(bench_child_work){become_python, (void *)python, .asked = true, .quiet = true}) &&
           ask("case 1 8 2,2 1,0", line, sizeof line);
}

/* Tried once; the memory of NumPy's process is not ours. */
static bool started(void)
{
    static bool tried;
    if (!tried) {
        tried = true;
        (void)(start_with("python3") || start_with("/usr/bin/python3"));
    }
    return numpy.pid > 0;
}

bool bench_numpy_case(const bench_job *job)
{
    char question[512], line[64], *p = question;
    if (!started() || (job->of->dump && (job->of->as || job->of->address || td_tensor_elem_bits(job->tensor) % 8)))
        return false;
    if (job->of->address)
        p += sprintf(p, "words %zu ", job->elem_bytes);
    else
        p += sprintf(p, "case %zu %u ", job->elem_bytes, td_tensor_elem_bits(job->tensor));
    for (int i = 0; i < job->rank; i++)
        p += sprintf(p, "%s%llu", i ? "," : "", (unsigned long long)job->dim[i]);
    if (job->of->address)
        p += sprintf(p, " %s", job->of->address);
    for (int i = 0; i < job->rank && !job->of->address; i++)
        p += sprintf(p, "%s%d", i ? "," : " ", job->perm[i]);
    if (job->of->as)
        sprintf(p, " %s %s", job->of->dtype, job->of->as);
    return ask(question, line, sizeof line) && line[0] == '1';
}

double bench_numpy_time(uint64_t repetitions)
{
    double ns = -1;
    char question[64], line[64];
    snprintf(question, sizeof question, "time %llu", (unsigned long long)repetitions);
    return ask(question, line, sizeof line) && sscanf(line, "%lf", &ns) == 1 ? ns : -1;
}

void bench_numpy_stop(void)
{
    (void)bench_child_stop(&numpy);
}
