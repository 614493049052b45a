/* The kernels of elementwise steps for AVX2. */
#include "kernels/arith.h"

#define TARGET __attribute__((target("avx2")))
#include "kernels/arith.inc"

void td_arith_init_avx2(td_arith_kernels *kernels)
{
    fill_all(kernels);
}
