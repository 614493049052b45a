/* .gguf files in; nothing writes them. The facade in file.c calls it for plain tensors, which stay mapped where they
 * lie; those of block types are refused here with the call that reads them, unless the caller asks for their bytes.
 * Every count and length of the file is held against the bytes that are left before anything follows it. */
#include "files/tensor/gguf.h"
#include "files/elements.h"

#include <inttypes.h>
#include <string.h>

static const td_gguf_type types[] = {
    {0, "f32", "f32", NULL, 1, 4},
    {1, "f16", "f16", NULL, 1, 2},
    {2, "q4_0", NULL, "q4_0", 32, 18},
    {3, "q4_1", NULL, "q4_1", 32, 20},
    {6, "q5_0", NULL, "q5_0", 32, 22},
    {7, "q5_1", NULL, "q5_1", 32, 24},
    {8, "q8_0", NULL, "q8_0", 32, 34},
    {9, "q8_1", NULL, NULL, 0, 0},
    {10, "q2_K", NULL, "q2_K", 256, 84},
    {11, "q3_K", NULL, "q3_K", 256, 110},
    {12, "q4_K", NULL, "q4_K", 256, 144},
    {13, "q5_K", NULL, "q5_K", 256, 176},
    {14, "q6_K", NULL, "q6_K", 256, 210},
    {15, "q8_K", NULL, NULL, 0, 0},
    {16, "iq2_xxs", NULL, NULL, 0, 0},
    {17, "iq2_xs", NULL, NULL, 0, 0},
    {18, "iq3_xxs", NULL, NULL, 0, 0},
    {19, "iq1_s", NULL, NULL, 0, 0},
    {20, "iq4_nl", NULL, NULL, 0, 0},
    {21, "iq3_s", NULL, NULL, 0, 0},
    {22, "iq2_s", NULL, NULL, 0, 0},
    {23, "iq4_xs", NULL, NULL, 0, 0},
    {24, "i8", "i8", NULL, 1, 1},
    {25, "i16", "i16", NULL, 1, 2},
    {26, "i32", "i32", NULL, 1, 4},
    {27, "i64", "i64", NULL, 1, 8},
    {28, "f64", "f64", NULL, 1, 8},
    {29, "iq1_m", NULL, NULL, 0, 0},
    {30, "bf16", "bf16", NULL, 1, 2},
    {34, "tq1_0", NULL, NULL, 0, 0},
    {35, "tq2_0", NULL, NULL, 0, 0},
    {39, "mxfp4", NULL, "ggml_mxfp4", 32, 17},
    {40, "nvfp4", NULL, "ggml_nvfp4", 64, 36},
    {41, "q1_0", NULL, NULL, 0, 0},
    {42, "q2_0", NULL, NULL, 0, 0},
};

#define MOST_DIMS 4 /* the format's own */

/* What of the file is not read yet. */
typedef struct cursor {
    const td_file_map *file;
    size_t at;
    const char *what; /* for messages */
} cursor;

static td_status fail_end(const cursor *c, uint64_t needed)
{
    return td_fail(TD_FORMAT,
                   "the file ends inside %s: %" PRIu64 " bytes are needed at byte %zu, and it has %zu; it is cut short",
                   c->what, needed, c->at, c->file->size);
}

static td_status read_number(cursor *c, unsigned bytes, uint64_t *out)
{
    if (c->file->size - c->at < bytes)
        return fail_end(c, bytes);
    *out = 0;
    for (unsigned i = bytes; i > 0; i--)
        *out = *out << 8 | c->file->bytes[c->at + i - 1];
    c->at += bytes;
    return TD_OK;
}

static td_status skip(cursor *c, uint64_t bytes)
{
    if (bytes > c->file->size - c->at)
        return fail_end(c, bytes);
    c->at += (size_t)bytes;
    return TD_OK;
}

