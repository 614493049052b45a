/* Strips of block-scaled tensors: what blocks.c cuts a tensor into, block_pack.c turns into parts and block_unpack.c
 * back into values. A band is all rows along the last dimension that share their scales; a strip is so many columns of
 * it that they stay in the first-level cache. Included by these three alone; nothing here fails. */
#ifndef TD_BLOCK_STRIP_H
#define TD_BLOCK_STRIP_H

#include "kernels/quant.h"
#include "parts/blocks.h"
#include "parts/scale.h"
#include "values/convert.h"

#define STRIP TD_STRIP /* elements, and blocks, of a strip */

/* What all pieces of a tensor have in common. Not to be copied. */
struct td_block_common {
    const td_packing *packing;
    td_scaler scaler;
    td_convert source, elems; /* of the tensor to f32; of elements from f32, or to it */
    bool convert_source;      /* the tensor is no f32 */
    size_t strip;             /* elements, and blocks, that are worked on at once: STRIP at most */
    bool by_kernel;           /* elements go by the kernels of kernels/quant.h, in one step */
    bool in_one_step;         /* to pack: of blocks that lie in one row, scales and elements at once, by `rule` */
    td_quant_rule rule;
    td_ratio ratio;
    bool scales_by_kernel; /* to unpack: so do scales */
    td_quant quant, scales;
    td_quant last; /* quant, of a scratch */
    td_quant_kernels kernels;
};

/* A tensor, or a piece of one, on its way into parts, or back. */
typedef struct td_block_work {
    const td_block_common *common;
    const td_packing *packing; /* of common */
    td_shape shape, block, count;
    const td_tensor *tensor; /* what is packed */
    td_tensor *unpacked;
    td_block_parts parts;
    uint64_t bands;
    uint64_t joined; /* elements of a band, where rows are joined to a long one; else 0 */
    unsigned pieces;
} td_block_work;

/* Where the rows of a band begin: `rows` of them, each `row_elems` long. */
typedef struct td_band {
    uint64_t first_scale; /* its number */
    uint64_t before;      /* of a tensor that is one long row: its elements before the band */
    td_shape start, extent;
    uint64_t rows, row_elems, block, unit; /* a strip has whole units: blocks, or super blocks */
} td_band;

/* What a strip holds while it is worked on. */
typedef struct td_strip {
    float in[STRIP], scaled[STRIP];
    uint32_t codes[STRIP];
    td_block_scales scales;
    bool any_nan; /* among the scales */
    bool any_inf; /* among the values, or a NaN */
    bool bounded; /* as kernels/quant.h says */
} td_strip;

/* Columns of a row that are worked on at once: whole blocks, or one block in pieces where it is larger than a strip. */
typedef struct td_columns {
    uint64_t at, count;
    size_t piece, block; /* elements of a piece, and of a block within it */
} td_columns;

/* Elements of a piece that begins after `done` of the columns. */
static inline size_t td_piece_at(const td_columns *c, uint64_t done)
{
    return c->count - done < c->piece ? (size_t)(c->count - done) : c->piece;
}

/* The number of the first element of a row. */
static inline uint64_t td_row_at(const td_block_work *w, const td_band *b, uint64_t row)
{
    uint64_t elem = b->before, stride = b->row_elems;
    for (size_t d = w->shape.rank - 1; d-- > 0;) {
        elem += (b->start.dim[d] + row % b->extent.dim[d]) * stride;
        row /= b->extent.dim[d];
        stride *= w->shape.dim[d];
    }
    return elem;
}

/* Values from column `at` of a band of one row on to parts, scales and elements in one step. Returns how many are done;
 * what the kernels leave, blocks that hold an infinity and their like, is td_strip_pack's. */
uint64_t td_strip_pack_both(const td_block_work *w, td_strip *s, const td_band *b, uint64_t at);

/* Some columns of a band, from values to parts and back. */
void td_strip_pack(const td_block_work *w, td_strip *s, const td_band *b, const td_columns *c);
void td_strip_unpack(const td_block_work *w, td_strip *s, const td_band *b, const td_columns *c);

/* The largest magnitude of the whole tensor, as bits. */
uint32_t td_strips_amax(const td_block_common *common, const td_tensor *tensor);

#endif
