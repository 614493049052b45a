/* Kernels that take the measure of pairs of floats that a tolerant policy may accept: how far apart they are at most, in value
 * and in steps. close.c calls them on blocks and says what follows from it; they refuse nothing and know no policy.
 *
 *   steps    the most values of the type between e and a, one of them counted; -0 and 0 are one value
 *   error    the largest |a - e|, in f32
 *   excess   the largest |a - e| - rtol * |e|
 *   unsure   whether some 2 |a - e| is above |e|: where none is, no error was rounded (Sterbenz)
 *   largest  the largest magnitude on either side, as its bits
 *
 * f32, f16 and bf16 find the first four. The others take half the time and find less, for close.c to try before:
 *
 *   near_f32   error, excess, and steps as if all pairs had one sign; above TD_TOLERANCE_NEAR_STEPS where one does not
 *   steps_x16  steps and largest, of f16 and bf16: together they say how large an error can be
 *
 * transposed_near_f32 and transposed_steps_x16 are the same two for blocks of which one side is turned: element (r, c) is c rows and
 * r elements into what is expected, and r rows and c elements into the actual. What lies ahead is asked for, as in
 * equal.h.
 *
 * One line of the tables makes a kernel's place in td_tolerance_kernels and its test. */
#ifndef TD_KERNELS_TOLERANCE_H
#define TD_KERNELS_TOLERANCE_H

#include "kernels/equal.h"

/*    name   size of an element */
#define TD_TOLERANCE_KERNELS(X)                                                                                        \
    X(f32, 4)                                                                                                          \
    X(f16, 2)                                                                                                          \
    X(bf16, 2)                                                                                                         \
    X(near_f32, 4)                                                                                                     \
    X(steps_x16, 2)

#define TD_TOLERANCE_TRANSPOSED_KERNELS(X)                                                                             \
    X(transposed_near_f32, 4)                                                                                          \
    X(transposed_steps_x16, 2)

/* `rows` rows of `count` straight elements on either side. */
typedef struct td_tolerance_rows {
    const unsigned char *expected, *actual;
    ptrdiff_t expected_stride, actual_stride; /* bytes */
    size_t rows, count;
} td_tolerance_rows;

typedef struct td_tolerance_most {
    uint32_t error; /* its bits, which are in the order of the values: from TD_TOLERANCE_NOT_FINITE on there was none */
    uint32_t steps;
    float excess; /* says nothing where the error is not finite */
    bool unsure;
    uint32_t largest;
} td_tolerance_most;

#define TD_TOLERANCE_NOT_FINITE 0x7f800000u

/* Finite f32 values so few steps apart have one sign, and neither is more than twice the other. */
#define TD_TOLERANCE_NEAR_STEPS 0x800000u

typedef td_tolerance_most (*td_measure_fn)(const td_tolerance_rows *rows, float rtol);
typedef td_tolerance_most (*td_measure_transposed_fn)(const td_tolerance_rows *rows, td_ahead ahead, float rtol);

typedef struct td_tolerance_kernels {
#define X(name, size) td_measure_fn name;
    TD_TOLERANCE_KERNELS(X)
#undef X
#define X(name, size) td_measure_transposed_fn name;
    TD_TOLERANCE_TRANSPOSED_KERNELS(X)
#undef X
} td_tolerance_kernels;

/* Fills every pointer with the best version that `cpu_flags` (cpu.h) allow. */
void td_tolerance_kernels_init(td_tolerance_kernels *kernels, unsigned cpu_flags);

/* The per-ISA parts of it; they override what they have. */
void td_tolerance_init_avx2(td_tolerance_kernels *kernels);
void td_tolerance_init_avx512(td_tolerance_kernels *kernels);

#endif
