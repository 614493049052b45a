/* The kernels of elementwise steps in plain C: the rule that the other versions follow. */
#include "kernels/arith.h"

#define TARGET
#include "kernels/arith.inc"

void td_arith_init(td_arith_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
    fill_all(kernels);
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_arith_init_##isa(kernels);
    TD_ARITH_ISAS(X)
#undef X
}
