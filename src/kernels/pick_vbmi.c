/* Picks (pick.h) for AVX-512 VBMI, which looks bytes up in 32 of a row: one step where others put two or more terms together. */
#if defined(__x86_64__)
#include "kernels/pick.h"

#include <immintrin.h>
#include <string.h>

#define KERNEL __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,avx512vbmi")))
#define APART __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline)) KERNEL

#include "kernels/vector_avx512.inc"

#include "kernels/transpose_tile.inc"

/* Lanes have their rows in the lower and the upper half of a register in turn. */
INLINE vec window_list(const uint8_t *p)
{
    const vec upper = _mm512_broadcast_i64x4(_mm256_inserti128_si256(_mm256_setzero_si256(), _mm_set1_epi8(32), 1));
    return _mm512_or_si512(_mm512_broadcast_i32x4(load16(p)), upper);
}

INLINE vec load_rows(const unsigned char *low, const unsigned char *high)
{
    return load_halves(low, high - low);
}

INLINE vec pick_window(const unsigned char *const *lane, ptrdiff_t at, vec list)
{
    const vec z = _mm512_permutexvar_epi8(list, load_rows(lane[0] + at, lane[1] + at));
    return _mm512_mask_permutexvar_epi8(z, 0xffffffff00000000u, list, load_rows(lane[2] + at, lane[3] + at));
}

#define PICK_WINDOW
#include "kernels/pick_tile.inc"

KERNEL void td_pick_vbmi(const td_picks *p, unsigned char *dst, ptrdiff_t dst_stride, ptrdiff_t part_stride,
                         const unsigned char *src, ptrdiff_t src_stride, size_t rows, bool stream)
{
    pick(p, dst, dst_stride, part_stride, src, src_stride, rows, stream);
}
#else
typedef int td_pick_vbmi_unused;
#endif
