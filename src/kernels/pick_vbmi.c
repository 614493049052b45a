/* The picking kernels for AVX-512 VBMI, which looks bytes up in 32 of a row: one step where the others put two or more
 * terms together. */
#include "kernels/pick.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,avx512vbmi")))

#include "kernels/vector_avx512.inc"

#define KERNEL(name) TARGET TD_PICK_KERNEL(name, vbmi)

#include "kernels/transpose_tile.inc"

/* Lanes have their rows in the lower and the upper half of a register in turn. */
INLINE vec wide_list(const uint8_t *p)
{
    const vec upper = _mm512_broadcast_i64x4(_mm256_inserti128_si256(_mm256_setzero_si256(), _mm_set1_epi8(32), 1));
    return _mm512_or_si512(_mm512_broadcast_i32x4(load16(p)), upper);
}

INLINE vec load_rows(const unsigned char *low, const unsigned char *high)
{
    return load_halves(low, high - low);
}

INLINE vec pick_wide(const unsigned char *const *lane, ptrdiff_t at, vec list)
{
    const vec z = _mm512_permutexvar_epi8(list, load_rows(lane[0] + at, lane[1] + at));
    return _mm512_mask_permutexvar_epi8(z, 0xffffffff00000000u, list, load_rows(lane[2] + at, lane[3] + at));
}

#define WIDE
#include "kernels/pick_tile.inc"

PICK_WIDE(16)
PICK_WIDE(32)
PICK_WIDE(64)

void td_pick_init_vbmi(td_pick_kernels *kernels)
{
    kernels->pick_wide_x16 = td_pick_wide_x16_vbmi;
    kernels->pick_wide_x32 = td_pick_wide_x32_vbmi;
    kernels->pick_wide_x64 = td_pick_wide_x64_vbmi;
}
