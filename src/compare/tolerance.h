/* Whether a tolerant policy accepts every pair of a block, many pairs at a time. A block that is not accepted goes to
 * td_judge_pair, pair by pair: so this may be careful, but never accepts what the judge would not. Called by accept.c
 * and judging.c for floats, and for integers of up to 32 bits; it refuses nothing, and accepts nothing of other types.
 *
 * Floats are measured in f32 with a margin (kernels/tolerance.h): most blocks are settled by their largest error and
 * distance, the others pair by pair, and what is still open in f64, where the judge itself calculates. Integers
 * are compared in whole steps. */
#ifndef TD_TOLERANCE_H
#define TD_TOLERANCE_H

#include "kernels/tolerance.h"
#include "values/convert.h"
#include "values/judge.h"

#define TD_TOLERANCE_ELEMS 2048

/* The largest error and distance that were accepted. */
typedef struct td_worst {
    double error;
    uint64_t ulp;
} td_worst;

/* Where values are near 0, or the worst grows from block to block, the quick measure settles nothing: it is then
 * skipped for this many blocks. */
#define TD_TOLERANCE_SKIPS 8

/* Buffers of one thread. */
typedef struct td_tolerance_scratch {
    unsigned skips; /* blocks left to skip the quick measure; 0 to begin with */
    float expected[TD_TOLERANCE_ELEMS], actual[TD_TOLERANCE_ELEMS]; /* the values of floats of 8 and 16 bits */
} td_tolerance_scratch;

typedef struct td_tolerance {
    td_tolerance_fn exact; /* NULL: only the judge decides for this dtype or policy */
    td_tolerance_fn pairs; /* before `exact`; NULL for f64 */
    td_tolerance_fn measure, quick,
        quick_transposed; /* before `pairs`; NULL where there is none, or it gains nothing */
    td_tolerance_limits limits;
    bool whole; /* integers */
    unsigned exp_bits;
    uint32_t first_inf; /* magnitudes from here on are infinite or NaN */
    bool decodes;       /* floats of 8 and 16 bits go to f32 by `decode`, which is not there otherwise */
    td_convert decode;
} td_tolerance;

void td_tolerance_prepare(const td_judge *judge, td_tolerance *t);

/* Up to TD_TOLERANCE_ELEMS pairs in tensor bytes. True when the policy accepts all of them; then *worst has grown to
 * include them. */
bool td_tolerance_accepts(const td_tolerance *t, td_tolerance_scratch *scratch, const td_tolerance_rows *b,
                          td_worst *worst);

/* The same for a transposed block (kernels/tolerance.h) of any size. Only where t->quick_transposed is not NULL. */
bool td_tolerance_accepts_transposed(const td_tolerance *t, const td_tolerance_rows *b, td_ahead ahead,
                                     td_worst *worst);

#endif
