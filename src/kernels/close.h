/* The first pass over pairs of floats that a tolerant policy may accept, in f32: are all near, and what is the largest
 * error and distance. close.c has it in plain C for every float; here are f32, f16 and bf16 for AVX-512, from the bits
 * themselves. */
#ifndef TD_KERNELS_CLOSE_H
#define TD_KERNELS_CLOSE_H

#include <stddef.h>
#include <stdint.h>

/* Near: |a - e| <= atol + rtol * |e|, or at most `ulp` steps; finite in both cases. With same_bits -1 equal bits are near
 * whatever they are, with 0 not; the kernels here are for -1. */
typedef struct td_close_limits {
    float atol, rtol;
    uint32_t ulp;
    int32_t same_bits;
} td_close_limits;

/* Errors are not negative, so their bits are in the order of their values. The difference of two values of which neither
 * is more than twice the other has no rounding (Sterbenz): such errors are sure. */
typedef struct td_close_found {
    int32_t near;         /* -1: all are; what follows says nothing otherwise */
    int32_t sure, unsure; /* the largest of either; sure is 0 where it is not larger */
    uint32_t steps;
} td_close_found;

typedef td_close_found td_close_first_fn(const td_close_limits *limits, const unsigned char *expected,
                                         const unsigned char *actual, size_t count);

td_close_first_fn td_close_f32_avx512, td_close_f16_avx512, td_close_bf16_avx512;

#endif
