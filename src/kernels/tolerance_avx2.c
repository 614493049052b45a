/* See close.h: the plain C, made wide for AVX2. */
#if defined(__x86_64__)
#include "kernels/tolerance.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline)) KERNEL
#define KERNEL __attribute__((target("avx2")))

#include "kernels/tolerance_rows.inc"

void td_tolerance_init_avx2(td_tolerance_kernels *kernels)
{
    kernels->f32 = f32;
    kernels->f16 = f16;
    kernels->bf16 = bf16;
    kernels->near_f32 = near_f32;
    kernels->steps_x16 = steps_x16;
}
#else
typedef int td_tolerance_avx2_unused;
#endif
