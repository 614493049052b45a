/* Kernels that transpose elements whose bytes lie apart: each element is put together from bytes of a short block, in
 * every row the same way. plan/choose.c makes a list of picks where a few elements that belong together in the
 * destination are not neighbours in the source, as in weights of which four input channels make one word; exec runs it.
 *
 *   pick   dst[p * part_stride + c * dst_stride + r * size + b] = src[r * src_stride + index[i]]
 *          with i = (p * cols + c) * size + b,  for r < rows, p < parts, c < cols, b < size
 *
 * Nothing outside the named bytes is written, and nothing outside the first `bytes` of each row is read. */
#ifndef TD_KERNELS_PICK_H
#define TD_KERNELS_PICK_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    name          size of an element; bytes of a row that a term picks from */
#define TD_PICK_KERNELS(X)                                                                                             \
    X(pick_x16, 2, 16)                                                                                                 \
    X(pick_x32, 4, 16)                                                                                                 \
    X(pick_x64, 8, 16)                                                                                                 \
    X(pick_wide_x16, 2, 32)                                                                                            \
    X(pick_wide_x32, 4, 32)                                                                                            \
    X(pick_wide_x64, 8, 32)

#define TD_PICK_BYTES 256
#define TD_PICK_TERMS 4
#define TD_PICK_CHUNKS 64

/* 16 bytes of neighbouring columns as a sum of terms: each takes 16 or 32 bytes of the row from `from` on and says
 * which of them goes where; 0x80: none. */
typedef struct td_pick_chunk {
    uint16_t part, col;
    uint8_t cols; /* fewer than fill 16 bytes only where a part has fewer */
    uint8_t from[TD_PICK_TERMS];
    uint8_t pick[TD_PICK_TERMS][16];
} td_pick_chunk;

typedef struct td_picks td_picks;
typedef void (*td_pick_fn)(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                           const unsigned char *src, ptrdiff_t src_stride, size_t rows, bool stream);

#define TD_PICK_KERNEL(name, isa)                                                                                      \
    void td_##name##_##isa(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,         \
                           const unsigned char *src, ptrdiff_t src_stride, size_t rows, bool stream)

struct td_picks {
    td_pick_fn fn;
    uint16_t bytes, parts, cols;
    uint8_t size;  /* 2, 4 or 8 */
    uint8_t terms; /* of every chunk: 1, 2 or 4 */
    uint16_t chunks;
    uint8_t index[TD_PICK_BYTES];
    td_pick_chunk chunk[TD_PICK_CHUNKS];
};

typedef struct td_pick_kernels {
#define X(name, size, window) td_pick_fn name;
    TD_PICK_KERNELS(X)
#undef X
} td_pick_kernels;

#define X(name, size, window) TD_PROTOTYPES(TD_PICK_KERNEL, name)
TD_PICK_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_pick_init(td_pick_kernels *kernels, unsigned cpu_flags);

#define TD_PICK_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X) TD_ISA_VBMI(X)
#define X(isa, flag) void td_pick_init_##isa(td_pick_kernels *kernels);
TD_PICK_ISAS(X)
#undef X

/* Given bytes, parts, cols, size and index: lists the chunks for kernels whose terms pick from `window` bytes. False
 * where a chunk needs more terms than they have: TD_PICK_TERMS of 16 bytes, or one of 32. */
bool td_picks_list(td_picks *p, unsigned window);

/* Given the same: the chunks and the best kernel that `cpu_flags` allow. False where that is plain C. */
bool td_picks_prepare(td_picks *p, unsigned cpu_flags);

#endif
