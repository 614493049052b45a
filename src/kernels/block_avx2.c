/* The kernels of block-scaled tensors for AVX2. */
#include "kernels/block.h"

#define TARGET __attribute__((target("avx2")))
#include "kernels/block.inc"

void td_block_init_avx2(td_block_kernels *kernels)
{
    *kernels = ALL_OF_THEM;
}
