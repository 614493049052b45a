/* .npy files in and out. The facade in file.c calls it, and npz.c for members. It refuses files that are shorter
 * or longer than their shape says, extents of 0, and values that the asked dtype does not hold. */
#include "files/elements.h"
#include "files/tensor/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The tensor's dtype: what the file says, or what the caller says its bytes mean. */
static td_status choose_dtype(const td_npy_header *h, const td_dtype *as, td_dtype *out)
{
    if (as) {
        char name[TD_DTYPE_NAME_BYTES];
        td_dtype_print(*as, name);
        if (as->bytes != h->elem_bytes)
            return td_fail(TD_DTYPE,
                           "dtype %s lies in %u bytes per element, the file ('%s') has %u; pass a dtype of %u bytes",
                           name, as->bytes, h->descr, h->elem_bytes, h->elem_bytes);
        *out = *as;
        return TD_OK;
    }
    char name[TD_DTYPE_NAME_BYTES];
    switch (h->kind) {
    case 'V':
        return td_fail(TD_DTYPE,
                       "the array ('%s') does not say what its %u bytes per element mean; pass a dtype, such as %s",
                       h->descr, h->elem_bytes,
                       h->elem_bytes == 2   ? "bf16"
                       : h->elem_bytes == 1 ? "u8"
                                            : "i32");
    case 'b':
        return td_dtype_parse("u1", out);
    default:
        snprintf(name, sizeof name, "%c%u", h->kind, 8u * h->elem_bytes);
        return td_dtype_parse(name, out);
    }
}

td_status td_npy_read(td_file_map *file, const td_dtype *as, td_tensor **out)
{
    td_npy_header h = {0};
    td_dtype dtype = {0};
    uint64_t elems = 0;
    uint64_t bytes = 0;
    td_status status = td_npy_parse(file->bytes, file->size, &h);
    if (status == TD_OK)
        status = choose_dtype(&h, as, &dtype);
    if (status == TD_OK)
        status = td_shape_check(&h.shape, dtype, &elems, &bytes);
    if (status != TD_OK)
        return status;
    if (bytes != file->size - h.data_offset) {
        char text[TD_SHAPE_TEXT_BYTES];
        return td_fail(TD_FORMAT, "shape %s of '%s' needs %" PRIu64 " bytes of data, the file has %zu; it is %s",
                       td_shape_print(&h.shape, text), h.descr, bytes, file->size - h.data_offset,
                       bytes > file->size - h.data_offset ? "cut short" : "not one array");
    }

    td_elements e = {.dtype = dtype, .shape = h.shape, .fortran = h.fortran_order};
    e.swap = h.order == '>' && h.kind != 'V'; /* numpy gives V no byte order */
    return td_elements_open(file, h.data_offset, &e, out);
}

/* -- writing -- */

size_t td_npy_header_print(const td_tensor *tensor, unsigned char *header)
{
    /* numpy has no name for bf16 and the like: V and the bytes say nothing more than that. Narrow integers are written
     * as the integers they lie in. */
    td_dtype dtype = tensor->dtype;
    bool named = dtype.kind != TD_KIND_FLOAT || (dtype.bits == 64 && dtype.exp_bits == 11) ||
                 (dtype.bits == 32 && dtype.exp_bits == 8) || (dtype.bits == 16 && dtype.exp_bits == 5);
    const char *kind = !named ? "V" : dtype.kind == TD_KIND_FLOAT ? "f" : dtype.kind == TD_KIND_INT ? "i" : "u";
    char text[128 + TD_SHAPE_TEXT_BYTES];
    int used = snprintf(text, sizeof text, "{'descr': '%s%s%u', 'fortran_order': False, 'shape': (",
                        dtype.bytes == 1 ? "|" : "<", kind, dtype.bytes);
    for (size_t d = 0; d < tensor->shape.rank; d++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%" PRIu64, d ? ", " : "", tensor->shape.dim[d]);
    used += snprintf(text + used, sizeof text - (size_t)used, "%s), }", tensor->shape.rank == 1 ? "," : "");

    /* The limit on the rank keeps the header far below the 65535 bytes of version 1. Data begins at a multiple of 64.
     */
    size_t total = (10 + (size_t)used + 1 + 63) / 64 * 64;
    size_t length = total - 10;
    static const unsigned char magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(header, magic, sizeof magic);
    header[8] = (unsigned char)(length & 0xff);
    header[9] = (unsigned char)(length >> 8);
    memcpy(header + 10, text, (size_t)used);
    memset(header + 10 + used, ' ', length - (size_t)used - 1);
    header[total - 1] = '\n';
    return total;
}

void td_npy_write(const td_tensor *tensor, td_writer *writer)
{
    unsigned char header[TD_NPY_HEADER_BYTES];
    td_writer_put(writer, header, td_npy_header_print(tensor, header));
    td_writer_put(writer, tensor->data, (size_t)tensor->elems * tensor->dtype.bytes);
}
