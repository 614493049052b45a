/* The kernels of block-scaled tensors in plain C: the rule that the other versions follow. */
#include "kernels/block.h"

#define TARGET
#include "kernels/block.inc"

void td_block_init(td_block_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
    *kernels = ALL_OF_THEM;
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_block_init_##isa(kernels);
    TD_BLOCK_ISAS(X)
#undef X
}
