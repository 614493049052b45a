/* The parts object as this room sees it. Only parts.c makes and frees one. */
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
    char name[TD_PACKING_NAME_BYTES], text[TD_PACKING_TEXT_BYTES];
};

#endif
