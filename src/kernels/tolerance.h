/* Kernels that look at pairs of values, one expected and one actual, for a tolerant policy. compare/tolerance.c calls
 * them on blocks and draws the conclusions; they refuse nothing and know no policy beyond its limits.
 *
 * measure_*, near_f32 and steps_x16 find how far apart the pairs of a block are at most:
 *
 *   steps    values of the type from one to the other; -0 and 0 are one value
 *   error    |a - e| in f32
 *   excess   |a - e| - rtol * |e|
 *   unsure   whether some 2 |a - e| is above |e|: where none is, no error was rounded (Sterbenz)
 *   largest  the magnitude on either side, as its bits
 *
 * measure_* find the first four. The other two take half the time and find less, so they are tried first: near_f32
 * finds error, excess, and steps as if all pairs had one sign (above TD_TOLERANCE_NEAR_STEPS where one does not);
 * steps_x16, of f16 and bf16, finds steps and largest, which together bound the error. transposed_* are the same two
 * where one side is transposed: element (r, c) is c rows and r elements into the expected side, and r rows and c
 * elements into the actual.
 *
 * pairs_* hold every pair against the limits, of floats in f32 with a margin; exact_* do so in f64, by the formula of
 * the policy itself. Elements of 8 and 16 bits that are floats come with their values in f32. Of integers, pairs_* find
 * the steps alone. */
#ifndef TD_KERNELS_TOLERANCE_H
#define TD_KERNELS_TOLERANCE_H

#include "kernels/equal.h"

/*    name                     size of an element; rule */
#define TD_TOLERANCE_KERNELS(X)                                                                                        \
    X(measure_f32, 4, measure)                                                                                         \
    X(measure_f16, 2, measure)                                                                                         \
    X(measure_bf16, 2, measure)                                                                                        \
    X(near_f32, 4, measure)                                                                                            \
    X(steps_x16, 2, measure)                                                                                           \
    X(transposed_near_f32, 4, transposed)                                                                              \
    X(transposed_steps_x16, 2, transposed)                                                                             \
    X(pairs_f32, 4, pairs)                                                                                             \
    X(pairs_x16, 2, pairs)                                                                                             \
    X(pairs_x8, 1, pairs)                                                                                              \
    X(exact_f32, 4, pairs)                                                                                             \
    X(exact_x16, 2, pairs)                                                                                             \
    X(exact_x8, 1, pairs)                                                                                              \
    X(exact_f64, 8, pairs)                                                                                             \
    X(pairs_i8, 1, integers)                                                                                           \
    X(pairs_i16, 2, integers)                                                                                          \
    X(pairs_i32, 4, integers)                                                                                          \
    X(exact_i8, 1, integers)                                                                                           \
    X(exact_i16, 2, integers)                                                                                          \
    X(exact_i32, 4, integers)

/* `rows` rows of `count` contiguous elements on either side. */
typedef struct td_tolerance_rows {
    const unsigned char *expected, *actual;
    ptrdiff_t expected_stride, actual_stride; /* bytes */
    size_t rows, count;
    const float *expected_values, *actual_values; /* pairs_ and exact_ of x8 and x16: row after row without gaps */
    td_ahead ahead;                               /* transposed_*: to the next block (equal.h) */
} td_tolerance_rows;

/* What a policy accepts: |a - e| <= atol + rtol * |e|, or at most `ulp` steps, or the same bits. */
typedef struct td_tolerance_limits {
    float atol, rtol;              /* a little less than the policy's */
    double exact_atol, exact_rtol; /* the policy's own */
    uint64_t long_ulp;             /* of f64 */
    uint32_t ulp;                  /* 0 without ulp=: equal values are near */
    int32_t same_bits;             /* -1: equal bits are near whatever they are; 0: they are not */
    double step;                   /* the value of one step of an integer */
    uint32_t mask, sign;           /* of an element's bits */
} td_tolerance_limits;

typedef struct td_tolerance_found {
    uint64_t steps;
    double exact_error; /* exact_*: the largest */
    uint32_t error;     /* f32 bits, which are in the order of the values: from TD_TOLERANCE_NOT_FINITE on not finite */
    float excess;       /* says nothing where the error is not finite */
    uint32_t largest;
    float sure_error, unsure_error; /* pairs_*: the largest that was not rounded, and the largest that may have been */
    bool unsure;
    bool near; /* pairs_* and exact_*: the limits accept every pair; otherwise only the steps count */
} td_tolerance_found;

#define TD_TOLERANCE_NOT_FINITE 0x7f800000u

/* Finite f32 values so few steps apart have one sign, and neither is more than twice the other. */
#define TD_TOLERANCE_NEAR_STEPS 0x800000u

typedef td_tolerance_found (*td_tolerance_fn)(const td_tolerance_rows *b, const td_tolerance_limits *limits);

#define TD_TOLERANCE_KERNEL(name, isa)                                                                                 \
    td_tolerance_found td_tolerance_##name##_##isa(const td_tolerance_rows *b, const td_tolerance_limits *limits)

typedef struct td_tolerance_kernels {
#define X(name, size, rule) td_tolerance_fn name;
    TD_TOLERANCE_KERNELS(X)
#undef X
} td_tolerance_kernels;

#define X(name, size, rule) TD_PROTOTYPES(TD_TOLERANCE_KERNEL, name)
TD_TOLERANCE_KERNELS(X)
#undef X

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_tolerance_init(td_tolerance_kernels *kernels, unsigned cpu_flags);

#define TD_TOLERANCE_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X)
#define X(isa, flag) void td_tolerance_init_##isa(td_tolerance_kernels *kernels);
TD_TOLERANCE_ISAS(X)
#undef X

#endif
