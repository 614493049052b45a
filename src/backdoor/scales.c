/* The registered tensors of scales and zero points, and their lookup for an `as` (scales.h). Called by call.c.
 * Values are copied in and out under one lock, so that nobody has to keep a tensor alive for a name.
 * td_tensor_convert is here because it needs scales and no memory. */
#include "backdoor/scales.h"

#include "base/record.h"
#include "base/suggest.h"
#include "layout/bind.h"
#include "tensor/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The values of a tensor, as numbers. */
typedef struct values {
    double *value;
    uint64_t count;
} values;

typedef struct named {
    struct named *next;
    values values;
    char name[]; /* as long as it is */
} named;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static named *names;

static td_status copy_values(const td_tensor *tensor, values *out)
{
    uint64_t bytes = 0;
    const td_dtype dtype = tensor->dtype;
    if (!td_mul_fits(tensor->elems, sizeof(double), &bytes))
        return td_fail(TD_OVERFLOW, "%" PRIu64 " scales do not fit in memory; pass one per coordinate of an axis",
                       tensor->elems);
    out->value = malloc((size_t)bytes);
    if (!out->value)
        return td_fail_alloc((size_t)bytes);
    out->count = tensor->elems;
    for (uint64_t i = 0; i < tensor->elems; i++) {
        uint64_t bits = 0;
        memcpy(&bits, tensor->data + i * dtype.bytes, dtype.bytes);
        out->value[i] = td_dtype_to_real(dtype, bits);
    }
    return TD_OK;
}

/* Takes the name out of the list; the caller frees it. Under the lock. */
static named *detach(const char *name)
{
    for (named **at = &names; *at; at = &(*at)->next) {
        if (strcmp((*at)->name, name) == 0) {
            named *found = *at;
            *at = found->next;
            return found;
        }
    }
    return NULL;
}

static void free_named(named *entry)
{
    if (entry)
        free(entry->values.value);
    free(entry);
}

td_status td_scales_set(const char *name, const td_tensor *tensor)
{
    if (!name || !*name)
        return td_fail(TD_ARGUMENT, "scales_set: the name is empty; pass the one that scale=@NAME says");
    if (strlen(name) >= TD_AS_NAME_BYTES || strpbrk(name, " \t"))
        return td_fail(TD_ARGUMENT,
                       "scales_set: the name \"%s\" has spaces or more than %d letters; pass a shorter word", name,
                       TD_AS_NAME_BYTES - 1);
    named *entry = NULL;
    if (tensor) {
        const size_t length = strlen(name) + 1;
        entry = calloc(1, sizeof *entry + length);
        if (!entry)
            return td_fail_alloc(sizeof *entry + length);
        memcpy(entry->name, name, length);
        const td_status status = copy_values(tensor, &entry->values);
        if (status) {
            free_named(entry);
            td_fail_prefix("scales_set \"%s\": ", name);
            return status;
        }
    }
    pthread_mutex_lock(&lock);
    named *old = detach(name);
    if (entry) {
        entry->next = names;
        names = entry;
    }
    pthread_mutex_unlock(&lock);
    free_named(old);
    return TD_OK;
}

