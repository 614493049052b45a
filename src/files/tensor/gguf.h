/* The header of a .gguf file: where each tensor lies and of which of ggml's types it is. gguf.c reads plain tensors for
 * the facade; files/parts/open.c reads those that are packings of their own. */
#ifndef TD_GGUF_H
#define TD_GGUF_H

#include "files/tensor/members.h"

typedef struct td_gguf_type {
    uint32_t number;       /* as the file has it */
    const char *name;      /* ggml's, which is that of a packing but for mxfp4 and nvfp4 */
    const char *dtype;     /* plain tensors: ours */
    const char *packing;   /* others: ours; both NULL for a type that is not read */
    unsigned elems, bytes; /* of one block; 0 where it is not read */
} td_gguf_type;

typedef struct td_gguf_tensor {
    const char *name; /* of the file, without an end */
    size_t name_bytes;
    const td_gguf_type *type;
    td_shape shape; /* the last dimension is the fast one */
    size_t offset;  /* in the file */
} td_gguf_tensor;

/* The tensor of that name, or the only one when it is NULL. TD_FORMAT for a header that is damaged anywhere,
 * TD_ARGUMENT for a name that is not there. */
td_status td_gguf_find(const td_file_map *file, const char *member, td_gguf_tensor *out);

#endif
