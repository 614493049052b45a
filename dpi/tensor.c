/* Tensors for SystemVerilog: life, files, generators, conversion, and elements one by one. Many elements at once are in
 * list.c. */
#include "handles.h"

#include <stdint.h>
#include <stdio.h>
#include <svdpi.h>

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
    td_status status = td_dpi_claim_one("tensor_save", &claim, message);
    if (status)
        return (int)status;
    status = td_tensor_save(claim.object, path);
    return td_dpi_end(&claim, 1, status, message);
}

/* The texts are copied while the tensor is claimed: the simulator reads them after this returns. */
TD_API int td_dpi_tensor_info(td_dpi_u64 handle, const char **dtype, const char **shape, td_dpi_u64 *elems,
                              int *words_per_elem, const char **message)
{
    static _Thread_local char dtype_text[16];                   /* no name has more than 7 letters */
    static _Thread_local char shape_text[TD_MAX_RANK * 21 + 1]; /* 20 digits and a space for each */
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    *dtype = *shape = "";
    *elems = 0;
    *words_per_elem = 0;
    td_status status = td_dpi_claim_one("tensor_info", &claim, message);
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
    td_status status = td_dpi_claim_one("tensor_fill_ramp", &claim, message);
    if (status)
        return (int)status;
    status = td_tensor_fill_ramp(claim.object, start, step);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_tensor_fill_random(td_dpi_u64 handle, td_dpi_u64 seed, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_one("tensor_fill_random", &claim, message);
    if (status)
        return (int)status;
    status = td_tensor_fill_random(claim.object, seed);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_tensor_fill_coordinates(td_dpi_u64 handle, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_one("tensor_fill_coordinates", &claim, message);
    if (status)
        return (int)status;
    status = td_tensor_fill_coordinates(claim.object);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_tensor_fill(td_dpi_u64 handle, const char *what, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_one("tensor_fill", &claim, message);
    if (status)
        return (int)status;
    status = td_tensor_fill(claim.object, what);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_tensor_reshape(td_dpi_u64 handle, const char *shape, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_shape parsed;
    td_status status = td_dpi_claim_one("tensor_reshape", &claim, message);
    if (status)
        return (int)status;
    status = td_shape_parse(shape, &parsed);
    if (!status)
        status = td_tensor_reshape(claim.object, parsed);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_tensor_name(td_dpi_u64 handle, const char **name, const char **message)
{
    static _Thread_local char *kept;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    *name = "";
    td_status status = td_dpi_claim_one("tensor_name", &claim, message);
    if (status)
        return (int)status;
    status = td_dpi_keep(&kept, td_tensor_name(claim.object), name, message);
    td_dpi_release(&claim, 1);
    return status ? (int)status : td_dpi_done(TD_OK, message);
}

TD_API int td_dpi_tensor_set_name(td_dpi_u64 handle, const char *name, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_one("tensor_set_name", &claim, message);
    if (status)
        return (int)status;
    status = td_tensor_set_name(claim.object, name);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_tensor_get_bits(td_dpi_u64 handle, td_dpi_u64 elem, td_dpi_u64 *bits, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    uint64_t value = 0;
    *bits = 0;
    td_status status = td_dpi_claim_one("tensor_get_bits", &claim, message);
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
    td_status status = td_dpi_claim_one("tensor_set_bits", &claim, message);
    if (status)
        return (int)status;
    status = td_tensor_set_bits(claim.object, elem, bits);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_tensor_get_real(td_dpi_u64 handle, td_dpi_u64 elem, double *value, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    *value = 0;
    td_status status = td_dpi_claim_one("tensor_get_real", &claim, message);
    if (status)
        return (int)status;
    status = td_tensor_get_real(claim.object, elem, value);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_tensor_set_real(td_dpi_u64 handle, td_dpi_u64 elem, double value, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_status status = td_dpi_claim_one("tensor_set_real", &claim, message);
    if (status)
        return (int)status;
    status = td_tensor_set_real(claim.object, elem, value);
    return td_dpi_end(&claim, 1, status, message);
}

TD_API int td_dpi_tensor_convert(td_dpi_u64 handle, const char *as, td_dpi_u64 *converted, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    td_tensor *tensor = NULL;
    *converted = 0;
    td_status status = td_dpi_claim_one("tensor_convert", &claim, message);
    if (status)
        return (int)status;
    status = td_tensor_convert(claim.object, as, &tensor);
    td_dpi_release(&claim, 1);
    return keep(status, tensor, converted, message);
}

/* The simulator reads the text after this returns: the next call on this thread frees it. */
TD_API int td_dpi_tensor_text(td_dpi_u64 handle, const char **text, const char **message)
{
    static _Thread_local char *last;
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR};
    *text = "";
    td_status status = td_dpi_claim_one("tensor_text", &claim, message);
    if (status)
        return (int)status;
    td_free(last);
    last = NULL;
    status = td_tensor_text(claim.object, &last);
    td_dpi_release(&claim, 1);
    if (!status)
        *text = last;
    return td_dpi_done(status, message);
}

/* A null handle takes the name away. */
TD_API int td_dpi_scales_set(const char *name, td_dpi_u64 handle, const char **message)
{
    td_dpi_claim claim = {.handle = handle, .kind = TD_DPI_TENSOR, .optional = true};
    td_status status = td_dpi_claim_all("scales_set", &claim, 1, message);
    if (status)
        return (int)status;
    status = td_scales_set(name, claim.object);
    return td_dpi_end(&claim, 1, status, message);
}
