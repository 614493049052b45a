/* Tensors with their elements in another order: transposed, and joined (td_tensor_transpose, td_tensor_concat); and the
 * copy of strided elements that slices are made by. Testbenches and programs call it. It refuses orders that are none,
 * and tensors that do not fit together. */
#include "base/record.h"
#include "kernels/move.h"
#include "tensor/slice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- strided copies ------------------------------------------------------------------------------------------------ */

/* Tiles of a transposition: columns of a few lines of the source, and rows that stay in the first-level cache. */
#define TILE_ROWS 256
#define TILE_COLS 64

typedef struct copier {
    const td_stride_node *node;
    size_t count;              /* of nodes that are walked */
    int64_t step[TD_MAX_RANK]; /* of dst, in elements */
    size_t unit;               /* the node that is contiguous in the source, where another is in dst */
    bool rows;                 /* the last node is contiguous on both sides */
    unsigned bytes;
    td_move_fn transpose; /* NULL: element by element */
} copier;

static void copy_elems(const unsigned char *src, unsigned char *dst, uint64_t extent, int64_t stride, unsigned bytes)
{
    switch (bytes) {
#define CASE(n)                                                                                                        \
    case n:                                                                                                            \
        for (uint64_t i = 0; i < extent; i++)                                                                          \
            memcpy(dst + i * (n), src + (int64_t)i * stride * (n), n);                                                 \
        break
        CASE(1);
        CASE(2);
        CASE(4);
        CASE(8);
    default:
        break;
    }
}

/* The unit node and the last one: a matrix, tile by tile. */
static void copy_transposed(const copier *c, const unsigned char *src, unsigned char *dst)
{
    const td_stride_node *last = &c->node[c->count - 1], *unit = &c->node[c->unit];
    const ptrdiff_t bytes = c->bytes, src_stride = last->stride * bytes, dst_stride = c->step[c->unit] * bytes;
    for (uint64_t r = 0; r < last->extent; r += TILE_ROWS)
        for (uint64_t k = 0; k < unit->extent; k += TILE_COLS)
            c->transpose(dst + (int64_t)k * dst_stride + (int64_t)r * bytes, dst_stride,
                         src + (int64_t)r * src_stride + (int64_t)k * bytes, src_stride,
                         (size_t)(last->extent - r < TILE_ROWS ? last->extent - r : TILE_ROWS),
                         (size_t)(unit->extent - k < TILE_COLS ? unit->extent - k : TILE_COLS), false);
}

static void copy_nodes(const copier *c, size_t n, const unsigned char *src, unsigned char *dst)
{
    if (n + 1 == c->count) {
        if (c->rows)
            memcpy(dst, src, c->node[n].extent * c->bytes);
        else if (c->transpose)
            copy_transposed(c, src, dst);
        else
            copy_elems(src, dst, c->node[n].extent, c->node[n].stride, c->bytes);
        return;
    }
    if (c->transpose && n == c->unit) {
        copy_nodes(c, n + 1, src, dst);
        return;
    }
    for (uint64_t i = 0; i < c->node[n].extent; i++)
        copy_nodes(c, n + 1, src + (int64_t)i * c->node[n].stride * c->bytes, dst + (int64_t)i * c->step[n] * c->bytes);
}

/* Drops what has one step and joins what goes on where the next ends; how many are left. */
static size_t fold(td_stride_node *node, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (node[i].extent == 1)
            continue;
        if (kept && node[kept - 1].stride == node[i].stride * (int64_t)node[i].extent) {
            node[kept - 1].extent *= node[i].extent;
            node[kept - 1].stride = node[i].stride;
        } else {
            node[kept++] = node[i];
        }
    }
    return kept;
}

void td_strided_copy(td_stride_node *node, size_t count, const unsigned char *src, unsigned char *dst,
                     unsigned elem_bytes)
{
    copier c = {.node = node, .count = fold(node, count), .bytes = elem_bytes};
    if (!c.count) {
        memcpy(dst, src, elem_bytes);
        return;
    }
    int64_t step = 1;
    for (size_t i = c.count; i-- > 0; step *= (int64_t)node[i].extent)
        c.step[i] = step;
    c.rows = node[c.count - 1].stride == 1;
    for (size_t i = 0; i + 1 < c.count && !c.rows; i++)
        if (node[i].stride == 1) {
            td_move_kernels k;
            td_move_init(&k, td_cpu_flags());
            c.unit = i;
            c.transpose = elem_bytes == 1   ? k.transpose_x8
                          : elem_bytes == 2 ? k.transpose_x16
                          : elem_bytes == 4 ? k.transpose_x32
                                            : k.transpose_x64;
        }
    copy_nodes(&c, 0, src, dst);
}

/* -- transpose ----------------------------------------------------------------------------------------------------- */

static td_status fail_order(const char *order, size_t rank)
{
    char example[4 * TD_MAX_RANK] = "", *end = example;
    for (size_t d = rank; d-- > 0;)
        end += sprintf(end, "%zu%s", d, d ? " " : "");
    return td_fail(TD_OPTION, "order \"%s\" does not have each dimension from 0 to %zu once; write it as \"%s\"", order,
                   rank ? rank - 1 : 0, example);
}

static td_status read_order(const char *order, size_t rank, size_t *out)
{
    bool seen[TD_MAX_RANK] = {false};
    size_t count = 0;
    for (size_t d = 0; d < rank; d++)
        out[d] = rank - 1 - d;
    if (!order || !*order)
        return TD_OK;
    for (const char *at = order + strspn(order, " \t,"); *at; at += strspn(at, " \t,")) {
        size_t number = 0;
        if (*at < '0' || *at > '9')
            return fail_order(order, rank);
        for (; *at >= '0' && *at <= '9'; at++)
            number = number < TD_MAX_RANK ? 10 * number + (size_t)(*at - '0') : number;
        if (number >= rank || seen[number])
            return fail_order(order, rank);
        seen[number] = true;
        out[count++] = number;
    }
    return count == rank ? TD_OK : fail_order(order, rank);
}

