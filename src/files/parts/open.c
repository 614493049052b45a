/* Parts from files: a tensor of a .gguf whose type is a packing, a weight of a checkpoint, or tensors that are one by
 * the words of the caller or of a layout file. The facade of this
 * folder: it reads the name, and puts the call and the name in front of every message. */
#include "base/profile.h"
#include "files/elements.h"
#include "files/parts/checkpoint.h"
#include "files/tensor/gguf.h"
#include "layout/layout_file.h"

#include <stdlib.h>
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

/* A weight by the name that its tensors share, or by the name of each. With names, what is mxfp4 to gpt-oss may also be
 * one whose parts are tensors of their own, as any packing: its role elems= says so. */
static td_status open_weight(const char *path, bool has_member, const char *how, td_parts **out)
{
    td_part_names names = {0};
    size_t length = 0;
    td_status status = td_part_names_split(path, how, &names);
    if (!status && !names.list && !has_member)
        status = td_fail(TD_ARGUMENT, "a weight is named behind the file, as FILE:model.layers.0.mlp.down_proj, or its "
                                      "tensors behind from, as gptq from qweight=NAME qzeros=NAME scales=NAME");
    else if (!status && names.list && has_member)
        status = td_fail(TD_ARGUMENT,
                         "the file's name has a weight behind it, and \"%s\" names the tensors; drop one of "
                         "them",
                         how);
    else if (!status && names.list && (!td_checkpoint_knows(names.how) || td_part_names_find(&names, "elems", &length)))
        status = td_named_open(&names, out);
    else if (!status)
        status = td_checkpoint_open(&names, out);
    td_part_names_free(&names);
    return status;
}

/* layout:FILE:NAME: the entry of a layout file that says which tensors are one weight. */
static td_status open_entry(const char *text, td_parts **out)
{
    const char *colon = strrchr(text, ':');
    char *path = colon ? strndup(text, (size_t)(colon - text)) : NULL, *file = NULL, *how = NULL;
    if (!colon)
        return td_fail(TD_ARGUMENT, "an entry is named behind the layout file, as layout:chip.txt:weights");
    if (!path)
        return td_fail_alloc(strlen(text));
    td_status status = td_layout_file_tensors(path, colon + 1, &file, &how);
    if (!status)
        status = td_parts_open(file, how, out);
    free(path);
    free(file);
    free(how);
    return status;
}

td_status td_parts_open(const char *path, const char *packing, td_parts **out)
{
    TD_OPERATION(operation, "parts_open");
    static const char call[] = "parts_open";
    if (!path || !out)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a path and a td_parts pointer", call, path ? "out" : "path");
    td_file_name name = {0};
    td_file_map file = {0};
    td_parts *parts = NULL;
    if (strncmp(path, "layout:", 7) == 0) {
        if (packing && *packing)
            return td_file_context(td_fail(TD_OPTION, "the entry has the packing; leave \"%s\" out", packing), call,
                                   path);
        return td_file_context(open_entry(path + 7, out), call, path);
    }
    td_status status = td_file_name_parse(path, TD_USE_TENSOR, &name);
    if (!status && name.format == TD_FILE_GGUF) {
        status = td_file_map_open(name.path, &file);
        if (!status)
            status = open_gguf(&file, name.member, packing, &parts);
        td_file_unmap(&file);
    } else if (!status && (name.format == TD_FILE_SAFETENSORS || name.format == TD_FILE_NPZ)) {
        status = open_weight(path, name.member != NULL, packing ? packing : "", &parts);
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
