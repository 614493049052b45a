/* Zip archives as .npz files use them: the directory of a mapped file, one member as bytes, and archives on their way
 * out. Only zlib is underneath: a stored member must stay mapped where it lies, and the libraries that read whole
 * archives do not say where that is. */
#ifndef TD_ZIP_H
#define TD_ZIP_H

#include "base/pages.h"
#include "files/writer.h"

typedef struct td_zip {
    const unsigned char *bytes;
    size_t size;
    size_t directory; /* offset of the first entry */
    size_t directory_end;
    uint64_t entries;
} td_zip;

typedef struct td_zip_entry {
    const char *name; /* in the file, without an end */
    size_t name_length;
    unsigned method;
    unsigned flags;
    uint32_t crc;
    uint64_t stored_bytes;
    uint64_t bytes;
    uint64_t header_offset;
} td_zip_entry;

/* Finds the directory, 64-bit ones too. Nothing of it is trusted: every offset stays inside the file. */
td_status td_zip_open(const unsigned char *bytes, size_t size, td_zip *out);

/* Walks the directory: begin with *at = 0, until it is zip->entries. `offset` keeps the place between calls; begin with
 * zip->directory. */
td_status td_zip_next(const td_zip *zip, uint64_t *at, size_t *offset, td_zip_entry *out);

/* A member's bytes: a window of `file` that takes its mapping over when it is stored, new pages when it is deflated;
 * its sum is checked in the second case only, as the first reads nothing. */
td_status td_zip_member(const td_zip *zip, const td_zip_entry *entry, td_file_map *file, td_file_map *out);

/* An archive of stored members. Each begins at a multiple of 64 bytes. */
typedef struct td_zip_writer {
    td_writer *writer;
    uint64_t offset;
    unsigned char *directory;
    size_t directory_bytes;
    size_t directory_room;
    uint64_t entries;
} td_zip_writer;

typedef struct td_zip_part {
    const void *data;
    size_t bytes;
} td_zip_part;

/* The name is at most 65535 bytes. */
td_status td_zip_put(td_zip_writer *zip, const char *name, const td_zip_part *parts, size_t count);

/* Writes the directory and frees it; with a status other than TD_OK only frees it. */
td_status td_zip_finish(td_zip_writer *zip, td_status status);

#endif
