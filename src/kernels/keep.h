/* Kernels of sparse tensors: which elements are not zero, and those elements closed up or spread out again.
 * parts/sparse.c and parts/sparse_mask.c call them; they refuse nothing and know no format. Every version gives the
 * bytes of plain C. An element has `bytes` bytes, 1, 2, 4 or 8, at any address; a flag is a byte, 0 or 1. Sets of
 * elements are bits: element i is bit i % 8 of byte i / 8, and the bits behind the last are 0.
 *
 *   flags    flags[i] = (src[i] & own) != 0, i < n
 *   bits     the same as a set; how many it has
 *   ones     the flags of a set
 *   count    the flags that are 1
 *   keep     the elements of src that a set has, one after another to dst, until there are `room`; how many it was.
 *            What dst holds behind them, up to the room, may change
 *   spread   the inverse: dst[i] = the next of src, which has `room`, where the set has i, else 0, and 0 once they are
 *            all taken; how many were taken
 *   most     the largest sum of four flags that follow each other from a multiple of four on; n is one
 *   total    how many elements a set has */
#ifndef TD_KERNELS_KEEP_H
#define TD_KERNELS_KEEP_H

#include "kernels/isa.h"

#include <stddef.h>
#include <stdint.h>

typedef struct td_keep_kernels {
    void (*flags)(unsigned char *flags, const void *src, size_t n, unsigned bytes, uint64_t own);
    size_t (*bits)(unsigned char *set, const void *src, size_t n, unsigned bytes, uint64_t own);
    void (*ones)(unsigned char *flags, const unsigned char *set, size_t n);
    uint64_t (*count)(const unsigned char *flags, size_t n);
    size_t (*keep)(void *dst, size_t room, const void *src, const unsigned char *set, size_t n, unsigned bytes);
    size_t (*spread)(void *dst, const void *src, size_t room, const unsigned char *set, size_t n, unsigned bytes);
    unsigned (*most)(const unsigned char *flags, size_t n);
    size_t (*total)(const unsigned char *set, size_t n);
} td_keep_kernels;

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_keep_init(td_keep_kernels *kernels, unsigned cpu_flags);

#define TD_KEEP_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X) TD_ISA_VBMI(X)
#define X(isa, flag) void td_keep_init_##isa(td_keep_kernels *kernels);
TD_KEEP_ISAS(X)
#undef X

#endif
