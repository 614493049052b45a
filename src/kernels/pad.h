/* Kernels that write words of which a few bytes are data and the others are given, as padding: each word once, whole.
 * plan/fills.c chooses one for loads whose runs lie apart in short words, exec calls it on blocks; they refuse nothing.
 *
 *   pad_runs   for r < rows: word->bytes bytes of word->value at dst + r * dst_stride, where the word->run bytes from
 *              word->at on come from src + r * src_stride
 *
 * Nothing outside the words is written, and nothing outside the runs is read. */
#ifndef TD_KERNELS_PAD_H
#define TD_KERNELS_PAD_H

#include "kernels/isa.h"

#include <stddef.h>
#include <stdint.h>

#define TD_PAD_KERNELS(X) X(pad_runs)

#define TD_PAD_BYTES 64 /* of a word, at most */

typedef struct td_pad_word {
    const unsigned char *value;
    size_t bytes, at, run; /* at + run <= bytes */
} td_pad_word;

typedef void (*td_pad_fn)(const td_pad_word *word, unsigned char *dst, ptrdiff_t dst_stride, const unsigned char *src,
                          ptrdiff_t src_stride, size_t rows);

#define TD_PAD_KERNEL(name, isa)                                                                                       \
    void td_##name##_##isa(const td_pad_word *word, unsigned char *dst, ptrdiff_t dst_stride,                          \
                           const unsigned char *src, ptrdiff_t src_stride, size_t rows)

typedef struct td_pad_kernels {
#define X(name) td_pad_fn name;
    TD_PAD_KERNELS(X)
#undef X
} td_pad_kernels;

#define X(name) TD_PROTOTYPES(TD_PAD_KERNEL, name)
TD_PAD_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_pad_init(td_pad_kernels *kernels, unsigned cpu_flags);

#define TD_PAD_ISAS(X) TD_ISA_AVX512(X)
#define X(isa, flag) void td_pad_init_##isa(td_pad_kernels *kernels);
TD_PAD_ISAS(X)
#undef X

#endif
