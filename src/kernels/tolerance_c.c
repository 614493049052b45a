/* The tolerance kernels in plain C: the rule that the other versions follow. */
#include "kernels/tolerance.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define KERNEL(name) TD_TOLERANCE_KERNEL(name, c)

#include "kernels/tolerance_rows.inc"

#include "kernels/tolerance_pairs.inc"

KERNEL(transposed_near_f32)
{
    largest m = {.excess = INT32_MIN};
    for (size_t r = 0; r < b->rows; r++)
        for (size_t c = 0; c < b->count; c++)
            measure_near(&m, b->expected + (ptrdiff_t)c * b->expected_stride + 4 * r,
                         b->actual + (ptrdiff_t)r * b->actual_stride + 4 * c, limits->rtol, true);
    return result(&m, true);
}

KERNEL(transposed_steps_x16)
{
    uint16_t most = 0, top = 0;
    (void)limits;
    for (size_t r = 0; r < b->rows; r++)
        for (size_t c = 0; c < b->count; c++)
            count_steps(&most, &top, b->expected + (ptrdiff_t)c * b->expected_stride + 2 * r,
                        b->actual + (ptrdiff_t)r * b->actual_stride + 2 * c);
    return (td_tolerance_found){.steps = most, .largest = top};
}

void td_tolerance_init(td_tolerance_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name, size, rule) kernels->name = td_tolerance_##name##_c;
    TD_TOLERANCE_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_tolerance_init_##isa(kernels);
    TD_TOLERANCE_ISAS(X)
#undef X
}
