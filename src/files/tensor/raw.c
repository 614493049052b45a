/* Tensors in raw binary: row-major elements and nothing else, so the name says what they are, as
 * raw,dtype=f32,shape=2x3:FILE. Without a shape it is one dimension of all that the file holds. Little endian unless
 * endian=big. Refuses a file that is shorter or longer than its shape. */
#include "files/elements.h"
#include "files/tensor/formats.h"

#include <inttypes.h>

td_status td_raw_tensor_read(td_file_map *file, const td_file_options *options, const td_dtype *as, td_tensor **out)
{
    if (!as)
        return td_fail(TD_DTYPE, "a raw file does not say what its bytes mean; pass a dtype, as raw,dtype=f32:FILE");
    char name[TD_DTYPE_NAME_BYTES];
    td_dtype_print(*as, name);
    td_elements e = {.dtype = *as, .shape = options->shape, .swap = options->big_endian};
    if (options->offset_bytes >= file->size)
        return td_fail(TD_FORMAT, "the file has %zu bytes, the data begins at offset %" PRIu64 "; it is cut short",
                       file->size, options->offset_bytes);
    size_t offset = (size_t)options->offset_bytes;
    uint64_t there = file->size - offset;
    if (!options->has_shape) {
        if (there % as->bytes != 0)
            return td_fail(TD_FORMAT,
                           "%" PRIu64 " bytes are not whole elements of %u bytes (%s); the file is cut short, or of "
                           "another dtype",
                           there, as->bytes, name);
        e.shape = (td_shape){1, {there / as->bytes}};
    }
    uint64_t elems = 0;
    uint64_t bytes = 0;
    td_status status = td_shape_check(&e.shape, *as, &elems, &bytes);
    if (status != TD_OK)
        return status;
    if (bytes != there) {
        char text[TD_SHAPE_TEXT_BYTES];
        return td_fail(TD_FORMAT, "shape %s of %s needs %" PRIu64 " bytes of data, the file has %" PRIu64 "; %s",
                       td_shape_print(&e.shape, text), name, bytes, there,
                       bytes > there ? "it is cut short, or of another shape" : "pass its shape");
    }
    return td_elements_open(file, offset, &e, out);
}

td_status td_raw_tensor_write(const td_tensor *tensor, const td_file_options *options, td_writer *writer)
{
    size_t bytes = tensor->dtype.bytes;
    if (!options->big_endian) {
        td_writer_put(writer, tensor->data, (size_t)tensor->elems * bytes);
        return TD_OK;
    }
    for (uint64_t i = 0; i < tensor->elems; i++)
        for (size_t b = bytes; b > 0; b--)
            *td_writer_reserve(writer, 1) = tensor->data[(size_t)i * bytes + b - 1];
    return TD_OK;
}
