/* Kernels that transpose elements whose bytes lie apart: each is put together from bytes of a short block, the same way in
 * every row. Moves use them where a few elements that belong together in the destination are not neighbours in the source,
 * as in weights of which four input channels make one word. prepare.c makes a list of picks once.
 *
 *   pick   dst[p * part_stride + c * dst_stride + r * size + b] = src[r * src_stride + index[(p * cols + c) * size + b]]
 *          for r < rows, p < parts, c < cols, b < size
 *
 * Nothing outside the named bytes is written, and nothing outside the first `bytes` of each row is read. */
#ifndef TD_KERNELS_PICK_H
#define TD_KERNELS_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TD_PICK_BYTES 256
#define TD_PICK_TERMS 4
#define TD_PICK_CHUNKS 64

/* 16 bytes of neighbouring columns as a sum of terms: 16 bytes of the block each, or 32, and which of them goes where; 0x80:
 * none. */
typedef struct td_pick_chunk {
    uint16_t part, col;
    uint8_t cols; /* fewer than fill 16 bytes only where a part has fewer */
    uint8_t from[TD_PICK_TERMS];
    uint8_t pick[TD_PICK_TERMS][16];
} td_pick_chunk;

typedef struct td_picks td_picks;
typedef void (*td_pick_fn)(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                           const unsigned char *src, ptrdiff_t src_stride, size_t rows, bool stream);

struct td_picks {
    td_pick_fn fn;
    uint16_t bytes, parts, cols;
    uint8_t size;  /* 2, 4 or 8 */
    uint8_t terms; /* of every chunk: 1, 2 or 4 */
    uint16_t chunks;
    uint8_t index[TD_PICK_BYTES];
    td_pick_chunk chunk[TD_PICK_CHUNKS];
};

/* Given bytes, parts, cols, size and index: the best version that `cpu_flags` (cpu.h) allow. False where that is plain C, or
 * the bytes of a column lie so far apart that it is worth no more. */
bool td_picks_prepare(td_picks *p, unsigned cpu_flags);

void td_pick_avx2(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                  const unsigned char *src, ptrdiff_t src_stride, size_t rows, bool stream);
void td_pick_avx512(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                    const unsigned char *src, ptrdiff_t src_stride, size_t rows, bool stream);
void td_pick_vbmi(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                  const unsigned char *src, ptrdiff_t src_stride, size_t rows, bool stream);

#endif
