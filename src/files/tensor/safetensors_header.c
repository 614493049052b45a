/* See safetensors.h. Reads and writes the JSON header with jansson; safetensors.c calls it. jansson builds a tree of
 * all that it reads, so a scan in front of it bounds what a hostile header could make it build. */
#include "files/tensor/safetensors.h"

#ifdef TD_HAVE_JANSSON

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* {name: {key: [..]}} is three deep. */
#define MAX_DEPTH 4

static td_status fail_header(const char *what)
{
    return td_fail(TD_FORMAT, "the header %s; write the file again", what);
}

/* Depth, the length of lists, and values per byte (a real entry has one in ten bytes at most): what is past these is
 * refused before any of it is built. */
static td_status bound(const char *text, size_t length)
{
    size_t depth = 0;
    size_t commas[MAX_DEPTH + 1] = {0};
    size_t colons = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (++depth > MAX_DEPTH)
                return td_fail(TD_FORMAT, "the header is nested deeper than %d; write the file again", MAX_DEPTH);
            commas[depth] = 0;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
        } else if (c == ':') {
            if (++colons > length / 10 + 4096)
                return fail_header("has more values than its tensors need");
        } else if (c == ',') {
            if (++commas[depth] >= TD_MAX_RANK && depth > 2)
                return td_fail(TD_FORMAT, "the header has a list of more than %d numbers; reshape the tensor",
                               TD_MAX_RANK);
        }
    }
    return TD_OK;
}

static bool read_size(const json_t *value, uint64_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static td_status read_shape(const json_t *list, const char *name, td_st_entry *entry, uint64_t *bytes)
{
    if (!json_is_array(list) || json_array_size(list) > TD_MAX_RANK)
        return td_fail(TD_FORMAT, "tensor \"%s\" has no shape of at most %d dimensions; write the file again", name,
                       TD_MAX_RANK);
    uint64_t bits = entry->type->bits;
    bool empty = false;
    for (size_t d = 0; d < json_array_size(list); d++) {
        uint64_t extent = 0;
        if (!read_size(json_array_get(list, d), &extent))
            return td_fail(TD_FORMAT, "dimension %zu of tensor \"%s\" is no whole number of at least 0", d, name);
        entry->shape.dim[entry->shape.rank++] = extent;
        empty |= extent == 0;
        if (!td_mul_fits(bits, extent ? extent : 1, &bits))
            return td_fail(TD_OVERFLOW, "the shape of tensor \"%s\" passes 2^63 - 1 bits; use smaller extents", name);
    }
    if (bits % 8 != 0 && !empty)
        return td_fail(TD_FORMAT, "tensor \"%s\" of %s has %" PRIu64 " bits, which fill no whole bytes", name,
                       entry->type->word, bits);
    *bytes = empty ? 0 : bits / 8;
    return TD_OK;
}

static td_status read_entry(const char *name, const json_t *value, td_st_entry *entry)
{
    char text[TD_MEMBER_SHOWN_BYTES];
    uint64_t bytes = 0;
    const char *printed = td_member_shown(name, text);
    const char *word = json_string_value(json_object_get(value, "dtype"));
    const json_t *offsets = json_object_get(value, "data_offsets");
    if (!json_is_object(value) || !word || json_object_size(value) != 3)
        return td_fail(TD_FORMAT, "tensor \"%s\" needs a dtype, a shape and data_offsets, and nothing else", printed);
    *entry = (td_st_entry){.name = name, .type = td_st_type_by_word(word)};
    if (!entry->type) {
        char type[TD_MEMBER_SHOWN_BYTES];
        return td_fail(TD_DTYPE, "tensor \"%s\" has the dtype \"%s\", which is not known", printed,
                       td_member_shown(word, type));
    }
    td_status status = read_shape(json_object_get(value, "shape"), printed, entry, &bytes);
    if (status != TD_OK)
        return status;
    if (!json_is_array(offsets) || json_array_size(offsets) != 2 ||
        !read_size(json_array_get(offsets, 0), &entry->begin) || !read_size(json_array_get(offsets, 1), &entry->end) ||
        entry->begin > entry->end)
        return td_fail(TD_FORMAT, "the data_offsets of tensor \"%s\" are not two rising numbers; write the file again",
                       printed);
    if (entry->end - entry->begin != bytes)
        return td_fail(TD_FORMAT,
                       "tensor \"%s\" needs %" PRIu64 " bytes, its data_offsets hold %" PRIu64 "; write the file again",
                       printed, bytes, entry->end - entry->begin);
    return TD_OK;
}

static td_status read_metadata(const json_t *value)
{
    const char *key = NULL;
    json_t *item = NULL;
    if (!json_is_object(value))
        return fail_header("has __metadata__ that is no object of strings");
    json_object_foreach((json_t *)(uintptr_t)value, key, item)
    {
        if (!json_is_string(item))
            return fail_header("has __metadata__ that is no object of strings");
    }
    return TD_OK;
}

static int by_begin(const void *a, const void *b)
{
    const td_st_entry *x = a;
    const td_st_entry *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Sorted by place, every tensor begins where the one before ends. */
static td_status check_places(td_st_entry *entries, size_t count, uint64_t data_bytes)
{
    uint64_t next = 0;
    char text[TD_MEMBER_SHOWN_BYTES];
    if (count > 1)
        qsort(entries, count, sizeof *entries, by_begin);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].begin != next)
            return td_fail(TD_FORMAT,
                           "tensor \"%s\" begins at byte %" PRIu64 " of the data, the one before ends at %" PRIu64
                           "; %s are refused",
                           td_member_shown(entries[i].name, text), entries[i].begin, next,
                           entries[i].begin > next ? "holes" : "overlaps");
        next = entries[i].end;
    }
    if (next != data_bytes)
        return td_fail(TD_FORMAT, "the tensors need %" PRIu64 " bytes of data, the file has %" PRIu64 "; it is %s",
                       next, data_bytes, next > data_bytes ? "cut short" : "damaged");
    return TD_OK;
}

