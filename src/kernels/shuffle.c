/* See shuffle.h: plain C, and AVX-512 VBMI, which looks bytes up in up to four registers. */
#include "shuffle.h"

#include "../cpu.h"

void td_shuffle_c(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t rows, size_t bytes, const uint8_t *index)
{
    for (size_t r = 0; r < rows; r++, src += src_stride, dst += TD_SHUFFLE_PITCH(bytes))
        for (size_t i = 0; i < bytes; i++)
            dst[i] = src[index[i]];
}

#if defined(__x86_64__)
#include <immintrin.h>

#define KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")))
#define INLINE static inline __attribute__((always_inline)) KERNEL

INLINE __mmask64 mask_of(size_t bytes)
{
    return bytes < 64 ? ((__mmask64)1 << bytes) - 1 : ~(__mmask64)0;
}

/* The block lies in `regs` registers, and goes to as many. */
INLINE void shuffle(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t rows, size_t bytes, const uint8_t *index,
                    const int regs)
{
    const __mmask64 rest = mask_of(bytes - 64 * (size_t)(regs - 1));
    __m512i list[4], z[4];
    __mmask64 upper[4];
    for (int k = 0; k < regs; k++) {
        list[k] = _mm512_maskz_loadu_epi8(k == regs - 1 ? rest : ~(__mmask64)0, index + 64 * k);
        upper[k] = _mm512_movepi8_mask(list[k]);
    }
    for (size_t r = 0; r < rows; r++, src += src_stride, dst += TD_SHUFFLE_PITCH(bytes)) {
        for (int k = 0; k < regs; k++)
            z[k] = k == regs - 1 ? _mm512_maskz_loadu_epi8(rest, src + 64 * k) : _mm512_loadu_si512(src + 64 * k);
        for (int k = 0; k < regs; k++) {
            __m512i out = regs == 1 ? _mm512_permutexvar_epi8(list[k], z[0]) : _mm512_permutex2var_epi8(z[0], list[k], z[1]);
            if (regs == 3)
                out = _mm512_mask_permutexvar_epi8(out, upper[k], list[k], z[2]);
            if (regs == 4)
                out = _mm512_mask_blend_epi8(upper[k], out, _mm512_permutex2var_epi8(z[2], list[k], z[3]));
            _mm512_storeu_si512(dst + 64 * k, out);
        }
    }
}

KERNEL void td_shuffle_vbmi(unsigned char *dst, const unsigned char *src, ptrdiff_t src_stride, size_t rows, size_t bytes,
                            const uint8_t *index)
{
    if (bytes <= 64)
        shuffle(dst, src, src_stride, rows, bytes, index, 1);
    else if (bytes <= 128)
        shuffle(dst, src, src_stride, rows, bytes, index, 2);
    else if (bytes <= 192)
        shuffle(dst, src, src_stride, rows, bytes, index, 3);
    else
        shuffle(dst, src, src_stride, rows, bytes, index, 4);
}
#endif

td_shuffle_fn td_shuffle_choose(unsigned cpu_flags)
{
#if defined(__x86_64__)
    if (cpu_flags & TD_CPU_VBMI)
        return td_shuffle_vbmi;
#endif
    (void)cpu_flags;
    return td_shuffle_c;
}