/* A copy of the registered values; count 0 when there are none of that name. */
static td_status find_registered(const char *name, values *out)
{
    td_status status = TD_OK;
    pthread_mutex_lock(&lock);
    for (const named *at = names; at; at = at->next) {
        if (strcmp(at->name, name) != 0)
            continue;
        const size_t bytes = (size_t)at->values.count * sizeof(double);
        out->value = malloc(bytes);
        if (out->value) {
            memcpy(out->value, at->values.value, bytes);
            out->count = at->values.count;
        } else {
            status = td_fail_alloc(bytes);
        }
        break;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static td_status find_values(const char *key, const char *name, values *out)
{
    td_status status = find_registered(name, out);
    if (status || out->count)
        return status;
    if (!strpbrk(name, "./:"))
        return td_fail(TD_OPTION,
                       "%s=@%s: no tensor of that name; give it one with scales_set, or name a file like @%s.npy", key,
                       name, name);
    td_tensor *tensor = NULL;
    td_record_pause(); /* the line names the file itself */
    status = td_tensor_open(name, NULL, &tensor);
    td_record_resume();
    if (status) {
        td_fail_prefix("%s=@%s: ", key, name);
        return status;
    }
    status = copy_values(tensor, out);
    td_tensor_destroy(&tensor);
    return status;
}

/* Where the axis lies: dimension, and coordinate in it to coordinate on the axis: ((x + before) / stride) % size. */
typedef struct place {
    size_t dim;
    uint64_t before, stride, size;
} place;

static td_status fail_axis(const td_as *as, const td_layout *layout, const td_shape *shape)
{
    const char *known[TD_MAX_AXES] = {NULL};
    size_t count = 0;
    for (int i = 0; layout && i < layout->pattern.axis_count; i++)
        if (layout->pattern.axis[i].left_group >= 0)
            known[count++] = layout->pattern.axis[i].name;
    const char *near = td_suggest(as->axis, known, count);
    return td_fail(TD_OPTION, "axis=%s is %s%s%s%s%s; use %s%s%sa dimension from 0 to %zu", as->axis,
                   layout ? "no axis on the left of \"" : "not the number of a dimension",
                   layout ? layout->pattern.text : "", layout ? "\"" : "", near ? ", did you mean " : "",
                   near ? near : "", layout && count ? "one of its axes, like " : "", layout && count ? known[0] : "",
                   layout && count ? ", or " : "", shape->rank ? shape->rank - 1 : 0);
}

static td_status find_place(const td_as *as, const td_layout *layout, const td_shape *shape, place *out)
{
    char *end = NULL;
    const unsigned long number = strtoul(as->axis, &end, 10);
    if (as->axis[0] >= '0' && as->axis[0] <= '9' && !*end) {
        if (number >= shape->rank)
            return fail_axis(as, layout, shape);
        *out = (place){number, 0, 1, shape->dim[number]};
        return TD_OK;
    }
    const int axis = layout ? td_pattern_find(&layout->pattern, as->axis, strlen(as->axis)) : -1;
    if (axis < 0 || layout->pattern.axis[axis].left_group < 0)
        return fail_axis(as, layout, shape);
    td_bound *bound = malloc(sizeof *bound);
    if (!bound)
        return td_fail_alloc(sizeof *bound);
    td_status status = td_bind(layout, shape, bound);
    for (int i = 0; !status && i < bound->axis_count; i++) {
        const td_bound_axis *a = &bound->axis[i];
        if (a->pattern_axis != axis)
            continue;
        if (bound->dim[a->dim].sliding)
            status = td_fail(
                TD_OPTION,
                "axis=%s slides over its dimension, so an element has several coordinates on it; use axis=%d for "
                "one scale per element of the dimension",
                as->axis, a->dim);
        else
            *out = (place){(size_t)a->dim, bound->dim[a->dim].pad_before, a->dim_stride, a->size};
        break;
    }
    free(bound);
    return status;
}

static td_status check_count(const td_as *as, const char *key, const char *name, uint64_t count, uint64_t size)
{
    if (count == size)
        return TD_OK;
    return td_fail(TD_OPTION,
                   "%s=@%s has %" PRIu64 " values, and axis %s has %" PRIu64 " coordinates; pass %" PRIu64 " values",
                   key, name, count, as->axis, size, size);
}

/* One value per coordinate of the dimension, from one per coordinate of the axis. */
static void *spread(const values *from, const place *at, uint64_t length, bool whole)
{
    double *value = malloc((size_t)length * sizeof *value);
    int64_t *integer = (int64_t *)(void *)value;
    uint64_t within = at->before % at->stride, k = at->before / at->stride % at->size;
    for (uint64_t x = 0; value && x < length;) {
        const double v = from->value[k];
        for (; within < at->stride && x < length; within++, x++)
            if (whole)
                integer[x] = (int64_t)v;
            else
                value[x] = v;
        within = 0;
        k = k + 1 == at->size ? 0 : k + 1;
    }
    return value;
}

static td_status check_whole(const char *name, const values *zero)
{
    for (uint64_t i = 0; i < zero->count; i++)
        if (!(fabs(zero->value[i]) < 0x1p53) || zero->value[i] != floor(zero->value[i]))
            return td_fail(TD_OPTION,
                           "zero point %" PRIu64 " of @%s is %.9g, and a zero point is an integer; correct the tensor",
                           i, name, zero->value[i]);
    return TD_OK;
}

static void use_number(td_as *as, values *scale, values *zero)
{
    if (scale->count == 1) {
        as->scale_f64 = scale->value[0];
        as->scale_f32 = (float)scale->value[0];
        as->scale_name[0] = 0;
    }
    if (zero->count == 1) {
        as->zero = (int64_t)zero->value[0];
        as->zero_name[0] = 0;
    }
}

static td_status place_values(const td_as *as, const td_layout *layout, const td_shape *shape, const values *scale,
                              const values *zero, td_scales *out)
{
    place at = {.stride = 1, .size = 1};
    if (!as->axis[0])
        return td_fail(
            TD_OPTION,
            "@%s has %" PRIu64 " values and the as says no axis; add axis=NAME, or axis=0 for the first dimension",
            scale->count > 1 ? as->scale_name : as->zero_name, scale->count > 1 ? scale->count : zero->count);
    td_status status = find_place(as, layout, shape, &at);
    if (!status && scale->count > 1)
        status = check_count(as, "scale", as->scale_name, scale->count, at.size);
    if (!status && zero->count > 1)
        status = check_count(as, "zero", as->zero_name, zero->count, at.size);
    if (status)
        return status;
    const uint64_t length = shape->dim[at.dim];
    if (scale->count > 1)
        out->scale = spread(scale, &at, length, false);
    if (zero->count > 1)
        out->zero = spread(zero, &at, length, true);
    if ((scale->count > 1 && !out->scale) || (zero->count > 1 && !out->zero))
        return td_fail_alloc((size_t)length * sizeof(double));
    out->axis = (td_scale_axis){out->scale, out->zero, 1, length};
    for (size_t d = at.dim + 1; d < shape->rank; d++)
        out->axis.inner *= shape->dim[d];
    return TD_OK;
}

td_status td_scales_find(td_as *as, const td_layout *layout, const td_shape *shape, td_scales *out)
{
    values scale = {0};
    values zero = {0};
    td_status status = TD_OK;
    memset(out, 0, sizeof *out);
    if (as->scale_name[0])
        status = find_values("scale", as->scale_name, &scale);
    if (!status && as->zero_name[0])
        status = find_values("zero", as->zero_name, &zero);
    if (!status)
        status = check_whole(as->zero_name, &zero);
    if (!status) {
        use_number(as, &scale, &zero);
        if (scale.count > 1 || zero.count > 1)
            status = place_values(as, layout, shape, &scale, &zero, out);
    }
    free(scale.value);
    free(zero.value);
    if (status)
        td_scales_free(out);
    return status;
}

void td_scales_free(td_scales *scales)
{
    free(scales->scale);
    free(scales->zero);
    memset(scales, 0, sizeof *scales);
}

void td_scales_give(td_scales *scales, td_convert *convert)
{
    convert->owned[0] = scales->scale;
    convert->owned[1] = scales->zero;
    memset(scales, 0, sizeof *scales);
}

/* -- a tensor of other values -------------------------------------------------------------------------------------- */

static td_status convert_into(const td_tensor *tensor, td_as *as, td_tensor **out)
{
    td_convert *convert = malloc(sizeof *convert); /* on the heap: its table is too large for a simulator's stack */
    td_scales scales = {0};
    td_tensor *made = NULL;
    char name[TD_DTYPE_NAME_BYTES];
    size_t bad = 0;
    td_status status = convert ? td_scales_find(as, NULL, &tensor->shape, &scales) : td_fail_alloc(sizeof *convert);
    if (!status)
        status = td_convert_bind(as, tensor->dtype, TD_TO_MEMORY, &scales.axis, convert);
    if (!status)
        status = td_file_check(tensor->origin);
    if (!status)
        status = td_convert_check(convert, tensor->data, (size_t)tensor->elems, 0, 1, &bad);
    td_dtype_print(as->dtype, name);
    if (!status)
        status = td_tensor_create(name, tensor->shape, &made);
    if (!status) {
        td_convert_run(convert, made->data, tensor->data, (size_t)tensor->elems, 0, 1);
        *out = made;
    }
    td_scales_free(&scales);
    free(convert);
    return status;
}

td_status td_tensor_convert(const td_tensor *tensor, const char *as_text, td_tensor **out)
{
    td_as as;
    if (!tensor || !out)
        return td_fail(TD_ARGUMENT, "tensor_convert: the %s is NULL; pass a tensor and a place for the new one",
                       tensor ? "output" : "tensor");
    td_status status = td_as_parse(as_text, tensor->dtype, &as);
    if (!status)
        status = convert_into(tensor, &as, out);
    if (status)
        td_fail_prefix("tensor_convert: ");
    else
        td_record(&(td_recorded){.kind = TD_RECORDED_TENSOR,
                                 .text = "convert",
                                 .operand = &tensor,
                                 .operands = 1,
                                 .as = as_text ? as_text : "",
                                 .out = *out});
    return status;
}
