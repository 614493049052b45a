/* The kernels of elementwise steps for AVX-512. */
#include "kernels/arith.h"

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#include "kernels/arith.inc"

void td_arith_init_avx512(td_arith_kernels *kernels)
{
    fill_all(kernels);
}
