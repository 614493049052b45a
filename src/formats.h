/* The file formats behind the facade in file.c, one room each. Readers get a mapped file and check all of it before
 * they change anything; writers put bytes into a sink. Messages here name the place in the file, the facade adds its
 * path. */
#ifndef TD_FORMATS_H
#define TD_FORMATS_H

#include "mapping.h"
#include "memory.h"
#include "sink.h"
#include "tensor.h"

/* What the header of an .npy file says, with its dtype as numpy writes it: byte order, kind letter, bytes. */
typedef struct td_npy_header {
    char order; /* one of < > = | */
    char kind;  /* one of b i u f V */
    uint8_t elem_bytes;
    bool fortran_order;
    td_shape shape;
    size_t data_offset;
    char descr[24]; /* for messages */
} td_npy_header;

td_status td_npy_parse(const unsigned char *bytes, size_t size, td_npy_header *out);

/* `as` is NULL for the file's own dtype. Takes the mapping over (and NULLs it in `file`) when the tensor lies in it. */
td_status td_npy_read(td_file_map *file, const td_dtype *as, td_tensor **out);
void td_npy_write(const td_tensor *tensor, td_sink *sink);

/* One row per memory image format. `depth` gives the highest address + 1; `load` writes nothing unless all is right;
 * the spans that `save` gets are checked. */
typedef struct td_image_format {
    td_status (*depth)(const td_file_map *file, uint64_t width_bits, uint64_t *depth_words);
    td_status (*load)(const td_file_map *file, td_memory *memory);
    void (*save)(const td_memory *memory, const td_span *spans, size_t count, td_sink *sink);
} td_image_format;

extern const td_image_format td_format_readmem;
extern const td_image_format td_format_raw;

#endif