static td_status read_string(cursor *c, const char **text, size_t *bytes)
{
    uint64_t length = 0;
    td_status status = read_number(c, 8, &length);
    if (!status && length > c->file->size - c->at)
        status = fail_end(c, length);
    if (status)
        return status;
    *text = (const char *)c->file->bytes + c->at;
    *bytes = (size_t)length;
    c->at += (size_t)length;
    return TD_OK;
}

/* -- metadata -- */

enum { BOOL = 7, STRING = 8, ARRAY = 9, VALUE_TYPES = 13 };
static const uint8_t value_bytes[VALUE_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

static td_status fail_value(const cursor *c, uint64_t type)
{
    return td_fail(TD_FORMAT, "metadata at byte %zu is of type %" PRIu64 ", and the format has 0 to 12; it is damaged",
                   c->at, type);
}

static td_status skip_array(cursor *c)
{
    uint64_t type = 0, count = 0;
    const char *text = NULL;
    size_t bytes = 0;
    td_status status = read_number(c, 4, &type);
    if (!status)
        status = read_number(c, 8, &count);
    if (!status && (type >= VALUE_TYPES || type == ARRAY)) /* lists of lists have never been written */
        status = fail_value(c, type);
    if (!status && type != STRING)
        return count > UINT64_MAX / 8 ? fail_end(c, count) : skip(c, count * value_bytes[type]);
    for (uint64_t i = 0; !status && i < count; i++)
        status = read_string(c, &text, &bytes);
    return status;
}

/* One key with its value; general.alignment is the only one that is looked at. */
static td_status read_pair(cursor *c, uint64_t *alignment)
{
    static const char key_alignment[] = "general.alignment";
    const char *key = NULL, *text = NULL;
    size_t key_bytes = 0, bytes = 0;
    uint64_t type = 0;
    td_status status = read_string(c, &key, &key_bytes);
    if (!status)
        status = read_number(c, 4, &type);
    if (status)
        return status;
    if (type >= VALUE_TYPES)
        return fail_value(c, type);
    if (type == ARRAY)
        return skip_array(c);
    if (type == STRING)
        return read_string(c, &text, &bytes);
    if (key_bytes != sizeof key_alignment - 1 || memcmp(key, key_alignment, key_bytes) != 0)
        return skip(c, value_bytes[type]);
    status = read_number(c, value_bytes[type], alignment);
    if (!status && (type != 4 || *alignment == 0 || *alignment & (*alignment - 1) || *alignment > 1U << 30))
        status = td_fail(TD_FORMAT,
                         "general.alignment is %" PRIu64 " (type %" PRIu64 "); it has to be a power of two, as a u32",
                         *alignment, type);
    return status;
}

/* -- tensors -- */

static const td_gguf_type *type_of(uint64_t number)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].number == number)
            return &types[i];
    static const td_gguf_type unknown = {UINT32_MAX, "a type that is not known", NULL, NULL, 0, 0};
    return &unknown;
}

/* A name from the file for a message. */
static const char *shown(const td_gguf_tensor *t, char *text)
{
    char name[TD_MEMBER_SHOWN_BYTES];
    const size_t bytes = t->name_bytes < sizeof name - 1 ? t->name_bytes : sizeof name - 1;
    if (t->name)
        memcpy(name, t->name, bytes);
    name[bytes] = 0;
    return td_member_shown(name, text);
}

static td_status read_shape(cursor *c, td_gguf_tensor *t, uint64_t *elems)
{
    char name[TD_MEMBER_SHOWN_BYTES];
    uint64_t rank = 0;
    td_status status = read_number(c, 4, &rank);
    if (!status && (rank == 0 || rank > MOST_DIMS))
        status =
            td_fail(TD_FORMAT, "tensor \"%s\" has %" PRIu64 " dimensions, and the format has 1 to %d; it is damaged",
                    shown(t, name), rank, MOST_DIMS);
    t->shape.rank = status ? 0 : (size_t)rank;
    *elems = 1;
    for (size_t d = t->shape.rank; d-- > 0 && !status;) { /* the file has the fast one first */
        status = read_number(c, 8, &t->shape.dim[d]);
        if (!status && (t->shape.dim[d] == 0 || !td_mul_fits(*elems, t->shape.dim[d], elems)))
            status =
                td_fail(TD_FORMAT, "tensor \"%s\" has a dimension of %" PRIu64 ", %s", shown(t, name), t->shape.dim[d],
                        t->shape.dim[d] ? "with which it passes 2^63 elements" : "and no elements");
    }
    return status;
}

