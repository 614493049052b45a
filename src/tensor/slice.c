/* See slice.h. */
#include "tensor/slice.h"

#include "base/record.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

typedef struct reader {
    const char *text, *at;
    const td_shape *shape;
    td_slice *out;
} reader;

static void skip(reader *r)
{
    r->at += strspn(r->at, " \t");
}

static td_status fail_syntax(const reader *r)
{
    char what[TD_UNEXPECTED_BYTES];
    return td_fail(TD_OPTION, "slice \"%s\": %s at column %zu; write it as \"3, 0:16:2, :\"", r->text,
                   td_text_unexpected(r->at, what), (size_t)(r->at - r->text) + 1);
}

/* A number with a sign; false where there is none. */
static bool read_number(reader *r, int64_t *out)
{
    const char *at = r->at;
    uint64_t value = 0;
    const bool negative = *at == '-';
    at += negative;
    if (*at < '0' || *at > '9' || !td_text_number(&at, &value))
        return false;
    *out = negative ? -(int64_t)value : (int64_t)value;
    r->at = at;
    skip(r);
    return true;
}

static td_status take_index(reader *r, size_t d, int64_t index)
{
    const int64_t extent = (int64_t)r->shape->dim[d];
    if (index < -extent || index >= extent)
        return td_fail(TD_RANGE,
                       "slice \"%s\": index %" PRId64 " in dimension %zu, which has %" PRId64
                       " elements; the last is %" PRId64,
                       r->text, index, d, extent, extent - 1);
    r->out->first[d] = (uint64_t)(index < 0 ? index + extent : index);
    r->out->step[d] = 1;
    r->out->count[d] = 1;
    r->out->drop[d] = true;
    return TD_OK;
}

/* An end of a slice, as Python has it: from the end where it is negative, and never past it. */
static int64_t end_of(int64_t end, int64_t extent, int64_t low, int64_t high)
{
    const int64_t from = end < 0 ? end + extent : end;
    return from < low ? low : from > high ? high : from;
}

static td_status take_range(reader *r, size_t d, const int64_t *begin, const int64_t *end, int64_t step)
{
    const int64_t extent = (int64_t)r->shape->dim[d], back = step < 0;
    const int64_t low = back ? -1 : 0, high = back ? extent - 1 : extent;
    const int64_t from = begin ? end_of(*begin, extent, low, high) : back ? high : low;
    const int64_t to = end ? end_of(*end, extent, low, high) : back ? low : high;
    const uint64_t distance = back ? (to < from ? (uint64_t)(from - to) : 0) : (from < to ? (uint64_t)(to - from) : 0);
    const uint64_t stride = back ? (uint64_t)0 - (uint64_t)step : (uint64_t)step;
    if (distance == 0)
        return td_fail(TD_SHAPE, "slice \"%s\" takes no element of dimension %zu, which has %" PRId64 "; take one",
                       r->text, d, extent);
    r->out->first[d] = (uint64_t)from;
    r->out->count[d] = (distance - 1) / stride + 1;
    r->out->step[d] = r->out->count[d] == 1 ? 1 : step;
    return TD_OK;
}

/* One dimension: an index, or begin:end:step with any of them left out. */
static td_status read_item(reader *r, size_t d)
{
    int64_t begin = 0, end = 0, step = 1;
    bool has_end = false;
    const bool has_begin = read_number(r, &begin);
    if (*r->at != ':')
        return has_begin ? take_index(r, d, begin) : fail_syntax(r);
    r->at++;
    skip(r);
    has_end = read_number(r, &end);
    if (*r->at == ':') {
        r->at++;
        skip(r);
        if (read_number(r, &step) && step == 0)
            return td_fail(TD_OPTION, "slice \"%s\": a step of 0 in dimension %zu; pass another", r->text, d);
    }
    return take_range(r, d, has_begin ? &begin : NULL, has_end ? &end : NULL, step);
}

static void take_whole(reader *r, size_t from, size_t to)
{
    for (size_t d = from; d < to; d++) {
        r->out->count[d] = r->shape->dim[d];
        r->out->step[d] = 1;
    }
}

