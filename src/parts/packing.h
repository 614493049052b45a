/* The packing string: how a tensor becomes parts. parts/parts.c parses it for every call that takes one; blocks.c does
 * the work. This file knows words and what they go with, no tensor and no shape.
 *
 *     mxfp4 rule=rceil axis=1 block=32
 *
 * A name comes first, the words after it in any order. Every name is a list of words (packing.c has the table), so a
 * word behind it only replaces what the name says; `blocks` says nothing but the defaults.
 *     elem=DTYPE     of the elements
 *     scale=DTYPE    of the scales
 *     axis=N, N,N    the dimensions that a block extends along, from 0; negative ones count from the last (default -1)
 *     block=N, NxN   its size along each of them; `all` is the whole dimension
 *     rule=RULE      how a block's scale comes from its values; the list is td_scale_rule
 *     round=even     of the elements; or away, zero, floor, ceil
 *     inf=nan        a block with an infinity: nan makes its scale NaN, max takes it for the largest number
 *     low=full       integers and fixed point: symmetric leaves the lowest code out
 *     zero=DTYPE     of zero points; none
 *     min=DTYPE      of minimums: what is added to a block's elements after they are scaled; none
 *     super=DTYPE/N  scales and minimums are integers, and every N elements have what those are multiplied by; none
 *     empty=zero     powers of two: the scale of a block of zeros is the lowest; normal: that of f32's smallest normal
 *     void=nan       what elements of a block hold whose scale is NaN: NaN, or the largest number; zero
 *     map=six        rule=te: amax becomes 6; mae, mse: 4 or 6, whichever has the smaller error (over_six.h)
 *     scale_max=N    rule=te: the scale of the tensor is made for block scales up to this; the largest of the dtype
 *     pad_scale=X    what a load of all parts writes into the padding of scales, where their layout has no pad=
 *     global=amax    a scale of the whole tensor above the blocks', from its largest magnitude; none, or a number
 *     codes=stored   elements are divided by the scale that is stored; exact: by the one before it was rounded
 *     tail=short     a dimension that does not fill its blocks ends with a shorter one; error refuses it */
#ifndef TD_PACKING_H
#define TD_PACKING_H

#include "values/number.h"

/* The first five make powers of two, the others any number that the dtype of the scales has. */
typedef enum td_scale_rule {
    TD_RULE_FLOOR,   /* 2^(floor(log2 amax) - emax): OCP MX 6.3 */
    TD_RULE_EVEN,    /* amax rounded to the element's mantissa first */
    TD_RULE_CEIL,    /* the next power of two, unless amax is one */
    TD_RULE_RCEIL,   /* the smallest at which no element is clipped: of amax / largest, rounded up */
    TD_RULE_NEAREST, /* the nearest to amax / largest */
    TD_RULE_TE,      /* NVFP4 as TransformerEngine calculates it */
    TD_RULE_TORCHAO, /* NVFP4 as torchao does: never below the smallest normal number */
    TD_RULE_ABSMAX,  /* amax / largest */
    TD_RULE_GPTQ,    /* (max - min) / codes, of a range that holds 0; with zero points */
    TD_RULE_AWQ,     /* (max - min) / codes, at least 1e-5 / codes; with zero points */
    TD_RULE_SHARED,  /* block floating point: the largest exponent, and magnitudes with their leading 1 */
    TD_RULE_GGML     /* as ggml's reference does it for elements of this kind: ggml.h */
} td_scale_rule;

typedef enum td_six_map { TD_MAP_SIX, TD_MAP_MAE, TD_MAP_MSE } td_six_map;

typedef enum td_global { TD_GLOBAL_NONE, TD_GLOBAL_AMAX, TD_GLOBAL_GIVEN } td_global;

#define TD_PACKING_NAME_BYTES 24
#define TD_PACKING_PAD_BYTES 32
#define TD_BLOCK_ALL 0 /* of td_packing.block: the whole dimension */

typedef struct td_packing {
    char name[TD_PACKING_NAME_BYTES];
    td_dtype elem, scale, zero, min, super;
    uint8_t rule;   /* td_scale_rule */
    uint8_t round;  /* td_round */
    uint8_t global; /* td_global */
    uint8_t map;    /* td_six_map */
    bool inf_is_max, symmetric, zeros, exact_codes, whole_blocks, mins, supers, empty_is_normal, void_is_zero;
    float global_scale;                   /* TD_GLOBAL_GIVEN */
    float scale_max;                      /* 0: the largest of the dtype */
    char pad_scale[TD_PACKING_PAD_BYTES]; /* "": none */
    uint64_t super_block;                 /* elements; a multiple of the block */
    size_t axis_count;
    int axis[TD_MAX_RANK];       /* as written: may be negative */
    uint64_t block[TD_MAX_RANK]; /* of each axis */
} td_packing;

/* TD_OPTION or TD_DTYPE, with the string in the message. */
td_status td_packing_parse(const char *text, td_packing *out);

/* Whether words go together, behind the parser; `text` is for messages. */
td_status td_packing_check(const td_packing *k, const char *text);

/* The word behind rule=. */
const char *td_packing_rule(const td_packing *k);

/* The name that says all of these words but axis=; false where there is none. `name` holds TD_PACKING_NAME_BYTES. */
bool td_packing_name(const td_packing *k, char *name);

/* The name and every word that matters, as it would be written; `text` holds TD_PACKING_TEXT_BYTES. */
#define TD_PACKING_TEXT_BYTES 2048
void td_packing_print(const td_packing *k, char *text);

#endif
