/* Chains of elementwise steps in plain C: the rule that the other versions follow. */
#include "kernels/chain.h"

#include "kernels/chain.inc"

void td_chain_f32_c(const td_chain_step *step, size_t steps, const td_chain_block *block)
{
    for (size_t r = 0; r < block->rows; r++)
        chain_ends(step, steps, block, r, 0);
}

void td_chain_init(td_chain_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
    kernels->chain_f32 = td_chain_f32_c;
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_chain_init_##isa(kernels);
    TD_CHAIN_ISAS(X)
#undef X
}
