/* What bench_program.sv needs of C: a clock that stands still while others have the processor, and medians. */
#include <stdlib.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

enum { LISTS = 3, MOST = 1000 };
static double noted[LISTS][MOST];
static int count[LISTS];

void bench_note(int list, double value)
{
    if (count[list] < MOST)
        noted[list][count[list]++] = value;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(int list)
{
    const int values = count[list];
    qsort(noted[list], (size_t)values, sizeof **noted, by_value);
    count[list] = 0;
    return values ? noted[list][values / 2] : 0;
}

#ifdef __cplusplus
}
#endif
