/* How much a call allocates. The command is linked so that its own and the library's calls of malloc, mmap and their
 * kin come through here (src/meson.build, `bench_link`); the library itself does not know. Outside of a count they cost
 * one comparison. Threads are counted too. */
#ifndef TD_BENCH_MEMORY_USE_H
#define TD_BENCH_MEMORY_USE_H

typedef struct bench_memory_use {
    double allocations; /* calls of malloc, calloc, realloc, aligned_alloc, posix_memalign, strdup and mmap */
    double peak_bytes;  /* most that was held at once beyond what was held at the start */
} bench_memory_use;

void bench_memory_begin(void);
void bench_memory_end(bench_memory_use *out);

#endif
