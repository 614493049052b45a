/* Closeness of whole rows: whether a tolerant policy accepts every pair of a short row for sure, many pairs at a time.
 * What it does not accept is for td_judge_pair to say, so it may be careful: it works in f32 with a margin. Called by
 * compare.c for floats of up to 32 bits and integers of up to 16, whose values f32 holds. */
#ifndef TD_CLOSE_H
#define TD_CLOSE_H

#include "convert.h"
#include "policy.h"

#define TD_CLOSE_ELEMS 1024

typedef struct td_close {
    bool usable; /* for this dtype and policy */
    bool is_f32;
    unsigned cpu;
    const td_judge *judge;
    float atol, rtol; /* a little less than the policy's */
    uint32_t ulp;
    td_convert decode; /* to f32; not used for f32 itself */
    float expected[TD_CLOSE_ELEMS], actual[TD_CLOSE_ELEMS];
    int32_t rank[2][TD_CLOSE_ELEMS]; /* the places of the two values in the order of their dtype */
    float error[TD_CLOSE_ELEMS];
    uint32_t steps[TD_CLOSE_ELEMS];
} td_close;

/* Borrows the judge. */
void td_close_init(const td_judge *judge, td_close *c);

/* Up to TD_CLOSE_ELEMS pairs in tensor bytes. True when the policy accepts all; then *error is at least the largest
 * |actual - expected| (and within 1e-6 of it), *ulp the largest distance, and error[], steps[] have each pair's. */
bool td_close_row(td_close *c, const unsigned char *expected, const unsigned char *actual, size_t count, double *error,
                  uint32_t *ulp);

#endif
