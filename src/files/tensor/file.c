/* The facade of tensor files: reads a name, maps or creates the file, hands it to the format, and puts the call and the
 * name in front of every message. It refuses to save one tensor over a file that holds others. */
#include "files/tensor/members.h"

#include "base/profile.h"
#include "base/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const td_container_format *container_of(td_file_format format)
{
    static const td_container_format *const containers[TD_FILE_FORMATS] = {
        [TD_FILE_NPZ] = &td_container_npz,
        [TD_FILE_SAFETENSORS] = &td_container_safetensors,
        [TD_FILE_GGUF] = &td_container_gguf,
    };
    return containers[format];
}

/* The dtype that the call or the name gives, in `as`; *given points to it or is NULL. */
static td_status choose_dtype(const char *dtype, const td_file_options *options, td_dtype *as, const td_dtype **given)
{
    bool from_call = dtype && dtype[0];
    if (from_call && options->has_dtype)
        return td_fail(TD_ARGUMENT, "the dtype is given twice, in the name and as \"%s\"; leave one out", dtype);
    *as = options->dtype;
    *given = from_call || options->has_dtype ? as : NULL;
    return from_call ? td_dtype_parse(dtype, as) : TD_OK;
}

static td_status read_tensor(td_file_map *file, const td_file_name *name, const td_dtype *as, td_tensor **out)
{
    TD_STEP(step, "read file");
    td_profile_step_bytes(step, file->size);
    const td_container_format *container = container_of(name->format);
    if (container)
        return container->read(file, name->member, as, out);
    return name->format == TD_FILE_RAW ? td_raw_tensor_read(file, &name->options, as, out) : td_npy_read(file, as, out);
}

td_status td_tensor_open(const char *path, const char *dtype, td_tensor **out)
{
    static const char call[] = "tensor_open";
    TD_OPERATION(operation, call);
    if (!path || !out)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a path and a td_tensor pointer", call, path ? "out" : "path");
    td_dtype as;
    const td_dtype *given = NULL;
    td_file_name name = {0};
    td_file_map file = {0};
    td_status status = td_file_name_parse(path, TD_USE_TENSOR, &name);
    if (status == TD_OK)
        status = choose_dtype(dtype, &name.options, &as, &given);
    if (status == TD_OK)
        status = td_file_map_open(name.path, &file);
    if (status == TD_OK) {
        td_tensor *tensor = NULL;
        status = read_tensor(&file, &name, given, &tensor);
        td_file_unmap(&file);
        if (status == TD_OK)
            status = td_tensor_set_name(tensor, path);
        if (status == TD_OK) {
            *out = tensor;
            td_record(
                &(td_recorded){.kind = TD_RECORDED_TENSOR, .text = "open", .as = path, .behind = dtype, .out = tensor});
        } else
            td_tensor_destroy(&tensor);
    }
    td_file_name_free(&name);
    return td_file_context(status, call, path);
}

td_status td_tensor_members(const char *path, char ***names, size_t *count)
{
    static const char call[] = "tensor_members";
    if (!path || !names || !count)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a path, a char ** pointer and a size_t", call,
                       !path    ? "path"
                       : !names ? "names"
                                : "count");
    td_file_name name = {0};
    td_file_map file = {0};
    td_member_list list = {0};
    td_status status = td_file_name_parse(path, TD_USE_TENSOR, &name);
    const td_container_format *container = status == TD_OK ? container_of(name.format) : NULL;
    if (status == TD_OK && (!container || name.member))
        status = td_fail(TD_ARGUMENT, "%s; pass a .npz or .safetensors file",
                         name.member ? "the name is of one tensor already" : "the file is one tensor without a name");
    if (status == TD_OK)
        status = td_file_map_open(name.path, &file);
    if (status == TD_OK) {
        status = container->list(&file, &list);
        td_file_unmap(&file);
    }
    if (status == TD_OK)
        status = td_member_list_take(&list, names, count);
    td_member_list_free(&list);
    td_file_name_free(&name);
    return td_file_context(status, call, path);
}

/* -- saving -- */

/* A file of several tensors would lose the others. One that cannot be read is no reason not to write a new one. */
static td_status check_replaced(const td_file_name *name, const td_container_format *container, const char *member)
{
    td_file_map file = {0};
    td_member_list list = {0};
    td_status status = TD_OK;
    if (strcmp(name->path, "-") == 0 || access(name->path, F_OK) != 0 || td_file_map_open(name->path, &file) != TD_OK)
        return TD_OK;
    if (container->list(&file, &list) == TD_OK) {
        bool same = list.count == 1 && strcmp(list.text, member) == 0;
        if (list.count > 0 && !same)
            status = td_fail(TD_ARGUMENT,
                             "the file is there with %zu tensor%s, which saving \"%s\" would drop; save all of them at "
                             "once with td_tensor_save_all, or use another file",
                             list.count, list.count == 1 ? "" : "s", member);
    }
    td_member_list_free(&list);
    td_file_unmap(&file);
    return status;
}

