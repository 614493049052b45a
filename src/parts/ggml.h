/* Blocks of integers and of e2m1 as ggml's reference makes and reads them (rule=ggml). blocks.c calls it with strips of
 * whole rows. By the kind of the elements:
 *
 *     signed, up to 7 bits (q4_0, q5_0)    d = the value of largest magnitude / -2^(bits-1), so that it is the lowest
 *                                          code; code = min(trunc(x * (1 / d) + 2^(bits-1) + .5), top) - 2^(bits-1)
 *     signed, 8 bits (q8_0)                d = amax / 127; code = x * (1 / d), halves away from 0
 *     unsigned with minimums (q4_1, q5_1)  d = (max - min) / top; code = trunc((x - min) * (1 / d) + .5)
 *     e2m1 with e8m0 (mxfp4)               the exponent of log2(amax) rounded to f32, less 2; elements to the nearest,
 *                                          halves towards 0, and no -0
 *     e2m1 with e4m3 (nvfp4)               amax / 6, halves up, no sign; 0x7f stands for 0; elements as above
 *     with super scales (q2_K .. q6_K)     element * (scale * d) - minimum * dmin; ggml_k.h makes them
 *
 * 1 / d is that of d before it is rounded to the dtype of scales, 0 where it is infinite. The reference says nothing of
 * NaN and infinities in a block: here its scale is NaN and its codes are 0, but for nvfp4, where it does: a NaN counts
 * as 0, and infinities become 0 under the largest scale. */
#ifndef TD_GGML_H
#define TD_GGML_H

#include "parts/blocks.h"
#include "parts/scale.h"

/* Minimums and super scales among the parts; `blocks` is the shape of the scales. */
void td_ggml_forms(const td_packing *packing, const td_shape *blocks, td_part_form *forms);

/* n elements from the first of a block on: scales into b->code, minimums into b->amax, elements into `codes`. `encode`
 * makes scales of f32. */
void td_ggml_encode(const td_packing *packing, const td_convert *encode, const float *in, size_t n, td_block_scales *b,
                    uint32_t *codes);

/* Finishes the scales of `blocks` blocks from number `first` on: b->by, which holds what their dtype says, becomes what
 * elements are multiplied by, and b->min what is added then. */
void td_ggml_decode(const td_packing *packing, const td_block_parts *parts, uint64_t first, size_t blocks,
                    td_block_scales *b);

/* Adds each block's minimum to its values; the last block may be shorter. */
void td_ggml_add_mins(float *values, const float *mins, size_t n, size_t block);

#endif
