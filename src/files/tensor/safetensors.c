/* .safetensors files in and out. The facade in file.c calls it; the header is read in safetensors_header.c. A
 * tensor stays mapped where it lies, only those of 4 and 6 bits are unpacked. It refuses types that have no dtype here,
 * unless the caller says what their bytes mean. */
#include "files/tensor/safetensors.h"
#include "files/elements.h"

#include <stdlib.h>
#include <string.h>

static td_status list_members(const td_file_map *file, td_member_list *list)
{
    td_st_header header;
    td_status status = td_st_header_read(file->bytes, file->size, &header);
    if (status != TD_OK)
        return status;
    for (size_t i = 0; i < header.count && status == TD_OK; i++)
        status = td_member_list_add(list, header.entries[i].name, strlen(header.entries[i].name));
    td_st_header_free(&header);
    return status;
}

static const td_st_entry *find_entry(const td_st_header *header, const char *member)
{
    if (!member)
        return header->count == 1 ? &header->entries[0] : NULL;
    for (size_t i = 0; i < header->count; i++)
        if (strcmp(header->entries[i].name, member) == 0)
            return &header->entries[i];
    return NULL;
}

static td_status choose_elements(const td_st_entry *entry, const td_dtype *as, td_elements *out)
{
    const td_st_type *type = entry->type;
    td_elements e = {.shape = entry->shape, .packed = type->bits < 8};
    if (as) {
        char name[TD_DTYPE_NAME_BYTES];
        td_dtype_print(*as, name);
        if (e.packed ? as->bits != type->bits : 8u * as->bytes != type->bits)
            return td_fail(TD_DTYPE,
                           "dtype %s does not fit the %u bits per element of the file (%s); pass one that does", name,
                           type->bits, type->word);
        e.dtype = *as;
    } else {
        if (!type->dtype)
            return td_fail(TD_DTYPE, "the tensor is of %s, which no dtype here is; pass the dtype u%u for its bits",
                           type->word, type->bits);
        td_status status = td_dtype_parse(type->dtype, &e.dtype);
        if (status != TD_OK)
            return status;
    }
    uint64_t elems = 0;
    uint64_t bytes = 0;
    *out = e;
    return td_shape_check(&e.shape, e.dtype, &elems, &bytes);
}

static td_status st_read(td_file_map *file, const char *member, const td_dtype *as, td_tensor **out)
{
    td_st_header header;
    td_elements e = {0};
    td_status status = td_st_header_read(file->bytes, file->size, &header);
    if (status != TD_OK)
        return status;
    const td_st_entry *entry = find_entry(&header, member);
    size_t offset = entry ? header.data_offset + (size_t)entry->begin : 0;
    status = entry ? choose_elements(entry, as, &e) : td_member_fail_missing(&td_container_safetensors, file, member);
    td_st_header_free(&header);
    return status == TD_OK ? td_elements_open(file, offset, &e, out) : status;
}

/* Wide elements first: every tensor then begins at a multiple of its element. */
static void order_by_width(const char *const *names, const td_tensor *const *tensors, size_t count, td_st_item *items)
{
    size_t used = 0;
    for (unsigned bytes = 8; bytes > 0; bytes /= 2)
        for (size_t i = 0; i < count; i++)
            if (tensors[i]->dtype.bytes == bytes)
                items[used++] = (td_st_item){names[i], tensors[i]};
}

static void put_data(const td_tensor *tensor, td_writer *writer)
{
    if (td_st_type_of(tensor->dtype)->bits < 8)
        td_elements_put_packed(tensor, writer);
    else
        td_writer_put(writer, tensor->data, (size_t)tensor->elems * tensor->dtype.bytes);
}

static td_status st_write(const char *const *names, const td_tensor *const *tensors, size_t count, td_writer *writer)
{
    char *json = NULL;
    size_t length = 0;
    td_st_item *items = malloc(count * sizeof *items);
    if (!items)
        return td_fail_alloc(count * sizeof *items);
    order_by_width(names, tensors, count, items);
    td_status status = td_st_header_print(items, count, &json, &length);
    if (status == TD_OK) {
        unsigned char *head = td_writer_reserve(writer, 8);
        for (unsigned i = 0; i < 8; i++)
            head[i] = (unsigned char)(length >> (8 * i) & 0xff);
        td_writer_put(writer, json, length);
        for (size_t i = 0; i < count; i++)
            put_data(items[i].tensor, writer);
    }
    free(json);
    free(items);
    return status;
}

const td_container_format td_container_safetensors = {list_members, st_read, st_write, "tensor"};
