/* Sparse packing by runs (sparse.h): every value with the zeros before it. Runs past the end of a tensor are refused.
 * */
#include "parts/sparse_elems.h"
#include "parts/sparse_kinds.h"

#include <inttypes.h>

/* Values with the zeros before them, of the elements of a strip. A run that its dtype does not hold ends with a value
 * that is 0, and so do zeros at the end of the tensor. Without parts they are counted. */
void td_runs_step(const td_sparse *s, const td_tensor *t, uint64_t number, td_steps *steps, td_tensor *const *parts)
{
    const uint64_t most = td_dtype_mask(s->index), begin = number * TD_SPARSE_STRIP,
                   end = t->elems - begin < TD_SPARSE_STRIP ? t->elems : begin + TD_SPARSE_STRIP;
    uint64_t run = steps->run, value = steps->made[0];
    for (uint64_t e = begin; e < end; e++) {
        if (!td_elem_is_kept(t, e) && run < most && e + 1 < t->elems) {
            run++;
            continue;
        }
        if (parts) {
            td_elem_put(parts[0], value - steps->first[0], td_elem_is_kept(t, e) ? td_elem_get(t, e) : 0);
            td_elem_put(parts[1], value - steps->first[1], run);
        }
        value++;
        run = 0;
    }
    steps->run = run;
    steps->made[0] = steps->made[1] = value;
}

uint64_t td_runs_walk(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    td_steps steps;
    (void)td_sparse_steps(s, t, &steps);
    for (uint64_t i = 0; i < steps.count; i++)
        td_runs_step(s, t, i, &steps, parts);
    return steps.made[0];
}

td_status td_runs_unpack(td_tensor *const *parts, td_tensor *t)
{
    uint64_t e = 0;
    for (uint64_t v = 0; v < parts[0]->elems; v++, e++) {
        e += td_elem_get(parts[1], v);
        if (e >= t->elems)
            return td_fail(TD_RANGE,
                           "value %" PRIu64 " would be element %" PRIu64 " of a tensor of %" PRIu64 " elements", v, e,
                           t->elems);
        td_elem_put(t, e, td_elem_get(parts[0], v));
    }
    return TD_OK;
}
