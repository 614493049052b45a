/* ggml's super blocks (q2_K .. q6_K): blocks whose scales and minimums are integers under one or two numbers. A format
 * like that leaves open which of many scales a block gets; ggml's reference searches for those that leave the least
 * weighted error, and this file searches in the same order, in f32 without fused products, so that it ends with the
 * same bytes. By the kind of the elements:
 *
 *     signed, 3 bits (q3_K)      from the scale that makes the largest value the lowest code, codes are moved one by
 *                                one, five times at most, while that makes the fit better; a value's weight is its
 *                                square
 *     signed, others (q6_K)      that scale and 18 beside it, from -.9 to .9 codes away; the one of the best fit
 *     unsigned with minimums     the range of the block, which holds 0, and more scales from `first` codes away on, a
 *                                tenth of a code from each other, each with the scale and minimum that fit its codes
 *                                best; the one of the least error. 2 bits (q2_K): 16 scales from -.5 on, weights |x|,
 *                                errors as they are; 4 bits (q4_K): 21 from -1 on, 5 and others (q5_K): 16 from -.5 on,
 *                                weights |x| + the root of the mean square of the block, errors squared
 *
 * Then the largest scale (and minimum) of a super block gets the highest code (signed: the lowest), the others follow,
 * and elements are rounded once more with what is stored. Where the reference leaves its range, so that its result is
 * not defined, numbers are taken for the nearest that it has: quotients past 2^22, and a NaN for 0. A super block with
 * a NaN or an infinity has NaN for its numbers and 0 for its codes. */
#ifndef TD_GGML_K_H
#define TD_GGML_K_H

#include "parts/scale.h"

/* One super block from `x` on: the codes of its elements, of its scales and of its minimums, and its one or two numbers
 * as the bits of their dtype. */
typedef struct td_k_codes {
    uint32_t *elems, *scales, *mins;
    uint32_t numbers[2];
} td_k_codes;

/* Whether packing makes super blocks like these: scales of signed elements are signed, of others unsigned, and a super
 * block is no larger than TD_STRIP. */
bool td_ggml_k_can(const td_packing *packing);

void td_ggml_k_encode(const td_scaler *s, const float *x, td_k_codes *out);

#endif
