/* The loops of the gather family, which every instruction set compiles for itself: the compiler knows the size of a run
 * and of an entry in each, and uses the widest registers for the copy. Included by gather_*.c alone. */
#ifndef TD_KERNELS_GATHER_LOOPS_H
#define TD_KERNELS_GATHER_LOOPS_H

#include "kernels/gather.h"

#include <string.h>

#ifndef TARGET
#define TARGET
#endif
#define INLINE static inline __attribute__((always_inline)) TARGET

INLINE uint64_t entry_of(const void *entry, unsigned bytes, ptrdiff_t i)
{
    return bytes == 2   ? ((const uint16_t *)entry)[i]
           : bytes == 4 ? ((const uint32_t *)entry)[i]
                        : ((const uint64_t *)entry)[i];
}

/* So many words ahead: a place that is not in the caches takes about as long as these. */
#define AHEAD 32

/* Everything that the compiler must assume the stores could change is read before them. */
INLINE void gather_loop(const td_gather *g, bool dump, bool one_bank, unsigned entry_bytes, size_t bytes, bool plain)
{
    const void *const entry = g->entry;
    unsigned char *const *const bank = g->bank;
    const unsigned shift = g->bank_shift;
    const uint64_t mask = ~(~(uint64_t)0 << shift);
    const size_t word_bytes = plain ? bytes : g->word_bytes, count = g->count;
    const ptrdiff_t entry_step = plain ? 1 : g->entry_step, offset_step = plain ? 0 : g->offset_step;
    const ptrdiff_t elem_step = plain ? (ptrdiff_t)bytes : g->elem_step;
    unsigned char *const base = one_bank ? bank[0] + g->offset : NULL;
    unsigned char *elems = g->elems;
#define PLACE(i, e)                                                                                                    \
    ((one_bank ? base : bank[(e) >> shift] + g_offset) + (one_bank ? (e) : (e)&mask) * word_bytes +                    \
     (ptrdiff_t)(i)*offset_step)
    const ptrdiff_t g_offset = g->offset;
    size_t i = 0;
    if (g->far)
        for (; i + AHEAD < count; i++, elems += elem_step) {
            const uint64_t e = entry_of(entry, entry_bytes, (ptrdiff_t)i * entry_step);
            const uint64_t next = entry_of(entry, entry_bytes, (ptrdiff_t)(i + AHEAD) * entry_step);
            unsigned char *const place = PLACE(i, e), *const ahead = PLACE(i + AHEAD, next);
            __builtin_prefetch(ahead, 1);
            if (bytes > 64)
                __builtin_prefetch(ahead + 64, 1);
            memcpy(dump ? elems : place, dump ? place : elems, bytes);
        }
    for (; i + 4 <= count; i += 4, elems += 4 * elem_step)
        for (size_t k = 0; k < 4; k++) {
            const uint64_t e = entry_of(entry, entry_bytes, (ptrdiff_t)(i + k) * entry_step);
            unsigned char *const place = PLACE(i + k, e), *const elem = elems + (ptrdiff_t)k * elem_step;
            memcpy(dump ? elem : place, dump ? place : elem, bytes);
        }
    for (; i < count; i++, elems += elem_step) {
        const uint64_t e = entry_of(entry, entry_bytes, (ptrdiff_t)i * entry_step);
        unsigned char *const place = PLACE(i, e);
        memcpy(dump ? elems : place, dump ? place : elems, bytes);
    }
#undef PLACE
}

INLINE void gather_by_entry(const td_gather *g, bool dump, size_t bytes)
{
    const bool plain =
        g->entry_step == 1 && g->offset_step == 0 && g->elem_step == (ptrdiff_t)bytes && g->word_bytes == bytes;
    if (g->one_bank && plain && g->entry_bytes == 2)
        gather_loop(g, dump, true, 2, bytes, true);
    else if (g->one_bank && plain && g->entry_bytes == 4)
        gather_loop(g, dump, true, 4, bytes, true);
    else if (g->one_bank && g->entry_bytes == 2)
        gather_loop(g, dump, true, 2, bytes, false);
    else if (g->one_bank && g->entry_bytes == 4)
        gather_loop(g, dump, true, 4, bytes, false);
    else if (g->entry_bytes == 2)
        gather_loop(g, dump, false, 2, bytes, false);
    else if (g->entry_bytes == 4)
        gather_loop(g, dump, false, 4, bytes, false);
    else
        gather_loop(g, dump, false, 8, bytes, false);
}

INLINE void gather_words(const td_gather *g, bool dump)
{
    switch (g->bytes) {
    case 1:
        gather_by_entry(g, dump, 1);
        break;
    case 2:
        gather_by_entry(g, dump, 2);
        break;
    case 4:
        gather_by_entry(g, dump, 4);
        break;
    case 8:
        gather_by_entry(g, dump, 8);
        break;
    case 16:
        gather_by_entry(g, dump, 16);
        break;
    case 32:
        gather_by_entry(g, dump, 32);
        break;
    case 64:
        gather_by_entry(g, dump, 64);
        break;
    case 128:
        gather_by_entry(g, dump, 128);
        break;
    default:
        gather_loop(g, dump, false, g->entry_bytes, g->bytes, false);
    }
}

#define GATHER_FAMILY(isa)                                                                                             \
    TARGET TD_GATHER_KERNEL(scatter, isa)                                                                              \
    {                                                                                                                  \
        gather_words(g, false);                                                                                        \
    }                                                                                                                  \
    TARGET TD_GATHER_KERNEL(gather, isa)                                                                               \
    {                                                                                                                  \
        gather_words(g, true);                                                                                         \
    }

#endif