static td_status read_entries(json_t *root, td_st_header *header)
{
    const char *name = NULL;
    json_t *value = NULL;
    if (!json_is_object(root))
        return fail_header("is no object");
    header->entries = calloc(json_object_size(root) + 1, sizeof *header->entries);
    if (!header->entries)
        return td_fail_alloc(json_object_size(root) * sizeof *header->entries);
    json_object_foreach(root, name, value)
    {
        td_status status = strcmp(name, "__metadata__") == 0
                               ? read_metadata(value)
                               : read_entry(name, value, &header->entries[header->count++]);
        if (status != TD_OK)
            return status;
    }
    return TD_OK;
}

td_status td_st_header_read(const unsigned char *bytes, size_t size, td_st_header *out)
{
    uint64_t length = 0;
    if (size < 8)
        return td_fail(TD_FORMAT, "the file has %zu bytes, its length alone needs 8; it is cut short", size);
    for (unsigned i = 8; i > 0; i--)
        length = length << 8 | bytes[i - 1];
    if (length > TD_SAFETENSORS_MAX_HEADER)
        return td_fail(TD_FORMAT, "a header of %" PRIu64 " bytes, and the format has at most %u; it is no .safetensors",
                       length, TD_SAFETENSORS_MAX_HEADER);
    if (length > size - 8)
        return td_fail(TD_FORMAT, "the file ends inside its header: it has %zu bytes, the header ends at %" PRIu64,
                       size, 8 + length);
    const char *text = (const char *)bytes + 8;
    if (length == 0 || text[0] != '{')
        return fail_header("does not begin with {");
    td_status status = bound(text, (size_t)length);
    if (status != TD_OK)
        return status;
    json_error_t error;
    td_st_header header = {.data_offset = 8 + (size_t)length};
    json_t *root = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!root && (!*error.text || json_error_code(&error) == json_error_out_of_memory))
        return td_fail_alloc((size_t)length);
    if (!root)
        return td_fail(TD_FORMAT, "the header is not JSON at byte %d: %s", error.position, error.text);
    header.json = root;
    status = read_entries(root, &header);
    if (status == TD_OK)
        status = check_places(header.entries, header.count, size - header.data_offset);
    if (status != TD_OK) {
        td_st_header_free(&header);
        return status;
    }
    *out = header;
    return TD_OK;
}

