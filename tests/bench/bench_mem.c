/* The C side of bench_mem.sv: a clock, and the plain chunk loop's half, a copy out of an array. */
#include <stdint.h>
#include <string.h>
#include <time.h>

#define STAGE_WORDS 512
#define SOURCE_WORDS (1u << 22)

#ifdef __cplusplus
extern "C" {
#endif
double bench_seconds(void);
void bench_chunk(int first, uint32_t *chunk);

double bench_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void bench_chunk(int first, uint32_t *chunk)
{
    static uint32_t source[SOURCE_WORDS];
    if (!source[1])
        for (uint32_t i = 0; i < SOURCE_WORDS; i++)
            source[i] = i * 2654435761u;
    memcpy(chunk, source + (unsigned)first % (SOURCE_WORDS - STAGE_WORDS), STAGE_WORDS * sizeof *chunk);
}
#ifdef __cplusplus
}
#endif
