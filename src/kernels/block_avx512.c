/* The kernels of block-scaled tensors for AVX-512. */
#include "kernels/block.h"

/* clang has no word for the width that it should prefer. */
#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#include "kernels/block.inc"

void td_block_init_avx512(td_block_kernels *kernels)
{
    *kernels = ALL_OF_THEM;
}
