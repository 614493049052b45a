/* The generators of tensor data: a ramp, random bits from a seed, and coordinates. Testbenches call them for stimulus,
 * from C and through DPI. They give the same tensor on every machine, and refuse tensors that are mapped read-only. */
#include "base/fp_mode.h"
#include "base/random.h"
#include "base/record.h"
#include "base/text.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static inline void put_elem(unsigned char *at, unsigned bytes, uint64_t bits)
{
    switch (bytes) {
    case 1:
        memcpy(at, &bits, 1);
        break;
    case 2:
        memcpy(at, &bits, 2);
        break;
    case 4:
        memcpy(at, &bits, 4);
        break;
    default:
        memcpy(at, &bits, 8);
    }
}

static bool is_whole(double value)
{
    return value >= -0x1p63 && value < 0x1p63 && value == floor(value);
}

static void fill_float_ramp(td_tensor *tensor, double start, double step)
{
    const td_dtype dtype = tensor->dtype;
    unsigned char *at = tensor->data;
    for (uint64_t i = 0; i < tensor->elems; i++, at += dtype.bytes) {
        /* volatile: a fused multiply-add would give other bits on machines that have one */
        volatile double product = (double)i * step;
        uint64_t bits = 0;
        (void)td_dtype_from_real(dtype, start + product, &bits); /* floats take every value */
        put_elem(at, dtype.bytes, bits);
    }
}

static td_status fill_whole_ramp(td_tensor *tensor, double start, double step)
{
    const td_dtype dtype = tensor->dtype;
    unsigned char *at = tensor->data;
    double first = ldexp(start, dtype.frac_bits); /* in steps of the lowest bit */
    double each = ldexp(step, dtype.frac_bits);
    if (!is_whole(first) || !is_whole(each))
        return td_fail(TD_ARGUMENT,
                       "tensor_fill_ramp: start %g and step %g into %s; both need to be whole steps of its lowest bit, "
                       "from -2^63 to below 2^63",
                       start, step, tensor->dtype_name);
    /* Modulo 2^64, so the wrap to a narrower width comes out right however long the ramp is. */
    uint64_t value = (uint64_t)(int64_t)first;
    uint64_t by = (uint64_t)(int64_t)each;
    uint64_t mask = td_dtype_mask(dtype);
    for (uint64_t i = 0; i < tensor->elems; i++, at += dtype.bytes, value += by)
        put_elem(at, dtype.bytes, td_dtype_extend(dtype, value & mask));
    return TD_OK;
}

void td_tensor_fill_tell(const td_tensor *tensor, const char *what)
{
    char kind[TD_DTYPE_NAME_BYTES + TD_SHAPE_TEXT_BYTES];
    if (!td_record_heard())
        return;
    size_t used = (size_t)snprintf(kind, sizeof kind, "%s", tensor->dtype_name);
    for (size_t i = 0; i < tensor->shape.rank; i++)
        used += (size_t)snprintf(kind + used, sizeof kind - used, " %" PRIu64, tensor->shape.dim[i]);
    td_record(&(td_recorded){.kind = TD_RECORDED_TENSOR, .text = "fill", .as = kind, .behind = what, .out = tensor});
}

td_status td_tensor_fill_ramp(td_tensor *tensor, double start, double step)
{
    td_status status = td_tensor_check_writable("tensor_fill_ramp", tensor);
    if (status != TD_OK)
        return status;
    const unsigned mode = td_mode_enter();
    if (tensor->dtype.kind == TD_KIND_FLOAT)
        fill_float_ramp(tensor, start, step);
    else
        status = fill_whole_ramp(tensor, start, step);
    td_mode_leave(mode);
    if (!status && td_record_heard() && isfinite(start) && isfinite(step)) {
        char what[96];
        td_text_print(what, sizeof what, "ramp start=%.17g step=%.17g", start, step);
        td_tensor_fill_tell(tensor, what);
    }
    return status;
}

td_status td_tensor_fill_random(td_tensor *tensor, uint64_t seed)
{
    td_status status = td_tensor_check_writable("tensor_fill_random", tensor);
    if (status != TD_OK)
        return status;
    td_dtype dtype = tensor->dtype;
    unsigned char *at = tensor->data;
    uint64_t mask = td_dtype_mask(dtype);
    /* A float is finite when its magnitude, as an integer, is not above that of the largest number. */
    uint64_t magnitude = dtype.kind == TD_KIND_FLOAT && dtype.flavor != TD_FLAVOR_SCALE ? mask >> 1 : mask;
    uint64_t largest = dtype.kind == TD_KIND_FLOAT ? td_dtype_max_bits(dtype) : mask;
    for (uint64_t i = 0; i < tensor->elems; i++, at += dtype.bytes) {
        uint64_t bits = td_random_at(seed, i);
        while ((bits & magnitude) > largest)
            bits = td_random_mix(bits + TD_RANDOM_STEP);
        put_elem(at, dtype.bytes, td_dtype_extend(dtype, bits & mask));
    }
    if (td_record_heard()) {
        char what[48];
        td_text_print(what, sizeof what, "random seed=%" PRIu64, seed);
        td_tensor_fill_tell(tensor, what);
    }
    return TD_OK;
}

/* Bits to count to `size` - 1. */
static unsigned bits_for(uint64_t size)
{
    unsigned bits = 0;
    while (bits < 63 && (uint64_t)1 << bits < size)
        bits++;
    return bits;
}

td_status td_tensor_fill_coordinates(td_tensor *tensor)
{
    td_status status = td_tensor_check_writable("tensor_fill_coordinates", tensor);
    if (status != TD_OK)
        return status;
    const td_shape *shape = &tensor->shape;
    const td_dtype dtype = tensor->dtype;
    unsigned needed = 0;
    for (size_t d = 0; d < shape->rank; d++)
        needed += bits_for(shape->dim[d]);
    if (needed > dtype.bits)
        return td_fail(
            TD_RANGE,
            "tensor_fill_coordinates: the coordinates take %u bits, an element of %s has %u; use a wider dtype", needed,
            tensor->dtype_name, dtype.bits);
    unsigned char *at = tensor->data;
    td_shape coordinate;
    for (uint64_t i = 0; i < tensor->elems; i++, at += dtype.bytes) {
        td_shape_at(shape, i, &coordinate);
        uint64_t code = 0;
        unsigned shift = 0;
        for (size_t d = shape->rank; d-- > 0;) {
            code |= coordinate.dim[d] << shift;
            shift += bits_for(shape->dim[d]);
        }
        put_elem(at, dtype.bytes, td_dtype_extend(dtype, code));
    }
    td_tensor_fill_tell(tensor, "coordinates");
    return TD_OK;
}
