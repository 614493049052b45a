/* Tensors by value: single elements as numbers. Part of the public header; a whole tensor in another dtype is
 * td_tensor_convert in backdoor/scales.c. */
#include "tensor/tensor.h"

#include <inttypes.h>
#include <string.h>

static td_status check_elem(const char *operation, const td_tensor *tensor, uint64_t elem)
{
    if (!tensor)
        return td_fail(TD_ARGUMENT, "%s: the tensor is NULL; create it first", operation);
    char shape[TD_SHAPE_TEXT_BYTES];
    if (elem >= tensor->elems)
        return td_fail(TD_RANGE,
                       "%s: element %" PRIu64 " of a tensor of %" PRIu64 " elements, shape %s; the last is %" PRIu64,
                       operation, elem, tensor->elems, td_shape_print(&tensor->shape, shape), tensor->elems - 1);
    return TD_OK;
}

static uint64_t elem_bits(const td_tensor *tensor, uint64_t elem)
{
    uint64_t bits = 0;
    memcpy(&bits, tensor->data + elem * tensor->dtype.bytes, tensor->dtype.bytes);
    return bits & td_dtype_mask(tensor->dtype);
}

td_status td_tensor_get_real(const td_tensor *tensor, uint64_t elem, double *value)
{
    const td_status status = check_elem("tensor_get_real", tensor, elem);
    if (!status)
        *value = td_dtype_to_real(tensor->dtype, elem_bits(tensor, elem));
    return status;
}

td_status td_tensor_set_real(td_tensor *tensor, uint64_t elem, double value)
{
    uint64_t bits = 0;
    td_status status = check_elem("tensor_set_real", tensor, elem);
    if (status)
        return status;
    if (tensor->read_only)
        return td_fail(
            TD_ARGUMENT,
            "tensor_set_real: the tensor is mapped read-only from a file; set elements of one made with tensor_create");
    status = td_dtype_from_real(tensor->dtype, value, &bits);
    if (status) {
        td_fail_prefix("tensor_set_real: ");
        return status;
    }
    bits = td_dtype_extend(tensor->dtype, bits);
    memcpy(tensor->data + elem * tensor->dtype.bytes, &bits, tensor->dtype.bytes);
    return TD_OK;
}
