/* Kernels of chains: several elementwise steps on f32 in one pass, each element from the source through all of them in
 * a register to the destination. program/chain.c calls them inside of moves; they refuse nothing. Every version gives
 * the bits that the steps of kernels/arith.h give one after another.
 *
 * `rows` rows of n elements at any address, strides in bytes; the two sides do not overlap. A step takes the element as
 * it is, adds b, or multiplies with b, which has an element for each of the row, and rows of its own, or one for all;
 * then it brings the result into [low, high]. What is NaN at the end is the positive quiet one without payload.
 * `stream`: whole lines are stored past the caches where they begin on one; the caller calls td_move_fence at the end.
 */
#ifndef TD_KERNELS_CHAIN_H
#define TD_KERNELS_CHAIN_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum td_chain_kind { TD_CHAIN_KEEP, TD_CHAIN_ADD, TD_CHAIN_MUL } td_chain_kind;

typedef struct td_chain_step {
    td_chain_kind kind;
    bool one;           /* b is a single element */
    bool bounded;       /* low and high are not both infinite */
    const float *b;     /* of the first row; NULL where nothing is added or multiplied */
    ptrdiff_t b_stride; /* from row to row, in bytes */
    float low, high;
} td_chain_step;

typedef struct td_chain_block {
    void *dst;
    const void *src;
    ptrdiff_t dst_stride, src_stride;
    size_t rows, n;
    bool stream, far; /* far: the source is part of something large, so it is prefetched */
} td_chain_block;

typedef void (*td_chain_fn)(const td_chain_step *step, size_t steps, const td_chain_block *block);

#define TD_CHAIN_KERNELS(X) X(chain_f32)
#define TD_CHAIN_KERNEL(name, isa)                                                                                     \
    void td_##name##_##isa(const td_chain_step *step, size_t steps, const td_chain_block *block)
#define X(name) TD_PROTOTYPES(TD_CHAIN_KERNEL, name)
TD_CHAIN_KERNELS(X)
#undef X

typedef struct td_chain_kernels {
#define X(name) td_chain_fn name;
    TD_CHAIN_KERNELS(X)
#undef X
} td_chain_kernels;

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_chain_init(td_chain_kernels *kernels, unsigned cpu_flags);

#define TD_CHAIN_ISAS(X) TD_ISA_AVX2(X)
#define X(isa, flag) void td_chain_init_##isa(td_chain_kernels *kernels);
TD_CHAIN_ISAS(X)
#undef X

#endif
