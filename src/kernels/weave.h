/* Kernels that interleave bits: runs of bits that are consecutive on one side lie a constant number of bits apart on
 * the other, several runs between each other, as words share a row of an SRAM. over/bits.c calls them; they refuse
 * nothing.
 *
 *   weave     bit r * spread_row + i * stride + j of dst is bit r * flat_row + j * way + i of src
 *   unweave   bit r * flat_row + j * way + i of dst is bit r * spread_row + i * stride + j of src
 *
 * for r < rows, j < ways, i < bits. Places are bits from dst_bit and src_bit on. With stride 1 and one way, both copy
 * runs of bits. No other bit of dst changes, but bytes between the first and the last bit of dst may be read and
 * written again as they were. Nothing outside of the bytes from the first to the last bit is touched on either side. */
#ifndef TD_KERNELS_WEAVE_H
#define TD_KERNELS_WEAVE_H

#include "kernels/isa.h"

#include <stddef.h>
#include <stdint.h>

/*    name     the spread side is dst */
#define TD_WEAVE_KERNELS(X)                                                                                            \
    X(weave, 1)                                                                                                        \
    X(unweave, 0)

#define TD_WEAVE_STRIDE 32 /* at most */

typedef struct td_weave {
    uint64_t bits;
    unsigned stride, ways; /* ways <= stride <= TD_WEAVE_STRIDE */
    uint64_t rows;
    int64_t way, flat_row, spread_row; /* bits, from 0 up: rows and ways go forward */
} td_weave;

typedef void (*td_weave_fn)(const td_weave *t, unsigned char *dst, int64_t dst_bit, const unsigned char *src,
                            int64_t src_bit);

#define TD_WEAVE_KERNEL(name, isa)                                                                                     \
    void td_##name##_##isa(const td_weave *t, unsigned char *dst, int64_t dst_bit, const unsigned char *src,           \
                           int64_t src_bit)

typedef struct td_weave_kernels {
#define X(name, spreads) td_weave_fn name;
    TD_WEAVE_KERNELS(X)
#undef X
} td_weave_kernels;

#define X(name, spreads) TD_PROTOTYPES(TD_WEAVE_KERNEL, name)
TD_WEAVE_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_weave_init(td_weave_kernels *kernels, unsigned cpu_flags);

#define TD_WEAVE_ISAS(X) TD_ISA_AVX2(X) TD_ISA_VBMI(X)
#define X(isa, flag) void td_weave_init_##isa(td_weave_kernels *kernels);
TD_WEAVE_ISAS(X)
#undef X

/* The last bit of the flat and of the spread side, counted from the first. */
static inline int64_t td_weave_flat_end(const td_weave *t)
{
    return (int64_t)(t->rows - 1) * t->flat_row + (int64_t)(t->ways - 1) * t->way + (int64_t)t->bits - 1;
}

static inline int64_t td_weave_spread_end(const td_weave *t)
{
    return (int64_t)(t->rows - 1) * t->spread_row + (int64_t)(t->bits - 1) * t->stride + (int64_t)t->ways - 1;
}

#endif
