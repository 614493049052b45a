/* See operand.h. A broadcast operand is a few loop nodes with strides in the second tensor; nothing is copied but short
 * runs, into the caller's scratch. */
#include "tensor/operand.h"

#include "tensor/step_options.h"

#include <inttypes.h>
#include <string.h>

static td_status fail_broadcast(const td_shape *shape, const td_tensor *b)
{
    char one[TD_SHAPE_TEXT_BYTES], other[TD_SHAPE_TEXT_BYTES];
    return td_fail(
        TD_SHAPE,
        "shape %s cannot be broadcast into %s; from the last dimension on every extent has to be equal or 1, "
        "or pass axis=N for a vector along dimension N",
        td_shape_print(&b->shape, one), td_shape_print(shape, other));
}

/* A dimension more, from the innermost outwards; one that goes on where the last ends is part of it. */
static void add_node(td_operand *o, uint64_t extent, uint64_t stride)
{
    if (extent == 1)
        return;
    if (o->count) {
        const uint64_t inner = o->node[o->count - 1].extent, step = o->node[o->count - 1].stride;
        if (step * inner == stride && (step || !stride)) {
            o->node[o->count - 1].extent *= extent;
            return;
        }
    }
    o->node[o->count].extent = extent;
    o->node[o->count++].stride = stride;
}

td_status td_operand_bind(const td_shape *shape, td_dtype dtype, const td_tensor *b, const char *options,
                          td_operand *out)
{
    td_step_words w;
    const td_status status = td_step_options_read(options, &w);
    if (status)
        return status;
    if (!td_dtype_equal(dtype, b->dtype)) {
        char name[TD_DTYPE_NAME_BYTES];
        td_dtype_print(dtype, name);
        return td_fail(TD_DTYPE, "the second tensor is %s, the first %s; convert one of them first", b->dtype_name,
                       name);
    }
    if (w.has_axis && (w.axis >= shape->rank || b->elems != shape->dim[w.axis])) {
        char one[TD_SHAPE_TEXT_BYTES], other[TD_SHAPE_TEXT_BYTES];
        return td_fail(TD_SHAPE,
                       "axis=%" PRIu64 ": shape %s is no vector along that dimension of %s; pass one of its length",
                       w.axis, td_shape_print(&b->shape, one), td_shape_print(shape, other));
    }
    td_operand o = {.data = b->data, .bytes = dtype.bytes};
    uint64_t stride = 1;
    for (size_t i = 0; i < shape->rank; i++) {
        const size_t d = shape->rank - 1 - i;
        uint64_t extent = i < b->shape.rank ? b->shape.dim[b->shape.rank - 1 - i] : 1;
        if (w.has_axis)
            extent = d == w.axis ? b->elems : 1;
        if (extent != 1 && extent != shape->dim[d])
            return fail_broadcast(shape, b);
        add_node(&o, shape->dim[d], extent == 1 ? 0 : stride);
        stride *= extent;
    }
    if (!w.has_axis && stride != b->elems) /* more dimensions than the shape has */
        return fail_broadcast(shape, b);
    for (size_t i = 0; i < o.count / 2; i++) {
        const uint64_t extent = o.node[i].extent, step = o.node[i].stride;
        o.node[i] = o.node[o.count - 1 - i];
        o.node[o.count - 1 - i].extent = extent;
        o.node[o.count - 1 - i].stride = step;
    }
    *out = o;
    return TD_OK;
}

/* Shorter runs are cheaper put together than taken one by one. */
#define SHORT_RUN 64

size_t td_operand_run(const td_operand *o, uint64_t first, size_t n)
{
    if (!o->count || o->node[o->count - 1].extent < SHORT_RUN)
        return n;
    const uint64_t extent = o->node[o->count - 1].extent, left = extent - first % extent;
    return left < n ? (size_t)left : n;
}

/* The number in b of an element of the shape. */
static uint64_t place_of(const td_operand *o, uint64_t elem)
{
    uint64_t place = 0;
    for (size_t i = o->count; i-- > 0; elem /= o->node[i].extent)
        place += elem % o->node[i].extent * o->node[i].stride;
    return place;
}

const void *td_operand_at(const td_operand *o, uint64_t first, size_t n, void *scratch, bool *one)
{
    unsigned char *out = scratch;
    const unsigned bytes = o->bytes;
    const uint64_t extent = o->count ? o->node[o->count - 1].extent : UINT64_MAX;
    const bool repeats = !o->count || o->node[o->count - 1].stride == 0;
    *one = false;
    if (n <= extent - first % extent) {
        *one = repeats;
        return o->data + place_of(o, first) * bytes;
    }
    for (size_t done = 0, some = 0; done < n; done += some) {
        const uint64_t left = extent - (first + done) % extent;
        const unsigned char *from = o->data + place_of(o, first + done) * bytes;
        some = left < n - done ? (size_t)left : n - done;
        for (size_t i = 0; repeats && i < some; i++)
            memcpy(out + (done + i) * bytes, from, bytes);
        if (!repeats)
            memcpy(out + done * bytes, from, some * bytes);
    }
    return scratch;
}
