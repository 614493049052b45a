/* The padding kernels in plain C: the rule that the other versions follow byte for byte. */
#include "kernels/pad.h"

#include <string.h>

TD_PAD_KERNEL(pad_runs, c)
{
    for (; rows; rows--, dst += dst_stride, src += src_stride) {
        memcpy(dst, word->value, word->bytes);
        memcpy(dst + word->at, src, word->run);
    }
}

void td_pad_init(td_pad_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name) kernels->name = td_##name##_c;
    TD_PAD_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_pad_init_##isa(kernels);
    TD_PAD_ISAS(X)
#undef X
}
