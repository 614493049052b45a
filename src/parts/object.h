/* The parts object as this room and backdoor/parts.c see it. Only parts.c makes and frees one. */
#ifndef TD_PARTS_OBJECT_H
#define TD_PARTS_OBJECT_H

#include "parts/packing.h"
#include "parts/sparse.h"

/* The parts of block-scaled packings; sparse ones have their values first. */
enum { TD_PART_ELEMS, TD_PART_SCALES, TD_PART_ZEROS, TD_PART_GLOBAL };

struct td_parts {
    bool is_sparse;
    td_packing packing; /* block-scaled */
    td_sparse sparse;
    td_shape shape, block;
    td_part_form form[TD_MOST_PARTS];
    td_tensor *tensor[TD_MOST_PARTS]; /* NULL: the packing has none, or it was taken */
    bool borrowed;                    /* the tensors belong to the caller */
    bool unset; /* the next that happens is a packing: tensors that it writes whole need no zeros */
    char name[TD_PACKING_NAME_BYTES], text[TD_PACKING_TEXT_BYTES];
};

/* What td_parts_pack and td_parts_unpack are made of, without their names in front of messages: parts without tensors,
 * of this tensor (sparse ones depend on its values) or, NULL, of any of that shape; tensors for them, named after their
 * source, of zeros but where `unset` is set and a packing writes them whole; the tensor into these; and back into a
 * tensor of the whole shape. */
td_status td_parts_of(const char *packing, const td_shape *shape, const td_tensor *tensor, td_parts **out);
td_status td_parts_make_tensors(td_parts *parts, const char *source);
td_status td_parts_pack_into(td_parts *parts, const td_tensor *tensor);
td_status td_parts_unpack_into(const td_parts *parts, td_tensor *out);

#endif
