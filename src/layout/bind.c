/* Binds a layout to a shape (bind.h). The sizes come first: those given, then one inferred per left group. Then the
 * strides, then the right side. Called by plan/compile.c, show/view.c, report/count.c and backdoor/scales.c. It
 * evaluates no address. */
#include "layout/bind.h"

#include "tensor/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void td_bind_describe(const td_layout *layout, const td_shape *shape)
{
    char text[TD_SHAPE_TEXT_BYTES];
    td_fail_append("\n    shape %s", td_shape_print(shape, text));
    const char *lead = ", sizes";
    for (int i = 0; i < layout->pattern.axis_count; i++)
        if (layout->size[i]) {
            td_fail_append("%s %s=%" PRIu64, lead, layout->pattern.axis[i].name, layout->size[i]);
            lead = "";
        }
}

static td_status fail_group(const td_bound *b, const td_group *group, td_status status)
{
    td_pattern_caret(&b->layout->pattern, group);
    td_bind_describe(b->layout, &b->shape);
    return status;
}

#define GROUP_TEXT(b, g) (int)(g)->length, (b)->layout->pattern.text + (g)->at

static int add_axis(td_bound *b, td_bound_axis axis)
{
    b->axis[b->axis_count] = axis;
    return b->axis_count++;
}

/* The divisor of `length` nearest to `wanted`: what a message offers in its place. */
static uint64_t nearest_divisor(uint64_t length, uint64_t wanted)
{
    for (uint64_t away = 1; away < length && away < 4096; away++) {
        if (wanted + away <= length && length % (wanted + away) == 0)
            return wanted + away;
        if (wanted > away && length % (wanted - away) == 0)
            return wanted - away;
    }
    return 1;
}

/* The fix to offer besides other sizes: a row that does not fill its words is most often an array laid out as in C. */
static const char *other_way(const td_bound *b, const td_group *group)
{
    const td_pattern *pattern = &b->layout->pattern;
    const int last = pattern->term[group->first + group->count - 1].axis;
    const bool row =
        group == &pattern->left[pattern->left_count - 1] && pattern->right_count == 2 && TD_IS_LANE(pattern, last);
    return row ? ", or the flat pattern \"... -> (...)\"" : ", or pad=0";
}

static td_status fail_contradiction(const td_bound *b, const td_group *group, uint64_t product, uint64_t length)
{
    const char *fix = product < length ? "" : other_way(b, group);
    return fail_group(b, group,
                      td_fail(TD_SHAPE,
                              "group %.*s of \"%s\" has %" PRIu64 " elements, the dimension has %" PRIu64
                              "; pass sizes whose product is %" PRIu64 "%s",
                              GROUP_TEXT(b, group), b->layout->pattern.text, product, length, length, fix));
}

static td_status fail_division(const td_bound *b, const td_group *group, uint64_t product, uint64_t length, int unknown)
{
    const td_pattern *pattern = &b->layout->pattern;
    int given = 0, last = -1;
    for (int i = 0; i < group->count; i++) {
        int axis = pattern->term[group->first + i].axis;
        if (axis != unknown) {
            given++;
            last = axis;
        }
    }
    td_fail(TD_SHAPE,
            "cannot split axis of length %" PRIu64 " into chunks of %" PRIu64 " (group %.*s of \"%s\"); pass ", length,
            product, GROUP_TEXT(b, group), pattern->text);
    if (given == 1)
        td_fail_append("%s=%" PRIu64, pattern->axis[last].name, nearest_divisor(length, product));
    else
        td_fail_append("sizes whose product divides %" PRIu64, length);
    td_fail_append("%s", other_way(b, group));
    return fail_group(b, group, TD_SHAPE);
}

static td_status fail_overflow(const td_bound *b, const td_group *group)
{
    return fail_group(b, group,
                      td_fail(TD_OVERFLOW,
                              "the sizes of group %.*s of \"%s\" have a product over 2^63; pass smaller sizes",
                              GROUP_TEXT(b, group), b->layout->pattern.text));
}

