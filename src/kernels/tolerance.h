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
 *   near_f32   error, excess, and steps as if all pairs had one sign; above TD_CLOSE_NEAR_STEPS where one does not
 *   steps_x16  steps and largest, of f16 and bf16: together they say how large an error can be
 *
 * turned_near_f32 and turned_steps_x16 are the same two for blocks of which one side is turned: element (r, c) is c rows and
 * r elements into what is expected, and r rows and c elements into the actual. What lies ahead is asked for, as in
 * equal.h.
 *
 * One line of the tables makes a kernel's place in td_close_kernels and its test. */
#ifndef TD_KERNELS_CLOSE_H
#define TD_KERNELS_CLOSE_H

#include "kernels/equal.h"

/*    name   size of an element */
#define TD_CLOSE_KERNELS(X)                                                                                            \
    X(f32, 4)                                                                                                          \
    X(f16, 2)                                                                                                          \
    X(bf16, 2)                                                                                                         \
    X(near_f32, 4)                                                                                                     \
    X(steps_x16, 2)

#define TD_CLOSE_TURNED_KERNELS(X)                                                                                     \
    X(turned_near_f32, 4)                                                                                              \
    X(turned_steps_x16, 2)

/* `rows` rows of `count` straight elements on either side. */
typedef struct td_close_rows {
    const unsigned char *expected, *actual;
    ptrdiff_t expected_stride, actual_stride; /* bytes */
    size_t rows, count;
} td_close_rows;

typedef struct td_close_most {
    uint32_t error; /* its bits, which are in the order of the values: from TD_CLOSE_NOT_FINITE on there was none */
    uint32_t steps;
    float excess; /* says nothing where the error is not finite */
    bool unsure;
    uint32_t largest;
} td_close_most;

#define TD_CLOSE_NOT_FINITE 0x7f800000u

/* Finite f32 values so few steps apart have one sign, and neither is more than twice the other. */
#define TD_CLOSE_NEAR_STEPS 0x800000u

typedef td_close_most (*td_close_fn)(const td_close_rows *rows, float rtol);
typedef td_close_most (*td_close_turned_fn)(const td_close_rows *rows, td_ahead ahead, float rtol);

typedef struct td_close_kernels {
#define X(name, size) td_close_fn name;
    TD_CLOSE_KERNELS(X)
#undef X
#define X(name, size) td_close_turned_fn name;
    TD_CLOSE_TURNED_KERNELS(X)
#undef X
} td_close_kernels;

/* Fills every pointer with the best version that `cpu_flags` (cpu.h) allow. */
void td_close_kernels_init(td_close_kernels *kernels, unsigned cpu_flags);

/* The per-ISA parts of it; they override what they have. */
void td_close_init_avx2(td_close_kernels *kernels);
void td_close_init_avx512(td_close_kernels *kernels);

#endif
