/* Parts of any packing from tensors that the caller names (names.h): a part's codes are a tensor of its own, one in
 * each element, or, where the tensor has fewer bits, one behind the other from the lowest bit of the first byte on. */
#include "files/parts/names.h"

#include "base/text.h"
#include "kernels/bits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROLES (TD_MOST_PARTS + 1)

/* shape=64x128 */
static td_status read_shape(const td_part_names *names, const char *text, size_t length, td_shape *shape)
{
    const char *at = text, *end = text + length;
    *shape = (td_shape){0};
    for (;;) {
        uint64_t extent = 0;
        if (shape->rank == TD_MAX_RANK || !td_text_number(&at, &extent) || at > end || (at < end && *at != 'x'))
            return td_fail(TD_OPTION, "shape=%.*s behind from in \"%s\" is no shape; pass one like shape=64x128",
                           (int)length, text, names->how);
        shape->dim[shape->rank++] = extent;
        if (at == end)
            return TD_OK;
        at++;
    }
}

static uint64_t bits_of(const td_tensor *t)
{
    return t->elems * t->dtype.bits;
}

/* The shape of a tensor whose elements these are, one in each, or as many as their bits hold. */
static td_status find_shape(td_dtype elem, const td_tensor *elems, bool packed, td_shape *shape)
{
    *shape = elems->shape;
    if (!packed || !shape->rank)
        return TD_OK;
    uint64_t *last = &shape->dim[shape->rank - 1];
    const uint64_t bits = *last * elems->dtype.bits;
    if (bits % elem.bits)
        return td_fail(TD_SHAPE,
                       "rows of %" PRIu64 " bits hold no whole number of elements of %u bits; say shape= behind from",
                       bits, elem.bits);
    *last = bits / elem.bits;
    return TD_OK;
}

/* A file that does not say what its bytes are holds codes of the part's dtype. */
static td_status open_part(const td_part_names *names, const char *role, td_dtype dtype, td_tensor **out)
{
    char name[TD_DTYPE_NAME_BYTES];
    td_dtype_print(dtype, name);
    const td_status status = td_part_names_open(names, role, "", NULL, out);
    return status == TD_DTYPE ? td_part_names_open(names, role, "", name, out) : status;
}

static uint64_t code_at(const td_tensor *t, uint64_t i)
{
    uint64_t code = 0;
    memcpy(&code, t->data + i * t->dtype.bytes, t->dtype.bytes);
    return code;
}

/* Whether each element of the tensor could be one code. */
static bool are_codes(const td_tensor *t, td_dtype dtype)
{
    for (uint64_t i = 0; t->dtype.bytes == dtype.bytes && i < t->elems; i++)
        if (code_at(t, i) & ~td_dtype_mask(dtype))
            return false;
    return t->dtype.bytes == dtype.bytes;
}

/* Bytes may hold one element each, or several: their highest bits and the number of scales tell. */
static td_status choose_shape(const td_part_names *names, const td_packing *packing, const td_tensor *elems,
                              td_shape *shape)
{
    td_tensor *scales = NULL;
    td_parts *like = NULL;
    size_t length = 0;
    if (!td_part_names_find(names, "scales", &length))
        return find_shape(packing->elem, elems, false, shape); /* any will do: it will be refused */
    td_status status = open_part(names, "scales", packing->scale, &scales);
    if (!status)
        status = find_shape(packing->elem, elems, !are_codes(elems, packing->elem), shape);
    if (!status)
        status = td_parts_of(names->how, shape, NULL, &like);
    uint64_t count = 1;
    for (size_t d = 0; !status && d < like->form[TD_PART_SCALES].shape.rank; d++)
        count *= like->form[TD_PART_SCALES].shape.dim[d]; /* not more than there are elements */
    if (!status && count != scales->elems)
        status = find_shape(packing->elem, elems, true, shape);
    td_parts_destroy(&like);
    td_tensor_destroy(&scales);
    return status;
}

static td_status fill_part(td_tensor *part, const char *name, const td_tensor *found)
{
    const td_dtype t = part->dtype;
    if (found->elems == part->elems && found->dtype.bytes == t.bytes) {
        for (uint64_t i = 0; i < part->elems; i++)
            if (code_at(found, i) & ~td_dtype_mask(t))
                return td_fail(TD_RANGE, "element %" PRIu64 " of %s is 0x%" PRIx64 ", and %s has %u bits", i, name,
                               code_at(found, i), part->dtype_name, t.bits);
        memcpy(part->data, found->data, (size_t)part->elems * t.bytes);
        return TD_OK;
    }
    char shape[TD_SHAPE_TEXT_BYTES], needed[TD_SHAPE_TEXT_BYTES];
    if (bits_of(found) != bits_of(part) || found->dtype.bits % 8)
        return td_fail(TD_SHAPE,
                       "%s is a tensor of %s, shape %s; it has to have %" PRIu64
                       " elements of %u bytes, or their %" PRIu64 " bits, for %s of shape %s",
                       name, found->dtype_name, td_shape_print(&found->shape, shape), part->elems, t.bytes,
                       bits_of(part), part->dtype_name, td_shape_print(&part->shape, needed));
    for (uint64_t i = 0; i < part->elems; i++) {
        const uint64_t code = td_get_bits(found->data, (int64_t)(i * t.bits), t.bits);
        memcpy(part->data + i * t.bytes, &code, t.bytes);
    }
    return TD_OK;
}

static td_status find_whole_shape(const td_part_names *names, td_shape *shape)
{
    size_t length = 0;
    const char *text = td_part_names_find(names, "shape", &length);
    td_tensor *elems = NULL;
    td_packing packing;
    if (text)
        return read_shape(names, text, length, shape);
    if (!td_part_names_find(names, "elems", &length))
        return td_fail(TD_OPTION,
                       "neither elems= nor shape= behind from in \"%s from%s\"; name the elements, or say the "
                       "shape of the tensor, as shape=64x128",
                       names->how, names->list);
    td_status status = td_packing_parse(names->how, &packing);
    if (!status)
        status = open_part(names, "elems", packing.elem, &elems);
    if (!status)
        status = choose_shape(names, &packing, elems, shape);
    td_tensor_destroy(&elems);
    return status;
}

static td_status fill(const td_part_names *names, td_parts *parts)
{
    const char *roles[MOST_ROLES] = {"shape"};
    size_t count = 1;
    for (int kind = 0; kind < TD_MOST_PARTS; kind++)
        if (parts->form[kind].name)
            roles[count++] = parts->form[kind].name;
    td_status status = td_part_names_check(names, roles, count);
    for (size_t i = 1; i < count && !status; i++)
        status = td_part_names_need(names, roles[i]);
    for (int kind = 0; kind < TD_MOST_PARTS && !status; kind++) {
        td_tensor *found = NULL;
        if (!parts->form[kind].name)
            continue;
        status = open_part(names, parts->form[kind].name, parts->form[kind].dtype, &found);
        if (!status)
            status = fill_part(parts->tensor[kind], parts->form[kind].name, found);
        td_tensor_destroy(&found);
    }
    return status;
}

td_status td_named_open(const td_part_names *names, td_parts **out)
{
    td_shape shape;
    td_parts *parts = NULL;
    td_status status = find_whole_shape(names, &shape);
    if (!status)
        status = td_parts_create(names->how, shape, &parts);
    if (!status)
        status = fill(names, parts);
    if (status)
        td_parts_destroy(&parts);
    else
        *out = parts;
    return status;
}