/* Sizes of a group of side-by-side axes. At most one is unknown: the dimension divided by the others. */
static td_status size_group(td_bound *b, const td_group *group, uint64_t length, uint64_t *padded)
{
    const td_layout *layout = b->layout;
    uint64_t product = 1;
    int unknown = -1;
    for (int i = 0; i < group->count; i++) {
        int axis = layout->pattern.term[group->first + i].axis;
        if (!layout->size[axis]) {
            if (unknown >= 0)
                return fail_group(b, group,
                                  td_fail(TD_SHAPE, "two unknown sizes, %s and %s, in group %.*s of \"%s\"; pass %s=N",
                                          layout->pattern.axis[unknown].name, layout->pattern.axis[axis].name,
                                          GROUP_TEXT(b, group), layout->pattern.text, layout->pattern.axis[axis].name));
            unknown = axis;
        } else if (!td_mul_fits(product, layout->size[axis], &product))
            return fail_overflow(b, group);
        b->size[axis] = layout->size[axis];
    }
    const bool ragged_allowed = layout->pad || layout->clip;
    if (unknown < 0) {
        if (product < length || (product > length && !ragged_allowed))
            return fail_contradiction(b, group, product, length);
    } else {
        if (length % product && !ragged_allowed)
            return fail_division(b, group, product, length, unknown);
        b->size[unknown] = length / product + (length % product != 0);
        if (length % product == 0)
            product = length;
        else if (!td_mul_fits(product, b->size[unknown], &product))
            return fail_overflow(b, group);
    }
    *padded = product;
    return TD_OK;
}

/* Sizes of a sliding group: index = sum of step * axis, which must end at the dimension's last element, or with
 * tail=clip not after it. */
static td_status size_sliding(td_bound *b, const td_group *group, uint64_t length)
{
    const td_layout *layout = b->layout;
    uint64_t reach = 0;
    int unknown = -1;
    uint64_t unknown_step = 1;
    for (int i = 0; i < group->count; i++) {
        const td_term *term = &layout->pattern.term[group->first + i];
        const uint64_t size = layout->size[term->axis];
        b->size[term->axis] = size;
        uint64_t far = 0;
        if (!size && unknown >= 0)
            return fail_group(b, group,
                              td_fail(TD_SHAPE, "two unknown sizes, %s and %s, in group %.*s of \"%s\"; pass %s=N",
                                      layout->pattern.axis[unknown].name, layout->pattern.axis[term->axis].name,
                                      GROUP_TEXT(b, group), layout->pattern.text,
                                      layout->pattern.axis[term->axis].name));
        if (!size) {
            unknown = term->axis;
            unknown_step = term->step;
        } else if (!td_mul_fits(size - 1, term->step, &far) || !td_add_fits(reach, far, &reach))
            return fail_overflow(b, group);
    }
    if (unknown >= 0 && reach < length) {
        const uint64_t steps = (length - 1 - reach) / unknown_step;
        b->size[unknown] = steps + 1;
        reach += steps * unknown_step;
    }
    if (reach >= length || (reach < length - 1 && !layout->clip))
        return fail_group(b, group,
                          td_fail(TD_SHAPE,
                                  "sliding group %.*s of \"%s\" ends at element %" PRIu64 ", the dimension at %" PRIu64
                                  "; pass sizes and steps that meet its last element%s",
                                  GROUP_TEXT(b, group), layout->pattern.text, reach, length - 1,
                                  reach < length ? ", or tail=clip to leave out the rest" : ""));
    return TD_OK;
}

static td_status bind_dim(td_bound *b, const td_group *group, size_t d)
{
    const td_layout *layout = b->layout;
    td_bound_dim *dim = &b->dim[d];
    dim->padded = dim->length;
    dim->sliding = group->sliding;
    td_status status = TD_OK;
    if (group->sliding)
        status = size_sliding(b, group, dim->length);
    else if (group->count)
        status = size_group(b, group, dim->length, &dim->padded);
    else if (dim->length != 1)
        status = fail_group(b, group,
                            td_fail(TD_SHAPE,
                                    "a unit group of \"%s\" stands for dimension %zu of length %" PRIu64
                                    "; name an axis there",
                                    layout->pattern.text, d, dim->length));
    if (status)
        return status;
    if (b->pad_begin)
        dim->pad_before = dim->padded - dim->length;
    b->ragged |= dim->padded != dim->length;
    b->slides |= group->sliding && group->count > 1;

    uint64_t stride = 1;
    for (int i = group->count - 1; i >= 0; i--) {
        const td_term *term = &layout->pattern.term[group->first + i];
        td_bound_axis axis = {
            .size = b->size[term->axis], .pattern_axis = term->axis, .dim = (int)d, .dim_stride = stride};
        if (group->sliding)
            axis.dim_stride = term->step;
        else
            stride *= axis.size; /* bounded by dim->padded */
        /* A step past the tensor's end, which only axes of one step and padding can have, may not fit. */
        axis.tensor_stride = td_wrap_mul((int64_t)axis.dim_stride, dim->tensor_stride);
        add_axis(b, axis);
    }
    return TD_OK;
}

