/* Words by table, with the registers of AVX2. See gather.h. */
#define TARGET __attribute__((target("avx2,bmi2")))

#include "kernels/gather_loops.h"

GATHER_FAMILY(avx2)

void td_gather_init_avx2(td_gather_kernels *k)
{
#define X(name) k->name = td_##name##_avx2;
    TD_GATHER_KERNELS(X)
#undef X
}
