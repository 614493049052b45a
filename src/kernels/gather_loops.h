/* The loops of the gather family, which every instruction set compiles for itself: the compiler knows the size of a run
 * and of an entry in each, and uses the widest registers for the copy. Included by gather_*.c alone. */
#ifndef TD_KERNELS_GATHER_LOOPS_H
#define TD_KERNELS_GATHER_LOOPS_H

#include "kernels/gather.h"

#include <string.h>

#ifndef TARGET
#define TARGET
#endif
#ifndef INLINE
#define INLINE static inline __attribute__((always_inline)) TARGET
#endif

INLINE uint64_t entry_of(const void *entry, unsigned bytes, ptrdiff_t i)
{
    return bytes == 2   ? ((const uint16_t *)entry)[i]
           : bytes == 4 ? ((const uint32_t *)entry)[i]
                        : ((const uint64_t *)entry)[i];
}

/* What an entry is: a word of the only bank, a bank above and a word below, or an address. */
enum { ENTRY_WORD, ENTRY_BANK, ENTRY_ADDRESS };

/* So many words ahead: a place that is not in the caches takes about as long as these. */
#define AHEAD 32

/* Of banks, so many places are found before anything is stored: a load that comes behind a store whose address is not
 * known yet may have to wait for it, and these addresses take two loads. */
#define FOUND 32

#ifndef HAS_PLACES
/* Places by vectors: so many of n from entry i on. */
INLINE bool has_places(const td_gather *g, unsigned entry_bytes)
{
    (void)g, (void)entry_bytes;
    return false;
}

INLINE size_t find_places(const td_gather *g, unsigned entry_bytes, size_t i, size_t n, unsigned char **place)
{
    (void)g, (void)entry_bytes, (void)i, (void)n, (void)place;
    return 0;
}
#endif

/* The bytes of a run by two copies of `part` bytes that overlap; 0: by one. */
INLINE void copy_run(unsigned char *dst, const unsigned char *src, size_t bytes, size_t part)
{
    if (part == 0) {
        memcpy(dst, src, bytes);
        return;
    }
    unsigned char first[32], last[32];
    memcpy(first, src, part);
    memcpy(last, src + bytes - part, part);
    memcpy(dst, first, part);
    memcpy(dst + bytes - part, last, part);
}

/* Everything that the compiler must assume the stores could change is read before them. */
INLINE void gather_loop(const td_gather *g, bool dump, int what, unsigned entry_bytes, size_t bytes, size_t part,
                        bool plain)
{
    const void *const entry = g->entry;
    unsigned char *const *const bank = g->bank;
    const unsigned shift = g->bank_shift;
    const uint64_t mask = ~(~(uint64_t)0 << shift);
    const size_t word_bytes = plain ? bytes : g->word_bytes, count = g->count;
    const ptrdiff_t entry_step = plain ? 1 : g->entry_step, offset_step = plain ? 0 : g->offset_step;
    const ptrdiff_t elem_step = plain ? (ptrdiff_t)bytes : g->elem_step, offset = g->offset;
    unsigned char *const base = what == ENTRY_WORD ? bank[0] + offset : NULL;
    unsigned char *elems = g->elems;
#define COPY(elem, place)                                                                                              \
    (part == bytes ? (void)memcpy(dump ? (elem) : (place), dump ? (place) : (elem), bytes)                             \
                   : copy_run(dump ? (elem) : (place), dump ? (place) : (elem), bytes, part))
#define BANKED(e) (bank[(e) >> shift] + offset + ((e)&mask) * word_bytes)
#define GROUND(e)                                                                                                      \
    (what == ENTRY_ADDRESS ? (unsigned char *)(uintptr_t)(e) + offset                                                  \
     : what == ENTRY_WORD  ? base + (e)*word_bytes                                                                     \
                           : BANKED(e))
#define PLACE(i, e) (GROUND(e) + (ptrdiff_t)(i)*offset_step)
    size_t i = 0;
    if (g->far)
        for (; i + AHEAD < count; i++, elems += elem_step) {
            const uint64_t e = entry_of(entry, entry_bytes, (ptrdiff_t)i * entry_step);
            const uint64_t next = entry_of(entry, entry_bytes, (ptrdiff_t)(i + AHEAD) * entry_step);
            unsigned char *const place = PLACE(i, e), *const ahead = PLACE(i + AHEAD, next);
            __builtin_prefetch(ahead, 1);
            if (bytes > 64)
                __builtin_prefetch(ahead + 64, 1);
            COPY(elems, place);
        }
    if (what == ENTRY_BANK) {
        unsigned char *place[FOUND];
        const bool by_vectors = has_places(g, entry_bytes);
        for (size_t n = 0; i < count; i += n) {
            n = count - i < FOUND ? count - i : FOUND;
#pragma GCC unroll 2
            for (size_t k = by_vectors ? find_places(g, entry_bytes, i, n, place) : 0; k < n; k++) {
                const uint64_t e = entry_of(entry, entry_bytes, (ptrdiff_t)(i + k) * entry_step);
                place[k] = PLACE(i + k, e);
            }
#pragma GCC unroll 4
            for (size_t k = 0; k < n; k++, elems += elem_step)
                COPY(elems, place[k]);
        }
        return;
    }
    for (; i + 4 <= count; i += 4, elems += 4 * elem_step)
        for (size_t k = 0; k < 4; k++) {
            const uint64_t e = entry_of(entry, entry_bytes, (ptrdiff_t)(i + k) * entry_step);
            unsigned char *const place = PLACE(i + k, e), *const elem = elems + (ptrdiff_t)k * elem_step;
            COPY(elem, place);
        }
    for (; i < count; i++, elems += elem_step) {
        const uint64_t e = entry_of(entry, entry_bytes, (ptrdiff_t)i * entry_step);
        unsigned char *const place = PLACE(i, e);
        COPY(elems, place);
    }
#undef COPY
#undef PLACE
#undef GROUND
#undef BANKED
}

