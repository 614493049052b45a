/* Prefetching for kernels that read much memory once and in order: the pages that come next, side by side. One page
 * after another keeps too few lines on their way for a core that waits for memory; the processor follows each page for
 * itself, so that several at once take two thirds of the time. Included by kernels. */
#ifndef TD_KERNELS_PREFETCH_H
#define TD_KERNELS_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#define TD_PREFETCH_PAGE ((uintptr_t)4096)
#define TD_PREFETCH_PAGES ((uintptr_t)4)
#define TD_PREFETCH_LINE ((uintptr_t)64)
#define TD_PREFETCH_BYTES (TD_PREFETCH_PAGES * TD_PREFETCH_PAGE)

/* Called for every `step` bytes that are read, from 64 up to 256, a power of two: prefetches as many out of the aligned
 * TD_PREFETCH_BYTES that lie `ahead` of those at p: TD_PREFETCH_BYTES for what a cache has, which the first-level cache
 * holds beside what is read meanwhile, twice as many for what comes from memory, which takes longer. Nothing from `end`
 * on; NULL: nothing at all. */
static inline void td_prefetch_pages(const void *p, const size_t step, const size_t ahead, const void *end)
{
    const uintptr_t at = (uintptr_t)p, next = at / TD_PREFETCH_BYTES * TD_PREFETCH_BYTES + ahead;
    if (next >= (uintptr_t)end)
        return;
    const size_t lines = step / TD_PREFETCH_LINE, turns = TD_PREFETCH_PAGES / lines;
    const uintptr_t number = at % TD_PREFETCH_BYTES / step;
    const uintptr_t line = next + number % turns * lines * TD_PREFETCH_PAGE + number / turns * TD_PREFETCH_LINE;
    for (size_t i = 0; i < lines; i++)
        __builtin_prefetch((const void *)(line + i * TD_PREFETCH_PAGE), 0, 3);
}

/* As td_prefetch_pages, in the order of memory: for who reads every line soon after the one before and once alone, as
 * the processor's own prefetching runs on then. */
static inline void td_prefetch_lines(const void *p, const size_t step, const void *end)
{
    const uintptr_t next = (uintptr_t)p + TD_PREFETCH_BYTES;
    if (next >= (uintptr_t)end)
        return;
    for (size_t i = 0; i < step; i += TD_PREFETCH_LINE)
        __builtin_prefetch((const void *)(next + i), 0, 3);
}

/* The lines of a block that is read or written next, all at once, into the first-level cache. */
static inline void td_prefetch_block(const void *p, const uint64_t bytes, const int written)
{
    for (uint64_t at = 0; at < bytes; at += TD_PREFETCH_LINE)
        if (written)
            __builtin_prefetch((const char *)p + at, 1, 3);
        else
            __builtin_prefetch((const char *)p + at, 0, 3);
}

/* For who goes over the `bytes` at p twice and calls td_prefetch_pages the second time: called before the first time,
 * so that memory is not idle then. Prefetches their share of the first of those pages. */
static inline void td_prefetch_first(const void *p, size_t bytes, size_t ahead, const void *end)
{
    const uintptr_t at = (uintptr_t)p, next = at / TD_PREFETCH_BYTES * TD_PREFETCH_BYTES + ahead;
    const uintptr_t first = at % TD_PREFETCH_BYTES / TD_PREFETCH_PAGES, last = first + bytes / TD_PREFETCH_PAGES;
    for (uintptr_t i = first; i < last && next + i < (uintptr_t)end; i += TD_PREFETCH_LINE)
        __builtin_prefetch((const void *)(next + i), 0, 3);
}

#endif
