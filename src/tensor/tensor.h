/* The tensor object as the library sees it: a dtype, a shape, row-major data that is owned or mapped from a file. Every
 * room above reads its fields; only tensor.c makes and frees one. */
#ifndef TD_TENSOR_H
#define TD_TENSOR_H

#include "base/pages.h"
#include "values/dtype.h"

struct td_tensor {
    td_dtype dtype;
    td_shape shape;
    uint64_t elems;
    unsigned char *data; /* elems * dtype.bytes */
    void *map;           /* the mapping that holds data, or NULL when data came from the heap */
    size_t map_bytes;
    struct td_file_origin
        *origin; /* the file that is mapped, for td_file_check before all data is read; NULL: no file can change it */
    bool read_only;
    char *name; /* for messages; NULL: none */
    char dtype_name[TD_DTYPE_NAME_BYTES];
};

/* Extents at least 1, elements and bytes within 63 bits; the checks of td_tensor_create. */
td_status td_shape_check(const td_shape *shape, td_dtype dtype, uint64_t *elems, uint64_t *bytes);

/* "(2, 3, 4)" into `text`; what messages print. Returns text. */
#define TD_SHAPE_TEXT_BYTES 768
const char *td_shape_print(const td_shape *shape, char *text);

/* The coordinates of the element with this row-major number. */
void td_shape_at(const td_shape *shape, uint64_t elem, td_shape *at);

/* As td_tensor_create, for callers that write every element before anyone reads one: what it holds is not said. */
td_status td_tensor_create_unset(const char *dtype, td_shape shape, td_tensor **out);

/* A tensor over the bytes of a file from `offset` on; it takes the pages over, also when it fails. */
td_status td_tensor_adopt_file(td_dtype dtype, const td_shape *shape, td_file_map *file, size_t offset,
                               td_tensor **out);

/* TD_ARGUMENT in the name of `call` when the tensor is NULL or mapped read-only. */
td_status td_tensor_check_writable(const char *call, const td_tensor *tensor);

/* fill.c: tells a program that is recorded what the tensor was filled with, in the words of td_tensor_fill. */
void td_tensor_fill_tell(const td_tensor *tensor, const char *what);

#endif