/* `offset` counts from the data, whose beginning is not known yet. */
static td_status read_tensor(cursor *c, td_gguf_tensor *t, uint64_t *offset, uint64_t *bytes)
{
    char name[TD_MEMBER_SHOWN_BYTES];
    uint64_t number = 0, elems = 0;
    *t = (td_gguf_tensor){0};
    td_status status = read_string(c, &t->name, &t->name_bytes);
    if (!status && (t->name_bytes == 0 || memchr(t->name, 0, t->name_bytes)))
        status = td_fail(TD_FORMAT, "the name of a tensor before byte %zu %s; it is damaged", c->at,
                         t->name_bytes ? "has a byte of 0" : "is empty");
    if (!status)
        status = read_shape(c, t, &elems);
    if (!status)
        status = read_number(c, 4, &number);
    if (!status)
        status = read_number(c, 8, offset);
    if (status)
        return status;
    t->type = type_of(number);
    *bytes = 0;
    if (!t->type->elems)
        return TD_OK;
    const uint64_t row = t->shape.dim[t->shape.rank - 1];
    if (row % t->type->elems)
        return td_fail(TD_FORMAT,
                       "tensor \"%s\" of %s has rows of %" PRIu64 " elements, and a block has %u; it is damaged",
                       shown(t, name), t->type->name, row, t->type->elems);
    if (!td_mul_fits(elems / t->type->elems, t->type->bytes, bytes))
        return td_fail(TD_FORMAT, "tensor \"%s\" passes 2^63 bytes; it is damaged", shown(t, name));
    return TD_OK;
}

static bool is_named(const td_gguf_tensor *t, const char *member)
{
    return !member || (strlen(member) == t->name_bytes && memcmp(member, t->name, t->name_bytes) == 0);
}

/* Walks the whole header. `list` gets all names; `found` the tensor that is asked for, with its offset. */
static td_status walk(const td_file_map *file, const char *member, td_member_list *list, td_gguf_tensor *found)
{
    cursor c = {.file = file, .what = "its header"};
    uint64_t magic = 0, version = 0, tensors = 0, pairs = 0, alignment = 32, highest = 0, offset_found = 0;
    char name[TD_MEMBER_SHOWN_BYTES];
    td_gguf_tensor t = {0}, last = {0};
    td_status status = read_number(&c, 4, &magic);
    if (!status && magic != 0x46554747)
        return td_fail(TD_FORMAT, "the file does not begin with GGUF; it is no .gguf");
    if (!status)
        status = read_number(&c, 4, &version);
    if (!status && version != 2 && version != 3)
        return td_fail(TD_FORMAT, "version %" PRIu64 " of the format%s; versions 2 and 3 are read", version,
                       version & 0xffff ? "" : ", or a file of big-endian bytes");
    if (!status)
        status = read_number(&c, 8, &tensors);
    if (!status)
        status = read_number(&c, 8, &pairs);
    c.what = "its metadata";
    for (uint64_t i = 0; !status && i < pairs; i++)
        status = read_pair(&c, &alignment);
    c.what = "its list of tensors";
    for (uint64_t i = 0; !status && i < tensors; i++) {
        uint64_t offset = 0, bytes = 0;
        status = read_tensor(&c, &t, &offset, &bytes);
        if (!status && offset % alignment)
            status = td_fail(TD_FORMAT,
                             "tensor \"%s\" begins at byte %" PRIu64 " of the data, which is no multiple of %" PRIu64
                             "; it is damaged",
                             shown(&t, name), offset, alignment);
        if (!status && (offset > INT64_MAX || bytes > INT64_MAX - offset))
            status = td_fail(TD_FORMAT, "tensor \"%s\" lies past 2^63 bytes; it is damaged", shown(&t, name));
        if (!status && bytes && offset + bytes > highest) {
            highest = offset + bytes;
            last = t;
        }
        if (!status && list)
            status = td_member_list_add(list, t.name, t.name_bytes);
        if (!status && found && !found->name && is_named(&t, member) && (member || tensors == 1)) {
            *found = t;
            offset_found = offset;
        }
    }
    if (status)
        return status;
    const uint64_t begin = ((uint64_t)c.at + alignment - 1) / alignment * alignment;
    if (highest && (begin > file->size || highest > file->size - begin))
        return td_fail(TD_FORMAT, "tensor \"%s\" ends at byte %" PRIu64 ", and the file has %zu bytes; it is cut short",
                       shown(&last, name), begin + highest, file->size);
    if (found && found->name)
        found->offset = (size_t)(begin + offset_found);
    return TD_OK;
}

