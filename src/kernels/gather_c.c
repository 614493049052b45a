/* Words by table: plain C, and the choice of the version. See gather.h. */
#include "kernels/gather_loops.h"

GATHER_FAMILY(c)

void td_gather_init(td_gather_kernels *k, unsigned cpu_flags)
{
#define X(name) k->name = td_##name##_c;
    TD_GATHER_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_gather_init_##isa(k);
    TD_GATHER_ISAS(X)
#undef X
}
