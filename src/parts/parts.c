/* Parts: the facade of packings. A tensor goes in, its parts come out as tensors of the library, and the other way. It
 * makes and frees them, checks what callers pass, and refuses parts that no longer fit their packing; blocks.c and
 * sparse.c calculate. */
#include "parts/blocks.h"

#include "base/profile.h"
#include "base/suggest.h"
#include "base/text.h"
#include "parts/ggml_k.h"
#include "parts/object.h"
#include "values/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether packing writes all of a part: everything of blocks, and some parts of sparse packings. */
static bool is_written_whole(const td_parts *p, int kind)
{
    return p->unset && (!p->is_sparse || td_sparse_writes_part(&p->sparse, kind));
}

static td_status make_part(td_parts *p, int kind, const char *source)
{
    char dtype[TD_DTYPE_NAME_BYTES], name[512];
    td_dtype_print(p->form[kind].dtype, dtype);
    td_status status = (is_written_whole(p, kind) ? td_tensor_create_unset
                                                  : td_tensor_create)(dtype, p->form[kind].shape, &p->tensor[kind]);
    if (status)
        return status;
    snprintf(name, sizeof name, "%s%s%s", source, *source ? "." : "", p->form[kind].name);
    return td_tensor_set_name(p->tensor[kind], name);
}

/* The packing is understood, and what depends on the shape alone. */
static td_status read_packing(const char *packing, td_parts *p)
{
    p->is_sparse = td_sparse_is(packing);
    if (p->is_sparse) {
        const td_status status = td_sparse_parse(packing, &p->sparse);
        const char *at = packing + strspn(packing, " \t");
        snprintf(p->name, sizeof p->name, "%.*s", (int)strcspn(at, " \t"), at);
        if (!status)
            td_sparse_print(&p->sparse, p->text);
        return status;
    }
    td_status status = td_packing_parse(packing, &p->packing);
    if (!status)
        status = td_blocks_bind(&p->packing, &p->shape, &p->block);
    if (status)
        return status;
    memcpy(p->name, p->packing.name, sizeof p->name);
    td_packing_print(&p->packing, p->text);
    td_blocks_forms(&p->packing, &p->shape, &p->block, p->form);
    return TD_OK;
}

/* What the parts look like: of a sparse packing that depends on the tensor, on tensors that are joined, or on words. */
static td_status find_forms(td_parts *p, const td_tensor *tensor, td_tensor *const *joined, size_t count)
{
    td_dtype elem = p->sparse.elem;
    uint64_t values = p->sparse.count;
    td_status status = TD_OK;
    if (!p->is_sparse)
        return TD_OK;
    if (tensor) {
        elem = tensor->dtype;
        status = td_sparse_count(&p->sparse, tensor, &values);
    } else if (joined && count && joined[0]) {
        elem = joined[0]->dtype;
        values = joined[0]->elems;
    } else if (!p->sparse.has_elem || (!p->sparse.has_count && p->sparse.kind != TD_SPARSE_N_OF_M))
        return td_fail(TD_OPTION,
                       "packing \"%s\" does not say how many values there are, and of which dtype; add elem=f32%s",
                       p->text, p->sparse.kind == TD_SPARSE_N_OF_M ? "" : " and count=100");
    if (!status)
        status = td_sparse_forms(&p->sparse, &p->shape, elem, values, p->form);
    if (!status)
        td_sparse_print(&p->sparse, p->text); /* with the words that depend on the tensor */
    return status;
}

/* Without tensors yet. */
static td_status new_parts(const char *packing, const td_shape *shape, const td_tensor *tensor,
                           td_tensor *const *joined, size_t count, td_parts **out)
{
    td_parts *p = calloc(1, sizeof *p);
    if (!p)
        return td_fail_alloc(sizeof *p);
    p->shape = *shape;
    td_status status = read_packing(packing, p);
    if (!status)
        status = find_forms(p, tensor, joined, count);
    if (status)
        free(p);
    else
        *out = p;
    return status;
}

td_status td_parts_of(const char *packing, const td_shape *shape, const td_tensor *tensor, td_parts **out)
{
    return new_parts(packing, shape, tensor, NULL, 0, out);
}

td_status td_parts_make_tensors(td_parts *p, const char *source)
{
    td_status status = TD_OK;
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++)
        if (p->form[kind].name)
            status = make_part(p, kind, source);
    return status;
}

