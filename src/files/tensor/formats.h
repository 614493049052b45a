/* The formats of tensor files that hold one tensor, one file each; members.h has those that hold several. The facade in
 * file.c calls them. Readers get a mapped file and check all of it; writers put bytes into a writer. Messages here name
 * the place in the file, the facade adds its path. */
#ifndef TD_TENSOR_FORMATS_H
#define TD_TENSOR_FORMATS_H

#include "base/pages.h"
#include "files/file_name.h"
#include "files/writer.h"
#include "tensor/tensor.h"

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

/* The header that a tensor is saved with, version 1, padded to a multiple of 64 bytes; returns its bytes. */
#define TD_NPY_HEADER_BYTES 1024
size_t td_npy_header_print(const td_tensor *tensor, unsigned char *header);

/* `as` is NULL for the file's own dtype. The tensor takes the pages of `file` over when it lies in them. */
td_status td_npy_read(td_file_map *file, const td_dtype *as, td_tensor **out);
void td_npy_write(const td_tensor *tensor, td_writer *writer);

/* `as` NULL is refused: the file does not say. */
td_status td_raw_tensor_read(td_file_map *file, const td_file_options *options, const td_dtype *as, td_tensor **out);
td_status td_raw_tensor_write(const td_tensor *tensor, const td_file_options *options, td_writer *writer);

#endif
