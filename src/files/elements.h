/* The elements of a tensor file on their way into a tensor: mapped where they lie, or moved once. */
#ifndef TD_ELEMENTS_H
#define TD_ELEMENTS_H

#include "base/pages.h"
#include "files/writer.h"
#include "tensor/tensor.h"

typedef struct td_elements {
    td_dtype dtype;
    td_shape shape;
    bool fortran; /* the first dimension is the fast one */
    bool swap;    /* big endian */
    bool packed;  /* dtype.bits per element (at most 8), the first in the low bits; otherwise dtype.bytes */
} td_elements;

/* The elements that begin at file->bytes + offset; the caller has checked that all of them are there. The tensor takes
 * the pages of `file` over when it lies in them: it may begin at any byte, as the members of numpy's .npz do. */
td_status td_elements_open(td_file_map *file, size_t offset, const td_elements *e, td_tensor **out);

/* The elements at dtype.bits each (at most 8), the first in the low bits; they fill whole bytes. */
void td_elements_put_packed(const td_tensor *tensor, td_writer *writer);

#endif