static td_status check_save_options(const td_file_options *options)
{
    if (options->has_dtype || options->has_shape || options->offset_bytes)
        return td_fail(TD_OPTION,
                       "a tensor is saved with its own dtype and shape, from the first byte on; leave dtype, "
                       "shape and offset out");
    return TD_OK;
}

static td_status write_tensor(const td_tensor *tensor, const td_file_name *name, td_writer *writer)
{
    const td_container_format *container = container_of(name->format);
    if (container) {
        const char *member = name->member ? name->member : container->default_member;
        return container->write(&member, &tensor, 1, writer);
    }
    if (name->format == TD_FILE_RAW)
        return td_raw_tensor_write(tensor, &name->options, writer);
    td_npy_write(tensor, writer);
    return TD_OK;
}

td_status td_tensor_save(const td_tensor *tensor, const char *path)
{
    static const char call[] = "tensor_save";
    TD_OPERATION(operation, call);
    if (!tensor || !path)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass a tensor and a path", call, tensor ? "path" : "tensor");
    td_file_name name = {0};
    td_writer writer;
    td_status status = td_file_name_parse(path, TD_USE_TENSOR, &name);
    if (status == TD_OK)
        status = check_save_options(&name.options);
    if (status == TD_OK)
        status = td_file_check(tensor->origin);
    const td_container_format *container = status == TD_OK ? container_of(name.format) : NULL;
    if (container)
        status = check_replaced(&name, container, name.member ? name.member : container->default_member);
    if (status == TD_OK)
        status = td_writer_open(name.path, &writer);
    if (status == TD_OK) {
        TD_STEP(step, "write file");
        td_profile_step_bytes(step, tensor->elems * tensor->dtype.bytes);
        status = write_tensor(tensor, &name, &writer);
        status = td_writer_close(&writer, status);
    }
    td_file_name_free(&name);
    return td_file_context(status, call, path);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static td_status check_names(const char *const *names, const td_tensor *const *tensors, size_t count)
{
    if (count == 0)
        return td_fail(TD_ARGUMENT, "no tensors to save; pass at least one");
    for (size_t i = 0; i < count; i++)
        if (!names[i] || !tensors[i] || names[i][0] == '\0')
            return td_fail(TD_ARGUMENT, "tensor %zu %s; pass a name and a tensor for each", i,
                           !tensors[i] ? "is NULL" : "has no name");
    for (size_t i = 0; i < count; i++) {
        td_status status = td_file_check(tensors[i]->origin);
        if (status != TD_OK)
            return status;
    }
    const char **sorted = malloc(count * sizeof *sorted);
    td_status status = sorted ? TD_OK : td_fail_alloc(count * sizeof *sorted);
    if (sorted) {
        memcpy(sorted, names, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_text);
    }
    for (size_t i = 1; i < count && status == TD_OK; i++)
        if (strcmp(sorted[i], sorted[i - 1]) == 0)
            status = td_fail(TD_ARGUMENT, "the name \"%s\" is given twice; use another", sorted[i]);
    free(sorted);
    return status;
}

td_status td_tensor_save_all(const char *const *names, const td_tensor *const *tensors, size_t count, const char *path)
{
    static const char call[] = "tensor_save_all";
    TD_OPERATION(operation, call);
    if (!names || !tensors || !path)
        return td_fail(TD_ARGUMENT, "%s: %s is NULL; pass names, tensors and a path", call,
                       !names     ? "names"
                       : !tensors ? "tensors"
                                  : "path");
    td_file_name name = {0};
    td_writer writer;
    td_status status = td_file_name_parse(path, TD_USE_TENSOR, &name);
    const td_container_format *container = status == TD_OK ? container_of(name.format) : NULL;
    if (status == TD_OK)
        status = check_save_options(&name.options);
    if (status == TD_OK && (!container || name.member))
        status = td_fail(TD_ARGUMENT, "%s; pass a .npz or .safetensors file",
                         name.member ? "the name is of one tensor already" : "the format holds one tensor");
    if (status == TD_OK)
        status = check_names(names, tensors, count);
    if (status == TD_OK)
        status = td_writer_open(name.path, &writer);
    if (status == TD_OK) {
        TD_STEP(step, "write file");
        for (size_t i = 0; i < count; i++)
            td_profile_step_bytes(step, tensors[i]->elems * tensors[i]->dtype.bytes);
        status = container->write(names, tensors, count, &writer);
        status = td_writer_close(&writer, status);
    }
    td_file_name_free(&name);
    return td_file_context(status, call, path);
}