/* How many dimensions the items behind "..." take. */
static size_t count_items(const char *text)
{
    size_t items = text[strspn(text, " \t")] != 0;
    for (const char *at = text; *at; at++)
        items += *at == ',';
    return items;
}

static td_status read_items(reader *r)
{
    size_t d = 0;
    bool dots = false;
    skip(r);
    for (bool more = *r->at != 0; more;) {
        td_status status = TD_OK;
        if (strncmp(r->at, "...", 3) == 0 && !dots) {
            r->at += 3;
            skip(r);
            dots = true;
            const size_t behind = *r->at == ',' ? count_items(r->at + 1) : 0;
            const size_t past = r->shape->rank > behind ? r->shape->rank - behind : 0;
            take_whole(r, d, past);
            d = past > d ? past : d;
        } else if (d == r->shape->rank) {
            char text[TD_SHAPE_TEXT_BYTES];
            return td_fail(TD_SHAPE, "slice \"%s\" is of more than the %zu dimensions of shape %s; leave some out",
                           r->text, d, td_shape_print(r->shape, text));
        } else {
            status = read_item(r, d++);
        }
        if (status)
            return status;
        more = *r->at == ',';
        if (!more && *r->at)
            return fail_syntax(r);
        r->at += more;
        skip(r);
    }
    take_whole(r, d, r->shape->rank);
    return TD_OK;
}

td_status td_slice_parse(const char *text, const td_shape *shape, td_slice *out)
{
    td_slice made = {.rank = shape->rank};
    reader r = {text, text, shape, &made};
    const td_status status = read_items(&r);
    if (!status)
        *out = made;
    return status;
}

td_shape td_slice_shape(const td_slice *s)
{
    td_shape shape = {0};
    for (size_t d = 0; d < s->rank; d++)
        if (!s->drop[d])
            shape.dim[shape.rank++] = s->count[d];
    return shape;
}

bool td_slice_contiguous(const td_slice *s, const td_shape *shape, uint64_t *first_elem)
{
    uint64_t stride = 1, first = 0, run = 1;
    bool whole = true;
    for (size_t d = s->rank; d-- > 0; stride *= shape->dim[d]) {
        first += s->first[d] * stride;
        if (s->count[d] > 1 && (s->step[d] != 1 || run != stride))
            whole = false;
        run *= s->count[d];
    }
    if (whole)
        *first_elem = first;
    return whole;
}

void td_slice_copy(const td_slice *s, const td_shape *shape, const void *src, void *dst, unsigned elem_bytes)
{
    td_stride_node node[TD_MAX_RANK];
    const unsigned char *from = src;
    int64_t stride = 1;
    for (size_t d = s->rank; d-- > 0; stride *= (int64_t)shape->dim[d]) {
        node[d] = (td_stride_node){s->count[d], s->step[d] * stride};
        from += s->first[d] * (uint64_t)stride * elem_bytes;
    }
    td_strided_copy(node, s->rank, from, dst, elem_bytes);
}

td_status td_tensor_slice(const td_tensor *tensor, const char *text, td_tensor **out)
{
    td_slice slice;
    td_tensor *made = NULL;
    if (!tensor || !text || !out)
        return td_fail(TD_ARGUMENT, "tensor_slice: the %s is NULL; pass one",
                       !tensor ? "tensor"
                       : !text ? "text"
                               : "output");
    td_status status = td_slice_parse(text, &tensor->shape, &slice);
    if (!status)
        status = td_file_check(tensor->origin);
    if (!status)
        status = td_tensor_create_unset(tensor->dtype_name, td_slice_shape(&slice), &made);
    if (status) {
        td_fail_prefix("tensor_slice: ");
        return status;
    }
    td_slice_copy(&slice, &tensor->shape, tensor->data, made->data, tensor->dtype.bytes);
    *out = made;
    td_record(&(td_recorded){
        .kind = TD_RECORDED_TENSOR, .text = "slice", .operand = &tensor, .operands = 1, .as = text, .out = made});
    return TD_OK;
}
