/* See close.h: the plain C. */
#include "../cpu.h"
#include "close.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define KERNEL

#include "close_rows.inc"

void td_close_kernels_init(td_close_kernels *kernels, unsigned cpu_flags)
{
    kernels->f32 = f32;
    kernels->f16 = f16;
    kernels->bf16 = bf16;
    kernels->near_f32 = near_f32;
    kernels->steps_x16 = steps_x16;
#if defined(__x86_64__)
    if (cpu_flags & TD_CPU_AVX2)
        td_close_init_avx2(kernels);
    if (cpu_flags & TD_CPU_AVX512)
        td_close_init_avx512(kernels);
#else
    (void)cpu_flags;
#endif
}