/* The left side: which dimensions each group stands for. */
static td_status bind_left(td_bound *b)
{
    const td_pattern *pattern = &b->layout->pattern;
    const size_t groups = (size_t)pattern->left_count, fixed = groups - (pattern->ellipsis_left >= 0);
    if (pattern->ellipsis_left >= 0 ? b->rank < fixed : b->rank != groups) {
        td_fail(TD_SHAPE,
                "the tensor has %zu dimension%s, \"%s\" has %s%zu group%s on the left; write one group per dimension",
                b->rank, b->rank == 1 ? "" : "s", pattern->text, pattern->ellipsis_left >= 0 ? "at least " : "", fixed,
                fixed == 1 ? "" : "s");
        td_bind_describe(b->layout, &b->shape);
        return TD_SHAPE;
    }
    size_t d = 0;
    for (size_t g = 0; g < groups; g++) {
        if ((int)g != pattern->ellipsis_left) {
            td_status status = bind_dim(b, &pattern->left[g], d++);
            if (status)
                return status;
            continue;
        }
        for (size_t i = 0; i < b->rank - fixed; i++, d++) {
            b->dim[d].padded = b->dim[d].length;
            add_axis(b, (td_bound_axis){.size = b->dim[d].length,
                                        .pattern_axis = -1,
                                        .dim = (int)d,
                                        .dim_stride = 1,
                                        .tensor_stride = b->dim[d].tensor_stride});
        }
    }
    return TD_OK;
}

static td_status bind_repeat(td_bound *b, int pattern_axis)
{
    const td_layout *layout = b->layout;
    const td_axis *axis = &layout->pattern.axis[pattern_axis];
    const uint64_t size = layout->size[pattern_axis];
    if (!size)
        return fail_group(b, &layout->pattern.right[axis->right_group],
                          td_fail(TD_PATTERN,
                                  "axis %s stands only on the right of \"%s\" and has no size; pass %s=N to repeat N "
                                  "times, or place it on "
                                  "the left",
                                  axis->name, layout->pattern.text, axis->name));
    b->size[pattern_axis] = size;
    b->repeats |= size > 1;
    add_axis(b, (td_bound_axis){.size = size, .pattern_axis = pattern_axis, .dim = -1});
    return TD_OK;
}

static int find_bound(const td_bound *b, int pattern_axis)
{
    for (int i = 0; i < b->axis_count; i++)
        if (b->axis[i].pattern_axis == pattern_axis)
            return i;
    return -1;
}

static void place(td_bound *b, td_role role, int axis)
{
    const int named = b->axis[axis].pattern_axis;
    b->axis[axis].role = role;
    b->axis[axis].placed = role != TD_ROLE_LANE || (named >= 0 && b->layout->skews >> named & 1);
    b->role_axis[role][b->role_count[role]++] = axis;
}

/* The right side: order within each group, and the products. */
static td_status bind_right(td_bound *b)
{
    const td_pattern *pattern = &b->layout->pattern;
    for (int g = 0; g < pattern->right_count; g++) {
        const td_group *group = &pattern->right[g];
        for (int i = 0; i < group->count; i++) {
            const int axis = pattern->term[group->first + i].axis;
            if (axis != TD_ELLIPSIS) {
                place(b, group->role, find_bound(b, axis));
                continue;
            }
            for (int e = 0; e < b->axis_count; e++)
                if (b->axis[e].pattern_axis < 0)
                    place(b, group->role, e);
        }
    }
    uint64_t all = 1;
    for (int a = 0; a < b->axis_count; a++)
        if (!td_mul_fits(all, b->axis[a].size, &all))
            return td_fail(TD_OVERFLOW, "the sizes on the right of \"%s\" have a product over 2^63; pass smaller sizes",
                           pattern->text);
    for (int role = 0; role < TD_ROLES; role++) { /* parts of a product that fits */
        b->count[role] = 1;
        for (int i = b->role_count[role] - 1; i >= 0; i--) {
            td_bound_axis *axis = &b->axis[b->role_axis[role][i]];
            axis->role_stride = b->count[role];
            b->count[role] *= axis->size;
        }
    }
    return TD_OK;
}

