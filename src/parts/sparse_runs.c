/* Sparse packing by runs (sparse.h): every value with the zeros before it. Runs past the end of a tensor are refused.
 * */
#include "parts/sparse_elems.h"
#include "parts/sparse_kinds.h"

#include <inttypes.h>

/* Calls for every value and the zeros before it. A run that its dtype does not hold ends with a value that is 0, and so
 * do zeros at the end. */
uint64_t td_runs_walk(const td_sparse *s, const td_tensor *t, td_tensor *const *parts)
{
    const uint64_t most = td_dtype_mask(s->index);
    uint64_t run = 0, value = 0;
    for (uint64_t e = 0; e < t->elems; e++) {
        if (!td_elem_is_kept(t, e) && run < most && e + 1 < t->elems) {
            run++;
            continue;
        }
        if (parts) {
            td_elem_put(parts[0], value, td_elem_is_kept(t, e) ? td_elem_get(t, e) : 0);
            td_elem_put(parts[1], value, run);
        }
        value++;
        run = 0;
    }
    return value;
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
