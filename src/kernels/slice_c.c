/* The plain versions of kernels/slice.h, and the choice among all. */
#include "kernels/bits.h"
#include "kernels/slice.h"

TD_SLICE_KERNEL(slice, c)
{
    const td_slicing own = *t; /* stores of bytes may be to *t */
    for (unsigned s = 0; s < own.slices; s++) {
        const int64_t bit = own.first_bit + (int64_t)s * own.bits;
        unsigned char *lane = own.lane[s];
        for (uint64_t r = 0; r < own.rows; r++)
            td_put_elem(lane + r * own.lane_bytes, own.lane_bytes,
                        td_get_bits(words + (int64_t)r * own.row_bytes, bit, own.bits));
    }
}

TD_SLICE_KERNEL(unslice, c)
{
    const td_slicing own = *t;
    for (unsigned s = 0; s < own.slices; s++) {
        const int64_t bit = own.first_bit + (int64_t)s * own.bits;
        const unsigned char *lane = own.lane[s];
        for (uint64_t r = 0; r < own.rows; r++)
            td_put_bits(words + (int64_t)r * own.row_bytes, bit, own.bits,
                        td_get_elem(lane + r * own.lane_bytes, own.lane_bytes));
    }
}

void td_slice_init(td_slice_kernels *kernels, unsigned cpu_flags)
{
    (void)cpu_flags;
#define X(name, writes) kernels->name = td_##name##_c;
    TD_SLICE_KERNELS(X)
#undef X
#define X(isa, flag)                                                                                                   \
    if (cpu_flags & (flag))                                                                                            \
        td_slice_init_##isa(kernels);
    TD_SLICE_ISAS(X)
#undef X
}
