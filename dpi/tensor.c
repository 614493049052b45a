/* Tensors for SystemVerilog: life, files, generators, and elements one by one or in chunks of 32-bit words. A chunk has
 * one word per element, two (low first) for elements of more than 32 bits; signed elements are sign-extended into them.
 */
#include "handles.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <svdpi.h>

#define CHUNK_WORDS 256

static int keep(td_status status, td_tensor *tensor, td_dpi_u64 *handle, const char **message)
{
    *handle = 0;
    if (status)
        return td_dpi_done(status, message);
    status = td_dpi_handle_create(TD_DPI_TENSOR, tensor, handle, message);
    if (status) {
        td_tensor_destroy(&tensor);
        return (int)status;
    }
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_tensor_create(const char *dtype, const char *shape, td_dpi_u64 *handle, const char **message)
{
    td_tensor *tensor = NULL;
    td_shape parsed;
    td_status status = td_shape_parse(shape, &parsed);
    if (!status)
        status = td_tensor_create(dtype, parsed, &tensor);
    return keep(status, tensor, handle, message);
}

TD_API int td_dpi_tensor_open(const char *path, const char *dtype, td_dpi_u64 *handle, const char **message)
{
    td_tensor *tensor = NULL;
    td_status status = td_tensor_open(path, *dtype ? dtype : NULL, &tensor);
    return keep(status, tensor, handle, message);
}

TD_API int td_dpi_tensor_destroy(td_dpi_u64 handle, const char **message)
{
    void *object = NULL;
    td_status status = td_dpi_handle_take("tensor_destroy", TD_DPI_TENSOR, handle, &object, message);
    if (status)
        return (int)status;
    td_tensor *tensor = object;
    td_tensor_destroy(&tensor);
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_tensor_save(td_dpi_u64 handle, const char *path, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_all("tensor_save", &claim, 1, message);
    if (status)
        return (int)status;
    status = td_tensor_save(claim.object, path);
    td_dpi_release(&claim, 1);
    return td_dpi_done(status, message);
}

/* The texts are copied while the tensor is claimed: the simulator reads them after this returns. */
TD_API int td_dpi_tensor_info(td_dpi_u64 handle, const char **dtype, const char **shape, td_dpi_u64 *elems,
                              int *words_per_elem, const char **message)
{
    static _Thread_local char dtype_text[16];
    static _Thread_local char shape_text[TD_MAX_RANK * 21 + 1];
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    *dtype = *shape = "";
    *elems = 0;
    *words_per_elem = 0;
    td_status status = td_dpi_claim_all("tensor_info", &claim, 1, message);
    if (status)
        return (int)status;
    td_shape dims = td_tensor_shape(claim.object);
    size_t used = 0;
    shape_text[0] = '\0';
    for (size_t i = 0; i < dims.rank; i++)
        used += (size_t)snprintf(shape_text + used, sizeof shape_text - used, "%s%llu", i ? " " : "",
                                 (td_dpi_u64)dims.dim[i]);
    snprintf(dtype_text, sizeof dtype_text, "%s", td_tensor_dtype(claim.object));
    *dtype = dtype_text;
    *shape = shape_text;
    *elems = td_tensor_elems(claim.object);
    *words_per_elem = td_tensor_elem_bytes(claim.object) == 8 ? 2 : 1;
    td_dpi_release(&claim, 1);
    return td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_tensor_fill_ramp(td_dpi_u64 handle, double start, double step, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_all("tensor_fill_ramp", &claim, 1, message);
    if (status)
        return (int)status;
    status = td_tensor_fill_ramp(claim.object, start, step);
    td_dpi_release(&claim, 1);
    return td_dpi_done(status, message);
}

TD_API int td_dpi_tensor_fill_random(td_dpi_u64 handle, td_dpi_u64 seed, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_all("tensor_fill_random", &claim, 1, message);
    if (status)
        return (int)status;
    status = td_tensor_fill_random(claim.object, seed);
    td_dpi_release(&claim, 1);
    return td_dpi_done(status, message);
}

TD_API int td_dpi_tensor_get_bits(td_dpi_u64 handle, td_dpi_u64 elem, td_dpi_u64 *bits, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    uint64_t value = 0;
    *bits = 0;
    td_status status = td_dpi_claim_all("tensor_get_bits", &claim, 1, message);
    if (status)
        return (int)status;
    status = td_tensor_get_bits(claim.object, elem, &value);
    td_dpi_release(&claim, 1);
    *bits = value;
    return td_dpi_done(status, message);
}

TD_API int td_dpi_tensor_set_bits(td_dpi_u64 handle, td_dpi_u64 elem, td_dpi_u64 bits, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_all("tensor_set_bits", &claim, 1, message);
    if (status)
        return (int)status;
    status = td_tensor_set_bits(claim.object, elem, bits);
    td_dpi_release(&claim, 1);
    return td_dpi_done(status, message);
}

static td_status check_chunk(const char *call, const td_tensor *tensor, td_dpi_u64 first, int count,
                             const char **message)
{
    int words_per_elem = td_tensor_elem_bytes(tensor) == 8 ? 2 : 1;
    uint64_t elems = td_tensor_elems(tensor);
    if (count < 1 || count > CHUNK_WORDS / words_per_elem)
        return (td_status)td_dpi_fail(TD_ARGUMENT, message, "tensor_%s: a chunk of %d elements of %s; pass 1 to %d",
                                      call, count, td_tensor_dtype(tensor), CHUNK_WORDS / words_per_elem);
    if (first > elems || (uint64_t)count > elems - first)
        return (td_status)td_dpi_fail(
            TD_RANGE, message, "tensor_%s: elements %llu to %llu of a tensor of %llu elements; end at %llu", call,
            first, first + (td_dpi_u64)count - 1, (td_dpi_u64)elems, (td_dpi_u64)elems - 1);
    return TD_OK;
}

static uint64_t chunk_value(const svBitVecVal *chunk, int i, bool two_words, bool is_signed)
{
    if (two_words)
        return (uint64_t)chunk[2 * i + 1] << 32 | chunk[2 * i];
    return is_signed ? (uint64_t)(int64_t)(int32_t)chunk[i] : chunk[i];
}

/* Elements [first, first + count) from a chunk. With `commit` 0 only the checks are made: a caller with more than one
 * chunk checks them all before the first is written. */
TD_API int td_dpi_tensor_put_chunk(td_dpi_u64 handle, td_dpi_u64 first, int count, int commit, const svBitVecVal *chunk,
                                   const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_all("tensor_set_chunk", &claim, 1, message);
    if (status)
        return (int)status;
    td_tensor *tensor = claim.object;
    unsigned bits = td_tensor_elem_bits(tensor);
    uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t sign = td_tensor_dtype(tensor)[0] == 'i' ? (uint64_t)1 << (bits - 1) : 0;
    bool two_words = td_tensor_elem_bytes(tensor) == 8;
    status = check_chunk("set_chunk", tensor, first, count, message);
    for (int i = 0; i < count && !status; i++) {
        uint64_t value = chunk_value(chunk, i, two_words, sign != 0);
        /* Own bits with zeros above, or a negative number sign-extended. */
        if (value > mask && (!(value & sign) || (value | mask) != UINT64_MAX))
            status = (td_status)td_dpi_fail(
                TD_RANGE, message,
                "tensor_set_chunk: element %llu is 0x%llx, more than the %u bits of %s; clear the bits above",
                first + (td_dpi_u64)i, (td_dpi_u64)value, bits, td_tensor_dtype(tensor));
    }
    bool own_message = status != TD_OK;
    for (int i = 0; i < count && !status && commit; i++)
        status = td_tensor_set_bits(tensor, first + (td_dpi_u64)i, chunk_value(chunk, i, two_words, sign != 0) & mask);
    td_dpi_release(&claim, 1);
    return own_message ? (int)status : td_dpi_done(status, message);
}

/* Elements [first, first + count) into a chunk; words past them stay. */
TD_API int td_dpi_tensor_get_chunk(td_dpi_u64 handle, td_dpi_u64 first, int count, svBitVecVal *chunk,
                                   const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_all("tensor_get_chunk", &claim, 1, message);
    if (status)
        return (int)status;
    status = check_chunk("get_chunk", claim.object, first, count, message);
    if (!status) {
        size_t bytes = td_tensor_elem_bytes(claim.object);
        size_t words_per_elem = bytes == 8 ? 2 : 1;
        bool is_signed = td_tensor_dtype(claim.object)[0] == 'i';
        const unsigned char *data = (const unsigned char *)td_tensor_data_const(claim.object) + first * bytes;
        for (int i = 0; i < count; i++) {
            uint64_t value = 0;
            memcpy(&value, data + (size_t)i * bytes, bytes);
            if (bytes == 1 && is_signed)
                value = (uint64_t)(int8_t)value;
            if (bytes == 2 && is_signed)
                value = (uint64_t)(int16_t)value;
            memcpy(chunk + (size_t)i * words_per_elem, &value, words_per_elem * sizeof *chunk);
        }
        *message = "";
    }
    td_dpi_release(&claim, 1);
    return (int)status;
}
