/* The shapes of block-scaled tensors (blocks.h): which dimensions a block extends along, how many blocks there are, and
 * what the parts look like. It refuses what the shape does not have; blocks.c works on the rest. */
#include "parts/blocks.h"
#include "parts/ggml.h"

#include <inttypes.h>

static const td_dtype dtype_f32 = {TD_KIND_FLOAT, 32, 8, 4, 23, TD_FLAVOR_IEEE, 0, 0};

td_status td_blocks_bind(const td_packing *packing, const td_shape *shape, td_shape *block)
{
    char text[TD_SHAPE_TEXT_BYTES];
    td_shape out = {.rank = shape->rank};
    bool seen[TD_MAX_RANK] = {false};
    for (size_t d = 0; d < shape->rank; d++)
        out.dim[d] = 1;
    for (size_t i = 0; i < packing->axis_count; i++) {
        const int rank = (int)shape->rank, at = packing->axis[i] < 0 ? packing->axis[i] + rank : packing->axis[i];
        if (rank == 0)
            return td_fail(TD_OPTION,
                           "axis=%d of packing \"%s\" in a tensor of shape (); it has no axis to cut into blocks",
                           packing->axis[i], packing->name);
        if (at < 0 || at >= rank)
            return td_fail(TD_OPTION, "axis=%d of packing \"%s\" in a tensor of shape %s; its axes are -%d to %d",
                           packing->axis[i], packing->name, td_shape_print(shape, text), rank, rank - 1);
        if (seen[at])
            return td_fail(TD_OPTION, "packing \"%s\" names dimension %d of shape %s twice; pass each axis once",
                           packing->name, at, td_shape_print(shape, text));
        seen[at] = true;
        if (packing->rule == TD_RULE_GGML && at != rank - 1)
            return td_fail(TD_OPTION,
                           "axis=%d of packing \"%s\" in a tensor of shape %s; ggml's blocks lie along the "
                           "last dimension, so leave axis= out, or transpose the tensor",
                           packing->axis[i], packing->name, td_shape_print(shape, text));
        if (packing->supers && shape->dim[at] % packing->super_block)
            return td_fail(TD_SHAPE,
                           "dimension %d of shape %s does not fill %" PRIu64 " elements, which share a super "
                           "scale (packing \"%s\"); pad the tensor",
                           at, td_shape_print(shape, text), packing->super_block, packing->name);
        const uint64_t size = packing->block[i] == TD_BLOCK_ALL ? shape->dim[at] : packing->block[i];
        if (packing->whole_blocks && shape->dim[at] % size)
            return td_fail(TD_SHAPE,
                           "dimension %d of shape %s does not fill blocks of %" PRIu64
                           " (packing \"%s\", tail=error); pass another block=, or tail=short",
                           at, td_shape_print(shape, text), size, packing->name);
        out.dim[at] = size < shape->dim[at] ? size : shape->dim[at];
    }
    *block = out;
    return TD_OK;
}

td_shape td_blocks_count(const td_shape *shape, const td_shape *block)
{
    td_shape out = {.rank = shape->rank};
    for (size_t d = 0; d < shape->rank; d++)
        out.dim[d] = (shape->dim[d] - 1) / block->dim[d] + 1;
    return out;
}

void td_blocks_forms(const td_packing *packing, const td_shape *shape, const td_shape *block, td_part_form *forms)
{
    const td_shape blocks = td_blocks_count(shape, block);
    forms[0] = (td_part_form){"elems", packing->elem, *shape};
    forms[1] = (td_part_form){"scales", packing->scale, blocks};
    if (packing->zeros)
        forms[2] = (td_part_form){"zeros", packing->zero, blocks};
    if (packing->global != TD_GLOBAL_NONE)
        forms[3] = (td_part_form){.name = "global", .dtype = dtype_f32};
    if (packing->rule == TD_RULE_GGML)
        td_ggml_forms(packing, &blocks, forms);
}
