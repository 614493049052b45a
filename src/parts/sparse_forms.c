/* What the parts of sparse packings look like (sparse.h): their names, dtypes and shapes. It refuses shapes and dtypes
 * that do not go with a packing, and gives words that depend on them their values. */
#include "parts/sparse_kinds.h"

#include <inttypes.h>
#include <string.h>

static const td_dtype u8 = {TD_KIND_UINT, 8, 0, 1, 0, 0, 0, 0}, u32 = {TD_KIND_UINT, 32, 0, 4, 0, 0, 0, 0};

static td_shape list_of(uint64_t count)
{
    return (td_shape){.rank = 1, .dim = {count}};
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* Values and meta of N:M. */
static td_status ratio_forms(td_sparse *s, const td_shape *shape, td_part_form *forms)
{
    char text[TD_SHAPE_TEXT_BYTES];
    const uint64_t row = shape->dim[shape->rank - 1];
    if (row % s->m)
        return td_fail(TD_SHAPE,
                       "%u:%u of shape %s: a row of %" PRIu64 " does not divide into groups of %u; pad the tensor",
                       s->n, s->m, td_shape_print(shape, text), row, s->m);
    const td_status status = td_meta_check(s, shape);
    if (status)
        return status;
    const td_meta m = td_meta_of(s, shape);
    forms[0].shape = forms[1].shape = *shape;
    forms[0].shape.dim[shape->rank - 1] = m.groups * s->n;
    forms[1].shape.dim[shape->rank - 1] = m.words;
    if (s->order != TD_META_PLAIN)
        forms[1].shape = list_of(m.count);
    forms[1].name = "meta";
    forms[1].dtype = s->index;
    return TD_OK;
}

static void mask_forms(const td_sparse *s, const td_shape *shape, uint64_t elems, td_part_form *forms)
{
    const uint64_t chunk = s->chunk ? s->chunk : elems, chunks = (elems - 1) / chunk + 1,
                   last = elems - (chunks - 1) * chunk;
    forms[1] = (td_part_form){.name = "mask", .dtype = s->word, .shape = *shape};
    if (s->word.bits > 1)
        forms[1].shape = list_of((chunks - 1) * (round_up(chunk, s->word.bits) / s->word.bits) +
                                 round_up(last, s->word.bits) / s->word.bits);
    if (s->chunk)
        forms[2] = (td_part_form){.name = "pointers", .dtype = s->index, .shape = list_of(chunks)};
}

/* Kernels are along the first dimension: 32 of one byte make a group, 16 of two. */
static td_status nvdla_forms(td_sparse *s, const td_shape *shape, uint64_t elems, uint64_t count, td_part_form *forms)
{
    char text[TD_SHAPE_TEXT_BYTES], elem[TD_DTYPE_NAME_BYTES];
    const uint64_t bytes = s->elem.bits < 8 ? 1 : s->elem.bits / 8U; /* check_bytes has seen to whole ones */
    td_dtype_print(s->elem, elem);
    if (s->align % bytes || s->align > 65536)
        return td_fail(TD_OPTION,
                       "align=%" PRIu64 " of nvdla and values of %s; pass a multiple of %" PRIu64 " up to 65536",
                       s->align, elem, bytes);
    if (s->group == 0 && (bytes > 2 || shape->rank < 2))
        return td_fail(TD_OPTION,
                       "nvdla of shape %s and values of %s does not say how many elements a kernel group has; add "
                       "group=N",
                       td_shape_print(shape, text), elem);
    const uint64_t kernels = bytes == 1 ? 32 : 16;
    if (s->group == 0)
        s->group = shape->dim[0] <= kernels ? elems : elems / shape->dim[0] * kernels;
    forms[0].shape = list_of(round_up(count, s->align / bytes));
    forms[1] = (td_part_form){.name = "mask", .dtype = u8, .shape = list_of(round_up((elems + 7) / 8, s->align))};
    forms[2] = (td_part_form){.name = "sizes", .dtype = u32, .shape = list_of((elems - 1) / s->group + 1)};
    return TD_OK;
}

/* What counts bytes of values has values of whole bytes. */
static td_status check_bytes(const td_sparse *s)
{
    char elem[TD_DTYPE_NAME_BYTES];
    if (s->elem.bits % 8 == 0 || (!s->in_bytes && s->kind != TD_SPARSE_NVDLA))
        return TD_OK;
    td_dtype_print(s->elem, elem);
    return td_fail(TD_OPTION, "%s counts bytes, and a value of %s is no whole number of them; %s",
                   s->in_bytes ? "pointers=bytes" : "nvdla", elem,
                   s->in_bytes ? "pass pointers=elements" : "convert the tensor to i8");
}

/* What a tensor without a zero has, with its padding. */
static uint64_t most_values(const td_sparse *s, const td_shape *shape, uint64_t elems)
{
    const size_t outer = s->kind == TD_SPARSE_CSC;
    uint64_t most = elems;
    if (s->kind == TD_SPARSE_NVDLA)
        return round_up(elems, s->align);
    if (s->kind != TD_SPARSE_CSR && s->kind != TD_SPARSE_CSC)
        return elems;
    return __builtin_mul_overflow(shape->dim[outer], round_up(shape->dim[!outer], s->pad), &most) ? UINT64_MAX : most;
}

td_status td_sparse_forms(td_sparse *s, const td_shape *shape, td_dtype elem, uint64_t count, td_part_form *forms)
{
    char text[TD_SHAPE_TEXT_BYTES];
    const bool matrix = s->kind == TD_SPARSE_CSR || s->kind == TD_SPARSE_CSC || s->kind == TD_SPARSE_COO;
    s->elem = elem;
    memset(forms, 0, TD_MOST_PARTS * sizeof *forms);
    forms[0] = (td_part_form){.name = "values", .dtype = elem, .shape = list_of(count)};
    if (shape->rank == 0 || (matrix && shape->rank != 2))
        return td_fail(TD_SHAPE, "%s of a tensor of shape %s; it needs %s, so reshape it", td_sparse_kind_name(s),
                       td_shape_print(shape, text), matrix ? "two dimensions" : "a dimension");
    const td_status status = check_bytes(s);
    if (status)
        return status;
    if (s->kind == TD_SPARSE_N_OF_M)
        return ratio_forms(s, shape, forms);
    if (count == 0)
        return td_fail(TD_SHAPE, "%s of a tensor without a value that is not zero; it has no parts",
                       td_sparse_kind_name(s));
    uint64_t elems = 1;
    for (size_t d = 0; d < shape->rank; d++)
        elems *= shape->dim[d];
    const uint64_t most = most_values(s, shape, elems);
    if (count > most)
        return td_fail(TD_SHAPE,
                       "%" PRIu64 " values for a tensor of shape %s, which has %" PRIu64 " elements; pass fewer", count,
                       td_shape_print(shape, text), elems);
    switch (s->kind) {
    case TD_SPARSE_MASK:
        mask_forms(s, shape, elems, forms);
        break;
    case TD_SPARSE_NVDLA:
        return nvdla_forms(s, shape, elems, count, forms);
    case TD_SPARSE_CSR:
        forms[1] = (td_part_form){.name = "columns", .dtype = s->index, .shape = list_of(count)};
        forms[2] = (td_part_form){.name = "rows", .dtype = s->index, .shape = list_of(shape->dim[0] + 1)};
        break;
    case TD_SPARSE_CSC:
        forms[1] = (td_part_form){.name = "rows", .dtype = s->index, .shape = list_of(count)};
        forms[2] = (td_part_form){.name = "columns", .dtype = s->index, .shape = list_of(shape->dim[1] + 1)};
        break;
    case TD_SPARSE_COO:
        forms[1] = (td_part_form){.name = "rows", .dtype = s->index, .shape = list_of(count)};
        forms[2] = (td_part_form){.name = "columns", .dtype = s->index, .shape = list_of(count)};
        break;
    default:
        forms[1] = (td_part_form){.name = "runs", .dtype = s->index, .shape = list_of(count)};
    }
    return TD_OK;
}
