/* Kernels that cut rows into slices: neighbouring fields of a row, all of the same number of bits, each into a lane of
 * whole bytes of its own array, as the words of a memory lie in the macros beside each other. over/bits.c calls them;
 * they refuse nothing.
 *
 *   slice     lane r of lane[s] becomes bits first_bit + s * bits .. of row r, with zeros above them
 *   unslice   the bits of row r become those of the lanes; bits of a lane above them are not looked at
 *
 * for r < rows, s < slices. Row r begins at words + r * row_bytes; its fields lie within the bytes up to the next one's
 * first. No other bit of a row changes, but bytes between the first and the last of its fields may be read and written
 * again as they were. Nothing outside of the bytes from the first to the last field of all rows is touched, and of an
 * array only its lanes. */
#ifndef TD_KERNELS_SLICE_H
#define TD_KERNELS_SLICE_H

#include "kernels/isa.h"

#include <stddef.h>
#include <stdint.h>

/*    name     the arrays are written */
#define TD_SLICE_KERNELS(X)                                                                                            \
    X(slice, 1)                                                                                                        \
    X(unslice, 0)

#define TD_SLICE_MOST 64 /* slices in a call */

typedef struct td_slicing {
    unsigned bits, lane_bytes, slices; /* bits <= 8 * lane_bytes; lane_bytes is 1, 2, 4 or 8 */
    unsigned first_bit;
    uint64_t rows;
    int64_t row_bytes; /* from 0 up */
    unsigned char *const *lane;
} td_slicing;

typedef void (*td_slice_fn)(const td_slicing *t, unsigned char *words);

#define TD_SLICE_KERNEL(name, isa) void td_##name##_##isa(const td_slicing *t, unsigned char *words)

typedef struct td_slice_kernels {
#define X(name, writes) td_slice_fn name;
    TD_SLICE_KERNELS(X)
#undef X
} td_slice_kernels;

#define X(name, writes) TD_PROTOTYPES(TD_SLICE_KERNEL, name)
TD_SLICE_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_slice_init(td_slice_kernels *kernels, unsigned cpu_flags);

#define TD_SLICE_ISAS(X) TD_ISA_AVX2(X)
#define X(isa, flag) void td_slice_init_##isa(td_slice_kernels *kernels);
TD_SLICE_ISAS(X)
#undef X

#endif