td_status td_tensor_transpose(const td_tensor *tensor, const char *order, td_tensor **out)
{
    size_t from[TD_MAX_RANK];
    int64_t stride[TD_MAX_RANK];
    td_stride_node node[TD_MAX_RANK];
    td_tensor *made = NULL;
    if (!tensor || !out)
        return td_fail(TD_ARGUMENT, "tensor_transpose: the %s is NULL; pass one", tensor ? "output" : "tensor");
    td_shape shape = tensor->shape;
    td_status status = read_order(order, shape.rank, from);
    int64_t step = 1;
    for (size_t d = shape.rank; d-- > 0; step *= (int64_t)shape.dim[d])
        stride[d] = step;
    for (size_t d = 0; !status && d < shape.rank; d++) {
        shape.dim[d] = tensor->shape.dim[from[d]];
        node[d] = (td_stride_node){shape.dim[d], stride[from[d]]};
    }
    if (!status)
        status = td_file_check(tensor->origin);
    if (!status)
        status = td_tensor_create_unset(tensor->dtype_name, shape, &made);
    if (status) {
        td_fail_prefix("tensor_transpose: ");
        return status;
    }
    td_strided_copy(node, shape.rank, tensor->data, made->data, tensor->dtype.bytes);
    *out = made;
    td_record(&(td_recorded){.kind = TD_RECORDED_TENSOR,
                             .text = "transpose",
                             .operand = &tensor,
                             .operands = 1,
                             .as = order && *order ? order : NULL,
                             .out = made});
    return TD_OK;
}

/* -- concat -------------------------------------------------------------------------------------------------------- */

/* Fits t beside `first` along the axis, and adds its extent there. */
static td_status fits_beside(const td_tensor *first, const td_tensor *t, size_t number, size_t axis, td_shape *shape)
{
    char one[TD_SHAPE_TEXT_BYTES], other[TD_SHAPE_TEXT_BYTES];
    if (!t)
        return td_fail(TD_ARGUMENT, "tensor %zu is NULL; pass one", number);
    if (!td_dtype_equal(first->dtype, t->dtype))
        return td_fail(TD_DTYPE, "tensor %zu is %s, the first %s; convert one of them first", number, t->dtype_name,
                       first->dtype_name);
    bool fits = t->shape.rank == first->shape.rank;
    for (size_t d = 0; fits && d < t->shape.rank; d++)
        fits = d == axis || t->shape.dim[d] == first->shape.dim[d];
    if (!fits)
        return td_fail(TD_SHAPE,
                       "tensor %zu has shape %s, the first %s; all extents but those of dimension %zu have to be equal",
                       number, td_shape_print(&t->shape, one), td_shape_print(&first->shape, other), axis);
    if (!td_add_fits(shape->dim[axis], t->shape.dim[axis], &shape->dim[axis]))
        return td_fail(TD_OVERFLOW, "dimension %zu passes 2^63 - 1; join fewer tensors", axis);
    return td_file_check(t->origin);
}

static td_status concat(const td_tensor *const *tensors, size_t count, size_t axis, td_tensor **out)
{
    td_tensor *made = NULL;
    if (axis >= tensors[0]->shape.rank)
        return td_fail(TD_ARGUMENT, "axis %zu of tensors of %zu dimensions; pass one from 0 on that they have", axis,
                       tensors[0]->shape.rank);
    td_shape shape = tensors[0]->shape;
    shape.dim[axis] = 0;
    for (size_t i = 0; i < count; i++) {
        const td_status status = fits_beside(tensors[0], tensors[i], i, axis, &shape);
        if (status)
            return status;
    }
    const td_status status = td_tensor_create_unset(tensors[0]->dtype_name, shape, &made);
    if (status)
        return status;
    size_t inner = made->dtype.bytes, outer = 1;
    for (size_t d = 0; d < shape.rank; d++) {
        inner *= d > axis ? (size_t)shape.dim[d] : 1;
        outer *= d < axis ? (size_t)shape.dim[d] : 1;
    }
    unsigned char *to = made->data;
    for (size_t row = 0; row < outer; row++)
        for (size_t i = 0; i < count; i++) {
            const size_t run = (size_t)tensors[i]->shape.dim[axis] * inner;
            memcpy(to, tensors[i]->data + row * run, run);
            to += run;
        }
    *out = made;
    return TD_OK;
}

td_status td_tensor_concat(const td_tensor *const *tensors, size_t count, size_t axis, td_tensor **out)
{
    if (!tensors || !count || !tensors[0] || !out)
        return td_fail(TD_ARGUMENT, "tensor_concat: %s; pass %s",
                       !out    ? "the output is NULL"
                       : count ? "tensor 0 is NULL"
                               : "no tensors to join",
                       !out ? "one" : "at least one tensor");
    char behind[32];
    const td_status status = concat(tensors, count, axis, out);
    snprintf(behind, sizeof behind, "axis %zu", axis);
    if (status)
        td_fail_prefix("tensor_concat: ");
    else
        td_record(&(td_recorded){.kind = TD_RECORDED_TENSOR,
                                 .text = "concat",
                                 .operand = tensors,
                                 .operands = count,
                                 .behind = behind,
                                 .out = *out});
    return status;
}
