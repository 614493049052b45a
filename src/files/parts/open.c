/* Parts from files: a tensor of a .gguf whose type is a packing, or a weight of a checkpoint. The facade of this
 * folder: it reads the name, and puts the call and the name in front of every message. */
#include "files/elements.h"
#include "files/parts/checkpoint.h"
#include "files/tensor/gguf.h"

#include <string.h>

/* The packing that the caller names, if any, is the file's. */
static td_status check_type(const td_gguf_tensor *t, const char *packing)
{
    if (!t->type->elems)
        return td_fail(TD_DTYPE, "the tensor is of %s, which is not read", t->type->name);
    if (!t->type->packing)
        return td_fail(TD_DTYPE, "the tensor is of %s, which has no parts; open it with td_tensor_open", t->type->name);
    if (packing && *packing && strcmp(packing, t->type->packing) != 0)
        return td_fail(TD_OPTION, "the tensor is of \"%s\", and the packing says \"%s\"; leave it out",
                       t->type->packing, packing);
    return TD_OK;
}

static td_status open_gguf(td_file_map *file, const char *member, const char *packing, td_parts **out)
{
    td_gguf_tensor t = {0};
    td_elements e = {.dtype = {TD_KIND_UINT, 8, 0, 1, 0, 0, 0, 0}};
    td_tensor *records = NULL;
    td_parts *parts = NULL;
    td_status status = td_gguf_find(file, member, &t);
    if (!status)
        status = check_type(&t, packing);
    if (!status)
        status = td_parts_create(t.type->packing, t.shape, &parts);
    if (!status) {
        e.shape = t.shape;
        e.shape.dim[e.shape.rank - 1] /= t.type->elems;
        e.shape.dim[e.shape.rank++] = t.type->bytes;
        status = td_elements_open(file, t.offset, &e, &records);
    }
    if (!status)
        status = td_parts_set_record(parts, NULL, records);
    td_tensor_destroy(&records);
    if (status)
        td_parts_destroy(&parts);
    else
        *out = parts;
    return status;
}

td_status td_parts_open(const char *path, const char *packing, td_parts **out)
{
    static const char call[] = "parts_open";
    if (!path || !out)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a path and a td_parts pointer", call, path ? "out" : "path");
    td_file_name name = {0};
    td_file_map file = {0};
    td_parts *parts = NULL;
    td_status status = td_file_name_parse(path, TD_USE_TENSOR, &name);
    if (!status && name.format == TD_FILE_GGUF) {
        status = td_file_map_open(name.path, &file);
        if (!status)
            status = open_gguf(&file, name.member, packing, &parts);
        td_file_unmap(&file);
    } else if (!status && (name.format == TD_FILE_SAFETENSORS || name.format == TD_FILE_NPZ)) {
        if (!name.member)
            status = td_fail(TD_ARGUMENT, "a weight is named behind the file, as FILE:model.layers.0.mlp.down_proj");
        else
            status = td_checkpoint_open(path, packing ? packing : "", &parts);
    } else if (!status)
        status = td_fail(TD_ARGUMENT, "%s files have no parts; pass a .gguf, .safetensors or .npz file",
                         td_file_format_word(name.format));
    td_file_name_free(&name);
    if (!status)
        *out = parts;
    return td_file_context(status, call, path);
}

td_status td_parts_kind(const char *path, const char **packing, td_shape *shape)
{
    static const char call[] = "parts_kind";
    if (!path || !packing || !shape)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a path, a text pointer and a td_shape", call,
                       !path      ? "path"
                       : !packing ? "packing"
                                  : "shape");
    td_file_name name = {0};
    td_file_map file = {0};
    td_gguf_tensor t = {0};
    td_status status = td_file_name_parse(path, TD_USE_TENSOR, &name);
    if (!status && name.format != TD_FILE_GGUF)
        status = td_fail(TD_ARGUMENT, "only .gguf files say what their tensors are; pass one");
    if (!status)
        status = td_file_map_open(name.path, &file);
    if (!status)
        status = td_gguf_find(&file, name.member, &t);
    td_file_unmap(&file);
    td_file_name_free(&name);
    if (!status) {
        *packing = t.type->packing ? t.type->packing : t.type->name;
        *shape = t.shape;
    }
    return td_file_context(status, call, path);
}
