/* The formats of memory images, one file each: a row of functions that the facade in file.c calls. A reader gets a
 * mapped file and checks all of it before anything changes. Messages of a format name the place in the file; the facade
 * adds its path. */
#ifndef TD_IMAGE_FORMATS_H
#define TD_IMAGE_FORMATS_H

#include "base/pages.h"
#include "files/image/image.h"
#include "files/writer.h"

/* One row per memory image format. `scan` puts all of the file into `image`; it is called without data first. The spans
 * that `save` gets are checked; a format without it is only read. */
typedef struct td_image_format {
    td_status (*scan)(const td_file_map *file, const td_file_options *options, td_image *image);
    td_status (*save)(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                      td_writer *writer);
} td_image_format;

/* In readmem_write.c. */
td_status td_readmemh_save(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                           td_writer *writer);
td_status td_readmemb_save(const td_memory *memory, const td_file_options *options, const td_span *spans, size_t count,
                           td_writer *writer);

extern const td_image_format td_format_readmemh;
extern const td_image_format td_format_readmemb;
extern const td_image_format td_format_raw;
extern const td_image_format td_format_ihex;
extern const td_image_format td_format_srec;
extern const td_image_format td_format_elf;
extern const td_image_format td_format_mif;
extern const td_image_format td_format_coe;

#endif