INLINE void gather_by_entry(const td_gather *g, bool dump, size_t bytes)
{
    const bool plain =
        g->entry_step == 1 && g->offset_step == 0 && g->elem_step == (ptrdiff_t)bytes && g->word_bytes == bytes;
    if (!g->bank)
        gather_loop(g, dump, ENTRY_ADDRESS, 8, bytes, bytes, false);
    else if (g->one_bank && plain && g->entry_bytes == 2)
        gather_loop(g, dump, ENTRY_WORD, 2, bytes, bytes, true);
    else if (g->one_bank && plain && g->entry_bytes == 4)
        gather_loop(g, dump, ENTRY_WORD, 4, bytes, bytes, true);
    else if (g->one_bank && g->entry_bytes == 2)
        gather_loop(g, dump, ENTRY_WORD, 2, bytes, bytes, false);
    else if (g->one_bank && g->entry_bytes == 4)
        gather_loop(g, dump, ENTRY_WORD, 4, bytes, bytes, false);
    else if (g->entry_bytes == 2)
        gather_loop(g, dump, ENTRY_BANK, 2, bytes, bytes, false);
    else if (g->entry_bytes == 4)
        gather_loop(g, dump, ENTRY_BANK, 4, bytes, bytes, false);
    else
        gather_loop(g, dump, ENTRY_BANK, 8, bytes, bytes, false);
}

/* Other sizes. */
INLINE void gather_odd(const td_gather *g, bool dump)
{
    const int what = g->bank ? ENTRY_BANK : ENTRY_ADDRESS;
    const size_t bytes = g->bytes;
    if (bytes > 64)
        gather_loop(g, dump, what, g->entry_bytes, bytes, 0, false);
    else if (bytes > 32)
        gather_loop(g, dump, what, g->entry_bytes, bytes, 32, false);
    else if (bytes > 16)
        gather_loop(g, dump, what, g->entry_bytes, bytes, 16, false);
    else if (bytes > 8)
        gather_loop(g, dump, what, g->entry_bytes, bytes, 8, false);
    else if (bytes > 4)
        gather_loop(g, dump, what, g->entry_bytes, bytes, 4, false);
    else
        gather_loop(g, dump, what, g->entry_bytes, bytes, 2, false);
}

/* Functions of their own: in a single one the compiler runs out of registers. */
#define SIZES(X) X(1) X(2) X(4) X(8) X(16) X(32) X(64) X(128)
#define X(bytes)                                                                                                       \
    static TARGET __attribute__((noinline)) void scatter_##bytes(const td_gather *g)                                   \
    {                                                                                                                  \
        gather_by_entry(g, false, bytes);                                                                              \
    }                                                                                                                  \
    static TARGET __attribute__((noinline)) void gather_##bytes(const td_gather *g)                                    \
    {                                                                                                                  \
        gather_by_entry(g, true, bytes);                                                                               \
    }
SIZES(X)
#undef X

#define WORDS(way, isa, dump)                                                                                          \
    static TARGET __attribute__((noinline)) void way##_others(const td_gather *g)                                      \
    {                                                                                                                  \
        gather_odd(g, dump);                                                                                           \
    }                                                                                                                  \
    TARGET TD_GATHER_KERNEL(way, isa)                                                                                  \
    {                                                                                                                  \
        switch (g->bytes) {                                                                                            \
            SIZES(CASE_##way)                                                                                          \
        default:                                                                                                       \
            way##_others(g);                                                                                           \
        }                                                                                                              \
    }
#define CASE_scatter(bytes)                                                                                            \
    case bytes:                                                                                                        \
        scatter_##bytes(g);                                                                                            \
        break;
#define CASE_gather(bytes)                                                                                             \
    case bytes:                                                                                                        \
        gather_##bytes(g);                                                                                             \
        break;

#define GATHER_FAMILY(isa)                                                                                             \
    WORDS(scatter, isa, false)                                                                                         \
    WORDS(gather, isa, true)

#endif
