/* The casting kernels in plain C, one element at a time: what the versions of other instruction sets are held
 * against. */
#include "kernels/cast.h"

#include "base/random.h"

#include <string.h>

#define ISA c
#define TARGET
#define INLINE static inline __attribute__((always_inline))

#include "kernels/cast_lanes_c.inc"

#include "kernels/cast_steps.inc"

#include "kernels/cast_ints.inc"

void td_cast_init(td_cast_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name, src_bytes, dst_bytes) kernels->name = td_cast_##name##_c;
    TD_CAST_KERNELS(X)
#undef X
    SET_INTS(c);
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_cast_init_##isa(kernels);
    TD_CAST_ISAS(X)
#undef X
}
