/* The C side of dpi_bench.sv: lines with the number of a work and how often, and the time of one repetition back. */
#include <stdio.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
int td_bench_next(int *work, long long *repetitions);
void td_bench_start(void);
void td_bench_stop(long long repetitions);
int td_bench_empty(int x);

static double start;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int td_bench_next(int *work, long long *repetitions)
{
    static int greeted;
    if (!greeted++)
        puts("ready");
    fflush(stdout);
    return scanf("%d %lld", work, repetitions) == 2;
}

void td_bench_start(void)
{
    start = now_ns();
}

void td_bench_stop(long long repetitions)
{
    printf("%.6f\n", (now_ns() - start) / (double)repetitions);
}

int td_bench_empty(int x)
{
    return x + 1;
}
#ifdef __cplusplus
}
#endif
