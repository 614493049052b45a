/* See cuts.h. */
#include "plan/cuts.h"

#include <stdlib.h>

static void find_axes(const td_bound *bound, int dim, td_dim_cuts *out)
{
    for (int a = 0; a < bound->axis_count; a++) {
        if (bound->axis[a].dim != dim || bound->axis[a].size == 1)
            continue;
        int at = out->axis_count++;
        for (; at > 0 && bound->axis[out->axis[at - 1]].dim_stride < bound->axis[a].dim_stride; at--)
            out->axis[at] = out->axis[at - 1];
        out->axis[at] = a;
    }
}

/* Adds the region where axes before `level` stand still at `fixed`, axis `level` runs over [from, to) and the later
 * ones run whole. With the padding in front everything is mirrored. */
static void add_cut(const td_bound *bound, td_dim_cuts *d, const uint64_t *fixed, int level, uint64_t from, uint64_t to,
                    bool pad)
{
    if (from >= to)
        return;
    td_cut *c = &d->cut[d->count++];
    *c = (td_cut){.pad = pad, .count = d->axis_count};
    for (int i = 0; i < d->axis_count; i++) {
        const uint64_t size = bound->axis[d->axis[i]].size;
        c->start[i] = i < level ? fixed[i] : i == level ? from : 0;
        c->extent[i] = i < level ? 1 : i == level ? to - from : size;
        if (bound->pad_begin)
            c->start[i] = size - c->start[i] - c->extent[i];
    }
}

td_status td_cut_dim(const td_bound *bound, int dim, td_dim_cuts *out)
{
    const td_bound_dim *info = &bound->dim[dim];
    *out = (td_dim_cuts){0};
    find_axes(bound, dim, out);
    const bool whole = out->axis_count == 0 || info->padded == info->length || info->sliding;
    const size_t most = whole ? 1 : 2 * (size_t)out->axis_count + 1;
    out->cut = calloc(most, sizeof *out->cut);
    if (!out->cut) {
        td_fail_alloc(most * sizeof *out->cut);
        return TD_NO_MEMORY;
    }
    uint64_t fixed[TD_MAX_DIM_AXES] = {0};
    if (whole) {
        td_cut *c = &out->cut[out->count++];
        c->count = out->axis_count;
        for (int i = 0; i < out->axis_count; i++)
            c->extent[i] = bound->axis[out->axis[i]].size;
        return TD_OK;
    }
    uint64_t rest = info->length;
    for (int i = 0; i < out->axis_count && rest; i++) {
        const td_bound_axis *axis = &bound->axis[out->axis[i]];
        const uint64_t step = axis->dim_stride, steps = rest / step;
        rest -= steps * step;
        add_cut(bound, out, fixed, i, 0, steps, false);
        add_cut(bound, out, fixed, i, steps + (rest != 0), axis->size, true);
        fixed[i] = steps;
    }
    return TD_OK;
}
