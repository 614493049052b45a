/* The tolerance kernels for AVX2: the loops of plain C, which the compiler vectorises further. Transposed blocks stay
 * with plain C. */
#include "kernels/tolerance.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define KERNEL(name) TARGET TD_TOLERANCE_KERNEL(name, avx2)

#include "kernels/tolerance_rows.inc"

#include "kernels/tolerance_pairs.inc"

#define OVERRIDE_transposed(name)
#define OVERRIDE_measure(name) kernels->name = td_tolerance_##name##_avx2;
#define OVERRIDE_pairs(name) OVERRIDE_measure(name)
#define OVERRIDE_integers(name) OVERRIDE_measure(name)

void td_tolerance_init_avx2(td_tolerance_kernels *kernels)
{
#define X(name, size, rule) OVERRIDE_##rule(name)
    TD_TOLERANCE_KERNELS(X)
#undef X
}
