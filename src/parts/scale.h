/* The scales of blocks: from the largest magnitude of each to the code that is stored, and to the number that its
 * elements are multiplied or divided by. blocks.c asks for a strip of blocks at a time; tests hold it against the
 * published bytes and against fractions. Nothing here fails, and everything is in f32, as the libraries calculate it.
 */
#ifndef TD_SCALE_H
#define TD_SCALE_H

#include "kernels/quant.h"
#include "parts/packing.h"
#include "values/convert.h"

#define TD_STRIP 4096 /* blocks at most, and elements that blocks.c works on at once */

/* What the rules need of the packing, made once per tensor. Not to be copied. */
typedef struct td_scaler {
    const td_packing *packing;
    td_block_kernels kernels;
    td_power power;         /* rules that make powers of two */
    float largest, inverse; /* element; 1 / that, rounded */
    float codes;            /* of an unsigned element: the highest */
    float tensor_scale;     /* of the whole tensor: what elements are multiplied by on the way back; 1 without one */
    float tensor_inverse;   /* what TransformerEngine calls S_enc */
    float scale_max, scale_min; /* the largest and the smallest normal scale */
    float amax, most;           /* global=amax: of the tensor, and what it is mapped to */
    td_convert encode, decode;  /* f32 to scales, and back */
    bool chained;               /* from amax to codes, and to what elements are multiplied by, in one step */
    td_chain chain;
    bool halves;                           /* scales are f16, which elements are divided by */
    td_convert encode_super, decode_super; /* and to the numbers above them, where there are any */
} td_scaler;

/* A strip of blocks. */
typedef struct td_block_scales {
    float exact[TD_STRIP], stored[TD_STRIP]; /* quotients, before and after they are rounded to the dtype of scales */
    uint32_t amax[TD_STRIP];                 /* the largest magnitude, as bits */
    float min[TD_STRIP], max[TD_STRIP];      /* only for rules with zero points */
    float by[TD_STRIP];                      /* given: element = value * by, or value / by */
    float zero[TD_STRIP];                    /* given: zero points */
    uint32_t code[TD_STRIP];                 /* given with rule=shared: exponents */
    _Alignas(4) unsigned char packed[4 * TD_STRIP]; /* given by all others: scales, in containers of their dtype */
} td_block_scales;

/* To pack: `amax_bits` is that of the whole tensor; looked at for global=amax alone. */
void td_scaler_make(const td_packing *packing, uint32_t amax_bits, td_scaler *s);

/* To unpack. The scale of the whole tensor is the caller's to set. */
void td_scaler_make_back(const td_packing *packing, td_scaler *s);

/* True where elements are divided by `by`, false where they are multiplied. */
bool td_scaler_divides(const td_packing *packing);

/* How kernels that make scales and elements in one step make the scales (kernels/quant.h); false where none does. */
bool td_scaler_rule(const td_scaler *s, td_ratio *ratio, td_quant_rule *out);

void td_scaler_find(const td_scaler *s, td_block_scales *b, size_t blocks);

/* The same with map=mae or mse, for elements whose largest becomes 4. */
void td_scaler_find_four(const td_scaler *s, td_block_scales *b, size_t blocks);

#endif
