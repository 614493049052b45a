/* What a part looks like: blocks.c and sparse_words.c say it, parts.c makes it. */
#ifndef TD_PART_FORM_H
#define TD_PART_FORM_H

#include "tensor/tensor.h"

#define TD_MOST_PARTS 4

typedef struct td_part_form {
    const char *name; /* NULL: there is none */
    td_dtype dtype;
    td_shape shape;
} td_part_form;

#endif
