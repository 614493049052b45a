/* The kernels between f32 and codes for AVX-512. */
#include "kernels/quant.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#include "kernels/quant.inc"

#include "kernels/quant_avx512.inc"

TARGET static void floats_avx512(uint8_t *dst, const float *row, const float *by, size_t blocks, size_t block,
                                 const td_quant *q, bool bounded)
{
    (void)bounded;
    floats_by_format(dst, row, by, blocks, block, q);
}

TARGET static void ints_avx512(uint8_t *dst, const float *row, const float *by, const float *zero, size_t blocks,
                               size_t block, const td_quant *q, bool bounded)
{
    (void)bounded;
    ints_by_size(dst, row, by, zero, blocks, block, q);
}

TARGET static void values_avx512(float *dst, const uint8_t *codes, const float *by, const float *zero, size_t blocks,
                                 size_t block, const td_quant *q)
{
    values_by_size(dst, codes, by, zero, blocks, block, q);
}

void td_quant_init_avx512(td_quant_kernels *kernels)
{
    kernels->floats = floats_avx512;
    kernels->ints = ints_avx512;
    kernels->values = values_avx512;
}