td_status td_gguf_find(const td_file_map *file, const char *member, td_gguf_tensor *out)
{
    td_gguf_tensor found = {.type = type_of(UINT64_MAX)};
    td_status status = walk(file, member, NULL, &found);
    if (!status && !found.name)
        status = td_member_fail_missing(&td_container_gguf, file, member);
    if (!status)
        *out = found;
    return status;
}

/* -- the format -- */

static td_status list_members(const td_file_map *file, td_member_list *list)
{
    return walk(file, NULL, list, NULL);
}

static td_status choose(const td_gguf_tensor *t, const td_dtype *as, td_elements *e)
{
    char name[TD_MEMBER_SHOWN_BYTES], dtype[TD_DTYPE_NAME_BYTES] = "", shape[TD_SHAPE_TEXT_BYTES];
    uint64_t elems = 0, bytes = 0;
    td_status status = TD_OK;
    if (as)
        td_dtype_print(*as, dtype);
    *e = (td_elements){.shape = t->shape};
    if (!t->type->elems)
        return td_fail(TD_DTYPE, "tensor \"%s\" is of %s, which is not read", shown(t, name), t->type->name);
    if (t->type->packing) { /* u8: the records, byte by byte */
        if (!as || strcmp(dtype, "u8") != 0)
            return td_fail(
                TD_DTYPE,
                "tensor \"%s\", shape %s, is of %s, which has parts; open it with td_parts_open, or pass the "
                "dtype u8 for its bytes",
                shown(t, name), td_shape_print(&t->shape, shape), t->type->name);
        e->dtype = *as;
        e->shape.dim[e->shape.rank - 1] /= t->type->elems;
        e->shape.dim[e->shape.rank++] = t->type->bytes;
    } else if (as && as->bytes != t->type->bytes)
        return td_fail(TD_DTYPE, "dtype %s does not fit the %u bits per element of the file (%s); pass one that does",
                       dtype, 8 * t->type->bytes, t->type->name);
    else if (as)
        e->dtype = *as;
    else
        status = td_dtype_parse(t->type->dtype, &e->dtype);
    return status ? status : td_shape_check(&e->shape, e->dtype, &elems, &bytes);
}

static td_status gguf_read(td_file_map *file, const char *member, const td_dtype *as, td_tensor **out)
{
    td_gguf_tensor t = {.type = type_of(UINT64_MAX)};
    td_elements e = {0};
    td_status status = td_gguf_find(file, member, &t);
    if (!status)
        status = choose(&t, as, &e);
    return status ? status : td_elements_open(file, t.offset, &e, out);
}

static td_status gguf_write(const char *const *names, const td_tensor *const *tensors, size_t count, td_writer *writer)
{
    (void)names;
    (void)tensors;
    (void)count;
    (void)writer;
    return td_fail(TD_ARGUMENT, ".gguf files are read and not written; save as .safetensors or .npz");
}

const td_container_format td_container_gguf = {list_members, gguf_read, gguf_write, "tensor"};
