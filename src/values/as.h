/* The `as` string: which dtype the memory holds and how values get there. The facade parses it for every call that
 * takes one; convert.h turns it into work. This room knows words and their ranges, no tensor and no axis.
 *
 *     i8 scale=0.05 zero=3 round=even sat
 *
 * The dtype comes first, the words after it in any order:
 *     scale=X         stored = out_of_range(round(value / X) + zero); value = X * (stored - zero) on the way back
 *     scale=@NAME     one scale per coordinate of an axis, from the tensor of that name or the file (scale=@scales.npy)
 *     axis=A          the axis that the scales and zero points go along
 *     zero=N, @NAME   the zero point, an integer of the dtype; only in integers
 *     round=even      or away (ties away from zero), zero, floor, ceil, stochastic
 *     seed=N          of round=stochastic, default 0. An element's random bits depend on the seed and its number
 *     sat             past the range: the nearest finite number; infinities too. The default of integers, fixed point
 *                     and floats of up to 8 bits
 *     inf             past the range: infinity, or NaN where the type has none. The default of wider floats
 *     wrap            past the range: modulo 2^bits; only in integers and fixed point
 *     error           past the range after rounding: the call is refused with the first such element
 *     ftz             subnormal numbers of either type become zeros of the same sign */
#ifndef TD_AS_H
#define TD_AS_H

#include "values/number.h"

#define TD_AS_NAME_BYTES 256
#define TD_AS_AXIS_BYTES 64

typedef struct td_as {
    td_dtype dtype;
    uint8_t round; /* td_round */
    uint8_t over;  /* td_over */
    bool ftz;
    bool has_scale; /* a number or a name */
    bool has_zero;
    float scale_f32; /* the number, rounded once to each work precision; 1 without a number */
    double scale_f64;
    int64_t zero;
    uint64_t seed;
    char scale_name[TD_AS_NAME_BYTES]; /* without the @; "" when the scale is a number */
    char zero_name[TD_AS_NAME_BYTES];
    char axis[TD_AS_AXIS_BYTES];
} td_as;

/* NULL or "" is the tensor's own dtype and no conversion. TD_DTYPE or TD_OPTION, with the string in the message. */
td_status td_as_parse(const char *text, td_dtype tensor, td_as *out);

#endif