void td_st_header_free(td_st_header *header)
{
    json_decref(header->json);
    free(header->entries);
    *header = (td_st_header){0};
}

/* -- writing -- */

static json_t *make_entry(const td_tensor *tensor, const td_st_type *type, uint64_t begin, uint64_t end)
{
    json_t *shape = json_array();
    for (size_t d = 0; d < tensor->shape.rank; d++)
        if (json_array_append_new(shape, json_integer((json_int_t)tensor->shape.dim[d])) != 0) {
            json_decref(shape);
            return NULL;
        }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", type->word, "shape", shape, "data_offsets", (json_int_t)begin,
                     (json_int_t)end);
}

static td_status add_entry(json_t *root, const char *name, const td_tensor *tensor, uint64_t *next)
{
    const td_st_type *type = td_st_type_of(tensor->dtype);
    char text[TD_MEMBER_SHOWN_BYTES];
    td_member_shown(name, text);
    if (!type)
        return td_fail(TD_DTYPE, "%s has no name in .safetensors; save \"%s\" as .npy", tensor->dtype_name, text);
    if (type->bits < 8 && tensor->elems * type->bits % 8 != 0)
        return td_fail(TD_SHAPE,
                       "%" PRIu64 " elements of %s fill no whole bytes, as .safetensors packs them; save as "
                       ".npy, or pad \"%s\"",
                       tensor->elems, tensor->dtype_name, text);
    if (strcmp(name, "__metadata__") == 0 || json_object_get(root, name))
        return td_fail(TD_ARGUMENT, "the name \"%s\" is %s; use another", text,
                       json_object_get(root, name) ? "given twice" : "not that of a tensor");
    uint64_t begin = *next;
    *next += td_st_bytes(type, tensor->elems);
    json_t *entry = make_entry(tensor, type, begin, *next);
    if (!entry)
        return td_fail_alloc(256);
    if (json_object_set_new(root, name, entry) == 0)
        return TD_OK;
    /* Jansson has one failure for a bad name and for no memory; packing the name as a string tells them apart. */
    json_error_t error;
    json_decref(json_pack_ex(&error, 0, "s", name));
    if (json_error_code(&error) == json_error_invalid_utf8)
        return td_fail(TD_ARGUMENT, "the name \"%s\" is not UTF-8; use another", text);
    return td_fail_alloc(256);
}

td_status td_st_header_print(const td_st_item *items, size_t count, char **text, size_t *length)
{
    json_t *root = json_object();
    uint64_t next = 0;
    td_status status = root ? TD_OK : td_fail_alloc(64);
    for (size_t i = 0; i < count && status == TD_OK; i++)
        status = add_entry(root, items[i].name, items[i].tensor, &next);
    char *json = status == TD_OK ? json_dumps(root, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
    json_decref(root);
    if (status != TD_OK)
        return status;
    size_t used = json ? strlen(json) : 0;
    size_t padded = (8 + used + 63) / 64 * 64 - 8; /* the data begins at a multiple of 64 */
    char *grown = json ? realloc(json, padded + 1) : NULL;
    if (!grown) {
        free(json);
        return td_fail_alloc(padded);
    }
    memset(grown + used, ' ', padded - used);
    *text = grown;
    *length = padded;
    return TD_OK;
}

#else

static td_status fail_absent(void)
{
    return td_fail(TD_FILE, "this build knows no .safetensors, it was made without jansson; install libjansson-dev and "
                            "build again, or save as .npy or .npz");
}

td_status td_st_header_read(const unsigned char *bytes, size_t size, td_st_header *out)
{
    (void)bytes;
    (void)size;
    (void)out;
    return fail_absent();
}

void td_st_header_free(td_st_header *header)
{
    (void)header;
}

td_status td_st_header_print(const td_st_item *items, size_t count, char **text, size_t *length)
{
    (void)items;
    (void)count;
    (void)text;
    (void)length;
    return fail_absent();
}

#endif
