/* The picking kernels for AVX-512: up to four terms, each 16 bytes of a row. */
#include "kernels/pick.h"

#include "kernels/vector_avx512.inc"

#define KERNEL(name) TARGET TD_PICK_KERNEL(name, avx512)

#include "kernels/transpose_tile.inc"

INLINE vec load_from(const unsigned char *const *lane, ptrdiff_t at)
{
    vec z = _mm512_castsi128_si512(load16(lane[0] + at));
    z = _mm512_mask_broadcast_i32x4(z, 0x00f0, load16(lane[1] + at));
    z = _mm512_mask_broadcast_i32x4(z, 0x0f00, load16(lane[2] + at));
    return _mm512_mask_broadcast_i32x4(z, 0xf000, load16(lane[3] + at));
}

INLINE vec spread(const uint8_t *p)
{
    return _mm512_broadcast_i32x4(load16(p));
}

INLINE vec pick_bytes(vec z, vec list)
{
    return _mm512_shuffle_epi8(z, list);
}

INLINE vec both(vec a, vec b)
{
    return _mm512_or_si512(a, b);
}

#include "kernels/pick_tile.inc"

PICK(16)
PICK(32)
PICK(64)

void td_pick_init_avx512(td_pick_kernels *kernels)
{
    kernels->pick_x16 = td_pick_x16_avx512;
    kernels->pick_x32 = td_pick_x32_avx512;
    kernels->pick_x64 = td_pick_x64_avx512;
}
