/* Tensors: owned and mapped storage, and single elements. Callers are the facade, the file readers and the DPI layer.
 * It never converts between dtypes and never touches a memory; it refuses writes to a tensor that is mapped read-only.
 */
#include "tensor/tensor.h"

#include "base/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* From here on zero pages come from the system directly, where they may be huge. */
#define MAP_FROM_BYTES ((uint64_t)1 << 20)
#define LINE_BYTES ((size_t)64)

/* -- storage -- */

static td_tensor *new_header(td_dtype dtype, const td_shape *shape, uint64_t elems)
{
    td_tensor *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->dtype = dtype;
    t->shape = *shape;
    t->elems = elems;
    td_dtype_print(dtype, t->dtype_name);
    return t;
}

/* From a cache line on: a row that begins inside one costs kernels an access to two. */
static void *take_lines(size_t bytes, bool unset)
{
    const size_t whole = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    void *data = aligned_alloc(LINE_BYTES, whole);
    return data && !unset ? memset(data, 0, whole) : data;
}

/* Of zeros, or `unset` of anything. */
static td_status create(const char *dtype, td_shape shape, bool unset, td_tensor **out)
{
    if (!dtype || !out)
        return td_fail(TD_ARGUMENT,
                       "tensor_create: %s is NULL; pass a dtype name such as \"i16\" and a td_tensor pointer",
                       dtype ? "out" : "dtype");
    td_dtype type;
    uint64_t elems = 0;
    uint64_t bytes = 0;
    td_status status = td_dtype_parse(dtype, &type);
    if (status == TD_OK)
        status = td_shape_check(&shape, type, &elems, &bytes);
    if (status != TD_OK) {
        td_fail_prefix("tensor_create: ");
        return status;
    }

    td_tensor *t = new_header(type, &shape, elems);
    if (!t)
        return td_fail_alloc(sizeof *t);
    if (bytes >= MAP_FROM_BYTES) {
        t->map_bytes = (size_t)bytes;
        t->map = unset ? td_pages_reuse(&t->map_bytes) : td_pages_map(&t->map_bytes, true);
        t->data = t->map;
    } else {
        t->data = take_lines((size_t)bytes, unset);
    }
    if (!t->data) {
        free(t);
        td_fail_alloc((size_t)bytes);
        td_fail_prefix("tensor_create: ");
        return TD_NO_MEMORY;
    }
    *out = t;
    return TD_OK;
}

td_status td_tensor_create(const char *dtype, td_shape shape, td_tensor **out)
{
    return create(dtype, shape, false, out);
}

td_status td_tensor_create_unset(const char *dtype, td_shape shape, td_tensor **out)
{
    return create(dtype, shape, true, out);
}

td_status td_tensor_adopt_file(td_dtype dtype, const td_shape *shape, td_file_map *file, size_t offset, td_tensor **out)
{
    uint64_t elems = 0;
    uint64_t bytes = 0;
    td_tensor *t = NULL;
    td_status status = td_shape_check(shape, dtype, &elems, &bytes);
    if (status == TD_OK && (offset > file->size || bytes > file->size - offset))
        status = td_fail(TD_FORMAT, "the file holds %zu bytes, the shape needs %" PRIu64 " from offset %zu", file->size,
                         bytes, offset);
    if (status == TD_OK) {
        t = new_header(dtype, shape, elems);
        if (!t)
            status = td_fail_alloc(sizeof *t);
    }
    if (status != TD_OK) {
        td_file_unmap(file);
        return status;
    }
    const td_file_map taken = td_file_take(file);
    t->map = taken.map;
    t->map_bytes = taken.map_bytes;
    t->origin = taken.origin;
    t->data = (unsigned char *)(uintptr_t)taken.bytes + offset; /* read_only says that nobody writes through it */
    t->read_only = true;
    *out = t;
    return TD_OK;
}

void td_tensor_destroy(td_tensor **tensor)
{
    if (!tensor || !*tensor)
        return;
    td_record(&(td_recorded){.kind = TD_RECORDED_DESTROY, .tensor = *tensor});
    if ((*tensor)->map && (*tensor)->read_only)
        td_pages_unmap((*tensor)->map, (*tensor)->map_bytes); /* of a file */
    else if ((*tensor)->map)
        td_pages_keep((*tensor)->map, (*tensor)->map_bytes);
    else
        free((*tensor)->data);
    free((*tensor)->origin);
    free((*tensor)->name);
    free(*tensor);
    *tensor = NULL;
}

void *td_tensor_data(td_tensor *tensor)
{
    return tensor && !tensor->read_only ? tensor->data : NULL;
}

const void *td_tensor_data_const(const td_tensor *tensor)
{
    return tensor ? tensor->data : NULL;
}