/* Parts for this tensor, which is packed into them, or of zeros, for any of that shape. */
static td_status make_parts(const char *packing, const td_shape *shape, const td_tensor *tensor, td_parts **out)
{
    td_parts *p = NULL;
    td_status status = td_parts_of(packing, shape, tensor, &p);
    if (!status) {
        p->unset = tensor != NULL;
        status = td_parts_make_tensors(p, tensor ? td_tensor_name(tensor) : "");
    }
    if (status)
        td_parts_destroy(&p);
    else
        *out = p;
    return status;
}

static uint64_t elems_of(const td_shape *shape)
{
    uint64_t elems = 1; /* not more than those of the whole tensor, which fit */
    for (size_t d = 0; d < shape->rank; d++)
        elems *= shape->dim[d];
    return elems;
}

/* A tensor of the caller's as this part: its shape may be another, but not its dtype and its number of elements. */
static td_status borrow_part(td_parts *p, int kind, td_tensor *tensor)
{
    const td_dtype dtype = p->form[kind].dtype;
    const td_shape shape = p->form[kind].shape;
    char name[TD_DTYPE_NAME_BYTES], needed[TD_SHAPE_TEXT_BYTES], found[TD_SHAPE_TEXT_BYTES];
    td_dtype_print(dtype, name);
    if (!tensor)
        return td_fail(TD_ARGUMENT, "the part \"%s\" is NULL; pass a tensor of %s, shape %s", p->form[kind].name, name,
                       td_shape_print(&shape, needed));
    if (!td_dtype_equal(tensor->dtype, dtype) || tensor->elems != elems_of(&shape))
        return td_fail(TD_SHAPE, "the part \"%s\" of \"%s\" is a tensor of %s, shape %s; pass one of %s, shape %s",
                       p->form[kind].name, p->name, tensor->dtype_name, td_shape_print(&tensor->shape, found), name,
                       td_shape_print(&shape, needed));
    p->tensor[kind] = tensor;
    return td_file_check(tensor->origin);
}

static td_block_parts blocks_of(const td_parts *p)
{
    return (td_block_parts){.elems = p->tensor[TD_PART_ELEMS],
                            .scales = p->tensor[TD_PART_SCALES],
                            .zeros = p->tensor[TD_PART_ZEROS],
                            .global = p->tensor[TD_PART_GLOBAL]};
}

td_status td_parts_pack_into(td_parts *p, const td_tensor *tensor)
{
    TD_STEP(step, "pack");
    td_profile_step_bytes(step, tensor->elems * tensor->dtype.bytes);
    if (p->is_sparse)
        return td_sparse_pack(&p->sparse, tensor, p->tensor);
    if (p->packing.supers && !td_ggml_k_can(&p->packing))
        return td_fail(TD_OPTION,
                       "\"%s\" is read and not made; packing makes super blocks of up to %d elements, with scale=i6 or "
                       "the like for signed ones, scale=u6 min=u6 for unsigned ones, so pass those, or join its parts",
                       p->text, TD_STRIP);
    const td_block_parts blocks = blocks_of(p);
    td_blocks_pack(&p->packing, &p->block, tensor, &blocks);
    return TD_OK;
}

td_status td_parts_pack(const td_tensor *tensor, const char *packing, td_parts **out)
{
    TD_OPERATION(operation, "parts_pack");
    if (!tensor || !packing || !out)
        return td_fail(TD_ARGUMENT,
                       "parts_pack: %s is NULL; pass a tensor, a packing such as \"mxfp4\", and a td_parts",
                       !tensor    ? "the tensor"
                       : !packing ? "the packing"
                                  : "out");
    td_parts *p = NULL;
    td_status status = td_file_check(tensor->origin);
    if (!status)
        status = make_parts(packing, &tensor->shape, tensor, &p);
    if (!status)
        status = td_parts_pack_into(p, tensor);
    if (status) {
        td_parts_destroy(&p);
        td_fail_prefix("parts_pack: ");
        return status;
    }
    *out = p;
    return TD_OK;
}

/* That a tensor of any dtype can have it. */
static td_status check_shape(const td_shape *shape)
{
    static const td_dtype widest = {TD_KIND_FLOAT, 64, 11, 8, 52, TD_FLAVOR_IEEE, 0, 0};
    uint64_t elems = 0, bytes = 0;
    return td_shape_check(shape, widest, &elems, &bytes);
}

