/* .npz files: zip archives of .npy members, named as numpy names them, without their .npy. Stored members are mapped
 * where they lie, deflated ones inflated once. The facade in file.c calls it. It refuses a name that stands
 * twice. */
#include "files/tensor/members.h"
#include "files/tensor/zip.h"

#include <stdlib.h>
#include <string.h>

/* The name without .npy, or 0 when the member is no array. */
static size_t array_name(const td_zip_entry *entry)
{
    size_t length = entry->name_length;
    return length > 4 && memcmp(entry->name + length - 4, ".npy", 4) == 0 ? length - 4 : 0;
}

static bool is_called(const td_zip_entry *entry, const char *member)
{
    size_t length = strlen(member);
    size_t name = array_name(entry);
    return name && ((length == name && memcmp(entry->name, member, length) == 0) ||
                    (length == entry->name_length && memcmp(entry->name, member, length) == 0));
}

static td_status list_members(const td_file_map *file, td_member_list *list)
{
    td_zip zip = {0};
    td_status status = td_zip_open(file->bytes, file->size, &zip);
    size_t offset = zip.directory;
    for (uint64_t i = 0; status == TD_OK && i < zip.entries;) {
        td_zip_entry entry;
        status = td_zip_next(&zip, &i, &offset, &entry);
        if (status == TD_OK && array_name(&entry))
            status = td_member_list_add(list, entry.name, array_name(&entry));
    }
    return status;
}

static td_status find_member(const td_file_map *file, const td_zip *zip, const char *member, td_zip_entry *out)
{
    size_t found = 0;
    size_t offset = zip->directory;
    for (uint64_t i = 0; i < zip->entries;) {
        td_zip_entry entry;
        td_status status = td_zip_next(zip, &i, &offset, &entry);
        if (status != TD_OK)
            return status;
        if (member ? is_called(&entry, member) : array_name(&entry) > 0) {
            *out = entry;
            found++;
        }
    }
    if (found == 1)
        return TD_OK;
    if (found > 1 && member)
        return td_fail(TD_FORMAT, "the name \"%s\" stands %zu times in the file; write it again", member, found);
    return td_member_fail_missing(&td_container_npz, file, member);
}

static td_status npz_read(td_file_map *file, const char *member, const td_dtype *as, td_tensor **out)
{
    td_zip zip = {0};
    td_zip_entry entry = {0};
    td_file_map bytes = {0};
    td_status status = td_zip_open(file->bytes, file->size, &zip);
    if (status == TD_OK)
        status = find_member(file, &zip, member, &entry);
    if (status == TD_OK)
        status = td_zip_member(&zip, &entry, file, &bytes);
    if (status != TD_OK)
        return status;
    status = td_npy_read(&bytes, as, out);
    td_file_unmap(&bytes);
    return status;
}

static td_status npz_write(const char *const *names, const td_tensor *const *tensors, size_t count, td_writer *writer)
{
    td_zip_writer zip = {.writer = writer};
    td_status status = TD_OK;
    for (size_t i = 0; i < count && status == TD_OK; i++) {
        size_t length = strlen(names[i]);
        if (length > 65000)
            status = td_fail(TD_ARGUMENT, "a name of %zu bytes; a name in a zip archive has at most 65000", length);
        char *name = status == TD_OK ? malloc(length + 5) : NULL;
        if (status == TD_OK && !name)
            status = td_fail_alloc(length + 5);
        if (status == TD_OK) {
            unsigned char header[TD_NPY_HEADER_BYTES];
            memcpy(name, names[i], length);
            memcpy(name + length, ".npy", 5);
            const td_zip_part parts[2] = {
                {header, td_npy_header_print(tensors[i], header)},
                {tensors[i]->data, (size_t)tensors[i]->elems * tensors[i]->dtype.bytes},
            };
            status = td_zip_put(&zip, name, parts, 2);
        }
        free(name);
    }
    return td_zip_finish(&zip, status);
}

const td_container_format td_container_npz = {list_members, npz_read, npz_write, "arr_0"};