const char *td_tensor_dtype(const td_tensor *tensor)
{
    return tensor ? tensor->dtype_name : "";
}

td_shape td_tensor_shape(const td_tensor *tensor)
{
    return tensor ? tensor->shape : (td_shape){0};
}

const char *td_tensor_name(const td_tensor *tensor)
{
    return tensor && tensor->name ? tensor->name : "";
}

td_status td_tensor_reshape(td_tensor *tensor, td_shape shape)
{
    uint64_t elems = 0, bytes = 0;
    if (!tensor)
        return td_fail(TD_ARGUMENT, "tensor_reshape: tensor is NULL; pass one from td_tensor_create or td_tensor_open");
    td_status status = td_shape_check(&shape, tensor->dtype, &elems, &bytes);
    if (status) {
        td_fail_prefix("tensor_reshape: ");
        return status;
    }
    if (elems != tensor->elems) {
        char now[TD_SHAPE_TEXT_BYTES], then[TD_SHAPE_TEXT_BYTES];
        return td_fail(TD_SHAPE,
                       "tensor_reshape: shape %s has %" PRIu64 " elements, the tensor %s has %" PRIu64
                       "; pass a shape of as many",
                       td_shape_print(&shape, then), elems, td_shape_print(&tensor->shape, now), tensor->elems);
    }
    tensor->shape = shape;
    return TD_OK;
}

td_status td_tensor_set_name(td_tensor *tensor, const char *name)
{
    if (!tensor)
        return td_fail(TD_ARGUMENT,
                       "tensor_set_name: tensor is NULL; pass one from td_tensor_create or td_tensor_open");
    char *copy = name && *name ? strdup(name) : NULL;
    if (name && *name && !copy)
        return td_fail_alloc(strlen(name) + 1);
    free(tensor->name);
    tensor->name = copy;
    return TD_OK;
}

uint64_t td_tensor_elems(const td_tensor *tensor)
{
    return tensor ? tensor->elems : 0;
}

size_t td_tensor_elem_bytes(const td_tensor *tensor)
{
    return tensor ? tensor->dtype.bytes : 0;
}

unsigned td_tensor_elem_bits(const td_tensor *tensor)
{
    return tensor ? tensor->dtype.bits : 0;
}

/* -- elements -- */

static td_status check_elem(const char *call, const td_tensor *tensor, uint64_t elem)
{
    if (!tensor)
        return td_fail(TD_ARGUMENT, "%s: tensor is NULL; pass one from td_tensor_create or td_tensor_open", call);
    if (elem >= tensor->elems) {
        char text[TD_SHAPE_TEXT_BYTES];
        return td_fail(TD_RANGE,
                       "%s: element %" PRIu64 " of a tensor of %" PRIu64 " elements, shape %s; the last is %" PRIu64,
                       call, elem, tensor->elems, td_shape_print(&tensor->shape, text), tensor->elems - 1);
    }
    return TD_OK;
}

td_status td_tensor_check_writable(const char *call, const td_tensor *tensor)
{
    if (!tensor)
        return td_fail(TD_ARGUMENT, "%s: tensor is NULL; pass one from td_tensor_create or td_tensor_open", call);
    if (tensor->read_only)
        return td_fail(TD_ARGUMENT,
                       "%s: the tensor is mapped read-only from a file; copy it into one from td_tensor_create", call);
    return TD_OK;
}

td_status td_tensor_get_bits(const td_tensor *tensor, uint64_t elem, uint64_t *bits)
{
    td_status status = check_elem("tensor_get_bits", tensor, elem);
    if (status != TD_OK)
        return status;
    if (!bits)
        return td_fail(TD_ARGUMENT, "tensor_get_bits: bits is NULL; pass the address of a uint64_t");
    uint64_t value = 0;
    memcpy(&value, tensor->data + (size_t)elem * tensor->dtype.bytes, tensor->dtype.bytes);
    *bits = value & td_dtype_mask(tensor->dtype);
    return TD_OK;
}

td_status td_tensor_set_bits(td_tensor *tensor, uint64_t elem, uint64_t bits)
{
    td_status status = td_tensor_check_writable("tensor_set_bits", tensor);
    if (status == TD_OK)
        status = check_elem("tensor_set_bits", tensor, elem);
    if (status != TD_OK)
        return status;
    if (bits & ~td_dtype_mask(tensor->dtype))
        return td_fail(TD_RANGE,
                       "tensor_set_bits: 0x%" PRIx64
                       " has bits above the %u of %s; pass the element's own bits, zero-extended",
                       bits, tensor->dtype.bits, tensor->dtype_name);
    uint64_t stored = td_dtype_extend(tensor->dtype, bits);
    memcpy(tensor->data + (size_t)elem * tensor->dtype.bytes, &stored, tensor->dtype.bytes);
    return TD_OK;
}
