/* The kernels of sparse tensors in plain C: the rule that the other versions follow. */
#include "kernels/keep.h"

#define TARGET
#include "kernels/keep.inc"

void td_keep_init(td_keep_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
    *kernels = ALL_OF_THEM;
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_keep_init_##isa(kernels);
    TD_KEEP_ISAS(X)
#undef X
}
