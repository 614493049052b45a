/* The functions that the linker puts in the place of malloc and its kin. Sizes are those that malloc really gave, so
 * that what is freed is what was counted. With offsets of 64 bits, which the build asks for, mmap is called mmap64. */
#include "tool/bench/memory_use.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
int __real_posix_memalign(void **out, size_t align, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *p);
void *__real_mmap64(void *at, size_t length, int protection, int flags, int file, off_t offset);
int __real_munmap(void *at, size_t length);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
int __wrap_posix_memalign(void **out, size_t align, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *p);
void *__wrap_mmap64(void *at, size_t length, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *at, size_t length);

static atomic_bool counting;
static atomic_llong live, peak, calls;

static void hold(size_t bytes)
{
    atomic_fetch_add(&calls, 1);
    const long long now = atomic_fetch_add(&live, (long long)bytes) + (long long)bytes;
    long long most = atomic_load(&peak);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        continue;
}

static void *held(void *p)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed) && p)
        hold(malloc_usable_size(p));
    return p;
}

static void let_go(size_t bytes)
{
    atomic_fetch_sub(&live, (long long)bytes);
}

void *__wrap_malloc(size_t size)
{
    return held(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return held(__real_calloc(count, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    if (!atomic_load_explicit(&counting, memory_order_relaxed))
        return __real_realloc(p, size);
    const size_t before = malloc_usable_size(p);
    void *moved = __real_realloc(p, size);
    if (moved) {
        hold(malloc_usable_size(moved));
        let_go(before);
    }
    return moved;
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return held(__real_aligned_alloc(align, size));
}

int __wrap_posix_memalign(void **out, size_t align, size_t size)
{
    const int code = __real_posix_memalign(out, align, size);
    if (code == 0)
        held(*out);
    return code;
}

char *__wrap_strdup(const char *text)
{
    return held(__real_strdup(text));
}

void __wrap_free(void *p)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed) && p)
        let_go(malloc_usable_size(p));
    __real_free(p);
}

void *__wrap_mmap64(void *at, size_t length, int protection, int flags, int file, off_t offset)
{
    void *p = __real_mmap64(at, length, protection, flags, file, offset);
    if (atomic_load_explicit(&counting, memory_order_relaxed) && p != MAP_FAILED && !(flags & MAP_FIXED))
        hold(length);
    return p;
}

int __wrap_munmap(void *at, size_t length)
{
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        let_go(length);
    return __real_munmap(at, length);
}

void bench_memory_begin(void)
{
    atomic_store(&live, 0);
    atomic_store(&peak, 0);
    atomic_store(&calls, 0);
    atomic_store(&counting, true);
}

void bench_memory_end(bench_memory_use *out)
{
    atomic_store(&counting, false);
    out->allocations = (double)atomic_load(&calls);
    out->peak_bytes = (double)atomic_load(&peak);
}
