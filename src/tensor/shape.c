/* Shapes: from text, to text, and checked. Called by everything that makes a tensor or says its shape in a message. It
 * refuses an extent of 0, more than TD_MAX_RANK dimensions, and products past 63 bits. */
#include "tensor/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *td_shape_print(const td_shape *shape, char *text)
{
    size_t rank = shape->rank < TD_MAX_RANK ? shape->rank : TD_MAX_RANK;
    size_t used = 0;
    text[used++] = '(';
    for (size_t i = 0; i < rank; i++)
        used += (size_t)snprintf(text + used, TD_SHAPE_TEXT_BYTES - used, "%s%" PRIu64, i ? ", " : "", shape->dim[i]);
    snprintf(text + used, TD_SHAPE_TEXT_BYTES - used, ")");
    return text;
}

void td_shape_at(const td_shape *shape, uint64_t elem, td_shape *at)
{
    at->rank = shape->rank;
    for (size_t d = shape->rank; d-- > 0; elem /= shape->dim[d])
        at->dim[d] = elem % shape->dim[d];
}

td_status td_shape_parse(const char *text, td_shape *out)
{
    if (!text || !out)
        return td_fail(TD_ARGUMENT, "shape_parse: %s is NULL; pass a text such as \"2 3 4\" and a td_shape",
                       text ? "out" : "text");
    td_shape shape = {0};
    const char *p = text;
    bool after_comma = false;
    for (;;) {
        p += strspn(p, " \t");
        if (*p == '\0' && !after_comma)
            break;
        if (*p < '0' || *p > '9')
            return td_fail(TD_SHAPE, "shape \"%s\": a number is needed at column %zu; write it as \"2 3 4\"", text,
                           (size_t)(p - text) + 1);
        if (shape.rank == TD_MAX_RANK)
            return td_fail(TD_SHAPE, "shape \"%s\": more than %d dimensions; merge some", text, TD_MAX_RANK);
        uint64_t extent = 0;
        for (; *p >= '0' && *p <= '9'; p++)
            if (!td_mul_fits(extent, 10, &extent) || !td_add_fits(extent, (uint64_t)(*p - '0'), &extent))
                return td_fail(TD_SHAPE, "shape \"%s\": an extent past 63 bits at dimension %zu; use a smaller one",
                               text, shape.rank);
        if (extent == 0)
            return td_fail(TD_SHAPE, "shape \"%s\": an extent of 0 at dimension %zu; every extent is at least 1", text,
                           shape.rank);
        shape.dim[shape.rank++] = extent;
        size_t blanks = strspn(p, " \t");
        p += blanks;
        after_comma = *p == ',';
        if (after_comma)
            p++;
        else if (blanks == 0 && *p != '\0')
            return td_fail(TD_SHAPE, "shape \"%s\": a number is needed at column %zu; write it as \"2 3 4\"", text,
                           (size_t)(p - text) + 1);
    }
    *out = shape;
    return TD_OK;
}

td_status td_shape_check(const td_shape *shape, td_dtype dtype, uint64_t *elems, uint64_t *bytes)
{
    char text[TD_SHAPE_TEXT_BYTES];
    if (shape->rank > TD_MAX_RANK)
        return td_fail(TD_SHAPE, "a shape of %zu dimensions; the limit is %d, merge some", shape->rank, TD_MAX_RANK);
    for (size_t i = 0; i < shape->rank; i++)
        if (shape->dim[i] == 0)
            return td_fail(TD_SHAPE, "shape %s has an extent of 0 at dimension %zu; every extent is at least 1",
                           td_shape_print(shape, text), i);
    uint64_t total = 1;
    uint64_t total_bytes = 0;
    bool fits = true;
    for (size_t i = 0; fits && i < shape->rank; i++)
        fits = td_mul_fits(total, shape->dim[i], &total);
    if (!fits || !td_mul_fits(total, dtype.bytes, &total_bytes))
        return td_fail(TD_OVERFLOW, "shape %s with %u bytes per element passes 2^63 - 1 bytes; use smaller extents",
                       td_shape_print(shape, text), dtype.bytes);
    *elems = total;
    *bytes = total_bytes;
    return TD_OK;
}
