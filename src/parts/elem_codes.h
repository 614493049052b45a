/* What the kernels between f32 and codes (kernels/quant.h) have to know of a packing's elements and scales. Called by
 * blocks.c, which converts what they do not know step by step. */
#ifndef TD_ELEM_CODES_H
#define TD_ELEM_CODES_H

#include "kernels/quant.h"
#include "parts/packing.h"
#include "values/convert.h"

/* False where the kernels do not do what the packing says: containers of several bytes, rounding other than to nearest
 * even, block floating point, ggml's ways, e8m0, fixed point. `back` is from codes to values, where most is known. */
bool td_codes_find(const td_packing *packing, bool back, td_quant *q);

/* The value of every byte that an element may be, by the conversion from elements to f32. */
void td_codes_values(const td_convert *elems, td_quant *q);

/* The same for scales, which kernels/quant.h takes to values as it takes elements. False where they have not 8 bits. */
bool td_codes_scales(td_dtype scale, const td_convert *decode, td_quant *q);

#endif