void td_bind_split(td_bound *bound, int axis, uint64_t inner)
{
    td_bound_axis *slow = &bound->axis[axis];
    td_bound_axis fast = *slow;
    fast.size = inner;
    fast.pattern_axis = -1;
    slow->size /= inner;
    slow->dim_stride *= inner;
    slow->tensor_stride = td_wrap_mul(slow->tensor_stride, (int64_t)inner);
    slow->role_stride *= inner;
    const td_role role = slow->role;
    const int added = add_axis(bound, fast);
    int at = 0;
    while (bound->role_axis[role][at] != axis)
        at++;
    memmove(&bound->role_axis[role][at + 2], &bound->role_axis[role][at + 1],
            sizeof(int) * (size_t)(bound->role_count[role] - at - 1));
    bound->role_axis[role][at + 1] = added;
    bound->role_count[role]++;
}

bool td_bind_merge(td_bound *bound, uint64_t lanes, uint64_t words)
{
    if (bound->ragged || bound->repeats || bound->slides)
        return false;
    int64_t elems = 1;
    for (int i = bound->role_count[TD_ROLE_LANE] - 1; i >= 0; i--) {
        const td_bound_axis *axis = &bound->axis[bound->role_axis[TD_ROLE_LANE][i]];
        if (axis->size > 1 && axis->tensor_stride != elems)
            return false;
        elems *= (int64_t)axis->size;
    }
    const uint64_t length = (uint64_t)elems, vectors = length / lanes + (length % lanes != 0);
    bound->rank = 1;
    bound->dim[0] = (td_bound_dim){.length = length, .padded = vectors * lanes, .tensor_stride = 1};
    bound->pad_begin = false;
    bound->clip = bound->ragged = vectors * lanes != length;
    bound->axis_count = bound->role_count[TD_ROLE_LANE] = 0;
    place(bound, TD_ROLE_WORD,
          add_axis(bound, (td_bound_axis){.size = vectors,
                                          .pattern_axis = -1,
                                          .dim_stride = lanes,
                                          .tensor_stride = (int64_t)lanes,
                                          .role_stride = words}));
    place(
        bound, TD_ROLE_LANE,
        add_axis(bound, (td_bound_axis){
                            .size = lanes, .pattern_axis = -1, .dim_stride = 1, .tensor_stride = 1, .role_stride = 1}));
    bound->count[TD_ROLE_WORD] = vectors * words;
    bound->count[TD_ROLE_LANE] = lanes;
    return true;
}

void td_bind_pitch(td_bound *bound, uint64_t pitch)
{
    bound->dim[0].tensor_stride = (int64_t)pitch;
    for (int a = 0; a < bound->axis_count; a++)
        if (bound->axis[a].dim == 0)
            bound->axis[a].tensor_stride = td_wrap_mul((int64_t)bound->axis[a].dim_stride, (int64_t)pitch);
}

td_status td_bind(const td_layout *layout, const td_shape *shape, td_bound *out)
{
    memset(out, 0, sizeof *out);
    out->layout = layout;
    out->shape = *shape;
    out->rank = shape->rank;
    out->clip = layout->clip;
    out->pad_begin = layout->pad_begin;
    int64_t stride = 1;
    for (size_t d = shape->rank; d-- > 0;) {
        out->dim[d].length = shape->dim[d];
        out->dim[d].tensor_stride = stride;
        stride *= (int64_t)shape->dim[d]; /* the tensor was checked when it was made */
    }
    td_status status = bind_left(out);
    for (int i = 0; !status && i < layout->pattern.axis_count; i++)
        if (layout->pattern.axis[i].left_group < 0)
            status = bind_repeat(out, i);
    if (!status)
        status = bind_right(out);
    return status;
}