td_status td_parts_create(const char *packing, td_shape shape, td_parts **out)
{
    if (!packing || !out)
        return td_fail(TD_ARGUMENT, "parts_create: %s is NULL; pass a packing such as \"mxfp4\", and a td_parts",
                       packing ? "out" : "the packing");
    td_status status = check_shape(&shape);
    if (!status)
        status = make_parts(packing, &shape, NULL, out);
    if (status)
        td_fail_prefix("parts_create: ");
    return status;
}

td_status td_parts_join(const char *packing, td_shape shape, td_tensor *const *tensors, size_t count, td_parts **out)
{
    if (!packing || !tensors || !out)
        return td_fail(TD_ARGUMENT,
                       "parts_join: %s is NULL; pass a packing such as \"mxfp4\", its parts in their order, and a "
                       "td_parts",
                       !packing   ? "the packing"
                       : !tensors ? "the list of tensors"
                                  : "out");
    td_parts *p = NULL;
    size_t used = 0, needed = 0;
    td_text list = {0};
    td_status status = check_shape(&shape);
    if (!status)
        status = new_parts(packing, &shape, NULL, tensors, count, &p);
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++)
        if (p->form[kind].name) {
            td_text_add(&list, "%s%s", needed ? ", " : "", p->form[kind].name);
            needed++;
        }
    if (!status && needed != count)
        status = td_fail(TD_ARGUMENT, "%zu tensors for \"%s\", which has %zu parts: %s", count, p->name, needed,
                         list.text ? list.text : "");
    free(list.text);
    if (p)
        p->borrowed = true;
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++)
        if (p->form[kind].name)
            status = borrow_part(p, kind, tensors[used++]);
    if (status) {
        td_parts_destroy(&p);
        td_fail_prefix("parts_join: ");
        return status;
    }
    *out = p;
    return TD_OK;
}

void td_parts_destroy(td_parts **parts)
{
    if (!parts || !*parts)
        return;
    for (int kind = 0; kind < TD_MOST_PARTS && !(*parts)->borrowed; kind++)
        td_tensor_destroy(&(*parts)->tensor[kind]);
    free(*parts);
    *parts = NULL;
}

const char *td_parts_packing(const td_parts *parts)
{
    return parts ? parts->text : "";
}

td_shape td_parts_shape(const td_parts *parts)
{
    return parts ? parts->shape : (td_shape){0};
}

size_t td_parts_count(const td_parts *parts)
{
    size_t count = 0;
    for (int kind = 0; parts && kind < TD_MOST_PARTS; kind++)
        count += parts->tensor[kind] != NULL;
    return count;
}

const char *td_parts_name(const td_parts *parts, size_t number)
{
    for (int kind = 0; parts && kind < TD_MOST_PARTS; kind++)
        if (parts->tensor[kind] && number-- == 0)
            return parts->form[kind].name;
    return NULL;
}

td_status td_parts_part(td_parts *parts, const char *name, td_tensor **out)
{
    if (!parts || !name || !out)
        return td_fail(TD_ARGUMENT, "parts_part: %s is NULL; pass parts, a name such as \"scales\", and a td_tensor",
                       !parts  ? "parts"
                       : !name ? "the name"
                               : "out");
    const char *known[TD_MOST_PARTS];
    size_t count = 0;
    td_text list = {0};
    for (int kind = 0; kind < TD_MOST_PARTS; kind++) {
        if (!parts->tensor[kind])
            continue;
        if (strcmp(name, parts->form[kind].name) == 0) {
            *out = parts->tensor[kind];
            free(list.text);
            return TD_OK;
        }
        td_text_add(&list, "%s%s", count ? ", " : "", parts->form[kind].name);
        known[count++] = parts->form[kind].name;
    }
    const char *near = td_suggest(name, known, count);
    const td_status status = td_fail(TD_OPTION, "parts_part: \"%s\" is no part of \"%s\"; %s%s%s%s", name, parts->name,
                                     near ? "did you mean \"" : "they are ", near ? near : "",
                                     near ? "\"? they are " : "", list.text ? list.text : "");
    free(list.text);
    return status;
}

td_status td_parts_take(td_parts *parts, const char *name, td_tensor **out)
{
    td_tensor *part = NULL;
    const td_status status = td_parts_part(parts, name, &part);
    if (status)
        return status;
    if (parts->borrowed)
        return td_fail(TD_ARGUMENT, "parts_take: the part \"%s\" was joined, so it belongs to its caller already",
                       name);
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        if (parts->tensor[kind] == part)
            parts->tensor[kind] = NULL;
    *out = part;
    return TD_OK;
}

