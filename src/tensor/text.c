/* A tensor in text, for people: the dtype, the shape, and the values as NumPy lays them out. Long dimensions show three
 * values at each end. Called through td_tensor_text, by people and by `tensordoor show`; it refuses only NULL. */
#include "base/text.h"
#include "base/fp_mode.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EDGE_ITEMS 3       /* NumPy's edgeitems */
#define SUMMARY_ELEMS 1000 /* NumPy's threshold */
#define VALUE_BYTES 48

typedef struct printer {
    const td_tensor *tensor;
    bool summary;
    int width;    /* of a value, with its fraction */
    int whole;    /* before a point */
    int fraction; /* from the point on; points stand below each other */
    td_text *text;
} printer;

/* The fewest digits that come back as the same bits. */
static void print_real(td_dtype dtype, uint64_t bits, char *out)
{
    const double value = td_dtype_to_real(dtype, bits);
    if (isfinite(value) && value == floor(value) && fabs(value) < 1e15) {
        td_text_print(out, VALUE_BYTES, "%.0f.", value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        uint64_t back = 0;
        td_text_print(out, VALUE_BYTES, "%.*g", digits, value);
        if (!isfinite(value) || (td_dtype_from_real(dtype, td_text_real(out, NULL), &back) == TD_OK && back == bits))
            return;
    }
}

static void print_value(const td_tensor *tensor, uint64_t elem, char *out)
{
    const td_dtype dtype = tensor->dtype;
    uint64_t bits = 0;
    memcpy(&bits, tensor->data + elem * dtype.bytes, dtype.bytes);
    bits &= td_dtype_mask(dtype);
    if (dtype.kind == TD_KIND_FLOAT || dtype.fixed)
        print_real(dtype, bits, out);
    else if (dtype.kind == TD_KIND_INT)
        snprintf(out, VALUE_BYTES, "%" PRId64, (int64_t)td_dtype_extend(dtype, bits));
    else
        snprintf(out, VALUE_BYTES, "%" PRIu64, bits);
}

/* The coordinate after `at` that is shown; the gap in a long dimension is stepped over. */
static uint64_t next_shown(const printer *p, uint64_t at, uint64_t length)
{
    if (p->summary && length > 2 * EDGE_ITEMS && at == EDGE_ITEMS - 1)
        return length - EDGE_ITEMS;
    return at + 1;
}

static void measure(printer *p, size_t dim, uint64_t elem)
{
    const td_shape *shape = &p->tensor->shape;
    if (dim == shape->rank) {
        char value[VALUE_BYTES];
        print_value(p->tensor, elem, value);
        const char *point = strchr(value, '.');
        const int fraction = point ? (int)strlen(point) : 0;
        const int whole = (int)strlen(value) - fraction;
        if (point)
            p->whole = whole > p->whole ? whole : p->whole;
        p->fraction = fraction > p->fraction ? fraction : p->fraction;
        p->width = whole > p->width && !point ? whole : p->width;
        p->width = p->whole + p->fraction > p->width ? p->whole + p->fraction : p->width;
        return;
    }
    for (uint64_t i = 0; i < shape->dim[dim]; i = next_shown(p, i, shape->dim[dim]))
        measure(p, dim + 1, elem * shape->dim[dim] + i);
}

static void print_dim(const printer *p, size_t dim, uint64_t elem)
{
    const td_shape *shape = &p->tensor->shape;
    if (dim == shape->rank) {
        char value[VALUE_BYTES];
        print_value(p->tensor, elem, value);
        const char *point = strchr(value, '.');
        const int after = point ? p->fraction - (int)strlen(point) : 0;
        td_text_add(p->text, "%*s%*s", p->width - after, value, after, "");
        return;
    }
    const uint64_t length = shape->dim[dim];
    const bool last = dim + 1 == shape->rank;
    td_text_add(p->text, "[");
    for (uint64_t i = 0; i < length;) {
        print_dim(p, dim + 1, elem * length + i);
        const uint64_t next = next_shown(p, i, length);
        for (int gap = 0; gap < (next == i + 1 ? 1 : 2) && next < length; gap++) {
            if (gap == 1)
                td_text_add(p->text, "...");
            for (size_t d = dim + 1; d < shape->rank; d++) /* as NumPy: an empty line more for each dimension inside */
                td_text_add(p->text, "\n");
            td_text_add(p->text, "%*s", last ? 1 : (int)dim + 1, "");
        }
        i = next;
    }
    td_text_add(p->text, "]");
}

td_status td_tensor_text(const td_tensor *tensor, char **out)
{
    char shape[TD_SHAPE_TEXT_BYTES];
    td_text text = {0};
    if (!tensor || !out)
        return td_fail(TD_ARGUMENT, "tensor_text: the %s is NULL; pass a tensor and a place for the text",
                       tensor ? "output" : "tensor");
    const td_status status = td_file_check(tensor->origin);
    if (status != TD_OK) {
        td_fail_prefix("tensor_text: ");
        return status;
    }
    printer p = {tensor, tensor->elems > SUMMARY_ELEMS, 0, 0, 0, &text};
    td_text_add(&text, "%s %s\n", tensor->dtype_name, td_shape_print(&tensor->shape, shape));
    const unsigned mode = td_mode_enter();
    measure(&p, 0, 0);
    print_dim(&p, 0, 0);
    td_mode_leave(mode);
    if (text.failed) {
        free(text.text);
        return td_fail_alloc(text.room);
    }
    *out = text.text;
    return TD_OK;
}
