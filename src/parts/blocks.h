/* Block-scaled tensors: a tensor into elements and scales, and back. parts/parts.c calls it with tensors that it has
 * made to fit. */
#ifndef TD_BLOCKS_H
#define TD_BLOCKS_H

#include "parts/form.h"
#include "parts/packing.h"

/* The parts of a block-scaled tensor; `zeros` and `global` are NULL where the packing has none. */
typedef struct td_block_parts {
    td_tensor *elems, *scales, *zeros, *global;
    const uint32_t *amax; /* of a part of a tensor: that of the whole; NULL: it is whole */
} td_block_parts;

/* The largest magnitude of a tensor as the bits of an f32. */
uint32_t td_blocks_amax(const td_tensor *tensor);

/* The size of a block along every dimension; 1 where it does not extend. TD_OPTION for an axis that the shape does not
 * have or that stands twice, TD_SHAPE with tail=error for a dimension that does not fill its blocks. */
td_status td_blocks_bind(const td_packing *packing, const td_shape *shape, td_shape *block);

/* Blocks along every dimension: the shape of the scales. */
td_shape td_blocks_count(const td_shape *shape, const td_shape *block);

/* What its parts look like. */
void td_blocks_forms(const td_packing *packing, const td_shape *shape, const td_shape *block, td_part_form *forms);

/* Values are f32 on the way: wider ones are rounded to it first. */
void td_blocks_pack(const td_packing *packing, const td_shape *block, const td_tensor *tensor,
                    const td_block_parts *out);
void td_blocks_unpack(const td_packing *packing, const td_shape *block, const td_block_parts *parts, td_tensor *out);

/* The same piece by piece, rows of the first dimension each, on several threads too. What the pieces have in common is
 * made once, as that takes longer than a small piece, and freed by free(). To pack, `amax` is that
 * of the whole tensor, for global=amax alone; to unpack, `parts` has the scale of the whole tensor, if there is one. */
typedef struct td_block_common td_block_common;
td_status td_blocks_make_pack(const td_packing *packing, const td_tensor *whole, uint32_t amax, td_block_common **out);
td_status td_blocks_make_unpack(const td_packing *packing, const td_tensor *whole, const td_block_parts *parts,
                                td_block_common **out);
void td_blocks_pack_piece(const td_block_common *common, const td_shape *block, const td_tensor *piece,
                          const td_block_parts *out);
void td_blocks_unpack_piece(const td_block_common *common, const td_shape *block, const td_block_parts *parts,
                            td_tensor *out);

#endif