/* A sparse tensor in the dtype of its values, or converted to another; `out` is new, and lost where it is refused. */
static td_status unpack_sparse(const td_parts *parts, td_tensor *out)
{
    TD_STEP(step, "unpack");
    td_profile_step_bytes(step, out->elems * out->dtype.bytes);
    char name[TD_DTYPE_NAME_BYTES];
    td_tensor *dense = NULL;
    const td_dtype elem = parts->form[0].dtype;
    if (td_dtype_equal(elem, out->dtype))
        return td_sparse_unpack(&parts->sparse, parts->tensor, out);
    td_dtype_print(elem, name);
    td_status status = td_tensor_create(name, parts->shape, &dense);
    if (!status)
        status = td_sparse_unpack(&parts->sparse, parts->tensor, dense);
    if (!status) {
        const td_as as = {.dtype = out->dtype, .scale_f32 = 1, .scale_f64 = 1};
        td_convert convert;
        (void)td_convert_bind(&as, elem, TD_TO_MEMORY, NULL, &convert); /* without a scale nothing is refused */
        td_convert_run(&convert, out->data, dense->data, dense->elems, 0, 1);
    }
    td_tensor_destroy(&dense);
    return status;
}

static void unpack_blocks(const td_parts *parts, td_tensor *out)
{
    TD_STEP(step, "unpack");
    td_profile_step_bytes(step, out->elems * out->dtype.bytes);
    const td_block_parts blocks = blocks_of(parts);
    td_blocks_unpack(&parts->packing, &parts->block, &blocks, out);
}

/* What is missing, and the dtype that was asked for: f32, or that of the values of a sparse tensor, where none was. */
static td_status check_unpack(const td_parts *parts, const char *dtype, char *type)
{
    td_dtype known = parts->form[0].dtype;
    td_status status = TD_OK;
    if (dtype && *dtype)
        status = td_dtype_parse(dtype, &known);
    else if (!parts->is_sparse)
        status = td_dtype_parse("f32", &known);
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++)
        if (parts->form[kind].name && !parts->tensor[kind])
            status = td_fail(TD_ARGUMENT, "the part \"%s\" of \"%s\" was taken; join the parts again",
                             parts->form[kind].name, parts->name);
    td_dtype_print(known, type);
    return status;
}

/* Into a new tensor. */
static td_status unpack_new(const td_parts *parts, const char *dtype, td_tensor **out)
{
    const bool is_written = !parts->is_sparse || td_sparse_writes_tensor(&parts->sparse);
    td_status status = (is_written ? td_tensor_create_unset : td_tensor_create)(dtype, parts->shape, out);
    if (status)
        return status;
    if (parts->is_sparse)
        status = unpack_sparse(parts, *out);
    else
        unpack_blocks(parts, *out);
    if (status)
        td_tensor_destroy(out);
    return status;
}

td_status td_parts_unpack_into(const td_parts *parts, td_tensor *out)
{
    td_tensor *made = NULL;
    if (!parts->is_sparse) {
        unpack_blocks(parts, out);
        return TD_OK;
    }
    if (td_sparse_refuses_first(&parts->sparse) && td_dtype_equal(parts->form[0].dtype, out->dtype))
        return unpack_sparse(parts, out);
    const td_status status = unpack_new(parts, out->dtype_name, &made);
    if (!status)
        memcpy(out->data, made->data, (size_t)made->elems * made->dtype.bytes);
    td_tensor_destroy(&made);
    return status;
}

/* A part may have been reshaped since it was made; its elements and its dtype are those of the packing still. */
td_status td_parts_unpack(const td_parts *parts, const char *dtype, td_tensor **out)
{
    TD_OPERATION(operation, "parts_unpack");
    char type[TD_DTYPE_NAME_BYTES];
    td_tensor *tensor = NULL;
    if (!parts || !out)
        return td_fail(TD_ARGUMENT, "parts_unpack: %s is NULL; pass parts, and a td_tensor", parts ? "out" : "parts");
    td_status status = check_unpack(parts, dtype, type);
    if (status) {
        td_fail_prefix("parts_unpack: ");
        return status;
    }
    status = unpack_new(parts, type, &tensor);
    if (status) {
        td_fail_prefix("parts_unpack: ");
        return status;
    }
    *out = tensor;
    return TD_OK;
}
