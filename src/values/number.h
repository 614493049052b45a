/* One value, exactly: what lies between the bits of one dtype and the bits of another. A td_num is sign, significand
 * and binary exponent, with a sticky bit for what a division left over, so that however a value came here it is rounded
 * once. dtype.c and the generic path of convert.c call this; it refuses nothing, every value has an image in every
 * type. */
#ifndef TD_NUMBER_H
#define TD_NUMBER_H

#include "values/dtype.h"

typedef enum td_num_class { TD_NUM_ZERO, TD_NUM_FINITE, TD_NUM_INF, TD_NUM_NAN } td_num_class;

typedef struct td_num {
    uint8_t class; /* td_num_class */
    bool negative;
    bool sticky;  /* the magnitude is a little more than sig * 2^exp */
    int32_t exp;  /* finite: the magnitude is sig * 2^exp */
    uint64_t sig; /* finite: not 0; NaN: its payload, left-aligned */
} td_num;

/* STOCHASTIC rounds away from zero with the probability of the fraction that is dropped. */
typedef enum td_round {
    TD_ROUND_EVEN,
    TD_ROUND_AWAY,
    TD_ROUND_ZERO,
    TD_ROUND_FLOOR,
    TD_ROUND_CEIL,
    TD_ROUND_STOCHASTIC
} td_round;

/* What becomes of a value past the target's range. DEFAULT is the type's own: INF in floats of the IEEE flavor with
 * more than 8 bits, SAT in all others. */
typedef enum td_over { TD_OVER_DEFAULT, TD_OVER_SAT, TD_OVER_WRAP, TD_OVER_ERROR, TD_OVER_INF } td_over;

typedef struct td_rounding {
    uint8_t round;   /* td_round */
    uint8_t over;    /* td_over */
    bool ftz;        /* subnormal results become zero of the same sign */
    int64_t zero;    /* integers: added after rounding, before the range is looked at */
    uint64_t random; /* for STOCHASTIC: 64 uniform bits of this element */
} td_rounding;

td_num td_num_from_bits(td_dtype dtype, uint64_t bits);
td_num td_num_from_real(double value);

/* A NaN keeps its sign and the leading bits of its payload where the target has room for them, and becomes quiet; where
 * the target has no NaN it is the largest positive number in a float and the zero point in an integer. Bits of the
 * target (in its own bits, nothing above). *in_range, when not NULL, says whether the rounded value had a place in the
 * target: false for what `over` had to handle, and for NaN and infinity in a type without them. */
uint64_t td_num_to_bits(const td_num *num, td_dtype dtype, const td_rounding *rounding, bool *in_range);

/* a / b and a * b, rounded once to nearest even in f32 (bits 32) or f64 (bits 64), with IEEE's rules for zeros,
 * infinities and NaNs. */
td_num td_num_div(const td_num *a, const td_num *b, unsigned work_bits);
td_num td_num_mul(const td_num *a, const td_num *b, unsigned work_bits);

/* sig * 2^exp and a sticky bit, shifted right by `shift` and rounded; the magnitude's rounding knows the sign. */
uint64_t td_round_shift(uint64_t sig, unsigned shift, bool sticky, bool negative, uint8_t round, uint64_t random);

#endif
