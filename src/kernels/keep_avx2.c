/* The kernels of sparse tensors for AVX2. */
#include "kernels/keep.h"

#define TARGET __attribute__((target("avx2")))
#include "kernels/keep.inc"

void td_keep_init_avx2(td_keep_kernels *kernels)
{
    *kernels = ALL_OF_THEM;
}
