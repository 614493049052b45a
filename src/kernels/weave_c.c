/* The plain versions of kernels/weave.h, and the choice among all. */
#include "kernels/bits.h"
#include "kernels/weave.h"

TD_WEAVE_KERNEL(weave, c)
{
    for (uint64_t r = 0; r < t->rows; r++)
        for (unsigned j = 0; j < t->ways; j++)
            for (uint64_t i = 0; i < t->bits; i++)
                td_put_bits(dst, dst_bit + (int64_t)r * t->spread_row + (int64_t)(i * t->stride + j), 1,
                            td_get_bits(src, src_bit + (int64_t)r * t->flat_row + j * t->way + (int64_t)i, 1));
}

TD_WEAVE_KERNEL(unweave, c)
{
    for (uint64_t r = 0; r < t->rows; r++)
        for (unsigned j = 0; j < t->ways; j++)
            for (uint64_t i = 0; i < t->bits; i++)
                td_put_bits(dst, dst_bit + (int64_t)r * t->flat_row + j * t->way + (int64_t)i, 1,
                            td_get_bits(src, src_bit + (int64_t)r * t->spread_row + (int64_t)(i * t->stride + j), 1));
}

void td_weave_init(td_weave_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name, spreads) kernels->name = td_##name##_c;
    TD_WEAVE_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_weave_init_##isa(kernels);
    TD_WEAVE_ISAS(X)
#undef X
}
