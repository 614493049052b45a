/* See close.h: the plain C. */
#include "base/cpu.h"
#include "kernels/tolerance.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define KERNEL

#include "kernels/tolerance_rows.inc"

static td_tolerance_most transposed_near_f32(const td_tolerance_rows *b, td_ahead ahead, float rtol)
{
    largest m = {.excess = INT32_MIN};
    (void)ahead;
    for (size_t r = 0; r < b->rows; r++)
        for (size_t c = 0; c < b->count; c++)
            measure_near(&m, b->expected + (ptrdiff_t)c * b->expected_stride + 4 * r,
                         b->actual + (ptrdiff_t)r * b->actual_stride + 4 * c, rtol, true);
    return result(&m, true);
}

static td_tolerance_most transposed_steps_x16(const td_tolerance_rows *b, td_ahead ahead, float rtol)
{
    uint16_t most = 0, top = 0;
    (void)ahead, (void)rtol;
    for (size_t r = 0; r < b->rows; r++)
        for (size_t c = 0; c < b->count; c++)
            count_steps(&most, &top, b->expected + (ptrdiff_t)c * b->expected_stride + 2 * r,
                        b->actual + (ptrdiff_t)r * b->actual_stride + 2 * c);
    return (td_tolerance_most){.steps = most, .largest = top};
}

void td_tolerance_kernels_init(td_tolerance_kernels *kernels, unsigned cpu_flags)
{
    kernels->f32 = f32;
    kernels->f16 = f16;
    kernels->bf16 = bf16;
    kernels->near_f32 = near_f32;
    kernels->steps_x16 = steps_x16;
    kernels->transposed_near_f32 = transposed_near_f32;
    kernels->transposed_steps_x16 = transposed_steps_x16;
#if defined(__x86_64__)
    if (cpu_flags & TD_CPU_AVX2)
        td_tolerance_init_avx2(kernels);
    if (cpu_flags & TD_CPU_AVX512)
        td_tolerance_init_avx512(kernels);
#else
    (void)cpu_flags;
#endif
}
