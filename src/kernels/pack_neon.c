/* The packing kernels for NEON: nibbles, of which the processor's loads and stores of pairs take two apart or put them
 * together. All other widths stay with plain C. */
#include "kernels/pack.h"

#include <arm_neon.h>

TD_PACK_KERNEL(8, neon)
{
    size_t i = 0;
    if (bits == 4 && at == 0)
        for (; i + 32 <= n; i += 32) {
            const uint8x16x2_t z = vld2q_u8(elems + i);
            vst1q_u8(memory + i / 2, vsliq_n_u8(vandq_u8(z.val[0], vdupq_n_u8(15)), z.val[1], 4));
        }
    if (i < n)
        td_pack_x8_c(memory + i / 2, at, elems + i, n - i, bits);
}

TD_UNPACK_KERNEL(8, neon)
{
    const uint8x16_t low = vdupq_n_u8(15), top = vdupq_n_u8(sign ? 8 : 0);
    size_t i = 0;
    if (bits == 4 && at == 0)
        for (; i + 32 <= n; i += 32) {
            const uint8x16_t z = vld1q_u8(memory + i / 2);
            uint8x16x2_t two = {{vandq_u8(z, low), vshrq_n_u8(z, 4)}};
            two.val[0] = vsubq_u8(veorq_u8(two.val[0], top), top);
            two.val[1] = vsubq_u8(veorq_u8(two.val[1], top), top);
            vst2q_u8(elems + i, two);
        }
    if (i < n)
        td_unpack_x8_c(elems + i, memory + i / 2, at, n - i, bits, sign);
}

void td_pack_init_neon(td_pack_kernels *kernels)
{
    kernels->pack_x8 = td_pack_x8_neon;
    kernels->unpack_x8 = td_unpack_x8_neon;
}
