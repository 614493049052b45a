/* Sparse packings at work (sparse.h): who does what, which elements are kept and how many they are. Elements move as
 * bits; nothing is converted. Numbers that do not fit their dtype are refused before anything is kept. */
#include "parts/sparse_elems.h"
#include "parts/sparse_kinds.h"

#include <inttypes.h>

void td_sparse_flags(const td_keep_kernels *k, const td_tensor *t, uint64_t first, size_t n, unsigned char *flags)
{
    if (td_elem_has_no_zero(t->dtype))
        memset(flags, 1, n);
    else
        k->flags(flags, t->data + first * t->dtype.bytes, n, t->dtype.bytes, td_elem_own_bits(t->dtype));
}

size_t td_sparse_bits(const td_keep_kernels *k, const td_tensor *t, uint64_t first, size_t n, unsigned char *set)
{
    if (!td_elem_has_no_zero(t->dtype))
        return k->bits(set, t->data + first * t->dtype.bytes, n, t->dtype.bytes, td_elem_own_bits(t->dtype));
    memset(set, 0xff, n / 8);
    if (n % 8)
        set[n / 8] = (unsigned char)((1U << n % 8) - 1);
    return n;
}

td_status td_sparse_check_number(const td_sparse *s, uint64_t largest, const char *what)
{
    char name[TD_DTYPE_NAME_BYTES];
    if (largest <= td_dtype_mask(s->index))
        return TD_OK;
    td_dtype_print(s->index, name);
    return td_fail(TD_RANGE, "%s up to %" PRIu64 " do not fit index=%s; pass a wider one", what, largest, name);
}

static bool is_list(const td_sparse *s)
{
    return s->kind == TD_SPARSE_CSR || s->kind == TD_SPARSE_CSC || s->kind == TD_SPARSE_COO;
}

td_status td_sparse_count(td_sparse *s, const td_tensor *tensor, uint64_t *count)
{
    *count = 0;
    if (s->kind == TD_SPARSE_RUNS)
        *count = td_runs_walk(s, tensor, NULL);
    else if (is_list(s))
        *count = tensor->shape.rank == 2 ? td_lists_count(s, tensor) : 1; /* td_sparse_forms refuses other ranks */
    else if (s->kind != TD_SPARSE_N_OF_M)
        *count = td_mask_count(s, tensor);
    const uint64_t row = tensor->shape.rank ? tensor->shape.dim[tensor->shape.rank - 1] : 1;
    if (s->kind != TD_SPARSE_N_OF_M || row % s->m || s->prune || (s->n == 2 && s->m == 4))
        return TD_OK; /* td_sparse_forms refuses such a row; td_ratio_pack looks at 2:4 on its way */
    return td_ratio_check(s, tensor);
}

static bool is_2_of_4(const td_sparse *s)
{
    return s->kind == TD_SPARSE_N_OF_M && s->n == 2 && s->m == 4;
}

bool td_sparse_writes_part(const td_sparse *s, int part)
{
    const bool is_mask = s->kind == TD_SPARSE_MASK;
    return (part == 0 && (is_mask || is_2_of_4(s))) || (part == 1 && is_mask && s->word.bits == 1);
}

bool td_sparse_writes_tensor(const td_sparse *s)
{
    return s->kind == TD_SPARSE_MASK || (is_2_of_4(s) && s->index.bits == 8 * s->index.bytes);
}

bool td_sparse_refuses_first(const td_sparse *s)
{
    return s->kind == TD_SPARSE_MASK || s->kind == TD_SPARSE_NVDLA;
}

bool td_sparse_goes_by_rows(const td_sparse *s, const td_shape *shape)
{
    return s->kind == TD_SPARSE_N_OF_M && s->order == TD_META_PLAIN && shape->rank >= 2;
}

td_status td_sparse_check(const td_sparse *s, const td_tensor *tensor, uint64_t count)
{
    if (s->kind == TD_SPARSE_MASK)
        return td_mask_check(s, tensor, count);
    if (is_list(s))
        return td_lists_check(s, tensor, count);
    return s->kind == TD_SPARSE_N_OF_M && !s->prune ? td_ratio_check(s, tensor) : TD_OK;
}

bool td_sparse_steps(const td_sparse *s, const td_tensor *t, td_steps *out)
{
    const uint64_t strip = TD_SPARSE_STRIP, strips = (t->elems - 1) / strip + 1;
    *out = (td_steps){.count = strips, .most = {strip, strip, strip}};
    if (is_list(s)) {
        const size_t outer = s->kind == TD_SPARSE_CSC;
        const uint64_t row = (t->shape.dim[!outer] + s->pad - 1) / s->pad * s->pad;
        *out = (td_steps){.count = t->shape.dim[outer], .most = {row, row, s->kind == TD_SPARSE_COO ? row : 1}};
        return true;
    }
    return s->kind == TD_SPARSE_RUNS || (s->kind == TD_SPARSE_MASK && td_mask_has_steps(s));
}

void td_sparse_step(const td_sparse *s, const td_tensor *tensor, uint64_t number, td_steps *steps,
                    td_tensor *const *parts)
{
    if (s->kind == TD_SPARSE_RUNS)
        td_runs_step(s, tensor, number, steps, parts);
    else if (s->kind == TD_SPARSE_MASK)
        td_mask_step(s, tensor, number, steps, parts);
    else
        td_lists_step(s, tensor, number, steps, parts);
}

td_status td_sparse_pack(const td_sparse *s, const td_tensor *tensor, td_tensor *const *parts)
{
    switch (s->kind) {
    case TD_SPARSE_N_OF_M:
        return td_ratio_pack(s, tensor, parts);
    case TD_SPARSE_MASK:
    case TD_SPARSE_NVDLA:
        return td_mask_pack(s, tensor, parts);
    case TD_SPARSE_RUNS:
        (void)td_runs_walk(s, tensor, parts);
        return TD_OK;
    default:
        return td_lists_pack(s, tensor, parts);
    }
}

td_status td_sparse_unpack(const td_sparse *s, td_tensor *const *parts, td_tensor *tensor)
{
    switch (s->kind) {
    case TD_SPARSE_N_OF_M:
        return td_ratio_unpack(s, parts, tensor);
    case TD_SPARSE_MASK:
    case TD_SPARSE_NVDLA:
        return td_mask_unpack(s, parts, tensor);
    case TD_SPARSE_RUNS:
        return td_runs_unpack(parts, tensor);
    default:
        return td_lists_unpack(s, parts, tensor);
    }
}
