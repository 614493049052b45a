/* Kernels of the elementwise steps on tensors: sums, products, products with a number, and values brought into a range.
 * tensor/steps.c calls them on runs that lie in the cache; they refuse nothing. Every version gives the bits of plain
 * C.
 *
 * Rows of n elements in containers of one type, at any address; dst may be a itself, and overlaps with neither
 * otherwise. b has n elements too or, with `one`, a single one for all.
 *   add     dst[i] = a[i] + b[i]
 *   mul     dst[i] = a[i] * b[i]
 *   mulq    the same in fixed point: the product in steps of 2^-(2 * shift), rounded to nearest even to one of 2^-shift
 *   scale   dst[i] = a[i] * factor; integers: in double, then to the nearest whole number, ties to even. b is not read
 *   clamp   dst[i] = least where a[i] is below it, most where it is above that, else a[i]. b is not read
 *
 * Integers. The elements have `bits` bits of their own and are extended into their containers. A sum or product past
 * [low, high] becomes the nearer end or, with `wrap`, is taken modulo 2^bits; true is returned where none was past it.
 * With `wrap` that says nothing, but for scale of up to 32 bits: false where a product past 2^51 was found, whose
 * results then are not said.
 * Floats. A result past `limit` becomes that limit with its sign; every NaN becomes the positive quiet one without
 * payload. true is returned. */
#ifndef TD_KERNELS_ARITH_H
#define TD_KERNELS_ARITH_H

#include "kernels/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*    name, type of the container */
#define TD_ARITH_NARROW(X)                                                                                             \
    X(i8, int8_t)                                                                                                      \
    X(u8, uint8_t)                                                                                                     \
    X(i16, int16_t)                                                                                                    \
    X(u16, uint16_t)                                                                                                   \
    X(i32, int32_t)                                                                                                    \
    X(u32, uint32_t)
#define TD_ARITH_INTEGERS(X)                                                                                           \
    TD_ARITH_NARROW(X)                                                                                                 \
    X(i64, int64_t)                                                                                                    \
    X(u64, uint64_t)
#define TD_ARITH_FLOATS(X)                                                                                             \
    X(f32, float)                                                                                                      \
    X(f64, double)

typedef struct td_arith {
    int64_t low, high;   /* of the element's type; those of 64 bits without sign are their bits */
    int64_t least, most; /* of clamp, integers; likewise */
    unsigned bits, shift;
    bool wrap;
    double factor;   /* of scale: a float in f32 */
    double from, to; /* of clamp, floats: bounds of the type */
    double limit;    /* of floats: the largest number, or infinity */
} td_arith;

typedef bool (*td_arith_fn)(const td_arith *p, void *dst, const void *a, const void *b, bool one, size_t n);

typedef struct td_arith_kernels {
#define X(name, type) td_arith_fn add_##name, mul_##name, scale_##name, clamp_##name;
    TD_ARITH_INTEGERS(X)
    TD_ARITH_FLOATS(X)
#undef X
#define X(name, type) td_arith_fn mulq_##name;
    TD_ARITH_INTEGERS(X)
#undef X
} td_arith_kernels;

/* Fills every pointer with the best version that `cpu_flags` (base/cpu.h) allow. */
void td_arith_init(td_arith_kernels *kernels, unsigned cpu_flags);

#define TD_ARITH_ISAS(X) TD_ISA_AVX2(X) TD_ISA_AVX512(X)
#define X(isa, flag) void td_arith_init_##isa(td_arith_kernels *kernels);
TD_ARITH_ISAS(X)
#undef X

#endif
