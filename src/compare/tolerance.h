/* Closeness of whole blocks: whether a tolerant policy accepts every pair of one, many pairs at a time. What it does not accept
 * is for td_judge_pair to say, so it may be careful, but it never accepts what the judge would not. Called by scan.c and
 * compare.c for floats, and for integers of up to 32 bits.
 *
 * Floats are looked at in f32 with a margin: most blocks by their largest error and distance alone (kernels/tolerance.h), the
 * others pair by pair; and where that does not settle it in f64, where the judge itself calculates. Integers are looked
 * at in whole steps. */
#ifndef TD_TOLERANCE_H
#define TD_TOLERANCE_H

#include "kernels/tolerance.h"
#include "values/convert.h"
#include "values/judge.h"

#define TD_TOLERANCE_ELEMS 2048

/* The largest of what was accepted. */
typedef struct td_worst {
    double error;
    uint64_t ulp;
} td_worst;

typedef struct td_tolerance td_tolerance;

/* Where values are near 0 or the worst grows from block to block, the quick way settles nothing: then so many blocks go without
 * it. */
#define TD_TOLERANCE_SKIPS 8

/* What a thread needs for it. */
typedef struct td_tolerance_scratch {
    unsigned skips; /* that are left; 0 to begin with */
    float expected[TD_TOLERANCE_ELEMS],
        actual[TD_TOLERANCE_ELEMS]; /* the values of a block that is neither f32 nor f64 */
} td_tolerance_scratch;

typedef bool td_tolerance_look(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b,
                               td_worst *worst);

struct td_tolerance {
    td_tolerance_look *look;                   /* NULL: not for this dtype and policy */
    td_measure_fn measure;                     /* of f32, f16 and bf16; NULL for others */
    td_measure_fn quick;                       /* what may settle it before: near_f32 or steps_x16 */
    td_measure_transposed_fn quick_transposed; /* the same; NULL where it would not be quick */
    unsigned exp_bits;
    uint32_t first_inf; /* magnitudes from here on are infinite or NaN */
    float atol, rtol;   /* a little less than the policy's */
    uint32_t ulp;       /* 0 without ulp=: equal values are near */
    int32_t same_bits;  /* -1: equal bits are near whatever they are; 0: they are not */
    double exact_atol, exact_rtol;
    uint64_t long_ulp;
    double step;         /* of an integer */
    uint32_t mask, sign; /* of an element's bits */
    td_convert decode;   /* of a float to f32 */
};

void td_tolerance_prepare(const td_judge *judge, td_tolerance *c);

/* Up to TD_TOLERANCE_ELEMS pairs in tensor bytes. True when the policy accepts all of them; then *worst has grown to include
 * them. */
bool td_tolerance_accepts(const td_tolerance *c, td_tolerance_scratch *room, const td_tolerance_rows *b,
                          td_worst *worst);

/* The same of a block that is turned (kernels/tolerance.h), of any size, by the quick way alone: c->quick_transposed is there. */
bool td_tolerance_accepts_transposed(const td_tolerance *c, const td_tolerance_rows *b, td_ahead ahead,
                                     td_worst *worst);

#endif
