/* The comparing kernels for NEON: transposed blocks from the template; rows stay with the C library. */
#include "kernels/equal.h"

#include "kernels/vector_neon.inc"

#define KERNEL(name) TD_EQUAL_KERNEL(name, neon)

INLINE vec no_bits(void)
{
    return vdupq_n_u8(0);
}

INLINE vec differ(vec d, vec z, const unsigned char *p)
{
    return vorrq_u8(d, veorq_u8(z, vld1q_u8(p)));
}

INLINE vec differ_upto(vec d, vec z, const unsigned char *p, size_t bytes)
{
    unsigned char part[16];
    store(part, z);
    return memcmp(part, p, bytes) == 0 ? d : vdupq_n_u8(0xff);
}

INLINE bool is_equal(vec d)
{
    return vmaxvq_u8(d) == 0;
}

#include "kernels/equal_transposed.inc"

void td_equal_init_neon(td_equal_kernels *kernels)
{
    kernels->transposed_x8 = td_equal_transposed_x8_neon;
    kernels->transposed_x16 = td_equal_transposed_x16_neon;
    kernels->transposed_x32 = td_equal_transposed_x32_neon;
    kernels->transposed_x64 = td_equal_transposed_x64_neon;
}
