/* Words by table, with the registers of AVX512. See gather.h. */
/* clang has no word for the width that it should prefer. */
#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2")))
#else
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,prefer-vector-width=512")))
#endif

#include "kernels/gather_loops.h"

GATHER_FAMILY(avx512)

void td_gather_init_avx512(td_gather_kernels *k)
{
#define X(name) k->name = td_##name##_avx512;
    TD_GATHER_KERNELS(X)
#undef X
}
