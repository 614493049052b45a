/* The casting kernels for AVX2. */
#include "kernels/cast.h"

#include "base/random.h"

#include <immintrin.h>
#include <string.h>

#define ISA avx2
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define INLINE static inline __attribute__((always_inline)) TARGET

#include "kernels/cast_lanes_avx2.inc"

#include "kernels/cast_steps.inc"

#include "kernels/cast_ints.inc"

void td_cast_init_avx2(td_cast_kernels *kernels)
{
#define X(name, src_bytes, dst_bytes) kernels->name = td_cast_##name##_avx2;
    TD_CAST_KERNELS(X)
#undef X
    SET_INTS(avx2);
}
