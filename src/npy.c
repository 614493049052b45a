/* .npy files in and out. The facade in file.c calls it. A file whose bytes are already those of the tensor stays
 * mapped; another byte order or Fortran order is moved once into an owned tensor. It refuses files that are shorter or
 * longer than their shape says, extents of 0, and values that the asked dtype does not hold. */
#include "formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* Elements of a tile that is turned in cache: 64 columns of 64 elements of up to 8 bytes are 32 KiB. */
#define TILE 64

/* -- the dtype -- */

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

INLINE uint64_t load_elem(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return value;
}

/* A dtype narrower than its bytes holds only some values; the kernels rely on the bits above being its extension. */
static td_status check_values(const unsigned char *data, uint64_t elems, td_dtype dtype)
{
    if (dtype.bits == 8u * dtype.bytes)
        return TD_OK;
    uint64_t mask = td_dtype_mask(dtype);
    uint64_t whole = dtype.bytes == 8 ? UINT64_MAX : ((uint64_t)1 << (8u * dtype.bytes)) - 1;
    for (uint64_t i = 0; i < elems; i++) {
        uint64_t bits = load_elem(data + (size_t)i * dtype.bytes, dtype.bytes);
        if (bits == (td_dtype_extend(dtype, bits & mask) & whole))
            continue;
        char name[TD_DTYPE_NAME_BYTES];
        td_dtype_print(dtype, name);
        return td_fail(TD_RANGE, "element %" PRIu64 " is 0x%0*" PRIx64 ", which %s does not hold; pass a wider dtype",
                       i, 2 * dtype.bytes, bits, name);
    }
    return TD_OK;
}

/* -- moving into an owned tensor -- */

INLINE uint64_t swapped(uint64_t value, size_t bytes)
{
    return __builtin_bswap64(value) >> (64 - 8 * bytes);
}

INLINE void copy_run(unsigned char *dst, const unsigned char *src, uint64_t count, size_t src_step, size_t bytes,
                     bool swap)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = load_elem(src + (size_t)i * src_step, bytes);
        value = swap ? swapped(value, bytes) : value;
        memcpy(dst + (size_t)i * bytes, &value, bytes);
    }
}

static void copy_swapped(unsigned char *dst, const unsigned char *src, uint64_t elems, size_t bytes)
{
    switch (bytes) {
    case 2:
        copy_run(dst, src, elems, 2, 2, true);
        break;
    case 4:
        copy_run(dst, src, elems, 4, 4, true);
        break;
    default:
        copy_run(dst, src, elems, 8, 8, true);
    }
}

/* One run along the last dimension, unit stride in the tensor, `src_step` bytes apart in the file. */
static void copy_column(unsigned char *dst, const unsigned char *src, uint64_t count, size_t src_step, size_t bytes,
                        bool swap)
{
    switch (bytes) {
    case 1:
        copy_run(dst, src, count, src_step, 1, false);
        break;
    case 2:
        copy_run(dst, src, count, src_step, 2, swap);
        break;
    case 4:
        copy_run(dst, src, count, src_step, 4, swap);
        break;
    default:
        copy_run(dst, src, count, src_step, 8, swap);
    }
}

/* Dimension 0 is the fast one in the file, the last one in the tensor: tiles over these two, an odometer over the
 * others. */
static void copy_fortran(unsigned char *dst, const unsigned char *src, const td_shape *shape, size_t bytes, bool swap)
{
    size_t last = shape->rank - 1;
    size_t dst_stride[TD_MAX_RANK] = {0};
    size_t src_stride[TD_MAX_RANK] = {0};
    size_t step = bytes;
    for (size_t d = 0; d <= last; d++) {
        src_stride[d] = step;
        step *= (size_t)shape->dim[d];
    }
    step = bytes;
    for (size_t d = last + 1; d-- > 0;) {
        dst_stride[d] = step;
        step *= (size_t)shape->dim[d];
    }
    uint64_t at[TD_MAX_RANK] = {0};
    for (;;) {
        for (uint64_t r = 0; r < shape->dim[0]; r += TILE)
            for (uint64_t c = 0; c < shape->dim[last]; c += TILE) {
                uint64_t rows = shape->dim[0] - r < TILE ? shape->dim[0] - r : TILE;
                uint64_t cols = shape->dim[last] - c < TILE ? shape->dim[last] - c : TILE;
                for (uint64_t i = r; i < r + rows; i++)
                    copy_column(dst + i * dst_stride[0] + c * dst_stride[last],
                                src + i * src_stride[0] + c * src_stride[last], cols, src_stride[last], bytes, swap);
            }
        size_t d = last; /* the odometer turns dimensions last - 1 down to 1 */
        while (--d > 0) {
            dst += dst_stride[d];
            src += src_stride[d];
            if (++at[d] < shape->dim[d])
                break;
            dst -= (size_t)shape->dim[d] * dst_stride[d];
            src -= (size_t)shape->dim[d] * src_stride[d];
            at[d] = 0;
        }
        if (d == 0)
            return;
    }
}

static td_status read_owned(const unsigned char *src, const td_npy_header *h, td_dtype dtype, bool fortran, bool swap,
                            td_tensor **out)
{
    char name[TD_DTYPE_NAME_BYTES];
    td_dtype_print(dtype, name);
    td_tensor *t = NULL;
    td_status status = td_tensor_create(name, h->shape, &t);
    if (status != TD_OK)
        return status;
    if (fortran)
        copy_fortran(t->data, src, &t->shape, dtype.bytes, swap);
    else if (swap)
        copy_swapped(t->data, src, t->elems, dtype.bytes);
    else
        memcpy(t->data, src, (size_t)t->elems * dtype.bytes);
    status = check_values(t->data, t->elems, dtype);
    if (status != TD_OK) {
        td_tensor_destroy(&t);
        return status;
    }
    *out = t;
    return TD_OK;
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

    size_t wide_dims = 0; /* with fewer than two, both orders are the same */
    for (size_t d = 0; d < h.shape.rank; d++)
        wide_dims += h.shape.dim[d] > 1;
    bool fortran = h.fortran_order && wide_dims > 1;
    bool swap = h.order == '>' && h.elem_bytes > 1 && h.kind != 'V'; /* numpy gives V no byte order */
    if (fortran || swap || h.data_offset % h.elem_bytes != 0)
        return read_owned(file->bytes + h.data_offset, &h, dtype, fortran, swap, out);

    status = check_values(file->bytes + h.data_offset, elems, dtype);
    if (status != TD_OK)
        return status;
    void *map = file->map;
    file->map = NULL;
    return td_tensor_adopt_map(dtype, &h.shape, map, file->size, h.data_offset, out);
}

/* -- writing -- */

void td_npy_write(const td_tensor *tensor, td_sink *sink)
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
    unsigned char *head = td_sink_room(sink, total);
    static const unsigned char magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(head, magic, sizeof magic);
    head[8] = (unsigned char)(length & 0xff);
    head[9] = (unsigned char)(length >> 8);
    memcpy(head + 10, text, (size_t)used);
    memset(head + 10 + used, ' ', length - (size_t)used - 1);
    head[total - 1] = '\n';
    td_sink_put(sink, tensor->data, (size_t)tensor->elems * dtype.bytes);
}
