/* Four over six: a block of e2m1 whose largest value becomes 4 where that has a smaller error than 6 (arXiv
 * 2512.02010), bit for bit as TransformerEngine chooses. Its errors are sums in f32, whose order decides about ties:
 * along a row from the first element on, and of 16 rows r and r + 8 first, then these 4 apart, 2 and 1. blocks.c gives
 * it rows. */
#ifndef TD_OVER_SIX_H
#define TD_OVER_SIX_H

#include "parts/scale.h"

#define TD_OVER_SIX_ROWS 16
#define TD_OVER_SIX_LEVELS 5 /* sums that wait for another as large: of 1, 2, 4, 8 and 16 rows */

typedef struct td_over_six {
    const td_scaler *scaler;
    const td_convert *encode; /* f32 to elements */
    td_block_scales four, six;
    float value[16];        /* of each code */
    float row[2][TD_STRIP]; /* errors of the row so far: with 4, with 6 */
    float sum[2][TD_OVER_SIX_LEVELS][TD_STRIP];
    unsigned rows; /* that were added */
} td_over_six;

/* `scales` has amax of every block, and becomes what blocks would have with 6. */
void td_over_six_begin(td_over_six *o, const td_scaler *scaler, const td_convert *encode, const td_block_scales *scales,
                       size_t blocks);

/* The row that is added as number n of a block of several: rows that are not there have no error. */
unsigned td_over_six_row(unsigned n);

/* Some elements of a row, in whole blocks from number `first` on, or in one that goes on. */
void td_over_six_add(td_over_six *o, const float *values, size_t n, size_t block);
void td_over_six_end_row(td_over_six *o, size_t blocks);

/* The better scales of every block, into what the elements are made with. */
void td_over_six_choose(td_over_six *o, td_block_scales *scales, size_t blocks);

#endif
