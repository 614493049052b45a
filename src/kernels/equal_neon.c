/* The comparing kernels for NEON: turned blocks from the templates; rows are the C library's. */
#if defined(__aarch64__)
#include "kernels/equal.h"

#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define APART __attribute__((noinline))
#define KERNEL

#include "kernels/vector_neon.inc"

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
    kernels->transposed_x8 = transposed_x8;
    kernels->transposed_x16 = transposed_x16;
    kernels->transposed_x32 = transposed_x32;
    kernels->transposed_x64 = transposed_x64;
}
#else
typedef int td_equal_neon_unused;
#endif
