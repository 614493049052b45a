/* Kernels of 2:4: of every four neighbours two are kept, and a code says which. parts/sparse.c calls them; they refuse
 * nothing. Every version gives the bytes of plain C. An element has `bytes` bytes, 1, 2, 4 or 8, at any address. Sets
 * of elements are bits: element i is bit i % 8 of byte i / 8. Codes are halves of bytes, the first group the low one.
 * `n` is a multiple of four; the bits behind the last element and the half behind an odd number of codes are 0.
 *
 *   flags    the elements with (src[i] & own) != 0
 *   largest  of those the two of every four whose src[i] & own is the largest, the first of equal ones
 *   crowded  whether some four have more than two
 *   close    dst[2 g] and dst[2 g + 1] = elements 4 g + (code & 3) and 4 g + (code >> 2) of src, 0 where the set does
 *            not have them, with code the table's for the four bits of the group; codes of all groups
 *   open     the inverse: the other elements of dst become 0. False where a code's places do not ascend; what dst holds
 *            then does not matter */
#ifndef TD_KERNELS_PAIRS_H
#define TD_KERNELS_PAIRS_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code of every set of four, and what follows from it. */
typedef struct td_pairs_table {
    unsigned char code[16];
    unsigned char kept[16];        /* its two places as bits */
    unsigned char codes[256];      /* of two groups */
    unsigned char shuffle[256][8]; /* of two groups of 2-byte elements: the bytes that are kept; 0x80 is a zero */
} td_pairs_table;

/* From table->code, whose places ascend. */
void td_pairs_table_make(td_pairs_table *table);

typedef struct td_pairs_kernels {
    void (*flags)(unsigned char *bits, const void *src, size_t n, unsigned bytes, uint64_t own);
    void (*largest)(unsigned char *bits, const void *src, size_t n, unsigned bytes, uint64_t own);
    bool (*crowded)(const unsigned char *bits, size_t n);
    void (*close)(void *dst, unsigned char *codes, const void *src, const unsigned char *bits,
                  const td_pairs_table *table, size_t n, unsigned bytes);
    bool (*open)(void *dst, const void *src, const unsigned char *codes, size_t n, unsigned bytes);
} td_pairs_kernels;

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_pairs_init(td_pairs_kernels *kernels, unsigned cpu_flags);

#define TD_PAIRS_ISAS(X) TD_ISA_AVX2(X) TD_ISA_VBMI(X)
#define X(isa, flag) void td_pairs_init_##isa(td_pairs_kernels *kernels);
TD_PAIRS_ISAS(X)
#undef X

#endif
