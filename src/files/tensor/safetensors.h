/* The header of a .safetensors file, checked whole: eight bytes of length, then JSON that says where each tensor lies.
 */
#ifndef TD_SAFETENSORS_H
#define TD_SAFETENSORS_H

#include "files/tensor/members.h"

/* The format's own limit. */
#define TD_SAFETENSORS_MAX_HEADER 100000000u

typedef struct td_st_type {
    const char *word;  /* as the file has it */
    const char *dtype; /* ours; NULL: known, and none of ours */
    unsigned bits;     /* of one element in the file */
} td_st_type;

const td_st_type *td_st_type_by_word(const char *word);

/* The one that a tensor is saved as, or NULL. Narrow integers are saved as the integers they lie in. */
const td_st_type *td_st_type_of(td_dtype dtype);

typedef struct td_st_entry {
    const char *name; /* of the header object */
    const td_st_type *type;
    td_shape shape;
    uint64_t begin; /* in the data */
    uint64_t end;
} td_st_entry;

typedef struct td_st_header {
    void *json; /* holds the names */
    td_st_entry *entries;
    size_t count;
    size_t data_offset;
} td_st_header;

/* TD_FORMAT unless the header is well formed and its tensors fill the data without a hole and without an overlap. */
td_status td_st_header_read(const unsigned char *bytes, size_t size, td_st_header *out);
void td_st_header_free(td_st_header *header);

/* A tensor on its way out. */
typedef struct td_st_item {
    const char *name;
    const td_tensor *tensor;
} td_st_item;

/* The JSON of a file to write, padded with spaces; the caller frees *text. The data is in the order of the items. */
td_status td_st_header_print(const td_st_item *items, size_t count, char **text, size_t *length);

/* Bytes of the elements in a file. */
uint64_t td_st_bytes(const td_st_type *type, uint64_t elems);

#endif
