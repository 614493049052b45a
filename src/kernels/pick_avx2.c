/* The picking kernels for AVX2: up to four terms, each 16 bytes of a row. */
#include "kernels/pick.h"

#include "kernels/vector_avx2.inc"

#define KERNEL(name) TARGET TD_PICK_KERNEL(name, avx2)

#include "kernels/transpose_tile.inc"

INLINE vec load_from(const unsigned char *const *lane, ptrdiff_t at)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load16(lane[0] + at)), load16(lane[1] + at), 1);
}

INLINE vec spread(const uint8_t *p)
{
    return _mm256_broadcastsi128_si256(load16(p));
}

INLINE vec pick_bytes(vec z, vec list)
{
    return _mm256_shuffle_epi8(z, list);
}

INLINE vec both(vec a, vec b)
{
    return _mm256_or_si256(a, b);
}

#include "kernels/pick_tile.inc"

PICK(16)
PICK(32)
PICK(64)

void td_pick_init_avx2(td_pick_kernels *kernels)
{
    kernels->pick_x16 = td_pick_x16_avx2;
    kernels->pick_x32 = td_pick_x32_avx2;
    kernels->pick_x64 = td_pick_x64_avx2;
}
