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

void td_tolerance_init_avx2(td_tolerance_kernels *kernels)
{
    kernels->measure_f32 = td_tolerance_measure_f32_avx2;
    kernels->measure_f16 = td_tolerance_measure_f16_avx2;
    kernels->measure_bf16 = td_tolerance_measure_bf16_avx2;
    kernels->near_f32 = td_tolerance_near_f32_avx2;
    kernels->steps_x16 = td_tolerance_steps_x16_avx2;
    kernels->pairs_f32 = td_tolerance_pairs_f32_avx2;
    kernels->pairs_x16 = td_tolerance_pairs_x16_avx2;
    kernels->pairs_x8 = td_tolerance_pairs_x8_avx2;
    kernels->exact_f32 = td_tolerance_exact_f32_avx2;
    kernels->exact_x16 = td_tolerance_exact_x16_avx2;
    kernels->exact_x8 = td_tolerance_exact_x8_avx2;
    kernels->exact_f64 = td_tolerance_exact_f64_avx2;
    kernels->pairs_i8 = td_tolerance_pairs_i8_avx2;
    kernels->pairs_i16 = td_tolerance_pairs_i16_avx2;
    kernels->pairs_i32 = td_tolerance_pairs_i32_avx2;
    kernels->exact_i8 = td_tolerance_exact_i8_avx2;
    kernels->exact_i16 = td_tolerance_exact_i16_avx2;
    kernels->exact_i32 = td_tolerance_exact_i32_avx2;
}
