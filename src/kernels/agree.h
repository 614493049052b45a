/* Kernels that say whether two places hold the same bits under a mask. exec/verify.c calls them on the copies of
 * elements, whose other bits may differ; they refuse nothing and know no layout. Strides are in bytes, and nothing is
 * read outside of the bytes that hold bits of the mask and the bytes between them.
 *
 *   bytes   ((a[r * stride + i] ^ b[r * stride + i]) & mask[i]) == 0           for r < rows, i < bytes
 *   bits    the same, where side a begins at bit a_shift of its first byte and side b at bit b_shift
 *
 * The last byte of a mask is never 0. */
#ifndef TD_KERNELS_AGREE_H
#define TD_KERNELS_AGREE_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    name    shifts */
#define TD_AGREE_KERNELS(X)                                                                                            \
    X(bytes, false)                                                                                                    \
    X(bits, true)

typedef struct td_agree_rows {
    const unsigned char *a, *b, *mask;
    ptrdiff_t stride; /* of both sides */
    size_t rows, bytes;
    unsigned a_shift, b_shift; /* 0 to 7; `bytes` takes no notice of them */
} td_agree_rows;

typedef bool (*td_agree_fn)(const td_agree_rows *t);

#define TD_AGREE_KERNEL(name, isa) bool td_agree_##name##_##isa(const td_agree_rows *t)

typedef struct td_agree_kernels {
#define X(name, shifts) td_agree_fn name;
    TD_AGREE_KERNELS(X)
#undef X
} td_agree_kernels;

#define X(name, shifts) TD_PROTOTYPES(TD_AGREE_KERNEL, name)
TD_AGREE_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_agree_init(td_agree_kernels *kernels, unsigned cpu_flags);

#define TD_AGREE_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X)
#define X(isa, flag) void td_agree_init_##isa(td_agree_kernels *kernels);
TD_AGREE_ISAS(X)
#undef X

/* For every version: bytes [at, bytes) of one row, eight at a time and then one by one. */
bool td_agree_rest(const td_agree_rows *t, const unsigned char *a, const unsigned char *b, size_t at, bool shifts);

#endif
