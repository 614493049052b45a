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

/* What an entry is: a word of the only bank, a bank above and a word below, or an address. */
enum { ENTRY_WORD, ENTRY_BANK, ENTRY_ADDRESS };

/* So many words ahead: a place that is not in the caches takes about as long as these. */
#define AHEAD 32

/* Of banks, so many places are found before anything is stored: a load that comes behind a store whose address is not
 * known yet may have to wait for it, and these addresses take two loads. */
#define FOUND 32

/* Everything that the compiler must assume the stores could change is read before them. */
INLINE void gather_loop(const td_gather *g, bool dump, int what, unsigned entry_bytes, size_t bytes, bool plain)
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
            memcpy(dump ? elems : place, dump ? place : elems, bytes);
        }
    if (what == ENTRY_BANK) {
        unsigned char *place[FOUND];
        for (size_t n = 0; i < count; i += n) {
            n = count - i < FOUND ? count - i : FOUND;
#pragma GCC unroll 2
            for (size_t k = 0; k < n; k++) {
                const uint64_t e = entry_of(entry, entry_bytes, (ptrdiff_t)(i + k) * entry_step);
                place[k] = PLACE(i + k, e);
            }
#pragma GCC unroll 4
            for (size_t k = 0; k < n; k++, elems += elem_step)
                memcpy(dump ? elems : place[k], dump ? place[k] : elems, bytes);
        }
        return;
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
#undef GROUND
#undef BANKED
}

INLINE void gather_by_entry(const td_gather *g, bool dump, size_t bytes)
{
    const bool plain =
        g->entry_step == 1 && g->offset_step == 0 && g->elem_step == (ptrdiff_t)bytes && g->word_bytes == bytes;
    if (!g->bank)
        gather_loop(g, dump, ENTRY_ADDRESS, 8, bytes, false);
    else if (g->one_bank && plain && g->entry_bytes == 2)
        gather_loop(g, dump, ENTRY_WORD, 2, bytes, true);
    else if (g->one_bank && plain && g->entry_bytes == 4)
        gather_loop(g, dump, ENTRY_WORD, 4, bytes, true);
    else if (g->one_bank && g->entry_bytes == 2)
        gather_loop(g, dump, ENTRY_WORD, 2, bytes, false);
    else if (g->one_bank && g->entry_bytes == 4)
        gather_loop(g, dump, ENTRY_WORD, 4, bytes, false);
    else if (g->entry_bytes == 2)
        gather_loop(g, dump, ENTRY_BANK, 2, bytes, false);
    else if (g->entry_bytes == 4)
        gather_loop(g, dump, ENTRY_BANK, 4, bytes, false);
    else
        gather_loop(g, dump, ENTRY_BANK, 8, bytes, false);
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
        gather_loop(g, dump, g->bank ? ENTRY_BANK : ENTRY_ADDRESS, g->entry_bytes, g->bytes, false);
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
