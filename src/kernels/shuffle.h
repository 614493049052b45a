/* The kernel that rearranges the bytes of short straight blocks by a list. Moves use it as the first of two steps, where the
 * elements that belong together in the destination lie apart inside one block of the source.
 *
 *   shuffle   for r < rows, i < bytes:  dst[r * pitch + i] = src[r * src_stride + index[i]]
 *
 * where pitch is `bytes` up to the next multiple of 64; what lies between the rows of dst may be overwritten. */
#ifndef TD_KERNELS_SHUFFLE_H
#define TD_KERNELS_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

#define TD_SHUFFLE_BYTES 256
#define TD_SHUFFLE_PITCH(bytes) (((size_t)(bytes) + 63) / 64 * 64)

typedef void (*td_shuffle_fn)(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t rows, size_t bytes,
                              const uint8_t *index);

/* The best version that `cpu_flags` (cpu.h) allow. */
td_shuffle_fn td_shuffle_choose(unsigned cpu_flags);

void td_shuffle_c(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t rows, size_t bytes, const uint8_t *index);
void td_shuffle_vbmi(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t rows, size_t bytes, const uint8_t *index);

#endif
