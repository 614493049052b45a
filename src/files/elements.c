/* See elements.h. Called by the readers of tensor files, which know where the elements lie and in which order; it knows
 * nothing of files. Elements that are already those of a tensor stay where they are mapped; another byte order, Fortran
 * order or packed bits are moved once into an owned tensor. It refuses values that the dtype does not hold. */
#include "files/elements.h"

#include "kernels/bits.h"

#include <inttypes.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* The side of a tile that is transposed in cache: 64 columns of 64 elements of up to 8 bytes are 32 KiB. */
#define TILE 64

#define COPY_BELOW_BYTES ((uint64_t)1 << 20)

/* A dtype narrower than its bytes holds only some values; the kernels rely on the bits above being its extension. */
static td_status check_values(const unsigned char *data, uint64_t elems, td_dtype dtype)
{
    if (dtype.bits == 8u * dtype.bytes)
        return TD_OK;
    uint64_t mask = td_dtype_mask(dtype);
    uint64_t whole = dtype.bytes == 8 ? UINT64_MAX : ((uint64_t)1 << (8u * dtype.bytes)) - 1;
    for (uint64_t i = 0; i < elems; i++) {
        uint64_t bits = td_get_elem(data + (size_t)i * dtype.bytes, dtype.bytes);
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
        uint64_t value = td_get_elem(src + (size_t)i * src_step, (unsigned)bytes);
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
        size_t d = last; /* the odometer steps dimensions last - 1 down to 1 */
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

/* Elements of `bits` bits, the first at the least significant bit of the first byte. */
static void copy_packed(unsigned char *dst, const unsigned char *src, uint64_t elems, unsigned bits)
{
    unsigned mask = (1u << bits) - 1;
    unsigned held = 0;
    unsigned held_bits = 0;
    for (uint64_t i = 0; i < elems; i++) {
        if (held_bits < bits) {
            held |= (unsigned)*src++ << held_bits;
            held_bits += 8;
        }
        dst[i] = (unsigned char)(held & mask);
        held >>= bits;
        held_bits -= bits;
    }
}

static td_status open_owned(const unsigned char *src, const td_elements *e, td_tensor **out)
{
    char name[TD_DTYPE_NAME_BYTES];
    td_dtype_print(e->dtype, name);
    td_tensor *t = NULL;
    td_status status = td_tensor_create(name, e->shape, &t);
    if (status != TD_OK)
        return status;
    if (e->packed)
        copy_packed(t->data, src, t->elems, e->dtype.bits);
    else if (e->fortran)
        copy_fortran(t->data, src, &t->shape, e->dtype.bytes, e->swap);
    else
        copy_swapped(t->data, src, t->elems, e->dtype.bytes);
    status = e->packed ? TD_OK : check_values(t->data, t->elems, e->dtype);
    if (status != TD_OK) {
        td_tensor_destroy(&t);
        return status;
    }
    *out = t;
    return TD_OK;
}

static td_status open_copy(const unsigned char *src, const td_elements *e, uint64_t bytes, td_tensor **out)
{
    char name[TD_DTYPE_NAME_BYTES];
    td_dtype_print(e->dtype, name);
    td_tensor *t = NULL;
    td_status status = td_tensor_create(name, e->shape, &t);
    if (status != TD_OK)
        return status;
    memcpy(t->data, src, (size_t)bytes);
    t->read_only = true; /* like every tensor that lies in its file as it is */
    *out = t;
    return TD_OK;
}

td_status td_elements_open(td_file_map *file, size_t offset, const td_elements *e, td_tensor **out)
{
    td_elements plain = *e;
    size_t wide_dims = 0; /* with fewer than two, both orders are the same */
    for (size_t d = 0; d < e->shape.rank; d++)
        wide_dims += e->shape.dim[d] > 1;
    plain.fortran = e->fortran && wide_dims > 1;
    plain.swap = e->swap && e->dtype.bytes > 1;
    if (plain.fortran || plain.swap || plain.packed)
        return open_owned(file->bytes + offset, &plain, out);

    uint64_t elems = 0;
    uint64_t bytes = 0;
    td_status status = td_shape_check(&e->shape, e->dtype, &elems, &bytes);
    if (status == TD_OK)
        status = check_values(file->bytes + offset, elems, e->dtype);
    if (status != TD_OK)
        return status;
    /* A small part of a large file is copied: it need not keep all of the file mapped. */
    return file->origin && bytes < COPY_BELOW_BYTES ? open_copy(file->bytes + offset, e, bytes, out)
                                                    : td_tensor_adopt_file(e->dtype, &e->shape, file, offset, out);
}

/* -- and out -- */

void td_elements_put_packed(const td_tensor *tensor, td_writer *writer)
{
    unsigned bits = tensor->dtype.bits;
    unsigned held = 0;
    unsigned held_bits = 0;
    uint64_t mask = td_dtype_mask(tensor->dtype);
    for (uint64_t i = 0; i < tensor->elems; i++) {
        held |= (unsigned)(tensor->data[i] & mask) << held_bits;
        held_bits += bits;
        if (held_bits >= 8) {
            *td_writer_reserve(writer, 1) = (unsigned char)(held & 0xff);
            held >>= 8;
            held_bits -= 8;
        }
    }
}
